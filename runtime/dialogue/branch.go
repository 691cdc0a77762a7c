package dialogue

import "github.com/routegen/routegen/runtime"

// branch takes the first arm that holds.
func branch(w *work, st *step) move {
	for i, arm := range st.arms {
		if w.s.holds(arm) {
			return w.leads(st.Arms[i].To)
		}
	}
	if st.Else != runtime.NoTarget {
		return w.leads(st.Else)
	}
	return w.next(st)
}
