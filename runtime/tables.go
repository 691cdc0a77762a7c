package runtime

import "time"

// Tables describes a generated package to the engine: plain rows, in the order of the spec. Indexes
// are row numbers counted from 1 and 0 means none, so that generated code can fill them with its
// constants. Read-only after start.
type Tables struct {
	Nodes      []Node
	Routes     []Route
	Requests   []RequestRow
	Interrupts []InterruptRow
	Routings   []RoutingRow // the interrupt routing first
	Kinds      []Kind       // order is priority: the first wins a clash
	Handler    Handler
	Answer     string // the type that people answer interrupts with; "" means anything
	TurnStart  string // where a new turn starts: "entry" or "last"
	PlainText  string // what plain text does on a waiting thread: "answer" or "strict"
}

// Node is one place of work.
type Node struct {
	Key         string
	AgentType   string
	DisplayName string
	Group       string
	Action      string   // its name in histories and prompts
	Aliases     []string // of the agent type, accepted on input

	Entry     bool
	Request   int // what activates it; 0: unreachable
	Adapt     int // a second request it takes, turned into the first by Program.Adapt
	Routing   int
	Interrupt int
	Route     int // its own route
	// the route its interrupts go back to: its own, or that of the node it escalates to
	Origin    int
	Escalates int    // the node that raises its interrupts
	Result    string // type name of what ends its frame

	Dispatch *Dispatch
	Collect  *Collect

	Template   string // of its prompt; "" means none
	Guidance   string
	Vars       []string
	Unstick    []string      // branches to set instead of interrupting again
	Feedback   string        // request field a person's notes travel in
	Reuse      bool          // after an interrupt the stored request goes on, no model is asked
	LoopWarn   int           // repeats from which the loop breaker is shown
	LoopLimit  int           // repeats that are refused; 0 means no limit
	LoopExempt []string      // nodes that do not count
	Approval   []string      // tools that wait for an approval
	Timeout    time.Duration // of one visit; 0 means none
	Deadline   *Deadline     // of what it asks; nil: that of agent_question, After 0: none
	Assignees  []string      // who may answer what it asks; none: those of agent_question
	Tools      []Tool
	Was        []string // earlier keys
}

// Route is one legal place to continue after an interrupt.
type Route struct {
	Field       string // its branch of the interrupt routing, JSON name
	Tag         string
	AgentType   string
	DisplayName string
	Node        int
	Request     int      // what the branch carries
	Was         []string // earlier names of its branch
}

// RequestRow is one member of the sealed set of requests.
type RequestRow struct {
	Name        string // type name
	DisplayName string
	Node        int // who takes it
	Interrupt   int
	Routing     int
	Shape       *Shape
}

// InterruptRow is one interrupt request type.
type InterruptRow struct {
	Name        string // type name
	DisplayName string
	AgentType   string
	Node        int
	Origin      int // the route it goes back to; 0 when the history decides
	Shape       *Shape
}

// RoutingRow is one routing and its branches, in the order of its shape.
type RoutingRow struct {
	Name     string   // type name
	Node     int      // who answers with it; 0 for the interrupt routing
	Of       any      // a nil pointer of its Go type
	Was      []string // earlier names
	Branches []BranchRow
}

// BranchRow is one branch of a routing. In the interrupt routing row r-1 is route r.
type BranchRow struct {
	Name string // JSON name
	Type string // name of the record it carries
	Kind BranchKind
	Node int    // where it goes; 0 for interrupts and results
	When string // when to take it, where another branch carries the same record; else ""
	Was  []string
}

// BranchKind says what taking a branch does.
type BranchKind uint8

// What taking a branch does.
const (
	ToNode      BranchKind = iota + 1 // activates the node that takes the request
	ToResume                          // resumes the dispatch node that waits for these results
	ToInterrupt                       // raises the node's interrupt
	ToEnd                             // ends the frame with a result
	ToCollect                         // the collector's table says where to go
)

// Kind is one interrupt kind.
type Kind struct {
	Name       string
	Clash      string // "supersede" or "queue"
	Choices    []string
	RouteTo    bool // an answer may pick a legal target
	Deadline   *Deadline
	Retry      *Retry
	AutoAnswer string   // JSON text; "" means no answer by policy
	AutoWhen   []string // interrupt types the policy answers
	// who may answer, where the question does not say: people, and groups after [GroupPrefix]
	Assignees []string
	Was       []string // earlier names
}

// GroupPrefix stands before the name of a group among those who may answer: group:finance. What it
// does not stand before is the name of a person.
const GroupPrefix = "group:"

// Deadline says what happens to an interrupt that is not answered in time.
type Deadline struct {
	After    time.Duration `json:"after"`
	Then     string        `json:"then"`               // "expire", "default", "escalate", "reroute" or "cancel"
	Answer   string        `json:"answer,omitempty"`   // of "default", JSON text
	Assignee string        `json:"assignee,omitempty"` // of "escalate"; as in Kind.Assignees
	Target   string        `json:"target,omitempty"`   // of "reroute": an agent type
	Reminder time.Duration `json:"reminder,omitempty"` // before the deadline; 0 means none
}

// Retry says how often a failed step is run again before a person is asked.
type Retry struct {
	Attempts int
	Backoff  string        // "constant" or "exponential"
	First    time.Duration // wait before the first repeat
	Max      time.Duration // longest wait; 0 means no bound
}

// Handler is the unified interrupt handler, where every interrupt request arrives.
type Handler struct {
	Name        string
	DisplayName string
	Guidance    string
}

// Dispatch fans a request out to children and collects what they return, in the order of the list.
type Dispatch struct {
	Each    string // list field of the request, JSON name
	Results string // type name of what a branch carries to resume this node
	To      int    // the node each element goes to
}

// Collect is the decision table of a collector, total over the enum of the decision.
type Collect struct {
	Result  string // type name of the result that carries the decision
	Field   string // path of the decision in the result: JSON names joined by "."
	Default string // the decision to take where none was made; "" means none
	Arms    []Arm
	Carry   []Carry
}

// Arm sends one decision to a branch.
type Arm struct {
	Decision string
	To       string // branch, JSON name, or "end"
}

// Carry fills a field of the next request from a field of the result.
type Carry struct {
	Field string
	From  string
}

// Tool is one tool that a node's model is offered; exactly one of the three is set.
type Tool struct {
	Name       string
	TransferTo []string // nodes the model may hand over to
	MCP        string   // an MCP server, all its tools
	Once       bool     // of a name or a server: what is called must never happen twice
}

// Wait returns the pause after the n-th failed try, counted from 1.
func (r *Retry) Wait(n int) time.Duration {
	wait := r.First
	if r.Backoff == "exponential" {
		for ; n > 1 && wait < time.Hour<<10; n-- {
			wait *= 2
		}
	}
	if r.Max > 0 {
		wait = min(wait, r.Max)
	}
	return wait
}
