package spec

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// checkNode looks at one node and everything it refers to.
func (c *checker) checkNode(n *Node) {
	path := n.path()
	if n.Only.Set() {
		c.checkOnly(n, path)
	} else if len(n.Branches) == 0 && !c.misread(path+"/branches") {
		c.fail(RuleBranchEmpty, path, n.Key.At, "add branches: with at least one",
			"node %q has no branch, so it could never answer", n.Key.Value)
	}
	c.checkBranches(n, path)
	c.checkRoute(n, path)
	c.nodeRef(n.Escalates, path+"/escalates")
	for i, t := range n.Unstick {
		if b := c.branchRef(n, t, path+"/unstick/"+strconv.Itoa(i)); b != nil &&
			b.Type.Value == "interrupt" {
			c.fail(RuleRefBranch, path+"/unstick/"+strconv.Itoa(i), t.At,
				"name a branch that goes on",
				"branch %q of node %q asks again, and unstick: is what to set instead", t.Value,
				n.Key.Value)
		}
	}
	if n.Feedback.Set() {
		if f := c.requestField(n, n.Feedback, RuleRefField, path+"/feedback"); f != nil {
			if kind, enum := c.base(f.Type); kind != "" && (kind != String || enum != nil) {
				c.fail(RuleFieldType, path+"/feedback", n.Feedback.At, "name a string field",
					"field %q is %s; a person's notes are text", f.Key.Value, f.Type)
			}
		}
	}
	if n.Prompt != nil {
		for i, v := range n.Prompt.Vars {
			at := path + "/prompt/vars/" + strconv.Itoa(i)
			if f := c.requestField(n, v, RulePromptVar, at); f != nil && f.Hidden {
				c.fail(RulePromptVar, at, v.At, "leave it out",
					"field %q is hidden, and no prompt shows a hidden field", v.Value).
					relatedf(f.Key.At, "%q is declared here", v.Value)
			}
		}
	}
	if n.Dispatch != nil {
		c.checkDispatch(n, path+"/dispatch")
	}
	if n.Collect != nil {
		c.checkCollect(n, path+"/collect")
	}
	c.checkTools(n, path)
	if d := n.Deadline; d != nil && !d.None {
		c.checkDeadline(d, "node", n.Key, RuleNodeDeadline, path+"/deadline")
	}
	c.checkAssignees(n.Assignees, n.Key, "node", path+"/assignees")
	if n.Loop != nil {
		c.checkLoop(n.Loop, path+"/loop")
	}
}

// checkOnly refuses what an interrupt subtype without a request cannot have.
func (c *checker) checkOnly(n *Node, path string) {
	if n.Route != nil && !n.Route.None {
		c.fail(RuleRouteNoRequest, path+"/route", n.Route.At, "remove route:",
			"node %q has no request, so nothing can be routed back to it", n.Key.Value)
	}
	extra := ""
	switch {
	case n.Request != nil:
		extra = "request"
	case len(n.Branches) > 0:
		extra = "branches"
	case n.Dispatch != nil:
		extra = "dispatch"
	case n.Collect != nil:
		extra = "collect"
	case n.Adapt.Set():
		extra = "adapt"
	case n.Entry:
		extra = "entry"
	case n.Deadline != nil:
		extra = "deadline" // it never runs, and so asks nothing
	case n.Assignees != nil:
		extra = "assignees"
	}
	if extra != "" {
		c.fail(RuleNodeForm, path, n.Only.At, "remove one of them",
			"node %q is only an interrupt and has %s", n.Key.Value, extra)
	}
}

// checkTwin refuses a branch that carries what others carry, unless all go to a node and the docs
// say when to take which. The receiver of a result or a question could not tell which branch it
// came from.
func (c *checker) checkTwin(n *Node, b *Branch, others []*Branch, path string) {
	doc := func(b *Branch) string { return strings.ToLower(strings.TrimSpace(b.Doc.Value)) }
	for _, other := range others {
		goes, hint, why := c.takers[b.Type.Value] != nil, "keep one of them", ""
		switch {
		case goes && doc(b) != "" && doc(other) != "" && doc(b) != doc(other):
			continue
		case goes:
			bare := b // the one to write at first
			if doc(b) != "" && doc(other) == "" {
				bare = other
			}
			hint = "write at each when to take it: " + bare.Key.Value + ": {type: " +
				b.Type.Value + ", doc: ...}"
			why = ", and no doc says when to take which"
		}
		c.fail(RuleBranchDuplicate, path, b.Type.At, hint,
			"branches %q and %q of node %q both carry %s%s", other.Key.Value, b.Key.Value,
			n.Key.Value, b.Type.Value, why).
			relatedf(other.Type.At, "%q carries it here", other.Key.Value)
		return
	}
}

func (c *checker) checkBranches(n *Node, path string) {
	names := make([]wireName, len(n.Branches))
	carry := make(map[string][]*Branch, len(n.Branches)) // by type
	var asks *Branch
	for i, b := range n.Branches {
		names[i] = wireName{b.Key, b.JSON}
		for _, old := range b.Was {
			if other := find(c, n.Branches, old.Value); other != nil {
				c.reportStillDeclared(old, other.Key.At, path+"/branches/"+b.Key.Value+"/was")
			}
		}
		if !b.Type.Set() {
			continue
		}
		if others := carry[b.Type.Value]; others != nil {
			c.checkTwin(n, b, others, path+"/branches/"+b.Key.Value)
			carry[b.Type.Value] = append(others, b)
			continue
		}
		carry[b.Type.Value] = []*Branch{b}
		if b.Type.Value == "interrupt" {
			asks = b
			continue
		}
		c.checkBranchType(b, path+"/branches/"+b.Key.Value)
	}
	c.checkWireNames("node "+strconv.Quote(n.Key.Value), path+"/branches/", names)
	switch {
	case asks == nil && n.Interrupt != nil && !n.Only.Set():
		c.fail(RuleInterruptNoBranch, path+"/interrupt", n.Interrupt.At,
			"add a branch: interruptRequest: interrupt",
			"node %q describes an interrupt, but no branch raises it", n.Key.Value)
	case asks != nil && n.Interrupt == nil:
		n.Interrupt = &NodeInterrupt{At: asks.Key.At} // one with the common fields alone
	case n.Only.Set() && n.Interrupt == nil:
		n.Interrupt = &NodeInterrupt{At: n.Key.At}
	}
	if (asks != nil || n.Only.Set()) && c.spec.Interrupts == nil {
		c.fail(RuleNodeForm, path, n.Interrupt.At, "add interrupts: at the top",
			"node %q raises interrupts, but the spec has no interrupts: section", n.Key.Value)
	}
}

// checkBranchType requires a type that a node takes or that ends the frame.
func (c *checker) checkBranchType(b *Branch, path string) {
	name := b.Type.Value
	if c.takers[name] != nil || c.resumes[name] != nil || c.ends[name] {
		return
	}
	if d := c.typeRef(b.Type, path); d != nil {
		c.fail(RuleBranchTarget, path, b.Type.At, "name a request, or list the type under results:",
			"no node takes or returns %s", name).
			relatedf(d.at, "%q is declared here", name)
	}
}

func (c *checker) checkRoute(n *Node, path string) {
	if n.Route == nil || !n.Route.Returns.Set() {
		return
	}
	t := n.Route.Returns
	if c.typeRef(t, path+"/route/returns") != nil && c.takers[t.Value] != n {
		c.fail(RuleBranchTarget, path+"/route/returns", t.At,
			"name its request, or the type of adapt.from", "node %q does not take %s", n.Key.Value,
			t.Value)
	}
}

func (c *checker) branchRef(n *Node, t Text, path string) *Branch {
	if b := find(c, n.Branches, t.Value); b != nil {
		return b
	}
	c.failNear(RuleRefBranch, path, t, candidatesOf(c, n.Branches), "",
		"node %q has no branch %q", n.Key.Value, t.Value)
	return nil
}

// requestField finds a field of the node's request. A field whose type is broken counts as missing,
// without a report.
func (c *checker) requestField(n *Node, t Text, rule, path string) *Field {
	if f := find(c, n.fields(), t.Value); f != nil {
		if f.Type == nil {
			return nil
		}
		return f
	}
	c.failNear(rule, path, t, candidatesOf(c, n.fields()), "",
		"the request of node %q has no field %q", n.Key.Value, t.Value)
	return nil
}

func (c *checker) checkDispatch(n *Node, path string) {
	to := c.nodeRef(n.Dispatch.To, path+"/to")
	if !n.Dispatch.Each.Set() {
		return
	}
	f := c.requestField(n, n.Dispatch.Each, RuleRefField, path+"/each")
	if f == nil || to == nil {
		return
	}
	if f.Type.Kind != List || f.Type.Elem.Kind != Named || c.takers[f.Type.Elem.Name] != to {
		c.fail(RuleFieldType, path+"/each", n.Dispatch.Each.At, "make it []"+to.RequestName(),
			"field %q is %s; node %q takes %s", f.Key.Value, f.Type, to.Key.Value,
			to.RequestName()).
			relatedf(f.Key.At, "%q is declared here", f.Key.Value)
	}
}

func (c *checker) checkTools(n *Node, path string) {
	var offered []string
	seen := map[string]bool{}
	open := false
	for i := range n.Tools {
		t := &n.Tools[i]
		if t.Name.Set() {
			if seen[t.Name.Value] {
				c.fail(RuleDuplicateItem, path+"/tools/"+strconv.Itoa(i), t.Name.At,
					"remove one of them", "tool %q is in the list twice", t.Name.Value)
			}
			seen[t.Name.Value] = true
			offered = append(offered, t.Name.Value)
		}
		open = open || t.MCP.Set()
		for _, target := range t.TransferTo {
			c.nodeRef(target, path+"/tools/"+strconv.Itoa(i)+"/transfer_to")
		}
	}
	for i, t := range n.Approval {
		if !open && !seen[t.Value] {
			c.fail(RuleRefTool, path+"/approval/"+strconv.Itoa(i), t.At,
				didYouMean(c.nearest(t.Value, offered)), "node %q is not offered a tool %q",
				n.Key.Value, t.Value)
		}
	}
}

func (c *checker) checkLoop(l *Loop, path string) {
	for i, b := range []*Number{l.Warn, l.Limit} {
		name := [...]string{"warn", "limit"}[i]
		if b != nil && b.Value < 1 {
			c.fail(RuleConstraintRange, path+"/"+name, b.At, "write 1 or more", "%s is below 1",
				name)
		} else if b != nil && b.Value > maxCount {
			c.fail(RuleConstraintRange, path+"/"+name, b.At,
				fmt.Sprintf("write %d or less", maxCount),
				"%s is larger than anything that is counted", name)
		}
	}
	if l.Warn != nil && l.Limit != nil && l.Warn.Value > l.Limit.Value {
		c.fail(RuleConstraintRange, path+"/limit", l.Limit.At, "swap them",
			"limit %v comes before warn %v", l.Limit.Value, l.Warn.Value).
			relatedf(l.Warn.At, "warn is here")
	}
	values := c.interruptTypes()
	for i, t := range l.Exempt {
		if !slices.Contains(values, t.Value) {
			c.nodeRef(t, path+"/exempt/"+strconv.Itoa(i))
		}
	}
}

// interruptTypes returns the values of the enum that the common field `type` has.
func (c *checker) interruptTypes() []string {
	if c.spec.Interrupts == nil {
		return nil
	}
	f := find(c, c.spec.Interrupts.Fields, "type")
	if f == nil || f.Type == nil {
		return nil
	}
	if _, enum := c.base(f.Type); enum != nil {
		return names(enum.Values)
	}
	return nil
}
