package chat

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
)

// delivery is one message on its way into a thread.
type delivery struct {
	*Conversation
	m        *Message
	op       string
	metadata json.RawMessage

	// The result of the last decision; a decision may run several times.
	read      bool              // the thread could be read
	after     int64             // the last entry before the message
	undecided *thread.Interrupt // Digress must say whether the message answers it
	side      string            // id of the side thread that takes the message
	answers   string            // id of the interrupt for which Digress was called
	digresses bool              // what Digress said

	thread *thread.Thread // that has the message, as last committed
	waits  *thread.Thread // the message's own thread, if a side thread has the message
}

// accept commits a message. It returns a delivery with every error too.
func (c *Conversation) accept(ctx context.Context, m Message) (*delivery, error) {
	d := &delivery{Conversation: c, m: &m, op: "deliver to thread " + m.Thread}
	m.ID = cmp.Or(m.ID, rand.Text())
	var err error
	if d.metadata, err = runtime.Encode(m.Metadata); err != nil {
		return d, err
	}
	for {
		t, err := c.Engine.Change(ctx, m.Thread, func(ch *thread.Change) error {
			return d.decide(ctx, ch)
		})
		switch code := runtime.CodeOf(err); {
		case code == runtime.CodeUnavailable || code == runtime.CodeUnknown:
			// The decision may still be running: nothing that it writes is read.
			return &delivery{Conversation: c, read: true}, err
		case code == runtime.CodeNotFound && !d.read:
			return d, d.start(ctx, m.Thread)
		case errors.Is(err, errUndecided):
			if d.digresses, err = c.Digress(ctx, m, d.undecided); err != nil {
				return d, err
			}
			d.answers = d.undecided.ID
			continue
		case isUnclear(err): // the question is still open, and the log says why
		case err != nil:
			return d, err
		}
		if d.thread = t; d.side != "" {
			d.waits = t
			return d, d.start(ctx, d.side)
		}
		return d, nil
	}
}

func isUnclear(err error) bool {
	_, is := errors.AsType[*thread.UnclearError](err)
	return is
}

// errUndecided ends a decision that needs Digress, which may take long.
var errUndecided = errors.New("it is not known whether the message is an answer")

// start begins the first turn of a thread.
func (d *delivery) start(ctx context.Context, id string) error {
	begin, err := d.begin(nil)
	if err != nil {
		return err
	}
	begin.ID, begin.User, begin.Request, begin.Metadata = id, d.m.User, d.m.ID, d.metadata
	d.after = 0
	d.thread, err = d.Engine.Start(ctx, begin)
	if !errors.Is(err, thread.ErrRequestUsed) {
		return err
	}
	// The message has begun the thread before. Begin may have made another input of it this time:
	// the first one counts.
	if d.thread, err = d.Engine.Thread(ctx, id); err == nil && d.thread.User != d.m.User {
		err = d.notYours()
	}
	return err
}

// begin returns what the message starts a turn with.
func (d *delivery) begin(last json.RawMessage) (thread.Begin, error) {
	switch {
	case len(d.m.Answers) > 0 || d.m.Cancel:
		return thread.Begin{}, runtime.Errorf(runtime.CodeNotWaiting, d.op, "it asks nothing")
	case d.m.Text == "":
		return thread.Begin{}, d.noText()
	case d.Begin == nil:
		return thread.Begin{Machine: d.Machine.Name(), Input: d.m.Text}, nil
	}
	return d.Begin(*d.m, last)
}

func (d *delivery) noText() error {
	return runtime.Errorf(runtime.CodeInvalid, d.op, "the message has no text")
}

func (d *delivery) notYours() error {
	return runtime.Errorf(runtime.CodeForbidden, d.op, "it is another user's")
}

// follower reads the turn that the message is in. It ends before the first entry that another
// message brings.
func (d *delivery) follower() *thread.Follower {
	return &thread.Follower{Thread: d.thread, After: d.after, Ends: func(row *thread.Entry) bool {
		return row.Request != "" && row.Request != d.m.ID && isOfMessage(row)
	}}
}

// isOfMessage reports whether the request of an entry is the id of a message. Other requests, like
// a claim, are for things that happen beside a turn.
func isOfMessage(row *thread.Entry) bool {
	switch row.Type {
	case thread.EntryEntered, thread.EntryAnswered, thread.EntryVoted, thread.EntryReasked,
		thread.EntryMetadata:
		return true
	case thread.EntryMessage:
		return row.Name == sideName
	default:
		return false
	}
}
