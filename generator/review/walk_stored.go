package review

import (
	"github.com/routegen/routegen/generator/plan"
	"github.com/routegen/routegen/runtime"
)

// storedData adds what the rules about stored data find, each break to the change that causes it.
func (w *walker) storedData() {
	s := &storedIndex{walker: w, agents: map[string]*plan.Node{}, routes: map[string]*plan.Node{}}
	for i := range w.old.Nodes {
		n := &w.old.Nodes[i]
		s.agents[n.AgentType] = n
		if r := w.oldRoute[n.Key]; r != nil {
			s.routes[r.Field] = n
		}
	}
	s.byRouting = map[string]*plan.Routing{}
	for i := range w.old.Routings {
		s.byRouting[w.old.Routings[i].Name] = &w.old.Routings[i]
	}
	for _, b := range runtime.CompareShapes(plan.Shapes(w.old), w.shapesNow()) {
		if c, rule := s.cause(b); c != nil {
			c.tellf(rule, stored, "%s", s.meaning(b))
		}
	}
}

// shapesNow is what the new code reads, with every name that the plans show to be a rename. That turns a loss into a rename; it never
// turns a break into none.
func (w *walker) shapesNow() []runtime.StoredShape {
	out := plan.Shapes(w.now)
	for i := range out {
		s := &out[i]
		switch s.Kind {
		case runtime.ShapeRequest, runtime.ShapeInterrupt, runtime.ShapeResult:
			if o := w.records.prev[s.Name]; o != nil && o.Name != s.Name {
				s.Was = append(s.Was, o.Name)
			}
		case runtime.ShapeUnion:
			if o := w.routings.prev[s.Name]; o != nil && o.Name != s.Name {
				s.Was = append(s.Was, o.Name)
			}
		}
	}
	return out
}

type storedIndex struct {
	*walker
	agents, routes map[string]*plan.Node // old nodes, by agent type and by the field of their route
	byRouting      map[string]*plan.Routing
}

// meaning says what a break does to threads. One break in the tables is enough: no waiting thread of the old code is resumed.
func (s *storedIndex) meaning(b runtime.ShapeBreak) string {
	const breaks = "breaks stored threads: "
	switch {
	case b.Kind == runtime.ShapeFlow:
		return flowMeaning(b)
	case b.Shape == plan.ShapeRoute && b.Kind == runtime.ShapeEnum:
		return breaks + "a stored reroute or choice that names " + b.Field + " leads nowhere"
	case b.Shape == plan.ShapeKind && b.Kind == runtime.ShapeEnum && b.Cause == runtime.BreakRenamed:
		return breaks + "an open interrupt says " + b.Field + ", which is no kind (was: tells tools, not the store)"
	case b.Shape == plan.ShapeKind && b.Kind == runtime.ShapeEnum:
		return breaks + "an open interrupt of " + b.Field + " has no kind"
	case b.Shape == plan.ShapeAgentType && b.Kind == runtime.ShapeEnum:
		return breaks + "they name it " + b.Field + ", which is no alias of it"
	case b.Kind == runtime.ShapeNode && b.Cause == runtime.BreakRemoved && b.Field == "":
		return breaks + "one may wait at it or hold a message of it"
	case b.Kind == runtime.ShapeNode && b.Cause == runtime.BreakRenamed:
		return breaks + "one that waits at " + b.Shape + " finds no such node (was: tells tools, not the store)"
	case b.Kind == runtime.ShapeNode && b.Cause == runtime.BreakRemoved:
		return breaks + "one may wait there with its " + b.Field
	case b.Cause == runtime.BreakTightened:
		return breaks + "values may be outside of " + b.Reason
	case b.Cause == runtime.BreakRemoved && b.Field != "":
		return breaks + "a message that has " + b.Field + " is refused"
	case b.Cause == runtime.BreakRenamed && b.Field != "":
		return breaks + "messages say " + b.Field + ", which is not read (was: tells tools, not the decoder)"
	case b.Cause == runtime.BreakRemoved && b.NewShape == "":
		return breaks + "a stored " + b.Shape + " has no type any more"
	case b.Cause == runtime.BreakRemoved:
		return breaks + b.Reason + ": stored under its name, it is refused"
	}
	return breaks + b.Reason
}

// cause finds the change that a break belongs to, and the rule.
func (s *storedIndex) cause(b runtime.ShapeBreak) (*change, string) {
	switch b.Kind {
	case runtime.ShapeNode:
		return s.nodeBreak(b)
	case runtime.ShapeEnum:
		return s.enumBreak(b)
	case runtime.ShapeUnion:
		return s.unionBreak(b)
	case runtime.ShapeFlow:
		return s.flowBreak(b)
	case runtime.ShapeScalar:
		o := s.scalars.next[b.Shape]
		c := s.byKey["type "+o.Name] // a scalar that breaks has changed
		return c, ruleOf(b.Cause)
	default:
		return s.recordBreak(b)
	}
}

// ruleOf is the rule of a break in a field.
func ruleOf(cause string) string {
	return map[string]string{
		runtime.BreakRemoved: "FIELD_NO_DELETE", runtime.BreakRenamed: "FIELD_SAME_JSON_NAME", runtime.BreakType: "FIELD_SAME_TYPE",
		runtime.BreakCardinality: "FIELD_SAME_CARDINALITY", runtime.BreakRequired: "FIELD_SAME_REQUIRED", runtime.BreakTightened: "CONSTRAINT_NO_TIGHTEN",
	}[cause]
}

func (s *storedIndex) nodeBreak(b runtime.ShapeBreak) (*change, string) {
	o := s.old.Node(b.Shape)
	n := s.nodes.next[b.Shape]
	if rec := s.old.Record(o.Interrupt); b.Field == "interrupt" && b.Cause == runtime.BreakRemoved && rec != nil {
		return s.recordChange(rec, s.records.next[rec.Name]), "MESSAGE_NO_DELETE"
	}
	c := s.nodeChange(o, n)
	switch {
	case b.Field == "" && b.Cause == runtime.BreakRemoved:
		return c, "NODE_NO_DELETE"
	case b.Field == "":
		return c, "WIRE_VALUE_SAME"
	}
	return c, ruleOf(b.Cause)
}

func (s *storedIndex) enumBreak(b runtime.ShapeBreak) (*change, string) {
	switch b.Shape {
	case plan.ShapeAgentType:
		o := s.agents[b.Field]
		n := s.nodes.next[o.Key]
		if n == nil {
			return nil, "" // said once, by the node
		}
		return s.nodeChange(o, n), "AGENT_TYPE_SAME"
	case plan.ShapeRoute:
		o := s.routes[b.Field]
		n := s.nodes.next[o.Key]
		if n == nil {
			return nil, ""
		}
		if n.Route == "" {
			return s.routeChange(o, n), "ROUTE_NO_DELETE"
		}
		return s.routeChange(o, n), "WIRE_VALUE_SAME"
	case plan.ShapeKind:
		if n := s.kinds.next[b.Field]; n != nil {
			return s.kindChange(s.kinds.prev[n.Key], n), "WIRE_VALUE_SAME"
		}
		return s.kindChange(findKind(s.old, b.Field), nil), "KIND_NO_DELETE"
	}
	o, n := s.old.Enum(b.Shape), s.now.Enum(b.NewShape)
	was, is := value(o, b.Field), value(n, b.NewField)
	if is == nil {
		return s.valueChange(n, was, nil), "ENUM_VALUE_NO_DELETE"
	}
	return s.valueChange(n, was, is), "WIRE_VALUE_SAME"
}

func findKind(p *plan.Plan, key string) *plan.InterruptKind {
	for i := range p.Interrupt.Kinds {
		if p.Interrupt.Kinds[i].Key == key {
			return &p.Interrupt.Kinds[i]
		}
	}
	return nil
}

func value(e *plan.Enum, wire string) *plan.EnumValue {
	for i := range e.Values {
		if e.Values[i].Wire == wire {
			return &e.Values[i]
		}
	}
	return nil
}

func (s *storedIndex) unionBreak(b runtime.ShapeBreak) (*change, string) {
	o := s.byRouting[b.Shape]
	if o.Node == "" {
		was := s.routes[b.Field]
		n := s.nodes.next[was.Key]
		if b.Cause == runtime.BreakType && n != nil {
			return s.routeChange(was, n), "FIELD_SAME_TYPE"
		}
		return nil, "" // names of routes are compared as such
	}
	n := s.routings.next[b.Shape]
	was := branchOf(o, b.Field)
	if n == nil {
		return nil, ""
	}
	both := follow(o.Branches, n.Branches, func(b *plan.Branch) string { return b.Key }, branchWas)
	is := both.next[was.Key]
	if is == nil {
		return s.branchChange(n, was, nil), "BRANCH_NO_DELETE"
	}
	return s.branchChange(n, was, is), ruleOf(b.Cause)
}

func branchOf(r *plan.Routing, json string) *plan.Branch {
	for i := range r.Branches {
		if r.Branches[i].JSON == json {
			return &r.Branches[i]
		}
	}
	return nil
}

func (s *storedIndex) recordBreak(b runtime.ShapeBreak) (*change, string) {
	o := s.old.Record(b.Shape)
	n := s.records.next[b.Shape]
	if b.Field == "" && b.NewField == "" {
		if b.Cause == runtime.BreakRenamed {
			return s.recordChange(o, n), "WIRE_VALUE_SAME"
		}
		if gone := s.old.Node(o.Node); gone != nil && s.nodes.next[gone.Key] == nil {
			return nil, "" // said once, by the node
		}
		return s.recordChange(o, n), "MESSAGE_NO_DELETE"
	}
	if n == nil {
		return nil, ""
	}
	was, is := fieldOf(o, b.Field), fieldOf(n, b.NewField)
	if was != nil { // what the spec says became of it, where the JSON names alone do not tell
		both := follow(o.Fields, n.Fields, func(f *plan.Field) string { return f.Key }, fieldWas)
		is = both.next[was.Key]
	} else if is != nil {
		both := follow(o.Fields, n.Fields, func(f *plan.Field) string { return f.Key }, fieldWas)
		was = both.prev[is.Key]
	}
	rule := ruleOf(b.Cause)
	if b.Cause == runtime.BreakRemoved && is != nil {
		rule = "FIELD_SAME_JSON_NAME"
	}
	return s.fieldChange(n, was, is), rule
}

func fieldOf(r *plan.Record, json string) *plan.Field {
	for i := range r.Fields {
		if json != "" && r.Fields[i].JSON == json {
			return &r.Fields[i]
		}
	}
	return nil
}
