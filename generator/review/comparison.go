package review

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/routegen/routegen/generator/plan"
	"github.com/routegen/routegen/generator/report"
)

// What became of a thing.
const (
	opAdded   = "added"
	opRemoved = "removed"
	opRenamed = "renamed"
	opChanged = "changed"
)

// comparison goes over two plans once and collects changes.
type comparison struct {
	*match
	changes        []*change
	byKey          map[string]*change
	access         []Cell
	texts          []TextDelta
	oldAPI, newAPI []symbol
	before, after  *moves
	seenByModel    map[string]bool // new records that some model is asked to write
	// new records that callers send: what starts a run, and answers
	sent map[string]bool
	// records that have a field of one; made when first asked for
	usedBy map[string][]string
}

func comparePlans(old, now *plan.Plan) *comparison {
	w := &comparison{match: newMatch(old, now), byKey: map[string]*change{}, oldAPI: symbols(old),
		newAPI: symbols(now), before: newMoves(old), after: newMoves(now),
		sent: sentByCallers(now), seenByModel: writtenByModels(now)}
	w.compareSettings()
	w.enums.visit(w.compareEnum)
	w.scalars.visit(w.compareScalar)
	common := false // the fields of all interrupt requests are compared once
	w.records.visit(func(o, n *plan.Record) {
		w.compareRecord(o, n)
		if o != nil && n != nil {
			w.compareFields(o, n, n.Role == plan.RoleInterrupt && common)
			common = common || n.Role == plan.RoleInterrupt
		}
	})
	w.nodes.visit(w.compareNode)
	compareOrder(subject{change: w.setting("nodes", top, 0)}, "Plan/Nodes", w.nodes, nil)
	w.compareRoutings()
	w.kinds.visit(w.compareKind)
	compareOrder(subject{change: w.setting("kinds", w.interruptsPos(), 0)}, "Interrupts/Kinds",
		w.kinds, nil)
	w.compareFlows()
	w.compareStoredData()
	w.compareOrigins()
	w.compareMoves()
	w.compareReroutes()
	return w
}

// changeAt returns the change of a key, made on first use. o and n are the names before and now,
// empty where the thing is not there.
func (w *comparison) changeAt(key, thing, o, n string, pos report.Pos, before int) *change {
	if c := w.byKey[key]; c != nil {
		return c
	}
	c := &change{op: opChanged, thing: thing, name: n, at: pos, before: before,
		width: len(n[strings.LastIndex(n, ".")+1:])}
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

// changeOf returns the change of a thing, made on first use: o is nil for a new one, n for one that
// is gone, which would stand at gone. The names of what belongs to an owner begin with its name.
func (w *comparison) changeOf(kind, owner string, o, n any, gone report.Pos) *change {
	before, after := nameOf(o), nameOf(n)
	pos := gone
	if after != "" {
		pos = placeOf(n)
	}
	for _, name := range []*string{&before, &after} {
		if owner != "" && *name != "" {
			*name = owner + "." + *name
		}
	}
	return w.changeAt(kind+" "+cmp.Or(after, before), kind, before, after, pos, placeOf(o).Line)
}

// changer makes that change when something is said of it.
func (w *comparison) changer(kind, owner string, o, n any, gone report.Pos) func() *change {
	return func() *change { return w.changeOf(kind, owner, o, n, gone) }
}

// setting is the change of something at the top of the spec.
func (w *comparison) setting(name string, pos report.Pos, before int) func() *change {
	return func() *change { return w.changeAt("setting "+name, "setting", name, name, pos, before) }
}

// top is the first place of a spec.
var top = report.Pos{Line: 1, Column: 1}

// nodeChange is the change of a node; o is nil for a new one, n for one that is gone.
func (w *comparison) nodeChange(o, n *plan.Node) *change {
	gone := w.interruptsPos()
	if n != nil {
		return w.changeOf("node", "", o, n, gone)
	}
	if near := w.nodes.neighbour(o); near != nil {
		gone = near.Pos
	} else if len(w.now.Nodes) > 0 {
		gone = w.now.Nodes[0].Pos
	}
	return w.changeOf("node", "", o, n, gone)
}

func (w *comparison) interruptsPos() report.Pos {
	if w.now.Interrupt.Pos.IsZero() {
		return top
	}
	return w.now.Interrupt.Pos
}

// messageOf returns the node whose request or interrupt request a record is, or nil.
func messageOf(p *plan.Plan, r *plan.Record) *plan.Node {
	if n := p.Node(r.Node); n != nil && (n.Request == r.Name || n.Interrupt == r.Name) {
		return n
	}
	return nil
}

// recordChange is the change of a record. A message that comes, goes or is renamed with its node is
// part of the node's change.
func (w *comparison) recordChange(o, n *plan.Record) *change {
	var was, is *plan.Node
	if o != nil {
		was = messageOf(w.old, o)
	}
	if n != nil {
		is = messageOf(w.now, n)
	}
	switch {
	case n == nil && was != nil && w.nodes.next[was.Key] == nil:
		return w.nodeChange(was, nil)
	case o == nil && is != nil && w.nodes.prev[is.Key] == nil:
		return w.nodeChange(nil, is)
	case o != nil && n != nil && is != nil && o.Name != n.Name:
		if was := w.nodes.prev[is.Key]; was != nil && was.Const != is.Const {
			return w.nodeChange(was, is)
		}
	}
	if n != nil && n.Pos.Line == 0 { // it has no place of its own
		return w.changeAt("type "+n.Name, "type", nameOf(o), n.Name, w.recordPos(n),
			placeOf(o).Line)
	}
	gone := top
	if n == nil {
		gone = w.goneRecord(o)
	}
	return w.changeOf("type", "", o, n, gone)
}

// goneRecord is where a removed record would stand: in its node, or at the nearest record before it
// that is still there.
func (w *comparison) goneRecord(o *plan.Record) report.Pos {
	if node := w.nodes.next[o.Node]; node != nil {
		return node.Pos
	}
	at := slices.IndexFunc(w.old.Records, func(r plan.Record) bool { return r.Name == o.Name })
	for i := at - 1; i >= 0; i-- {
		if n := w.records.next[w.old.Records[i].Name]; n != nil && w.old.Records[i].Role == o.Role {
			return w.recordPos(n)
		}
	}
	return top
}

func (w *comparison) recordPos(r *plan.Record) report.Pos {
	if r.Pos.Line > 0 {
		return r.Pos
	}
	if n := w.now.Node(r.Node); n != nil {
		return n.Pos
	}
	return top
}

// fieldChange is the change of a field. The fields that all interrupt requests carry are changed in
// one place.
func (w *comparison) fieldChange(rec *plan.Record, o, n *plan.Field) *change {
	owner, gone := rec.Name, w.recordPos(rec)
	if o != nil && o.Common || n != nil && n.Common {
		owner, gone = w.now.Interrupt.Interface, w.interruptsPos()
	}
	known := len(w.changes)
	c := w.changeOf("field", owner, o, n, gone)
	if users := w.messagesWith(rec); users != "" && len(w.changes) > known {
		c.detailf("%s", users)
	}
	return c
}

// branchChange is the change of a branch. One that goes with the node it leads to, or comes with
// it, is part of that node's change; so is one that lost its type.
func (w *comparison) branchChange(r *plan.Routing, o, n *plan.Branch) *change {
	switch {
	case n == nil:
		if to := w.old.Node(o.Node); to != nil && w.nodes.next[to.Key] == nil {
			return w.nodeChange(to, nil)
		}
		if rec := w.old.Record(o.Type); rec != nil && w.records.next[o.Type] == nil {
			return w.recordChange(rec, nil)
		}
	case o == nil:
		if to := w.now.Node(n.Node); to != nil && w.nodes.prev[to.Key] == nil {
			return w.nodeChange(nil, to)
		}
		if rec := w.now.Record(n.Type); rec != nil && w.records.prev[n.Type] == nil {
			return w.recordChange(nil, rec)
		}
	}
	gone := top
	if node := w.now.Node(r.Node); node != nil {
		gone = node.Pos
	}
	return w.changeOf("branch", r.Name, o, n, gone)
}

// routeChange is the change of the route back to a node; part of the node's change when that comes,
// goes or is renamed.
func (w *comparison) routeChange(o, n *plan.Node) *change {
	if o == nil || n == nil || o.Const != n.Const {
		return w.nodeChange(o, n)
	}
	return w.changeAt("route "+n.Key, "route", ifElse(o.Route == "", "", o.Key),
		ifElse(n.Route == "", "", n.Key), n.Pos, o.Pos.Line)
}

func (w *comparison) valueChange(e *plan.Enum, o, n *plan.EnumValue) *change {
	return w.changeOf("value", e.Name, o, n, e.Pos)
}

func (w *comparison) stepChange(f *plan.Flow, o, n *plan.FlowStep) *change {
	return w.changeOf("step", f.Name, o, n, f.Pos)
}

// flowChange is the change of a flow; o is nil for a new one, n for one that is gone.
func (w *comparison) flowChange(o, n *plan.Flow) *change {
	gone := top
	if n == nil {
		if near := w.flows.neighbour(o); near != nil {
			gone = near.Pos
		}
	}
	return w.changeOf("flow", "", o, n, gone)
}

// addDoc records a text that a model reads, under the change of its own that a reviewer sees.
func (w *comparison) addDoc(name string, pos report.Pos, before, after string) {
	if before == after {
		return
	}
	w.texts = append(w.texts, TextDelta{Name: name, Line: pos.Line, Before: before, After: after})
	c := w.changeAt("doc "+name, "doc", name, name, pos, 0)
	c.hitf("DOC_CHANGED", "the description that models read changed (%s)", wordDelta(before, after))
}

// addGoDoc records a doc that no model reads: it stands in Go and in ROUTES.md.
func (w *comparison) addGoDoc(name string, pos report.Pos, before, after string) {
	if before != after {
		w.changeAt("doc "+name, "doc", name, name, pos, 0).
			detailf("in Go and in ROUTES.md only (%s)",
				wordDelta(before, after))
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

// writtenByModels are the records that some model is asked to write: what a routing leads to. The
// answer of a person is not among them.
func writtenByModels(p *plan.Plan) map[string]bool {
	var roots []string
	for _, r := range p.Routings {
		for _, b := range r.Branches {
			roots = append(roots, b.Type)
		}
	}
	return reachable(p, roots)
}

// sentByCallers are the records that code or people outside send: the request of the entry, and
// answers.
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
