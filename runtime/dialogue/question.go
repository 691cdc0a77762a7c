package dialogue

import (
	"encoding/json"

	"github.com/routegen/routegen/runtime"
)

// asking is what is the same whenever a step asks.
type asking struct {
	attempts int
	kind     string
	payload  json.RawMessage
	schema   json.RawMessage
	choices  []runtime.Choice
	deadline *runtime.Deadline
}

// timedOut is what a deadline answers.
const timedOut = `{"timed_out":true}`

// ask decides how a step asks for a slot. A text, bare or as {"message": text}, is a legal answer to every question: it is to be understood.
func ask(f *flow, st *step, s *slot) asking {
	a := asking{attempts: st.Attempts, kind: st.Kind}
	if a.attempts == 0 {
		a.attempts = 3
	}
	if st.Timeout > 0 {
		a.deadline = &runtime.Deadline{After: st.Timeout, Then: "default", Answer: timedOut}
	}
	a.payload, _ = runtime.Encode(struct { // cannot fail: strings
		Flow string `json:"flow"`
		Step string `json:"step"`
		Slot string `json:"slot"`
	}{f.Name, st.ID, s.Name})
	if s.Type.Kind != runtime.SlotJSON {
		types := []string{"string", "object"}
		if typed := jsonType(s.Type); typed != "string" {
			types = append(types, typed)
		}
		a.schema, _ = runtime.Encode(map[string]any{"type": types}) // cannot fail: strings
	}
	switch {
	case st.Kind == "confirm":
		a.choices = []runtime.Choice{{Label: "yes", Value: json.RawMessage("true")}, {Label: "no", Value: json.RawMessage("false")}}
	case s.Type.Kind == runtime.SlotEnum && !s.Type.List:
		for _, v := range s.Values {
			value, _ := runtime.Encode(v) // cannot fail: a string
			a.choices = append(a.choices, runtime.Choice{Label: words(v), Value: value})
		}
	}
	return a
}

// question is the interrupt of a step.
func (st *step) question(text, language string) runtime.Question {
	return runtime.Question{
		Name: st.ID, Text: text, Type: st.asks.kind, Payload: st.asks.payload, Schema: st.asks.schema, Choices: st.asks.choices,
		Plain: runtime.PlainText, Language: language, Deadline: st.asks.deadline,
	}
}

// direct is the command of an answer that is a value.
func (st *step) direct(value json.RawMessage) runtime.Command {
	if st.Kind == "confirm" {
		switch string(value) {
		case "true":
			return runtime.Command{Type: runtime.CommandAffirm}
		case "false":
			return runtime.Command{Type: runtime.CommandDeny}
		}
	}
	return runtime.Command{Type: runtime.CommandSet, Value: value}
}

// jsonType is how JSON Schema calls the values of a slot.
func jsonType(t runtime.SlotType) string {
	switch {
	case t.List:
		return "array"
	case t.Kind == runtime.SlotInt:
		return "integer"
	case t.Kind == runtime.SlotFloat:
		return "number"
	case t.Kind == runtime.SlotBool:
		return "boolean"
	default:
		return "string"
	}
}
