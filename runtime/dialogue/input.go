package dialogue

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/routegen/routegen/runtime"
)

// CheckInput refuses what no frame can begin with: without a name what is no message, and with one
// a flow that is not there, and slots that it does not have or that do not fit.
func (m *Machine) CheckInput(name string, input json.RawMessage) error {
	const op = "begin dialogue"
	if name == "" {
		if _, typed := message(input); typed {
			return invalid(op, `the input is what the user says: a string, or {"message": "..."}`)
		}
		return nil
	}
	f := m.byName[name]
	if f == nil {
		return invalid(op, "there is no flow %q", name)
	}
	var o opening
	if err := json.Unmarshal(input, &o); err != nil {
		return invalid(op, `the input of a flow is {"slots": {...}}: %w`, err)
	}
	var problems []runtime.Problem
	for _, slot := range slices.Sorted(maps.Keys(o.Slots)) {
		if reason := f.unfit(slot, o.Slots[slot]); reason != "" {
			problems = append(problems, runtime.Problem{Pointer: "/slots/" + slot, Reason: reason})
		}
	}
	if problems == nil {
		return nil
	}
	return runtime.Permanent(&runtime.Error{
		Code: runtime.CodeInvalid, Op: op, Err: &runtime.InvalidError{Problems: problems},
	})
}

// unfit says why a slot cannot begin with a value; "" when it can.
func (f *flow) unfit(name string, value json.RawMessage) string {
	for i := range f.slots {
		if f.slots[i].Name != name {
			continue
		}
		kept, reason := f.slots[i].fit(value)
		if reason == "" && !runtime.SameJSON(kept, value) {
			reason = "write it as " + string(kept)
		}
		return reason
	}
	return "the flow has no such slot"
}
