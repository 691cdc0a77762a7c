package thread

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/routegen/routegen/runtime"
)

// What a delivered text does on a thread that waits.
const (
	plainAnswers = "answer" // it answers the one open question that takes plain text
	plainStrict  = "strict" // it is refused: an answer names what it answers
)

// Begin says what a new thread does first.
type Begin struct {
	ID      string // of the thread; "" makes a new one. At most 200 bytes, without control characters
	Machine string
	Name    string // what the machine shall run
	Input   any    // encoded as JSON
	User    string // who starts it
	Request string // id of this request: the same one again gets the same thread, another one [ErrRequestUsed]. Without an ID the thread's follows from it

	Metadata json.RawMessage // for the machine, see [Activation.Metadata]
}

// Start makes a thread and begins its first turn. It returns when that is durable, with the record as committed: a first step that is quick is
// in the same commit. A machine that the engine does not have, and an input that its machine
// refuses, see [InputChecker], are refused with CodeInvalid; an id that exists with CodeConflict,
// unless it was started by the same request: by that user, with that machine, name and input.
// Metadata may differ, the first counts.
func (e *Engine) Start(ctx context.Context, b Begin) (*runtime.Thread, error) {
	input, err := e.opening(b.Machine, b.Input)
	if err != nil {
		return nil, err
	}
	metadata, err := encode(b.Metadata)
	if err != nil {
		return nil, refuse(runtime.CodeInvalid, "start", fmt.Errorf("its Metadata is no JSON: %w", err))
	}
	id, exists := b.ID, false
	if id == "" && b.Request != "" {
		id = requestedID(b.Request)
	}
	if id == "" {
		id = e.cfg.NewID()
	} else if exists, err = e.exists(ctx, id); err != nil {
		return nil, err
	}
	x := &deed{now: e.cfg.Eager < 0, decide: func(c *runtime.Change) error {
		switch row, err := e.request(c, b.Request); {
		case err != nil:
			return err
		case row != nil && begins(row, b.Machine, b.Name, input, b.User): // the same request again gets what it got
			return nil
		case row != nil:
			return requestUsed("start thread " + id)
		case c.Before > 0 || c.Thread.Turn > 0:
			return refuse(runtime.CodeConflict, "start thread "+id, errors.New("there is a thread of that id: use another, or deliver to it"))
		}
		if err := e.checkInput(b.Machine, b.Name, input); err != nil {
			return err
		}
		if metadata != nil {
			c.Add(runtime.Entry{Type: runtime.EntryMetadata, Value: metadata})
		}
		return c.Begin(b.Machine, b.Name, input, b.User, b.Request)
	}}
	if !exists { // or else not even the first effect of its step happens
		x.begin = func() *runtime.Change {
			return runtime.Start(id, b.User, e.shapes.fingerprint(), &e.rules, e.clock.Now())
		}
	}
	return e.do(ctx, id, x)
}

// begins reports whether an entry of the log is the beginning of a turn that runs that, on that input and by that person.
func begins(row *runtime.Entry, machine, name string, input json.RawMessage, by string) bool {
	return row.Type == runtime.EntryEntered && row.Parent == "" && row.Machine == machine && row.Name == name && row.By == by &&
		runtime.SameJSON(row.Value, input)
}

// requestedID is the id of the thread that a request makes: the same request finds it, whoever looks.
func requestedID(request string) string {
	sum := sha256.Sum256([]byte(request))
	return "r" + hex.EncodeToString(sum[:16])
}

// exists reports whether there is a thread of an id that a caller chose, and refuses an id that is none.
func (e *Engine) exists(ctx context.Context, id string) (bool, error) {
	if err := checkID(id); err != nil {
		return false, err
	}
	_, err := e.store.Load(ctx, id)
	if runtime.CodeOf(err) == runtime.CodeNotFound {
		return false, nil
	}
	return err == nil, err
}

func checkID(id string) error {
	const most = 200
	bad := func(reason string) error { return refuse(runtime.CodeInvalid, "thread id", errors.New(reason)) }
	if id == "" || len(id) > most {
		return bad(fmt.Sprintf("it has %d bytes: use 1 to %d", len(id), most))
	}
	for _, r := range id {
		if r < ' ' || r == 0x7f || r == 0xfffd || r == '/' {
			return bad(fmt.Sprintf("it holds %q: use letters, digits and signs, no slash", r))
		}
	}
	return nil
}

// opening is the input of a turn, which some machine must run.
func (e *Engine) opening(machine string, input any) (json.RawMessage, error) {
	switch {
	case machine == "":
		return nil, refuse(runtime.CodeInvalid, "start", errors.New("no machine is named: say which one runs the turn"))
	case e.machines[machine] == nil:
		return nil, refuse(runtime.CodeInvalid, "start", fmt.Errorf("there is no machine %q: give it to Open", machine))
	}
	return encode(input)
}

// checkInput refuses an input that its machine cannot begin with.
func (e *Engine) checkInput(machine, name string, input json.RawMessage) error {
	m, checks := e.machines[machine].(InputChecker)
	if !checks {
		return nil
	}
	if input == nil {
		input = json.RawMessage("null")
	}
	return m.CheckInput(name, input)
}

// CheckValue holds a value to a JSON Schema, as answers are held to theirs: what does not fit, and
// a schema that is none, are refused with CodeInvalid, the former with a [runtime.InvalidError].
func (e *Engine) CheckValue(schema, value json.RawMessage) error {
	return e.rules.Check(schema, value)
}

// Message is something a user says to a thread.
type Message struct {
	Thread  string
	Text    string // on a thread that waits: the answer to the one open question that takes plain text
	Machine string // on a thread that does not wait: the machine of the new turn, which must be named
	Name    string // and what that shall run
	Input   any    // of the new turn; nil means Text
	By      string
	Request string // id of this request: the same message again gets the same result, another one [ErrRequestUsed]
}

// Deliver gives a message to a thread: a thread between turns begins a new one, a waiting one takes the text as its answer. It returns when
// that is durable. Refused are: with CodeConflict a thread that runs, or waits for something that plain text does not answer, with
// CodeAmbiguous several open questions, with CodeNotWaiting a thread that is over; and what [Engine.Start] and [Engine.Answer] refuse.
func (e *Engine) Deliver(ctx context.Context, m Message) (*runtime.Thread, error) {
	if m.Input == nil {
		m.Input = m.Text
	}
	input, err := encode(m.Input)
	if err != nil {
		return nil, err
	}
	return e.do(ctx, m.Thread, &deed{now: e.cfg.Eager < 0, decide: func(c *runtime.Change) error {
		if row, err := e.request(c, m.Request); err != nil {
			return err
		} else if row != nil {
			return e.delivered(c, row, &m, input)
		}
		switch status := c.Thread.Status(); {
		case status == runtime.StatusIdle:
			if _, err := e.opening(m.Machine, nil); err != nil {
				return err
			}
			if err := e.checkInput(m.Machine, m.Name, input); err != nil {
				return err
			}
			return c.Begin(m.Machine, m.Name, input, m.By, m.Request)
		case !c.Thread.Rests(): // it runs, or waits for the next try of a step
			return refuse(runtime.CodeConflict, "deliver to thread "+m.Thread, errors.New("it is working on the last message: wait"))
		case status == runtime.StatusWaiting:
			return e.plainAnswer(c, &m)
		default:
			return refuse(runtime.CodeNotWaiting, "deliver to thread "+m.Thread, fmt.Errorf("it is %s: start another", status))
		}
	}})
}

// delivered says what a message gets whose request id is in the log: what it got then, or CodeConflict where it was not this message.
func (e *Engine) delivered(c *runtime.Change, row *runtime.Entry, m *Message, input json.RawMessage) error {
	op := "deliver to thread " + m.Thread
	a := runtime.Answer{Text: m.Text, By: m.By}
	switch row.Type {
	case runtime.EntryReasked:
		return a.Unclear(row)
	case runtime.EntryEntered:
		if begins(row, m.Machine, m.Name, input, m.By) {
			return nil
		}
	case runtime.EntryAnswered, runtime.EntryVoted:
		i, err := e.find(c, row.Interrupt)
		if err != nil || i == nil {
			return err
		}
		given := *i // what the row says, as an answer that somebody gave
		given.State, given.Answer, given.AnsweredBy, given.RouteTo = runtime.InterruptAnswered, row.Value, row.By, row.RouteTo
		if _, err := runtime.Closed(&given, &a); err == nil {
			return nil
		}
	default: // no message led to it
	}
	return requestUsed(op)
}

// plainAnswer takes the text for the one open question that reads plain text.
func (e *Engine) plainAnswer(c *runtime.Change, m *Message) error {
	var open []string
	for _, i := range c.Thread.Open {
		if i.State == runtime.InterruptOpen && i.Plain != "" {
			open = append(open, i.ID)
		}
	}
	op := "deliver to thread " + m.Thread
	switch {
	case e.cfg.PlainText == plainStrict || len(open) == 0:
		return refuse(runtime.CodeConflict, op, &PendingError{Open: openIDs(c.Thread)})
	case len(open) > 1:
		return refuse(runtime.CodeAmbiguous, op, &runtime.AmbiguousError{Open: open})
	}
	_, err := c.Answer(runtime.Answer{Interrupt: open[0], Text: m.Text, By: m.By, Request: m.Request})
	return err
}

// PendingError is the data of CodeConflict for a message to a thread that waits for an answer which the message is not.
type PendingError struct {
	Open []string // interrupts, in the order they were asked
}

// Error says that an answer is needed.
func (p *PendingError) Error() string {
	if len(p.Open) == 1 {
		return "it waits for an answer: give that first"
	}
	return fmt.Sprintf("it waits for answers to %d questions: answer by id", len(p.Open))
}

func openIDs(t *runtime.Thread) []string {
	var ids []string
	for _, i := range t.Open {
		if i.State == runtime.InterruptOpen {
			ids = append(ids, i.ID)
		}
	}
	return ids
}

// Escape asks a thread to pause, by the rules of [runtime.Change.Escape], and returns what the person is told. The pause follows when no
// step runs: the outbox says paused then, and a user_escape interrupt is open.
func (e *Engine) Escape(ctx context.Context, thread, mode, by, reason string) (ack string, err error) {
	var told string // written by the driver: read only after it has said that it is done
	_, err = e.do(ctx, thread, &deed{now: true, decide: func(c *runtime.Change) (err error) {
		told, err = c.Escape(mode, by, reason)
		return err
	}})
	if err != nil {
		return "", err
	}
	return told, nil
}

// Cancel ends a thread; in a conversation, see [Machine], it ends the turn, and the thread where no turn runs. What runs is cancelled and begins nothing any more once Cancel has returned, or in another process within [Config.Poll]
// after that; an effect that began before may end after it, which the log says and which changes nothing. One that is over is refused with
// CodeNotWaiting.
func (e *Engine) Cancel(ctx context.Context, thread, by, reason string) (*runtime.Thread, error) {
	return e.do(ctx, thread, &deed{now: true, decide: func(c *runtime.Change) error { return c.Cancel(by, reason) }})
}

// Extend moves the deadline of an open interrupt, by the rules of [runtime.Change.Extend].
func (e *Engine) Extend(ctx context.Context, interrupt string, until time.Time, by string) (*runtime.Interrupt, error) {
	return e.on(ctx, interrupt, func(c *runtime.Change) error { return c.Extend(interrupt, until, by) })
}

// Claim marks an open interrupt as taken on by a person, or with release lays it down, by the rules of [runtime.Change.Claim].
func (e *Engine) Claim(ctx context.Context, interrupt, by string, release bool) (*runtime.Interrupt, error) {
	return e.on(ctx, interrupt, func(c *runtime.Change) error { return c.Claim(interrupt, by, release) })
}

// on changes an open interrupt that is known by its id.
func (e *Engine) on(ctx context.Context, interrupt string, decide func(c *runtime.Change) error) (*runtime.Interrupt, error) {
	i, err := e.Interrupt(ctx, interrupt)
	if err != nil {
		return nil, err
	}
	t, err := e.do(ctx, i.Thread, &deed{now: true, decide: lasting(decide)})
	if err != nil {
		return nil, err
	}
	if now := t.Interrupt(interrupt); now != nil {
		return now, nil
	}
	return e.Interrupt(ctx, interrupt)
}

// Change commits what decide makes of a thread, together with whatever else is to be committed on it. It is for machines and their packages:
// what everybody may do to a thread has a method of its own. decide may run several times, each time on the latest record; it does nothing
// but change, and its refusal is returned. What no store can hold, JSON that is none for one, is refused with CodeInvalid.
func (e *Engine) Change(ctx context.Context, thread string, decide func(c *runtime.Change) error) (*runtime.Thread, error) {
	return e.do(ctx, thread, &deed{now: e.cfg.Eager < 0, decide: lasting(decide)})
}

// lasting holds what a caller adds to a change to what can be written down, and read again.
func lasting(decide func(c *runtime.Change) error) func(c *runtime.Change) error {
	return func(c *runtime.Change) error {
		before := len(c.Entries)
		if err := decide(c); err != nil {
			return err
		}
		return storable(c.Entries[before:])
	}
}
