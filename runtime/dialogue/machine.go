package dialogue

import (
	"cmp"
	"context"
	"encoding/json"
	"time"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/compat"
	"github.com/routegen/routegen/runtime/llm"
	"github.com/routegen/routegen/runtime/thread"
)

// Name is the name of the machine, which is stored with every frame of it.
const Name = "dialogue"

// Config configures a machine. The zero value works; [New] copies it.
type Config struct {
	Understand Understander // what messages mean; default: [Literal]
	Model      llm.Model    // writes the texts of generate steps; needed where a flow has one
	// of one understanding, one validator and one generate; default 30 seconds
	Timeout time.Duration

	// bytes of a message; a longer one is refused with the response too_long; default 8,192
	MaxMessage int
	MaxHistory int // bytes of earlier messages that an Understander gets; default 8,192
	MaxTokens  int // of one generate, the model's thinking included; default 4,096
}

// Machine runs the flows of a generated package. It is safe for concurrent use if the functions of
// the program are.
type Machine struct {
	dialogue  runtime.Dialogue
	tables    *runtime.FlowTables
	cfg       Config
	flows     []flow
	byName    map[string]*flow         // earlier names too
	responses map[string]runtime.Texts // of the spec
	english   map[string]string        // responses that the spec does not replace
	steps     map[string]stepFunc
}

// New makes the machine of a generated package. It returns CodeInvalid for a dialogue that has no
// tables, or lacks the function for its actions or validators, for a step of an unknown kind or
// with the number of a row that is not there, and for a generate step without a model. Texts and
// expressions are those of generated code and are not checked.
func New(d runtime.Dialogue, cfg Config) (*Machine, error) {
	return newMachine(d, cfg, stepKinds())
}

func newMachine(d runtime.Dialogue, cfg Config, steps map[string]stepFunc) (*Machine, error) {
	if cfg.Understand == nil {
		cfg.Understand = Literal{}
	}
	cfg.Timeout = cmp.Or(cfg.Timeout, 30*time.Second)
	cfg.MaxMessage = cmp.Or(max(cfg.MaxMessage, 0), 8192)
	cfg.MaxHistory = cmp.Or(max(cfg.MaxHistory, 0), 8192)
	cfg.MaxTokens = cmp.Or(max(cfg.MaxTokens, 0), defaultMaxTokens)
	m := &Machine{dialogue: d, tables: d.Tables, cfg: cfg, byName: map[string]*flow{},
		responses: map[string]runtime.Texts{}, english: defaultResponses(), steps: steps}
	if m.tables == nil {
		return nil, runtime.Errorf(runtime.CodeInvalid, "dialogue",
			"there are no tables: use what the generated NewDialogue returns")
	}
	if len(m.tables.Actions) > 0 && d.Act == nil || len(m.tables.Validators) > 0 &&
		d.Validate == nil {
		return nil, runtime.Errorf(runtime.CodeInvalid, "dialogue",
			"there are actions or validators and nothing that runs them")
	}
	for _, r := range m.tables.Responses {
		m.responses[r.Name] = r.Text
	}
	return m, m.indexTables()
}

// Name returns the name of the machine.
func (m *Machine) Name() string { return Name }

// Turns returns true: a turn that fails, or that an operator ends, leaves the thread idle.
func (m *Machine) Turns() bool { return true }

// Kinds returns the interrupt kinds of the package.
func (m *Machine) Kinds() []runtime.Kind { return m.dialogue.Kinds }

// Shapes returns the shapes that stored threads of the package rely on.
func (m *Machine) Shapes() []runtime.StoredShape { return m.dialogue.Shapes }

// Migrations returns the migrations of the program.
func (m *Machine) Migrations() map[string]runtime.Migrate { return m.dialogue.Migrate }

// UpgradeFrame is the function [UpgradeFrame].
func (*Machine) UpgradeFrame(r *compat.Reading, f *thread.Frame) { UpgradeFrame(r, f) }

// Timeout returns the time limit of one run of a step: for an action that of all its attempts.
func (m *Machine) Timeout(frame *thread.Frame) time.Duration {
	f := m.byName[frame.Name]
	if f == nil || f.byStep[frame.PC] == 0 {
		return 0
	}
	st := &f.steps[f.byStep[frame.PC]-1]
	if st.Action == 0 {
		return 0
	}
	retry, limit := m.retryPolicy(st)
	total := limit + time.Minute
	for n := 1; n < retry.Attempts; n++ {
		total += limit + retry.Wait(n)
	}
	return total
}

// Inline reports whether the next run only computes: it begins, or it continues after another flow
// or with an answer that needs no understanding. A run that continues after a thousand steps is not
// inline: many more may follow.
func (m *Machine) Inline(frame *thread.Frame) bool {
	f, replies := m.byName[frame.Name], len(frame.Replies)
	if frame.Name == "" || f == nil || f.hasValidator {
		return false
	}
	if replies > 0 {
		_, typed := messageText(frame.Replies[replies-1].Value)
		return typed
	}
	return frame.PC == "" || len(frame.Children) > 0
}

// Step runs a frame until it asks, calls, ends, has run a thousand steps, or reaches a step with an
// effect of its own.
func (m *Machine) Step(ctx context.Context, a thread.Activation) (thread.Transition, error) {
	v := m.newReplies(&a)
	ctx = thread.WithLanguage(ctx, v.language)
	if a.Frame.Name == "" {
		return m.runRoot(ctx, &a, &v)
	}
	f := m.byName[a.Frame.Name]
	if f == nil {
		return thread.Transition{}, incompatible(&a, "there is no flow of that name")
	}
	w := &work{m: m, f: f, s: newState(f), replies: v, check: m.newValidator(ctx)}
	at, err := m.restoreFrame(ctx, &a, w)
	if err != nil {
		return thread.Transition{}, err
	}
	here := a.Frame.PC != "" // the position is stored: the effect of the step has a key of its own
	for {
		mv := w.runSteps(at)
		w.s.said = w.hasReplied()
		switch {
		case w.err != nil:
			return thread.Transition{}, w.err
		case mv.kind == moveStore:
			return w.addReplies(&a, thread.Advance(mv.st.ID, &w.s)), nil
		case mv.kind != moveEffect:
			return w.buildTransition(&a, &mv), nil
		case !here || mv.st.number != f.byStep[a.Frame.PC] || w.passed > 1:
			return w.addReplies(&a, thread.Advance(mv.st.ID, &w.s)), nil
		}
		here = false
		at, w.passed = mv.st.number, 0
		if w.input, err = mv.do(ctx); err != nil {
			return thread.Transition{}, err
		}
	}
}

// restoreFrame decodes the state of a frame and its input: an answer, the result of a child, or
// nothing. It returns the step to continue at.
func (m *Machine) restoreFrame(ctx context.Context, a *thread.Activation, w *work) (at int,
	err error) {
	if a.Frame.PC == "" {
		var o flowInput
		if err := decodeStored(a, a.Frame.Input, &o); err != nil {
			return 0, err
		}
		w.initFrame(&o)
		return 1, nil
	}
	at = w.f.byStep[a.Frame.PC]
	if at == 0 {
		return 0, incompatible(a, "the flow has no such step")
	}
	if err := w.s.decode(a.Frame.Locals); err != nil {
		return 0, incompatible(a, err.Error())
	}
	st := &w.f.steps[at-1]
	switch {
	case len(a.Frame.Children) > 0:
		w.resumeAfterChild(&a.Frame.Children[0], at)
	case len(a.Frame.Replies) > 0:
		w.s.Questions++
		w.leaveLoops(at)
		return at, m.readReply(ctx, a, w, st)
	}
	return at, nil
}

// readReply turns the answer to the frame's question into commands.
func (m *Machine) readReply(ctx context.Context, a *thread.Activation, w *work, st *step) error {
	reply := &a.Frame.Replies[len(a.Frame.Replies)-1]
	w.s.said = false
	if reply.By == "deadline" && string(reply.Value) == timedOut {
		w.input = stepInput{kind: inputTimeout}
		return nil
	}
	w.input = stepInput{kind: inputCommands}
	text, typed := messageText(reply.Value)
	if w.rejectTooLong(text, reply.Value) {
		return nil
	}
	if typed || w.isExactValue(st, reply.Value) {
		w.input.commands = []runtime.Command{st.commandFor(reply.Value)}
		return nil
	}
	q := m.newQuery(ctx, a, w.language, text)
	q.Active, q.Step, q.Values, q.Confirm = w.f.Flow, st.FlowStep, w.s.values(),
		st.Kind == "confirm"
	q.Question = w.flowText(st.Text)
	if st.Slot > 0 {
		q.Expect = w.f.slots[st.Slot-1].FlowSlot
	}
	heard, err := m.understand(ctx, &q)
	w.input.commands, w.input.failure = heard.Commands, heard.failure()
	return err
}

// buildTransition returns the transition for a decision.
func (w *work) buildTransition(a *thread.Activation, mv *move) thread.Transition {
	var t thread.Transition
	switch mv.kind {
	case moveAsk:
		q := newQuestion(w.f, mv.st, mv.text, w.language)
		if a.User != "" {
			q.Assignees = []string{a.User}
		}
		t = thread.Asks(mv.st.ID, &w.s, q)
	case moveCall:
		t = thread.Call(mv.st.ID, &w.s, mv.child)
	case moveJump:
		t = thread.Jump(mv.child)
	case moveHandoff:
		t = thread.HandOff(mv.note)
	default: // ends: run returns no other
		t = thread.Return(&mv.end)
	}
	return w.addReplies(a, t)
}

// addReplies adds the collected messages to a transition.
func (v *replies) addReplies(a *thread.Activation, t thread.Transition) thread.Transition {
	if len(v.said) == 0 {
		return t
	}
	frame, said := a.Frame.ID, v.said
	return t.First(func(c *thread.Change) {
		for i := range said {
			value, _ := runtime.Encode(&said[i]) // cannot fail: strings
			c.Add(thread.Entry{Type: thread.EntryMessage, Frame: frame, Name: said[i].name,
				Value: value, Failure: said[i].failed})
		}
	})
}

// newReplies returns the replies of one run of a step.
func (m *Machine) newReplies(a *thread.Activation) replies {
	v := replies{m: m, at: a, language: m.defaultLanguage(), flow: a.Frame.Name}
	var with struct { // stored with a message beside its text
		Language string `json:"language"`
	}
	if len(a.Metadata) > 0 && json.Unmarshal(a.Metadata, &with) == nil && with.Language != "" {
		v.language = with.Language
	}
	return v
}

func (m *Machine) defaultLanguage() string { return cmp.Or(m.tables.Language, "en") }

func (m *Machine) maxDepth() int { return cmp.Or(m.tables.MaxDepth, 8) }

// messageText reads an answer: a text, bare or as {"message": text}, is to be understood; any other
// value is typed.
func messageText(value json.RawMessage) (text string, typed bool) {
	// null is an empty text
	if len(value) > 0 && value[0] != '"' && value[0] != '{' && value[0] != 'n' {
		return "", true
	}
	if json.Unmarshal(value, &text) == nil {
		return text, false
	}
	var wrapped map[string]json.RawMessage
	if json.Unmarshal(value, &wrapped) == nil && len(wrapped) == 1 &&
		json.Unmarshal(wrapped["message"], &text) == nil {
		return text, false
	}
	return "", true
}

// isExactValue reports whether an answer is a value of an enum, a time or a duration as it is
// stored. Such an answer needs no understanding.
func (w *work) isExactValue(st *step, value json.RawMessage) bool {
	if st.Kind != "collect" || len(value) == 0 || value[0] != '"' {
		return false
	}
	s := &w.f.slots[st.Slot-1]
	switch s.Type.Kind { //nolint:exhaustive // for the others no text is a value, or every text is
	case runtime.SlotEnum, runtime.SlotTime, runtime.SlotDuration:
		_, wrong := s.normalize(value)
		return wrong == ""
	}
	return false
}

// decodeStored decodes data that the machine stored.
func decodeStored(a *thread.Activation, data json.RawMessage, v any) error {
	if len(data) == 0 {
		return nil
	}
	if err := json.Unmarshal(data, v); err != nil {
		return incompatible(a, err.Error())
	}
	return nil
}

// incompatible returns CodeIncompatible for a frame that another version of the program stored and
// this one cannot read.
func incompatible(a *thread.Activation, reason string) error {
	return thread.Permanent(runtime.Errorf(runtime.CodeIncompatible,
		"run flow "+a.Frame.Name+" at "+a.Frame.PC, "%s", reason))
}
