package review

import (
	"slices"
	"strings"

	"github.com/routegen/routegen/generator/plan"
	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/compat"
)

// compareStoredData adds what the rules about stored data find, each break to the change that
// causes it.
func (w *comparison) compareStoredData() {
	s := &storedIndex{comparison: w, agents: map[string]*plan.Node{},
		routes: map[string]*plan.Node{}}
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
	now := plan.Shapes(w.now)
	broken := map[string]bool{} // fields that are refused
	for _, b := range compat.Compare(plan.Shapes(w.old), w.shapesNow()) {
		c, rule := s.cause(b)
		broken[b.Shape+"."+b.Field] = true
		switch {
		case c == nil:
		case compat.IsFollowed(b, now):
			name, is := nameOr(b.Field, b.Shape), nameOr(b.NewField, b.NewShape)
			c.tellf(rule, senders, "JSON sent with %s is refused; it is %s now", name, is)
			c.notef(stored, "none: a stored %s becomes %s when the new program takes its thread "+
				"up (was:); an older program beside it does not read that", name, is)
		default:
			c.tellf(rule, stored, "%s", s.meaning(b))
		}
	}
	w.records.visit(func(o, n *plan.Record) {
		if o != nil && n != nil {
			w.compareTakenFields(o, n, broken)
		}
	})
}

// compareTakenFields tells of JSON names that another field has now, which reads what is stored
// under one.
func (w *comparison) compareTakenFields(o, n *plan.Record, broken map[string]bool) {
	both := follow(o.Fields, n.Fields)
	for i := range both.now {
		is := &both.now[i]
		was := fieldOf(o, is.JSON)
		if was == nil || both.next[was.Key] == is || broken[o.Name+"."+was.JSON] {
			continue
		}
		w.fieldChange(n, both.prev[is.Key], is).tellf("FIELD_SAME_JSON_NAME", stored,
			"%s%s.%s: it was the field %s and is %s", misread, n.Name, is.JSON, was.Key, is.Key)
	}
}

// shapesNow is what the new code reads, with every name that the plans show to be a rename. That
// turns a loss into a rename; it never turns a break into none.
func (w *comparison) shapesNow() []runtime.StoredShape {
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
	*comparison
	agents, routes map[string]*plan.Node // old nodes, by agent type and by the field of their route
	byRouting      map[string]*plan.Routing
}

// refused begins what is said of threads that cannot go on.
const refused = "a thread is refused if it "

// misread begins what is said of threads that go on with another branch or field than they had.
const misread = "a thread is read as something else if it holds "

// meaning returns which threads a break refuses: each is judged by what it holds.
func (s *storedIndex) meaning(b compat.Break) string {
	holds := refused + "holds "
	switch {
	case b.Kind == runtime.ShapeFlow:
		return flowMeaning(b)
	case b.Shape == runtime.ShapeRoute && b.Kind == runtime.ShapeEnum:
		return refused + "has a stored reroute or choice of " + b.Field
	case b.Shape == runtime.ShapeKind && b.Kind == runtime.ShapeEnum:
		return refused + "has an open interrupt of the kind " + b.Field
	case b.Shape == runtime.ShapeAgentType && b.Kind == runtime.ShapeEnum:
		return refused + "names the node " + b.Field + ": it is no alias"
	case b.Kind == runtime.ShapeNode && b.Cause == compat.Renamed:
		return refused + "waits at " + b.Shape + ": was: moves the requests it keeps, not " +
			"its place"
	case b.Kind == runtime.ShapeNode && b.Field == "" && b.Cause == compat.Removed:
		return refused + "waits at " + b.Shape + " or holds a message of it"
	case b.Kind == runtime.ShapeNode && b.Cause == compat.Removed:
		return refused + "waits at " + b.Shape + " with its " + b.Field
	case b.Cause == compat.Tighter && strings.HasPrefix(b.Reason, "pattern="):
		return holds + "a value that the new pattern does not match (patterns are not compared: " +
			"any change counts)"
	case b.Cause == compat.Tighter:
		return holds + "a value outside of " + strings.Split(b.Reason, ", and ")[0]
	case b.Cause == compat.Removed && b.Field != "", b.Cause == compat.Renamed && b.Field != "":
		return holds + "a message with " + b.Shape + "." + b.Field
	case b.Cause == compat.Removed && b.NewShape == "":
		return holds + "a " + b.Shape
	case b.Cause == compat.Required:
		return holds + "a message without " + b.NewField
	}
	return holds + "a " + b.Shape + ifElse(b.Field == "", "", "."+b.Field) + ": " + b.Reason
}

// cause finds the change that a break belongs to, and the rule.
func (s *storedIndex) cause(b compat.Break) (*change, string) {
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
		compat.Removed: "FIELD_NO_DELETE", compat.Renamed: "FIELD_SAME_JSON_NAME",
		compat.Type:        "FIELD_SAME_TYPE",
		compat.Cardinality: "FIELD_SAME_CARDINALITY",
		compat.Required:    "FIELD_SAME_REQUIRED",
		compat.Tighter:     "CONSTRAINT_NO_TIGHTEN",
	}[cause]
}

func (s *storedIndex) nodeBreak(b compat.Break) (*change, string) {
	o := s.old.Node(b.Shape)
	n := s.nodes.next[b.Shape]
	if rec := s.old.Record(o.Interrupt); b.Field == "interrupt" &&
		b.Cause == compat.Removed && rec != nil {
		return s.recordChange(rec, s.records.next[rec.Name]), "MESSAGE_NO_DELETE"
	}
	c := s.nodeChange(o, n)
	switch {
	case b.Field == "" && b.Cause == compat.Removed:
		return c, "NODE_NO_DELETE"
	case b.Field == "":
		return c, "WIRE_VALUE_SAME"
	}
	return c, ruleOf(b.Cause)
}

func (s *storedIndex) enumBreak(b compat.Break) (*change, string) {
	switch b.Shape {
	case runtime.ShapeAgentType:
		o := s.agents[b.Field]
		n := s.nodes.next[o.Key]
		if n == nil {
			return nil, "" // said once, by the node
		}
		return s.nodeChange(o, n), "AGENT_TYPE_SAME"
	case runtime.ShapeRoute:
		o := s.routes[b.Field]
		n := s.nodes.next[o.Key]
		if n == nil {
			return nil, ""
		}
		if n.Route == "" {
			return s.routeChange(o, n), "ROUTE_NO_DELETE"
		}
		return s.routeChange(o, n), "WIRE_VALUE_SAME"
	case runtime.ShapeKind:
		if n := s.kinds.next[b.Field]; n != nil {
			return s.kindChange(s.kinds.prev[n.Name], n), "WIRE_VALUE_SAME"
		}
		return s.kindChange(thingNamed(s.old.Interrupt.Kinds, b.Field), nil), "KIND_NO_DELETE"
	}
	o, n := s.old.Enum(b.Shape), s.now.Enum(b.NewShape)
	was, is := thingNamed(o.Values, b.Field), thingNamed(n.Values, b.NewField)
	if is == nil {
		return s.valueChange(n, was, nil), "ENUM_VALUE_NO_DELETE"
	}
	return s.valueChange(n, was, is), "WIRE_VALUE_SAME"
}

func (s *storedIndex) unionBreak(b compat.Break) (*change, string) {
	o := s.byRouting[b.Shape]
	if o.Node == "" {
		was := s.routes[b.Field]
		n := s.nodes.next[was.Key]
		if b.Cause == compat.Type && n != nil {
			return s.routeChange(was, n), "FIELD_SAME_TYPE"
		}
		return nil, "" // names of routes are compared as such
	}
	n := s.routings.next[b.Shape]
	was := branchOf(o, b.Field)
	if n == nil {
		return nil, ""
	}
	is := follow(o.Branches, n.Branches).next[was.Key]
	if is == nil {
		return s.branchChange(n, was, nil), "BRANCH_NO_DELETE"
	}
	return s.branchChange(n, was, is), ifElse(b.Cause == compat.Removed, "FIELD_SAME_JSON_NAME",
		ruleOf(b.Cause))
}

// branchOf returns the branch of a JSON name, or nil.
func branchOf(r *plan.Routing, json string) *plan.Branch {
	return plan.Find(r.Branches, func(b *plan.Branch) bool { return b.Name == json })
}

func (s *storedIndex) recordBreak(b compat.Break) (*change, string) {
	o := s.old.Record(b.Shape)
	n := s.records.next[b.Shape]
	if b.Field == "" && b.NewField == "" {
		if b.Cause == compat.Renamed {
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
		is = follow(o.Fields, n.Fields).next[was.Key]
	} else if is != nil {
		was = follow(o.Fields, n.Fields).prev[is.Key]
	}
	rule := ruleOf(b.Cause)
	if b.Cause == compat.Removed && is != nil {
		rule = "FIELD_SAME_JSON_NAME"
	}
	return s.fieldChange(n, was, is), rule
}

// fieldOf returns the field of a JSON name, or nil.
func fieldOf(r *plan.Record, json string) *plan.Field {
	return plan.Find(r.Fields, func(f *plan.Field) bool { return json != "" && f.JSON == json })
}

// flowBreak finds the change that a break in a flow belongs to, and the rule.
func (s *storedIndex) flowBreak(b compat.Break) (*change, string) {
	o, n := s.old.Talk.Flow(b.Shape), s.flows.next[b.Shape]
	if n == nil {
		return s.flowChange(o, nil), "FLOW_NO_DELETE"
	}
	if id, isStep := strings.CutPrefix(b.Field, plan.StepField); isStep {
		was := o.Step(id)
		if is := follow(o.Steps, n.Steps).next[id]; is != nil {
			return s.stepChange(n, was, is), "STEP_SAME_KIND"
		}
		return s.stepChange(n, was, nil), "STEP_NO_DELETE"
	}
	was := o.Slot(strings.TrimPrefix(b.Field, plan.SlotField))
	is := follow(o.Slots, n.Slots).next[was.Key]
	rec := n.Record()
	if is == nil {
		return s.fieldChange(&rec, &was.Field, nil), "SLOT_NO_DELETE"
	}
	return s.fieldChange(&rec, &was.Field, &is.Field), ruleOf(b.Cause)
}

// flowMeaning says which threads a break in a flow refuses.
func flowMeaning(b compat.Break) string {
	name, isStep := strings.CutPrefix(b.Field, plan.StepField)
	slot := strings.TrimPrefix(b.Field, plan.SlotField)
	switch {
	case b.Field == "":
		return refused + "is in the middle of " + b.Shape
	case isStep && b.Cause == compat.Removed:
		return refused + "stands at " + b.Shape + "." + name
	case isStep:
		return refused + "waits at " + b.Shape + "." + name + ": " +
			strings.ReplaceAll(b.Reason, plan.StepField, "a ")
	case b.Cause == compat.Removed:
		return refused + "has " + b.Shape + "." + slot + " filled"
	}
	return refused + "has " + b.Shape + "." + slot + " filled: " + b.Reason
}

// unread is what the old program cannot read of what the new one stores.
func unread(w *comparison) []string {
	var out []string
	for _, b := range compat.Compare(plan.Shapes(w.now), plan.Shapes(w.old)) {
		if b.Field == "" && b.NewField != "" {
			continue // its field of another name is told
		}
		name := b.Shape
		if field := strings.TrimPrefix(strings.TrimPrefix(b.Field, plan.StepField),
			plan.SlotField); field != "" && b.Kind == runtime.ShapeEnum && known(b.Shape) {
			name = field
		} else if field != "" {
			name += "." + field
		}
		out = append(out, name)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// known reports whether a shape is one of the tables that every plan has.
func known(shape string) bool {
	return shape == runtime.ShapeRoute || shape == runtime.ShapeKind ||
		shape == runtime.ShapeAgentType
}
