package chat

import (
	"cmp"
	"context"
	"encoding/json"
	"iter"
	"slices"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
)

// Conversation delivers messages to threads of one machine. Its fields must not change after the
// first message. It may be used by any number of goroutines then, and several conversations may
// share their threads.
type Conversation struct {
	Engine *thread.Engine
	// Machine runs the turns: it is a machine of Engine whose threads stay idle between turns. If
	// it has a method PlainTextStrict that returns true, Strict is set.
	Machine thread.Machine

	// Begin makes what starts a turn out of a message and the result of the turn before: nil in
	// the first turn, and after a turn that was cancelled or failed. Machine, Name and Input of
	// what it returns are used. It must only compute: it may be called several times for one
	// message. The default starts Machine with the text of the message as its input.
	Begin func(m Message, last json.RawMessage) (thread.Begin, error)

	// Strict refuses plain text on a thread that waits, except for the words of Cancel and Skip.
	// Otherwise the text answers the one open question that takes plain text.
	Strict bool
	// Cancel and Skip are whole messages, compared without case and punctuation. A word of Cancel
	// ends the turn that waits; a word of Skip answers the open question with null.
	Cancel, Skip []string

	// Digress reports whether a message is a question of its own instead of an answer to the open
	// question. Such a message gets a turn on a side thread, and the open question stays open. The
	// default takes every message as an answer.
	Digress func(ctx context.Context, m Message, open *thread.Interrupt) (bool, error)

	// Texts that the user reads; each has a default in English.
	Cancelled  string // a turn was cancelled
	Unreadable string // the thread cannot be read; it is kept as it is
	Pending    string // the turn said nothing, since another person has to decide first
}

// Message is what a user says.
type Message struct {
	Thread string // its id; the conversation
	// ID identifies the message: the same one again gets the same turn. The default is a new one.
	ID   string
	User string // whose thread it is
	Text string
	// Answers replace Text: they answer open interrupts by their ids, all or none of them. User is
	// the default of their By.
	Answers []thread.Answer
	Cancel  bool // replaces Text: end the turn that waits, as a word of Cancel does
	// NoOrders has what answers a question of the engine refused with CodeForbidden, and what ends
	// a turn that waits for one, see [thread.Answer].
	NoOrders bool
	// Away says that the user wrote without seeing what the thread asks. A text on a thread that
	// waits is refused then, as with Strict and whatever it says: only Answers answer.
	Away bool
	// Metadata goes to the machine. A resumed turn has that of the message which resumed it. Nodes
	// read it with workflow.Metadata; flows speak the language that its "language" names.
	Metadata map[string]string

	// Open has the ids of the interrupts that the sender saw open. Answers and Cancel are refused
	// if an open one is missing. A Text that would answer a question is refused if Open is not nil
	// and lacks that question.
	Open []string
}

// Turn is what a message led to.
type Turn struct {
	// Thread is the thread as it is now: idle with a Failure if the turn failed. It is nil if it
	// cannot be read.
	Thread *thread.Thread
	Reply  []string // what was said, in order
	// Questions are open now, those of a side thread after those of Thread.
	Questions []*thread.Interrupt
	// Lines are what a plain chat shows: Reply, then the question with which the turn ended if
	// Reply does not hold it, or Conversation.Pending if there is neither and the thread waits.
	Lines   []string
	Failure *thread.Failure // why the last reply that tells of a failure does so
}

// Deliver gives a message to its thread and returns when the turn is done or waits for a person. It
// waits for steps that are retried. It returns the errors of [thread.Change.Answer],
// [thread.Closed] and [thread.Engine.Start], and beside them:
//
//   - CodeInvalid: the message has neither text nor answers, and does not cancel;
//   - CodeConflict with a [thread.PendingError]: the thread waits and the message answers nothing
//     that is open, or Open lacks some of that;
//   - CodeAmbiguous: several open questions take plain text;
//   - CodeConflict: the thread is working on an earlier message;
//   - CodeNotWaiting: the thread has ended, because an operator ended it between two turns or a
//     person took it over. A turn that fails, expires or is cancelled ends no thread: the next
//     message begins another turn;
//   - CodeForbidden: the thread is another user's;
//   - CodeInternal or CodeIncompatible with a Turn that has only Reply and Lines: the thread cannot
//     be read, and nothing of it is changed.
//
// The run belongs to the engine: it continues if ctx ends first, and the same message again finds
// its result.
func (c *Conversation) Deliver(ctx context.Context, m Message) (*Turn, error) {
	d, err := c.accept(ctx, m)
	if err != nil {
		if text := d.unreadable(err); text != "" {
			return &Turn{Reply: []string{text}, Lines: []string{text}}, err
		}
		return nil, err
	}
	turn, f, asked := &Turn{}, d.follower(), ""
	for row, err := range c.Engine.Follow(ctx, f) {
		if err != nil {
			return nil, err
		}
		turn.add(&row)
		if row.Type == thread.EntryAsked && row.Kind == thread.KindAgentQuestion {
			asked = row.Interrupt
		}
	}
	turn.Thread = f.Thread
	if d.waits != nil {
		turn.Thread = d.waits
		turn.Questions = d.waits.OpenInterrupts()
	}
	turn.Questions = append(turn.Questions, f.Thread.OpenInterrupts()...)
	return turn, d.complete(ctx, turn, f.Thread, asked)
}

// DeliverStream is Deliver that yields the rows of the turn as they are committed, also while it
// runs, and ends after the last one. It yields a refusal as an error; if the thread cannot be read,
// the row with the error is a message that is not stored.
func (c *Conversation) DeliverStream(ctx context.Context, m Message) iter.Seq2[thread.Entry,
	error] {
	return func(yield func(thread.Entry, error) bool) {
		d, err := c.accept(ctx, m)
		if err != nil {
			var row thread.Entry
			if text := d.unreadable(err); text != "" {
				row.Type, row.Name, row.Thread = thread.EntryMessage, "reply", m.Thread
				row.Value, _ = runtime.Encode(reply{Text: text}) // cannot fail: strings
			}
			yield(row, err)
			return
		}
		c.Engine.Follow(ctx, d.follower())(yield)
	}
}

// reply is a message to the user, as it stands in the outbox.
type reply struct {
	Node string `json:"node,omitempty"`
	Text string `json:"text"`
}

// add adds what the user reads of a row.
func (t *Turn) add(row *thread.Entry) {
	switch row.Type {
	case thread.EntryMessage:
		var message reply
		if json.Unmarshal(row.Value, &message) != nil || message.Text == "" {
			return
		}
		t.Reply = append(t.Reply, message.Text)
		if row.Failure != nil {
			t.Failure = row.Failure
		}
	case thread.EntryReasked:
		t.Reply = append(t.Reply, row.Text)
	default:
	}
}

// complete fills Lines. asked is the id of the last question that the turn put to the user.
func (d *delivery) complete(ctx context.Context, turn *Turn, t *thread.Thread,
	asked string) error {
	turn.Lines = slices.Clip(turn.Reply)
	if asked != "" {
		i := t.Interrupt(asked)
		if i == nil { // the message was delivered before, and the question is answered since
			var err error
			if i, err = d.Engine.Interrupt(ctx, asked); err != nil {
				return err
			}
		}
		if n := len(turn.Lines); n == 0 || turn.Lines[n-1] != i.Text {
			turn.Lines = append(turn.Lines, i.Text)
		}
	}
	if len(turn.Lines) == 0 && t.Status() == thread.StatusWaiting {
		turn.Lines = []string{cmp.Or(d.Pending,
			"A person has to look at this first. I come back to you.")}
	}
	return nil
}

// unreadable returns what the user reads if the thread cannot be read, and "" otherwise.
func (d *delivery) unreadable(err error) string {
	if code := runtime.CodeOf(err); d.read || code != runtime.CodeIncompatible &&
		code != runtime.CodeInternal {
		return ""
	}
	return cmp.Or(d.Unreadable,
		"I cannot read our earlier conversation. It is kept, and a person will look at it.")
}
