package plan

import (
	"github.com/routegen/routegen/generator/report"
	"github.com/routegen/routegen/runtime"
)

// Talk is everything about dialogue flows; nil in a Plan without flows.
type Talk struct {
	runtime.FlowTables

	Languages  []string    `json:"languages,omitempty"`
	Welcome    string      `json:"welcome,omitempty"`
	Fallback   string      `json:"fallback,omitempty"`
	Actions    []Action    `json:"actions,omitempty"`
	Validators []Validator `json:"validators,omitempty"`
	Flows      []Flow      `json:"flows"`
}

// Action is one method of Actions.
//
//nolint:recvcheck // a value is printed as JSON, too
type Action struct {
	runtime.FlowAction

	Was     []string   `json:"was,omitempty"`
	Method  string     `json:"method"`
	Input   string     `json:"input"`  // Go type of its input, without fields when it takes nothing
	Output  string     `json:"output"` // Go type of its output, without fields when it gives nothing
	Inputs  []Field    `json:"inputs,omitempty"`
	Outputs []Field    `json:"outputs,omitempty"`
	Pos     report.Pos `json:"-"` // in the spec, for messages
}

// Validator is one method of Validators.
type Validator struct {
	Key    string     `json:"key"`
	Was    []string   `json:"was,omitempty"`
	Doc    string     `json:"doc,omitempty"`
	Method string     `json:"method"`
	Type   Type       `json:"type"`
	Pos    report.Pos `json:"-"` // in the spec, for messages

	Deprecated string `json:"deprecated,omitempty"`
}

// Flow is one flow, every name and target decided. Its rows refer to its own slots and steps by
// number.
//
//nolint:recvcheck // a value is printed as JSON, too
type Flow struct {
	runtime.Flow

	Const    string     `json:"const"`
	Struct   string     `json:"struct"` // Go type of its slots
	Slots    []FlowSlot `json:"slots,omitempty"`
	Steps    []FlowStep `json:"steps"` // flat: the body of a loop follows its while step
	Reserved []string   `json:"reserved,omitempty"`
	Pos      report.Pos `json:"-"` // in the spec, for messages
}

// FlowSlot is one slot: a field of the flow's struct, and what the machine knows of it.
type FlowSlot struct {
	Field

	Const  string `json:"const"`
	Input  bool   `json:"input,omitempty"`
	Output bool   `json:"output,omitempty"`
	// an input: a call must give it; an output that is no input: the flow always gives it
	Needed bool `json:"needed,omitempty"`
}

// FlowStep is one step.
type FlowStep struct {
	runtime.FlowStep

	Const  string     `json:"const"`
	Flow   string     `json:"flow,omitempty"`
	Action string     `json:"action,omitempty"`
	Check  string     `json:"validator,omitempty"`
	Pos    report.Pos `json:"-"` // in the spec, for messages
}

// SlotKey returns the name of the slot of that number, or "" for none.
func (f *Flow) SlotKey(number int) string {
	if number < 1 || number > len(f.Slots) {
		return ""
	}
	return f.Slots[number-1].Key
}

// TargetName returns the id of the step that a target is, or the word of the spec for an end; ""
// for none.
func (f *Flow) TargetName(t runtime.Target) string {
	switch {
	case t == runtime.TargetEnd:
		return TargetEnd
	case t == runtime.TargetCancel:
		return TargetCancel
	case t == runtime.TargetError:
		return TargetError
	case t < 1 || int(t) > len(f.Steps):
		return ""
	}
	return f.Steps[t-1].ID
}

// Record is the Go struct of the slots, as a record.
func (f *Flow) Record() Record {
	r := Record{Name: f.Struct, Role: RoleNested, Reserved: f.Reserved,
		Fields: make([]Field, 0, len(f.Slots)), Pos: f.Pos}
	for i := range f.Slots {
		r.Fields = append(r.Fields, f.Slots[i].Field)
	}
	return r
}

// Slot returns the slot of that name, or nil.
func (f *Flow) Slot(key string) *FlowSlot {
	return Find(f.Slots, func(s *FlowSlot) bool { return s.Key == key })
}

// Step returns the step of that id, or nil.
func (f *Flow) Step(id string) *FlowStep {
	return Find(f.Steps, func(s *FlowStep) bool { return s.ID == id })
}

// Records are the Go structs of an action, its input and its output, as records.
func (a *Action) Records() (input, output Record) {
	of := func(name string, fields []Field) Record {
		return Record{Name: name, Role: RoleNested, Fields: fields, Pos: a.Pos}
	}
	return of(a.Input, a.Inputs), of(a.Output, a.Outputs)
}

// Flow returns the flow of that key, or nil.
func (t *Talk) Flow(key string) *Flow {
	return Find(t.Flows, func(f *Flow) bool { return f.Name == key })
}

// Action returns the action of that key, or nil.
func (t *Talk) Action(key string) *Action {
	return Find(t.Actions, func(a *Action) bool { return a.Name == key })
}

// Validator returns the validator of that key, or nil.
func (t *Talk) Validator(key string) *Validator {
	return Find(t.Validators, func(v *Validator) bool { return v.Key == key })
}

// Find returns the first of a list that is as asked, or nil.
func Find[T any](list []T, is func(*T) bool) *T {
	for i := range list {
		if is(&list[i]) {
			return &list[i]
		}
	}
	return nil
}
