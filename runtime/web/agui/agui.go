package agui

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/chat"
	"github.com/routegen/routegen/runtime/thread"
	"github.com/routegen/routegen/runtime/web"
)

//go:embed schemas.json
var schemas []byte

// Door returns the door. It serves the machine of Config.Conversation, which must not be nil.
func Door() web.Door {
	return web.Door{NeedsConversation: true, Schemas: schemas, Routes: []web.Endpoint{{
		Method: http.MethodPost, Path: "/v1/agui/{machine}", ID: "agui",
		Summary: "A run of an AG-UI front end", Needs: web.AnyToken,
		Body: "RunAgentInput", Reply: "RunEvent", Stream: serveRun,
	}}}
}

// serveRun takes the input of a run and streams its events. A call that is not valid gets a
// problem; what the thread refuses is a RUN_ERROR.
func serveRun(c *web.Call) error {
	w, req := c.HTTP()
	if req.PathValue("machine") != c.Config().Conversation.Machine.Name() {
		return web.ErrNotFound
	}
	in, err := readRun(c.Body())
	if err != nil {
		return err
	}
	c.SetAbout(in.thread)
	user, err := checkRights(c, in)
	if err != nil {
		return err
	}
	if err := c.CheckTalk(in.thread); err != nil {
		return err
	}
	ctx, leave, err := c.EnterStream(c.Context())
	if err != nil {
		return err
	}
	defer leave()
	w.Header().Set("Content-Type", "text/event-stream")
	w.WriteHeader(http.StatusOK)
	r := &runStream{Call: c, in: in, user: user, fold: newFold(in, c.Config().Now())}
	if !c.Allows(web.ActionInspect) {
		r.fold.withhold = c.WithholdInterrupt
	}
	if r.emit(r.fold.started()...) {
		r.streamRun(ctx)
	}
	return nil
}

// checkRights checks that the caller's token allows the run, which reads the thread, and delivers a
// message or answers. It returns the user of the run.
func checkRights(c *web.Call, in *runInput) (user string, err error) {
	right := web.ActionDeliver
	if len(in.resume) > 0 {
		right = web.ActionAnswer
	}
	switch g := c.Grant(); {
	case g == nil:
	case !c.Reaches(in.thread):
		return "", web.ErrNotFound
	case g.Interrupt != "" || g.Once || !c.Allows(web.ActionFollow) || !c.Allows(right):
		return "", web.ErrForbidden
	}
	return c.By(in.by)
}

// runStream is one run on its way.
type runStream struct {
	*web.Call
	in   *runInput
	user string
	fold *fold
	kept bool // the thread has the message
}

// emit writes events, and reports whether the client has taken them in time.
func (r *runStream) emit(events ...event) bool {
	for i := range events {
		data, err := json.Marshal(&events[i])
		if err != nil || !r.Send(fmt.Sprintf("data: %s\n\n", data)) {
			return false
		}
	}
	return true
}

// streamRun streams the run until it ends. A client that goes away only misses what comes: the run
// is the engine's.
func (r *runStream) streamRun(ctx context.Context) {
	m, err := r.message(ctx)
	switch {
	case err != nil:
		r.fail(ctx, err)
		return
	case m == nil:
		r.sendEnd(ctx)
		return
	}
	rows := r.deliver(ctx, *m)
	beat := time.NewTicker(r.Config().Beat)
	defer beat.Stop()
	for {
		select {
		case row, more := <-rows:
			switch {
			case ctx.Err() != nil:
				return
			case !more:
				r.sendEnd(ctx)
				return
			case !r.pass(ctx, row):
				return
			}
		case <-beat.C:
			if !r.Send(": still here\n\n") {
				return
			}
		case <-ctx.Done():
			return
		}
	}
}

// rowOrError is what a stream of a conversation yields.
type rowOrError struct {
	row thread.Entry
	err error
}

// deliver hands out the rows of the message's turn. Until the message is stored no connection that
// drops can stop it, as with every call.
func (r *runStream) deliver(ctx context.Context, m chat.Message) <-chan rowOrError {
	rows := make(chan rowOrError)
	go func() {
		defer close(rows)
		going, cancel := context.WithCancel(context.WithoutCancel(ctx))
		defer cancel()
		stop := func() bool { return true }
		defer func() { stop() }()
		first := true
		for row, err := range r.Conversation().DeliverStream(going, m) {
			if first {
				first = false
				stop = context.AfterFunc(ctx, cancel)
			}
			select {
			case rows <- rowOrError{row, err}:
			case <-ctx.Done():
				return
			}
		}
	}()
	return rows
}

// pass sends what a row says to the client, and reports whether the stream goes on.
func (r *runStream) pass(ctx context.Context, got rowOrError) bool {
	row := &got.row
	if got.err != nil {
		r.emit(r.fold.entryEvents(row, nil)...) // an apology, where the thread cannot be read
		r.fail(ctx, got.err)
		return false
	}
	if !r.kept {
		r.kept = true
		r.Audit(http.StatusOK, "")
	}
	if r.Revokes(row) {
		return false
	}
	var asked *thread.Interrupt
	if row.Type == thread.EntryAnswered || row.Type == thread.EntryExpired {
		var err error
		if asked, err = r.Engine().Interrupt(ctx, row.Interrupt); err != nil {
			r.fail(ctx, err)
			return false
		}
	}
	return r.emit(r.fold.entryEvents(row, asked)...)
}

// sendEnd ends a run as its thread is now.
func (r *runStream) sendEnd(ctx context.Context) {
	t, err := r.Engine().Thread(ctx, r.in.thread)
	open := []*thread.Thread{t}
	if beside := r.fold.beside(); err == nil && beside != "" {
		t, err = r.Engine().Thread(ctx, beside)
		open = append(open, t)
	}
	if err != nil {
		r.fail(ctx, err)
		return
	}
	r.emit(r.fold.finished(t, open...)...)
}

// fail ends a run with an error. Where the thread waits for an answer the client hears what is
// open, so that it can ask its user.
func (r *runStream) fail(ctx context.Context, err error) {
	if ctx.Err() != nil {
		return // the client is gone, or the server ends: the same run again shows the rest
	}
	code, text := errorOf(err)
	if !r.kept {
		r.Audit(http.StatusOK, runtime.Code(code))
	}
	if code == string(runtime.CodeInternal) {
		r.LogDefect(err)
	}
	var open []*thread.Thread
	if code == pendingInterrupt || code == string(runtime.CodeAmbiguous) {
		if t, err := r.Engine().Thread(ctx, r.in.thread); err == nil {
			open = append(open, t)
		}
	}
	r.emit(r.fold.failed(code, text, open...)...)
}

// message returns what the run says to its thread, or nil if it says nothing and the caller may see
// the state of the thread.
func (r *runStream) message(ctx context.Context) (*chat.Message, error) {
	sent, err := r.OwnMetadata(r.in.metadata())
	if err != nil {
		return nil, err
	}
	maps.Copy(sent, map[string]string{metaRun: r.in.run, metaDigest: r.in.digest}) // made here
	m := &chat.Message{
		Thread: r.in.thread, ID: r.in.request(), User: r.user, Text: r.in.text, Away: r.in.away,
		Metadata: sent, NoOrders: !r.Allows(web.ActionOperate),
	}
	if len(r.in.resume) > 0 {
		if err := r.resume(ctx, m); err != nil {
			return nil, err
		}
	}
	id := m.Thread
	row, err := r.Engine().ByRequest(ctx, id, m.ID)
	if err == nil && row != nil && chat.SideThread(row) != "" {
		id = chat.SideThread(row)
		row, err = r.Engine().ByRequest(ctx, id, m.ID)
	}
	switch {
	case err != nil && runtime.CodeOf(err) != runtime.CodeNotFound:
		return nil, err
	case row != nil:
		return m, r.again(ctx, id, row)
	case m.Text != "":
		m.Open = r.seen(ctx)
	case len(m.Answers) == 0 && !m.Cancel:
		return nil, r.look(ctx)
	}
	return m, nil
}

// seen returns the ids of the open questions that the front end has, never nil. If the thread
// cannot be read, the delivery reports it.
func (r *runStream) seen(ctx context.Context) []string {
	out := []string{}
	t, err := r.Engine().Thread(ctx, r.in.thread)
	if err != nil {
		return out
	}
	for _, i := range t.OpenInterrupts() {
		if r.in.shows(i) {
			out = append(out, i.ID)
		}
	}
	return out
}

// again refuses a run with another input under an id that was used, since it would get the result
// of the first input. A run without any input may ask how the run of that id went.
func (r *runStream) again(ctx context.Context, threadID string, row *thread.Entry) error {
	if r.in.text == "" && len(r.in.resume) == 0 {
		return nil
	}
	rows, err := r.Engine().History(ctx, threadID, max(0, row.Seq-2), 3)
	if err != nil {
		return err
	}
	// What came with a message stands after its entry, or before that in a new thread, or is its
	// entry.
	at := slices.IndexFunc(rows, func(e thread.Entry) bool { return e.Seq == row.Seq })
	for _, n := range []int{at, at + 1, at - 1} {
		if n < 0 || n >= len(rows) || rows[n].Type != thread.EntryMetadata {
			continue
		}
		var came map[string]string
		if json.Unmarshal(rows[n].Value, &came) == nil && came[metaDigest] != "" &&
			came[metaDigest] != r.in.digest {
			return web.ErrOtherBody
		}
		return nil
	}
	return nil
}

// look refuses a run that brings nothing new where its user may not see the thread.
func (r *runStream) look(ctx context.Context) error {
	t, err := r.Engine().Thread(ctx, r.in.thread)
	if err == nil && t.User != "" && t.User != r.user {
		err = web.ErrForbidden
	}
	return err
}
