package workflow

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"slices"
	"strings"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
)

// Conversation is a chat over threads of a workflow: a message starts a turn at the entry node, or answers what the thread asks.
type Conversation struct {
	Engine  *thread.Engine
	Machine *Machine

	// Begin makes the request that starts a turn out of a message, and of what the last turn returned (nil in the first).
	Begin func(ctx context.Context, m Message, last json.RawMessage) (runtime.Record, error)

	// Strict refuses plain text on a thread that waits. Otherwise the text answers the one open question that takes plain text.
	Strict bool
	Cancel []string // whole messages that end what waits; compared without case and points
	Skip   []string // whole messages that answer an open question with null

	// Digress says whether a message on a waiting thread is no answer but another question; it is answered by a turn of its own, on a thread
	// beside, and the question stays open. nil: every message is an answer.
	Digress func(ctx context.Context, m Message, open *runtime.Interrupt) bool

	// Unreadable is what the user reads when the thread cannot be read by this program; it is kept as it is.
	Unreadable string // default: a sentence in English
}

// Message is what a user says.
type Message struct {
	Thread   string // its id; the conversation
	ID       string // of the message: the same one again gets the same turn
	User     string
	Text     string
	Metadata map[string]string // goes to the handlers, see [Metadata]; a resumed turn sees that of the message that resumed it
}

// Turn is what a message led to.
type Turn struct {
	Thread    *runtime.Thread // as it is now; nil when it cannot be read
	Reply     []string        // what the agents said, in order
	Questions []*runtime.Interrupt
}

// Deliver gives a message to its thread, and returns when the turn is done or waits. The refusals are those of [thread.Engine.Answer] and
// [thread.Engine.Start]; beside them, with CodeConflict and a [thread.PendingError], a message that cannot be an answer to what is open, and a thread that
// works on an earlier message. The run belongs to the engine: when ctx ends first it goes on, and a later message finds what it did.
func (c *Conversation) Deliver(ctx context.Context, m Message) (*Turn, error) {
	after, err := c.accept(ctx, &m)
	if err != nil {
		return c.unreadable(err)
	}
	t, err := c.Engine.Wait(ctx, m.Thread)
	if err != nil {
		return nil, err
	}
	return c.turn(ctx, t, after)
}

// DeliverStream is Deliver that yields the rows of the turn as they are committed, and ends after the last one.
func (c *Conversation) DeliverStream(ctx context.Context, m Message) iter.Seq2[runtime.Entry, error] {
	return func(yield func(runtime.Entry, error) bool) {
		after, err := c.accept(ctx, &m)
		if err != nil {
			yield(runtime.Entry{}, err)
			return
		}
		for {
			t, err := c.Engine.Wait(ctx, m.Thread)
			if err != nil {
				yield(runtime.Entry{}, err)
				return
			}
			rows, err := c.Engine.History(ctx, m.Thread, after, 0)
			if err != nil {
				yield(runtime.Entry{}, err)
				return
			}
			for _, row := range rows {
				after = row.Seq
				if !yield(row, nil) {
					return
				}
			}
			if after >= t.Seq {
				return
			}
		}
	}
}

// accept commits the message and returns the last entry before it.
func (c *Conversation) accept(ctx context.Context, m *Message) (after int64, err error) {
	metadata, err := runtime.Encode(m.Metadata)
	if err != nil {
		return 0, err
	}
	t, err := c.Engine.Thread(ctx, m.Thread)
	switch {
	case runtime.CodeOf(err) == runtime.CodeNotFound:
		return 0, c.first(ctx, m, metadata)
	case err != nil:
		return 0, err
	}
	switch served, err := c.Engine.ByRequest(ctx, m.Thread, m.ID); {
	case err != nil:
		return 0, err
	case served != nil: // the same message again
		return served.Seq - 1, nil
	}
	var request runtime.Record
	if t.Status() == runtime.StatusIdle {
		if request, err = c.Begin(ctx, *m, t.Result); err != nil {
			return 0, err
		}
	}
	_, err = c.Engine.Change(ctx, m.Thread, func(ch *runtime.Change) error {
		after = ch.Thread.Seq
		return c.decide(ctx, ch, m, request, metadata)
	})
	var unclear *runtime.UnclearError
	if errors.As(err, &unclear) {
		err = nil // the question is open still, and says why
	}
	return after, err
}

// first starts the thread.
func (c *Conversation) first(ctx context.Context, m *Message, metadata json.RawMessage) error {
	request, err := c.Begin(ctx, *m, nil)
	if err != nil {
		return err
	}
	begin, err := Begin(request)
	if err != nil {
		return err
	}
	begin.ID, begin.User, begin.Request, begin.Metadata = m.Thread, m.User, m.ID, metadata
	_, err = c.Engine.Start(ctx, begin)
	return err
}

// decide is what a message does to its thread.
func (c *Conversation) decide(ctx context.Context, ch *runtime.Change, m *Message, request runtime.Record, metadata json.RawMessage) error {
	t := ch.Thread
	said := plain(m.Text)
	switch {
	case t.Status() == runtime.StatusIdle && request != nil:
		begin, err := Begin(request)
		if err != nil {
			return err
		}
		input, err := runtime.Encode(begin.Input)
		if err != nil {
			return err
		}
		ch.Add(runtime.Entry{Type: runtime.EntryMetadata, Value: metadata})
		return ch.Begin(Name, begin.Name, input, m.User, m.ID)
	case t.Status() != runtime.StatusWaiting:
		return refuse(runtime.CodeConflict, "deliver to thread "+m.Thread, "it is "+string(t.Status())+": wait, or start another")
	case slices.ContainsFunc(c.Cancel, func(w string) bool { return plain(w) == said }):
		return c.abandon(ch, m)
	}
	open := conversational(t)
	if c.Strict || len(open) == 0 {
		return &runtime.Error{Code: runtime.CodeConflict, Op: "deliver to thread " + m.Thread, Err: &thread.PendingError{Open: ids(t)}}
	}
	if len(open) > 1 {
		return &runtime.Error{Code: runtime.CodeAmbiguous, Op: "deliver to thread " + m.Thread, Err: &runtime.AmbiguousError{Open: ids(t)}}
	}
	if c.Digress != nil && c.Digress(ctx, *m, open[0]) {
		return &runtime.Error{Code: runtime.CodeConflict, Op: "deliver to thread " + m.Thread, Err: errDigression}
	}
	ch.Add(runtime.Entry{Type: runtime.EntryMetadata, Value: metadata})
	a := runtime.Answer{Interrupt: open[0].ID, Text: m.Text, By: m.User, Request: m.ID}
	if slices.ContainsFunc(c.Skip, func(w string) bool { return plain(w) == said }) {
		a.Text, a.Value = "", json.RawMessage("null")
	}
	_, err := ch.Answer(a)
	return err
}

// errDigression says that a message is no answer to what is open.
var errDigression = errors.New("the message is another question: deliver it to a thread of its own, what is open stays open")

// abandon ends the turn that waits: the thread is free for the next message.
func (c *Conversation) abandon(ch *runtime.Change, m *Message) error {
	said, err := runtime.Encode(map[string]string{"text": "Cancelled."})
	if err != nil {
		return err
	}
	root := ch.Thread.Root()
	ch.Add(runtime.Entry{Type: runtime.EntryMessage, Frame: root.ID, Name: "reply", Value: said, By: m.User, Request: m.ID})
	ch.Return(root.ID, ch.Thread.Result)
	return nil
}

// turn reads what the agents said since an entry, and what is open.
func (c *Conversation) turn(ctx context.Context, t *runtime.Thread, after int64) (*Turn, error) {
	out := &Turn{Thread: t}
	for {
		rows, err := c.Engine.History(ctx, t.ID, after, 0)
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			after = row.Seq
			if row.Type == runtime.EntryMessage {
				if text, ok := textAt(row.Value, "text"); ok {
					out.Reply = append(out.Reply, text)
				}
			}
		}
		if len(rows) == 0 || after >= t.Seq {
			break
		}
	}
	for _, i := range t.Open {
		if i.State == runtime.InterruptOpen {
			out.Questions = append(out.Questions, i)
		}
	}
	return out, nil
}

func (c *Conversation) unreadable(err error) (*Turn, error) {
	if code := runtime.CodeOf(err); code != runtime.CodeIncompatible && code != runtime.CodeInternal {
		return nil, err
	}
	text := c.Unreadable
	if text == "" {
		text = "I cannot read our earlier conversation. It is kept, and somebody will look at it."
	}
	return &Turn{Reply: []string{text}}, err
}

func conversational(t *runtime.Thread) []*runtime.Interrupt {
	var out []*runtime.Interrupt
	for _, i := range t.Open {
		if i.State == runtime.InterruptOpen && i.Plain != "" {
			out = append(out, i)
		}
	}
	return out
}

func ids(t *runtime.Thread) []string {
	var out []string
	for _, i := range t.Open {
		if i.State == runtime.InterruptOpen {
			out = append(out, i.ID)
		}
	}
	return out
}

func plain(text string) string { return strings.ToLower(strings.Trim(strings.TrimSpace(text), " .!?")) }

// Metadata returns what came with the message that runs, or resumed, the node whose handler asks.
func Metadata(ctx context.Context) map[string]string {
	p, ok := ctx.Value(placeKey{}).(*place)
	if !ok {
		return nil
	}
	var out map[string]string
	if json.Unmarshal(p.step.a.Metadata, &out) != nil {
		return nil
	}
	return out
}

// Reply says something to the user, once per name, step and visit.
func Reply(ctx context.Context, name, text string) error {
	p, ok := ctx.Value(placeKey{}).(*place)
	if !ok {
		return invalid("reply", "this context is not that of a node: pass on the one the handler got")
	}
	return thread.Say(ctx, name, map[string]string{"node": p.step.node(p.node).Key, "text": text})
}
