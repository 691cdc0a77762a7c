package review

import (
	"github.com/routegen/routegen/generator/plan"
)

// pairs says what became of the things of one kind: next from an old name to the new thing, prev from a new name to the old thing.
type pairs[T any] struct {
	next, prev map[string]*T
}

func (p pairs[T]) join(oldName string, o *T, newName string, n *T) {
	p.next[oldName], p.prev[newName] = n, o
}

// follow pairs things of one name, then those whose new form names the old one in was.
func follow[T any](old, now []T, name func(*T) string, was func(*T) []string) pairs[T] {
	p := pairs[T]{make(map[string]*T, len(old)), make(map[string]*T, len(now))}
	before := make(map[string]*T, len(old))
	for i := range old {
		before[name(&old[i])] = &old[i]
	}
	for i := range now {
		if o := before[name(&now[i])]; o != nil {
			p.join(name(o), o, name(&now[i]), &now[i])
		}
	}
	for i := range now {
		n := &now[i]
		if p.prev[name(n)] != nil {
			continue
		}
		for _, w := range was(n) {
			if o := before[w]; o != nil && p.next[w] == nil {
				p.join(w, o, name(n), n)
				break
			}
		}
	}
	return p
}

// The earlier names of the parts of things.
func fieldWas(f *plan.Field) []string        { return f.Was }
func branchWas(b *plan.Branch) []string      { return b.Was }
func valueWas(v *plan.EnumValue) []string    { return v.Was }
func kindWas(k *plan.InterruptKind) []string { return k.Was }

// match pairs everything of two plans.
type match struct {
	old, now *plan.Plan
	nodes    pairs[plan.Node]
	records  pairs[plan.Record]
	enums    pairs[plan.Enum]
	scalars  pairs[plan.Scalar]
	routings pairs[plan.Routing]
	kinds    pairs[plan.InterruptKind]
	oldRoute map[string]*plan.Route // by node
	newRoute map[string]*plan.Route
	flowsOf  flowMatch
}

func newMatch(old, now *plan.Plan) *match {
	m := &match{old: old, now: now, oldRoute: routesByNode(old), newRoute: routesByNode(now)}
	m.nodes = follow(old.Nodes, now.Nodes, func(n *plan.Node) string { return n.Key }, func(n *plan.Node) []string { return n.Was })
	m.enums = follow(old.Enums, now.Enums, func(e *plan.Enum) string { return e.Name }, func(e *plan.Enum) []string { return e.Was })
	m.scalars = follow(old.Scalars, now.Scalars, func(s *plan.Scalar) string { return s.Name }, func(s *plan.Scalar) []string { return s.Was })
	m.records = follow(old.Records, now.Records, func(r *plan.Record) string { return r.Name }, func(r *plan.Record) []string { return r.Was })
	m.flowsOf = newFlowMatch(talkOf(old), talkOf(now))
	m.kinds = follow(old.Interrupt.Kinds, now.Interrupt.Kinds, func(k *plan.InterruptKind) string { return k.Key }, kindWas)
	for i := range now.Nodes {
		n := &now.Nodes[i]
		if o := m.nodes.prev[n.Key]; o != nil {
			m.message(o.Request, n.Request)
			m.message(o.Interrupt, n.Interrupt)
		}
	}
	m.routings = pairs[plan.Routing]{map[string]*plan.Routing{}, map[string]*plan.Routing{}}
	before := make(map[string]*plan.Routing, len(old.Routings))
	for i := range old.Routings {
		before[old.Routings[i].Node] = &old.Routings[i]
	}
	for i := range now.Routings {
		n, key := &now.Routings[i], ""
		if n.Node != "" {
			o := m.nodes.prev[n.Node]
			if o == nil {
				continue
			}
			key = o.Key
		}
		if o := before[key]; o != nil {
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

// sameType reports whether two types are one, declared renames followed.
func (m *match) sameType(o, n plan.Type) bool {
	for o.Elem != nil && n.Elem != nil && o.Kind == n.Kind {
		o, n = *o.Elem, *n.Elem
	}
	if o.Kind != n.Kind || (o.Elem == nil) != (n.Elem == nil) {
		return false
	}
	switch o.Kind {
	case plan.RecordOf:
		return m.became(o.Name) == n.Name
	case plan.EnumOf:
		e := m.enums.next[o.Name]
		return e != nil && e.Name == n.Name
	case plan.ScalarOf:
		s := m.scalars.next[o.Name]
		return s != nil && s.Name == n.Name
	default:
		return true
	}
}

// became is the new name of an old record, or "".
func (m *match) became(record string) string {
	if r := m.records.next[record]; r != nil {
		return r.Name
	}
	return ""
}
