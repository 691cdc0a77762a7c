package thread

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
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
	// of the thread; "" makes a new one. At most 200 bytes, without control characters
	ID      string
	Machine string
	Name    string // what the machine runs
	Input   any    // encoded as JSON
	User    string // who starts it
	// id of this request: the same one again gets the same thread, another one [ErrRequestUsed].
	// Without an ID the thread's follows from it
	Request string

	Metadata json.RawMessage // for the machine, see [Activation.Metadata]

	// Unchecked is for machines that start threads of their own: Input may be what they keep of a
	// frame, which [InputChecker] refuses from outside, and is not checked.
	Unchecked bool
}

// Start makes a thread and begins its first turn. It returns the record as committed, with the
// first step if that ends within [Config.CommitDelay]. Start returns CodeInvalid if the engine does
// not have the machine, or the machine refuses the input (see [InputChecker]). It returns
// CodeConflict if the id exists, unless the same request started that thread: same user, machine,
// name and input. Metadata may differ; the first counts.
func (e *Engine) Start(ctx context.Context, b Begin) (*Thread, error) {
	input, err := e.turnInput(b.Machine, b.Input)
	if err != nil {
		return nil, err
	}
	metadata, err := encodeValue(b.Metadata)
	if err != nil {
		return nil, runtime.Errorf(runtime.CodeInvalid, "start",
			"its Metadata is not valid JSON: %w", err)
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
	x := &command{urgent: e.cfg.CommitDelay < 0, decide: func(c *Change) error {
		switch row, err := e.FindRequest(e.ctx, c, b.Request); {
		case err != nil:
			return err
		case row != nil && isSameTurn(row, b.Machine, b.Name, input, b.User):
			// the same request again gets what it got
			return nil
		case row != nil:
			return requestUsed("start thread " + id)
		case c.Before > 0 || c.Thread.Turn > 0:
			return runtime.Errorf(runtime.CodeConflict, "start thread "+id,
				"there is a thread of that id: use another, or deliver to it")
		}
		if err := e.checkStart(&b, input); err != nil {
			return err
		}
		if metadata != nil {
			c.Add(Entry{Type: EntryMetadata, Value: metadata})
		}
		return c.Begin(b.Machine, b.Name, input, b.User, b.Request)
	}}
	if !exists { // otherwise not even the first effect of its step happens
		x.newThread = func() *Change {
			return Start(e.key(id), b.User, e.shapes.fingerprint, &e.rules, e.clock.Now())
		}
	}
	return e.perform(ctx, id, x)
}

// isSameTurn reports whether an entry is the beginning of a turn with that machine, name and input,
// by that person.
func isSameTurn(row *Entry, machine, name string, input json.RawMessage, by string) bool {
	return row.Type == EntryEntered && row.Parent == "" && row.Machine == machine &&
		row.Name == name && row.By == by &&
		SameJSON(row.Value, input)
}

// requestedID returns the id of the thread that a request makes: the same request always gets the
// same id.
func requestedID(request string) string {
	sum := sha256.Sum256([]byte(request))
	return "r" + hex.EncodeToString(sum[:16])
}

// exists reports whether there is a thread with an id that a caller chose. It returns CodeInvalid
// for an invalid id.
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
	bad := func(reason string) error {
		return runtime.Errorf(runtime.CodeInvalid, "thread id", "%s", reason)
	}
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

// turnInput encodes the input of a turn, and returns CodeInvalid if there is no such machine.
func (e *Engine) turnInput(machine string, input any) (json.RawMessage, error) {
	switch {
	case machine == "":
		return nil, runtime.Errorf(runtime.CodeInvalid, "start",
			"no machine is named: say which one runs the turn")
	case e.machines[machine] == nil:
		return nil, runtime.Errorf(runtime.CodeInvalid, "start",
			"there is no machine %q: give it to Open", machine)
	}
	return encodeValue(input)
}

// checkStart returns CodeInvalid if a thread cannot begin with the input.
func (e *Engine) checkStart(b *Begin, input json.RawMessage) error {
	if b.Unchecked {
		return nil
	}
	return e.checkInput(b.Machine, b.Name, input)
}

// checkInput returns CodeInvalid if the machine cannot begin with the input.
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

// CheckValue validates a value against a JSON Schema, as answers are. It returns CodeInvalid if the
// schema is not valid or the value does not match; in the second case the error is a
// [runtime.InvalidError].
func (e *Engine) CheckValue(schema, value json.RawMessage) error {
	return e.rules.Check(schema, value)
}

// Message is something a user says to a thread.
type Message struct {
	Thread string
	// on a thread that waits: the answer to the one open question that takes plain text
	Text string
	// on a thread that does not wait: the machine of the new turn, which must be named
	Machine string
	Name    string // and what it runs
	Input   any    // of the new turn; nil means Text
	By      string
	// id of this request: the same message again gets the same result, another one [ErrRequestUsed]
	Request string
}

// Deliver gives a message to a thread. A thread between turns begins a new turn; a waiting thread
// takes the text as its answer. It returns when that is durable. It returns CodeConflict if the
// thread runs or waits for something that plain text does not answer, CodeAmbiguous if several
// questions are open, CodeNotWaiting if the thread is over, and the errors of [Engine.Start] and
// [Engine.Answer].
func (e *Engine) Deliver(ctx context.Context, m Message) (*Thread, error) {
	if m.Input == nil {
		m.Input = m.Text
	}
	input, err := encodeValue(m.Input)
	if err != nil {
		return nil, err
	}
	return e.perform(ctx, m.Thread,
		&command{urgent: e.cfg.CommitDelay < 0, decide: func(c *Change) error {
			if row, err := e.FindRequest(e.ctx, c, m.Request); err != nil {
				return err
			} else if row != nil {
				return e.repeatedMessage(c, row, &m, input)
			}
			switch status := c.Thread.Status(); {
			case status == StatusIdle:
				if _, err := e.turnInput(m.Machine, nil); err != nil {
					return err
				}
				if err := e.checkInput(m.Machine, m.Name, input); err != nil {
					return err
				}
				return c.Begin(m.Machine, m.Name, input, m.By, m.Request)
			case !c.Thread.Rests(): // it runs, or waits for the next try of a step
				return runtime.Errorf(runtime.CodeConflict, "deliver to thread "+m.Thread,
					"it is working on the last message: wait until it rests")
			case status == StatusWaiting:
				return e.plainAnswer(c, &m)
			default:
				return runtime.Errorf(runtime.CodeNotWaiting, "deliver to thread "+m.Thread,
					"it is %s: start another", status)
			}
		}})
}

// repeatedMessage returns the outcome of a message whose request id is in the log: the same as the
// first time, or CodeConflict if the id belongs to another request.
func (e *Engine) repeatedMessage(c *Change, row *Entry, m *Message, input json.RawMessage) error {
	op := "deliver to thread " + m.Thread
	a := Answer{Text: m.Text, By: m.By}
	switch row.Type {
	case EntryReasked:
		return a.Unclear(row)
	case EntryEntered:
		if isSameTurn(row, m.Machine, m.Name, input, m.By) {
			return nil
		}
	case EntryAnswered, EntryVoted:
		i, err := e.findInterrupt(c, row.Interrupt)
		if err != nil || i == nil {
			return err
		}
		given := *i // the entry as an answer
		given.State, given.Answer, given.AnsweredBy, given.RouteTo = InterruptAnswered,
			row.Value, row.By, row.RouteTo
		if _, err := Closed(&given, &a); err == nil {
			return nil
		}
	default: // no message led to it
	}
	return requestUsed(op)
}

// plainAnswer takes the text for the one open question that reads plain text.
func (e *Engine) plainAnswer(c *Change, m *Message) error {
	var open []string
	for _, i := range c.Thread.OpenInterrupts() {
		if i.Plain != "" {
			open = append(open, i.ID)
		}
	}
	op := "deliver to thread " + m.Thread
	switch {
	case e.cfg.PlainText == plainStrict || len(open) == 0:
		return runtime.Errorf(runtime.CodeConflict, op, "%w",
			&PendingError{Open: openIDs(c.Thread)})
	case len(open) > 1:
		return runtime.Errorf(runtime.CodeAmbiguous, op, "%w", &AmbiguousError{Open: open})
	}
	_, err := c.Answer(Answer{Interrupt: open[0], Text: m.Text, By: m.By,
		Request: m.Request})
	return err
}

// PendingError is the data of CodeConflict for a message to a thread that waits for an answer which
// the message is not.
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

func openIDs(t *Thread) []string {
	var ids []string
	for _, i := range t.OpenInterrupts() {
		ids = append(ids, i.ID)
	}
	return ids
}

// Escape requests a pause of a thread and returns the acknowledgement to show: [AckRequested], or
// [AckPending] if a pause was requested before. mode is [EscapeSafe], which lets steps reach their
// next safe point, or [EscapeNow], which cancels their contexts. Escape returns once the request is
// durable. The thread is paused later, when no step runs; a user_escape interrupt is open then.
// Escape returns CodeInvalid for an unknown mode and CodeNotWaiting if no turn runs.
func (e *Engine) Escape(ctx context.Context, thread, mode, by, reason string) (ack string,
	err error) {
	var told string // written by the driver: read only after it has said that it is done
	_, err = e.perform(ctx, thread, &command{urgent: true, decide: func(c *Change) (err error) {
		told, err = c.Escape(mode, by, reason)
		return err
	}})
	if err != nil {
		return "", err
	}
	return told, nil
}

// Cancel ends a thread; in a conversation, see [Machine], it ends the turn, and the thread if no
// turn runs. When Cancel returns, the steps of this engine begin no new effects; those of another
// process stop within [Config.Poll]. An effect that began before may still complete; it is logged
// and changes nothing. Cancel returns CodeNotWaiting if the thread is over.
func (e *Engine) Cancel(ctx context.Context, thread, by, reason string) (*Thread, error) {
	return e.perform(ctx, thread, &command{urgent: true, decide: func(c *Change) error {
		return c.Cancel(by, reason)
	}})
}

// Extend moves the deadline of an open interrupt, by the rules of [Change.Extend].
func (e *Engine) Extend(ctx context.Context, interrupt string, until time.Time, by string) (
	*Interrupt, error) {
	return e.changeInterrupt(ctx, interrupt, func(c *Change) error {
		return c.Extend(interrupt, until, by)
	})
}

// Claim marks an open interrupt as claimed by a person, or releases it, by the rules of
// [Change.Claim].
func (e *Engine) Claim(ctx context.Context, interrupt, by string, release bool) (*Interrupt,
	error) {
	return e.changeInterrupt(ctx, interrupt, func(c *Change) error {
		return c.Claim(interrupt, by, release)
	})
}

// changeInterrupt changes an open interrupt that is known by its id.
func (e *Engine) changeInterrupt(ctx context.Context, interrupt string,
	decide func(c *Change) error) (
	*Interrupt, error) {
	i, err := e.Interrupt(ctx, interrupt)
	if err != nil {
		return nil, err
	}
	t, err := e.perform(ctx, i.Thread, &command{urgent: true, decide: encodable(decide)})
	if err != nil {
		return nil, err
	}
	if now := t.Interrupt(interrupt); now != nil {
		return now, nil
	}
	return e.Interrupt(ctx, interrupt)
}

// Change commits what decide makes of a thread. It is for machines and their packages; what users
// do to threads has methods of its own. decide may run several times, each time on the latest
// record; it must only change c, and its error is returned. After CodeUnknown it may still be
// running: what it writes elsewhere must not be read then. Change returns CodeInvalid if the store
// cannot hold what was added, for example invalid JSON.
func (e *Engine) Change(ctx context.Context, thread string, decide func(c *Change) error) (
	*Thread, error) {
	return e.perform(ctx, thread,
		&command{urgent: e.cfg.CommitDelay < 0, decide: encodable(decide)})
}

// encodable wraps decide so that it refuses entries that cannot be encoded.
func encodable(decide func(c *Change) error) func(c *Change) error {
	return func(c *Change) error {
		before := len(c.Entries)
		if err := decide(c); err != nil {
			return err
		}
		return checkEncodable(c.Entries[before:])
	}
}
