package dialogue

import (
	"cmp"
	"encoding/json"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
)

// timedOut is the answer of a deadline.
const timedOut = `{"timed_out":true}`

// newQuestion returns the question of a step for its slot. A text, bare or as {"message": text}, is
// a valid answer to every question and is passed to the Understander.
func newQuestion(f *flow, st *step, text, language string) thread.Question {
	s := &f.slots[st.Slot-1]
	q := thread.Question{Name: st.ID, Text: text, Type: st.Kind, Plain: thread.PlainText,
		Language: language}
	if st.Timeout > 0 {
		q.Deadline = &runtime.Deadline{After: st.Timeout, Then: "default", Answer: timedOut}
	}
	q.Payload = json.RawMessage(`{"flow":"` + f.Name + `","step":"` + st.ID + `","slot":"` +
		s.Name + `"}`) // names are identifiers
	switch typed := jsonType(s.Type); {
	case s.Type.Kind == runtime.SlotJSON:
	case typed == "string":
		q.Schema = json.RawMessage(`{"type":["string","object"]}`)
	default:
		q.Schema = json.RawMessage(`{"type":["string","object","` + typed + `"]}`)
	}
	switch {
	case st.Kind == "confirm":
		q.Choices = []thread.Choice{{Label: "yes", Value: json.RawMessage("true")},
			{Label: "no", Value: json.RawMessage("false")}}
	case s.Type.Kind == runtime.SlotEnum && !s.Type.List:
		for _, v := range s.Values {
			value, _ := runtime.Encode(v) // cannot fail: a string
			q.Choices = append(q.Choices, thread.Choice{Label: spacedName(v), Value: value})
		}
	}
	return q
}

// maxAttempts returns the number of invalid answers that a question takes.
func (st *step) maxAttempts() int { return cmp.Or(st.Attempts, 3) }

// commandFor returns the command for an answer that is a value.
func (st *step) commandFor(value json.RawMessage) runtime.Command {
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

// jsonType returns the JSON Schema type of a slot's values.
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
