package dialogue

import "github.com/routegen/routegen/runtime"

// while begins a round, as long as its condition holds. What was confirmed in the last round is not confirmed in this one.
func while(w *work, st *step) move {
	if !w.s.holds(st.cond) {
		delete(w.s.Rounds, st.ID)
		return w.next(st)
	}
	limit := st.Rounds
	if limit == 0 {
		limit = 100
	}
	if w.s.Rounds[st.ID] >= limit {
		delete(w.s.Rounds, st.ID)
		w.respond("looped")
		return w.fail(st.OnError, &runtime.Failure{Code: runtime.CodeLoop, Text: "it went round in circles"}, true)
	}
	put(&w.s.Rounds, st.ID, w.s.Rounds[st.ID]+1)
	return w.leads(st.Body)
}
