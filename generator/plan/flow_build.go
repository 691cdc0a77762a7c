package plan

import (
	"slices"
	"strings"

	"github.com/routegen/routegen/generator/spec"
)

// The targets that are no step, and what stands for the following step in the spec.
const (
	TargetEnd    = "end"
	TargetCancel = "cancel_flow"
	TargetError  = "error"
	targetNext   = "continue"
)

// The kinds of steps.
const (
	StepSay      = "say"
	StepCollect  = "collect"
	StepSet      = "set"
	StepBranch   = "branch"
	StepWhile    = "while"
	StepAction   = "action"
	StepConfirm  = "confirm"
	StepCall     = "call"
	StepLink     = "link"
	StepGenerate = "generate"
	StepHandoff  = "handoff"
)

// talk decides everything about flows. A spec without flows has none of it.
func (b *builder) talk() {
	if len(b.spec.Flows) == 0 {
		return
	}
	in := b.spec.Talk
	if in == nil {
		in = &spec.Talk{}
	}
	out := &Talk{
		Language: or(in.Language, "en"), Languages: values(in.Languages), MaxDepth: countOr(in.MaxDepth, 8),
		NoProgress: countOr(in.NoProgress, 0), NoProgThen: in.NoProgThen.Value, Welcome: in.Welcome.Value, Fallback: in.Fallback.Value,
	}
	for _, a := range b.spec.Actions {
		out.Actions = append(out.Actions, b.action(a))
	}
	for _, v := range b.spec.Validators {
		out.Validators = append(out.Validators, b.validator(v))
	}
	for _, r := range b.spec.Responses {
		out.Responses = append(out.Responses, Response{Key: r.Key.Value, Text: words(r.Text, nil, true)})
	}
	for _, f := range b.spec.Flows {
		fb := flowBuilder{builder: b, talk: out, spec: f, slots: map[string]bool{}}
		out.Flows = append(out.Flows, fb.flow())
	}
	b.plan.Talk = out
}

func countOr(n *spec.Number, def int) int {
	if n == nil {
		return def
	}
	return int(n.Value)
}

func (b *builder) action(a *spec.Action) Action {
	method := or(a.GoName, spec.GoName(a.Key.Value))
	return Action{
		Key: a.Key.Value, Was: values(a.Was), Doc: a.Doc.Value, Method: method, Input: method + "Input", Output: method + "Output",
		Inputs: b.members(a.Inputs), Outputs: b.members(a.Outputs), Once: a.Once, Timeout: or(a.Timeout, "1m"), Retry: retry(a.Retry),
		Line: a.Key.At.Start.Line, Column: a.Key.At.Start.Column,
	}
}

// members are the fields of an input or output, with what only the whole table can say.
func (b *builder) members(fs []*spec.Field) []Field {
	out := b.fields(fs, false)
	for i := range out {
		out[i].Pointer = out[i].Pointer || out[i].Type.Kind == RecordOf && !out[i].Required
	}
	return out
}

func (b *builder) validator(v *spec.Validator) Validator {
	out := Validator{
		Key: v.Key.Value, Was: values(v.Was), Doc: v.Doc.Value, Method: or(v.GoName, spec.GoName(v.Key.Value)), Type: Type{Kind: String},
		Line: v.Key.At.Start.Line, Column: v.Key.At.Start.Column,
	}
	if v.Type != nil {
		out.Type = b.fieldType(v.Type)
	}
	return out
}

// flowBuilder decides one flow.
type flowBuilder struct {
	*builder
	talk  *Talk
	spec  *spec.Flow
	name  string // its part of Go names
	slots map[string]bool
}

func (b *flowBuilder) flow() Flow {
	f := b.spec
	b.name = or(f.GoName, spec.GoName(f.Key.Value))
	out := Flow{
		Key: f.Key.Value, Const: "Flow" + b.name, DisplayName: or(f.DisplayName, spec.DisplayName(f.Key.Value)), Doc: f.Doc.Value,
		Was: values(f.Was), Intents: values(f.Intents), Hidden: f.Hidden, Interruptible: f.Interruptible == nil || *f.Interruptible,
		Struct: b.name + "Slots", Reserved: values(f.Reserved), Line: f.Key.At.Start.Line, Column: f.Key.At.Start.Column,
	}
	for _, s := range b.fields(f.Slots, false) {
		b.slots[s.Key] = true
		out.Slots = append(out.Slots, b.slot(s))
	}
	out.Trigger = expr(f.Trigger)
	out.OnError = target(f.OnError, "", TargetEnd)
	out.Steps = b.steps(nil, f.Steps, "", TargetEnd)
	return out
}

// slot is a field of the flow's struct: a pointer, so that not filled and zero differ, where a nil does not say it already. It is
// stored under its key: a name on the wire of its own would be a second name of one thing.
func (b *flowBuilder) slot(f Field) FlowSlot {
	f.JSON, f.Required = f.Key, false
	f.Pointer = f.Type.Kind != ListOf && f.Type.Kind != MapOf && f.Type.Kind != JSON
	out := FlowSlot{Field: f, Const: "Slot" + b.name + spec.GoName(f.Key)}
	input, isInput := listed(b.spec.Inputs, f.Key)
	output, isOutput := listed(b.spec.Outputs, f.Key)
	out.Input, out.Output = isInput, isOutput
	out.Needed = input || !isInput && output
	return out
}

// listed reports whether a slot is in a list of inputs or outputs, and whether it stands there without the ? of an optional one.
func listed(list []spec.Text, slot string) (needed, there bool) {
	for _, t := range list {
		if strings.TrimSuffix(t.Value, "?") == slot {
			return !strings.HasSuffix(t.Value, "?"), true
		}
	}
	return false, false
}

// steps adds a list of steps, flat: the body of a loop follows its while step. after is where the last of them goes on.
func (b *flowBuilder) steps(out []FlowStep, list []*spec.Step, inside, after string) []FlowStep {
	for i, s := range list {
		next := after
		if i+1 < len(list) {
			next = list[i+1].ID.Value
		}
		step := b.step(s, next)
		step.Inside = inside
		if len(s.Do) > 0 {
			step.Body = s.Do[0].ID.Value
		}
		out = append(out, step)
		out = b.steps(out, s.Do, s.ID.Value, s.ID.Value)
	}
	return out
}

func (b *flowBuilder) step(s *spec.Step, following string) FlowStep {
	to := func(t spec.Text, def string) string { return target(t, def, following) }
	out := FlowStep{
		ID: s.ID.Value, Was: values(s.Was), Const: "Step" + b.name + spec.GoName(s.ID.Value), Kind: s.Kind.Value, When: expr(s.When), Next: to(s.Next, following),
		Text: words(s.Text, b.slots, false), Invalid: words(s.Invalid, b.slots, true), Slot: s.Slot.Value, Cond: expr(s.Cond), Flow: s.Flow.Value,
		Action: s.Action.Value, Queue: s.Queue.Value, Force: s.Force, Attempts: countOr(s.Attempts, 0), Validator: s.Validator.Value,
		Timeout: s.Timeout.Value, Retry: retry(s.Retry), Raise: s.Raise, OnInvalid: to(s.OnInvalid, ""), OnTimeout: to(s.OnTimeout, ""),
		OnCancel: to(s.OnCancel, ""), OnError: to(s.OnError, ""), OnChange: to(s.OnChange, ""), Line: s.ID.At.Start.Line, Column: s.ID.At.Start.Column,
	}
	for _, a := range s.Arms {
		if e := expr(a.If); e != nil {
			out.Arms = append(out.Arms, FlowArm{If: *e, To: to(a.Then, out.Next)})
		}
	}
	out.Set = b.binds(s.Set, func(bind *spec.Bind) (string, string) { return bind.Name.Value, bind.Name.Value })
	switch out.Kind {
	case StepLink, StepHandoff:
		if out.When == nil { // nothing comes back, and nothing skips it
			out.Next = TargetEnd
		}
	case StepBranch:
		out.Else = to(s.Else, out.Next)
	case StepWhile:
		out.Rounds = countOr(s.MaxRounds, 100)
	case StepConfirm:
		out.OnYes, out.OnNo = to(s.OnYes, out.Next), to(s.OnNo, TargetCancel)
	}
	if i := slices.IndexFunc(b.talk.Actions, func(a Action) bool { return a.Key == out.Action }); i >= 0 {
		b.bindAction(&out, s, &b.talk.Actions[i])
		return out
	}
	out.Inputs = b.binds(s.Inputs, func(bind *spec.Bind) (string, string) { return bind.Name.Value, "" })
	out.Outputs = b.binds(s.Outputs, func(bind *spec.Bind) (string, string) { return bind.Name.Value, bind.To.Value })
	return out
}

// bindAction binds the fields of an action by their JSON names. An input that is not given has the slot of its name, or else its default; an
// output that is not taken goes to the slot of its name.
func (b *flowBuilder) bindAction(out *FlowStep, s *spec.Step, a *Action) {
	out.Inputs = b.binds(s.Inputs, func(bind *spec.Bind) (string, string) { return wire(a.Inputs, bind.Name.Value), "" })
	out.Outputs = b.binds(s.Outputs, func(bind *spec.Bind) (string, string) { return wire(a.Outputs, bind.Name.Value), bind.To.Value })
	named := func(list []Bind, name string) bool {
		return slices.ContainsFunc(list, func(bind Bind) bool { return bind.Name == name })
	}
	for _, f := range a.Inputs {
		switch {
		case named(out.Inputs, f.JSON):
		case b.slots[f.Key]:
			out.Inputs = append(out.Inputs, Bind{Name: f.JSON, Value: &Expr{Op: "slot", Slot: f.Key}})
		case f.Default != nil:
			out.Inputs = append(out.Inputs, Bind{Name: f.JSON, Value: &Expr{Op: "value", Value: *f.Default}})
		}
	}
	for _, f := range a.Outputs {
		if b.slots[f.Key] && !named(out.Outputs, f.JSON) {
			out.Outputs = append(out.Outputs, Bind{Name: f.JSON, Slot: f.Key})
		}
	}
}

// target decides a target: def where none is given, and the following step for continue.
func target(t spec.Text, def, following string) string {
	if t.Value == targetNext {
		return following
	}
	return or(t, def)
}

// wire is the JSON name of a field, or the name itself where there is no such field.
func wire(fields []Field, key string) string {
	for i := range fields {
		if fields[i].Key == key {
			return fields[i].JSON
		}
	}
	return key
}

func (b *flowBuilder) binds(list []*spec.Bind, names func(*spec.Bind) (name, slot string)) []Bind {
	var out []Bind
	for _, in := range list {
		name, slot := names(in)
		out = append(out, Bind{Name: name, Slot: slot, Value: expr(in.Value), Text: words(in.Text, b.slots, false)})
	}
	return out
}

// machineFirst are the variables that mean the value just refused, where a text speaks of one, whatever slots there are.
var machineFirst = []string{"reason", "value"}

// words decides what each name in a text is. In a text of the machine's own, or about a refusal, its variables come first.
func words(in spec.Words, slots map[string]bool, refusal bool) Words {
	var out Words
	for _, w := range in {
		one := WordsIn{Language: w.Language.Value}
		for _, t := range w.Variants {
			parts := []Part{} // an empty text is a text
			for _, p := range t.Parts {
				part := Part{Text: p.Text, Decimals: p.Decimals}
				switch name := p.Name.Value; {
				case name == "":
				case slots[name] && !(refusal && slices.Contains(machineFirst, name)):
					part.Slot = name
				default:
					part.Var = name
				}
				parts = append(parts, part)
			}
			one.Variants = append(one.Variants, parts)
		}
		out = append(out, one)
	}
	return out
}

// expr copies a parsed expression. A list holds literals only, so it is one value: the machine knows no other lists.
func expr(in *spec.Expr) *Expr {
	if in == nil {
		return nil
	}
	switch in.Op {
	case "value":
		return &Expr{Op: in.Op, Value: in.Value.JSON()}
	case "list":
		var texts []string
		for _, e := range in.Args {
			texts = append(texts, e.Value.JSON())
		}
		return &Expr{Op: "value", Value: "[" + strings.Join(texts, ",") + "]"}
	}
	return &Expr{Op: in.Op, Slot: in.Slot.Value, Args: exprs(in.Args)}
}

func exprs(list []*spec.Expr) []Expr {
	var out []Expr
	for _, in := range list {
		if e := expr(in); e != nil { // one that could not be read has been found wrong
			out = append(out, *e)
		}
	}
	return out
}

func retry(r *spec.Retry) *Retry {
	if r == nil {
		return nil
	}
	return &Retry{Attempts: int(r.Attempts.Value), Backoff: or(r.Backoff, "exponential"), First: or(r.First, "1s"), Max: r.Max.Value}
}

// reachTalk marks the enums that flows use.
func (b *builder) reachTalk(used map[string]bool) {
	t := b.plan.Talk
	if t == nil {
		return
	}
	for _, a := range t.Actions {
		for _, f := range slices.Concat(a.Inputs, a.Outputs) {
			markEnum(f.Type, used)
		}
	}
	for _, v := range t.Validators {
		markEnum(v.Type, used)
	}
	for _, f := range t.Flows {
		for _, s := range f.Slots {
			markEnum(s.Type, used)
		}
	}
}
