package plan

import (
	"slices"
	"strings"

	"github.com/routegen/routegen/generator/spec"
	"github.com/routegen/routegen/runtime"
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

// addFlows decides everything about flows. A spec without flows has none of it.
func (b *builder) addFlows() {
	if len(b.spec.Flows) == 0 {
		return
	}
	in := b.spec.Talk
	if in == nil {
		in = &spec.Talk{}
	}
	out := &Talk{
		FlowTables: runtime.FlowTables{
			Language: or(in.Language, "en"), MaxDepth: countOr(in.MaxDepth, 8),
			NoProgress: countOr(in.NoProgress, 0), NoProgThen: in.NoProgThen.Value,
		},
		Languages: values(in.Languages), Welcome: in.Welcome.Value, Fallback: in.Fallback.Value,
	}
	for _, a := range b.spec.Actions {
		out.Actions = append(out.Actions, b.action(a))
	}
	for _, v := range b.spec.Validators {
		out.Validators = append(out.Validators, b.validator(v))
	}
	for _, r := range b.spec.Responses {
		out.Responses = append(out.Responses,
			runtime.Response{Name: r.Key.Value, Text: texts(r.Text, nil, true)})
	}
	for _, f := range b.spec.Flows {
		fb := flowBuilder{builder: b, talk: out, spec: f, slots: map[string]int{},
			places: map[string]runtime.Target{TargetEnd: runtime.TargetEnd,
				TargetCancel: runtime.TargetCancel, TargetError: runtime.TargetError}}
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
		FlowAction: runtime.FlowAction{Name: a.Key.Value, Doc: a.Doc.Value, Once: a.Once,
			Timeout: duration(or(a.Timeout, "1m")), Retry: retry(a.Retry)},
		Was: values(a.Was), Method: method, Input: method + "Input", Output: method + "Output",
		Inputs: b.members(a.Inputs), Outputs: b.members(a.Outputs),
		Pos: a.Key.At.Start,
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
		Key: v.Key.Value, Was: values(v.Was), Doc: v.Doc.Value,
		Method: or(v.GoName, spec.GoName(v.Key.Value)), Type: Type{Kind: String},
		Pos: v.Key.At.Start, Deprecated: v.Deprecated.Value,
	}
	if v.Type != nil {
		out.Type = b.fieldType(v.Type)
	}
	return out
}

// flowBuilder decides one flow.
type flowBuilder struct {
	*builder
	talk   *Talk
	spec   *spec.Flow
	name   string                    // its part of Go names
	slots  map[string]int            // numbers of slots, counted from 1
	places map[string]runtime.Target // of steps and ends
}

func (b *flowBuilder) flow() Flow {
	f := b.spec
	b.name = or(f.GoName, spec.GoName(f.Key.Value))
	out := Flow{
		Flow: runtime.Flow{
			Name: f.Key.Value, Was: values(f.Was),
			DisplayName: or(f.DisplayName, spec.DisplayName(f.Key.Value)), Doc: f.Doc.Value,
			Intents: values(f.Intents), Hidden: f.Hidden,
			Interruptible: f.Interruptible == nil || *f.Interruptible,
		},
		Const: "Flow" + b.name, Struct: b.name + "Slots", Reserved: values(f.Reserved),
		Pos: f.Key.At.Start,
	}
	for i, s := range b.fields(f.Slots, false) {
		b.slots[s.Key] = i + 1
		out.Slots = append(out.Slots, b.slot(s))
	}
	b.number(f.Steps, 0)
	out.Trigger = b.expr(f.Trigger)
	out.OnError = b.places[target(f.OnError, "", TargetEnd)]
	out.Steps = b.steps(nil, f.Steps, "", TargetEnd)
	return out
}

// slot is a field of the flow's struct: a pointer, so that not filled and zero differ, where a nil
// does not say it already. It is stored under its key: a name on the wire of its own would be a
// second name of one thing.
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

// listed reports whether a slot is in a list of inputs or outputs, and whether it stands there
// without the ? of an optional one.
func listed(list []spec.Text, slot string) (needed, there bool) {
	for _, t := range list {
		if strings.TrimSuffix(t.Value, "?") == slot {
			return !strings.HasSuffix(t.Value, "?"), true
		}
	}
	return false, false
}

// steps adds a list of steps, flat: the body of a loop follows its while step. after is where the
// last of them goes on.
func (b *flowBuilder) steps(out []FlowStep, list []*spec.Step, inside, after string) []FlowStep {
	for i, s := range list {
		next := after
		if i+1 < len(list) {
			next = list[i+1].ID.Value
		}
		step := b.step(s, next)
		step.Inside = int(b.places[inside])
		if len(s.Do) > 0 {
			step.Body = b.places[s.Do[0].ID.Value]
		}
		out = append(out, step)
		out = b.steps(out, s.Do, s.ID.Value, s.ID.Value)
	}
	return out
}

// number gives a list of steps their numbers, in the order that steps adds them.
func (b *flowBuilder) number(list []*spec.Step, after runtime.Target) runtime.Target {
	for _, s := range list {
		after++
		b.places[s.ID.Value] = after
		after = b.number(s.Do, after)
	}
	return after
}

func (b *flowBuilder) step(s *spec.Step, following string) FlowStep {
	to := func(t spec.Text, def string) runtime.Target {
		return b.places[target(t, def, following)]
	}
	next := target(s.Next, following, following)
	out := FlowStep{
		FlowStep: runtime.FlowStep{
			ID: s.ID.Value, Was: values(s.Was), Kind: s.Kind.Value, When: b.expr(s.When),
			Text: texts(s.Text, b.slots, false), Invalid: texts(s.Invalid, b.slots, true),
			Slot: b.slots[s.Slot.Value], Cond: b.expr(s.Cond), Queue: s.Queue.Value,
			Force: s.Force, Attempts: countOr(s.Attempts, 0),
			Timeout: duration(s.Timeout.Value), Retry: retry(s.Retry), Raise: s.Raise,
			OnInvalid: to(s.OnInvalid, ""), OnTimeout: to(s.OnTimeout, ""),
			OnCancel: to(s.OnCancel, ""), OnError: to(s.OnError, ""),
			OnChange: to(s.OnChange, ""), Next: b.places[next],
		},
		Const: "Step" + b.name + spec.GoName(s.ID.Value),
		Flow:  s.Flow.Value, Action: s.Action.Value, Check: s.Validator.Value,
		Pos: s.ID.At.Start,
	}
	for _, a := range s.Arms {
		if e := b.expr(a.If); e != nil {
			out.Arms = append(out.Arms, runtime.FlowArm{If: *e, To: to(a.Then, next)})
		}
	}
	out.Set = b.binds(s.Set, func(bind *spec.Bind) (string, string) {
		return bind.Name.Value, bind.Name.Value
	})
	switch out.Kind {
	case StepLink, StepHandoff:
		if out.When == nil { // nothing comes back, and nothing skips it
			out.Next = runtime.TargetEnd
		}
	case StepBranch:
		out.Else = to(s.Else, next)
	case StepWhile:
		out.Rounds = countOr(s.MaxRounds, 100)
	case StepConfirm:
		out.OnYes, out.OnNo = to(s.OnYes, next), to(s.OnNo, TargetCancel)
	}
	if a := b.talk.Action(out.Action); a != nil {
		b.bindAction(&out, s, a)
		return out
	}
	out.Inputs = b.binds(s.Inputs, func(bind *spec.Bind) (string, string) {
		return bind.Name.Value, ""
	})
	out.Outputs = b.binds(s.Outputs, func(bind *spec.Bind) (string, string) {
		return bind.Name.Value, bind.To.Value
	})
	return out
}

// bindAction binds the fields of an action by their JSON names. An input that is not given has the
// slot of its name, or else its default; an output that is not taken goes to the slot of its name.
func (b *flowBuilder) bindAction(out *FlowStep, s *spec.Step, a *Action) {
	out.Inputs = b.binds(s.Inputs, func(bind *spec.Bind) (string, string) {
		return wire(a.Inputs, bind.Name.Value), ""
	})
	out.Outputs = b.binds(s.Outputs, func(bind *spec.Bind) (string, string) {
		return wire(a.Outputs, bind.Name.Value), bind.To.Value
	})
	named := func(list []runtime.Bind, name string) bool {
		return slices.ContainsFunc(list, func(bind runtime.Bind) bool { return bind.Name == name })
	}
	for _, f := range a.Inputs {
		switch {
		case named(out.Inputs, f.JSON):
		case b.slots[f.Key] > 0:
			out.Inputs = append(out.Inputs, runtime.Bind{Name: f.JSON,
				Value: &runtime.Expr{Op: runtime.OpSlot, Slot: b.slots[f.Key]}})
		case f.Default != nil:
			out.Inputs = append(out.Inputs, runtime.Bind{Name: f.JSON,
				Value: &runtime.Expr{Op: runtime.OpValue, Value: *f.Default}})
		}
	}
	for _, f := range a.Outputs {
		if slot := b.slots[f.Key]; slot > 0 && !named(out.Outputs, f.JSON) {
			out.Outputs = append(out.Outputs, runtime.Bind{Name: f.JSON, Slot: slot})
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
	if f := Find(fields, func(f *Field) bool { return f.Key == key }); f != nil {
		return f.JSON
	}
	return key
}

func (b *flowBuilder) binds(list []*spec.Bind,
	names func(*spec.Bind) (name, slot string)) []runtime.Bind {
	var out []runtime.Bind
	for _, in := range list {
		name, slot := names(in)
		out = append(out, runtime.Bind{Name: name, Slot: b.slots[slot], Value: b.expr(in.Value),
			Text: texts(in.Text, b.slots, false)})
	}
	return out
}

// machineFirst are the variables that mean the value just refused, where a text speaks of one,
// whatever slots there are.
var machineFirst = []string{"reason", "value"}

// texts decides what each name in a text is. In a text of the machine's own, or about a refusal,
// its variables come first.
func texts(in spec.Words, slots map[string]int, refusal bool) runtime.Texts {
	var out runtime.Texts
	for _, w := range in {
		one := runtime.TextIn{Language: w.Language.Value}
		for _, t := range w.Variants {
			parts := runtime.Template{} // an empty text is a text
			for _, p := range t.Parts {
				part := runtime.Part{Text: p.Text, Decimals: p.Decimals}
				switch name := p.Name.Value; {
				case name == "":
				case slots[name] > 0 && !(refusal && slices.Contains(machineFirst, name)):
					part.Slot = slots[name]
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

// exprOps are the operators by the word of the spec.
var exprOps = map[string]runtime.ExprOp{
	"value": runtime.OpValue, "slot": runtime.OpSlot, "filled": runtime.OpFilled,
	"not": runtime.OpNot, "and": runtime.OpAnd, "or": runtime.OpOr, "==": runtime.OpEq,
	"!=": runtime.OpNe, "<": runtime.OpLt, "<=": runtime.OpLe, ">": runtime.OpGt,
	">=": runtime.OpGe, "in": runtime.OpIn,
}

// OpWord returns the word of the spec for an operator.
func OpWord(op runtime.ExprOp) string {
	for word, o := range exprOps {
		if o == op {
			return word
		}
	}
	return ""
}

// expr copies a parsed expression; nil for none. A list holds literals only, so it is one value:
// the machine knows no other lists.
func (b *flowBuilder) expr(in *spec.Expr) *runtime.Expr {
	if in == nil {
		return nil
	}
	switch in.Op {
	case "value":
		return &runtime.Expr{Op: runtime.OpValue, Value: in.Value.JSON()}
	case "list":
		var items []string
		for _, e := range in.Args {
			items = append(items, e.Value.JSON())
		}
		return &runtime.Expr{Op: runtime.OpValue, Value: "[" + strings.Join(items, ",") + "]"}
	}
	out := &runtime.Expr{Op: exprOps[in.Op], Slot: b.slots[in.Slot.Value]}
	for _, arg := range in.Args {
		if e := b.expr(arg); e != nil { // one that could not be read has been found wrong
			out.Args = append(out.Args, *e)
		}
	}
	return out
}

func retry(r *spec.Retry) *runtime.Retry {
	if r == nil {
		return nil
	}
	return &runtime.Retry{Attempts: int(r.Attempts.Value), Backoff: or(r.Backoff, "exponential"),
		First: duration(or(r.First, "1s")), Max: duration(r.Max.Value)}
}

// markEnumsOfFlows marks the enums that flows use.
func (b *builder) markEnumsOfFlows(used map[string]bool) {
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
