package dialogue

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"iter"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
)

// Conversation is a chat over threads of flows: a message begins a turn, or answers what the thread asks. Its fields are not changed after
// the first message; any number of goroutines may use it then, and several conversations the same threads.
type Conversation struct {
	Engine *thread.Engine

	// Pending is what the user reads of a turn in which nothing was said, since somebody else has to decide first; default: a sentence in
	// English.
	Pending string
}

// Message is what a user says.
type Message struct {
	Thread   string // its id; the conversation
	ID       string // of the message: the same one again gets the same turn. "" makes one up
	User     string // whose thread it is
	Text     string
	Language string // of this message and of what is said to it; default: that of the spec
}

// Turn is what a message led to.
type Turn struct {
	Thread   *runtime.Thread    // as it is now
	Reply    []string           // what was said, in order; the question that the turn ended with is the last
	Question *runtime.Interrupt // that is open now; nil: the user is not asked
	Failure  *runtime.Failure   // why the message could not be understood; nil: understanding did not fail
}

// Deliver gives a message to its thread, and returns when the turn is done or waits for somebody. It refuses what [runtime.Change.Answer]
// refuses of an answer, and what [thread.Engine.Start] does of a new thread; beside them:
//
//   - CodeConflict: the thread works on an earlier message; with a [thread.PendingError]: it waits for somebody else;
//   - CodeNotWaiting: the thread is over, a person has taken it over, say;
//   - CodeForbidden: the thread is another user's;
//   - CodeInvalid: the message has no text.
//
// The run belongs to the engine: when ctx ends first it goes on, and the same message again finds what it did.
func (c *Conversation) Deliver(ctx context.Context, m Message) (*Turn, error) {
	f, err := c.accept(ctx, &m)
	if err != nil {
		return nil, err
	}
	turn := &Turn{}
	var asked string
	for row, err := range c.Engine.Follow(ctx, f) {
		var said line
		switch {
		case err != nil:
			return nil, err
		case row.Type == runtime.EntryMessage && json.Unmarshal(row.Value, &said) == nil && said.Text != "":
			turn.Reply = append(turn.Reply, said.Text)
			if row.Failure != nil {
				turn.Failure = row.Failure
			}
		case row.Type == runtime.EntryAsked && row.Kind == runtime.KindAgentQuestion:
			asked = row.Interrupt
		}
	}
	turn.Thread = f.Thread
	return turn, c.question(ctx, turn, asked)
}

// question adds what the turn asked.
func (c *Conversation) question(ctx context.Context, turn *Turn, asked string) error {
	for _, i := range turn.Thread.Open {
		if i.State == runtime.InterruptOpen && i.Kind == runtime.KindAgentQuestion {
			turn.Question = i
		}
	}
	if asked != "" {
		i := turn.Thread.Interrupt(asked)
		if i == nil { // an earlier turn: it was answered since
			var err error
			if i, err = c.Engine.Interrupt(ctx, asked); err != nil {
				return err
			}
		}
		turn.Reply = append(turn.Reply, i.Text)
	}
	if len(turn.Reply) == 0 && turn.Thread.Status() == runtime.StatusWaiting {
		text := c.Pending
		if text == "" {
			text = "Somebody has to look at this first. I come back to you."
		}
		turn.Reply = append(turn.Reply, text)
	}
	return nil
}

// DeliverStream is Deliver that yields the rows of the turn as they are committed, also while it runs, and ends after the last one. A refusal
// is yielded as an error.
func (c *Conversation) DeliverStream(ctx context.Context, m Message) iter.Seq2[runtime.Entry, error] {
	return func(yield func(runtime.Entry, error) bool) {
		f, err := c.accept(ctx, &m)
		if err != nil {
			yield(runtime.Entry{}, err)
			return
		}
		c.Engine.Follow(ctx, f)(yield)
	}
}

// accept commits a message and returns the follower of its turn.
func (c *Conversation) accept(ctx context.Context, m *Message) (*thread.Follower, error) {
	if m.Text == "" {
		return nil, invalid("deliver to thread "+m.Thread, "the message has no text")
	}
	if m.ID == "" {
		m.ID = rand.Text()
	}
	with, err := runtime.Encode(metadata{Language: m.Language})
	if err != nil {
		return nil, err
	}
	f := &thread.Follower{Ends: another(m.ID)}
	read := false
	f.Thread, err = c.Engine.Change(ctx, m.Thread, func(ch *runtime.Change) error {
		read, f.After = true, ch.Thread.Seq
		return c.decide(ctx, ch, m, f, with)
	})
	if runtime.CodeOf(err) == runtime.CodeNotFound && !read {
		f.After = 0
		f.Thread, err = c.Engine.Start(ctx, thread.Begin{
			ID: m.Thread, Machine: Name, Input: m.Text, User: m.User, Request: m.ID, Metadata: with,
		})
		if errors.Is(err, thread.ErrRequestUsed) { // another message of the same id came first: whose?
			if t, known := c.Engine.Thread(ctx, m.Thread); known == nil && t.User != m.User {
				err = notYours(m)
			}
		}
	}
	return f, err
}

// decide is what the message does to its thread.
func (c *Conversation) decide(ctx context.Context, ch *runtime.Change, m *Message, f *thread.Follower, with json.RawMessage) error {
	t, op := ch.Thread, "deliver to thread "+m.Thread
	if t.User != "" && t.User != m.User {
		return notYours(m)
	}
	for i := range ch.Entries { // the same message again, in this change or before
		if ch.Entries[i].Request == m.ID {
			f.After = ch.Entries[i].Seq - 1
			return nil
		}
	}
	row, err := c.Engine.ByRequest(ctx, m.Thread, m.ID)
	if err != nil {
		return err
	}
	if row != nil {
		f.After = row.Seq - 1
		return nil
	}
	language := runtime.Entry{Type: runtime.EntryMetadata, Value: with}
	switch status := t.Status(); status {
	case runtime.StatusIdle:
		input, err := runtime.Encode(m.Text)
		if err != nil {
			return err
		}
		if err := ch.Begin(Name, "", input, m.User, m.ID); err != nil {
			return err
		}
		ch.Add(language)
		return nil
	case runtime.StatusWaiting:
		for _, i := range t.Open {
			if i.State == runtime.InterruptOpen && i.Kind == runtime.KindAgentQuestion && i.Plain != "" {
				if _, err = ch.Answer(runtime.Answer{Interrupt: i.ID, Text: m.Text, By: m.User, Request: m.ID}); err == nil {
					ch.Add(language)
				}
				return err
			}
		}
		return &runtime.Error{Code: runtime.CodeConflict, Op: op, Err: &thread.PendingError{Open: open(t)}}
	case runtime.StatusRunning:
		return refuse(runtime.CodeConflict, op, "it is working on the last message: wait")
	default:
		return refuse(runtime.CodeNotWaiting, op, fmt.Sprintf("it is %s: start another", status))
	}
}

func notYours(m *Message) error {
	return refuse(runtime.CodeForbidden, "deliver to thread "+m.Thread, "it is another user's")
}

func open(t *runtime.Thread) []string {
	var ids []string
	for _, i := range t.Open {
		if i.State == runtime.InterruptOpen {
			ids = append(ids, i.ID)
		}
	}
	return ids
}
