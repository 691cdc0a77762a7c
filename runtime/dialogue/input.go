package dialogue

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
)

// CheckInput returns CodeInvalid for an input that no frame can begin with: without a name an input
// that is not a message, and with one an unknown flow, and unknown or invalid slots.
func (m *Machine) CheckInput(name string, input json.RawMessage) error {
	const op = "begin dialogue"
	if name == "" {
		if _, typed := messageText(input); typed {
			return runtime.Errorf(runtime.CodeInvalid, op,
				`the input is what the user says: a string, or {"message": "..."}`)
		}
		return nil
	}
	f := m.byName[name]
	if f == nil {
		return runtime.Errorf(runtime.CodeInvalid, op, "there is no flow %q", name)
	}
	var o flowInput
	if err := json.Unmarshal(input, &o); err != nil {
		return runtime.Errorf(runtime.CodeInvalid, op,
			`the input of a flow is {"slots": {...}}: %w`, err)
	}
	var problems []runtime.Problem
	for _, slot := range slices.Sorted(maps.Keys(o.Slots)) {
		if reason := f.slotProblem(slot, o.Slots[slot]); reason != "" {
			problems = append(problems, runtime.Problem{Pointer: "/slots/" + slot, Reason: reason})
		}
	}
	if problems == nil {
		return nil
	}
	return thread.Permanent(runtime.Errorf(runtime.CodeInvalid, op, "%w",
		&runtime.InvalidError{Problems: problems}))
}

// slotProblem returns why a slot cannot begin with a value, or "".
func (f *flow) slotProblem(name string, value json.RawMessage) string {
	for i := range f.slots {
		if f.slots[i].Name != name {
			continue
		}
		kept, reason := f.slots[i].normalize(value)
		if reason == "" && !thread.SameJSON(kept, value) {
			reason = "write it as " + string(kept)
		}
		return reason
	}
	return "the flow has no such slot"
}
