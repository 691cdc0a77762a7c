package dialogue

import (
	"cmp"
	"slices"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
)

// runWhile begins a round while its condition is true. Confirmations of the last round do not
// count, and inner loops begin anew.
func runWhile(w *work, st *step) move {
	if !w.s.isTrue(st.Cond) {
		w.s.loops = slices.DeleteFunc(w.s.loops, func(l loop) bool { return l.at == st.number })
		return w.goTo(st.Next)
	}
	l := w.s.findLoop(st.number)
	if l.rounds >= cmp.Or(st.Rounds, 100) {
		w.s.Moves += linkCost
		w.addResponse("looped")
		return w.handleFailure(st.OnError,
			&thread.Failure{Code: runtime.CodeLoop, Text: "it went round in circles"}, true)
	}
	if l.rounds > 0 { // another round: earlier results are dropped
		w.s.kept = slices.DeleteFunc(w.s.kept, func(d done) bool {
			return w.f.isInside(d.at, st.number)
		})
	}
	l.rounds++
	w.s.loops = slices.DeleteFunc(w.s.loops, func(l loop) bool {
		return w.f.isInside(l.at, st.number)
	})
	return w.goTo(st.Body)
}
