package review

import (
	"slices"
	"strings"

	"github.com/routegen/routegen/generator/plan"
)

// move is one way from a node to another, or to the end of the frame when to is empty.
type move struct {
	from, to string
	how      string // branch, decision, dispatch, results or interrupt
	name     string // of the branch, the decision or the list that is handed out
}

// text says how a move is made.
func (m move) text() string {
	if m.name == "" {
		return m.how
	}
	return m.how + " " + m.name
}

// moves is every way through the workflow, in the order of the nodes and their branches.
type moves struct {
	all       []move
	byNode    map[string][]move
	routeNode map[string]string // from a route's constant to its node
}

func newMoves(p *plan.Plan) *moves {
	m := &moves{byNode: make(map[string][]move, len(p.Nodes)), routeNode: make(map[string]string, len(p.Routes))}
	for _, r := range p.Routes {
		m.routeNode[r.Const] = r.Node
	}
	branches := make(map[string][]plan.Branch, len(p.Routings))
	for _, r := range p.Routings {
		branches[r.Name] = r.Branches
	}
	for i := range p.Nodes {
		n := &p.Nodes[i]
		list := m.of(n, branches[n.Routing])
		m.byNode[n.Key] = list
		m.all = append(m.all, list...)
	}
	return m
}

func (m *moves) of(n *plan.Node, branches []plan.Branch) []move {
	var out []move
	for _, b := range branches {
		switch b.Kind {
		case plan.ToNode, plan.ToEnd:
			out = append(out, move{n.Key, b.To, "branch", b.JSON})
		case plan.ToResume:
			out = append(out, move{n.Key, b.To, "results", b.JSON})
		case plan.ToCollect, plan.ToInterrupt: // the decisions and the way back follow
		}
	}
	if n.Collect != nil {
		for _, arm := range n.Collect.Arms {
			i := slices.IndexFunc(branches, func(b plan.Branch) bool { return b.Key == arm.To })
			to := ""
			if i >= 0 {
				to = branches[i].To
			}
			out = append(out, move{n.Key, to, "decision", arm.Decision})
		}
	}
	if n.Dispatch != nil {
		out = append(out, move{n.Key, n.Dispatch.To, "dispatch", n.Dispatch.Each})
	}
	if back := m.routeNode[n.Origin]; n.Interrupt != "" && back != "" {
		out = append(out, move{n.Key, back, "interrupt", ""})
	}
	return out
}

// ways are the texts of how a node leads to each other one, interrupts apart.
func ways(list []move) (order []string, how map[string]string) {
	how = map[string]string{}
	for _, m := range list {
		if m.how == "interrupt" {
			continue
		}
		if _, seen := how[m.to]; !seen {
			order = append(order, m.to)
			how[m.to] = m.text()
		} else if !strings.Contains(", "+how[m.to]+",", ", "+m.text()+",") {
			how[m.to] += ", " + m.text()
		}
	}
	return order, how
}

// movesChanged fills in the changed cells of node x node.
func (w *walker) movesChanged() {
	for i := range w.now.Nodes {
		n := &w.now.Nodes[i]
		var before []string
		how := map[string]string{}
		if o := w.nodes.prev[n.Key]; o != nil {
			order, was := ways(w.before.byNode[o.Key])
			for _, to := range order {
				name := w.nodeNow(to)
				before = append(before, name)
				how[name] = was[to]
			}
		}
		after, is := ways(w.after.byNode[n.Key])
		for _, to := range after {
			if _, had := how[to]; !had {
				w.access = append(w.access, Cell{"branch", n.Key, to, "", is[to]})
			}
		}
		for _, to := range before {
			if _, has := is[to]; !has {
				w.access = append(w.access, Cell{"branch", n.Key, to, how[to], ""})
			}
		}
	}
	for i := range w.old.Nodes {
		o := &w.old.Nodes[i]
		if w.nodes.next[o.Key] != nil {
			continue
		}
		order, was := ways(w.before.byNode[o.Key])
		for _, to := range order {
			w.access = append(w.access, Cell{"branch", o.Key, w.nodeNow(to), was[to], ""})
		}
	}
}

// nodeNow is the new name of an old node; the old one when it is gone.
func (w *walker) nodeNow(key string) string {
	if n := w.nodes.next[key]; n != nil {
		return n.Key
	}
	return key
}

// origins fills in the changed cells of origin x route, and holds them against the rules.
func (w *walker) origins() {
	back := func(m *moves, n *plan.Node) string {
		if n == nil || n.Interrupt == "" {
			return ""
		}
		return m.routeNode[n.Origin]
	}
	cell := func(o, n *plan.Node) {
		was, is := back(w.before, o), back(w.after, n)
		if was != "" {
			was = w.nodeNow(was)
		}
		if was == is {
			return
		}
		who := n
		if n == nil {
			who = o
		}
		c := w.originCause(o, n, was)
		if was != "" {
			w.access = append(w.access, Cell{"interrupt", who.Key, was, "yes", ""})
			c.hitf("ORIGIN_ROUTE_NO_DELETE", "after an interrupt of %s the model can no longer go on at %s%s", who.Key, was, ifElse(is == "" && n != nil && n.Interrupt != "", ", nor anywhere else", ""))
		}
		if is != "" {
			w.access = append(w.access, Cell{"interrupt", who.Key, is, "", "yes"})
			c.hitf("ORIGIN_ROUTE_ADDED", "after an interrupt of %s the model goes on at %s", who.Key, is)
		}
	}
	for i := range w.now.Nodes {
		cell(w.nodes.prev[w.now.Nodes[i].Key], &w.now.Nodes[i])
	}
	for i := range w.old.Nodes {
		if w.nodes.next[w.old.Nodes[i].Key] == nil {
			cell(&w.old.Nodes[i], nil)
		}
	}
}

// originCause is the change that moved the way back from an interrupt: the route's, where one came or went, else the node's.
func (w *walker) originCause(o, n *plan.Node, was string) *change {
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
