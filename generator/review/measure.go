package review

import (
	"github.com/routegen/routegen/generator/plan"
	"github.com/routegen/routegen/runtime"
)

// Measure fills in Schemas and SchemaEdits: the plain schemas that models are sent and whose text
// changed, with their size before and now, and what changed in them. It must be given composers of
// the plans that were compared. A report that Compare did not make stays as it is.
func (r *Report) Measure(old, now Schemas) {
	if r.now == nil {
		return
	}
	r.Schemas, r.SchemaEdits = nil, nil
	both := newMatch(r.old, r.now)
	trees := schemaTrees{renamed: both.recordNow, done: map[string]bool{}}
	add := func(name, where, was, is string) {
		if was == is {
			return
		}
		r.Schemas = append(r.Schemas, SchemaDelta{name, len(was), len(is)})
		if was != "" && is != "" {
			trees.compareSchemas(where, parseTree(was), parseTree(is))
		}
	}
	nodes := both.nodes
	interrupts := r.now.Interrupt.Routing
	add("every route", interrupts, whole(r.old, old), whole(r.now, now))
	before, after := origins(r.old, old), origins(r.now, now)
	nodes.visit(func(o, n *plan.Node) {
		name := "after an interrupt of " + either(o, n).Key
		add(name, interrupts+" "+name, before(o), after(n))
	})
	byNode := func(p *plan.Plan) map[string]plan.Routing {
		out := map[string]plan.Routing{}
		for _, routing := range p.Routings {
			out[routing.Node] = routing
		}
		return out
	}
	was, is := byNode(r.old), byNode(r.now)
	nodes.visit(func(o, n *plan.Node) {
		add("routing of "+either(o, n).Key, either(o, n).Routing, routingText(old, was, o),
			routingText(now, is, n))
	})
	r.SchemaEdits = trees.edits
}

func whole(p *plan.Plan, s Schemas) string {
	if len(p.Routes) == 0 {
		return ""
	}
	return s.Routing(runtime.Plain, p.Routings[0])
}

func routingText(s Schemas, byNode map[string]plan.Routing, n *plan.Node) string {
	if n == nil || n.Routing == "" {
		return ""
	}
	return s.Routing(runtime.Plain, byNode[n.Key])
}

// origins returns what gives the schema that a model is sent after an interrupt of a node.
func origins(p *plan.Plan, s Schemas) func(*plan.Node) string {
	index := map[string]int{}
	for i, r := range p.Routes {
		index[r.Const] = i
	}
	return func(n *plan.Node) string {
		if n == nil || n.Interrupt == "" {
			return ""
		}
		i, ok := index[n.Origin]
		if !ok {
			return ""
		}
		return s.Routes(runtime.Plain, i)
	}
}
