package dialogue

import "encoding/json"

// collect fills a slot: with what the user offered before, or by asking. A slot that is filled is not asked for, unless the step forces it.
func collect(w *work, st *step) move {
	s := &w.f.slots[st.Slot-1]
	switch w.came.kind {
	case cameCommands:
		return w.hear(st)
	case cameTimeout:
		return w.or(st.OnTimeout, "timed_out")
	case cameChild: // the flow in between is over
		return w.ask(st)
	default:
	}
	w.s.Tries = 0
	value, by, asks := w.given(s)
	offer, offered := w.s.Offers[s.Name]
	delete(w.s.Offers, s.Name)
	if by != nil {
		delete(w.s.Kept, by.ID)
	}
	switch _, filled := w.s.Slots[s.Name]; {
	case st.Force && (offered || value == nil) || asks && !offered:
		return w.ask(st)
	case !offered && by == st && value != nil: // it has answered this step
		w.collected(st, value)
		return w.next(st)
	case !offered && value != nil:
		offer, offered = value, true
	case !offered && filled:
		w.begin(st, nil)
		return w.next(st)
	}
	if !offered {
		return w.ask(st)
	}
	if v := w.fits(st, s, offer); v != nil {
		w.collected(st, v)
		return w.next(st)
	}
	if w.s.Tries++; w.s.Tries >= st.asks.attempts {
		return w.or(st.OnInvalid, "given_up")
	}
	return w.ask(st)
}

// collected fills the slot of a collect step with what the user gave.
func (w *work) collected(st *step, v json.RawMessage) {
	s := &w.f.slots[st.Slot-1]
	w.begin(st, v)
	for _, l := range w.s.Trail { // the user's value stands, whatever has filled the slot before
		for _, d := range l.Done {
			if d.Out[s.Name] != nil {
				d.Out[s.Name] = v
			}
		}
	}
	w.put(s, v)
}

// fits returns what the slot of a collect step is to be filled with, or says why that does not do.
func (w *work) fits(st *step, s *slot, raw []byte) json.RawMessage {
	v, wrong := w.accept(s, raw, st)
	if wrong == "" {
		return v
	}
	with := []string{"value", shown(raw, s, 0), "reason", wrong}
	if text := w.text(st.Invalid, with...); text != "" {
		w.say(st.ID, text)
	} else {
		w.respond("invalid", with...)
	}
	return nil
}
