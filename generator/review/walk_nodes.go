package review

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/routegen/routegen/generator/plan"
	"github.com/routegen/routegen/generator/spec"
)

func (w *walker) allNodes() {
	var before, after []string
	for i := range w.now.Nodes {
		n := &w.now.Nodes[i]
		if o := w.nodes.prev[n.Key]; o != nil {
			after = append(after, n.Key)
			w.node(o, n)
		} else {
			w.nodeAdded(n)
		}
	}
	for i := range w.old.Nodes {
		if o := &w.old.Nodes[i]; w.nodes.next[o.Key] == nil {
			w.nodeRemoved(o)
			continue
		}
		before = append(before, w.nodes.next[w.old.Nodes[i].Key].Key)
	}
	order(func() *change {
		return w.at("setting nodes", "setting", "nodes", "nodes", spec.Pos{Line: 1, Column: 1}, 0)
	},
		before, after, callers, "constants have other numbers, which nothing stores; the routes stand in another order in the schema")
}

// methods are the methods that a node gives to the interfaces of the package.
func methods(n *plan.Node) []string {
	var handlers []string
	for _, m := range []string{n.Method, n.AdaptMethod} {
		if m != "" {
			handlers = append(handlers, m)
		}
	}
	var out []string
	if len(handlers) > 0 {
		out = append(out, "Handlers: "+strings.Join(handlers, ", "))
	}
	if n.Request != "" {
		out = append(out, "RequestVisitor: Visit"+n.Request)
	}
	if n.Interrupt != "" {
		out = append(out, "InterruptVisitor: Visit"+n.Interrupt)
	}
	return out
}

func (w *walker) nodeAdded(n *plan.Node) {
	c := w.nodeChange(nil, n)
	w.formerly(c, n.Was)
	c.detailf("agent type %s", n.AgentType)
	if r := w.now.Record(n.Request); r != nil {
		c.detailf("request %s: %s", r.Name, fieldList(r))
		w.texts = append(w.texts, TextDelta{Name: n.Key, Line: n.Line, After: n.Doc})
	}
	if n.Prompt != nil && n.Prompt.Guidance != "" {
		w.texts = append(w.texts, TextDelta{Name: n.Key, Line: n.Prompt.Line, Prompt: true, After: n.Prompt.Guidance})
	}
	if n.Interrupt != "" {
		c.detailf("interrupt %s", n.Interrupt)
	}
	if r := w.newRoute[n.Key]; r != nil {
		c.detailf("route %s, tag %s", r.Field, r.Tag)
		c.hitf("ROUTE_ADDED", "%s has one more route, %s: a reroute may send any interrupt there", w.now.Interrupt.Routing, r.Field)
	} else {
		c.detailf("no route: its interrupts go back to %s", nameOr(w.after.routeNode[n.Origin], "nobody"))
	}
	c.hitf("NODE_ADDED", "interfaces gain methods, and what implements them stops compiling: %s", strings.Join(methods(n), "; "))
	c.notef(stored, "none: nothing stored knows it")
}

func (w *walker) nodeRemoved(o *plan.Node) {
	c := w.nodeChange(o, nil)
	c.detailf("agent type %s", o.AgentType)
	c.hitf("GO_API_NO_DELETE", "gone from %s; types %s", strings.Join(methods(o), "; "), strings.Join(compact(o.Request, o.Interrupt, o.Routing), ", "))
	if r := w.oldRoute[o.Key]; r != nil {
		c.hitf("ROUTE_NO_DELETE", "the route %s is gone: no interrupt can be sent there", r.Field)
	}
}

// fieldList names the first fields of a record with their types.
func fieldList(r *plan.Record) string {
	const few = 8
	var out []string
	for i := range r.Fields {
		if i == few {
			out = append(out, fmt.Sprintf("and %d more", len(r.Fields)-few))
			break
		}
		out = append(out, r.Fields[i].JSON+" ("+fieldText(&r.Fields[i])+")")
	}
	return nameOr(strings.Join(out, ", "), "no field")
}

func compact(names ...string) []string {
	return slices.DeleteFunc(names, func(s string) bool { return s == "" })
}

// node compares one node before and now.
func (w *walker) node(o, n *plan.Node) {
	c := func() *change { return w.nodeChange(o, n) }
	for _, name := range [][2]string{
		{o.Const, n.Const}, {o.AgentConst, n.AgentConst}, {o.Method, n.Method}, {o.AdaptMethod, n.AdaptMethod}, {o.Routing, n.Routing}, {o.Route, n.Route},
		{o.ActionConst, n.ActionConst},
	} {
		if name[0] != "" && name[1] != "" && name[0] != name[1] {
			c().hitf("GO_NAME_SAME", "%s is %s now", name[0], name[1])
		}
	}
	if o.AgentType != n.AgentType {
		c().detailf("agent type %s → %s", o.AgentType, n.AgentType)
		c().notef(callers, "JSON and Go that write the agent type say %s now", n.AgentType)
		if slices.Contains(n.Aliases, o.AgentType) {
			c().notef(stored, "none: %s is an alias, and is still read", o.AgentType)
		}
	}
	for _, alias := range o.Aliases {
		if alias != n.AgentType && !slices.Contains(n.Aliases, alias) {
			c().tellf("AGENT_TYPE_SAME", callers, "the agent type %s is no longer accepted", alias)
		}
	}
	w.nodeMessages(o, n)
	if n.Entry && !o.Entry {
		c().tellf("ENTRY_SAME", callers, "runs start here now, and who starts one sends %s", n.Request)
	}
	if was, is := w.dispatchNow(o, n), jsonText(n.Dispatch); was != is {
		c().hitf("DISPATCH_SAME", "its fan-out was %s and is %s", nameOr(dispatchText(o.Dispatch), "not there"), nameOr(dispatchText(n.Dispatch), "taken away"))
	}
	w.collect(o, n)
	if o.Result != n.Result && w.became(o.Result) != n.Result {
		c().hitf("NODE_SAME_RESULT", "its frame ended with %s and ends with %s", nameOr(o.Result, "no result"), nameOr(n.Result, "no result"))
	}
	w.policy(o, n)
	if o.DisplayName != n.DisplayName {
		c().hitf("DISPLAY_NAME_CHANGED", "%q is %q now", o.DisplayName, n.DisplayName)
	}
	if n.Request != "" {
		w.text(n.Key, nodePos(n), o.Doc, n.Doc)
	} else {
		w.goDoc(n.Key, nodePos(n), o.Doc, n.Doc)
	}
	deprecated(c, o.Deprecated, n.Deprecated)
	if o.Group != n.Group {
		c().detailf("group %s → %s", nameOr(o.Group, "none"), nameOr(n.Group, "none"))
	}
	w.nodePrompt(o, n)
	w.route(o, n)
}

// nodeMessages compares what a node takes and raises.
func (w *walker) nodeMessages(o, n *plan.Node) {
	if o.Request != "" && n.Request != "" && w.became(o.Request) != n.Request {
		w.nodeChange(o, n).tellf("NODE_SAME_REQUEST", callers, "the method %s takes %s in place of %s", n.Method, n.Request, o.Request)
	}
	for _, m := range [][3]string{{o.Method, n.Method, n.Request}, {o.AdaptMethod, n.AdaptMethod, n.Adapt}} {
		if m[0] == "" && m[1] != "" {
			w.nodeChange(o, n).hitf("METHOD_ADDED", "Handlers gains %s, which takes %s: what implements it stops compiling", m[1], m[2])
		}
		if m[0] == "" || m[1] != "" {
			continue
		}
		c := w.nodeChange
		if rec := w.old.Record(o.Adapt); m[0] == o.AdaptMethod && rec != nil { // the type is no request any more
			c = func(*plan.Node, *plan.Node) *change { return w.recordChange(rec, w.records.next[rec.Name]) }
		}
		c(o, n).hitf("GO_API_NO_DELETE", "Handlers loses %s", m[0])
	}
	if o.Routing != "" && n.Routing == "" {
		w.nodeChange(o, n).hitf("ROUTING_NO_DELETE", "%s is gone: the node answers nothing", o.Routing)
	}
}

// dispatchNow is the fan-out of an old node in the names of the new plan.
func (w *walker) dispatchNow(o, now *plan.Node) string {
	d := o.Dispatch
	if d == nil {
		return jsonText(d)
	}
	is := *d
	if n := w.now.Record(now.Request); n != nil {
		for _, f := range n.Fields {
			if slices.Contains(f.Was, d.Each) {
				is.Each = f.Key
			}
		}
	}
	if n := w.nodes.next[d.To]; n != nil {
		is.To = n.Key
	}
	if name := w.became(d.Results); name != "" {
		is.Results = name
	}
	return jsonText(&is)
}

func dispatchText(d *plan.Dispatch) string {
	if d == nil {
		return ""
	}
	return fmt.Sprintf("each of %s to %s, resumed by %s", d.Each, d.To, d.Results)
}

// policy compares how a node is run, beside where it goes.
func (w *walker) policy(o, n *plan.Node) {
	for _, p := range []struct{ name, was, is string }{
		{"loop", loopText(o.Loop), loopText(n.Loop)},
		{"timeout", o.Timeout, n.Timeout},
		{"resolve", o.Resolve, n.Resolve},
		{"feedback", o.Feedback, n.Feedback},
		{"action", o.Action, n.Action},
		{"approval", strings.Join(o.Approval, ", "), strings.Join(n.Approval, ", ")},
	} {
		if p.was != p.is {
			w.nodeChange(o, n).hitf("NODE_POLICY_CHANGED", "%s was %s and is %s", p.name, nameOr(p.was, "not set"), nameOr(p.is, "not set"))
		}
	}
	if was, is := jsonText(o.Tools), jsonText(n.Tools); was != is {
		w.nodeChange(o, n).hitf("TOOLS_CHANGED", "its model was offered %s and is offered %s", toolsText(o.Tools), toolsText(n.Tools))
	}
}

func loopText(l plan.Loop) string {
	return fmt.Sprintf("warn %d, limit %s, exempt [%s]", l.Warn, ifElse(l.Limit == 0, "none", strconv.Itoa(l.Limit)), strings.Join(l.Exempt, ", "))
}

func toolsText(tools []plan.Tool) string {
	var out []string
	for _, t := range tools {
		once := ifElse(t.Once, " (once)", "")
		switch {
		case t.MCP != "":
			out = append(out, "server "+t.MCP+once)
		case len(t.TransferTo) > 0:
			out = append(out, "transfer to "+strings.Join(t.TransferTo, ", "))
		default:
			out = append(out, t.Name+once)
		}
	}
	return nameOr(strings.Join(out, "; "), "no tool")
}

// nodePrompt compares what a node's model is told, docs apart.
func (w *walker) nodePrompt(o, n *plan.Node) {
	a, b := plan.Prompt{}, plan.Prompt{}
	if o.Prompt != nil {
		a = *o.Prompt
	}
	if n.Prompt != nil {
		b = *n.Prompt
	}
	pos := nodePos(n)
	if b.Line > 0 {
		pos.Line, pos.Column = b.Line, b.Column
	}
	if a.Guidance != b.Guidance {
		w.prompt(n.Key, pos, a.Guidance, b.Guidance)
	}
	was := o.Line
	if a.Line > 0 {
		was = a.Line
	}
	c := func() *change { return w.at("prompt "+n.Key, "prompt", n.Key, n.Key, pos, was) }
	if a.Template != b.Template {
		c().hitf("PROMPT_TEXT_CHANGED", "its template was %s and is %s", nameOr(a.Template, "none"), nameOr(b.Template, "none"))
	}
	if a.Text != b.Text && a.Text != "" && b.Text != "" {
		c().hitf("PROMPT_TEXT_CHANGED", "its template %s says something else (%s)", b.Template, wordDelta(a.Text, b.Text))
		w.template(b.Template, pos, a.Text, b.Text)
	}
	if !slices.Equal(a.Vars, b.Vars) {
		c().hitf("PROMPT_TEXT_CHANGED", "its template may name [%s] in place of [%s]", strings.Join(b.Vars, ", "), strings.Join(a.Vars, ", "))
	}
	if !slices.Equal(o.Unstick, n.Unstick) {
		c().hitf("PROMPT_TEXT_CHANGED", "stuck, it is told to set [%s] in place of [%s]", strings.Join(n.Unstick, ", "), strings.Join(o.Unstick, ", "))
	}
}

// template records the lines of a template that changed: once, whatever number of nodes is told them.
func (w *walker) template(name string, pos spec.Pos, before, after string) {
	name = "template " + name
	if slices.ContainsFunc(w.texts, func(t TextDelta) bool { return t.Name == name }) {
		return
	}
	before, after = changedLines(before, after)
	w.texts = append(w.texts, TextDelta{Name: name, Line: pos.Line, Prompt: true, Before: before, After: after})
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

// route compares the route back to a node.
func (w *walker) route(o, n *plan.Node) {
	a, b := w.oldRoute[o.Key], w.newRoute[n.Key]
	switch {
	case a == nil && b == nil:
	case b == nil:
		c := w.routeChange(o, n)
		c.hitf("ROUTE_NO_DELETE", "the route %s (tag %s) is gone from %s: no interrupt, no answer and no reroute can lead to %s", a.Field, a.Tag, w.now.Interrupt.Routing, n.Key)
		c.hitf("GO_API_NO_DELETE", "%s is gone, and so is %s.%s", a.Const, w.now.Interrupt.Routing, a.Go)
	case a == nil:
		c := w.routeChange(o, n)
		c.detailf("%s, tag %s", b.Field, b.Tag)
		c.hitf("ROUTE_ADDED", "%s has one more route, %s: a reroute may send any interrupt there", w.now.Interrupt.Routing, b.Field)
		c.notef(stored, "none: nothing stored names it")
	default:
		if o.Doc == n.Doc || a.Doc != o.Doc || b.Doc != n.Doc { // a node's doc stands in for one
			w.goDoc("route "+n.Key, nodePos(n), a.Doc, b.Doc)
		}
		if a.Tag != b.Tag {
			w.routeChange(o, n).hitf("ROUTE_SAME_TAG", "its tag %s is %s: a filter that names the old tag keeps or hides nothing", a.Tag, b.Tag)
		}
		if a.Field != b.Field {
			w.routeChange(o, n).notef(models, "the branch %s is named %s", a.Field, b.Field)
		}
		if a.Go != b.Go {
			w.routeChange(o, n).hitf("FIELD_SAME_GO_NAME", "Go field %s.%s is %s now", w.now.Interrupt.Routing, a.Go, b.Go)
		}
		if w.became(a.Request) != b.Request {
			w.routeChange(o, n).tellf("ROUTE_SAME_REQUEST", callers, "Go field %s.%s carries %s in place of %s", w.now.Interrupt.Routing, b.Go, b.Request, a.Request)
			w.routeChange(o, n).notef(models, "the branch %s asks for %s in place of %s", b.Field, b.Request, a.Request)
		}
	}
}

// jsonText is a value as JSON, for comparing and showing.
func jsonText(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return err.Error() // plans hold nothing that JSON cannot
	}
	return string(text)
}
