// Package plan decides every name, order and table of the output once, so that emitting needs no decision.
//
// A Plan is pure data: no pointers into the spec, no positions but for messages, ready to be printed as JSON. References
// between its parts are names of the spec (node keys) or final Go names (types); a reader resolves them with the lookups.
package plan

// Plan is the whole output, decided. Its JSON form is the contract of `routegen inspect --format json`.
type Plan struct {
	Version   int        `json:"version"`           // of this document: 1
	Source    string     `json:"source"`            // base name of the spec, as the header of each file shows it
	Package   string     `json:"package"`           // Go package name
	Out       string     `json:"out"`               // folder relative to the spec, slash-separated
	Docs      string     `json:"docs"`              // folder of ROUTES.md, relative to the spec
	Prompts   string     `json:"prompts,omitempty"` // folder of the prompt templates, relative to the spec
	Enums     []Enum     `json:"enums"`             // in the order of the spec
	Scalars   []Scalar   `json:"scalars"`           // named scalars
	Records   []Record   `json:"records"`           // requests, interrupts, results and nested records, grouped by role, spec order within
	Nodes     []Node     `json:"nodes"`             // in the order of the spec
	Routes    []Route    `json:"routes"`            // in the order of the nodes
	Routings  []Routing  `json:"routings"`          // the interrupt routing first, then in the order of the nodes
	Interrupt Interrupts `json:"interrupts"`
	Convo     Convo      `json:"conversation"`
	Talk      *Talk      `json:"dialogue,omitempty"` // nil without flows
	Reserved  []string   `json:"reserved,omitempty"` // names of nodes, types and enums that must not come back

	byRecord map[string]int
	byNode   map[string]int
	byEnum   map[string]int
	byScalar map[string]int
}

// Enum is a closed set of strings and its Go names.
type Enum struct {
	Name     string      `json:"name"` // Go type name, and the name in the spec
	Doc      string      `json:"doc,omitempty"`
	Was      []string    `json:"was,omitempty"`
	Reserved []string    `json:"reserved,omitempty"` // values that must not come back
	Values   []EnumValue `json:"values"`
	Used     bool        `json:"used"`
	Line     int         `json:"-"` // in the spec, for messages
	Column   int         `json:"-"`
}

// EnumValue is one value: Wire on the wire, Const in Go.
type EnumValue struct {
	Wire       string   `json:"wire"`
	Const      string   `json:"const"`
	Doc        string   `json:"doc,omitempty"`
	Hidden     bool     `json:"hidden,omitempty"`
	Was        []string `json:"was,omitempty"`
	Deprecated string   `json:"deprecated,omitempty"`
	Line       int      `json:"-"` // in the spec, for messages
	Column     int      `json:"-"`
}

// Scalar is a named scalar: `type ArtifactKey string`.
type Scalar struct {
	Name        string      `json:"name"`
	Doc         string      `json:"doc,omitempty"`
	Type        Type        `json:"type"`
	Constraints Constraints `json:"constraints"`
	Was         []string    `json:"was,omitempty"`
	Line        int         `json:"-"` // in the spec, for messages
	Column      int         `json:"-"`
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
	Name        string   `json:"name"` // Go type name and name of the definition
	Role        Role     `json:"role"`
	Doc         string   `json:"doc,omitempty"`
	DisplayName string   `json:"displayName,omitempty"`
	Node        string   `json:"node,omitempty"`  // requests and interrupts: the node it belongs to
	Const       string   `json:"const,omitempty"` // requests and interrupts: its constant in RequestName or InterruptName
	GoType      string   `json:"goType,omitempty"`
	Was         []string `json:"was,omitempty"`
	Reserved    []string `json:"reserved,omitempty"`
	Fields      []Field  `json:"fields"`
	Refs        []string `json:"refs"`   // records that its visible fields name directly, sorted
	Schema      bool     `json:"schema"` // reached by some schema that a model sees
	Line        int      `json:"-"`      // in the spec, for messages
	Column      int      `json:"-"`
}

// Field is one member of a record.
type Field struct {
	Key         string      `json:"key"`
	JSON        string      `json:"json"`
	Go          string      `json:"go"`
	Doc         string      `json:"doc,omitempty"`
	Type        Type        `json:"type"`
	Hidden      bool        `json:"hidden,omitempty"`
	Required    bool        `json:"required,omitempty"`
	Pointer     bool        `json:"pointer,omitempty"` // the Go field is a pointer: an optional record, or presence: explicit
	Common      bool        `json:"common,omitempty"`  // carried by every interrupt request
	Default     *string     `json:"default,omitempty"` // JSON text
	Examples    []string    `json:"examples,omitempty"`
	Constraints Constraints `json:"constraints"`
	Was         []string    `json:"was,omitempty"`
	Deprecated  string      `json:"deprecated,omitempty"`
	Line        int         `json:"-"` // in the spec, for messages
	Column      int         `json:"-"`
}

// Constraints narrow a value. Nil means: no such bound.
type Constraints struct {
	Min       *float64 `json:"min,omitempty"`
	Max       *float64 `json:"max,omitempty"`
	MinLength *int     `json:"minLength,omitempty"`
	MaxLength *int     `json:"maxLength,omitempty"`
	MinItems  *int     `json:"minItems,omitempty"`
	MaxItems  *int     `json:"maxItems,omitempty"`
	Pattern   string   `json:"pattern,omitempty"`
	Format    string   `json:"format,omitempty"`
}

// IsZero reports whether nothing is bounded.
func (c Constraints) IsZero() bool { return c == Constraints{} }

// Kind is the form of a type.
type Kind string

// The forms of types. Enum, Named and Rec carry a name; ListOf and MapOf an element.
const (
	String   Kind = "string"
	Bool     Kind = "bool"
	Int      Kind = "int"      // int64
	Float    Kind = "float"    // float64
	Time     Kind = "time"     // time.Time, RFC 3339
	Duration Kind = "duration" // runtime.Duration, "1h30m"
	JSON     Kind = "json"     // json.RawMessage
	EnumOf   Kind = "enum"
	ScalarOf Kind = "scalar" // a named scalar
	RecordOf Kind = "record"
	ListOf   Kind = "list"
	MapOf    Kind = "map" // keys are strings
)

// Type is a resolved type.
type Type struct {
	Kind Kind   `json:"kind"`
	Name string `json:"name,omitempty"`
	Elem *Type  `json:"elem,omitempty"`
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

// Branch is one field of a routing.
type Branch struct {
	Key    string     `json:"key"`
	JSON   string     `json:"json"`
	Go     string     `json:"go"`
	Type   string     `json:"type"` // record name
	Kind   BranchKind `json:"kind"`
	To     string     `json:"to,omitempty"` // the node it goes to; empty for interrupts and results
	Doc    string     `json:"doc,omitempty"`
	Was    []string   `json:"was,omitempty"`
	Line   int        `json:"-"`
	Column int        `json:"-"`
}

// BranchKind says what taking a branch does.
type BranchKind string

// What taking a branch does.
const (
	ToNode      BranchKind = "node"      // activates the node that takes the request
	ToResume    BranchKind = "resume"    // resumes the dispatch node that waits for these results
	ToInterrupt BranchKind = "interrupt" // raises the node's interrupt
	ToEnd       BranchKind = "end"       // ends the frame with a result
	ToCollect   BranchKind = "collect"   // the collector's decision table says where to go
)

// Routing is a struct of nullable branches, exactly one set.
type Routing struct {
	Name     string   `json:"name"`
	Node     string   `json:"node,omitempty"` // empty for the interrupt routing
	Doc      string   `json:"doc,omitempty"`
	Branches []Branch `json:"branches"`
}

// Node is one place of work, every name decided.
type Node struct {
	Key         string    `json:"key"`
	Const       string    `json:"const"`     // in NodeName
	AgentType   string    `json:"agentType"` // on the wire
	AgentConst  string    `json:"agentConst"`
	Aliases     []string  `json:"aliases,omitempty"`
	DisplayName string    `json:"displayName"`
	Doc         string    `json:"doc,omitempty"`
	Group       string    `json:"group,omitempty"`
	Action      string    `json:"action,omitempty"`
	ActionConst string    `json:"actionConst,omitempty"`
	Method      string    `json:"method,omitempty"`      // in Handlers; empty where no request reaches the node
	AdaptMethod string    `json:"adaptMethod,omitempty"` // in Handlers, for adapt
	Entry       bool      `json:"entry,omitempty"`
	Request     string    `json:"request,omitempty"`
	Adapt       string    `json:"adapt,omitempty"`
	Interrupt   string    `json:"interrupt,omitempty"`
	Routing     string    `json:"routing,omitempty"`
	Route       string    `json:"route,omitempty"` // Go constant of its own route, if it has one
	Escalates   string    `json:"escalates,omitempty"`
	Origin      string    `json:"origin,omitempty"` // Go constant of the route its interrupts go back to: its own, or that of the node it escalates to
	Result      string    `json:"result,omitempty"`
	Dispatch    *Dispatch `json:"dispatch,omitempty"`
	Collect     *Collect  `json:"collect,omitempty"`
	Prompt      *Prompt   `json:"prompt,omitempty"`
	Unstick     []string  `json:"unstick,omitempty"` // branch keys of its routing
	Feedback    string    `json:"feedback,omitempty"`
	Resolve     string    `json:"resolve"` // model or reuse
	Loop        Loop      `json:"loop"`
	Tools       []Tool    `json:"tools,omitempty"`
	Approval    []string  `json:"approval,omitempty"`
	Timeout     string    `json:"timeout,omitempty"`
	Was         []string  `json:"was,omitempty"`
	Reserved    []string  `json:"reserved,omitempty"` // names of branches that must not come back
	Deprecated  string    `json:"deprecated,omitempty"`
	Line        int       `json:"-"`
	Column      int       `json:"-"`
}

// Dispatch fans out and collects.
type Dispatch struct {
	Each    string `json:"each"` // field key of the request
	To      string `json:"to"`
	Results string `json:"results"`
}

// Collect is a collector's decision table, in the order of the enum.
type Collect struct {
	Result  string  `json:"result"`
	Field   string  `json:"field"` // path of the decision inside the result: JSON names joined by "."
	Enum    string  `json:"enum"`
	Arms    []Arm   `json:"arms"`
	Carry   []Carry `json:"carry,omitempty"`
	Default string  `json:"default,omitempty"`
}

// Arm sends one decision to a branch key, or to "end".
type Arm struct {
	Decision string `json:"decision"`
	To       string `json:"to"`
}

// Carry fills a field of the next request.
type Carry struct {
	Field string `json:"field"`
	From  string `json:"from"`
}

// Prompt names a node's template and its inputs.
type Prompt struct {
	Template string   `json:"template"`
	Vars     []string `json:"vars,omitempty"`
	Guidance string   `json:"guidance,omitempty"`
	Text     string   `json:"-"` // of the template, for a review; "" where nobody has read it
	Line     int      `json:"-"` // in the spec, for messages
	Column   int      `json:"-"`
}

// Loop bounds repeats. Limit 0 means: no refusal.
type Loop struct {
	Warn   int      `json:"warn"`
	Limit  int      `json:"limit,omitempty"`
	Exempt []string `json:"exempt,omitempty"`
}

// Tool is one offered tool; exactly one of the three is set.
type Tool struct {
	Name       string   `json:"name,omitempty"`
	TransferTo []string `json:"transferTo,omitempty"`
	MCP        string   `json:"mcp,omitempty"`
	Once       bool     `json:"once,omitempty"`
}

// Route is one legal place to continue after an interrupt.
type Route struct {
	Const   string `json:"const"` // in Route: RouteOrchestrator
	Field   string `json:"field"` // JSON name of the branch in the interrupt routing
	Go      string `json:"go"`    // Go field of the branch
	Tag     string `json:"tag"`
	Node    string `json:"node"`
	Request string `json:"request"` // record the branch carries
	Doc     string `json:"doc,omitempty"`
}

// Interrupts is what all interrupts share.
type Interrupts struct {
	Interface     string          `json:"interface"`
	DisplayName   string          `json:"displayName"`
	Handler       Handler         `json:"handler"`
	Routing       string          `json:"routing"`
	Answer        string          `json:"answer,omitempty"`
	Reserved      []string        `json:"reserved,omitempty"` // names of common fields that must not come back
	Kinds         []InterruptKind `json:"kinds"`
	ReservedKinds []string        `json:"reservedKinds,omitempty"` // names of kinds that must not come back
	Line          int             `json:"-"`
	Column        int             `json:"-"`
}

// Handler is the unified interrupt handler.
type Handler struct {
	Name        string `json:"name"`
	DisplayName string `json:"displayName"`
	Guidance    string `json:"guidance,omitempty"`
}

// InterruptKind is one row of the kinds table; order is priority.
type InterruptKind struct {
	Key      string    `json:"key"`
	Const    string    `json:"const"`
	Doc      string    `json:"doc,omitempty"`
	Was      []string  `json:"was,omitempty"`
	Clash    string    `json:"clash"`
	Deadline *Deadline `json:"deadline,omitempty"`
	Retry    *Retry    `json:"retry,omitempty"`
	Choices  []string  `json:"choices,omitempty"`
	RouteTo  bool      `json:"routeTo,omitempty"`
	Auto     *Auto     `json:"auto,omitempty"`
	Line     int       `json:"-"` // in the spec, for messages
	Column   int       `json:"-"`
}

// Deadline of an interrupt of a kind. Durations are Go durations.
type Deadline struct {
	After    string `json:"after"`
	Then     string `json:"then"`
	Answer   string `json:"answer,omitempty"`
	Assignee string `json:"assignee,omitempty"`
	Target   string `json:"target,omitempty"` // an agent type
	Reminder string `json:"reminder,omitempty"`
}

// Retry of a failed step.
type Retry struct {
	Attempts int    `json:"attempts"`
	Backoff  string `json:"backoff"`
	First    string `json:"first"`
	Max      string `json:"max,omitempty"`
}

// Auto answers by policy.
type Auto struct {
	Answer string   `json:"answer"` // JSON text
	When   []string `json:"when,omitempty"`
}

// Convo says how plain messages are taken.
type Convo struct {
	TurnStart string `json:"turnStart"`
	PlainText string `json:"plainText"`
}

// Record returns the record of that name, or nil.
func (p *Plan) Record(name string) *Record {
	if i, ok := p.byRecord[name]; ok {
		return &p.Records[i]
	}
	return nil
}

// Node returns the node of that key, or nil.
func (p *Plan) Node(key string) *Node {
	if i, ok := p.byNode[key]; ok {
		return &p.Nodes[i]
	}
	return nil
}

// Enum returns the enum of that name, or nil.
func (p *Plan) Enum(name string) *Enum {
	if i, ok := p.byEnum[name]; ok {
		return &p.Enums[i]
	}
	return nil
}

// Scalar returns the named scalar of that name, or nil.
func (p *Plan) Scalar(name string) *Scalar {
	if i, ok := p.byScalar[name]; ok {
		return &p.Scalars[i]
	}
	return nil
}

// HasWorkflow reports whether the package has a workflow: a spec of flows alone has none.
func (p *Plan) HasWorkflow() bool { return len(p.Nodes) > 0 || p.Talk == nil }

// Index builds the lookups; Build calls it, and so does whoever reads a Plan from JSON.
func (p *Plan) Index() {
	p.byRecord, p.byNode, p.byEnum, p.byScalar = map[string]int{}, map[string]int{}, map[string]int{}, map[string]int{}
	for i := range p.Records {
		p.byRecord[p.Records[i].Name] = i
	}
	for i := range p.Nodes {
		p.byNode[p.Nodes[i].Key] = i
	}
	for i := range p.Enums {
		p.byEnum[p.Enums[i].Name] = i
	}
	for i := range p.Scalars {
		p.byScalar[p.Scalars[i].Name] = i
	}
}
