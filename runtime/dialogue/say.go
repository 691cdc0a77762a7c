package dialogue

// say says a text.
func say(w *work, st *step) move {
	w.say(st.ID, w.text(st.Text))
	return w.next(st)
}
