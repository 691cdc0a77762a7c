package plan

// Talk is everything about dialogue flows; nil in a Plan without flows.
type Talk struct {
	Language   string      `json:"language"`
	Languages  []string    `json:"languages,omitempty"`
	MaxDepth   int         `json:"maxDepth"`
	NoProgress int         `json:"noProgress,omitempty"`
	NoProgThen string      `json:"noProgressThen,omitempty"`
	Welcome    string      `json:"welcome,omitempty"`
	Fallback   string      `json:"fallback,omitempty"`
	Actions    []Action    `json:"actions,omitempty"`
	Validators []Validator `json:"validators,omitempty"`
	Responses  []Response  `json:"responses,omitempty"`
	Flows      []Flow      `json:"flows"`
}

// Action is one method of Actions.
type Action struct {
	Key     string   `json:"key"`
	Was     []string `json:"was,omitempty"`
	Doc     string   `json:"doc,omitempty"`
	Method  string   `json:"method"`
	Input   string   `json:"input"`  // Go type of its input, without fields when it takes nothing
	Output  string   `json:"output"` // Go type of its output, without fields when it gives nothing
	Inputs  []Field  `json:"inputs,omitempty"`
	Outputs []Field  `json:"outputs,omitempty"`
	Once    bool     `json:"once,omitempty"`
	Timeout string   `json:"timeout,omitempty"`
	Retry   *Retry   `json:"retry,omitempty"`
	Line    int      `json:"-"`
	Column  int      `json:"-"`
}

// Validator is one method of Validators.
type Validator struct {
	Key    string   `json:"key"`
	Was    []string `json:"was,omitempty"`
	Doc    string   `json:"doc,omitempty"`
	Method string   `json:"method"`
	Type   Type     `json:"type"`
	Line   int      `json:"-"`
	Column int      `json:"-"`
}

// Response is a text that the machine says by itself.
type Response struct {
	Key  string `json:"key"`
	Text Words  `json:"text"`
}

// Flow is one flow, every name and target decided.
type Flow struct {
	Key           string     `json:"key"`
	Const         string     `json:"const"`
	DisplayName   string     `json:"displayName"`
	Doc           string     `json:"doc,omitempty"`
	Was           []string   `json:"was,omitempty"`
	Intents       []string   `json:"intents,omitempty"`
	Trigger       *Expr      `json:"trigger,omitempty"`
	Hidden        bool       `json:"hidden,omitempty"`
	Interruptible bool       `json:"interruptible"`
	Struct        string     `json:"struct"` // Go type of its slots
	Slots         []FlowSlot `json:"slots,omitempty"`
	OnError       string     `json:"onError,omitempty"` // a step, or end, cancel_flow, error; so are all targets
	Steps         []FlowStep `json:"steps"`             // flat: the body of a loop follows its while step
	Reserved      []string   `json:"reserved,omitempty"`
	Line          int        `json:"-"`
	Column        int        `json:"-"`
}

// FlowSlot is one slot: a field of the flow's struct, and what the machine knows of it.
type FlowSlot struct {
	Field

	Const  string `json:"const"`
	Input  bool   `json:"input,omitempty"`
	Output bool   `json:"output,omitempty"`
	Needed bool   `json:"needed,omitempty"` // of an input: a call must give it; of an output that is none: the flow always gives it
}

// FlowStep is one step.
type FlowStep struct {
	ID        string    `json:"id"`
	Was       []string  `json:"was,omitempty"`
	Const     string    `json:"const"`
	Kind      string    `json:"kind"`
	When      *Expr     `json:"when,omitempty"`
	Next      string    `json:"next"` // decided: never empty
	Text      Words     `json:"text,omitempty"`
	Invalid   Words     `json:"invalid,omitempty"`
	Slot      string    `json:"slot,omitempty"`
	Set       []Bind    `json:"set,omitempty"`
	Arms      []FlowArm `json:"arms,omitempty"`
	Else      string    `json:"else,omitempty"`
	Cond      *Expr     `json:"cond,omitempty"`
	Body      string    `json:"body,omitempty"` // while: its first step
	Rounds    int       `json:"rounds,omitempty"`
	Inside    string    `json:"inside,omitempty"` // the while step it belongs to
	Flow      string    `json:"flow,omitempty"`
	Action    string    `json:"action,omitempty"`
	Inputs    []Bind    `json:"inputs,omitempty"`
	Outputs   []Bind    `json:"outputs,omitempty"`
	Queue     string    `json:"queue,omitempty"`
	Force     bool      `json:"force,omitempty"`
	Attempts  int       `json:"attempts,omitempty"`
	Validator string    `json:"validator,omitempty"`
	Timeout   string    `json:"timeout,omitempty"`
	Retry     *Retry    `json:"retry,omitempty"`
	Raise     bool      `json:"raise,omitempty"`
	OnInvalid string    `json:"onInvalid,omitempty"`
	OnTimeout string    `json:"onTimeout,omitempty"`
	OnCancel  string    `json:"onCancel,omitempty"`
	OnError   string    `json:"onError,omitempty"`
	OnYes     string    `json:"onYes,omitempty"`
	OnNo      string    `json:"onNo,omitempty"`
	OnChange  string    `json:"onChange,omitempty"`
	Line      int       `json:"-"`
	Column    int       `json:"-"`
}

// FlowArm is one arm of a branch.
type FlowArm struct {
	If Expr   `json:"if"`
	To string `json:"to"`
}

// Bind gives a name a value.
type Bind struct {
	Name  string `json:"name"`
	Slot  string `json:"slot,omitempty"` // the slot that is set
	Value *Expr  `json:"value,omitempty"`
	Text  Words  `json:"text,omitempty"`
}

// Words is a text by language.
type Words []WordsIn

// WordsIn is the variations of a text in one language.
type WordsIn struct {
	Language string   `json:"language,omitempty"`
	Variants [][]Part `json:"variants"`
}

// Part is one stretch of a template: a text, a slot or a variable of the machine.
type Part struct {
	Text     string `json:"text,omitempty"`
	Slot     string `json:"slot,omitempty"`
	Var      string `json:"var,omitempty"`
	Decimals int    `json:"decimals,omitempty"` // counted from 1; 0: as it is
}

// Expr is an expression. Op is one of: value slot filled not and or == != < <= > >= in.
type Expr struct {
	Op    string `json:"op"`
	Slot  string `json:"slot,omitempty"`
	Value string `json:"value,omitempty"` // JSON text
	Args  []Expr `json:"args,omitempty"`
}

// Record is the Go struct of the slots, as a record.
func (f *Flow) Record() Record {
	r := Record{Name: f.Struct, Role: RoleNested, Reserved: f.Reserved, Fields: make([]Field, 0, len(f.Slots)), Line: f.Line, Column: f.Column}
	for i := range f.Slots {
		r.Fields = append(r.Fields, f.Slots[i].Field)
	}
	return r
}

// Slot returns the slot of that name, or nil.
func (f *Flow) Slot(key string) *FlowSlot {
	for i := range f.Slots {
		if f.Slots[i].Key == key {
			return &f.Slots[i]
		}
	}
	return nil
}

// Step returns the step of that id, or nil.
func (f *Flow) Step(id string) *FlowStep {
	for i := range f.Steps {
		if f.Steps[i].ID == id {
			return &f.Steps[i]
		}
	}
	return nil
}

// Records are the Go structs of an action, its input and its output, as records.
func (a *Action) Records() (input, output Record) {
	of := func(name string, fields []Field) Record {
		return Record{Name: name, Role: RoleNested, Fields: fields, Line: a.Line, Column: a.Column}
	}
	return of(a.Input, a.Inputs), of(a.Output, a.Outputs)
}

// Flow returns the flow of that key, or nil.
func (t *Talk) Flow(key string) *Flow {
	for i := range t.Flows {
		if t.Flows[i].Key == key {
			return &t.Flows[i]
		}
	}
	return nil
}

// Action returns the action of that key, or nil.
func (t *Talk) Action(key string) *Action {
	for i := range t.Actions {
		if t.Actions[i].Key == key {
			return &t.Actions[i]
		}
	}
	return nil
}

// Validator returns the validator of that key, or nil.
func (t *Talk) Validator(key string) *Validator {
	for i := range t.Validators {
		if t.Validators[i].Key == key {
			return &t.Validators[i]
		}
	}
	return nil
}
