package dialogue

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
	if offer, ok := w.s.Offers[s.Name]; ok {
		delete(w.s.Offers, s.Name)
		if w.answer(st, s, offer) {
			return w.next(st)
		}
		if w.s.Tries++; w.s.Tries >= st.asks.attempts {
			return w.or(st.OnInvalid, "given_up")
		}
		return w.ask(st)
	}
	if _, filled := w.s.Slots[s.Name]; filled && !st.Force {
		return w.next(st)
	}
	return w.ask(st)
}

// answer fills the slot of a collect step, or says why it cannot be filled with that.
func (w *work) answer(st *step, s *slot, raw []byte) bool {
	v, wrong := w.accept(s, raw, st)
	if wrong == "" {
		w.put(s, v)
		return true
	}
	with := []string{"value", shown(raw, s, 0), "reason", wrong}
	if text := w.text(st.Invalid, with...); text != "" {
		w.say(st.ID, text)
	} else {
		w.respond("invalid", with...)
	}
	return false
}
