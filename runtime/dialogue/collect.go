package dialogue

import "encoding/json"

// runCollect fills a slot with a value offered before, or by asking. It does not ask for a filled
// slot unless the step has force.
func runCollect(w *work, st *step) move {
	s := &w.f.slots[st.Slot-1]
	switch w.input.kind {
	case inputCommands:
		return w.handleAnswer(st)
	case inputTimeout:
		return w.goToOrCancel(st.OnTimeout, "timed_out")
	case inputChild: // the flow in between is over
		return w.askQuestion(st)
	default:
	}
	w.s.tries = 0
	value, by, asks := w.earlierAnswer(s)
	now := w.s.of(s)
	offer := now.offer
	offered := offer != nil
	now.offer = nil
	if by != nil {
		w.s.dropKept(by.number)
	}
	switch {
	case st.Force && (offered || value == nil) || asks && !offered:
		return w.askQuestion(st)
	case !offered && by == st && value != nil: // it has answered this step
		w.storeAnswer(st, value)
		return w.goTo(st.Next)
	case !offered && value != nil:
		offer, offered = value, true
	case !offered && now.value != nil:
		w.beginLeg(st, nil)
		return w.goTo(st.Next)
	}
	if !offered {
		return w.askQuestion(st)
	}
	if v := w.acceptAnswer(st, s, offer); v != nil {
		w.storeAnswer(st, v)
		return w.goTo(st.Next)
	}
	if w.s.tries++; w.s.tries >= st.maxAttempts() {
		return w.goToOrCancel(st.OnInvalid, "given_up")
	}
	return w.askQuestion(st)
}

// storeAnswer fills the slot of a collect step with the user's value.
func (w *work) storeAnswer(st *step, v json.RawMessage) {
	s := &w.f.slots[st.Slot-1]
	w.beginLeg(st, v)
	for i := range w.s.trail { // the user's value replaces every earlier one
		for n := range w.s.trail[i].done {
			if d := &w.s.trail[i].done[n]; d.filled(s) != nil {
				d.setValue(s, v)
			}
		}
	}
	w.writeSlot(s, v)
}

// acceptAnswer returns the valid value for the slot of a collect step, or nil after a reply that
// says why it is invalid.
func (w *work) acceptAnswer(st *step, s *slot, raw []byte) json.RawMessage {
	v, wrong := w.checkValue(s, raw, st)
	if wrong == "" {
		return v
	}
	with := []string{"value", displayValue(raw, s, 0), "reason", wrong}
	if text := w.flowText(st.Invalid, with...); text != "" {
		w.addLine(st.ID, text)
	} else {
		w.addResponse("invalid", with...)
	}
	return nil
}
