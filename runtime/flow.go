package runtime

import (
	"context"
	"encoding/json"
	"time"
)

// Dialogue is the flows of a generated package as the dialogue machine knows them: their tables,
// and one flat switch each for what tables cannot do. Every field is set by generated code and none
// changes later; the functions are safe for concurrent use when what a program wrote is.
type Dialogue struct {
	Tables *FlowTables
	Kinds  []Kind        // of interrupts; order is priority
	Shapes []StoredShape // what its stored threads rely on
	// Migrate is that of [Program]; FLOW.SLOT names the values of a slot.
	Migrate map[string]Migrate

	// Act runs the action of a row of FlowTables.Actions. key is the same for every run that counts
	// as the same effect. An unknown row is refused with CodeNotFound, an input that does not fit
	// with CodeInvalid; other errors are those of the action. By ctx the InfoOf of package thread
	// tells whose conversation it is; so it does in Validate.
	Act func(ctx context.Context, action int, key string, input json.RawMessage) (
		output json.RawMessage, err error)
	// Validate hands a value to the validator of a row of FlowTables.Validators and returns it in
	// its normal form. An unknown row is refused with CodeNotFound; other errors say, in words for
	// the user, why the value is refused.
	Validate func(ctx context.Context, validator int, value json.RawMessage) (json.RawMessage,
		error)
}

// FlowTables is everything known of the flows of a spec: plain rows, in the order of the spec.
// Indexes are row numbers counted from 1 and 0 means none. Read-only after start.
type FlowTables struct {
	Flows      []Flow
	Actions    []FlowAction
	Validators []string // names
	Responses  []Response
	Language   string // of texts without a language, and where nothing else is known
	MaxDepth   int    // flows on one stack
	NoProgress int    // messages in a row that changed nothing; 0 means no limit
	NoProgThen string // what happens then: "handoff", "cancel" or "fallback"
	Welcome    int    // flow of a first message that starts nothing
	Fallback   int    // flow of a message that nothing was made of while no flow is active
}

// Flow is one dialogue flow.
type Flow struct {
	Name        string
	Was         []string // earlier names: a stored frame of one is a frame of this flow
	DisplayName string
	Doc         string
	Intents     []string // phrases that start it, for understanding
	// over its inputs; false means that it is not offered. nil: always offered
	Trigger       *Expr
	Hidden        bool // reached by call and link only, never offered
	Interruptible bool
	OnError       Target
	Slots         []FlowSlot
	Steps         []FlowStep // in the order of the spec; the body of a loop follows its while step
}

// FlowSlot is one value a flow keeps.
type FlowSlot struct {
	Name     string
	Was      []string // earlier names: a stored value of one is a value of this slot
	Doc      string
	Type     SlotType
	Values   []string // of an enum, in order
	Input    bool
	Output   bool
	Required bool   // of an input, or of an output
	Default  string // JSON text; "" means none
	Rule     *Rule  // nil means that every value of the type is legal
	// of a named type, beside Rule; where the slot is a list, of each of its items
	Of       *Rule
	Examples []string // JSON texts
}

// SlotType says what values a slot holds. Lists are lists of strings, numbers, booleans or enum
// values.
type SlotType struct {
	Kind SlotKind
	List bool
}

// SlotKind is the form of a slot's values.
type SlotKind uint8

// The forms of slot values. As JSON a time is an RFC 3339 string and a duration a string such as
// "1h30m".
const (
	SlotString SlotKind = iota + 1
	SlotInt
	SlotFloat
	SlotBool
	SlotTime
	SlotDuration
	SlotEnum
	SlotJSON // any JSON; it has no place in expressions
)

// FlowAction is one action a program implements.
type FlowAction struct {
	Name    string
	Doc     string
	Once    bool // it must never happen twice: an unknown end is decided by a person
	Timeout time.Duration
	Retry   *Retry
	Inputs  []FlowParam
	Outputs []FlowParam
}

// FlowParam is one input or output of an action.
type FlowParam struct {
	Name     string
	Optional bool
}

// Target says where a flow goes on: the number of a step counted from 1, or one of the constants.
type Target int

// The targets that are not steps.
const (
	NoTarget     Target = 0  // not given
	TargetEnd    Target = -1 // the flow ends as done
	TargetCancel Target = -2 // the flow ends as cancelled, with a reply
	TargetError  Target = -3 // the flow ends as failed, with a reply
)

// FlowStep is one step of a flow. Which fields count depends on Kind; Next is always given.
type FlowStep struct {
	ID  string
	Was []string // earlier ids: a stored frame that stands at one stands at this step
	// say, collect, set, branch, while, action, confirm, call, link, generate or handoff
	Kind string
	When *Expr // nil, or the step is skipped to Next unless it holds

	// say: what is said; collect, confirm: the question; generate: the instruction; handoff: what
	// the user reads
	Text    Texts
	Invalid Texts  // collect: what is said of a value that is refused, before its reason
	Slot    int    // collect, confirm, generate: what it fills
	Set     []Bind // set: in order, later ones see earlier ones
	Arms    []FlowArm
	Else    Target // branch: where no arm holds
	Cond    *Expr  // while
	Body    Target // while: its first step
	Rounds  int    // while: at most
	Inside  int    // the while step whose loop it belongs to, a row before its own; 0: none
	Flow    int    // call, link
	Action  int    // action
	// action, call, link: Name is the input; generate: its data, Name is the label
	Inputs   []Bind
	Outputs  []Bind // action, call: Name is the output, Slot the slot it goes to
	Queue    string // handoff
	Force    bool   // collect: it asks although the slot is filled
	Attempts int    // collect, confirm: answers that do not do
	Check    int    // collect: the validator

	// action: of one run; collect, confirm: how long the question may stay open; 0 means the
	// default
	Timeout time.Duration
	Retry   *Retry // action: of this step; nil means the action's own
	Raise   bool   // action: a failure asks an operator

	OnInvalid Target // collect, confirm: after the last attempt
	OnTimeout Target // collect, confirm
	OnCancel  Target // collect, confirm: the user cancels here
	OnError   Target // action, call, generate
	OnYes     Target // confirm
	OnNo      Target // confirm
	OnChange  Target // confirm: a value was corrected here
	Next      Target // after the step; of the last one in a loop it is the while step
}

// FlowArm is one arm of a branch: the first that holds is taken.
type FlowArm struct {
	If Expr
	To Target
}

// Bind gives a name a value: that of an expression, or a text.
type Bind struct {
	Name  string
	Slot  int   // the slot that is set; 0 where Name is not of a slot
	Value *Expr // nil where Text is given
	Text  Texts
}

// Texts is one thing to say, by language. Empty means: nothing.
type Texts []TextIn

// TextIn is the variations of a text in one language.
type TextIn struct {
	Language string // "" means that of the tables
	Variants []Template
}

// Template is a text with places for values.
type Template []Part

// Part is one stretch of a template: a text, the value of a slot, or a variable of the machine.
type Part struct {
	Text string
	// error, error_code: of the failure that led here; value, reason: of a refused value; others as
	// responses say
	Var      string
	Slot     int // of the flow
	Decimals int // of a number, counted from 1: 1 means none, 3 means two; 0 means as it is
}

// Response is a text that the machine says by itself.
type Response struct {
	Name string
	Text Texts
}

// ExprOp is what an expression does with its arguments.
type ExprOp uint8

// The forms of expressions. A comparison with a slot that is not filled is false; OpNe is the
// opposite of OpEq.
const (
	OpValue  ExprOp = iota + 1 // a literal
	OpSlot                     // the value of a slot
	OpFilled                   // whether a slot is filled; 0, "" and false are values
	OpNot
	OpAnd
	OpOr
	OpEq
	OpNe
	OpLt
	OpLe
	OpGt
	OpGe
	OpIn // the first argument is an element of the second, a list
)

// Expr is an expression as the generator parsed it: nothing is parsed when it is evaluated.
type Expr struct {
	Op    ExprOp
	Slot  int    // of OpSlot and OpFilled
	Value string // of OpValue: JSON text
	Args  []Expr
}

// CommandType is what a command does.
type CommandType string

// The commands that understanding makes of a message.
const (
	CommandStart    CommandType = "start_flow"
	CommandCancel   CommandType = "cancel_flow"
	CommandSet      CommandType = "set_slot"
	CommandCorrect  CommandType = "correct_slot"
	CommandClear    CommandType = "clear_slot"
	CommandAffirm   CommandType = "affirm"
	CommandDeny     CommandType = "deny"
	CommandClarify  CommandType = "clarify"
	CommandChitchat CommandType = "chitchat"
	CommandHandoff  CommandType = "handoff"
)

// Command is one thing a message asks for. It is addressed to one frame, checked against the tables
// there, and used once.
type Command struct {
	Type CommandType `json:"type"`
	Flow string      `json:"flow,omitempty"` // start_flow
	// start_flow: values that came with it
	Slots map[string]json.RawMessage `json:"slots,omitempty"`
	// set_slot, correct_slot, clear_slot; deny: what shall be changed
	Slot  string          `json:"slot,omitempty"`
	Value json.RawMessage `json:"value,omitempty"` // set_slot, correct_slot
	// clarify: the topic; chitchat: a reply; cancel_flow, handoff: why
	Text string `json:"text,omitempty"`
}
