package dialogue

// link goes over to another flow and does not come back: whoever waits for this frame waits for that flow.
func link(w *work, st *step) move {
	f := &w.m.flows[st.Flow-1]
	slots, failure := w.inputs(st, f)
	if failure != nil {
		return w.fail(st.OnError, failure, false)
	}
	w.s.Moves += heavy
	return move{verb: jumps, child: w.m.spawn(f.Name, &opening{
		Slots: slots, Later: w.s.Later, Depth: w.s.Depth, Said: w.s.Said || len(w.said) > 0, count: w.s.count,
	})}
}
