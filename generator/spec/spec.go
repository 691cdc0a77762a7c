package spec

import "github.com/routegen/routegen/generator/report"

// Text is a string of the spec with its place. The zero Text means: not given.
type Text struct {
	Value string
	At    report.Span
}

// Set reports whether the key was given.
func (t Text) Set() bool { return !t.At.Start.IsZero() }

// Spec is one routes.yaml, decoded but not yet decided upon: names that can be derived may be empty
// here. Slices keep the order of the file, and of the files that it includes behind it.
type Spec struct {
	Name         string        // the file's name as findings show it, slash-separated
	Places       report.Places // of positions; nil: all are in that file
	Version      int
	Include      []Text // paths, those of the main file
	Go           Go
	Enums        []*Enum
	Types        []*Type // records and named scalars
	Results      []*Type // records that end a frame
	Interrupts   *Interrupts
	Nodes        []*Node
	Conversation Conversation
	Talk         *Talk
	Actions      []*Action
	Validators   []*Validator
	Responses    []*Response
	Flows        []*Flow
	Reserved     []Text // names of nodes, types and enums that must not come back
	Allows       []*Allow

	At report.Span
}

// Go says which package is generated and where.
type Go struct {
	Package Text // Go package name
	Out     Text // folder relative to the spec file, slash-separated
	Docs    Text // folder of ROUTES.md; by default docs/ beside the package's folder
	Prompts Text // folder of the prompt templates, which are held against the vars of their nodes
}

// Enum is a closed set of strings.
type Enum struct {
	Key      Text // CamelCase
	Doc      Text
	GoName   Text
	Was      []Text
	Reserved []Text // removed values
	Values   []*EnumValue
}

// EnumValue is one legal string of an enum.
type EnumValue struct {
	Key        Text // the wire value
	Doc        Text
	GoName     Text
	Hidden     bool // legal in Go and on the wire, never offered to a model
	Was        []Text
	Deprecated Text
}

// Type is a record, or a named scalar when Scalar is set.
type Type struct {
	Key         Text
	Doc         Text
	DisplayName Text
	GoName      Text
	GoType      Text // an existing Go type: module/pkg.Type
	Was         []Text
	Reserved    []Text // removed field names
	Fields      []*Field
	Scalar      *TypeExpr // named scalar: `type: string`
	Constraints
}

// Field is one member of a record, request, interrupt or result.
type Field struct {
	Key        Text
	Doc        Text
	Type       *TypeExpr // nil when the type did not parse
	Hidden     bool
	Optional   bool
	Explicit   bool // presence: explicit
	Default    *Scalar
	DefaultOld *Scalar
	JSON       Text
	GoName     Text
	Was        []Text
	Deprecated Text
	Constraints
}

// Scalar is a literal of the spec: what was written, and the YAML kind it was read as.
type Scalar struct {
	Value string
	Kind  string // "string", "int", "float", "bool", "null"
	At    report.Span
}

// Constraints narrow the values of a field. A nil pointer means: not given.
type Constraints struct {
	Min, Max             *Number
	MinLength, MaxLength *Number
	MinItems, MaxItems   *Number
	Pattern              Text
	AcceptsOld           []Text // earlier patterns
	Format               Text
	Examples             []Scalar
}

// Number is a numeric literal with its place.
type Number struct {
	Value float64
	At    report.Span

	written string // its text; Value may be the nearest one only
}

// String returns the number as it is written in the spec.
func (n *Number) String() string { return n.written }

// Kind is the form of a type expression.
type Kind string

// The forms a type expression can take.
const (
	String   Kind = "string"
	Bool     Kind = "bool"
	Int      Kind = "int"
	Float    Kind = "float"
	Time     Kind = "time"
	Duration Kind = "duration"
	JSON     Kind = "json"
	Named    Kind = "named" // an enum, a type, a result or a request
	List     Kind = "list"
	Map      Kind = "map"
)

// TypeExpr is a parsed type: `string`, `[]T`, `map[string]T` or a name.
type TypeExpr struct {
	Kind Kind
	Name string    // of Named
	Elem *TypeExpr // of List and Map
	At   report.Span
}

// Interrupts describes what all interrupt requests share, and the handler that takes them.
type Interrupts struct {
	Interface   Text // name of the sealed interface
	DisplayName Text
	Handler     Handler
	Routing     Text // name of the union of all routes
	Answer      Text // the record a person's answer carries
	Fields      []*Field
	Reserved    []Text // removed names of these fields
	Kinds       []*InterruptKind
	At          report.Span

	ReservedKinds []Text // removed names of kinds
}

// Handler is the one place every interrupt request comes to.
type Handler struct {
	Name        Text
	DisplayName Text
	Guidance    Text
}

// InterruptKind says where an interrupt comes from and what happens to it. Order is priority: the
// first wins a clash.
type InterruptKind struct {
	Key      Text
	Doc      Text
	Was      []Text
	Clash    Text // supersede or queue
	Deadline *Deadline
	Retry    *Retry
	Choices  []Text
	RouteTo  bool
	// people, and groups after their prefix; nil where the key is not there
	Assignees []Text
	Auto      *Auto
}

// Deadline of the interrupts of a kind, or of what a node asks. Then is expire, default, escalate,
// reroute or cancel.
type Deadline struct {
	None     bool
	After    Text // a Go duration
	Then     Text
	Answer   Text // JSON text of the default answer
	Assignee Text
	Target   Text
	Reminder Text // a Go duration before the deadline
}

// Retry of a failed step before a person is asked.
type Retry struct {
	Attempts Number
	Backoff  Text // constant or exponential
	First    Text // a Go duration
	Max      Text // a Go duration
}

// Auto answers an interrupt at once, by policy.
type Auto struct {
	Answer Text // JSON text
	When   []Text
}

// Node is one place of work.
type Node struct {
	Key         Text
	Doc         Text
	Group       Text
	AgentType   Text
	Aliases     []Text
	DisplayName Text
	GoName      Text
	Was         []Text
	Entry       bool
	Only        Text // "interrupt" or empty
	Request     *Request
	Interrupt   *NodeInterrupt
	Routing     Text // name of the routing type
	Branches    []*Branch
	Reserved    []Text // removed names of branches
	Route       *Route
	Escalates   Text
	Dispatch    *Dispatch
	Result      Text
	Collect     *Collect
	Adapt       Text // adapt.from
	Prompt      *Prompt
	Unstick     []Text
	Feedback    Text
	Resolve     Text // model or reuse
	Loop        *Loop
	Tools       []Tool
	Approval    []Text
	Timeout     Text // a Go duration
	Deadline    *Deadline
	Assignees   []Text // as those of a kind
	Action      Text
	Deprecated  Text
}

// Request is the message that activates a node.
type Request struct {
	Name        Text
	Doc         Text
	DisplayName Text
	GoType      Text
	Fields      []*Field
	Reserved    []Text
	At          report.Span
}

// NodeInterrupt is what a node adds to the common fields of an interrupt request.
type NodeInterrupt struct {
	Name        Text
	Doc         Text
	DisplayName Text
	Fields      []*Field
	Reserved    []Text
	At          report.Span
}

// Branch is one field of a routing. Type is a name, or "interrupt" for the node's own interrupt
// request.
type Branch struct {
	Key    Text
	Type   Text
	Doc    Text
	JSON   Text
	GoName Text
	Was    []Text
}

// Route overrides how a node can be returned to after an interrupt. None: it cannot.
type Route struct {
	None    bool
	Field   Text
	Tag     Text
	Returns Text // the type a routing carries, if not the node's request
	Doc     Text
	At      report.Span
}

// Dispatch fans a request out to children and collects what they return.
type Dispatch struct {
	Each    Text // the request's list field
	To      Text // the node each element goes to
	Results Text // the type a branch names to resume this node
	At      report.Span
}

// Collect is the decision table of a collector.
type Collect struct {
	Result  Text // the result type that carries the decision
	On      []Arm
	Carry   []Carry
	Default Text
	At      report.Span
}

// Arm sends one decision to a branch, or to `end`.
type Arm struct{ Decision, To Text }

// Carry fills a field of the next request from a field of the result.
type Carry struct{ Field, From Text }

// Prompt names the template of a node and what it is given.
type Prompt struct {
	Template Text
	Vars     []Text
	Guidance Text
	At       report.Span
}

// Loop bounds how often a node may be visited or interrupted in a row.
type Loop struct {
	Warn, Limit *Number
	Exempt      []Text
	At          report.Span
}

// Tool is one tool a node's model is offered: a name, a hand-over to other nodes, or an MCP server.
type Tool struct {
	Name       Text
	TransferTo []Text
	MCP        Text
	Once       bool // not of a hand-over
}

// Conversation says how plain messages are taken.
type Conversation struct {
	TurnStart Text // entry or last
	PlainText Text // answer or strict
}

// Allow suppresses a lint rule: `# routegen:allow RULE reason`, on the line it is about or the
// line above.
type Allow struct {
	Rule, Reason string
	File         string // as findings show it
	At           report.Span
	Line         int  // the line it covers besides its own
	Used         bool // set by Suppress
}
