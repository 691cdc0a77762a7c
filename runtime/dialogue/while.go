package dialogue

import (
	"maps"

	"github.com/routegen/routegen/runtime"
)

// while begins a round, as long as its condition holds. What was confirmed in the last round is not confirmed in this one. The loops inside
// begin anew.
func while(w *work, st *step) move {
	if !w.s.holds(st.cond) {
		w.forget(st.ID)
		return w.next(st)
	}
	limit := st.Rounds
	if limit == 0 {
		limit = 100
	}
	if w.s.Rounds[st.ID] >= limit {
		w.s.Moves += heavy
		w.respond("looped")
		return w.fail(st.OnError, &runtime.Failure{Code: runtime.CodeLoop, Text: "it went round in circles"}, true)
	}
	if w.s.Rounds[st.ID] == 0 {
		put(&w.s.Entered, st.ID, w.s.Questions)
	}
	if w.s.Rounds[st.ID] > 0 { // another round: what its steps came to before counts no more
		maps.DeleteFunc(w.s.Kept, func(id string, _ done) bool {
			n := w.f.byStep[id]
			return n > 0 && w.f.within(n, st.number)
		})
	}
	put(&w.s.Rounds, st.ID, w.s.Rounds[st.ID]+1)
	for id := range w.s.Rounds { // each is judged by itself
		if n := w.f.byStep[id]; n > 0 && w.f.within(n, st.number) {
			w.forget(id)
		}
	}
	return w.leads(st.Body)
}
