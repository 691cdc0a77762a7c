package review

import (
	"fmt"
	"slices"
	"strings"

	"github.com/routegen/routegen/generator/plan"
	"github.com/routegen/routegen/generator/spec"
)

// What became of a thing.
const (
	opAdded   = "added"
	opRemoved = "removed"
	opRenamed = "renamed"
	opChanged = "changed"
)

// walker goes over two plans once and collects changes.
type walker struct {
	*match
	changes        []*change
	byKey          map[string]*change
	access         []Cell
	texts          []TextDelta
	oldAPI, newAPI []symbol
	before, after  *moves
	seenByModel    map[string]bool     // new records that some model is asked to write
	sent           map[string]bool     // new records that callers send: what starts a run, and answers
	usedBy         map[string][]string // records that have a field of one; made when first asked for
}

func walk(old, now *plan.Plan) *walker {
	w := &walker{match: newMatch(old, now), byKey: map[string]*change{}, oldAPI: symbols(old), newAPI: symbols(now)}
	w.before, w.after = newMoves(old), newMoves(now)
	w.sent = sentByCallers(now)
	w.seenByModel = writtenByModels(now)
	w.settings()
	w.enumTypes()
	w.scalarTypes()
	w.recordTypes()
	w.allNodes()
	w.allRoutings()
	w.allKinds()
	w.allFlows()
	w.storedData()
	w.origins()
	w.movesChanged()
	return w
}

// at returns the change of a key, made on first use. o and n are the names before and now, empty where the thing is not there.
func (w *walker) at(key, thing, o, n string, pos spec.Pos, before int) *change {
	if c := w.byKey[key]; c != nil {
		return c
	}
	c := &change{op: opChanged, thing: thing, name: n, at: pos, before: before, width: len(n[strings.LastIndex(n, ".")+1:])}
	switch {
	case o == "":
		c.op = opAdded
	case n == "":
		c.op, c.name, c.width = opRemoved, o, 1
	case o != n:
		c.op, c.was = opRenamed, o
	}
	w.byKey[key] = c
	w.changes = append(w.changes, c)
	return c
}

// nodeChange is the change of a node; o is nil for a new one, n for one that is gone.
func (w *walker) nodeChange(o, n *plan.Node) *change {
	if n == nil {
		return w.at("node "+o.Key, "node", o.Key, "", w.neighbour(o), o.Line)
	}
	if o == nil {
		return w.at("node "+n.Key, "node", "", n.Key, nodePos(n), 0)
	}
	return w.at("node "+n.Key, "node", o.Key, n.Key, nodePos(n), o.Line)
}

// neighbour is where a removed node would stand: at the nearest node before it that is still there, or at the interrupts.
func (w *walker) neighbour(gone *plan.Node) spec.Pos {
	at := slices.IndexFunc(w.old.Nodes, func(n plan.Node) bool { return n.Key == gone.Key })
	for i := at - 1; i >= 0; i-- {
		if n := w.nodes.next[w.old.Nodes[i].Key]; n != nil {
			return nodePos(n)
		}
	}
	if len(w.now.Nodes) > 0 {
		return nodePos(&w.now.Nodes[0])
	}
	return w.interruptsPos()
}

func (w *walker) interruptsPos() spec.Pos {
	return spec.Pos{Line: max(w.now.Interrupt.Line, 1), Column: max(w.now.Interrupt.Column, 1)}
}

// messageOf returns the node whose request or interrupt request a record is, or nil.
func messageOf(p *plan.Plan, r *plan.Record) *plan.Node {
	if n := p.Node(r.Node); n != nil && (n.Request == r.Name || n.Interrupt == r.Name) {
		return n
	}
	return nil
}

// recordChange is the change of a record. A message that comes, goes or is renamed with its node is part of the node's change.
func (w *walker) recordChange(o, n *plan.Record) *change {
	if n == nil {
		if node := messageOf(w.old, o); node != nil && w.nodes.next[node.Key] == nil {
			return w.nodeChange(node, nil)
		}
		pos := w.goneRecord(o)
		return w.at("type "+o.Name, "type", o.Name, "", pos, o.Line)
	}
	node := messageOf(w.now, n)
	if o == nil {
		if node != nil && w.nodes.prev[node.Key] == nil {
			return w.nodeChange(nil, node)
		}
		return w.at("type "+n.Name, "type", "", n.Name, w.recordPos(n), 0)
	}
	if node != nil && o.Name != n.Name {
		if was := w.nodes.prev[node.Key]; was != nil && was.Const != node.Const {
			return w.nodeChange(was, node)
		}
	}
	return w.at("type "+n.Name, "type", o.Name, n.Name, w.recordPos(n), o.Line)
}

// goneRecord is where a removed record would stand: in its node, or at the nearest record before it that is still there.
func (w *walker) goneRecord(o *plan.Record) spec.Pos {
	if node := w.nodes.next[o.Node]; node != nil {
		return nodePos(node)
	}
	at := slices.IndexFunc(w.old.Records, func(r plan.Record) bool { return r.Name == o.Name })
	for i := at - 1; i >= 0; i-- {
		if n := w.records.next[w.old.Records[i].Name]; n != nil && w.old.Records[i].Role == o.Role {
			return w.recordPos(n)
		}
	}
	return spec.Pos{Line: 1, Column: 1}
}

func (w *walker) recordPos(r *plan.Record) spec.Pos {
	if r.Line > 0 {
		return spec.Pos{Line: r.Line, Column: r.Column}
	}
	if n := w.now.Node(r.Node); n != nil {
		return nodePos(n)
	}
	return spec.Pos{Line: 1, Column: 1}
}

// fieldChange is the change of a field. The fields that all interrupt requests carry are changed in one place.
func (w *walker) fieldChange(rec *plan.Record, o, n *plan.Field) *change {
	owner, either := rec.Name, n
	if n == nil {
		either = o
	}
	pos := w.recordPos(rec)
	if either.Common {
		owner, pos = w.now.Interrupt.Interface, w.interruptsPos()
	}
	key := "field " + owner + "." + either.Key
	if w.byKey[key] == nil {
		defer func() {
			if users := w.users(rec); users != "" {
				w.byKey[key].detailf("%s", users)
			}
		}()
	}
	switch {
	case n == nil:
		return w.at(key, "field", owner+"."+o.Key, "", pos, o.Line)
	case o == nil:
		return w.at(key, "field", "", owner+"."+n.Key, spec.Pos{Line: n.Line, Column: n.Column}, 0)
	}
	return w.at(key, "field", owner+"."+o.Key, owner+"."+n.Key, spec.Pos{Line: n.Line, Column: n.Column}, o.Line)
}

// branchChange is the change of a branch. One that goes with the node it leads to, or comes with it, is part of that node's change;
// so is one that lost its type.
func (w *walker) branchChange(r *plan.Routing, o, n *plan.Branch) *change {
	pos := spec.Pos{Line: 1, Column: 1}
	if node := w.now.Node(r.Node); node != nil {
		pos = nodePos(node)
	}
	if n == nil {
		if to := w.old.Node(o.To); to != nil && w.nodes.next[to.Key] == nil {
			return w.nodeChange(to, nil)
		}
		if rec := w.old.Record(o.Type); rec != nil && w.records.next[o.Type] == nil {
			return w.recordChange(rec, nil)
		}
		return w.at("branch "+r.Name+"."+o.Key, "branch", r.Name+"."+o.Key, "", pos, o.Line)
	}
	key, name := "branch "+r.Name+"."+n.Key, r.Name+"."+n.Key
	pos = spec.Pos{Line: n.Line, Column: max(n.Column, 1)}
	if o == nil {
		if to := w.now.Node(n.To); to != nil && w.nodes.prev[to.Key] == nil {
			return w.nodeChange(nil, to)
		}
		if rec := w.now.Record(n.Type); rec != nil && w.records.prev[n.Type] == nil {
			return w.recordChange(nil, rec)
		}
		return w.at(key, "branch", "", name, pos, 0)
	}
	return w.at(key, "branch", r.Name+"."+o.Key, name, pos, o.Line)
}

// routeChange is the change of the route back to a node; part of the node's change when that comes, goes or is renamed.
func (w *walker) routeChange(o, n *plan.Node) *change {
	if o == nil || n == nil || o.Const != n.Const {
		return w.nodeChange(o, n)
	}
	was, is := o.Key, n.Key
	if o.Route == "" {
		was = ""
	}
	if n.Route == "" {
		is = ""
	}
	return w.at("route "+n.Key, "route", was, is, nodePos(n), o.Line)
}

func (w *walker) enumChange(o, n *plan.Enum) *change {
	switch {
	case n == nil:
		return w.at("enum "+o.Name, "enum", o.Name, "", spec.Pos{Line: 1, Column: 1}, o.Line)
	case o == nil:
		return w.at("enum "+n.Name, "enum", "", n.Name, spec.Pos{Line: n.Line, Column: n.Column}, 0)
	}
	return w.at("enum "+n.Name, "enum", o.Name, n.Name, spec.Pos{Line: n.Line, Column: n.Column}, o.Line)
}

func (w *walker) valueChange(e *plan.Enum, o, n *plan.EnumValue) *change {
	name := e.Name + "."
	switch {
	case n == nil:
		return w.at("value "+name+o.Wire, "value", name+o.Wire, "", spec.Pos{Line: e.Line, Column: e.Column}, o.Line)
	case o == nil:
		return w.at("value "+name+n.Wire, "value", "", name+n.Wire, spec.Pos{Line: n.Line, Column: n.Column}, 0)
	}
	return w.at("value "+name+n.Wire, "value", name+o.Wire, name+n.Wire, spec.Pos{Line: n.Line, Column: n.Column}, o.Line)
}

func (w *walker) kindChange(o, n *plan.InterruptKind) *change {
	switch {
	case n == nil:
		return w.at("kind "+o.Key, "kind", o.Key, "", w.interruptsPos(), o.Line)
	case o == nil:
		return w.at("kind "+n.Key, "kind", "", n.Key, spec.Pos{Line: n.Line, Column: n.Column}, 0)
	}
	return w.at("kind "+n.Key, "kind", o.Key, n.Key, spec.Pos{Line: n.Line, Column: n.Column}, o.Line)
}

// text records a text that a model reads, under the change of its own that a reviewer sees.
func (w *walker) text(name string, pos spec.Pos, before, after string) {
	if before == after {
		return
	}
	w.texts = append(w.texts, TextDelta{Name: name, Line: pos.Line, Before: before, After: after})
	c := w.at("doc "+name, "doc", name, name, pos, 0)
	c.hitf("DOC_CHANGED", "the description that models read changed (%s)", wordDelta(before, after))
}

// goDoc records a doc that no model reads: it stands in Go and in ROUTES.md.
func (w *walker) goDoc(name string, pos spec.Pos, before, after string) {
	if before != after {
		w.at("doc "+name, "doc", name, name, pos, 0).detailf("in Go and in ROUTES.md only (%s)", wordDelta(before, after))
	}
}

// deprecated tells of a thing that is deprecated now, or no longer.
func deprecated(c func() *change, before, after string) {
	switch {
	case before == after:
	case after == "":
		c().notef(callers, "it is no longer deprecated")
	default:
		c().notef(callers, "deprecated: %s", after)
	}
}

// order tells of things that stand in another order. Both lists hold what is on both sides, in the new names.
func order(c func() *change, before, after []string, to audience, what string) {
	if !slices.Equal(before, after) {
		c().detailf("in another order")
		c().notef(to, "%s", what)
	}
}

// wordDelta counts the words that came and went.
func wordDelta(before, after string) string {
	count := map[string]int{}
	for word := range strings.FieldsSeq(after) {
		count[word]++
	}
	for word := range strings.FieldsSeq(before) {
		count[word]--
	}
	plus, minus := 0, 0
	for _, n := range count {
		plus, minus = plus+max(n, 0), minus+max(-n, 0)
	}
	if plus+minus == 0 {
		return "words moved or spaces changed"
	}
	return fmt.Sprintf("+%d −%d words", plus, minus)
}

// writtenByModels are the records that some model is asked to write: what a routing leads to. The answer of a person is not among
// them.
func writtenByModels(p *plan.Plan) map[string]bool {
	var roots []string
	for _, r := range p.Routings {
		for _, b := range r.Branches {
			roots = append(roots, b.Type)
		}
	}
	return reachable(p, roots)
}

// sentByCallers are the records that code or people outside send: the request of the entry, and answers.
func sentByCallers(p *plan.Plan) map[string]bool {
	roots := []string{p.Interrupt.Answer}
	for i := range p.Nodes {
		if p.Nodes[i].Entry {
			roots = append(roots, p.Nodes[i].Request)
		}
	}
	return reachable(p, roots)
}

func reachable(p *plan.Plan, queue []string) map[string]bool {
	out := map[string]bool{}
	for len(queue) > 0 {
		name := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		if r := p.Record(name); r != nil && !out[name] {
			out[name] = true
			queue = append(queue, r.Refs...)
		}
	}
	return out
}
