package dialogue

// handed is what the thread says of itself when somebody else goes on with it.
type handed struct {
	Flow   string `json:"flow,omitempty"`
	Step   string `json:"step,omitempty"`
	Queue  string `json:"queue,omitempty"`
	Reason string `json:"reason,omitempty"`
}

// handoff ends the thread here: a person goes on with it.
func handoff(w *work, st *step) move {
	if text := w.text(st.Text); text != "" {
		w.say(st.ID, text)
	} else {
		w.respond("handoff")
	}
	return move{verb: hands, note: handed{Flow: w.f.Name, Step: st.ID, Queue: st.Queue}}
}
