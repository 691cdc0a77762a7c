package web

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"encoding/json"
	"errors"
	"slices"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
	"github.com/routegen/routegen/runtime/workflow"
)

type messageForm struct {
	Message string          `json:"message"`
	By      string          `json:"by,omitempty"`
	Machine string          `json:"machine,omitempty"`
	Name    string          `json:"name,omitempty"`
	Input   json.RawMessage `json:"input,omitempty"`

	Cancel   bool              `json:"cancel,omitempty"`   // of a conversation: end the turn that waits
	Metadata map[string]string `json:"metadata,omitempty"` // of a conversation: for its handlers
}

// worded makes an object with a message of a JSON string; an object stays as it is.
func worded(body []byte) []byte {
	if body = bytes.TrimSpace(body); bytes.HasPrefix(body, []byte(`"`)) {
		body = slices.Concat([]byte(`{"message":`), body, []byte("}"))
	}
	return body
}

func (c *call) deliver() (any, error) {
	var f messageForm
	err := read(worded(c.body), &f)
	if err != nil {
		return nil, err
	}
	if f.By, err = c.by(f.By); err != nil {
		return nil, err
	}
	machine, name, err := c.first(c.r.PathValue("thread"))
	if err != nil {
		return nil, err
	}
	if g := c.who.grant; g != nil {
		if f.Machine != "" || f.Name != "" || f.Input != nil {
			return nil, errOnlyWords
		}
		if others, err := c.anothers(g, machine); err != nil || others {
			return nil, cmp.Or(err, errAnothers)
		}
	}
	if c.s.cfg.talks(machine) && f.Machine == "" && f.Input == nil {
		return c.converse(&f)
	}
	if f.Cancel || f.Metadata != nil {
		return nil, invalid("cancel and metadata are for a conversation, and this thread is none")
	}
	if f.Machine == "" {
		f.Machine, f.Name = machine, name
	}
	return c.say(&f)
}

// talks reports whether a message to a thread whose first turn ran a machine is one of the conversation.
func (c *Config) talks(machine string) bool {
	return c.Conversation != nil && (machine == workflow.Name || machine == "")
}

// anothers reports whether the thread of a token is a conversation with somebody else than the token speaks for: it takes no message from there.
func (c *call) anothers(g *Grant, machine string) (bool, error) {
	if !c.s.cfg.talks(machine) {
		return false, nil
	}
	t, err := c.s.engine.Thread(c.ctx(), g.Thread)
	if err != nil {
		return false, err
	}
	return t.User != "" && t.User != g.By, nil
}

// say gives a message to the engine.
func (c *call) say(f *messageForm) (any, error) {
	request, err := c.request()
	if err != nil {
		return nil, err
	}
	m := thread.Message{Thread: c.r.PathValue("thread"), Text: f.Message, Machine: f.Machine, Name: f.Name, By: f.By, Request: request}
	if f.Input != nil {
		m.Input = f.Input
	}
	t, err := c.s.engine.Deliver(c.ctx(), m)
	switch {
	case errors.Is(err, thread.ErrRequestUsed):
		return nil, errOtherBody
	case err != nil:
		return nil, err
	}
	return threadOf(t), nil
}

// first returns what the first turn of a thread ran: a later one runs that too. An unknown thread has run nothing.
func (c *call) first(name string) (machine, what string, err error) {
	rows, err := c.s.engine.History(c.ctx(), name, 0, 10)
	for i := range rows {
		if rows[i].Type == runtime.EntryEntered {
			return rows[i].Machine, rows[i].Name, nil
		}
	}
	return "", "", err
}

// converse gives a message to the conversation, and waits for its turn as long as patience lasts: the turn goes on after that.
func (c *call) converse(f *messageForm) (any, error) {
	request, err := c.request()
	if err != nil {
		return nil, err
	}
	id, digest := c.r.PathValue("thread"), c.digest()
	if _, err := c.reserve(id, request, digest); err != nil && runtime.CodeOf(err) != runtime.CodeNotFound {
		return nil, err
	}
	m := workflow.Message{Thread: id, ID: request + "/turn", User: f.By, Text: f.Message, Cancel: f.Cancel, Metadata: f.Metadata}
	if request == "" { // so that it can be found out whether it came in
		m.ID = "web/" + rand.Text()
	}
	ctx, cancel := c.patient()
	defer cancel()
	turn, err := c.s.cfg.Conversation.Deliver(ctx, m)
	if err != nil && ctx.Err() != nil {
		switch row, unread := c.s.engine.ByRequest(c.ctx(), id, m.ID); {
		case unread != nil:
			return nil, unread
		case row != nil:
			turn, err = &workflow.Turn{}, nil
		}
	}
	if err != nil {
		return nil, err
	}
	if _, err := c.reserve(id, request, digest); err != nil { // the thread was made by this call, or by another with the same key
		return nil, err
	}
	if turn.Thread == nil {
		if turn.Thread, err = c.s.engine.Thread(c.ctx(), id); err != nil {
			return nil, err
		}
	}
	out := threadOf(turn.Thread)
	out.Reply = turn.Reply
	for _, i := range turn.Questions {
		if i.Thread != id {
			out.Beside = append(out.Beside, interruptOf(i))
		}
	}
	return out, nil
}
