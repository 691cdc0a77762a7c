package plan

import (
	"github.com/routegen/routegen/generator/spec"
	"github.com/routegen/routegen/runtime"
)

// Shapes returns what data stored by the code of a plan relies on. The decoder of package runtime
// reads exactly the names of the spec and the aliases of agent types, so nothing else is accepted:
// was: says what became of a name, by which an engine brings a thread that it takes up to the new
// names.
func Shapes(p *Plan) []runtime.StoredShape {
	agents := runtime.StoredShape{Kind: runtime.ShapeEnum, Name: runtime.ShapeAgentType}
	routes := runtime.StoredShape{Kind: runtime.ShapeEnum, Name: runtime.ShapeRoute}
	kinds := runtime.StoredShape{Kind: runtime.ShapeEnum, Name: runtime.ShapeKind}
	out := make([]runtime.StoredShape, 0, len(p.Records)+len(p.Routings)+len(p.Nodes)+len(p.Enums)+
		len(p.Scalars)+3)
	derived := Formerly(p)
	for i := range p.Nodes {
		n := &p.Nodes[i]
		out = append(out, nodeShape(n))
		agents.Fields = append(agents.Fields,
			runtime.StoredField{Name: n.AgentType, Accepts: n.Aliases})
	}
	for _, r := range p.Routes {
		routes.Fields = append(routes.Fields,
			runtime.StoredField{Name: r.Field, Was: derived[r.Const]})
	}
	for _, k := range p.Interrupt.Kinds {
		kinds.Fields = append(kinds.Fields, runtime.StoredField{Name: k.Name, Was: k.Was})
	}
	for _, e := range p.Enums {
		s := runtime.StoredShape{Kind: runtime.ShapeEnum, Name: e.Name, Was: e.Was}
		for _, v := range e.Values {
			s.Fields = append(s.Fields, runtime.StoredField{Name: v.Wire, Was: v.Was})
		}
		out = append(out, s)
	}
	for _, s := range p.Scalars {
		out = append(out, runtime.StoredShape{Kind: runtime.ShapeScalar, Name: s.Name, Was: s.Was,
			Fields: []runtime.StoredField{
				{Type: s.Type.String(), Required: true, Rules: s.Constraints.Texts(),
					AcceptsOld: s.AcceptsOld},
			}})
	}
	for i := range p.Records {
		r := &p.Records[i]
		out = append(out, recordShape(r, derived[r.Name]))
	}
	if p.Talk != nil {
		for i := range p.Talk.Flows {
			out = append(out, flowShape(&p.Talk.Flows[i]))
		}
	}
	if !p.HasWorkflow() { // then no message and no interrupt of a node is ever stored
		return out
	}
	for _, r := range p.Routings {
		s := runtime.StoredShape{Kind: runtime.ShapeUnion, Name: r.Name, Was: derived[r.Name]}
		for _, b := range r.Branches {
			s.Fields = append(s.Fields, runtime.StoredField{Name: b.Name, Was: b.Was, Type: b.Type})
		}
		out = append(out, s)
	}
	return append(out, agents, routes, kinds)
}

// Formerly returns the earlier names of messages, routings and routes that follow from those of
// their nodes, by their Go names.
func Formerly(p *Plan) map[string][]string {
	out := map[string][]string{}
	for i := range p.Nodes {
		n := &p.Nodes[i]
		for _, was := range n.Was {
			out[n.Request] = append(out[n.Request], spec.GoName(was)+"Request")
			out[n.Interrupt] = append(out[n.Interrupt], spec.GoName(was)+"InterruptRequest")
			out[n.Routing] = append(out[n.Routing], spec.GoName(was)+"Routing")
			out[n.Route] = append(out[n.Route], requestKey(was))
		}
	}
	return out
}

func nodeShape(n *Node) runtime.StoredShape {
	s := runtime.StoredShape{Kind: runtime.ShapeNode, Name: n.Key, Was: n.Was}
	results := ""
	if n.Dispatch != nil {
		results = n.Dispatch.Results
	}
	for _, f := range [][2]string{{"request", n.Request}, {"interrupt", n.Interrupt},
		{"results", results}} {
		if f[1] != "" {
			s.Fields = append(s.Fields, runtime.StoredField{Name: f[0], Type: f[1]})
		}
	}
	return s
}

// The fields of a flow's shape: a slot and a step may share a name.
const (
	SlotField = "slot "
	StepField = "step "
)

// flowShape is what a stored frame of a flow relies on: the step it stands at, and the values of
// its slots. The machine knows earlier names of all three, so those are accepted.
func flowShape(f *Flow) runtime.StoredShape {
	s := runtime.StoredShape{Kind: runtime.ShapeFlow, Name: f.Name, Accepts: f.Was}
	for i := range f.Slots {
		slot := &f.Slots[i]
		out := runtime.StoredField{Name: SlotField + slot.Key, Type: slot.Type.String(),
			Rules: slot.Constraints.Texts(), AcceptsOld: slot.AcceptsOld}
		for _, was := range slot.Was {
			out.Accepts = append(out.Accepts, SlotField+was)
		}
		s.Fields = append(s.Fields, out)
	}
	for i := range f.Steps {
		step := &f.Steps[i]
		out := runtime.StoredField{Name: StepField + step.ID, Type: StepField + step.Kind}
		for _, was := range step.Was {
			out.Accepts = append(out.Accepts, StepField+was)
		}
		s.Fields = append(s.Fields, out)
	}
	return s
}

// ShapeKinds are the kinds of shapes of records.
var ShapeKinds = map[Role]string{
	RoleRequest: runtime.ShapeRequest, RoleInterrupt: runtime.ShapeInterrupt,
	RoleResult: runtime.ShapeResult, RoleNested: runtime.ShapeRecord,
}

func recordShape(r *Record, was []string) runtime.StoredShape {
	s := runtime.StoredShape{Kind: ShapeKinds[r.Role], Name: r.Name, Was: append(was, r.Was...)}
	for i := range r.Fields {
		f := &r.Fields[i]
		out := runtime.StoredField{Name: f.JSON, Type: f.Type.String(), Required: f.Required,
			Rules: f.Constraints.Texts(), Default: f.DefaultOld, AcceptsOld: f.AcceptsOld,
			Was: f.Earlier()}
		s.Fields = append(s.Fields, out)
	}
	return s
}

// Earlier returns the JSON names that the field had. It may be renamed and keep its JSON name.
func (f *Field) Earlier() []string {
	var out []string
	for _, w := range f.Was {
		if f.JSON != w {
			out = append(out, w)
		}
	}
	return out
}

// RuleOf returns constraints as a row has them; nil for none.
func RuleOf(c Constraints) *runtime.Rule {
	if c == (Constraints{}) {
		return nil
	}
	return &c
}
