package dialogue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"time"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/llm"
	"github.com/routegen/routegen/runtime/thread"
)

// Name is the name of the machine, which is stored with every frame of it.
const Name = "dialogue"

// Config is what a machine can be told. The zero value works; [New] copies it.
type Config struct {
	Understand Understander  // what messages mean; default: [Literal]
	Model      llm.Model     // writes the texts of generate steps; needed where a flow has one
	Timeout    time.Duration // of one understanding, one validator and one generate; default 30 seconds

	MaxMessage int // bytes of what a user says; a longer answer is refused with the response too_long; default 8,192
	MaxHistory int // bytes of what was said before that an understanding is told; default 8,192
	MaxTokens  int // of one generate, the model's thinking included; default 4,096
}

// Machine runs the flows of a generated package. It is safe for concurrent use when what a program gave it is.
type Machine struct {
	dialogue  runtime.Dialogue
	tables    *runtime.FlowTables
	cfg       Config
	flows     []flow
	byName    map[string]*flow // earlier names too
	responses map[string]runtime.Texts
	steps     map[string]stepFunc
}

// stepFunc is a kind of step: it changes what the frame knows, and says where it goes. It only decides.
type stepFunc func(w *work, st *step) move

// kinds are the kinds of steps. The loop that runs them names none.
func kinds() map[string]stepFunc {
	return map[string]stepFunc{
		"say": say, "collect": collect, "set": set, "branch": branch, "while": while, "action": action, "confirm": confirm, "call": call,
		"link": link, "generate": generate, "handoff": handoff,
	}
}

// New makes the machine of a generated package. It refuses with CodeInvalid tables that do not fit together: a row, a step or a slot that is
// none, a literal that is no JSON, a step of an unknown kind; and a generate step where there is no model.
func New(d runtime.Dialogue, cfg Config) (*Machine, error) { return build(d, cfg, kinds()) }

func build(d runtime.Dialogue, cfg Config, steps map[string]stepFunc) (*Machine, error) {
	if cfg.Understand == nil {
		cfg.Understand = Literal{}
	}
	if cfg.Timeout == 0 {
		cfg.Timeout = 30 * time.Second
	}
	for _, bound := range []struct {
		of  *int
		def int
	}{{&cfg.MaxMessage, 8192}, {&cfg.MaxHistory, 8192}, {&cfg.MaxTokens, defaultMaxTokens}} {
		if *bound.of <= 0 {
			*bound.of = bound.def
		}
	}
	m := &Machine{dialogue: d, tables: d.Tables, cfg: cfg, byName: map[string]*flow{}, responses: shipped(), steps: steps}
	if m.tables == nil {
		return nil, invalid("dialogue", "there are no tables: use what the generated NewDialogue returns")
	}
	if len(m.tables.Actions) > 0 && d.Act == nil || len(m.tables.Validators) > 0 && d.Validate == nil {
		return nil, invalid("dialogue", "there are actions or validators and nothing that runs them")
	}
	for _, r := range m.tables.Responses {
		m.responses[r.Name] = r.Text
	}
	return m, m.compile()
}

// Name returns the name of the machine.
func (m *Machine) Name() string { return Name }

// Turns reports that its threads are conversations: a turn that an operator ends, or that fails, leaves the thread idle.
func (m *Machine) Turns() bool { return true }

// Kinds are the interrupt kinds of the package.
func (m *Machine) Kinds() []runtime.Kind { return m.dialogue.Kinds }

// Shapes are what stored threads of the package rely on.
func (m *Machine) Shapes() []runtime.StoredShape { return m.dialogue.Shapes }

// Timeout is the limit of one run of a step: an action has the time of all its tries.
func (m *Machine) Timeout(frame *runtime.Frame) time.Duration {
	f := m.byName[frame.Name]
	if f == nil || f.byStep[frame.PC] == 0 {
		return 0
	}
	st := &f.steps[f.byStep[frame.PC]-1]
	if st.Action == 0 {
		return 0
	}
	retry, limit := m.trying(st)
	total := limit + time.Minute
	for n := 1; n < retry.Attempts; n++ {
		total += limit + retry.Wait(n)
	}
	return total
}

// Quick reports whether the next run only computes: it begins, it goes on after another flow, or with an answer that nobody has to understand.
// One that goes on after a thousand steps is not quick: it may have many more before it.
func (m *Machine) Quick(frame *runtime.Frame) bool {
	f, replies := m.byName[frame.Name], len(frame.Replies)
	if frame.Name == "" || f == nil || f.checks {
		return false
	}
	if replies > 0 {
		_, typed := message(frame.Replies[replies-1].Value)
		return typed
	}
	return frame.PC == "" || len(frame.Children) > 0
}

// Step runs a frame until it asks, calls, ends, has gone a thousand steps, or comes to a step with an effect of its own.
func (m *Machine) Step(ctx context.Context, a thread.Activation) (thread.Transition, error) {
	v := m.voice(&a)
	ctx = thread.WithLanguage(ctx, v.language)
	if a.Frame.Name == "" {
		return m.listen(ctx, &a, &v)
	}
	f := m.byName[a.Frame.Name]
	if f == nil {
		return thread.Transition{}, strange(&a, "there is no flow of that name")
	}
	w := &work{m: m, f: f, voice: v, check: m.checker(ctx)}
	at, err := m.take(ctx, &a, w)
	if err != nil {
		return thread.Transition{}, err
	}
	here := a.Frame.PC != "" // the frame's place is stored: what its step does has a key of its own
	for {
		mv := w.run(at)
		switch {
		case w.err != nil:
			return thread.Transition{}, w.err
		case mv.verb == stores:
			return w.spoken(&a, thread.Advance(mv.st.ID, &w.s)), nil
		case mv.verb != does:
			return w.transition(&a, &mv), nil
		case !here || mv.st.number != f.byStep[a.Frame.PC] || w.passed > 1:
			return w.spoken(&a, thread.Advance(mv.st.ID, &w.s)), nil
		}
		here = false
		at, w.passed = mv.st.number, 0
		if w.came, err = mv.do(ctx); err != nil {
			return thread.Transition{}, err
		}
	}
}

// take reads what is stored of a frame, and what came for it: an answer, the end of a child, or nothing. It returns the step to go on at.
func (m *Machine) take(ctx context.Context, a *thread.Activation, w *work) (at int, err error) {
	if a.Frame.PC == "" {
		var o opening
		if err := stored(a, a.Frame.Input, &o); err != nil {
			return 0, err
		}
		w.open(&o)
		return 1, nil
	}
	at = w.f.byStep[a.Frame.PC]
	if at == 0 {
		return 0, strange(a, "the flow has no such step")
	}
	if err := stored(a, a.Frame.Locals, &w.s); err != nil {
		return 0, err
	}
	w.f.rename(&w.s)
	st := &w.f.steps[at-1]
	switch {
	case len(a.Frame.Children) > 0:
		w.back(&a.Frame.Children[0], at)
	case len(a.Frame.Replies) > 0:
		w.counts(1, at)
		return at, m.hears(ctx, a, w, st)
	}
	return at, nil
}

// hears makes commands of the answer to the frame's question.
func (m *Machine) hears(ctx context.Context, a *thread.Activation, w *work, st *step) error {
	reply := &a.Frame.Replies[len(a.Frame.Replies)-1]
	w.s.Said = false
	if reply.By == "deadline" && string(reply.Value) == timedOut {
		w.came = came{kind: cameTimeout}
		return nil
	}
	w.came = came{kind: cameCommands}
	text, typed := message(reply.Value)
	if w.tooLong(text, reply.Value) {
		return nil
	}
	if typed || w.exact(st, reply.Value) {
		w.came.commands = []runtime.Command{st.direct(reply.Value)}
		return nil
	}
	q := m.query(ctx, a, w.language, text)
	q.Active, q.Step, q.Values, q.Confirm = w.f.Flow, st.FlowStep, maps.Clone(w.s.Slots), st.Kind == "confirm"
	q.Question = w.text(st.Text)
	if st.Slot > 0 {
		q.Expect = w.f.slots[st.Slot-1].FlowSlot
	}
	heard, err := m.understand(ctx, &q)
	w.came.commands, w.came.deaf = heard.Commands, heard.failure()
	return err
}

// transition is what the engine does for a decision.
func (w *work) transition(a *thread.Activation, mv *move) thread.Transition {
	var t thread.Transition
	switch mv.verb {
	case asks:
		q := mv.st.question(mv.text, w.language)
		if a.User != "" {
			q.Assignees = []string{a.User}
		}
		t = thread.Asks(mv.st.ID, &w.s, q)
	case calls:
		t = thread.Call(mv.st.ID, &w.s, mv.child)
	case jumps:
		t = thread.Jump(mv.child)
	case hands:
		t = thread.HandOff(mv.note)
	default: // ends: run returns no other
		t = thread.Return(&mv.end)
	}
	return w.spoken(a, t)
}

// spoken adds to a transition what is said with it.
func (v *voice) spoken(a *thread.Activation, t thread.Transition) thread.Transition {
	if len(v.said) == 0 {
		return t
	}
	frame, said := a.Frame.ID, v.said
	return t.First(func(c *runtime.Change) {
		for i := range said {
			value, _ := runtime.Encode(&said[i]) // cannot fail: strings
			c.Add(runtime.Entry{Type: runtime.EntryMessage, Frame: frame, Name: said[i].name, Value: value, Failure: said[i].failed})
		}
	})
}

// voice returns the voice of one run of a step. What it chooses of several variants is the same whenever that step runs.
func (m *Machine) voice(a *thread.Activation) voice {
	h := fnv.New32a()
	_, _ = fmt.Fprintf(h, "%s/%s/%s/%d", a.Thread, a.Frame.ID, a.Frame.PC, a.Frame.Visit) // never fails
	v := voice{m: m, seed: h.Sum32(), language: m.language(), flow: a.Frame.Name}
	var with metadata
	if len(a.Metadata) > 0 && json.Unmarshal(a.Metadata, &with) == nil && with.Language != "" {
		v.language = with.Language
	}
	return v
}

// metadata is what comes with a message beside its text.
type metadata struct {
	Language string `json:"language,omitempty"`
}

func (m *Machine) language() string {
	if m.tables.Language == "" {
		return "en"
	}
	return m.tables.Language
}

func (m *Machine) depth() int {
	if m.tables.MaxDepth == 0 {
		return 8
	}
	return m.tables.MaxDepth
}

// message reads an answer: a text, bare or as {"message": text}, is to be understood; any other value is typed.
func message(value json.RawMessage) (text string, typed bool) {
	if len(value) > 0 && value[0] != '"' && value[0] != '{' && value[0] != 'n' { // null is an empty text
		return "", true
	}
	if json.Unmarshal(value, &text) == nil {
		return text, false
	}
	var wrapped map[string]json.RawMessage
	if json.Unmarshal(value, &wrapped) == nil && len(wrapped) == 1 && json.Unmarshal(wrapped["message"], &text) == nil {
		return text, false
	}
	return "", true
}

// exact reports whether a text is exactly a value of a slot whose values are of a form of their own: nobody has to understand it.
func (w *work) exact(st *step, value json.RawMessage) bool {
	if st.Kind != "collect" || len(value) == 0 || value[0] != '"' {
		return false
	}
	s := &w.f.slots[st.Slot-1]
	switch s.Type.Kind { //nolint:exhaustive // the others are not written as texts, or every text is one of theirs
	case runtime.SlotEnum, runtime.SlotTime, runtime.SlotDuration:
		_, wrong := s.fit(value)
		return wrong == ""
	}
	return false
}

// stored reads what the machine stored.
func stored(a *thread.Activation, data json.RawMessage, v any) error {
	if len(data) == 0 {
		return nil
	}
	if err := json.Unmarshal(data, v); err != nil {
		return strange(a, err.Error())
	}
	return nil
}

// strange refuses a frame that this program cannot read: another version of it has stored it.
func strange(a *thread.Activation, reason string) error {
	return runtime.Permanent(&runtime.Error{
		Code: runtime.CodeIncompatible, Op: "run flow " + a.Frame.Name + " at " + a.Frame.PC, Err: errors.New(reason),
	})
}

func invalid(op, format string, args ...any) error {
	return runtime.Permanent(&runtime.Error{Code: runtime.CodeInvalid, Op: op, Err: fmt.Errorf(format, args...)})
}

func refuse(code runtime.Code, op, reason string) error {
	return &runtime.Error{Code: code, Op: op, Err: errors.New(reason)}
}
