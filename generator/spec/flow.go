package spec

import "github.com/routegen/routegen/generator/report"

// Talk is the settings of all flows: the key `dialogue`.
type Talk struct {
	Language   Text   // of texts without a language; default en
	Languages  []Text // that texts may have beside it
	MaxDepth   *Number
	NoProgress *Number // messages in a row that changed nothing
	NoProgThen Text    // handoff, cancel or fallback
	Welcome    Text    // flow
	Fallback   Text    // flow
	At         report.Span
}

// Action is something a program does for a flow.
type Action struct {
	Key     Text
	Doc     Text
	GoName  Text
	Inputs  []*Field
	Outputs []*Field
	Once    bool
	Timeout Text // a Go duration
	Retry   *Retry
	Was     []Text
}

// Validator accepts or refuses a value and brings it into its normal form.
type Validator struct {
	Key    Text
	Doc    Text
	GoName Text
	Type   *TypeExpr
	Was    []Text

	Deprecated Text
}

// Response is a text that the dialogue machine says by itself.
type Response struct {
	Key  Text
	Text Words
}

// Flow is one dialogue flow.
type Flow struct {
	Key           Text
	Doc           Text
	DisplayName   Text
	GoName        Text
	Was           []Text
	Intents       []Text
	Trigger       *Expr
	Hidden        bool
	Interruptible *bool    // nil means true
	Slots         []*Field // a type is a basic one, an enum, a named scalar, or a list of these
	Inputs        []Text   // slot names; with ? at the end optional
	Outputs       []Text
	OnError       Text
	Steps         []*Step
	Reserved      []Text // removed names of steps and slots
}

// Step is one step of a flow. Which keys are legal depends on Kind.
type Step struct {
	ID        Text
	Kind      Text
	Was       []Text // earlier ids
	When      *Expr
	Next      Text
	Text      Words // message, prompt or instruction
	Invalid   Words // invalid_message
	Slot      Text
	Set       []*Bind
	Arms      []*FlowArm
	Else      Text
	Cond      *Expr
	Do        []*Step
	MaxRounds *Number
	Flow      Text
	Action    Text
	Inputs    []*Bind
	Outputs   []*Bind
	Queue     Text
	Force     bool
	Attempts  *Number
	Validator Text
	Timeout   Text
	Retry     *Retry
	Raise     bool
	OnInvalid Text
	OnTimeout Text
	OnCancel  Text
	OnError   Text
	OnYes     Text
	OnNo      Text
	OnChange  Text
	At        report.Span
	Keys      []Text // every key that was written, for the check of what its kind takes

	path string // in the document
}

// FlowArm is one arm of a branch.
type FlowArm struct {
	If   *Expr
	Then Text
	At   report.Span
}

// Bind gives a name a value: an expression, or a text. After Parse without errors exactly one of
// Value, Text and To is there: a text goes to strings only, and what is written as text for a slot
// of another type, such as a value of an enum, is in Value. In a set step it may be the literal
// null, which empties the slot.
type Bind struct {
	Name  Text
	To    Text // of outputs: the slot
	Value *Expr
	Text  Words // one template, in the default language

	short bool // written as the name of a slot or a literal
}

// Words is a text by language and variation, in the order of the file; empty means: not given.
type Words []WordsIn

// WordsIn is the variations in one language.
type WordsIn struct {
	Language Text // not set: the text was given without languages and is in the default one
	Variants []Template
}

// Template is a text with places for values, parsed.
type Template struct {
	Source Text
	Parts  []Part
}

// Part is one stretch of a template: literal text, or a name in braces.
type Part struct {
	Text     string
	Name     Text // a slot, or a variable of the machine
	Decimals int  // counted from 1; 0: not given
}

// Expr is a parsed expression. Op is one of: value slot filled not and or == != < <= > >= in list.
// The arguments of a list are literals; `x not in y` is a not of an in.
type Expr struct {
	Op    string
	Slot  Text   // of slot and filled
	Value Scalar // of value
	Args  []*Expr
	At    report.Span
}
