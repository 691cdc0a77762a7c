package spec

import (
	"cmp"
	"slices"
	"strings"
)

// checkEntry requires exactly one node where work begins; a spec of flows alone has none.
func (c *checker) checkEntry() {
	if len(c.spec.Nodes) == 0 && len(c.spec.Flows) > 0 {
		return
	}
	var entry *Node
	for _, n := range c.spec.Nodes {
		if n.Entry && entry != nil {
			c.fail(RuleEntryCount, n.path()+"/entry", n.Key.At, "keep entry: true on one node",
				"nodes %q and %q are both the entry", entry.Key.Value, n.Key.Value).
				relatedf(entry.Key.At, "%q is here", entry.Key.Value)
		} else if n.Entry {
			entry = n
		}
	}
	if entry == nil && !c.unreadEntry() {
		at := c.spec.At
		if len(c.spec.Nodes) > 0 {
			at = c.spec.Nodes[0].Key.At
		}
		c.fail(RuleEntryCount, "/nodes", at, "add entry: true to the node where work begins",
			"no node is the entry")
	}
}

// unreadEntry reports whether an entry was written that could not be read.
func (c *checker) unreadEntry() bool {
	return len(c.spec.Nodes) == 0 && c.misread("/nodes") ||
		slices.ContainsFunc(c.spec.Nodes, func(n *Node) bool {
			return c.misread(n.path() + "/entry")
		})
}

// checkEscalates requires every leaf that asks to name a place where its questions are raised, and
// no circles on the way there.
func (c *checker) checkEscalates() {
	done := make(map[*Node]bool, len(c.spec.Nodes))
	for _, n := range c.spec.Nodes {
		if !n.HasRoute() && !n.Escalates.Set() && n.Interrupt != nil {
			c.fail(RuleLeafNoEscalates, n.path(), n.Key.At, "add escalates: <node>",
				"node %q raises interrupts, but nothing can be routed back to it", n.Key.Value)
		}
		var way []*Node
		at := n
		for at != nil && !at.HasRoute() && at.Escalates.Set() && !done[at] {
			done[at] = true
			way = append(way, at)
			at = c.nodes[at.Escalates.Value]
		}
		if at == nil || len(way) == 0 || at.HasRoute() {
			continue
		}
		if start := slices.Index(way, at); start >= 0 {
			var keys []string
			for _, on := range append(way[start:], at) {
				keys = append(keys, on.Key.Value)
			}
			c.fail(RuleEscalatesCycle, at.path()+"/escalates", at.Escalates.At,
				"let one of them escalate to a node with a route",
				"escalation runs in a circle: %s", strings.Join(keys, " -> "))
		} else if !at.Escalates.Set() && at.Interrupt == nil {
			last := way[len(way)-1]
			c.fail(RuleEscalatesNoRoute, last.path()+"/escalates", last.Escalates.At,
				"name a node that can be returned to",
				"node %q escalates to %q, which has no route", last.Key.Value, at.Key.Value)
		}
	}
}

// checkReached reports nodes that no branch, route, dispatch or hand-over leads to, starting from
// the entry and every route.
func (c *checker) checkReached() {
	var from []*Node
	late := func(d *Deadline) {
		if d != nil && c.nodes[d.Target.Value] != nil {
			from = append(from, c.nodes[d.Target.Value])
		}
	}
	for _, n := range c.spec.Nodes {
		if n.Entry || n.HasRoute() {
			from = append(from, n)
		}
		late(n.Deadline)
	}
	if c.spec.Interrupts != nil {
		for _, k := range c.spec.Interrupts.Kinds {
			late(k.Deadline)
		}
	}
	if slices.ContainsFunc(c.spec.Nodes, func(n *Node) bool {
		return c.misread(n.path() + "/branches")
	}) {
		return // where they lead is not known
	}
	reached := reach(from, c.onward)
	for _, n := range c.spec.Nodes {
		if !reached[n] && !n.Only.Set() {
			c.fail(RuleNodeUnreachable, n.path(), n.Key.At, "add a branch to "+n.RequestName()+
				", or give the node a route", "no branch and no route leads to node %q",
				n.Key.Value)
		}
	}
}

// onward returns the nodes that follow a node, by branches, dispatch and hand-over, in the order of
// the file.
func (c *checker) onward(n *Node) []*Node {
	var out []*Node
	add := func(to *Node) {
		if to != nil {
			out = append(out, to)
		}
	}
	for _, b := range n.Branches {
		add(c.takers[b.Type.Value])
		add(c.resumes[b.Type.Value])
	}
	if n.Dispatch != nil {
		add(c.nodes[n.Dispatch.To.Value])
	}
	for _, t := range n.Tools {
		for _, target := range t.TransferTo {
			add(c.nodes[target.Value])
		}
	}
	return out
}

// checkInterrupts looks at what all interrupts share.
func (c *checker) checkInterrupts() {
	in := c.spec.Interrupts
	if in == nil {
		return
	}
	if d := c.typeRef(in.Answer, "/interrupts/answer"); d != nil && d.kind != declRecord {
		c.fail(RuleFieldType, "/interrupts/answer", in.Answer.At, "name a record of types:",
			"%s is not a record", in.Answer.Value)
	}
	for _, n := range c.spec.Nodes {
		if n.Interrupt == nil {
			continue
		}
		for _, f := range n.Interrupt.Fields {
			if common := find(c, in.Fields, f.Key.Value); common != nil {
				c.fail(RuleNameCollision, n.path()+"/interrupt/fields/"+f.Key.Value, f.Key.At,
					"choose another name", "field %q is carried by every interrupt already",
					f.Key.Value).
					relatedf(common.Key.At, "%q is declared here", common.Key.Value)
			}
		}
	}
	c.checkInterruptTypes(in)
	c.checkKinds(in.Kinds)
}

// InterruptTypes are the values that the field type of an interrupt request may have: what the
// unified handler knows to do.
func InterruptTypes() []string {
	return []string{"HUMAN_REVIEW", "AGENT_REVIEW", "PAUSE", "STOP", "BRANCH", "PRUNE"}
}

// checkInterruptTypes requires that the handler knows the values of the enum of the field type. A
// model is offered all of them.
func (c *checker) checkInterruptTypes(in *Interrupts) {
	at := slices.IndexFunc(in.Fields, func(f *Field) bool {
		return cmp.Or(f.JSON.Value, f.Key.Value) == "type"
	})
	if at < 0 || in.Fields[at].Type == nil || in.Fields[at].Type.Kind != Named {
		return
	}
	of := slices.IndexFunc(c.spec.Enums, func(e *Enum) bool {
		return e.Key.Value == in.Fields[at].Type.Name
	})
	if of < 0 {
		return
	}
	enum, known := c.spec.Enums[of], InterruptTypes()
	for _, v := range enum.Values {
		if !slices.Contains(known, v.Key.Value) {
			c.fail(RuleInterruptType, "/enums/"+enum.Key.Value+"/values/"+v.Key.Value, v.Key.At,
				"use "+strings.Join(known, ", "),
				"the handler does not know the interrupt type %q: a step that raises it fails",
				v.Key.Value).
				relatedf(in.Fields[at].Key.At, "interrupt requests carry it")
		}
	}
}
