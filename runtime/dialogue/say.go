package dialogue

import "github.com/routegen/routegen/runtime"

// say says a text, unless it has said it before the flow went back.
func say(w *work, st *step) move {
	text := w.text(st.Text)
	plain := text
	if in := w.in(st.Text); in != nil && len(in.Variants) > 1 { // one for all of them
		plain = w.text(runtime.Texts{{Variants: in.Variants[:1]}})
	}
	key := digest([]byte(plain))
	if kept, _ := w.again(st, key); kept {
		return w.next(st)
	}
	w.did(st, done{In: key})
	w.say(st.ID, text)
	return w.next(st)
}
