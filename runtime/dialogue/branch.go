package dialogue

import "github.com/routegen/routegen/runtime"

// runBranch takes the first arm whose condition is true.
func runBranch(w *work, st *step) move {
	for i := range st.Arms {
		if w.s.isTrue(&st.Arms[i].If) {
			return w.goTo(st.Arms[i].To)
		}
	}
	if st.Else != runtime.NoTarget {
		return w.goTo(st.Else)
	}
	return w.goTo(st.Next)
}
