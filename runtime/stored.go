package runtime

import (
	"encoding/json"
	"reflect"
)

// The kinds of shapes. Requests, interrupt requests, results, nodes and flows are named in stored
// data; the names of the others never leave the code.
const (
	ShapeRequest   = "request"
	ShapeInterrupt = "interrupt"
	ShapeResult    = "result"
	ShapeRecord    = "record" // part of the three above
	ShapeUnion     = "union"  // a routing; its fields are branches
	ShapeEnum      = "enum"   // its fields are the values
	ShapeScalar    = "scalar" // a named scalar: one field without a name
	ShapeNode      = "node"   // its fields name the messages that wait at it
	ShapeFlow      = "flow"   // its fields are "slot NAME", and "step ID" of type "step KIND"
)

// StoredShape is what stored threads rely on of one thing of a spec. A table of them can be stored
// as JSON beside the threads.
type StoredShape struct {
	Kind    string        `json:"kind"`
	Name    string        `json:"name"`
	Was     []string      `json:"was,omitempty"`     // earlier names: they say what became of what
	Accepts []string      `json:"accepts,omitempty"` // other names that are read as this one
	Fields  []StoredField `json:"fields"`
}

// StoredField is one field, branch, enum value or part of a node.
type StoredField struct {
	Name    string   `json:"name"` // on the wire
	Was     []string `json:"was,omitempty"`
	Accepts []string `json:"accepts,omitempty"`
	// string, bool, int, float, time, duration, json, []T, map[string]T or the name of a shape
	Type     string   `json:"type,omitempty"`
	Required bool     `json:"required,omitempty"`
	Rules    []string `json:"rules,omitempty"` // as routes.yaml writes them: max_length=80
	// JSON text: what a stored value gets that lacks a required field; "" means it is refused
	Default string `json:"default,omitempty"`
	// earlier patterns of which the spec says that the present one takes each of their values
	AcceptsOld []string `json:"acceptsOld,omitempty"`
}

// Migrate turns a stored value, which the program cannot read, into one that it can. It gets the
// JSON as it was stored, and returns that of the present type; an error keeps the thread as it is,
// refused with [CodeIncompatible]. It is called when a thread that another version of the program
// stored is taken up, once for each value of its type that does not decode, with earlier names and
// defaults already tried; a value that decodes is never migrated. It must only compute, may be
// called again for the same value, and by several goroutines.
type Migrate func(old json.RawMessage) (now json.RawMessage, err error)

// The shapes that no spec declares: sets of names that stand in stored data.
const (
	ShapeAgentType = "AgentType"
	ShapeRoute     = "Route"
	ShapeKind      = "InterruptKind"
)

// StoredShapes returns what threads stored by a program rely on: its nodes and types, then its
// flows, then its routings and the names that stand in stored data. types are the enums and scalars
// first and then the results and other records; t is nil without a workflow.
func StoredShapes(t *Tables, types []*Shape, flows ...StoredShape) []StoredShape {
	var out []StoredShape
	add := func(shapes ...*Shape) {
		for _, s := range shapes {
			out = append(out, s.stored())
		}
	}
	values := 0
	for ; values < len(types) && types[values].isValue(); values++ {
	}
	if t == nil {
		add(types...)
		return append(out, flows...)
	}
	for i := range t.Nodes {
		out = append(out, t.storedNode(&t.Nodes[i]))
	}
	add(types[:values]...)
	for i := range t.Requests {
		add(t.Requests[i].Shape)
	}
	for i := range t.Interrupts {
		add(t.Interrupts[i].Shape)
	}
	add(types[values:]...)
	out = append(out, flows...)
	for i := range t.Routings {
		add(UnionShape(&t.Routings[i])())
	}
	return append(out, t.storedNames()...)
}

func (t *Tables) storedNode(n *Node) StoredShape {
	s := StoredShape{Kind: ShapeNode, Name: n.Key, Was: n.Was}
	results := ""
	if n.Dispatch != nil {
		results = n.Dispatch.Results
	}
	for _, f := range []StoredField{{Name: "request", Type: Row(t.Requests, n.Request).Name},
		{Name: "interrupt", Type: Row(t.Interrupts, n.Interrupt).Name},
		{Name: "results", Type: results}} {
		if f.Type != "" {
			s.Fields = append(s.Fields, f)
		}
	}
	return s
}

// storedNames returns the agent types, routes and kinds.
func (t *Tables) storedNames() []StoredShape {
	agents := StoredShape{Kind: ShapeEnum, Name: ShapeAgentType}
	for i := range t.Nodes {
		agents.Fields = append(agents.Fields,
			StoredField{Name: t.Nodes[i].AgentType, Accepts: t.Nodes[i].Aliases})
	}
	routes := StoredShape{Kind: ShapeEnum, Name: ShapeRoute}
	for i := range t.Routes {
		routes.Fields = append(routes.Fields,
			StoredField{Name: t.Routes[i].Field, Was: t.Routes[i].Was})
	}
	kinds := StoredShape{Kind: ShapeEnum, Name: ShapeKind}
	for i := range t.Kinds {
		kinds.Fields = append(kinds.Fields,
			StoredField{Name: t.Kinds[i].Name, Was: t.Kinds[i].Was})
	}
	return []StoredShape{agents, routes, kinds}
}

// isValue reports whether the shape is not that of a struct.
func (s *Shape) isValue() bool { return s.Kind == ShapeEnum || s.Kind == ShapeScalar }

// stored returns what stored data relies on of a type.
func (s *Shape) stored() StoredShape {
	out := StoredShape{Kind: s.Kind, Name: s.Name, Was: s.Was}
	for i := range s.Fields {
		f := &s.Fields[i]
		part := StoredField{Name: f.Name, Was: f.Was, Type: f.Type, Required: f.Required,
			Rules: f.Rule.Texts(), Default: f.OldDefault, AcceptsOld: f.AcceptsOld}
		if !s.isValue() {
			if goField, ok := s.goField(reflect.TypeOf(s.Of).Elem(), i); ok {
				part.Type = typeName(goField.Type)
			}
		}
		out.Fields = append(out.Fields, part)
	}
	return out
}
