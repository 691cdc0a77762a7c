package dialogue

// handoffNote is stored when a thread is handed off.
type handoffNote struct {
	Flow   string `json:"flow,omitempty"`
	Step   string `json:"step,omitempty"`
	Queue  string `json:"queue,omitempty"`
	Reason string `json:"reason,omitempty"`
}

// runHandoff hands the thread off to a person.
func runHandoff(w *work, st *step) move {
	if text := w.flowText(st.Text); text != "" {
		w.addLine(st.ID, text)
	} else {
		w.addResponse("handoff")
	}
	return move{kind: moveHandoff, note: handoffNote{Flow: w.f.Name, Step: st.ID, Queue: st.Queue}}
}
