package chat

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/llm"
	"github.com/routegen/routegen/runtime/thread"
)

// decide adds to a change of the thread what the message does to it.
func (d *delivery) decide(ctx context.Context, c *thread.Change) error {
	t, m := c.Thread, d.m
	d.read, d.side, d.undecided, d.after = true, "", nil, t.Seq
	if len(m.Answers) == 0 && t.User != "" && t.User != m.User {
		return d.notYours()
	}
	switch row, err := d.Engine.FindRequest(ctx, c, m.ID); {
	case err != nil:
		return err
	case row != nil:
		d.after = row.Seq - 1
		d.side = SideThread(row)
		return nil
	case len(m.Answers) > 0:
		if err := d.checkSeen(t); err != nil {
			return err
		}
		return d.answerAll(ctx, c)
	}
	switch status := t.Status(); {
	case status == thread.StatusIdle:
		return d.beginTurn(c)
	case status == thread.StatusRunning || status == thread.StatusWaiting && !t.Rests():
		return runtime.Errorf(runtime.CodeConflict, d.op, "it is working on the last message: wait")
	case status != thread.StatusWaiting:
		return runtime.Errorf(runtime.CodeNotWaiting, d.op, "it is %s: start another", status)
	case m.Cancel, !m.Away && isOneOf(d.Cancel, m.Text):
		if err := d.checkSeenOpen(ctx, t); err != nil {
			return err
		}
		if d.m.NoOrders && slices.ContainsFunc(t.OpenInterrupts(),
			(*thread.Interrupt).EngineAsks) {
			return runtime.Errorf(runtime.CodeForbidden, d.op, "the engine asks about this "+
				"turn: ending it takes the right to operate the thread")
		}
		return d.cancelTurn(c)
	}
	return d.answerText(ctx, c)
}

// pending refuses the message because of what is open.
func (d *delivery) pending(open []*thread.Interrupt) error {
	return runtime.Errorf(runtime.CodeConflict, d.op, "%w", &thread.PendingError{Open: ids(open)})
}

func ids(open []*thread.Interrupt) []string {
	out := make([]string, len(open))
	for i := range open {
		out[i] = open[i].ID
	}
	return out
}

// checkSeen refuses a message whose sender has seen some of what is open and not all of it. If
// nothing that the sender saw is open, the message is late or was sent again, and the state of each
// interrupt decides.
func (d *delivery) checkSeen(t *thread.Thread) error {
	seen := func(i *thread.Interrupt) bool { return slices.Contains(d.m.Open, i.ID) }
	open := t.OpenInterrupts()
	if !slices.ContainsFunc(open, seen) || !slices.ContainsFunc(open,
		func(i *thread.Interrupt) bool { return !seen(i) }) {
		return nil
	}
	return d.pending(open)
}

// checkSeenOpen is checkSeen for a message that ends the turn: all that the sender saw must still
// be open.
func (d *delivery) checkSeenOpen(ctx context.Context, t *thread.Thread) error {
	open := ids(t.OpenInterrupts())
	for _, id := range d.m.Open {
		if slices.Contains(open, id) {
			continue
		}
		i, err := d.Engine.Interrupt(ctx, id)
		if err != nil {
			return err
		}
		if _, own := thread.SplitID(t.ID); i.Thread != own {
			return runtime.Errorf(runtime.CodeNotFound, d.op, "it has no interrupt %s", id)
		}
		if _, err = thread.Closed(i, &thread.Answer{}); err != nil {
			return err
		}
	}
	return d.checkSeen(t)
}

// beginTurn begins a turn with the message.
func (d *delivery) beginTurn(c *thread.Change) error {
	begin, err := d.begin(c.Thread.Result)
	if err != nil {
		return err
	}
	input, err := runtime.Encode(begin.Input)
	if err != nil {
		return err
	}
	if err := c.Begin(begin.Machine, begin.Name, input, d.m.User, d.m.ID); err != nil {
		return err
	}
	c.Add(thread.Entry{Type: thread.EntryMetadata, Value: d.metadata})
	return nil
}

// answerText answers the one open question that takes plain text with the text of the message.
func (d *delivery) answerText(ctx context.Context, c *thread.Change) error {
	m, open := d.m, c.Thread.OpenInterrupts()
	asked := slices.DeleteFunc(slices.Clone(open),
		func(i *thread.Interrupt) bool { return i.Plain == "" })
	unseen := func(i *thread.Interrupt) bool {
		return m.Open != nil && !slices.Contains(m.Open, i.ID)
	}
	skip := !m.Away && isOneOf(d.Skip, m.Text)
	strict := m.Away || slices.ContainsFunc(asked, unseen) || !skip && d.strict()
	switch {
	case m.Text == "":
		return d.noText()
	case strict || len(asked) == 0:
		return d.pending(open)
	case len(asked) > 1:
		return runtime.Errorf(runtime.CodeAmbiguous, d.op, "%w",
			&thread.AmbiguousError{Open: ids(asked)})
	case d.Digress == nil || skip:
	case d.answers != asked[0].ID:
		d.undecided = asked[0]
		return errUndecided
	case d.digresses:
		return d.takeAside(c)
	}
	a := thread.Answer{Interrupt: asked[0].ID, Text: m.Text, By: m.User, Request: m.ID}
	if skip {
		a.Text, a.Value = "", json.RawMessage("null")
	}
	return d.answer(ctx, c, a)
}

func (d *delivery) strict() bool {
	m, is := d.Machine.(interface{ PlainTextStrict() bool })
	return d.Strict || is && m.PlainTextStrict()
}

// isOneOf reports whether a whole message is one of some words.
func isOneOf(words []string, text string) bool {
	bare := func(text string) string {
		return strings.ToLower(strings.Trim(strings.TrimSpace(text), " .!?"))
	}
	return slices.ContainsFunc(words, func(w string) bool { return bare(w) == bare(text) })
}

// answer answers an interrupt. The metadata of the message goes to the step that continues.
func (d *delivery) answer(ctx context.Context, c *thread.Change, a thread.Answer) error {
	a.NoOrders = a.NoOrders || d.m.NoOrders
	before := len(c.Entries)
	_, refusal := c.Answer(a)
	if isUnclear(refusal) { // it counts once, however often the message comes
		c.Entries[before].Request = a.Request
	}
	if runtime.CodeOf(refusal) == runtime.CodeNotFound {
		i, err := d.Engine.Interrupt(ctx, a.Interrupt)
		if _, own := thread.SplitID(c.Thread.ID); err != nil || i.Thread != own {
			return refusal
		}
		_, err = thread.Closed(i, &a)
		return err
	}
	if refusal == nil {
		c.Add(thread.Entry{Type: thread.EntryMetadata, Value: d.metadata})
	}
	return refusal
}

// answerAll gives the answers of a message. The first one has its id, which stands in the log once.
func (d *delivery) answerAll(ctx context.Context, c *thread.Change) error {
	for n, a := range d.m.Answers {
		if a.Interrupt == "" {
			return runtime.Errorf(runtime.CodeInvalid, d.op, "answer %d names no interrupt", n+1)
		}
		if a.By == "" {
			a.By = d.m.User
		}
		if a.Request = ""; n == 0 {
			a.Request = d.m.ID
		}
		if err := d.answer(ctx, c, a); err != nil {
			return err
		}
	}
	return nil
}

// cancelTurn ends the turn. A tool call that waits for a person gets a result which says so.
func (d *delivery) cancelTurn(c *thread.Change) error {
	// The metadata comes first: if the message comes again, all that follows is its turn.
	c.Add(thread.Entry{Type: thread.EntryMetadata, Value: d.metadata, By: d.m.User,
		Request: d.m.ID})
	said := reply{Text: cmp.Or(d.Cancelled, "Cancelled.")}
	for _, i := range c.Thread.Open {
		var tool struct { // the payload of what a tool call asks
			Node string `json:"node"`
			Call string `json:"toolCallId"`
		}
		if json.Unmarshal(i.Payload, &tool) != nil || tool.Call == "" {
			continue
		}
		value, err := runtime.Encode(llm.ToolResult{ID: tool.Call, Failed: true,
			Value: json.RawMessage(`"cancelled by the user"`)})
		if err != nil {
			return err
		}
		said.Node = tool.Node
		c.Add(thread.Entry{Type: thread.EntryEffect, Frame: i.Frame, Name: i.Name,
			State: thread.EffectDone, Value: value})
	}
	value, err := runtime.Encode(said)
	if err != nil {
		return err
	}
	root := c.Thread.Root().ID
	c.Add(thread.Entry{Type: thread.EntryMessage, Frame: root, Name: "reply", Value: value,
		By: d.m.User})
	c.Return(root, nil)
	return nil
}

// The name of the entry which says that a side thread takes a message, and what stands between the
// ids of a thread and of its side threads. Both are stored.
const (
	sideName = "aside"
	sideMark = "~" + sideName + "."
)

// IsSideThread reports whether other is a side thread of a thread: it took a message that
// [Conversation.Digress] recognised.
func IsSideThread(thread, other string) bool { return strings.HasPrefix(other, thread+sideMark) }

// SideThread returns the id of the side thread that took the message of an entry, see
// [thread.Engine.ByRequest], and "" if the message stayed on its own thread.
func SideThread(row *thread.Entry) string {
	if row.Type != thread.EntryMessage || row.Name != sideName {
		return ""
	}
	var side struct {
		Thread string `json:"thread"`
	}
	_ = json.Unmarshal(row.Value, &side) // it is written by takeAside
	return side.Thread
}

// takeAside notes that a side thread takes the message. Its id follows from that of the message, so
// that the same message again finds it.
func (d *delivery) takeAside(c *thread.Change) error {
	sum := sha256.Sum256([]byte(d.m.ID))
	d.side = d.m.Thread + sideMark + hex.EncodeToString(sum[:8])
	value, err := runtime.Encode(map[string]string{"thread": d.side})
	if err != nil {
		return err
	}
	c.Add(thread.Entry{Type: thread.EntryMessage, Name: sideName, Value: value, By: d.m.User,
		Request: d.m.ID})
	return nil
}
