package dialogue

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/routegen/routegen/runtime"
)

// The tables of the tests are written by name, as a spec is, and numbered here.

// f is a flow.
type f struct {
	name     string
	slots    []string // "name type" and then: in, out, needed, min=N, default=JSON, values=a|b
	steps    []p
	onError  string
	busy     bool // not interruptible
	hidden   bool
	intents  string
	trigger  *x
	doc      string
	docs     map[string]string // of slots
	was      []string
	slotsWas map[string]string
	stepsWas map[string]string
	planned  bool // it comes from a spec
}

// p is a step.
type p struct {
	id, kind      string
	when, cond    *x
	next          string
	text, invalid string
	slot          string
	set           []b // values of set
	arms          []arm
	// inside: decided by nest where the tables are written by hand
	orElse, body, inside                                           string
	rounds                                                         int
	flow, action                                                   string
	in, out                                                        []b
	queue                                                          string
	force, raise                                                   bool
	attempts                                                       int
	check                                                          string
	timeout                                                        time.Duration
	retry                                                          *runtime.Retry
	onInvalid, onTimeout, onCancel, onError, onYes, onNo, onChange string
}

// b is a bind: of a slot of that name, a literal, or a text.
type b struct {
	name string
	from string // slot
	lit  string // JSON
	text string
	slot string // of an output, where it has another name
}

type arm struct {
	cond x
	to   string
}

// x is an expression.
type x struct {
	op   runtime.ExprOp
	slot string
	lit  string
	args []x
}

func slotX(name string) x   { return x{op: runtime.OpSlot, slot: name} }
func filledX(name string) x { return x{op: runtime.OpFilled, slot: name} }
func lit(text string) x     { return x{op: runtime.OpValue, lit: text} }
func both(a ...x) x         { return x{op: runtime.OpAnd, args: a} }

// cmp compares a slot with a literal.
func compares(slot, op, literal string) x {
	ops := map[string]runtime.ExprOp{
		"==": runtime.OpEq, "!=": runtime.OpNe, "<": runtime.OpLt, "<=": runtime.OpLe,
		">": runtime.OpGt, ">=": runtime.OpGe, "in": runtime.OpIn,
	}
	return x{op: ops[op], args: []x{slotX(slot), lit(literal)}}
}

func when(e x) *x { return &e }

// world of tables being built.
type builder struct {
	t     runtime.FlowTables
	flows []f
	flow  *f
	slots []runtime.FlowSlot
	steps []p
}

// tables makes tables; actions are "name" or "name once".
func tables(actions, validators []string, flows ...f) *runtime.FlowTables {
	w := &builder{flows: flows}
	w.t.Language, w.t.Validators = "en", validators
	for _, a := range actions {
		name, once, _ := strings.Cut(a, " ")
		w.t.Actions = append(w.t.Actions, runtime.FlowAction{Name: name, Once: once == "once"})
	}
	for i := range flows {
		w.t.Flows = append(w.t.Flows, w.build(&flows[i]))
	}
	return &w.t
}

var slotKinds = map[string]runtime.SlotKind{
	"string": runtime.SlotString, "int": runtime.SlotInt, "float": runtime.SlotFloat,
	"bool": runtime.SlotBool, "time": runtime.SlotTime,
	"duration": runtime.SlotDuration, "enum": runtime.SlotEnum, "json": runtime.SlotJSON,
}

func (w *builder) slot(text string) runtime.FlowSlot {
	words := strings.Fields(text)
	kind, isList := strings.CutPrefix(words[1], "[]")
	s := runtime.FlowSlot{Name: words[0],
		Type: runtime.SlotType{Kind: slotKinds[kind], List: isList}}
	for _, word := range words[2:] {
		name, v, _ := strings.Cut(word, "=")
		switch name {
		case "in":
			s.Input = true
		case "out":
			s.Output = true
		case "needed":
			s.Required = true
		case "min":
			n, _ := strconv.ParseFloat(v, 64)
			s.Rule = &runtime.Rule{Min: &n}
		case "default":
			s.Default = v
		case "values":
			s.Values = strings.Split(v, "|")
		}
	}
	if was, ok := w.flow.slotsWas[s.Name]; ok {
		s.Was = []string{was}
	}
	s.Doc = w.flow.docs[s.Name]
	return s
}

func (w *builder) build(flow *f) runtime.Flow {
	w.flow, w.slots, w.steps = flow, nil, flow.steps
	out := runtime.Flow{Name: flow.name, Was: flow.was, Doc: flow.doc, Hidden: flow.hidden,
		Interruptible: !flow.busy}
	if flow.intents != "" {
		out.Intents = strings.Split(flow.intents, ", ")
	}
	for _, s := range flow.slots {
		w.slots = append(w.slots, w.slot(s))
	}
	out.Slots = w.slots
	out.Trigger = w.expr(flow.trigger)
	out.OnError = w.target(flow.onError)
	for i := range flow.steps {
		out.Steps = append(out.Steps, w.step(i, &flow.steps[i]))
		if was, ok := flow.stepsWas[flow.steps[i].id]; ok {
			out.Steps[i].Was = []string{was}
		}
	}
	if !flow.planned {
		nest(out.Steps)
	}
	return out
}

// nest says which steps belong to which loop: from its body to the last step that leads back to it,
// before what follows it. Inner loops come after outer ones.
func nest(steps []runtime.FlowStep) {
	for i := range steps {
		last := len(steps) - 1
		if next := int(steps[i].Next); next > i+1 {
			last = next - 2
		}
		for ; steps[i].Body > 0 && last > i; last-- {
			if int(steps[last].Next) != i+1 {
				continue
			}
			for at := int(steps[i].Body) - 1; at <= last; at++ {
				steps[at].Inside = i + 1
			}
			break
		}
	}
}

func (w *builder) step(i int, s *p) runtime.FlowStep {
	next := s.next
	if next == "" {
		next = "end"
		if i+1 < len(w.steps) {
			next = w.steps[i+1].id
		}
	}
	out := runtime.FlowStep{
		ID: s.id, Kind: s.kind, When: w.expr(s.when), Next: w.target(next), Text: w.texts(s.text),
		Invalid: w.texts(s.invalid),
		Slot:    w.slotRow(s.slot), Cond: w.expr(s.cond), Else: w.target(s.orElse),
		Body: w.target(s.body), Rounds: s.rounds, Queue: s.queue,
		Force: s.force, Attempts: s.attempts, Timeout: s.timeout, Retry: s.retry, Raise: s.raise,
		OnInvalid: w.target(s.onInvalid), OnTimeout: w.target(s.onTimeout),
		OnCancel: w.target(s.onCancel), OnError: w.target(s.onError),
		OnYes: w.target(s.onYes), OnNo: w.target(s.onNo), OnChange: w.target(s.onChange),
	}
	out.Check = slices.Index(w.t.Validators, s.check) + 1
	out.Action = slices.IndexFunc(w.t.Actions, func(a runtime.FlowAction) bool {
		return a.Name == s.action
	}) + 1
	out.Inside = int(max(w.target(s.inside), 0))
	out.Flow = slices.IndexFunc(w.flows, func(f f) bool { return f.name == s.flow }) + 1
	for _, a := range s.arms {
		out.Arms = append(out.Arms, runtime.FlowArm{If: *w.expr(&a.cond), To: w.target(a.to)})
	}
	for _, v := range s.set {
		bind := w.bind(v)
		bind.Slot = w.slotRow(v.name)
		out.Set = append(out.Set, bind)
	}
	for _, v := range s.in {
		out.Inputs = append(out.Inputs, w.bind(v))
	}
	for _, v := range s.out {
		if v.slot == "" {
			v.slot = v.name
		}
		out.Outputs = append(out.Outputs, runtime.Bind{Name: v.name, Slot: w.slotRow(v.slot)})
	}
	return out
}

func (w *builder) bind(v b) runtime.Bind {
	out := runtime.Bind{Name: v.name}
	switch {
	case v.text != "":
		out.Text = w.texts(v.text)
	case v.lit != "":
		out.Value = w.expr(&x{op: runtime.OpValue, lit: v.lit})
	default:
		from := v.from
		if from == "" {
			from = v.name
		}
		out.Value = w.expr(&x{op: runtime.OpSlot, slot: from})
	}
	return out
}

func (w *builder) slotRow(name string) int {
	return slices.IndexFunc(w.slots, func(s runtime.FlowSlot) bool { return s.Name == name }) + 1
}

func (w *builder) target(to string) runtime.Target {
	switch to {
	case "":
		return runtime.NoTarget
	case "end":
		return runtime.TargetEnd
	case "cancel_flow":
		return runtime.TargetCancel
	case "error":
		return runtime.TargetError
	}
	at := slices.IndexFunc(w.steps, func(s p) bool { return s.id == to })
	if at < 0 {
		panic("no step " + to)
	}
	return runtime.Target(at + 1)
}

func (w *builder) expr(e *x) *runtime.Expr {
	if e == nil {
		return nil
	}
	out := &runtime.Expr{Op: e.op, Value: e.lit}
	if e.slot != "" {
		out.Slot = w.slotRow(e.slot)
		if out.Slot == 0 {
			panic("no slot " + e.slot)
		}
	}
	for i := range e.args {
		out.Args = append(out.Args, *w.expr(&e.args[i]))
	}
	return out
}

// texts reads "Hello {name}, {amount:2}"; several variants are divided by |.
func (w *builder) texts(text string) runtime.Texts {
	if text == "" {
		return nil
	}
	var in runtime.TextIn
	for variant := range strings.SplitSeq(text, "|") {
		t := parseTemplate(variant)
		for i := range t {
			name, decimals, _ := strings.Cut(t[i].Var, ":")
			if row := w.slotRow(name); row > 0 {
				t[i] = runtime.Part{Slot: row}
				if decimals != "" {
					n, _ := strconv.Atoi(decimals)
					t[i].Decimals = n + 1
				}
			}
		}
		in.Variants = append(in.Variants, t)
	}
	return runtime.Texts{in}
}

// Commands, as understanding returns them.

func raw(v any) json.RawMessage {
	data, err := runtime.Encode(v)
	if err != nil {
		panic(err)
	}
	return data
}

func starts(flow string, slots ...any) runtime.Command {
	c := runtime.Command{Type: runtime.CommandStart, Flow: flow}
	for i := 0; i+1 < len(slots); i += 2 {
		setKey(&c.Slots, slots[i].(string), raw(slots[i+1]))
	}
	return c
}

func sets(slot string, v any) runtime.Command {
	return runtime.Command{Type: runtime.CommandSet, Slot: slot, Value: raw(v)}
}

func corrects(slot string, v any) runtime.Command {
	return runtime.Command{Type: runtime.CommandCorrect, Slot: slot, Value: raw(v)}
}

func clears(slot string) runtime.Command {
	return runtime.Command{Type: runtime.CommandClear, Slot: slot}
}

func says(t runtime.CommandType, text string) runtime.Command {
	return runtime.Command{Type: t, Text: text}
}

var (
	yes     = runtime.Command{Type: runtime.CommandAffirm}
	no      = runtime.Command{Type: runtime.CommandDeny}
	cancels = runtime.Command{Type: runtime.CommandCancel}
)

// dialogueOf is a dialogue whose actions and validators are not called.
func dialogueOf(t *runtime.FlowTables) runtime.Dialogue {
	return runtime.Dialogue{
		Tables: t,
		Act: func(context.Context, int, string, json.RawMessage) (json.RawMessage, error) {
			return nil, nil
		},
		Validate: func(_ context.Context, _ int, v json.RawMessage) (json.RawMessage, error) {
			return v, nil
		},
	}
}

// parseTemplate parses "Hello {name}".
func parseTemplate(text string) runtime.Template {
	var out runtime.Template
	for text != "" {
		before, rest, found := strings.Cut(text, "{")
		if before != "" {
			out = append(out, runtime.Part{Text: before})
		}
		if !found {
			break
		}
		name, after, _ := strings.Cut(rest, "}")
		out = append(out, runtime.Part{Var: name})
		text = after
	}
	return out
}
