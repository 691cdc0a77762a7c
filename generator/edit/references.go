package edit

import (
	"slices"
	"strings"

	"github.com/routegen/routegen/generator/report"
	"github.com/routegen/routegen/generator/spec"
)

// reference is one place that refers to something by name.
type reference struct {
	kind string
	// of fields the record, of branches the node, of values the enum, of slots and steps the flow
	owner, name string
	at          report.Span
}

// finder collects the references of a document.
type finder struct {
	*change

	enums   map[string]bool
	records map[string][]*spec.Field
	list    []reference
}

// references returns every reference of the spec.
func (e *change) references() []reference {
	f := &finder{change: e, enums: map[string]bool{}, records: map[string][]*spec.Field{}}
	for _, enum := range e.spec.Enums {
		f.enums[enum.Key.Value] = true
	}
	for _, t := range slices.Concat(e.spec.Types, e.spec.Results) {
		f.records[t.Key.Value] = t.Fields
		f.fields(t.Fields)
	}
	if in := e.spec.Interrupts; in != nil {
		f.interrupts(in)
	}
	for _, n := range e.spec.Nodes {
		f.addNode(n)
	}
	if d := e.spec.Talk; d != nil {
		f.add(KindFlow, "", d.Welcome, d.Fallback)
	}
	for _, a := range e.spec.Actions {
		f.fields(a.Inputs)
		f.fields(a.Outputs)
	}
	for _, v := range e.spec.Validators {
		f.typ(v.Type)
	}
	for _, flow := range e.spec.Flows {
		(&flowFinder{f, flow}).find()
	}
	return f.list
}

// add adds names that refer to things of a kind. A name that is not given is passed over.
func (f *finder) add(kind, owner string, names ...spec.Text) {
	for _, t := range names {
		if t.Set() && t.Value != "" {
			f.list = append(f.list, reference{kind, owner, t.Value, t.At})
		}
	}
}

// fields adds what the types of fields refer to, and the values of enums that fields have.
func (f *finder) fields(fields []*spec.Field) {
	for _, field := range fields {
		f.typ(field.Type)
		if enum := f.enumOf(field.Type); enum != "" {
			values := field.Examples
			if field.Default != nil {
				values = append(slices.Clone(values), *field.Default)
			}
			for _, v := range values {
				f.add(KindValue, enum, spec.Text{Value: v.Value, At: v.At})
			}
		}
	}
}

func (f *finder) typ(t *spec.TypeExpr) {
	if t = t.Leaf(); t != nil && t.Kind == spec.Named {
		f.add(KindType, "", spec.Text{Value: t.Name, At: t.At})
	}
}

// enumOf returns the name of the enum that a type is or is made of, or "".
func (f *finder) enumOf(t *spec.TypeExpr) string {
	if t = t.Leaf(); t != nil && f.enums[t.Name] {
		return t.Name
	}
	return ""
}

// fieldType returns the type of a field, or nil.
func fieldType(fields []*spec.Field, name string) *spec.TypeExpr {
	for _, f := range fields {
		if f.Key.Value == name {
			return f.Type
		}
	}
	return nil
}

func (f *finder) interrupts(in *spec.Interrupts) {
	f.add(KindType, "", in.Answer)
	f.fields(in.Fields)
	for _, k := range in.Kinds {
		if k.Deadline != nil {
			f.add(KindNode, "", k.Deadline.Target)
		}
		if k.Auto != nil {
			f.add(KindValue, f.interruptEnum(), k.Auto.When...)
		}
		for _, key := range []string{"deadline", "auto"} {
			f.json(f.at("interrupts", "kinds", k.Key.Value, key, "answer"), f.answer())
		}
	}
}

// answer is the type of what people answer, nil where the spec does not say.
func (f *finder) answer() *spec.TypeExpr {
	if f.spec.Interrupts == nil {
		return nil
	}
	return &spec.TypeExpr{Kind: spec.Named, Name: f.spec.Interrupts.Answer.Value}
}

// interruptEnum returns the name of the enum of the common field `type` of interrupts, or "".
func (f *finder) interruptEnum() string {
	if in := f.spec.Interrupts; in != nil {
		return f.enumOf(fieldType(in.Fields, "type"))
	}
	return ""
}

// json adds the fields and values of enums that a JSON value of a type names.
func (f *finder) json(v *value, t *spec.TypeExpr) {
	if v == nil || t == nil {
		return
	}
	for _, item := range v.items {
		f.json(item, t.Elem)
	}
	if t.Elem == nil && f.enums[t.Name] {
		f.add(KindValue, t.Name, spec.Text{Value: v.name(), At: f.spanOf(v)})
	}
	for _, p := range v.pairs {
		if t.Kind == spec.Map {
			f.json(p.value, t.Elem)
			continue
		}
		for _, field := range f.records[t.Name] {
			name := p.key.name()
			if !field.JSON.Set() && field.Key.Value == name {
				f.add(KindField, t.Name, spec.Text{Value: name, At: f.spanOf(p.key)})
			} else if field.JSON.Value != name {
				continue
			}
			f.json(p.value, field.Type)
		}
	}
}

// addNode adds what one node refers to.
func (f *finder) addNode(n *spec.Node) {
	request := n.RequestName()
	if n.Request != nil {
		f.fields(n.Request.Fields)
	}
	if n.Interrupt != nil {
		f.fields(n.Interrupt.Fields)
	}
	for _, b := range n.Branches {
		if b.Type.Value != "interrupt" {
			f.add(KindType, "", b.Type)
		}
	}
	if n.Route != nil {
		f.add(KindType, "", n.Route.Returns)
	}
	f.add(KindNode, "", n.Escalates)
	if n.Deadline != nil {
		f.add(KindNode, "", n.Deadline.Target)
		f.json(f.at("nodes", n.Key.Value, "deadline", "answer"), f.answer())
	}
	if d := n.Dispatch; d != nil {
		f.add(KindField, request, d.Each)
		f.add(KindNode, "", d.To)
		f.add(KindType, "", d.Results)
	}
	f.add(KindType, "", n.Result, n.Adapt)
	if n.Prompt != nil {
		f.add(KindField, request, n.Prompt.Vars...)
	}
	f.add(KindField, request, n.Feedback)
	f.add(KindBranch, n.Key.Value, n.Unstick...)
	if n.Collect != nil {
		f.collect(n, n.Collect)
	}
	if n.Loop != nil {
		enum := f.interruptEnum()
		for _, t := range n.Loop.Exempt {
			if f.at("enums", enum, "values").get(t.Value) != nil {
				f.add(KindValue, enum, t)
			} else {
				f.add(KindNode, "", t)
			}
		}
	}
	for _, t := range n.Tools {
		f.add(KindNode, "", t.TransferTo...)
	}
}

// collect adds what a decision table refers to. A field of the next request belongs to every
// request that an arm leads to.
func (f *finder) collect(n *spec.Node, c *spec.Collect) {
	f.add(KindType, "", c.Result)
	enum := f.spec.DecisionEnum(c)
	next := map[string]bool{}
	for _, arm := range c.On {
		f.add(KindValue, enum, arm.Decision)
		if arm.To.Value != "end" {
			f.add(KindBranch, n.Key.Value, arm.To)
		}
		for _, b := range n.Branches {
			if b.Key.Value == arm.To.Value {
				next[b.Type.Value] = true
			}
		}
	}
	f.add(KindValue, enum, c.Default)
	for _, carry := range c.Carry {
		for _, n := range f.spec.Nodes {
			if n.Request != nil &&
				(next[n.RequestName()] || n.Adapt.Set() && next[n.Adapt.Value]) &&
				fieldType(n.Request.Fields, carry.Field.Value) != nil {
				f.add(KindField, n.RequestName(), carry.Field)
			}
		}
		f.add(KindField, c.Result.Value, carry.From)
	}
}

// flowFinder collects the references of one flow.
type flowFinder struct {
	*finder

	flow *spec.Flow
}

func (f *flowFinder) find() {
	f.fields(f.flow.Slots)
	for _, t := range slices.Concat(f.flow.Inputs, f.flow.Outputs) {
		t.Value = strings.TrimSuffix(t.Value, "?")
		f.slots(t)
	}
	f.expr(f.flow.Trigger)
	f.targets(f.flow.OnError)
	f.steps(f.flow.Steps)
}

func (f *flowFinder) slots(names ...spec.Text) { f.add(KindSlot, f.flow.Key.Value, names...) }

// targets adds names of steps, and passes over the reserved ones.
func (f *flowFinder) targets(names ...spec.Text) {
	for _, t := range names {
		if !slices.Contains(spec.ReservedSteps(), t.Value) {
			f.add(KindStep, f.flow.Key.Value, t)
		}
	}
}

func (f *flowFinder) steps(steps []*spec.Step) {
	for _, s := range steps {
		f.slots(s.Slot)
		f.add(KindValidator, "", s.Validator)
		f.add(KindAction, "", s.Action)
		f.add(KindFlow, "", s.Flow)
		f.expr(s.When)
		f.expr(s.Cond)
		f.targets(s.Next, s.Else, s.OnYes, s.OnNo, s.OnChange, s.OnInvalid, s.OnTimeout, s.OnCancel,
			s.OnError)
		for _, arm := range s.Arms {
			f.expr(arm.If)
			f.targets(arm.Then)
		}
		f.words(s.Text)
		f.words(s.Invalid, "reason", "value")
		f.binds(s)
		f.steps(s.Do)
	}
}

// binds adds the slots that a step fills, and what it gives and takes over.
func (f *flowFinder) binds(s *spec.Step) {
	for _, b := range s.Set {
		f.slots(b.Name)
		f.bind(b, f.flow.Slots)
	}
	var inputs []*spec.Field // of the flow or action that is called
	for _, other := range f.spec.Flows {
		if other.Key.Value == s.Flow.Value {
			inputs = other.Slots
		}
	}
	for _, a := range f.spec.Actions {
		if a.Key.Value == s.Action.Value {
			inputs = a.Inputs
		}
	}
	for _, b := range s.Inputs {
		f.bind(b, inputs)
	}
	for _, b := range s.Outputs {
		f.slots(b.To)
	}
	for _, b := range slices.Concat(s.Inputs, s.Outputs) {
		if s.Flow.Set() {
			f.add(KindSlot, s.Flow.Value, b.Name)
		}
	}
}

// bind adds what a value is made of. Its texts may be values of an enum.
func (f *flowFinder) bind(b *spec.Bind, fields []*spec.Field) {
	f.words(b.Text)
	f.expr(b.Value)
	if enum := f.enumOf(fieldType(fields, b.Name.Value)); b.Value != nil && enum != "" {
		f.literals(b.Value, enum)
	}
}

// literals adds the texts of a value or a list as values of an enum.
func (f *finder) literals(e *spec.Expr, enum string) {
	for _, text := range append(slices.Clone(e.Args), e) {
		if text.Op == "value" && text.Value.Kind == "string" {
			f.add(KindValue, enum, spec.Text{Value: text.Value.Value, At: text.Value.At})
		}
	}
}

// expr adds the slots of an expression, and the values of enums that they are compared with.
func (f *flowFinder) expr(e *spec.Expr) {
	if e == nil {
		return
	}
	f.slots(e.Slot)
	for i, arg := range e.Args {
		f.expr(arg)
		if len(e.Args) != 2 || e.Op == "and" || e.Op == "or" || e.Args[1-i].Op != "slot" {
			continue
		}
		if enum := f.enumOf(fieldType(f.flow.Slots, e.Args[1-i].Slot.Value)); enum != "" {
			f.literals(arg, enum)
		}
	}
}

// words adds the slots that a text names, in all its languages and variations. Some names are
// variables of the machine.
func (f *flowFinder) words(words spec.Words, variables ...string) {
	for _, in := range words {
		for _, template := range in.Variants {
			for _, part := range template.Parts {
				if !slices.Contains(variables, part.Name.Value) {
					f.slots(part.Name)
				}
			}
		}
	}
}
