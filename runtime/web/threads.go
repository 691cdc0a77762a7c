package web

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
	"github.com/routegen/routegen/runtime/web/internal/input"
)

type startForm struct {
	ID       string          `json:"id,omitempty"`
	Machine  string          `json:"machine"`
	Name     string          `json:"name,omitempty"`
	Input    json.RawMessage `json:"input,omitempty"`
	By       string          `json:"by,omitempty"`
	Metadata json.RawMessage `json:"metadata,omitempty"`
}

func (c *Call) start(f *startForm) (any, error) {
	if f.ID != "" && !input.ValidID(f.ID) {
		return nil, input.Invalid("/id", "is no id: "+input.IDRule)
	}
	request, err := c.RequestID()
	if err != nil {
		return nil, err
	}
	if f.Metadata != nil && c.who.grant != nil {
		return nil, input.Invalid("/metadata", "is for the operator: handlers trust it")
	}
	if f.Input == nil {
		f.Input = json.RawMessage("null")
	}
	if err := c.checkStart(f); err != nil {
		return nil, err
	}
	t, err := c.engine.Start(c.Context(), thread.Begin{
		ID: f.ID, Machine: f.Machine, Name: f.Name, Input: f.Input, User: f.By, Request: request,
		Metadata: f.Metadata,
	})
	switch {
	case errors.Is(err, thread.ErrRequestUsed):
		return nil, ErrOtherBody
	case err != nil:
		return nil, input.Under(err, "/input")
	}
	c.about = t.ID
	return threadOf(t), nil
}

// checkStart holds an input to the schema that the program declares for it. What has none is left
// to the machine. A person starts what the program declares, and without a name what declares
// nothing: the operator alone starts a machine at another place.
func (c *Call) checkStart(f *startForm) error {
	starts := c.s.cfg.Programs[f.Machine].Starts
	if g := c.s.graphs[f.Machine]; g != nil && c.who.person != nil {
		starts = g.Starts
	}
	for _, start := range starts {
		if start.Name != f.Name {
			continue
		}
		if start.Schema == nil {
			return nil
		}
		return input.Under(c.engine.CheckValue(start.Schema, f.Input), "/input")
	}
	if c.who.person != nil && (f.Name != "" || len(starts) > 0) {
		return ErrForbidden
	}
	return nil
}

func (c *Call) threads() (any, error) {
	query := c.r.URL.Query()
	q := thread.Query{AfterID: query.Get("after"), Limit: c.limit}
	var err error
	if q.Statuses, err = chosen("status", query.Get("status"), threadStatuses); err != nil {
		return nil, err
	}
	found, err := c.engine.Threads(c.Context(), q)
	if err != nil {
		return nil, err
	}
	type row struct {
		ID      string        `json:"id"`
		Version int64         `json:"version"`
		Status  thread.Status `json:"status"`
		Wake    int64         `json:"wake,omitempty"`
	}
	out := list[row]{Items: []row{}}
	for _, t := range found {
		out.Items = append(out.Items, row{t.ID, t.Version, t.Status, millis(t.Wake)})
		out.Next = t.ID
	}
	if len(found) < c.limit {
		out.Next = ""
	}
	return out, nil
}

func (c *Call) thread() (any, error) {
	t, err := c.engine.Thread(c.Context(), c.r.PathValue("thread"))
	return sent(threadOf, t, err)
}

type escapeForm struct {
	Mode   string `json:"mode,omitempty"`
	Reason string `json:"reason,omitempty"`
	By     string `json:"by,omitempty"`
}

type ack struct {
	Ack string `json:"ack"`
}

func ackOf(told string) ack { return ack{told} }

// sent puts a result into its form on the wire.
func sent[T, W any](wire func(T) W, v T, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return wire(v), nil
}

func (c *Call) escape(f *escapeForm) (any, error) {
	if f.Mode == "" {
		f.Mode = thread.EscapeSafe
	}
	_, told, err := c.commitOnce(c.r.PathValue("thread"), func(ch *thread.Change) (string, error) {
		return ch.Escape(f.Mode, f.By, f.Reason)
	})
	return sent(ackOf, told, err)
}

type reasonForm struct {
	Reason string `json:"reason,omitempty"`
	By     string `json:"by,omitempty"`
}

func (c *Call) cancel(f *reasonForm) (any, error) {
	t, _, err := c.commitOnce(c.r.PathValue("thread"), func(ch *thread.Change) (string, error) {
		return "", ch.Cancel(f.By, f.Reason)
	})
	return sent(threadOf, t, err)
}

func (c *Call) history() (any, error) { return c.log(func(*thread.Entry) bool { return true }) }

// outbox is the history of what concerns people.
func (c *Call) outbox() (any, error) { return c.log(InOutbox) }

func (c *Call) log(keep func(e *thread.Entry) bool) (any, error) {
	name := c.r.PathValue("thread")
	if _, err := c.engine.Thread(c.Context(), name); err != nil {
		return nil, err
	}
	at, err := c.placed(c.Context(), name, c.r.URL.Query().Get("after"))
	if err != nil {
		return nil, err
	}
	rows, err := c.engine.History(c.Context(), name, at.Seq, c.limit)
	if err != nil {
		return nil, err
	}
	out := list[Row]{Items: []Row{}}
	for i := range rows {
		if !keep(&rows[i]) {
			continue
		}
		row, err := c.rowFor(c.Context(), &rows[i])
		if err != nil {
			return nil, err
		}
		out.Items = append(out.Items, row)
	}
	if len(rows) == c.limit {
		out.Next = RowID(name, rows[c.limit-1].Seq)
	}
	return out, nil
}

// mark is where a page of the inbox ended.
type mark struct {
	Priority int    `json:"p"`
	Created  int64  `json:"c"`
	ID       string `json:"i"`
}

func (m mark) String() string {
	data, _ := json.Marshal(m) //nolint:errchkjson // numbers and a string
	return base64.RawURLEncoding.EncodeToString(data)
}

func parseMark(text string) (*thread.InterruptMark, error) {
	var m mark
	data, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || json.Unmarshal(data, &m) != nil || m.String() != text {
		return nil, refusal(http.StatusBadRequest, runtime.CodeInvalid,
			"after is the next of the page before")
	}
	return &thread.InterruptMark{Priority: m.Priority, Created: time.UnixMilli(m.Created).UTC(),
		ID: m.ID}, nil
}
