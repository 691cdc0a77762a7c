package dialogue

import "github.com/routegen/routegen/runtime"

// runSay adds a text to the replies, unless it was said before the flow went back.
func runSay(w *work, st *step) move {
	text, key := w.flowText(st.Text), "" // of a text that has no values in it
	if in := w.findText(st.Text); in != nil && !isConstant(in.Variants[0]) {
		first := text
		if len(in.Variants) > 1 { // one for all of them
			first = w.flowText(runtime.Texts{{Variants: in.Variants[:1]}})
		}
		key = shortDigest([]byte(first))
	}
	if mv, ok := w.reuseResult(st, key); ok {
		return mv
	}
	w.recordDone(st, done{in: key})
	w.addLine(st.ID, text)
	return w.goTo(st.Next)
}
