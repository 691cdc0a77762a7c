package plan

import (
	"fmt"
	"strings"

	"github.com/routegen/routegen/generator/report"
	"github.com/routegen/routegen/generator/spec"
)

// fixed are the identifiers that every generated package declares, whatever the spec says.
var fixed = []string{
	"AgentType", "NodeName", "Route", "InterruptRouteSet", "Request",
	"InterruptKind", "InterruptCommon", "RequestVisitor", "InterruptVisitor", "VisitRequest",
	"VisitInterrupt", "EncodeRequest",
	"DecodeRequest", "EncodeInterrupt", "DecodeInterrupt", "Handlers",
	"UnimplementedHandlers", "New", "InterruptRoutingSchema", "Schemas", "AllRoutes",
	"ParseAgentType", "ParseRoute",
	"DisplayName", "StoredShapes",
}

// methods are what generated code declares on its structs: a field of the same Go name would not
// compile.
var methods = map[Role][]string{
	RoleRequest:   {"Shape", "UnmarshalJSON", "RequestNode"},
	RoleInterrupt: {"Shape", "UnmarshalJSON", "InterruptNode", "Common"},
	RoleResult:    {"Shape", "UnmarshalJSON"},
	RoleNested:    {"Shape", "UnmarshalJSON"},
}

// routingMethods are what generated code declares on a routing.
var routingMethods = []string{"Shape", "UnmarshalJSON", "Selected", "Route", "DecodeReply"}

// owner is who took a name first.
type owner struct {
	what string
	at   report.Span
}

// scope is one set of names that must differ.
type scope struct {
	file     string
	taken    map[string]owner
	findings *[]report.Finding
	rule     string
	because  string // "both become the Go name %s"
	remedy   string
}

// add takes a name, or notes who has it already. It reports whether the name was free.
func (s *scope) add(name, what string, at report.Span) bool {
	if name == "" {
		return true
	}
	first, clash := s.taken[name]
	if !clash {
		s.taken[name] = owner{what, at}
		return true
	}
	f := report.Finding{Rule: s.rule, Severity: report.Error, File: s.file, At: at, Hint: s.remedy}
	if first.at.Start.IsZero() {
		f.Message = fmt.Sprintf("%s becomes the name %s, which belongs to %s", what, name,
			first.what)
	} else {
		f.Message = fmt.Sprintf("%s and %s "+s.because, first.what, what, name)
		f.Related = []report.Related{{At: first.at, Message: first.what + " is here"}}
	}
	*s.findings = append(*s.findings, f)
	return false
}

// collider compares final names over the whole package. Names are never mended by a suffix: which
// of two gets it would depend on their order.
type collider struct {
	spec     *spec.Spec
	plan     *Plan
	findings []report.Finding
	idents   scope // Go identifiers of the package
	files    scope // file names of schemas, letter case folded
}

func collisions(sp *spec.Spec, p *Plan) []report.Finding {
	c := &collider{spec: sp, plan: p}
	c.idents = c.scope(spec.RuleNameCollision, "both become the Go name %s",
		"give one of them another name (go_name, name or routing)")
	c.files = c.scope(spec.RuleNameCaseCollision,
		"differ only in letter case, so their schema files would be one file (%s) where case is "+
			"not kept", "give one of them another name")
	for _, name := range fixed {
		c.idents.taken[name] = owner{what: "the generated package itself"}
	}
	if p.Talk != nil {
		for _, name := range talkFixed {
			c.idents.taken[name] = owner{what: "the generated package itself"}
		}
	}
	c.interruptNames()
	c.enums()
	c.types()
	c.nodes()
	c.wireNames()
	c.talk()
	return c.findings
}

func (c *collider) scope(rule, because, remedy string) scope {
	return scope{file: c.spec.Name, taken: map[string]owner{}, findings: &c.findings, rule: rule,
		because: because, remedy: remedy}
}

func (c *collider) typeName(name, what string, at report.Span) {
	if c.idents.add(name, what, at) { // else one mistake would be two findings
		c.files.add(strings.ToLower(name)+".json", what, at)
	}
}

func (c *collider) interruptNames() {
	at := report.Span{Start: report.Pos{Line: 1, Column: 1}, End: report.Pos{Line: 1, Column: 1}}
	in := c.spec.Interrupts
	place := func(t spec.Text) report.Span {
		if t.Set() {
			return t.At
		}
		if in != nil {
			return in.At
		}
		return at
	}
	var iface, routing spec.Text
	own := 0
	if in != nil {
		iface, routing = in.Interface, in.Routing
		for i, k := range in.Kinds {
			c.idents.add(c.plan.Interrupt.Kinds[i].Const, fmt.Sprintf("kind %q", k.Key.Value),
				k.Key.At)
		}
		own = len(in.Kinds)
		fields := c.fieldScope()
		json := c.jsonScope()
		for _, f := range in.Fields {
			c.field(fields, json, f)
		}
	}
	for _, k := range c.plan.Interrupt.Kinds[own:] { // the shipped kinds of a spec that names none
		c.idents.taken[k.Const] = owner{what: "the generated package itself"}
	}
	c.idents.add(c.plan.Interrupt.Interface, "the interrupt interface", place(iface))
	c.typeName(c.plan.Interrupt.Routing, "the interrupt routing", place(routing))
}

func (c *collider) enums() {
	for i, e := range c.spec.Enums {
		c.idents.add(c.plan.Enums[i].Name, fmt.Sprintf("enum %q", e.Key.Value), e.Key.At)
		for j, v := range e.Values {
			c.idents.add(c.plan.Enums[i].Values[j].Const,
				fmt.Sprintf("value %q of enum %q", v.Key.Value, e.Key.Value), v.Key.At)
		}
	}
}

func (c *collider) types() {
	for _, list := range [][]*spec.Type{c.spec.Types, c.spec.Results} {
		for _, t := range list {
			what := fmt.Sprintf("type %q", t.Key.Value)
			name := or(t.GoName, t.Key.Value)
			c.typeName(name, what, t.Key.At)
			role := RoleNested
			if r := c.plan.Record(name); r != nil {
				role = r.Role
			}
			c.members(methods[role], nil, t.Fields)
		}
	}
}

func (c *collider) nodes() {
	calls := c.scope(spec.RuleNameCollision, "both become the method %s of Handlers",
		"set go_name on one of them")
	for i, n := range c.spec.Nodes {
		what := fmt.Sprintf("node %q", n.Key.Value)
		node := &c.plan.Nodes[i]
		for _, name := range []string{node.Const, node.AgentConst, node.Route} {
			c.idents.add(name, what, n.Key.At)
		}
		calls.add(node.Method, what, n.Key.At)
		calls.add(node.AdaptMethod, what+" (adapt)", n.Key.At)
		if n.Request != nil {
			at := nameAt(n.Request.Name, n.Key.At)
			c.typeName(node.Request, "the request of "+what, at)
			c.members(methods[RoleRequest], nil, n.Request.Fields)
		}
		if node.Interrupt != "" {
			at := nameAt(n.Interrupt.Name, n.Key.At)
			c.typeName(node.Interrupt, "the interrupt of "+what, at)
			var common []*spec.Field
			if c.spec.Interrupts != nil {
				common = c.spec.Interrupts.Fields
			}
			c.members(methods[RoleInterrupt], common, n.Interrupt.Fields)
		}
		if node.Routing != "" {
			at := nameAt(n.Routing, n.Key.At)
			c.typeName(node.Routing, "the routing of "+what, at)
			c.branches(n)
		}
	}
}

func nameAt(t spec.Text, otherwise report.Span) report.Span {
	if t.Set() {
		return t.At
	}
	return otherwise
}

func (c *collider) fieldScope() *scope {
	s := c.scope(spec.RuleNameCollision, "both become the Go field %s",
		"set go_name on one of them")
	return &s
}

// jsonScope folds letter case: encoding/json, and people, take "a" for "A".
func (c *collider) jsonScope() *scope {
	s := c.scope(spec.RuleNameCollision, "have JSON names that differ at most in letter case (%s)",
		"set json on one of them")
	return &s
}

// members checks one struct. The fields in before were checked against each other already.
func (c *collider) members(reserved []string, before, fields []*spec.Field) {
	goNames, json := c.fieldScope(), c.jsonScope()
	for _, m := range reserved {
		goNames.taken[m] = owner{what: "a generated method"}
	}
	for _, f := range before {
		goNames.taken[or(f.GoName, spec.GoName(f.Key.Value))] =
			owner{fmt.Sprintf("the common field %q", f.Key.Value), f.Key.At}
		json.taken[strings.ToLower(or(f.JSON, f.Key.Value))] =
			owner{fmt.Sprintf("the common field %q", f.Key.Value), f.Key.At}
	}
	for _, f := range fields {
		c.field(goNames, json, f)
	}
}

func (c *collider) field(goNames, json *scope, f *spec.Field) {
	what := fmt.Sprintf("field %q", f.Key.Value)
	goNames.add(or(f.GoName, spec.GoName(f.Key.Value)), what, f.Key.At)
	json.add(strings.ToLower(or(f.JSON, f.Key.Value)), what, f.Key.At)
}

func (c *collider) branches(n *spec.Node) {
	goNames, json := c.fieldScope(), c.jsonScope()
	for _, m := range routingMethods {
		goNames.taken[m] = owner{what: "a generated method"}
	}
	for _, br := range n.Branches {
		what := fmt.Sprintf("branch %q", br.Key.Value)
		goNames.add(or(br.GoName, spec.GoName(br.Key.Value)), what, br.Key.At)
		json.add(strings.ToLower(or(br.JSON, br.Key.Value)), what, br.Key.At)
	}
}

// wireNames checks the names that travel: agent types with their aliases, route fields and route
// tags.
func (c *collider) wireNames() {
	agents := c.scope(spec.RuleNameCollision, "share the agent type %s",
		"set agent_type on one of them")
	fields := c.scope(spec.RuleNameCollision, "share the route field %s",
		"set route.field on one of them")
	goNames := c.scope(spec.RuleNameCollision,
		"both become the Go field %s of the interrupt routing", "set route.field on one of them")
	tags := c.scope(spec.RuleNameCollision, "share the route tag %s",
		"set route.tag on one of them")
	for _, m := range routingMethods {
		goNames.taken[m] = owner{what: "a generated method"}
	}
	byNode := map[string]*Route{}
	for i := range c.plan.Routes {
		byNode[c.plan.Routes[i].Node] = &c.plan.Routes[i]
	}
	for i, n := range c.spec.Nodes {
		what := fmt.Sprintf("node %q", n.Key.Value)
		agents.add(c.plan.Nodes[i].AgentType, what, nameAt(n.AgentType, n.Key.At))
		for _, a := range n.Aliases {
			agents.add(a.Value, fmt.Sprintf("alias %q of %s", a.Value, what), a.At)
		}
		if r := byNode[n.Key.Value]; r != nil {
			var field, tag spec.Text
			if n.Route != nil {
				field, tag = n.Route.Field, n.Route.Tag
			}
			fields.add(r.Field, what, nameAt(field, n.Key.At))
			goNames.add(r.Go, what, nameAt(field, n.Key.At))
			tags.add(r.Tag, what, nameAt(tag, n.Key.At))
		}
	}
}
