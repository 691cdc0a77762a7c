package plan

import (
	"github.com/routegen/routegen/generator/spec"
)

// nodes decides every name of every node. Routes are known by then only as "has one": routes() fills the constants in.
func (b *builder) nodes() {
	b.routing = map[string]string{}
	for _, n := range b.spec.Nodes {
		b.plan.Nodes = append(b.plan.Nodes, b.node(n))
	}
}

func (b *builder) node(n *spec.Node) Node {
	key := n.Key.Value
	name := or(n.GoName, spec.GoName(key))
	out := Node{
		Key: key, Const: "Node" + name, AgentType: or(n.AgentType, spec.WireName(key)), AgentConst: "AgentType" + name,
		Aliases: values(n.Aliases), DisplayName: or(n.DisplayName, spec.DisplayName(key)), Doc: n.Doc.Value, Group: n.Group.Value,
		Action: n.Action.Value, Entry: n.Entry, Escalates: n.Escalates.Value, Result: b.symbols[n.Result.Value].name,
		Unstick: values(n.Unstick), Feedback: n.Feedback.Value, Resolve: or(n.Resolve, "model"), Loop: Loop{Warn: 2},
		Approval: values(n.Approval), Timeout: n.Timeout.Value, Was: values(n.Was), Reserved: values(n.Reserved), Deprecated: n.Deprecated.Value,
		Line: n.Key.At.Start.Line, Column: n.Key.At.Start.Column,
	}
	if out.Action != "" {
		out.ActionConst = "Action" + spec.GoName(out.Action)
	}
	if n.Interrupt != nil {
		out.Interrupt = n.InterruptName()
	}
	if n.Request != nil {
		out.Request, out.Method = n.RequestName(), name
		out.Routing = or(n.Routing, name+"Routing")
		b.routing[key] = out.Routing
	}
	if n.Adapt.Value != "" {
		out.Adapt, out.AdaptMethod = b.symbols[n.Adapt.Value].name, "Adapt"+name
	}
	if d := n.Dispatch; d != nil {
		out.Dispatch = &Dispatch{Each: d.Each.Value, To: d.To.Value, Results: b.symbols[d.Results.Value].name}
	}
	if n.Collect != nil {
		out.Collect = b.collect(n.Collect)
	}
	if p := n.Prompt; p != nil {
		out.Prompt = &Prompt{Template: p.Template.Value, Vars: values(p.Vars), Guidance: p.Guidance.Value, Line: p.At.Start.Line, Column: p.At.Start.Column}
	}
	if l := n.Loop; l != nil {
		out.Loop.Exempt = values(l.Exempt)
		if l.Warn != nil {
			out.Loop.Warn = int(l.Warn.Value)
		}
		if l.Limit != nil {
			out.Loop.Limit = int(l.Limit.Value)
		}
	}
	for _, t := range n.Tools {
		out.Tools = append(out.Tools, Tool{Name: t.Name.Value, TransferTo: values(t.TransferTo), MCP: t.MCP.Value, Once: t.Once})
	}
	return out
}

// collect orders the arms as the enum does and finds where in the result the decision sits: a field of the enum's type,
// in the result itself or in a record it holds.
func (b *builder) collect(c *spec.Collect) *Collect {
	out := &Collect{Result: b.symbols[c.Result.Value].name, Default: c.Default.Value}
	for _, arm := range c.On {
		out.Arms = append(out.Arms, Arm{Decision: arm.Decision.Value, To: arm.To.Value})
	}
	for _, carry := range c.Carry {
		out.Carry = append(out.Carry, Carry{Field: carry.Field.Value, From: carry.From.Value})
	}
	result := b.plan.Record(out.Result)
	if result == nil {
		return out
	}
	for _, f := range result.Fields {
		if b.decides(f.Type, out.Arms) {
			out.Field, out.Enum = f.JSON, f.Type.Name
			break
		}
		inner := b.plan.Record(f.Type.Name)
		if f.Type.Kind != RecordOf || inner == nil {
			continue
		}
		for _, g := range inner.Fields {
			if b.decides(g.Type, out.Arms) {
				out.Field, out.Enum = f.JSON+"."+g.JSON, g.Type.Name
			}
		}
		if out.Enum != "" {
			break
		}
	}
	if e := b.plan.Enum(out.Enum); e != nil {
		out.Arms = inOrder(e, out.Arms)
	}
	return out
}

// decides reports whether a type is an enum that has every decision of the arms.
func (b *builder) decides(t Type, arms []Arm) bool {
	e := b.plan.Enum(t.Name)
	return t.Kind == EnumOf && e != nil && len(arms) > 0 && len(inOrder(e, arms)) == len(arms)
}

func inOrder(e *Enum, arms []Arm) []Arm {
	var out []Arm
	for _, v := range e.Values {
		for _, arm := range arms {
			if arm.Decision == v.Wire {
				out = append(out, arm)
			}
		}
	}
	return out
}

// targets names the nodes that deadlines reroute to as an engine does, by agent type: a spec names them by key.
func (b *builder) targets() {
	for i := range b.plan.Interrupt.Kinds {
		d := b.plan.Interrupt.Kinds[i].Deadline
		if d == nil || d.Target == "" {
			continue
		}
		if n := b.plan.Node(d.Target); n != nil {
			d.Target = n.AgentType
		}
	}
}

// routes gives every node that can be returned to its route, and every node that interrupts its origin: its own route,
// or the first route up the line of nodes it escalates to.
func (b *builder) routes() {
	p := b.plan
	for i, n := range b.spec.Nodes {
		if n.Request == nil || n.Route != nil && n.Route.None {
			continue
		}
		node := &p.Nodes[i]
		name := or(n.GoName, spec.GoName(node.Key))
		r := Route{
			Const: "Route" + name, Field: node.Key + "Request", Tag: name + "Route", Node: node.Key,
			Request: node.Request, Doc: node.Doc,
		}
		if n.Route != nil {
			r.Field, r.Tag, r.Doc = or(n.Route.Field, r.Field), or(n.Route.Tag, r.Tag), or(n.Route.Doc, r.Doc)
			if s, ok := b.symbols[n.Route.Returns.Value]; ok {
				r.Request = s.name
			}
		}
		r.Go = spec.GoName(r.Field)
		node.Route = r.Const
		p.Routes = append(p.Routes, r)
	}
	for i := range p.Nodes {
		at, seen := &p.Nodes[i], map[string]bool{}
		for at != nil && at.Route == "" && !seen[at.Key] {
			seen[at.Key] = true
			at = p.Node(at.Escalates)
		}
		if at != nil {
			p.Nodes[i].Origin = at.Route
		}
	}
}

// routings lays out the interrupt routing, then one routing for every node that takes a request.
func (b *builder) routings() {
	p := b.plan
	union := Routing{Name: p.Interrupt.Routing, Doc: "Where the thread goes on after an interrupt."}
	for _, r := range p.Routes {
		union.Branches = append(union.Branches, Branch{Key: r.Field, JSON: r.Field, Go: r.Go, Type: r.Request, Kind: ToNode, To: r.Node, Doc: r.Doc})
	}
	p.Routings = append(p.Routings, union)

	takers := b.takers()
	for i, n := range b.spec.Nodes {
		node := &p.Nodes[i]
		if node.Routing == "" {
			continue
		}
		routing := Routing{Name: node.Routing, Node: node.Key, Doc: "What happens after " + node.DisplayName + "."}
		for _, br := range n.Branches {
			routing.Branches = append(routing.Branches, b.branch(node, br, takers))
		}
		p.Routings = append(p.Routings, routing)
	}
}

// taker is where a branch of a type leads.
type taker struct {
	node string
	kind BranchKind
}

// takers says for every record that activates, resumes or ends what taking a branch of it does.
func (b *builder) takers() map[string]taker {
	out := map[string]taker{}
	for _, t := range b.spec.Results {
		out[b.symbols[t.Key.Value].name] = taker{kind: ToEnd}
	}
	for i := range b.plan.Nodes {
		n := &b.plan.Nodes[i]
		out[n.Request] = taker{n.Key, ToNode}
		out[n.Adapt] = taker{n.Key, ToNode}
		if n.Dispatch != nil {
			out[n.Dispatch.Results] = taker{n.Key, ToResume}
		}
	}
	delete(out, "")
	return out
}

func (b *builder) branch(node *Node, br *spec.Branch, takers map[string]taker) Branch {
	out := Branch{
		Key: br.Key.Value, JSON: or(br.JSON, br.Key.Value), Go: or(br.GoName, spec.GoName(br.Key.Value)), Doc: br.Doc.Value,
		Was: values(br.Was), Line: br.Key.At.Start.Line, Column: br.Key.At.Start.Column,
	}
	if br.Type.Value == "interrupt" {
		out.Type, out.Kind = node.Interrupt, ToInterrupt
		return out
	}
	out.Type = b.symbols[br.Type.Value].name
	to := takers[out.Type]
	out.Kind, out.To = to.kind, to.node
	if out.Kind == "" {
		out.Kind = ToEnd
	}
	if node.Collect != nil && node.Collect.Result == out.Type {
		out.Kind = ToCollect
	}
	return out
}
