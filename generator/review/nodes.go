package review

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/routegen/routegen/generator/plan"
	"github.com/routegen/routegen/generator/report"
	"github.com/routegen/routegen/runtime"
)

// compareNode compares one node; o is nil for a new one, n for one that is gone.
func (w *comparison) compareNode(o, n *plan.Node) {
	c := func() *change { return w.nodeChange(o, n) }
	node := either(o, n)
	s := subject{change: c, doc: node.Key, unread: node.Request == "", values: map[string]string{
		"methods": strings.Join(methods(node), "; "),
		"types":   strings.Join(compact(node.Request, node.Interrupt, node.Routing), ", ")}}
	if o == nil || n == nil {
		compareThing(w, s, o, n)
		if n != nil {
			w.nodeAdded(c(), n)
		} else if r := w.oldRoute[o.Key]; r != nil {
			c().hitf("ROUTE_NO_DELETE", "the route %s is gone: no interrupt can be sent there",
				r.Field)
		}
		return
	}
	was := *o // in the names of the new plan
	was.Request, was.Result = w.recordNow(o.Request), w.recordNow(o.Result)
	was.Deadline = w.deadlineNow(o.Deadline)
	s.prompt = w.promptChange(o, n)
	compareThing(w, s, &was, n)
	w.compareAgentTypes(o, n)
	if rec := w.old.Record(o.Adapt); o.AdaptMethod != "" && n.AdaptMethod == "" && rec != nil {
		w.recordChange(rec, w.records.next[rec.Name]).
			hitf("GO_API_NO_DELETE", "Handlers loses %s", o.AdaptMethod)
	}
	if was, is := w.dispatchNow(o, n), dispatchText(w.now, n.Dispatch); was != is {
		c().hitf("DISPATCH_SAME", "its fan-out was %s and is %s",
			nameOr(dispatchText(w.old, o.Dispatch), "not there"), nameOr(is, "taken away"))
	}
	w.compareCollect(o, n)
	w.comparePrompt(o, n)
	w.compareRoute(o, n)
}

// methods are the methods that a node gives to the interfaces of the package.
func methods(n *plan.Node) []string {
	var out []string
	if handlers := compact(n.Method, n.AdaptMethod); len(handlers) > 0 {
		out = append(out, ifaceHandlers+": "+strings.Join(handlers, ", "))
	}
	if n.Request != "" {
		out = append(out, ifaceRequest+": Visit"+n.Request)
	}
	if n.Interrupt != "" {
		out = append(out, ifaceInterrupt+": Visit"+n.Interrupt)
	}
	return out
}

func compact(names ...string) []string {
	return slices.DeleteFunc(names, func(s string) bool { return s == "" })
}

func (w *comparison) nodeAdded(c *change, n *plan.Node) {
	if r := w.now.Record(n.Request); r != nil {
		c.detailf("request %s: %s", r.Name, fieldList(r))
		w.texts = append(w.texts, TextDelta{Name: n.Key, Line: n.Pos.Line, After: n.Doc})
	}
	if n.Guidance != "" {
		w.texts = append(w.texts, TextDelta{Name: n.Key, Line: n.Prompt.Pos.Line, Prompt: true,
			After: n.Guidance})
	}
	if n.Interrupt != "" {
		c.detailf("interrupt %s", n.Interrupt)
	}
	if r := w.newRoute[n.Key]; r != nil {
		c.detailf("route %s, tag %s", r.Field, r.Tag)
		c.hitf("ROUTE_ADDED", "%s has one more route, %s: a reroute may send any interrupt there",
			w.now.Interrupt.Routing, r.Field)
	} else {
		c.detailf("no route: its interrupts go back to %s",
			nameOr(w.after.routeNode[n.Origin], "no node"))
	}
}

// compareAgentTypes tells which names of a node on the wire are still read.
func (w *comparison) compareAgentTypes(o, n *plan.Node) {
	c := func() *change { return w.nodeChange(o, n) }
	if o.AgentType != n.AgentType && slices.Contains(n.Aliases, o.AgentType) {
		c().notef(stored, "none: %s is an alias, and is still read", o.AgentType)
	}
	for _, alias := range o.Aliases {
		if alias != n.AgentType && !slices.Contains(n.Aliases, alias) {
			c().tellf("AGENT_TYPE_SAME", callers, "the agent type %s is no longer accepted", alias)
		}
	}
}

// dispatchNow is the fan-out of an old node in the names of the new plan.
func (w *comparison) dispatchNow(o, now *plan.Node) string {
	if o.Dispatch == nil {
		return ""
	}
	is := *o.Dispatch
	if n := w.now.Record(now.Request); n != nil {
		for _, f := range n.Fields {
			if slices.Contains(f.Was, is.Each) {
				is.Each = f.Key
			}
		}
	}
	to := w.nodeNow(w.old.Nodes[is.To-1].Key)
	is.To = 1 + slices.IndexFunc(w.now.Nodes, func(n plan.Node) bool { return n.Key == to })
	is.Results = w.recordNow(is.Results)
	return dispatchText(w.now, &is)
}

func dispatchText(p *plan.Plan, d *runtime.Dispatch) string {
	if d == nil {
		return ""
	}
	to := "a node that is gone"
	if d.To > 0 {
		to = p.Nodes[d.To-1].Key
	}
	return fmt.Sprintf("each of %s to %s, resumed by %s", d.Each, to, d.Results)
}

func (w *comparison) promptChange(o, n *plan.Node) func() *change {
	pos, before := n.Pos, o.Pos.Line
	if n.Prompt != nil {
		pos = n.Prompt.Pos
	}
	if o.Prompt != nil {
		before = o.Prompt.Pos.Line
	}
	return func() *change {
		return w.changeAt("prompt "+n.Key, "prompt", n.Key, n.Key, pos,
			before)
	}
}

// comparePrompt compares the texts that a node's model is told.
func (w *comparison) comparePrompt(o, n *plan.Node) {
	pos := n.Pos
	if n.Prompt != nil {
		pos = n.Prompt.Pos
	}
	if o.Guidance != n.Guidance {
		w.addPrompt(n.Key, pos, o.Guidance, n.Guidance)
	}
	if o.Prompt == nil || n.Prompt == nil {
		return
	}
	if a, b := o.Prompt.Text, n.Prompt.Text; a != b && a != "" && b != "" {
		w.promptChange(o, n)().
			hitf("PROMPT_TEXT_CHANGED", "its template %s says something else (%s)",
				n.Template, wordDelta(a, b))
		w.addTemplate(n.Template, pos, a, b)
	}
}

// addTemplate records the lines of a template that changed, once for all nodes that use it.
func (w *comparison) addTemplate(name string, pos report.Pos, before, after string) {
	name = "template " + name
	if slices.ContainsFunc(w.texts, func(t TextDelta) bool { return t.Name == name }) {
		return
	}
	before, after = changedLines(before, after)
	w.texts = append(w.texts, TextDelta{Name: name, Line: pos.Line, Prompt: true, Before: before,
		After: after})
}

// changedLines leaves out the lines that two texts begin and end with alike.
func changedLines(before, after string) (from, to string) {
	a, b := strings.SplitAfter(before, "\n"), strings.SplitAfter(after, "\n")
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	return strings.Join(a, ""), strings.Join(b, "")
}

// compareRoute compares the route back to a node.
func (w *comparison) compareRoute(o, n *plan.Node) {
	a, b := w.oldRoute[o.Key], w.newRoute[n.Key]
	if a == nil && b == nil {
		return
	}
	r := either(a, b)
	s := subject{change: func() *change { return w.routeChange(o, n) },
		values: map[string]string{"routing": w.now.Interrupt.Routing}}
	if a == nil || b == nil {
		if b != nil {
			s.change().detailf("%s, tag %s", b.Field, b.Tag)
		}
		compareThing(w, s, a, b)
		return
	}
	if o.Doc == n.Doc || a.Doc != o.Doc || b.Doc != n.Doc { // a node's doc stands in for one
		w.addGoDoc("route "+n.Key, n.Pos, a.Doc, b.Doc)
	}
	was := *a
	was.Request = w.recordNow(a.Request)
	compareThing(w, s, &was, r)
}

// compareRoutings compares what nodes may answer with. The branches of the interrupt routing are
// routes.
func (w *comparison) compareRoutings() {
	w.routings.visit(func(o, n *plan.Routing) {
		if o == nil || n == nil || n.Node == "" {
			return
		}
		both := follow(o.Branches, n.Branches)
		both.visit(func(was, is *plan.Branch) { w.compareBranch(n, was, is) })
		w.compareTakenNames(o, n, both)
		from, to := w.old.Node(o.Node), w.now.Node(n.Node)
		node := func() *change { return w.nodeChange(from, to) }
		reportUnreserved(node, "branch name", from.Reserved, to.Reserved,
			allEarlierNames(n.Branches))
		compareOrder(subject{change: node}, "Routing/Branches", both, nil)
	})
}

// compareTakenNames tells of JSON names that another branch with the same type has now: what is
// stored under one is not refused, and is read as the other branch.
func (w *comparison) compareTakenNames(o, n *plan.Routing, both pairs[plan.Branch]) {
	for i := range both.now {
		is := &both.now[i]
		was := branchOf(o, is.Name)
		if was == nil || both.next[was.Key] == is || w.recordNow(was.Type) != is.Type {
			continue
		}
		w.branchChange(n, both.prev[is.Key], is).tellf("FIELD_SAME_JSON_NAME", stored,
			"%s%s.%s: it was the branch %s and is %s", misread, n.Name, is.Name, was.Key, is.Key)
	}
}

// compareBranch compares one branch; o is nil for a new one, n for one that is gone.
func (w *comparison) compareBranch(r *plan.Routing, o, n *plan.Branch) {
	b := either(o, n)
	c := func() *change { return w.branchChange(r, o, n) }
	s := subject{change: c, doc: r.Name + "." + b.Key, unread: true, values: map[string]string{
		"node": r.Node, "routing": r.Name, "leads": leads(b)}, is: map[condition]bool{}}
	if (o != nil && o.When != "") || (n != nil && n.When != "") {
		s.doc = "" // the model is told: a row of When says so
	}
	switch {
	case o == nil:
		s.values["leads"] += ifElse(n.When != "", ", when: "+n.When, "")
		compareThing(w, s, o, n)
	case n == nil:
		s.is[forgotten] = c().thing == "branch" &&
			!slices.Contains(w.now.Node(r.Node).Reserved, o.Key)
		compareThing(w, s, o, n)
		w.warnOfStaleGuidance(c(), r.Node, o.Name)
	default:
		was := *o
		was.Type, was.Node = w.recordNow(o.Type), w.nodeNow(o.Node)
		s.values["led"] = leads(o)
		compareThing(w, s, &was, n)
		if o.Name != n.Name {
			w.warnOfStaleGuidance(c(), r.Node, o.Name)
		} else if o.Key != n.Key {
			c().notef(stored, "none: the JSON name is still %s", n.Name)
		}
	}
}

// warnOfStaleGuidance warns of guidance that still names what a model can no longer set.
func (w *comparison) warnOfStaleGuidance(c *change, node, name string) {
	words := strings.FieldsFunc(w.now.Node(node).Guidance, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
	if slices.Contains(words, name) {
		c.notef(models, guidanceOf+"%s still says %s", node, name)
	} else {
		c.notef(models, guidanceOf+"%s does not name %s", node, name)
	}
}

const guidanceOf = "the guidance of "

// leads says what taking a branch does.
func leads(b *plan.Branch) string {
	switch b.Kind {
	case runtime.ToNode:
		return "goes to " + b.Node
	case runtime.ToResume:
		return "resumes " + b.Node
	case runtime.ToInterrupt:
		return "asks for a decision"
	case runtime.ToCollect:
		return "goes where the decision says"
	case runtime.ToEnd:
	}
	return "ends the frame"
}

// compareKind compares one interrupt kind; o is nil for a new one, n for one that is gone.
func (w *comparison) compareKind(o, n *plan.InterruptKind) {
	k, was := either(o, n), o
	if o != nil {
		copied := *o // in the names of the new plan
		was, copied.Deadline = &copied, w.deadlineNow(o.Deadline)
	}
	compareThing(w, subject{change: func() *change { return w.kindChange(o, n) },
		doc: "kind " + k.Name, unread: true, is: map[condition]bool{
			forgotten: !slices.Contains(w.now.Interrupt.ReservedKinds, k.Name)}}, was, n)
	asks := o != nil && n != nil && n.Name == "agent_question"
	if own := w.keysWith(func(n *plan.Node) bool { return len(n.Assignees) > 0 }); asks &&
		own != "" && !slices.Equal(o.Assignees, n.Assignees) {
		w.kindChange(o, n).detailf("not for what these nodes ask, which have assignees of their "+
			"own: %s", own)
	}
	if own := w.keysWith(func(n *plan.Node) bool { return n.Deadline != nil }); asks && own != "" &&
		deadlineText(was.Deadline) != deadlineText(n.Deadline) {
		w.kindChange(o, n).detailf("not for what these nodes ask, which have a deadline of their "+
			"own: %s", own)
	}
}

// deadlineNow is a deadline of the old plan with the present agent type of the node it reroutes to.
func (w *comparison) deadlineNow(d *runtime.Deadline) *runtime.Deadline {
	if d == nil {
		return nil
	}
	out := *d
	for i := range w.old.Nodes {
		o := &w.old.Nodes[i]
		if n := w.nodes.next[o.Key]; n != nil && o.AgentType == d.Target && d.Target != "" {
			out.Target = n.AgentType
		}
	}
	return &out
}

// keysWith lists the nodes whose questions do not follow agent_question in something.
func (w *comparison) keysWith(own func(n *plan.Node) bool) string {
	var out []string
	for i := range w.now.Nodes {
		if own(&w.now.Nodes[i]) {
			out = append(out, w.now.Nodes[i].Key)
		}
	}
	return strings.Join(out, ", ")
}

func (w *comparison) kindChange(o, n *plan.InterruptKind) *change {
	return w.changeOf("kind", "", o, n, w.interruptsPos())
}
