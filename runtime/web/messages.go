package web

import (
	"cmp"
	"crypto/rand"
	"encoding/json"
	"errors"
	"strings"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/chat"
	"github.com/routegen/routegen/runtime/thread"
	"github.com/routegen/routegen/runtime/web/internal/input"
)

type messageForm struct {
	Message string          `json:"message"`
	By      string          `json:"by,omitempty"`
	Machine string          `json:"machine,omitempty"`
	Name    string          `json:"name,omitempty"`
	Input   json.RawMessage `json:"input,omitempty"`

	// of a conversation: end the turn that waits
	Cancel   bool              `json:"cancel,omitempty"`
	Metadata map[string]string `json:"metadata,omitempty"` // of a conversation: for its handlers
}

func (c *Call) deliver() (any, error) {
	var f messageForm
	err := input.DecodeMessage(c.body, &f)
	if err != nil {
		return nil, err
	}
	if f.By, err = c.By(f.By); err != nil {
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
		if others, err := c.anothers(g, c.r.PathValue("thread"), machine); err != nil || others {
			return nil, cmp.Or(err, errAnothers)
		}
	}
	if f.Metadata, err = c.OwnMetadata(f.Metadata); err != nil {
		return nil, err
	}
	if c.s.cfg.takesMessage(machine) && f.Machine == "" && f.Input == nil {
		return c.converse(&f)
	}
	if f.Cancel || f.Metadata != nil {
		return nil, BadRequest(
			"cancel and metadata are for a conversation, and this thread is none")
	}
	if f.Machine == "" {
		f.Machine, f.Name = machine, name
	}
	return c.sendMessage(&f)
}

// guestPrefix stands before the names in what a capability token's holder sends along.
const guestPrefix = "guest."

// OwnMetadata returns what a caller sends along with a message as handlers get it: a guest's under
// names that begin with "guest.", so that no handler takes it for the operator's. The operator may
// not use such names.
func (c *Call) OwnMetadata(sent map[string]string) (map[string]string, error) {
	if c.who.grant == nil {
		for name := range sent {
			if strings.HasPrefix(name, guestPrefix) {
				return nil, input.Invalid("/metadata",
					"names that begin with guest. are for what guests send")
			}
		}
		return sent, nil
	}
	if sent == nil {
		return nil, nil
	}
	out := map[string]string{}
	for name, value := range sent {
		out[guestPrefix+name] = value
	}
	return out, nil
}

// converses reports whether threads of a machine are those of the conversation.
func (c *Config) converses(machine string) bool {
	return c.Conversation != nil && machine == c.Conversation.Machine.Name()
}

// takesMessage is converses that is true for an unknown thread too, whose machine is "".
func (c *Config) takesMessage(machine string) bool {
	return c.converses(machine) || c.Conversation != nil && machine == ""
}

// anothers reports whether a thread is a conversation with another person than a token speaks for:
// the token may not deliver messages to it. An unknown thread is nobody's until its first message.
func (c *Call) anothers(g *Grant, threadID, machine string) (bool, error) {
	if !c.s.cfg.takesMessage(machine) {
		return false, nil
	}
	t, err := c.engine.Thread(c.Context(), threadID)
	if c.who.person != nil && runtime.CodeOf(err) == runtime.CodeNotFound {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return t.User != "" && t.User != g.By, nil
}

// sendMessage gives a message to the engine.
func (c *Call) sendMessage(f *messageForm) (any, error) {
	request, err := c.RequestID()
	if err != nil {
		return nil, err
	}
	m := thread.Message{Thread: c.r.PathValue("thread"), Text: f.Message, Machine: f.Machine,
		Name: f.Name, By: f.By, Request: request}
	if f.Input != nil {
		m.Input = f.Input
	}
	t, err := c.engine.Deliver(c.Context(), m)
	switch {
	case errors.Is(err, thread.ErrRequestUsed):
		return nil, ErrOtherBody
	case err != nil:
		return nil, err
	}
	return threadOf(t), nil
}

// first returns what the first turn of a thread ran: a later one runs that too. An unknown thread
// has run nothing.
func (c *Call) first(name string) (machine, what string, err error) {
	rows, err := c.engine.History(c.Context(), name, 0, 10)
	for i := range rows {
		if rows[i].Type == thread.EntryEntered {
			return rows[i].Machine, rows[i].Name, nil
		}
	}
	return "", "", err
}

// CheckTalk returns [ErrNotFound] for a thread that exists and is no conversation of
// Config.Conversation: what a door of conversations must not touch.
func (c *Call) CheckTalk(threadID string) error {
	machine, _, err := c.first(threadID)
	switch {
	case runtime.CodeOf(err) == runtime.CodeNotFound:
		return nil
	case err != nil:
		return err
	case !c.s.cfg.takesMessage(machine):
		return ErrNotFound
	}
	return nil
}

// converse gives a message to the conversation, and waits for its turn as long as patience lasts:
// the turn goes on after that.
func (c *Call) converse(f *messageForm) (any, error) {
	request, err := c.RequestID()
	if err != nil {
		return nil, err
	}
	id, digest := c.r.PathValue("thread"), c.digest()
	if _, err := c.reserve(id, request, digest); err != nil &&
		runtime.CodeOf(err) != runtime.CodeNotFound {
		return nil, err
	}
	m := chat.Message{Thread: id, ID: request + "/turn", User: f.By, Text: f.Message,
		Cancel: f.Cancel, Metadata: f.Metadata, NoOrders: !c.Allows(ActionOperate)}
	if request == "" { // so that it can be found out whether it came in
		m.ID = "web/" + rand.Text()
	}
	ctx, cancel := c.Patient()
	defer cancel()
	turn, err := c.Conversation().Deliver(ctx, m)
	defer c.giveTime()() // it may have waited longer than a call may take
	if err != nil && ctx.Err() != nil {
		switch row, unread := c.engine.ByRequest(c.Context(), id, m.ID); {
		case unread != nil:
			return nil, unread
		case row != nil:
			turn, err = &chat.Turn{}, nil
		}
	}
	if err != nil {
		return nil, err
	}
	// the thread was made by this call, or by another with the same key
	if _, err := c.reserve(id, request, digest); err != nil {
		return nil, err
	}
	if turn.Thread == nil {
		if turn.Thread, err = c.engine.Thread(c.Context(), id); err != nil {
			return nil, err
		}
	}
	out := threadOf(turn.Thread)
	out.Reply = turn.Reply
	for _, i := range turn.Questions {
		if i.Thread != id {
			out.Beside = append(out.Beside, InterruptOf(i))
		}
	}
	return out, nil
}
