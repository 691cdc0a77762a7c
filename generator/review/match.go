package review

import (
	"reflect"
	"sync"

	"github.com/routegen/routegen/generator/plan"
	"github.com/routegen/routegen/generator/report"
)

// nameFields are the fields that may hold the name of a thing, unique in its list; the first that a
// type has is used.
var nameFields = []string{"Key", "ID", "Wire", "Name"}

// common is where the fields that all things have stand in a type.
type common struct{ name, was, pos []int }

var commons sync.Map // of type reflect.Type: common

func commonOf(t reflect.Type) common {
	if c, ok := commons.Load(t); ok {
		return c.(common) //nolint:forcetypeassert // nothing else is stored
	}
	at := func(names ...string) []int {
		for _, name := range names {
			if f, ok := t.FieldByName(name); ok {
				return f.Index
			}
		}
		return nil
	}
	c := common{name: at(nameFields...), was: at("Was"), pos: at("Pos")}
	commons.Store(t, c)
	return c
}

// nameOf returns the name of a thing, given as a pointer; "" for nil.
func nameOf(thing any) string {
	v := reflect.ValueOf(thing)
	if v.IsNil() {
		return ""
	}
	return v.Elem().FieldByIndex(commonOf(v.Type().Elem()).name).String()
}

// placeOf returns where a thing stands in its spec.
func placeOf(thing any) report.Pos {
	v := reflect.ValueOf(thing)
	if v.IsNil() {
		return report.Pos{}
	}
	pos, _ := reflect.TypeAssert[report.Pos](v.Elem().FieldByIndex(commonOf(v.Type().Elem()).pos))
	return pos
}

// earlierNames returns the earlier names that a thing gives.
func earlierNames(thing any) []string {
	v := reflect.ValueOf(thing).Elem()
	was, _ := reflect.TypeAssert[[]string](v.FieldByIndex(commonOf(v.Type()).was))
	return was
}

// thingNamed returns the thing of that name, or nil.
func thingNamed[T any](list []T, name string) *T {
	return plan.Find(list, func(thing *T) bool { return nameOf(thing) == name })
}

// pairs matches the things of an old list and a new one: next maps an old name to the new thing,
// prev a new name to the old thing.
type pairs[T any] struct {
	old, now   []T
	next, prev map[string]*T
}

func (p pairs[T]) join(oldName string, o *T, newName string, n *T) {
	p.next[oldName], p.prev[newName] = n, o
}

// follow pairs things of one name, then those whose new form names the old one in was.
func follow[T any](old, now []T) pairs[T] {
	p := pairs[T]{old, now, make(map[string]*T, len(old)), make(map[string]*T, len(now))}
	before := make(map[string]*T, len(old))
	for i := range old {
		before[nameOf(&old[i])] = &old[i]
	}
	for i := range now {
		name := nameOf(&now[i])
		if o := before[name]; o != nil {
			p.join(name, o, name, &now[i])
		}
	}
	for i := range now {
		n := &now[i]
		name := nameOf(n)
		if p.prev[name] != nil {
			continue
		}
		for _, w := range earlierNames(n) {
			if o := before[w]; o != nil && p.next[w] == nil {
				p.join(w, o, name, n)
				break
			}
		}
	}
	return p
}

// visit visits what the new list has, in its order, with what it was or nil; then what is gone,
// with nil for what it is.
func (p pairs[T]) visit(visit func(o, n *T)) {
	for i := range p.now {
		visit(p.prev[nameOf(&p.now[i])], &p.now[i])
	}
	for i := range p.old {
		if p.next[nameOf(&p.old[i])] == nil {
			visit(&p.old[i], nil)
		}
	}
}

// either is the new form of a thing, or the old one of what is gone.
func either[T any](o, n *T) *T {
	if n == nil {
		return o
	}
	return n
}

// commonOrders returns the new names of what is on both sides and counts, in the old order and in
// the new; nil counts all.
func (p pairs[T]) commonOrders(counts func(*T) bool) (before, after []string) {
	for i := range p.old {
		n := p.next[nameOf(&p.old[i])]
		if n != nil && (counts == nil || counts(n) && counts(&p.old[i])) {
			before = append(before, nameOf(n))
		}
	}
	for i := range p.now {
		name := nameOf(&p.now[i])
		o := p.prev[name]
		if o != nil && (counts == nil || counts(o) && counts(&p.now[i])) {
			after = append(after, name)
		}
	}
	return before, after
}

// neighbour is the new form of the nearest thing before an old one that is still there, or nil.
func (p pairs[T]) neighbour(gone *T) *T {
	var found *T
	for i := 0; gone != nil && &p.old[i] != gone; i++ {
		if n := p.next[nameOf(&p.old[i])]; n != nil {
			found = n
		}
	}
	return found
}

// match pairs everything of two plans.
type match struct {
	old, now   *plan.Plan
	nodes      pairs[plan.Node]
	records    pairs[plan.Record]
	enums      pairs[plan.Enum]
	scalars    pairs[plan.Scalar]
	routings   pairs[plan.Routing]
	kinds      pairs[plan.InterruptKind]
	flows      pairs[plan.Flow]
	actions    pairs[plan.Action]
	validators pairs[plan.Validator]
	oldRoute   map[string]*plan.Route // by node
	newRoute   map[string]*plan.Route
}

// talkOf is the flows of a plan; of one without any, none.
func talkOf(p *plan.Plan) *plan.Talk {
	if p.Talk == nil {
		return &plan.Talk{}
	}
	return p.Talk
}

func newMatch(old, now *plan.Plan) *match {
	before, after := talkOf(old), talkOf(now)
	m := &match{
		old: old, now: now, oldRoute: routesByNode(old), newRoute: routesByNode(now),
		nodes: follow(old.Nodes, now.Nodes), enums: follow(old.Enums, now.Enums),
		scalars: follow(old.Scalars, now.Scalars), records: follow(old.Records, now.Records),
		kinds: follow(old.Interrupt.Kinds, now.Interrupt.Kinds),
		flows: follow(before.Flows, after.Flows), actions: follow(before.Actions, after.Actions),
		validators: follow(before.Validators, after.Validators),
		routings: pairs[plan.Routing]{old.Routings, now.Routings, map[string]*plan.Routing{},
			map[string]*plan.Routing{}},
	}
	m.nodes.visit(func(o, n *plan.Node) {
		if o != nil && n != nil {
			m.message(o.Request, n.Request)
			m.message(o.Interrupt, n.Interrupt)
		}
	})
	for i := range now.Routings { // that of a node is the one of the node that it was
		n, key := &now.Routings[i], ""
		if n.Node != "" {
			if key = nameOf(m.nodes.prev[n.Node]); key == "" {
				continue
			}
		}
		o := plan.Find(old.Routings, func(o *plan.Routing) bool { return o.Node == key })
		if o != nil {
			m.routings.join(o.Name, o, n.Name, n)
		}
	}
	return m
}

// message pairs the messages of one node, whose names may follow from its key.
func (m *match) message(old, now string) {
	o, n := m.old.Record(old), m.now.Record(now)
	if o != nil && n != nil && m.records.next[old] == nil && m.records.prev[now] == nil {
		m.records.join(old, o, now, n)
	}
}

func routesByNode(p *plan.Plan) map[string]*plan.Route {
	out := make(map[string]*plan.Route, len(p.Routes))
	for i := range p.Routes {
		out[p.Routes[i].Node] = &p.Routes[i]
	}
	return out
}

// became is the new name of an old record, or "".
func (m *match) became(record string) string { return nameOf(m.records.next[record]) }

// recordNow is the new name of an old record; the old one when it is gone.
func (m *match) recordNow(name string) string {
	if n := m.records.next[name]; n != nil {
		return n.Name
	}
	return name
}

// nodeNow is the new name of an old node; the old one when it is gone.
func (m *match) nodeNow(key string) string {
	if n := m.nodes.next[key]; n != nil {
		return n.Key
	}
	return key
}

// typeNow is an old type with the names of the new plan.
func (m *match) typeNow(t plan.Type) plan.Type {
	switch {
	case t.Elem != nil:
		elem := m.typeNow(*t.Elem)
		t.Elem = &elem
	case t.Kind == plan.RecordOf:
		t.Name = m.recordNow(t.Name)
	case t.Kind == plan.EnumOf && m.enums.next[t.Name] != nil:
		t.Name = m.enums.next[t.Name].Name
	case t.Kind == plan.ScalarOf && m.scalars.next[t.Name] != nil:
		t.Name = m.scalars.next[t.Name].Name
	}
	return t
}
