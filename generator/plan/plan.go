// Package plan decides every name, order and table of the output once, so that emitting needs no
// decision.
//
// A Plan is pure data: no pointers into the spec, no positions but for messages, ready to be
// printed as JSON. Its parts embed the rows of package runtime that the generated tables hold, and
// add what only the generator needs. Where a row refers to another by its number, the part has a
// field of the same name that holds the name in its place: a node key or a final Go name. Rows
// inside a collector, a dispatch or a flow have the numbers themselves.
package plan

import (
	"github.com/routegen/routegen/generator/report"
	"github.com/routegen/routegen/runtime"
)

// Plan is the whole output, decided. Its JSON form is the contract of `routegen inspect --format
// json`.
type Plan struct {
	Version int `json:"version"` // of this document: 1
	// base name of the spec, as the header of each file shows it
	Source  string `json:"source"`
	Package string `json:"package"` // Go package name
	Out     string `json:"out"`     // folder relative to the spec, slash-separated
	Docs    string `json:"docs"`    // folder of ROUTES.md, relative to the spec
	// folder of the prompt templates, relative to the spec
	Prompts string   `json:"prompts,omitempty"`
	Enums   []Enum   `json:"enums"`   // in the order of the spec
	Scalars []Scalar `json:"scalars"` // named scalars
	// requests, interrupts, results and nested records, grouped by role, spec order within
	Records []Record `json:"records"`
	Nodes   []Node   `json:"nodes"`  // in the order of the spec
	Routes  []Route  `json:"routes"` // in the order of the nodes
	// the interrupt routing first, then in the order of the nodes
	Routings  []Routing  `json:"routings"`
	Interrupt Interrupts `json:"interrupts"`
	Convo     Convo      `json:"conversation"`
	Talk      *Talk      `json:"dialogue,omitempty"` // nil without flows
	// names of nodes, types and enums that must not come back
	Reserved []string `json:"reserved,omitempty"`
	// files of the positions; nil: the spec is one file
	Places report.Places `json:"-"`

	byRecord map[string]*Record
	byNode   map[string]*Node
	byEnum   map[string]*Enum
	byScalar map[string]*Scalar
}

// Enum is a closed set of strings and its Go names.
type Enum struct {
	Name     string      `json:"name"` // Go type name, and the name in the spec
	Doc      string      `json:"doc,omitempty"`
	Was      []string    `json:"was,omitempty"`
	Reserved []string    `json:"reserved,omitempty"` // values that must not come back
	Values   []EnumValue `json:"values"`
	Used     bool        `json:"used"`
	Pos      report.Pos  `json:"-"` // in the spec, for messages
}

// EnumValue is one value: Wire on the wire, Const in Go.
type EnumValue struct {
	Wire       string     `json:"wire"`
	Const      string     `json:"const"`
	Doc        string     `json:"doc,omitempty"`
	Hidden     bool       `json:"hidden,omitempty"`
	Was        []string   `json:"was,omitempty"`
	Deprecated string     `json:"deprecated,omitempty"`
	Pos        report.Pos `json:"-"` // in the spec, for messages
}

// Scalar is a named scalar: `type ArtifactKey string`.
type Scalar struct {
	Name        string      `json:"name"`
	Doc         string      `json:"doc,omitempty"`
	Type        Type        `json:"type"`
	Constraints Constraints `json:"constraints"`
	AcceptsOld  []string    `json:"acceptsOld,omitempty"` // earlier patterns
	Was         []string    `json:"was,omitempty"`
	Pos         report.Pos  `json:"-"` // in the spec, for messages
}

// Role says what a record is for.
type Role string

// The roles of records, in the order they are emitted.
const (
	RoleRequest   Role = "request"   // activates or resumes a node
	RoleInterrupt Role = "interrupt" // asks for a decision
	RoleResult    Role = "result"    // ends a frame
	RoleNested    Role = "record"    // part of another
)

// Record is one Go struct and one schema definition.
type Record struct {
	Name        string     `json:"name"` // Go type name and name of the definition
	Role        Role       `json:"role"`
	Doc         string     `json:"doc,omitempty"`
	DisplayName string     `json:"displayName,omitempty"`
	Node        string     `json:"node,omitempty"` // requests and interrupts: the node it belongs to
	GoType      string     `json:"goType,omitempty"`
	Was         []string   `json:"was,omitempty"`
	Reserved    []string   `json:"reserved,omitempty"`
	Fields      []Field    `json:"fields"`
	Refs        []string   `json:"refs"`   // records that its visible fields name directly, sorted
	Schema      bool       `json:"schema"` // reached by some schema that a model sees
	Pos         report.Pos `json:"-"`      // in the spec, for messages
}

// Field is one member of a record.
type Field struct {
	Key      string `json:"key"`
	JSON     string `json:"json"`
	Go       string `json:"go"`
	Doc      string `json:"doc,omitempty"`
	Type     Type   `json:"type"`
	Hidden   bool   `json:"hidden,omitempty"`
	Required bool   `json:"required,omitempty"`
	// the Go field is a pointer: an optional record, or presence: explicit
	Pointer     bool        `json:"pointer,omitempty"`
	Common      bool        `json:"common,omitempty"`     // carried by every interrupt request
	Default     *string     `json:"default,omitempty"`    // JSON text
	DefaultOld  string      `json:"defaultOld,omitempty"` // JSON text
	AcceptsOld  []string    `json:"acceptsOld,omitempty"` // earlier patterns
	Examples    []string    `json:"examples,omitempty"`
	Constraints Constraints `json:"constraints"`
	Was         []string    `json:"was,omitempty"`
	Deprecated  string      `json:"deprecated,omitempty"`
	Pos         report.Pos  `json:"-"` // in the spec, for messages
}

// Constraints narrow a value. Nil means: no such bound.
type Constraints = runtime.Rule

// TypeKind is the form of a type.
type TypeKind string

// The forms of types. EnumOf, ScalarOf and RecordOf carry a name; ListOf and MapOf an element.
const (
	String   TypeKind = "string"
	Bool     TypeKind = "bool"
	Int      TypeKind = "int"      // int64
	Float    TypeKind = "float"    // float64
	Time     TypeKind = "time"     // time.Time, RFC 3339
	Duration TypeKind = "duration" // runtime.Duration, "1h30m"
	JSON     TypeKind = "json"     // json.RawMessage
	EnumOf   TypeKind = "enum"
	ScalarOf TypeKind = "scalar" // a named scalar
	RecordOf TypeKind = "record"
	ListOf   TypeKind = "list"
	MapOf    TypeKind = "map" // keys are strings
)

// Type is a resolved type.
type Type struct {
	Kind TypeKind `json:"kind"`
	Name string   `json:"name,omitempty"`
	Elem *Type    `json:"elem,omitempty"`
}

// Leaf returns the type that lists and maps are finally made of.
func (t Type) Leaf() Type {
	for t.Elem != nil {
		t = *t.Elem
	}
	return t
}

// String writes the type as routes.yaml does, names in their final form.
func (t Type) String() string {
	switch t.Kind {
	case ListOf:
		return "[]" + t.Elem.String()
	case MapOf:
		return "map[string]" + t.Elem.String()
	case EnumOf, ScalarOf, RecordOf:
		return t.Name
	default:
		return string(t.Kind)
	}
}

// Branch is one field of a routing. Name is the JSON name, Type the record it carries.
type Branch struct {
	runtime.BranchRow

	Key  string     `json:"key"`
	Go   string     `json:"go"`
	Node string     `json:"node,omitempty"` // where it goes; empty for interrupts and results
	Doc  string     `json:"doc,omitempty"`
	Was  []string   `json:"was,omitempty"`
	Pos  report.Pos `json:"-"` // in the spec, for messages
}

// Routing is a struct of nullable branches, exactly one set.
type Routing struct {
	runtime.RoutingRow

	Node     string   `json:"node,omitempty"` // empty for the interrupt routing
	Doc      string   `json:"doc,omitempty"`
	Branches []Branch `json:"branches"`
}

// Node is one place of work, every name decided.
type Node struct {
	runtime.Node

	Const      string `json:"const"` // in NodeName
	AgentConst string `json:"agentConst"`
	Doc        string `json:"doc,omitempty"`
	// in Handlers; empty where no request reaches the node
	Method      string `json:"method,omitempty"`
	AdaptMethod string `json:"adaptMethod,omitempty"` // in Handlers, for adapt
	Request     string `json:"request,omitempty"`
	Adapt       string `json:"adapt,omitempty"`
	Interrupt   string `json:"interrupt,omitempty"`
	Routing     string `json:"routing,omitempty"`
	Route       string `json:"route,omitempty"` // Go constant of its own route, if it has one
	Escalates   string `json:"escalates,omitempty"`
	// Go constant of the route its interrupts go back to: its own, or that of the node it escalates
	// to
	Origin     string     `json:"origin,omitempty"`
	Decides    string     `json:"decides,omitempty"` // enum of a collector's decision
	Prompt     *Prompt    `json:"-"`                 // nil for a node without a prompt
	Was        []string   `json:"was,omitempty"`
	Reserved   []string   `json:"reserved,omitempty"` // names of branches that must not come back
	Deprecated string     `json:"deprecated,omitempty"`
	Pos        report.Pos `json:"-"` // in the spec, for messages
}

// Prompt is what stands beside the names of a node's prompt.
type Prompt struct {
	Text string // of the template, for a review; "" if it was not read

	Pos report.Pos // in the spec, for messages
}

// Route is one legal place to continue after an interrupt.
type Route struct {
	runtime.Route

	Const   string `json:"const"` // in Route: RouteOrchestrator
	Go      string `json:"go"`    // Go field of the branch
	Node    string `json:"node"`
	Request string `json:"request"` // record the branch carries
	Doc     string `json:"doc,omitempty"`
}

// Interrupts is what all interrupts share.
type Interrupts struct {
	Interface   string          `json:"interface"`
	DisplayName string          `json:"displayName"`
	Handler     runtime.Handler `json:"handler"`
	Routing     string          `json:"routing"`
	Answer      string          `json:"answer,omitempty"`
	// names of common fields that must not come back
	Reserved []string        `json:"reserved,omitempty"`
	Kinds    []InterruptKind `json:"kinds"`
	// names of kinds that must not come back
	ReservedKinds []string   `json:"reservedKinds,omitempty"`
	Pos           report.Pos `json:"-"` // in the spec, for messages
}

// InterruptKind is one row of the kinds table; order is priority.
type InterruptKind struct {
	runtime.Kind

	Const string     `json:"const"`
	Doc   string     `json:"doc,omitempty"`
	Was   []string   `json:"was,omitempty"`
	Pos   report.Pos `json:"-"` // in the spec, for messages
}

// Convo says how plain messages are taken.
type Convo struct {
	TurnStart string `json:"turnStart"`
	PlainText string `json:"plainText"`
}

// Record returns the record of that name, or nil.
func (p *Plan) Record(name string) *Record { return p.byRecord[name] }

// Node returns the node of that key, or nil.
func (p *Plan) Node(key string) *Node { return p.byNode[key] }

// Enum returns the enum of that name, or nil.
func (p *Plan) Enum(name string) *Enum { return p.byEnum[name] }

// Scalar returns the named scalar of that name, or nil.
func (p *Plan) Scalar(name string) *Scalar { return p.byScalar[name] }

// HasWorkflow reports whether the package has a workflow: a spec of flows alone has none.
func (p *Plan) HasWorkflow() bool { return len(p.Nodes) > 0 || p.Talk == nil }

// Index builds the lookups. Build calls it; a plan that is put together by hand, or gets another
// list of records, nodes, enums or scalars, needs a call, too.
func (p *Plan) Index() {
	p.byRecord = indexed(p.Records, func(r *Record) string { return r.Name })
	p.byNode = indexed(p.Nodes, func(n *Node) string { return n.Key })
	p.byEnum = indexed(p.Enums, func(e *Enum) string { return e.Name })
	p.byScalar = indexed(p.Scalars, func(s *Scalar) string { return s.Name })
}

func indexed[T any](list []T, name func(*T) string) map[string]*T {
	out := make(map[string]*T, len(list))
	for i := range list {
		out[name(&list[i])] = &list[i]
	}
	return out
}
