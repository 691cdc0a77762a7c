package review

import (
	"strings"

	"github.com/routegen/routegen/generator/plan"
)

// moveText says how a move is made.
func moveText(m plan.Move) string {
	if m.Name == "" {
		return string(m.How)
	}
	return string(m.How) + " " + m.Name
}

// moves is every way through the workflow.
type moves struct {
	byNode    map[string][]plan.Move
	routeNode map[string]string // from a route's constant to its node
}

func newMoves(p *plan.Plan) *moves {
	m := &moves{byNode: make(map[string][]plan.Move, len(p.Nodes)), routeNode: p.RouteNodes()}
	for _, mv := range p.Moves() {
		m.byNode[mv.From] = append(m.byNode[mv.From], mv)
	}
	return m
}

// leadsTo are the texts of how a node leads to each other one, interrupts apart.
func leadsTo(list []plan.Move) (order []string, how map[string]string) {
	how = map[string]string{}
	for _, m := range list {
		if m.How == plan.ByInterrupt {
			continue
		}
		if _, seen := how[m.To]; !seen {
			order = append(order, m.To)
			how[m.To] = moveText(m)
		} else if !strings.Contains(", "+how[m.To]+",", ", "+moveText(m)+",") {
			how[m.To] += ", " + moveText(m)
		}
	}
	return order, how
}

// compareMoves fills in the changed cells of node x node.
func (w *comparison) compareMoves() {
	w.nodes.visit(func(o, n *plan.Node) {
		var before, after []string
		how, is := map[string]string{}, map[string]string{}
		if o != nil {
			order, was := leadsTo(w.before.byNode[o.Key])
			for _, to := range order {
				name := w.nodeNow(to)
				before = append(before, name)
				how[name] = was[to]
			}
		}
		if n != nil {
			after, is = leadsTo(w.after.byNode[n.Key])
		}
		who := either(o, n).Key
		for _, to := range after {
			if how[to] != is[to] {
				w.access = append(w.access, Cell{"branch", who, to, how[to], is[to]})
			}
		}
		for _, to := range before {
			if _, has := is[to]; !has {
				w.access = append(w.access, Cell{"branch", who, to, how[to], ""})
			}
		}
	})
}

// compareWays fills in the steps of a flow that lead elsewhere. old has the names of the new plan.
func (w *comparison) compareWays(old, now *plan.Flow) {
	of := func(f *plan.Flow, id string) (order []string, how map[string]string) {
		how = map[string]string{}
		s := f.Step(id)
		if s == nil {
			return nil, how
		}
		for _, way := range plan.StepWays(f, s) {
			if _, seen := how[way.To]; !seen {
				order = append(order, way.To)
				how[way.To] = wayText(way)
			} else {
				how[way.To] += ", " + wayText(way)
			}
		}
		return order, how
	}
	for _, id := range union(stepIDs(now), stepIDs(old)) {
		before, was := of(old, id)
		after, is := of(now, id)
		for _, to := range union(after, before) {
			if was[to] != is[to] {
				w.access = append(w.access, Cell{"flow", now.Name + "." + id, to, was[to], is[to]})
			}
		}
	}
}

// wayText says when a way is taken.
func wayText(w plan.Way) string {
	if w.Why == "yes" || w.Why == "no" {
		return "answered " + w.Why
	}
	return nameOr(w.Why, "next")
}

func stepIDs(f *plan.Flow) []string {
	var out []string
	for i := range f.Steps {
		out = append(out, f.Steps[i].ID)
	}
	return out
}

// compareReroutes fills in the nodes that an open interrupt can be sent to.
func (w *comparison) compareReroutes() {
	w.nodes.visit(func(o, n *plan.Node) {
		had, has := o != nil && o.Route != "", n != nil && n.Route != ""
		if had != has {
			w.access = append(w.access, Cell{"reroute", "any open interrupt", either(o, n).Key,
				ifElse(had, "by reroute", ""), ifElse(has, "by reroute", "")})
		}
	})
}

// remains says what still leads to each node that lost a way, other ways than interrupts.
func (r *Report) remains() []string {
	var out []string
	after := newMoves(r.now)
	told := map[string]bool{}
	for _, c := range r.Access {
		if c.After != "" || c.Table != "branch" || c.Where == "" || told[c.Where] {
			continue
		}
		told[c.Where] = true
		if r.now.Node(c.Where) == nil {
			continue
		}
		var from []string
		for i := range r.now.Nodes {
			who := r.now.Nodes[i].Key
			if _, how := leadsTo(after.byNode[who]); how[c.Where] != "" && who != c.Where {
				from = append(from, who)
			}
		}
		out = append(out, c.Where+ifElse(len(from) == 0, " is reached by nothing but reroutes now",
			" is still reached from "+strings.Join(from, ", ")))
	}
	return out
}

// compareOrigins fills in the changed cells of origin x route, and holds them against the rules.
func (w *comparison) compareOrigins() {
	back := func(m *moves, n *plan.Node) string {
		if n == nil || n.Interrupt == "" {
			return ""
		}
		return m.routeNode[n.Origin]
	}
	w.nodes.visit(func(o, n *plan.Node) {
		was, is := back(w.before, o), back(w.after, n)
		if was != "" {
			was = w.nodeNow(was)
		}
		if was == is {
			return
		}
		who := either(o, n)
		c := w.originCause(o, n, was)
		if was != "" {
			w.access = append(w.access, Cell{"interrupt", who.Key, was, "yes", ""})
			c.hitf("ORIGIN_ROUTE_NO_DELETE",
				"after an interrupt of %s the model can no longer go on at %s%s", who.Key, was,
				ifElse(is == "" && n != nil && n.Interrupt != "", ", nor anywhere else", ""))
		}
		if is != "" {
			w.access = append(w.access, Cell{"interrupt", who.Key, is, "", "yes"})
			c.hitf("ORIGIN_ROUTE_ADDED", "after an interrupt of %s the model goes on at %s",
				who.Key, is)
		}
	})
}

// originCause is the change that moved the way back from an interrupt: the route's, where one came
// or went, else the node's.
func (w *comparison) originCause(o, n *plan.Node, was string) *change {
	if o != nil && n != nil && o.Interrupt != "" && n.Interrupt == "" {
		return w.recordChange(w.old.Record(o.Interrupt), w.records.next[o.Interrupt])
	}
	if o != nil && n != nil && o.Interrupt == "" {
		return w.recordChange(w.records.prev[n.Interrupt], w.now.Record(n.Interrupt))
	}
	if o != nil && n != nil {
		for _, key := range []string{"route " + n.Key, "route " + was, "node " + was} {
			if c := w.byKey[key]; c != nil && (c.op == opAdded || c.op == opRemoved) {
				return c
			}
		}
	}
	return w.nodeChange(o, n)
}
