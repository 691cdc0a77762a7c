package dialogue

import (
	"cmp"
	"encoding/json"
	"strconv"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
)

// runCollect fills a slot with a value offered before, or by asking. It does not ask for a filled
// slot unless the step has force.
func runCollect(w *work, st *step) move {
	s := &w.f.slots[st.Slot-1]
	if mv, asked := w.resumeQuestion(st); asked {
		return mv
	}
	value, by, asks := w.earlierAnswer(s)
	now := w.s.of(s)
	offer := now.offer
	offered := offer != nil
	now.offer = nil
	if by != nil {
		w.s.dropKept(by.number)
	}
	switch {
	case st.Force && (offered || value == nil) || asks && !offered:
		return w.askQuestion(st)
	case !offered && by == st && value != nil: // it has answered this step
		w.storeAnswer(st, value)
		return w.goTo(st.Next)
	case !offered && value != nil:
		offer, offered = value, true
	case !offered && now.value != nil:
		w.beginSegment(st, nil)
		return w.goTo(st.Next)
	}
	if !offered {
		return w.askQuestion(st)
	}
	if v := w.acceptAnswer(st, s, offer); v != nil {
		w.storeAnswer(st, v)
		return w.goTo(st.Next)
	}
	return w.askAgain(st)
}

// storeAnswer fills the slot of a collect step with the user's value.
func (w *work) storeAnswer(st *step, v json.RawMessage) {
	s := &w.f.slots[st.Slot-1]
	w.beginSegment(st, v)
	for i := range w.s.trail { // the user's value replaces every earlier one
		for n := range w.s.trail[i].done {
			if d := &w.s.trail[i].done[n]; d.filled(s) != nil {
				d.setValue(s, v)
			}
		}
	}
	w.writeSlot(s, v)
}

// acceptAnswer returns the valid value for the slot of a collect step, or nil after a reply that
// says why it is invalid.
func (w *work) acceptAnswer(st *step, s *slot, raw []byte) json.RawMessage {
	v, wrong := w.checkValue(s, raw, st)
	if wrong == "" {
		return v
	}
	with := []string{"value", displayValue(raw, s, 0), "reason", wrong}
	if text := w.flowText(st.Invalid, with...); text != "" {
		w.addLine(st.ID, text)
	} else {
		w.addResponse("invalid", with...)
	}
	return nil
}

// runConfirm asks for a yes or a no. If a step of this frame has set its slot it takes that arm
// without asking. An earlier answer to a confirm, or a value from outside, does not count.
func runConfirm(w *work, st *step) move {
	s := &w.f.slots[st.Slot-1]
	if mv, asked := w.resumeQuestion(st); asked {
		return mv
	}
	if now := w.s.of(s); now.value != nil && !now.fromOutside && !now.confirmed {
		return w.followArm(st, string(now.value) == "true")
	}
	w.writeSlot(s, nil)
	return w.askQuestion(st)
}

// storeVerdict stores the user's yes or no and takes its arm.
func (w *work) storeVerdict(st *step, yes bool) move {
	s := &w.f.slots[st.Slot-1]
	w.writeSlot(s, json.RawMessage(strconv.FormatBool(yes)))
	w.s.of(s).confirmed = true
	return w.followArm(st, yes)
}

// followArm takes the arm of an answer. A no without a target cancels the flow.
func (w *work) followArm(st *step, yes bool) move {
	switch {
	case !yes && st.OnNo == runtime.TargetEnd: // the flow defines this as a normal end
		return w.endFrame(runtime.TargetEnd)
	case !yes:
		return w.goToOrCancel(st.OnNo, "cancelled")
	case st.OnYes == runtime.NoTarget:
		return w.goTo(st.Next)
	default:
		return w.goTo(st.OnYes)
	}
}

// resumeQuestion continues a step that has asked. It returns false if the step is only entered.
func (w *work) resumeQuestion(st *step) (move, bool) {
	switch w.input.kind {
	case inputCommands:
		return w.handleAnswer(st), true
	case inputTimeout:
		return w.goToOrCancel(st.OnTimeout, "timed_out"), true
	case inputChild: // the flow in between is over
		return w.askQuestion(st), true
	default:
		w.s.tries = 0
		return move{}, false
	}
}

// askAgain counts an invalid answer and asks again, or gives up after the last attempt.
func (w *work) askAgain(st *step) move {
	if w.s.tries++; w.s.tries >= cmp.Or(st.Attempts, 3) {
		return w.goToOrCancel(st.OnInvalid, "given_up")
	}
	return w.askQuestion(st)
}

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
