package dialogue

import (
	"fmt"

	"github.com/routegen/routegen/runtime"
)

// set gives slots their values, in order: later ones see earlier ones. Null empties a slot.
func set(w *work, st *step) move {
	own := w.s.Kept[st.ID].Out // what the user has changed them to since
	if own != nil {
		w.did(st, done{Out: own})
	}
	for i := range st.Set {
		s := &w.f.slots[st.Set[i].Slot-1]
		v, failure := w.value(&st.Set[i], st.set[i])
		if own[s.Name] != nil {
			v, failure = own[s.Name], nil
		}
		if failure != nil {
			return w.fail(st.OnError, failure, false)
		}
		if v == nil {
			w.clear(s)
			continue
		}
		fits, wrong := s.fit(v)
		if wrong != "" {
			return w.fail(st.OnError, &runtime.Failure{Code: runtime.CodeInvalid, Text: fmt.Sprintf("%s: %s", words(s.Name), wrong)}, false)
		}
		w.put(s, fits)
	}
	return w.next(st)
}
