package spec

import (
	"slices"
	"strconv"
	"strings"
)

// flows adds what the settings of flows and all flows refer to.
func (u *uses) flows(root *place) {
	u.home, u.path = "dialogue", []string{"dialogue"}
	for _, key := range []string{"welcome", "fallback"} {
		u.add(EditFlow, "", root.at("dialogue", key), 0, key)
	}
	u.path = nil
	u.each(root, "actions", func(m *member) {
		u.home = "actions/" + m.key.name()
		u.members(m.value, "inputs")
		u.members(m.value, "outputs")
	})
	u.each(root, "validators", func(m *member) {
		u.home = "validators/" + m.key.name()
		u.typeOfMember(m)
	})
	u.each(root, "flows", func(m *member) {
		u.home = "flows/" + m.key.name()
		if i := slices.IndexFunc(u.spec.Flows, func(f *Flow) bool { return f.Key.Value == m.key.name() }); i >= 0 {
			(&flowUses{uses: u, flow: u.spec.Flows[i], at: m.value}).all()
		}
	})
}

// flowUses is the search in one flow.
type flowUses struct {
	*uses

	flow *Flow
	at   *place
}

func (u *flowUses) name() string { return u.flow.Key.Value }

func (u *flowUses) all() {
	u.members(u.at, "slots")
	for _, key := range []string{"inputs", "outputs"} {
		if list := u.at.at(key); list != nil {
			for i, item := range list.items {
				u.part(EditSlot, u.name(), item, 0, len(strings.TrimSuffix(item.name(), "?")), key, strconv.Itoa(i))
			}
		}
	}
	u.expr(u.at.at("trigger", "when"), "trigger", "when")
	u.target(u.at.at("on_error"), "on_error")
	u.steps(u.at.at("steps"), "steps")
}

// part adds a name that is a part of a scalar.
func (u *uses) part(kind, owner string, at *place, off, width int, keys ...string) {
	u.add(kind, owner, at, off, keys...)
	if n := len(u.list); n > 0 && u.list[n-1].at == at && u.list[n-1].off == off {
		u.list[n-1].name = at.n.Value[off : off+width]
	}
}

func (u *flowUses) target(at *place, keys ...string) {
	if at != nil && !slices.Contains(reservedSteps(), at.name()) {
		u.add(EditStep, u.name(), at, 0, keys...)
	}
}

func (u *flowUses) steps(list *place, keys ...string) {
	if list == nil {
		return
	}
	for i, step := range list.items {
		kept := u.path
		u.path = append(slices.Clone(kept), append(slices.Clone(keys), strconv.Itoa(i))...)
		u.step(step)
		u.path = kept
	}
}

func (u *flowUses) step(p *place) {
	slot := func(keys ...string) { u.add(EditSlot, u.name(), p.at(keys...), 0, keys...) }
	slot("slot")
	u.items(EditSlot, u.name(), p.at("context"), "context")
	u.add(EditValidator, "", p.at("validator"), 0, "validator")
	u.add(EditAction, "", p.at("call"), 0, "call")
	u.add(EditFlow, "", p.at("flow"), 0, "flow")
	u.expr(p.at("when"), "when")
	u.expr(p.at("condition"), "condition")
	for _, key := range []string{"next", "else", "on_yes", "on_no", "on_change", "on_invalid", "on_timeout", "on_cancel", "on_error"} {
		u.target(p.at(key), key)
	}
	for _, key := range []string{"message", "instruction", "invalid_message"} {
		u.words(p.at(key), key == "invalid_message", key)
	}
	if cases := p.at("cases"); cases != nil {
		for i, arm := range cases.items {
			u.expr(arm.at("if"), "cases", strconv.Itoa(i), "if")
			u.target(arm.at("then"), "cases", strconv.Itoa(i), "then")
		}
	}
	u.values(p)
	u.inputs(p)
	u.steps(p.at("do"), "do")
}

// values adds the slots that a set step fills, and what it fills them with.
func (u *flowUses) values(p *place) {
	for _, m := range p.at("values").members() {
		keys := []string{"values", m.key.name()}
		u.add(EditSlot, u.name(), m.key, 0, keys...)
		enum := u.enumOf(u.slotType(u.flow, m.key.name()))
		if m.value.n.Kind == scalarNode && enum == "" {
			u.template(m.value, false, keys...)
		}
		u.bind(m.value, enum, keys...)
	}
}

// inputs adds what a call gives and takes over.
func (u *flowUses) inputs(p *place) {
	var other *Flow
	if i := slices.IndexFunc(u.spec.Flows, func(f *Flow) bool { return f.Key.Value == p.at("flow").name() }); i >= 0 {
		other = u.spec.Flows[i]
	}
	for _, m := range p.at("inputs").members() {
		keys := []string{"inputs", m.key.name()}
		enum := ""
		if other != nil {
			u.add(EditSlot, other.Key.Value, m.key, 0, keys...)
			enum = u.enumOf(u.slotType(other, m.key.name()))
		}
		switch text := m.value.name(); {
		case m.value.n.Kind == scalarNode && isSlotName(text):
			u.add(EditSlot, u.name(), m.value, 0, keys...)
		case m.value.n.Kind == scalarNode:
			u.template(m.value, false, keys...)
		default:
			u.bind(m.value, enum, keys...)
		}
	}
	for _, m := range p.at("outputs").members() {
		if other != nil {
			u.add(EditSlot, other.Key.Value, m.key, 0, "outputs", m.key.name())
		}
		u.add(EditSlot, u.name(), m.value, 0, "outputs", m.key.name())
	}
}

// bind adds what a value is made of. A text may be a value of an enum.
func (u *flowUses) bind(p *place, enum string, keys ...string) {
	if enum != "" && p.n.Kind == scalarNode {
		u.add(EditValue, enum, p, 0, keys...)
	}
	for i, item := range p.items {
		if enum != "" {
			u.add(EditValue, enum, item, 0, append(slices.Clone(keys), strconv.Itoa(i))...)
		}
	}
	u.add(EditSlot, u.name(), p.at("from"), 0, append(slices.Clone(keys), "from")...)
	at := p.at("expr")
	u.expr(at, append(slices.Clone(keys), "expr")...)
	if e := reread(at); e != nil && enum != "" && e.isText() {
		u.literal(at, e, enum, append(slices.Clone(keys), "expr")...)
	}
}

// slotType returns the type of a slot, or nil.
func (u *uses) slotType(f *Flow, name string) *TypeExpr {
	if slot := find(u.checker, f.Slots, name); slot != nil {
		return slot.Type
	}
	return nil
}

// enumOf returns the name of the enum that a type is, or is a list of; "" when it is none.
func (u *uses) enumOf(t *TypeExpr) string {
	if _, enum := u.base(orString(t.leaf())); enum != nil {
		return enum.Key.Value
	}
	return ""
}

func orString(t *TypeExpr) *TypeExpr {
	if t == nil {
		return &TypeExpr{Kind: String}
	}
	return t
}

// reread parses the text of an expression as if it stood in a file alone: its places are offsets in the text. It returns nil for what
// is no expression.
func reread(p *place) *Expr {
	if p.name() == "" || p.n.Tag != tagText {
		return nil
	}
	t, n := alone(p.n.Value)
	return (&reader{src: newSource("", []byte(t.Value))}).parseExpr(t, n)
}

// alone is a text as it stands in a file of its own, on one line.
func alone(text string) (Text, *node) {
	text = strings.Map(func(c rune) rune {
		if c == '\n' {
			return ' '
		}
		return c
	}, text)
	return Text{Value: text, At: Span{Pos{1, 1}, Pos{1, 2}}}, &node{Kind: scalarNode, Tag: tagText, Value: text, Line: 1, Column: 1}
}

// expr adds the slots of an expression, and the values of enums that they are compared with.
func (u *flowUses) expr(p *place, keys ...string) {
	reread(p).each(func(e *Expr) {
		if t := e.Slot; t.Set() {
			u.part(EditSlot, u.name(), p, byteOffset([]byte(p.n.Value), t.At.Start.Column), len(t.Value), keys...)
		}
		if len(e.Args) != 2 || slices.Contains([]string{"and", "or"}, e.Op) {
			return
		}
		for i, arg := range e.Args {
			enum := u.enumOf(u.slotType(u.flow, e.Args[1-i].Slot.Value))
			if enum == "" || e.Args[1-i].Op != "slot" {
				continue
			}
			for _, text := range append(slices.Clone(arg.Args), arg) {
				if text.isText() {
					u.literal(p, text, enum, keys...)
				}
			}
		}
	})
}

// literal adds the value of an enum that stands in quotes in an expression.
func (u *flowUses) literal(p *place, text *Expr, enum string, keys ...string) {
	u.part(EditValue, enum, p, byteOffset([]byte(p.n.Value), text.At.Start.Column)+1, len(text.Value.Value), keys...)
}

// words adds the slots that a text names, in all its languages and variations.
func (u *flowUses) words(p *place, refused bool, keys ...string) {
	if p == nil {
		return
	}
	for i, item := range p.items {
		u.words(item, refused, append(slices.Clone(keys), strconv.Itoa(i))...)
	}
	for _, m := range p.pairs {
		u.words(m.value, refused, append(slices.Clone(keys), m.key.name())...)
	}
	if p.n.Kind == scalarNode {
		u.template(p, refused, keys...)
	}
}

func (u *flowUses) template(p *place, refused bool, keys ...string) {
	if p.name() == "" || p.n.Tag != tagText {
		return
	}
	t, n := alone(p.n.Value)
	for _, part := range (&reader{src: newSource("", []byte(t.Value))}).parseTemplate(t, n).Parts {
		name := part.Name.Value
		if name != "" && (!refused || name != "reason" && name != "value") {
			u.part(EditSlot, u.name(), p, byteOffset([]byte(p.n.Value), part.Name.At.Start.Column), len(name), keys...)
		}
	}
}

// ownNames writes out what action steps of a flow give and take by the name of a slot, before the slot gets another.
func (e *edition) ownNames(d *definition, to string) {
	actions := map[string]*Action{}
	for _, a := range e.spec.Actions {
		actions[a.Key.Value] = a
	}
	shape := stepGrammar().shape
	var look func(list *place)
	look = func(list *place) {
		for _, step := range list.list() {
			if a := actions[step.at("call").name()]; a != nil && step.at("type").name() == "action" {
				for i, params := range [][]*Field{a.Inputs, a.Outputs} {
					if slices.ContainsFunc(params, func(f *Field) bool { return f.Key.Value == d.name }) {
						e.ownName(step, shape, [...]string{"inputs", "outputs"}[i], d.name, to)
					}
				}
			}
			look(step.at("do"))
		}
	}
	look(e.root.at("flows", d.owner, "steps"))
}

func (e *edition) ownName(step *place, shape *shape, key, name, to string) {
	switch m := step.get(key); {
	case m == nil:
		e.insert(step, shape.spot(step, key), key, freshPair(name, freshText(to)))
	case m.value.get(name) == nil:
		e.insert(m.value, len(m.value.pairs), name, freshText(to))
	}
}

// byName reports the action steps that are given a slot by its own name: without the slot they would be given nothing.
func (e *edition) byName(d *definition, target string) []Finding {
	for _, f := range e.spec.Flows {
		if f.Key.Value != d.owner {
			continue
		}
		var look func(steps []*Step)
		look = func(steps []*Step) {
			for _, step := range steps {
				if e.takesByName(step, d.name) {
					f := e.refs.reportAt(RuleRefInUse, step.Action.At, "say in inputs: what it is given", "slot %q is given to action %q here, by its name", target, step.Action.Value)
					f.Path = step.path
				}
				look(step.Do)
			}
		}
		look(f.Steps)
	}
	return e.refs.findings
}

func (e *edition) takesByName(step *Step, slot string) bool {
	named := func(list []*Bind) bool {
		return slices.ContainsFunc(list, func(b *Bind) bool { return b.Name.Value == slot })
	}
	for _, a := range e.spec.Actions {
		if a.Key.Value == step.Action.Value && step.Kind.Value == "action" && !named(step.Inputs) {
			return slices.ContainsFunc(a.Inputs, func(f *Field) bool { return f.Key.Value == slot })
		}
	}
	return false
}
