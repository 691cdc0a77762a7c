package workflow

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
)

// delivery is one message on its way into a thread.
type delivery struct {
	*Conversation
	m *Message

	// What deciding it found. A decision may run several times: the last one counts.
	read    bool               // the thread could be read
	after   int64              // the last entry before the message
	unsure  *runtime.Interrupt // whether the message answers it is not yet known
	beside  string             // id of the thread that takes the message in place of its own
	answers string             // id of the interrupt that the message is known to answer
	digress bool               // it is known to be a question of its own

	thread *runtime.Thread // that has the message, as last committed
	waits  *runtime.Thread // the message's own thread, when another one has it
}

// accept commits a message. The delivery is there after a refusal too.
func (c *Conversation) accept(ctx context.Context, m Message) (*delivery, error) {
	d := &delivery{Conversation: c, m: &m}
	for {
		t, err := c.Engine.Change(ctx, m.Thread, func(ch *runtime.Change) error { return d.decide(ctx, ch) })
		switch code := runtime.CodeOf(err); {
		case code == runtime.CodeUnavailable || code == runtime.CodeUnknown: // the decision may be running still: nothing of it is read
			return &delivery{Conversation: c}, err
		case code == runtime.CodeNotFound && !d.read:
			return d, d.start(ctx, m.Thread)
		case errors.Is(err, errUnsure):
			if d.digress, err = c.Digress(ctx, m, d.unsure); err != nil {
				return d, err
			}
			d.answers = d.unsure.ID
			continue
		case unclear(err): // the question is open still, and the log says why
		case err != nil:
			return d, err
		}
		if d.thread = t; d.beside != "" {
			d.waits = t
			return d, d.start(ctx, d.beside)
		}
		return d, nil
	}
}

func unclear(err error) bool {
	_, is := errors.AsType[*runtime.UnclearError](err)
	return is
}

// errUnsure ends a decision that cannot be made without asking the policy, which may take its time.
var errUnsure = errors.New("it is not known whether the message is an answer")

// start begins the first turn of a thread.
func (d *delivery) start(ctx context.Context, id string) error {
	begin, metadata, err := d.opening(nil)
	if err != nil {
		return err
	}
	begin.ID, begin.User, begin.Request, begin.Metadata = id, d.m.User, d.m.ID, metadata
	d.after = 0
	if d.thread, err = d.Engine.Start(ctx, begin); errors.Is(err, thread.ErrRequestUsed) {
		d.thread, err = d.begun(ctx, id)
	}
	return err
}

// begun is the thread that the message began when it came before: Begin may have made another request of it this time, and the first counts.
func (d *delivery) begun(ctx context.Context, id string) (*runtime.Thread, error) {
	t, err := d.Engine.Thread(ctx, id)
	if err == nil && t.User != d.m.User {
		err = refuse(runtime.CodeForbidden, "deliver to thread "+id, "it is another user's")
	}
	return t, err
}

// turnOf follows the turn that the message is in.
func (d *delivery) turnOf() *thread.Follower {
	return &thread.Follower{Thread: d.thread, After: d.after, Ends: d.another}
}

// opening is how the message starts a turn.
func (d *delivery) opening(last json.RawMessage) (begin thread.Begin, metadata json.RawMessage, err error) {
	op := "deliver to thread " + d.m.Thread
	if len(d.m.Answers) > 0 || d.m.Cancel {
		return begin, nil, refuse(runtime.CodeNotWaiting, op, "it asks nothing")
	}
	request, err := d.Begin(*d.m, last)
	if err != nil {
		return begin, nil, err
	}
	n := d.Machine.node(d.Machine.taker(request.Shape().Name))
	if !n.Entry && d.Machine.tables.TurnStart != "last" {
		return begin, nil, invalid(op, "a turn starts at the entry node, and a %s goes to %q", request.Shape().Name, n.Key)
	}
	if begin, err = Begin(request); err != nil {
		return begin, nil, err
	}
	metadata, err = runtime.Encode(d.m.Metadata)
	return begin, metadata, err
}

// decide is what the message does to its thread.
func (d *delivery) decide(ctx context.Context, c *runtime.Change) error {
	t, m, op := c.Thread, d.m, "deliver to thread "+d.m.Thread
	d.read, d.beside, d.unsure, d.after = true, "", nil, t.Seq
	if len(m.Answers) == 0 && t.User != "" && t.User != m.User {
		return refuse(runtime.CodeForbidden, op, "it is another user's")
	}
	switch row, err := d.served(ctx, c); {
	case err != nil:
		return err
	case row != nil: // the same message again
		d.after = row.Seq - 1
		if row.Name == asideName {
			d.beside, _ = textAt(row.Value, "thread")
		}
		return nil
	case len(m.Answers) > 0:
		if err := d.covers(t); err != nil {
			return err
		}
		return d.answer(ctx, c)
	}
	switch status := t.Status(); {
	case status == runtime.StatusIdle:
		return d.turn(c)
	case status == runtime.StatusRunning || status == runtime.StatusWaiting && !t.Rests():
		return refuse(runtime.CodeConflict, op, "it is working on the last message: wait")
	case status != runtime.StatusWaiting:
		return refuse(runtime.CodeNotWaiting, op, fmt.Sprintf("it is %s: start another", status))
	case m.Cancel, !d.m.Away && among(d.Cancel, m.Text):
		if err := d.current(ctx, t); err != nil {
			return err
		}
		return d.cancel(c)
	}
	return d.reply(ctx, c)
}

// covers refuses a message whose sender has not seen all that is open. When nothing of what he saw is open any more he comes late, or again:
// what became of each interrupt tells which.
func (d *delivery) covers(t *runtime.Thread) error {
	seen := func(id string) bool { return slices.Contains(d.m.Open, id) }
	now := ids(open(t))
	if !slices.ContainsFunc(now, seen) || !slices.ContainsFunc(now, func(id string) bool { return !seen(id) }) {
		return nil
	}
	return &runtime.Error{Code: runtime.CodeConflict, Op: "deliver to thread " + t.ID, Err: &thread.PendingError{Open: now}}
}

// current is covers for a message that ends the turn: all that the sender saw must be open still.
func (d *delivery) current(ctx context.Context, t *runtime.Thread) error {
	now := ids(open(t))
	for _, id := range d.m.Open {
		if slices.Contains(now, id) {
			continue
		}
		i, err := d.Engine.Interrupt(ctx, id)
		if err != nil {
			return err
		}
		if i.Thread != t.ID {
			return refuse(runtime.CodeNotFound, "deliver to thread "+t.ID, "it has no interrupt "+id)
		}
		if _, err = runtime.Closed(i, &runtime.Answer{}); err != nil {
			return err
		}
	}
	return d.covers(t)
}

// served returns the entry under which the thread has the message already, in this change or before.
func (d *delivery) served(ctx context.Context, c *runtime.Change) (*runtime.Entry, error) {
	for i := range c.Entries {
		if d.m.ID != "" && c.Entries[i].Request == d.m.ID {
			return &c.Entries[i], nil
		}
	}
	return d.Engine.ByRequest(ctx, d.m.Thread, d.m.ID)
}

// turn begins a turn with the message.
func (d *delivery) turn(c *runtime.Change) error {
	begin, metadata, err := d.opening(c.Thread.Result)
	if err != nil {
		return err
	}
	input, err := runtime.Encode(begin.Input)
	if err != nil {
		return err
	}
	if err := c.Begin(Name, begin.Name, input, d.m.User, d.m.ID); err != nil {
		return err
	}
	c.Add(runtime.Entry{Type: runtime.EntryMetadata, Value: metadata})
	return nil
}

// reply takes the text of a message as the answer to what the thread asks, as the policies say.
func (d *delivery) reply(ctx context.Context, c *runtime.Change) error {
	t, m, op := c.Thread, d.m, "deliver to thread "+d.m.Thread
	var asked []*runtime.Interrupt
	for _, i := range open(t) {
		if i.Plain != "" {
			asked = append(asked, i)
		}
	}
	skip := !d.m.Away && among(d.Skip, m.Text)
	unseen := func(i *runtime.Interrupt) bool {
		return m.Open != nil && !slices.Contains(m.Open, i.ID)
	}
	strict := m.Away || slices.ContainsFunc(asked, unseen) ||
		!skip && (d.Strict || d.Machine.tables.PlainText == "strict")
	switch {
	case strict || len(asked) == 0:
		return &runtime.Error{Code: runtime.CodeConflict, Op: op, Err: &thread.PendingError{Open: ids(open(t))}}
	case len(asked) > 1:
		return &runtime.Error{Code: runtime.CodeAmbiguous, Op: op, Err: &runtime.AmbiguousError{Open: ids(asked)}}
	case d.Digress == nil || skip:
	case d.answers != asked[0].ID:
		d.unsure = asked[0]
		return errUnsure
	case d.digress:
		return d.aside(c)
	}
	a := runtime.Answer{Interrupt: asked[0].ID, Text: m.Text, By: m.User, Request: m.ID}
	if skip {
		a.Text, a.Value = "", json.RawMessage("null")
	}
	return d.give(ctx, c, a)
}

// give answers an interrupt. What came with the message goes to the step that runs on.
func (d *delivery) give(ctx context.Context, c *runtime.Change, a runtime.Answer) error {
	metadata, err := runtime.Encode(d.m.Metadata)
	if err != nil {
		return err
	}
	before := len(c.Entries)
	_, refusal := c.Answer(a)
	if unclear(refusal) { // it counts once, however often the message comes
		c.Entries[before].Request = a.Request
	}
	if runtime.CodeOf(refusal) == runtime.CodeNotFound {
		i, err := d.Engine.Interrupt(ctx, a.Interrupt)
		if err != nil || i.Thread != c.Thread.ID {
			return refusal
		}
		_, err = runtime.Closed(i, &a)
		return err
	}
	if refusal == nil {
		c.Add(runtime.Entry{Type: runtime.EntryMetadata, Value: metadata})
	}
	return refusal
}

// answer gives the answers of a message. The first one bears its id, which stands in the log once.
func (d *delivery) answer(ctx context.Context, c *runtime.Change) error {
	for n, a := range d.m.Answers {
		if a.Interrupt == "" {
			return invalid("deliver to thread "+d.m.Thread, "answer %d names no interrupt", n+1)
		}
		if a.By == "" {
			a.By = d.m.User
		}
		if a.Request = ""; n == 0 {
			a.Request = d.m.ID
		}
		if err := d.give(ctx, c, a); err != nil {
			return err
		}
	}
	return nil
}

// cancel ends the turn. A tool call that waits for a person gets its result: that it was cancelled.
func (d *delivery) cancel(c *runtime.Change) error {
	metadata, err := runtime.Encode(d.m.Metadata)
	if err != nil {
		return err
	}
	c.Add(runtime.Entry{Type: runtime.EntryMetadata, Value: metadata, By: d.m.User, Request: d.m.ID}) // first: the same message again has all below
	text := spoken{Text: d.Cancelled}
	if text.Text == "" {
		text.Text = "Cancelled."
	}
	for _, i := range c.Thread.Open {
		var about aboutTool
		if json.Unmarshal(i.Payload, &about) != nil || about.CallID == "" {
			continue
		}
		value, err := runtime.Encode(failedResult(about.CallID, "cancelled by the user"))
		if err != nil {
			return err
		}
		text.Node = about.Node
		c.Add(runtime.Entry{Type: runtime.EntryEffect, Frame: i.Frame, Name: i.Name, State: runtime.EffectDone, Value: value})
	}
	value, err := runtime.Encode(text)
	if err != nil {
		return err
	}
	root := c.Thread.Root().ID
	c.Add(runtime.Entry{Type: runtime.EntryMessage, Frame: root, Name: "reply", Value: value, By: d.m.User})
	c.Return(root, nil)
	return nil
}

const (
	asideName  = "aside"
	besideMark = "~" + asideName + "." // between the ids of a thread and of one beside it
)

// aside notes that a thread beside takes the message. Its id follows from the message's: the same message again finds it.
func (d *delivery) aside(c *runtime.Change) error {
	name := rand.Text()
	if d.m.ID != "" {
		sum := sha256.Sum256([]byte(d.m.ID))
		name = hex.EncodeToString(sum[:8])
	}
	d.beside = d.m.Thread + besideMark + name
	value, err := runtime.Encode(map[string]string{"thread": d.beside})
	if err != nil {
		return err
	}
	c.Add(runtime.Entry{Type: runtime.EntryMessage, Name: asideName, Value: value, By: d.m.User, Request: d.m.ID})
	return nil
}

// apology is what the user reads when the thread cannot be read; "" when it could.
func (d *delivery) apology(err error) string {
	if code := runtime.CodeOf(err); d.read || code != runtime.CodeIncompatible && code != runtime.CodeInternal {
		return ""
	}
	if d.Unreadable != "" {
		return d.Unreadable
	}
	return "I cannot read our earlier conversation. It is kept, and somebody will look at it."
}
