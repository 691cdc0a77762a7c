package spec

import (
	"slices"
	"strconv"
	"strings"
)

// use is one place that refers to something by name.
type use struct {
	kind  string // one of EditKinds
	owner string // of fields the record, of branches the node, of values the enum, of slots and steps the flow
	name  string
	at    *place  // the scalar, a key at times
	off   int     // where in the scalar's text the name begins
	home  string  // the definition it stands in: nodes/planning
	path  string  // for findings
	part  *member // the branch or the arm that stands and falls with it; nil for all else
}

// uses is the search for every reference of a document.
type uses struct {
	*checker
	list []use
	home string
	path []string
}

// uses lists the references of the document, in its order.
func (e *edition) uses() []use {
	c := newChecker(&reader{src: e.src}, e.spec)
	c.indexTypes()
	c.indexNodes()
	u := &uses{checker: c}
	for _, section := range []string{"types", "results"} {
		u.each(e.root, section, func(m *member) {
			u.home = section + "/" + m.key.name()
			u.fields(m.value)
		})
	}
	u.interrupts(e.root.at("interrupts"))
	u.each(e.root, "nodes", func(m *member) {
		u.home = "nodes/" + m.key.name()
		if n := c.nodes[m.key.name()]; n != nil {
			u.node(n, m.value)
		}
	})
	u.flows(e.root)
	return u.list
}

// each calls for every pair of the mapping below a key.
func (u *uses) each(p *place, key string, do func(m *member)) {
	in := p.at(key)
	if in == nil {
		return
	}
	u.path = append(u.path, key)
	for _, m := range in.pairs {
		u.path = append(u.path, m.key.name())
		do(m)
		u.path = u.path[:len(u.path)-1]
	}
	u.path = u.path[:len(u.path)-1]
}

func (u *uses) add(kind, owner string, at *place, off int, keys ...string) {
	if at == nil || at.n.Kind != scalarNode || at.n.Tag != tagText {
		return
	}
	path := "/" + strings.Join(append(slices.Clone(u.path), keys...), "/")
	u.list = append(u.list, use{kind: kind, owner: owner, name: at.n.Value[off:], at: at, off: off, home: u.home, path: path})
}

// partly says of a use that was just added what it is part of.
func (u *uses) partly(at *place, part *member) {
	if n := len(u.list); n > 0 && u.list[n-1].at == at {
		u.list[n-1].part = part
	}
}

// items adds every text of a list.
func (u *uses) items(kind, owner string, list *place, keys ...string) {
	if list == nil {
		return
	}
	for i, item := range list.items {
		u.add(kind, owner, item, 0, append(slices.Clone(keys), strconv.Itoa(i))...)
	}
}

// fields adds what the fields of a record refer to.
func (u *uses) fields(record *place) { u.members(record, "fields") }

// members adds what the fields below a key refer to.
func (u *uses) members(p *place, key string) { u.each(p, key, u.typeOfMember) }

// typeOfMember adds what the type of one field refers to, and the values that it has in the spec.
func (u *uses) typeOfMember(m *member) {
	at := m.value.at("type")
	text := at.name()
	rest := text
	for rest != "" {
		inner := strings.TrimPrefix(strings.TrimPrefix(rest, "[]"), "map[string]")
		if inner == rest {
			break
		}
		rest = inner
	}
	if rest == "" || slices.Contains(basicKinds(), rest) {
		return
	}
	u.add(EditType, "", at, len(text)-len(rest), "type")
	if d := u.byName[text]; d != nil && d.kind == declEnum {
		u.add(EditValue, text, m.value.at("default"), 0, "default")
		u.items(EditValue, text, m.value.at("examples"), "examples")
	}
}

func (u *uses) interrupts(in *place) {
	if in == nil || u.spec.Interrupts == nil {
		return
	}
	u.home, u.path = "interrupts", []string{"interrupts"}
	u.add(EditType, "", in.at("answer"), 0, "answer")
	u.fields(in)
	answer := &TypeExpr{Kind: Named, Name: u.spec.Interrupts.Answer.Value}
	u.each(in, "kinds", func(m *member) {
		u.add(EditNode, "", m.value.at("deadline", "target"), 0, "deadline", "target")
		u.json(m.value.at("deadline", "answer"), answer, "deadline", "answer")
		u.json(m.value.at("auto", "answer"), answer, "auto", "answer")
		u.items(EditValue, u.interruptEnum(), m.value.at("auto", "when"), "auto", "when")
	})
	u.path = nil
}

// interruptEnum returns the name of the enum that the common field `type` has, or "".
func (u *uses) interruptEnum() string {
	if u.spec.Interrupts == nil {
		return ""
	}
	f := find(u.checker, u.spec.Interrupts.Fields, "type")
	if f == nil || f.Type == nil || f.Type.Kind != Named {
		return ""
	}
	return f.Type.Name
}

// json adds the fields and values that a JSON value of a type speaks of.
func (u *uses) json(p *place, t *TypeExpr, keys ...string) {
	if p == nil || t == nil {
		return
	}
	d := u.byName[t.Name]
	switch {
	case t.Kind == List:
		for i, item := range p.items {
			u.json(item, t.Elem, append(slices.Clone(keys), strconv.Itoa(i))...)
		}
	case t.Kind == Map:
		for _, m := range p.pairs {
			u.json(m.value, t.Elem, append(slices.Clone(keys), m.key.name())...)
		}
	case t.Kind != Named || d == nil:
	case d.kind == declEnum:
		u.add(EditValue, d.name, p, 0, keys...)
	case d.kind == declRecord:
		for _, m := range p.pairs {
			for _, f := range d.fields {
				if !f.JSON.Set() && f.Key.Value == m.key.name() {
					u.add(EditField, d.name, m.key, 0, keys...)
				} else if f.JSON.Value != m.key.name() {
					continue
				}
				u.json(m.value, f.Type, append(slices.Clone(keys), m.key.name())...)
			}
		}
	}
}

// node adds what one node refers to.
func (u *uses) node(n *Node, p *place) {
	key, request := n.Key.Value, n.RequestName()
	for _, record := range []string{"request", "interrupt"} {
		u.path = append(u.path, record)
		u.fields(p.at(record))
		u.path = u.path[:len(u.path)-1]
	}
	u.each(p, "branches", func(m *member) {
		at := m.value
		if at.n.Kind == mappingNode {
			at = at.at("type")
		}
		if at.name() != "interrupt" {
			u.add(EditType, "", at, 0)
			u.partly(at, m)
		}
	})
	for _, ref := range []struct {
		kind, owner string
		path        []string
	}{
		{EditType, "", []string{"route", "returns"}},
		{EditNode, "", []string{"escalates"}},
		{EditField, request, []string{"dispatch", "each"}},
		{EditNode, "", []string{"dispatch", "to"}},
		{EditType, "", []string{"dispatch", "results"}},
		{EditType, "", []string{"result"}},
		{EditType, "", []string{"adapt", "from"}},
		{EditField, request, []string{"feedback"}},
	} {
		u.add(ref.kind, ref.owner, p.at(ref.path...), 0, ref.path...)
	}
	u.items(EditField, request, p.at("prompt", "vars"), "prompt", "vars")
	u.items(EditBranch, key, p.at("unstick"), "unstick")
	if n.Collect != nil {
		u.collect(n, p.at("collect"))
	}
	u.exempt(p.at("loop", "exempt"))
	if tools := p.at("tools"); tools != nil {
		for i, tool := range tools.items {
			u.items(EditNode, "", tool.at("transfer_to"), "tools", strconv.Itoa(i), "transfer_to")
		}
	}
}

// exempt adds nodes and interrupt types that do not count in a loop.
func (u *uses) exempt(list *place) {
	if list == nil {
		return
	}
	values := u.interruptTypes()
	for i, item := range list.items {
		if slices.Contains(values, item.name()) {
			u.add(EditValue, u.interruptEnum(), item, 0, "loop", "exempt", strconv.Itoa(i))
		} else {
			u.add(EditNode, "", item, 0, "loop", "exempt", strconv.Itoa(i))
		}
	}
}

func (u *uses) collect(n *Node, p *place) {
	u.add(EditType, "", p.at("result"), 0, "collect", "result")
	d := u.byName[n.Collect.Result.Value]
	enum := ""
	if d != nil {
		if e := u.decisionEnum(n.Collect, d); e != nil {
			enum = e.Key.Value
		}
	}
	if on := p.at("on"); on != nil {
		for _, m := range on.pairs {
			u.add(EditValue, enum, m.key, 0, "collect", "on", m.key.name())
			u.partly(m.key, m)
			if m.value.name() != "end" {
				u.add(EditBranch, n.Key.Value, m.value, 0, "collect", "on", m.key.name())
			}
		}
	}
	u.add(EditValue, enum, p.at("default"), 0, "collect", "default")
	carry := p.at("carry")
	if carry == nil {
		return
	}
	for _, m := range carry.pairs {
		seen := map[*Node]bool{}
		for _, a := range n.Collect.On {
			if next := u.armTarget(n, a); next != nil && !seen[next] && find(u.checker, next.fields(), m.key.name()) != nil {
				seen[next] = true
				u.add(EditField, next.RequestName(), m.key, 0, "collect", "carry", m.key.name())
			}
		}
		u.add(EditField, n.Collect.Result.Value, m.value, 0, "collect", "carry", m.key.name())
	}
}
