package plan

import (
	"slices"
	"strings"

	"github.com/routegen/routegen/generator/spec"
	"github.com/routegen/routegen/runtime"
)

// addNodes decides every name of every node. Routes are known by then only as "has one": routes()
// fills the constants in.
func (b *builder) addNodes() {
	for _, n := range b.spec.Nodes {
		b.plan.Nodes = append(b.plan.Nodes, b.node(n))
	}
}

func (b *builder) node(n *spec.Node) Node {
	key := n.Key.Value
	name := or(n.GoName, spec.GoName(key))
	out := Node{
		Node: runtime.Node{
			Key: key, AgentType: or(n.AgentType, spec.WireName(key)), Aliases: values(n.Aliases),
			DisplayName: or(n.DisplayName, spec.DisplayName(key)), Group: n.Group.Value,
			Action: n.Action.Value, Entry: n.Entry, Result: b.symbols[n.Result.Value].name,
			Reuse: n.Resolve.Value == "reuse", LoopWarn: 2, Approval: values(n.Approval),
			Timeout: duration(n.Timeout.Value), Assignees: values(n.Assignees),
		},
		Const: "Node" + name, AgentConst: "AgentType" + name, Doc: n.Doc.Value,
		Escalates: n.Escalates.Value, Was: values(n.Was), Reserved: values(n.Reserved),
		Deprecated: n.Deprecated.Value,
		Pos:        n.Key.At.Start,
	}
	if n.Interrupt != nil {
		out.Interrupt = n.InterruptName()
	}
	if n.Request != nil {
		out.Request, out.Method = n.RequestName(), name
		out.Routing = or(n.Routing, name+"Routing")
	}
	out.Feedback = b.fieldName(out.Request, n.Feedback.Value)
	for _, u := range n.Unstick {
		out.Unstick = append(out.Unstick, branchName(n, u.Value))
	}
	if n.Adapt.Value != "" {
		out.Adapt, out.AdaptMethod = b.symbols[n.Adapt.Value].name, "Adapt"+name
	}
	if d := n.Dispatch; d != nil {
		out.Dispatch = &runtime.Dispatch{Each: b.fieldName(out.Request, d.Each.Value),
			To: 1 + slices.IndexFunc(b.spec.Nodes,
				func(to *spec.Node) bool { return to.Key.Value == d.To.Value }),
			Results: b.symbols[d.Results.Value].name}
	}
	if n.Collect != nil {
		out.Collect, out.Decides = b.collect(n)
	}
	if p := n.Prompt; p != nil {
		out.Template, out.Vars, out.Guidance = p.Template.Value, values(p.Vars), p.Guidance.Value
		out.Prompt = &Prompt{Pos: p.At.Start}
	}
	if n.Deadline != nil {
		out.Deadline = deadline(n.Deadline)
	}
	if l := n.Loop; l != nil {
		out.LoopExempt, out.LoopLimit = values(l.Exempt), countOr(l.Limit, 0)
		out.LoopWarn = countOr(l.Warn, out.LoopWarn)
	}
	for _, t := range n.Tools {
		out.Tools = append(out.Tools, runtime.Tool{Name: t.Name.Value,
			TransferTo: values(t.TransferTo), MCP: t.MCP.Value, Once: t.Once})
	}
	return out
}

// branchName returns the JSON name of a node's branch; a word that is no branch ("end") stays.
func branchName(n *spec.Node, key string) string {
	for _, br := range n.Branches {
		if br.Key.Value == key {
			return or(br.JSON, key)
		}
	}
	return key
}

// fieldName returns the JSON name of a record's field; a key that is no field stays.
func (b *builder) fieldName(record, key string) string {
	if r := b.plan.Record(record); r != nil {
		return wire(r.Fields, key)
	}
	return key
}

// carried returns the JSON name of a field that a collector fills in the requests it goes on with:
// the name in the first of them that has the field.
func (b *builder) carried(n *spec.Node, key string) string {
	for _, br := range n.Branches {
		if r := b.plan.Record(br.Type.Value); r != nil {
			if name := wire(r.Fields, key); name != key {
				return name
			}
		}
	}
	return key
}

// collect orders the arms as the enum does and finds where in the result the decision sits: a field
// of the enum's type, in the result itself or in a record it holds.
func (b *builder) collect(n *spec.Node) (out *runtime.Collect, enum string) {
	c := n.Collect
	out = &runtime.Collect{Result: b.symbols[c.Result.Value].name, Default: c.Default.Value}
	for _, arm := range c.On {
		out.Arms = append(out.Arms,
			runtime.Arm{Decision: arm.Decision.Value, To: branchName(n, arm.To.Value)})
	}
	for _, carry := range c.Carry {
		out.Carry = append(out.Carry, runtime.Carry{Field: b.carried(n, carry.Field.Value),
			From: b.fieldName(out.Result, carry.From.Value)})
	}
	result := b.plan.Record(out.Result)
	if result == nil {
		return out, ""
	}
	for _, f := range result.Fields {
		if b.decides(f.Type, out.Arms) {
			out.Field, enum = f.JSON, f.Type.Name
			break
		}
		inner := b.plan.Record(f.Type.Name)
		if f.Type.Kind != RecordOf || inner == nil {
			continue
		}
		for _, g := range inner.Fields {
			if b.decides(g.Type, out.Arms) {
				out.Field, enum = f.JSON+"."+g.JSON, g.Type.Name
			}
		}
		if enum != "" {
			break
		}
	}
	if e := b.plan.Enum(enum); e != nil {
		out.Arms = inOrder(e, out.Arms)
	}
	return out, enum
}

// decides reports whether a type is an enum that has every decision of the arms.
func (b *builder) decides(t Type, arms []runtime.Arm) bool {
	e := b.plan.Enum(t.Name)
	return t.Kind == EnumOf && e != nil && len(arms) > 0 && len(inOrder(e, arms)) == len(arms)
}

func inOrder(e *Enum, arms []runtime.Arm) []runtime.Arm {
	var out []runtime.Arm
	for _, v := range e.Values {
		for _, arm := range arms {
			if arm.Decision == v.Wire {
				out = append(out, arm)
			}
		}
	}
	return out
}

// nameRerouteTargets replaces the node keys that deadlines reroute to by agent types, which an
// engine looks up.
func (b *builder) nameRerouteTargets() {
	var all []*runtime.Deadline
	for i := range b.plan.Interrupt.Kinds {
		all = append(all, b.plan.Interrupt.Kinds[i].Deadline)
	}
	for i := range b.plan.Nodes {
		all = append(all, b.plan.Nodes[i].Deadline)
	}
	for _, d := range all {
		if d == nil || d.Target == "" {
			continue
		}
		if n := b.plan.Node(d.Target); n != nil {
			d.Target = n.AgentType
		}
	}
}

// addRoutes gives every node that can be returned to its route, and every node that interrupts its
// origin: its own route, or the first route up the line of nodes it escalates to.
func (b *builder) addRoutes() {
	p := b.plan
	for i, n := range b.spec.Nodes {
		if n.Request == nil || n.Route != nil && n.Route.None {
			continue
		}
		node := &p.Nodes[i]
		name := or(n.GoName, spec.GoName(node.Key))
		r := Route{
			Route: runtime.Route{Field: requestKey(node.Key), Tag: name + "Route",
				AgentType: node.AgentType, DisplayName: node.DisplayName},
			Const: "Route" + name, Node: node.Key, Request: node.Request, Doc: node.Doc,
		}
		if n.Route != nil {
			r.Field, r.Tag, r.Doc = or(n.Route.Field, r.Field), or(n.Route.Tag, r.Tag),
				or(n.Route.Doc, r.Doc)
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

// requestKey is the name of a branch to a node, in the spelling of its key.
func requestKey(node string) string {
	if strings.Contains(node, "_") {
		return node + "_request"
	}
	return node + "Request"
}

// addRoutings lays out the interrupt routing, then one routing for every node that takes a request.
func (b *builder) addRoutings() {
	p := b.plan
	union := Routing{RoutingRow: runtime.RoutingRow{Name: p.Interrupt.Routing},
		Doc: "Where the thread goes on after an interrupt."}
	for _, r := range p.Routes {
		union.Branches = append(union.Branches, Branch{
			BranchRow: runtime.BranchRow{Name: r.Field, Type: r.Request, Kind: runtime.ToNode},
			Key:       r.Field, Go: r.Go, Node: r.Node, Doc: r.Doc,
		})
	}
	p.Routings = append(p.Routings, union)

	targets := b.branchTargets()
	for i, n := range b.spec.Nodes {
		node := &p.Nodes[i]
		if node.Routing == "" {
			continue
		}
		routing := Routing{RoutingRow: runtime.RoutingRow{Name: node.Routing}, Node: node.Key,
			Doc: "What happens after " + node.DisplayName + "."}
		for _, br := range n.Branches {
			routing.Branches = append(routing.Branches, b.branch(n, node, br, targets))
		}
		p.Routings = append(p.Routings, routing)
	}
}

// branchTarget is where a branch of a type leads.
type branchTarget struct {
	node string
	kind runtime.BranchKind
}

// branchTargets returns, for every record that activates, resumes or ends, what a branch that
// carries it does.
func (b *builder) branchTargets() map[string]branchTarget {
	out := map[string]branchTarget{}
	for _, t := range b.spec.Results {
		out[b.symbols[t.Key.Value].name] = branchTarget{kind: runtime.ToEnd}
	}
	for i := range b.plan.Nodes {
		n := &b.plan.Nodes[i]
		out[n.Request] = branchTarget{n.Key, runtime.ToNode}
		out[n.Adapt] = branchTarget{n.Key, runtime.ToNode}
		if n.Dispatch != nil {
			out[n.Dispatch.Results] = branchTarget{n.Key, runtime.ToResume}
		}
	}
	delete(out, "")
	return out
}

func (b *builder) branch(n *spec.Node, node *Node, br *spec.Branch,
	targets map[string]branchTarget) Branch {
	out := Branch{
		BranchRow: runtime.BranchRow{Name: or(br.JSON, br.Key.Value)}, Key: br.Key.Value,
		Go: or(br.GoName, spec.GoName(br.Key.Value)), Doc: br.Doc.Value,
		Was: values(br.Was), Pos: br.Key.At.Start,
	}
	if br.Type.Value == "interrupt" {
		out.Type, out.Kind = node.Interrupt, runtime.ToInterrupt
		return out
	}
	out.Type = b.symbols[br.Type.Value].name
	for _, other := range n.Branches {
		if other != br && other.Type.Value == br.Type.Value {
			out.When = br.Doc.Value
		}
	}
	to := targets[out.Type]
	out.Kind, out.Node = to.kind, to.node
	if out.Kind == 0 {
		out.Kind = runtime.ToEnd
	}
	if node.Collect != nil && node.Collect.Result == out.Type {
		out.Kind = runtime.ToCollect
	}
	return out
}
