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

// ways are the texts of how a node leads to each other one, interrupts apart.
func ways(list []plan.Move) (order []string, how map[string]string) {
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
			order, was := ways(w.before.byNode[o.Key])
			for _, to := range order {
				name := w.nodeNow(to)
				before = append(before, name)
				how[name] = was[to]
			}
		}
		if n != nil {
			after, is = ways(w.after.byNode[n.Key])
		}
		who := either(o, n).Key
		for _, to := range after {
			if _, had := how[to]; !had {
				w.access = append(w.access, Cell{"branch", who, to, "", is[to]})
			}
		}
		for _, to := range before {
			if _, has := is[to]; !has {
				w.access = append(w.access, Cell{"branch", who, to, how[to], ""})
			}
		}
	})
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
