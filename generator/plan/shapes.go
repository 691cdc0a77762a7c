package plan

import (
	"strconv"

	"github.com/routegen/routegen/generator/spec"
	"github.com/routegen/routegen/runtime"
)

// The shapes that no spec declares: sets of names that stand in stored data.
const (
	ShapeAgentType = "AgentType"
	ShapeRoute     = "Route"
	ShapeKind      = "InterruptKind"
)

// Shapes returns what data stored by the code of a plan relies on. The decoder of package runtime reads exactly the names of the spec
// and the aliases of agent types, so nothing else is accepted: was: says what became of a name, and does not make old data readable.
func Shapes(p *Plan) []runtime.StoredShape {
	agents := runtime.StoredShape{Kind: runtime.ShapeEnum, Name: ShapeAgentType}
	routes := runtime.StoredShape{Kind: runtime.ShapeEnum, Name: ShapeRoute}
	kinds := runtime.StoredShape{Kind: runtime.ShapeEnum, Name: ShapeKind}
	out := make([]runtime.StoredShape, 0, len(p.Records)+len(p.Routings)+len(p.Nodes)+len(p.Enums)+len(p.Scalars)+3)
	derived := map[string][]string{} // earlier names of messages that follow from those of their node
	for i := range p.Nodes {
		n := &p.Nodes[i]
		out = append(out, nodeShape(n))
		agents.Fields = append(agents.Fields, runtime.StoredField{Name: n.AgentType, Accepts: n.Aliases})
		for _, was := range n.Was {
			derived[n.Request] = append(derived[n.Request], spec.GoName(was)+"Request")
			derived[n.Interrupt] = append(derived[n.Interrupt], spec.GoName(was)+"InterruptRequest")
			derived[n.Routing] = append(derived[n.Routing], spec.GoName(was)+"Routing")
			derived[n.Route] = append(derived[n.Route], was+"Request")
		}
	}
	for _, r := range p.Routes {
		routes.Fields = append(routes.Fields, runtime.StoredField{Name: r.Field, Was: derived[r.Const]})
	}
	for _, k := range p.Interrupt.Kinds {
		kinds.Fields = append(kinds.Fields, runtime.StoredField{Name: k.Key, Was: k.Was})
	}
	for _, e := range p.Enums {
		s := runtime.StoredShape{Kind: runtime.ShapeEnum, Name: e.Name, Was: e.Was}
		for _, v := range e.Values {
			s.Fields = append(s.Fields, runtime.StoredField{Name: v.Wire, Was: v.Was})
		}
		out = append(out, s)
	}
	for _, s := range p.Scalars {
		out = append(out, runtime.StoredShape{Kind: runtime.ShapeScalar, Name: s.Name, Was: s.Was, Fields: []runtime.StoredField{
			{Type: s.Type.String(), Required: true, Rules: s.Constraints.Rules()},
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
			s.Fields = append(s.Fields, runtime.StoredField{Name: b.JSON, Was: b.Was, Type: b.Type})
		}
		out = append(out, s)
	}
	return append(out, agents, routes, kinds)
}

func nodeShape(n *Node) runtime.StoredShape {
	s := runtime.StoredShape{Kind: runtime.ShapeNode, Name: n.Key, Was: n.Was}
	for _, f := range [][2]string{{"request", n.Request}, {"interrupt", n.Interrupt}} {
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

// flowShape is what a stored frame of a flow relies on: the step it stands at, and the values of its slots. The machine knows earlier
// names of all three, so those are accepted.
func flowShape(f *Flow) runtime.StoredShape {
	s := runtime.StoredShape{Kind: runtime.ShapeFlow, Name: f.Key, Accepts: f.Was}
	for i := range f.Slots {
		slot := &f.Slots[i]
		out := runtime.StoredField{Name: SlotField + slot.Key, Type: slot.Type.String(), Rules: slot.Constraints.Rules()}
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

// kindOf is the kind of shape of a record.
var kindOf = map[Role]string{
	RoleRequest: runtime.ShapeRequest, RoleInterrupt: runtime.ShapeInterrupt, RoleResult: runtime.ShapeResult,
	RoleNested: runtime.ShapeRecord,
}

func recordShape(r *Record, was []string) runtime.StoredShape {
	s := runtime.StoredShape{Kind: kindOf[r.Role], Name: r.Name, Was: append(was, r.Was...)}
	for _, f := range r.Fields {
		out := runtime.StoredField{Name: f.JSON, Type: f.Type.String(), Required: f.Required, Rules: f.Constraints.Rules()}
		for _, w := range f.Was {
			if f.JSON != w { // a field may be renamed and keep its JSON name
				out.Was = append(out.Was, w)
			}
		}
		s.Fields = append(s.Fields, out)
	}
	return s
}

// Rules writes constraints as routes.yaml does, one a rule.
func (c Constraints) Rules() []string {
	var out []string
	number := func(name string, v *float64) {
		if v != nil {
			out = append(out, name+"="+strconv.FormatFloat(*v, 'g', -1, 64))
		}
	}
	count := func(name string, v *int) {
		if v != nil {
			out = append(out, name+"="+strconv.Itoa(*v))
		}
	}
	number("min", c.Min)
	number("max", c.Max)
	count("min_length", c.MinLength)
	count("max_length", c.MaxLength)
	count("min_items", c.MinItems)
	count("max_items", c.MaxItems)
	if c.Pattern != "" {
		out = append(out, "pattern="+c.Pattern)
	}
	if c.Format != "" {
		out = append(out, "format="+c.Format)
	}
	return out
}
