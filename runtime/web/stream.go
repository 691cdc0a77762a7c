package web

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"time"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
)

// outboxTypes are the entries that concern people: the outbox shows them, the history has all.
var outboxTypes = []thread.EntryType{
	thread.EntryStarted, thread.EntryMessage, thread.EntryAsked, thread.EntryOpened,
	thread.EntryQueued, thread.EntrySuperseded,
	thread.EntryAnswered, thread.EntryVoted, thread.EntryReasked, thread.EntryExpired,
	thread.EntryCancelled, thread.EntryClaimed,
	thread.EntryExtended, thread.EntryReminded, thread.EntryEscalated, thread.EntryEscape,
	thread.EntryPaused, thread.EntryResumed,
	thread.EntryModified, thread.EntryReroute, thread.EntryReturned, thread.EntryOver,
}

// InOutbox reports whether an entry stands in the outbox. Entries about tokens and keys stand in
// the history only.
func InOutbox(e *thread.Entry) bool {
	if e.Type == thread.EntryMessage {
		return e.Name != grantName && e.Name != revokedName &&
			(e.Name != requestName || e.Request == "")
	}
	return slices.Contains(outboxTypes, e.Type)
}

// placed returns the entry that a cursor stands on; the empty cursor is the beginning. A cursor
// that was never given out is refused: it would skip what is still to come. With a thread, so is
// one of another thread.
func (c *Call) placed(ctx context.Context, threadID, after string) (thread.Entry, error) {
	if after == "" {
		return thread.Entry{}, nil
	}
	name, seq, ok := parseRowID(after)
	if !ok || threadID != "" && name != threadID {
		return thread.Entry{}, BadRequest(
			"that is no cursor of this stream: use the id of the last row that came")
	}
	if seq == 0 {
		return thread.Entry{}, nil
	}
	rows, err := c.engine.History(ctx, name, seq-1, 1)
	if err != nil {
		return thread.Entry{}, err
	}
	if len(rows) == 0 || rows[0].Seq != seq {
		return thread.Entry{}, BadRequest(
			"that cursor was never given out: use the id of the last row that came")
	}
	return rows[0], nil
}

// EnterStream counts a stream, and refuses it if there are too many. The context ends with the
// token, with the server, or with that of the connection; that of a person ends within Config.Beat
// after they are signed in no longer. leave must be called at the end.
func (c *Call) EnterStream(connected context.Context) (ctx context.Context, leave func(),
	err error) {
	g := c.who.grant
	if !c.s.shares.acquire(g, max(1, c.s.cfg.MaxStreams/share)) {
		return nil, nil, refusal(http.StatusServiceUnavailable, runtime.CodeUnavailable,
			"too many streams of this token: come back later")
	}
	if c.s.streams.Add(1) > int64(c.s.cfg.MaxStreams) {
		c.s.streams.Add(-1)
		c.s.shares.leave(g)
		return nil, nil, refusal(http.StatusServiceUnavailable, runtime.CodeUnavailable,
			"too many streams: come back later")
	}
	ctx, cancel := context.WithCancel(connected)
	stop := context.AfterFunc(c.s.ending, cancel)
	timer := func() bool { return true }
	switch {
	case c.who.person != nil:
		timer = c.watchPerson(ctx, cancel)
	case g != nil:
		timer = time.AfterFunc(time.UnixMilli(g.Expires).Sub(c.s.cfg.Now()), cancel).Stop
	default:
		timer = context.AfterFunc(c.who.key.life, cancel)
	}
	return ctx, func() {
		stop()
		timer()
		cancel()
		c.s.streams.Add(-1)
		c.s.shares.leave(g)
	}, nil
}

// readAhead is how long what was read from the store waits for a reader who has not taken the row
// before it.
const readAhead = time.Second

// follow hands out the rows of a thread, or of all, after a cursor, one when the last one was
// taken: a slow reader blocks no other and fills no memory. What was read ahead is let go
// while a reader takes his time, and read again. The channel is closed when ctx ends, and after
// broken was called: the store refuses, or the token was revoked.
func (c *Call) follow(ctx context.Context, name string, cursor int64, broken func()) <-chan Row {
	rows := make(chan Row)
	go func() {
		defer close(rows)
		for late := true; late && ctx.Err() == nil; {
			var row Row
			row, cursor, late = c.handOut(ctx, name, cursor, rows, broken)
			if !late {
				return
			}
			select {
			case rows <- row:
			case <-ctx.Done():
			}
		}
	}()
	return rows
}

// handOut is follow until a row is not taken in time: it returns that one and its cursor then, with
// late.
func (c *Call) handOut(ctx context.Context, name string, cursor int64, rows chan<- Row,
	broken func()) (row Row, at int64, late bool) {
	tired := time.NewTimer(readAhead)
	defer tired.Stop()
	for e, err := range c.engine.Subscribe(ctx, thread.Filter{Thread: name}, cursor) {
		if err == nil && !c.Revokes(&e) && !InOutbox(&e) {
			continue
		}
		if err == nil {
			row, err = c.rowFor(ctx, &e)
		}
		switch {
		case ctx.Err() != nil:
			return row, e.Cursor, false
		case err != nil || c.Revokes(&e):
			broken()
			return row, e.Cursor, false
		}
		tired.Reset(readAhead)
		select {
		case rows <- row:
		case <-tired.C:
			return row, e.Cursor, true
		case <-ctx.Done():
			return row, e.Cursor, false
		}
	}
	return row, cursor, false
}

// Revokes reports whether an entry revokes the token of the call.
func (c *Call) Revokes(e *thread.Entry) bool {
	g := c.who.grant
	return g != nil && e.Name == revokedName && e.Thread == g.Thread &&
		string(e.Value) == `"`+g.ID+`"`
}

// events is a stream of Server-Sent Events: the rows of the outbox, each with its cursor as event
// id.
func (c *Call) events() error {
	name, after := c.r.PathValue("thread"), c.r.Header.Get("Last-Event-ID")
	if after == "" {
		after = c.r.URL.Query().Get("after")
	}
	if name != "" {
		if _, err := c.engine.Thread(c.Context(), name); err != nil {
			return err
		}
	}
	at, err := c.placed(c.Context(), name, after)
	if err != nil {
		return err
	}
	ctx, leave, err := c.EnterStream(c.Context())
	if err != nil {
		return err
	}
	defer leave()
	c.w.Header().Set("Content-Type", "text/event-stream")
	c.w.WriteHeader(c.route.Status)
	rows := c.follow(ctx, name, at.Cursor, func() {})
	beat := time.NewTicker(c.s.cfg.Beat)
	defer beat.Stop()
	for text := "retry: 1000\n\n"; c.Send(text); {
		text = ": still here\n\n"
		select {
		case row, more := <-rows:
			data, err := json.Marshal(row)
			if !more || err != nil {
				// the headers are out: the client comes back with its last id, and hears why
				return nil
			}
			text = "id: " + row.ID + "\nevent: row\ndata: " + string(data) + "\n\n"
		case <-beat.C:
		case <-ctx.Done():
			return nil
		}
	}
	return nil
}

// Send writes to a stream, and reports whether the client has taken it in time.
func (c *Call) Send(text string) bool {
	control := http.NewResponseController(c.w)
	if control.SetWriteDeadline(time.Now().Add(c.s.cfg.Timeout)) != nil {
		return false
	}
	_, err := io.WriteString(c.w, text)
	return err == nil && control.Flush() == nil
}
