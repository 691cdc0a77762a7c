package dialogue

// runSet sets slots in order: later ones see earlier ones. Null clears a slot.
func runSet(w *work, st *step) move {
	var own done // with values that the user has changed since
	if d := w.s.findKept(st.number); d != nil && d.out != nil {
		own = done{out: d.out}
		w.recordDone(st, own)
	}
	for i := range st.Set {
		s := &w.f.slots[st.Set[i].Slot-1]
		v, failure := w.evalBind(&st.Set[i])
		if changed := own.filled(s); changed != nil {
			v, failure = changed, nil
		}
		if failure != nil {
			return w.handleFailure(st.OnError, failure, false)
		}
		if v != nil {
			var wrong string
			if v, wrong = s.normalize(v); wrong != "" {
				return w.handleFailure(st.OnError, invalid("%s: %s", spacedName(s.Name), wrong),
					false)
			}
		}
		w.writeSlot(s, v)
	}
	return w.goTo(st.Next)
}
