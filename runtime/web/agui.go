package web

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/workflow"
)

// AG-UI is a way for chat front ends to talk to an agent: a run is one POST, answered by a stream
// of events. Here a run brings a message to the conversation, the user's last one, and goes by the
// id of that: the same message again, under whatever run id, is taken once and gets the rows of its
// turn again. A resumption goes by its run id. The events are made of these rows, so nothing that a
// front end sees is not stored.
//
// A run of a thread that waits ends with the outcome interrupt and everything open; the next run
// resumes it. It may also just bring a text, which answers the one question that takes plain text,
// unless the conversation is strict. The list of messages must have the question then: without it
// the text is refused with pending_interrupt, since its user may not have seen what is asked. A run
// that brings nothing new, as of a page that was loaded again, shows how the thread is and what it
// asks.
//
// What the front end offers of its own tools, and its copy of the state, is not used: tools are the
// spec's, and the state is the thread. Its context and forwardedProps go to the handlers, see
// [workflow.Metadata]; in forwardedProps, by is in whose name the operator's token runs, and away
// that the user wrote without seeing what the thread asks. In the metadata of a resumption, digest
// binds it to what was shown, and routeTo sends the work elsewhere, with the payload, a text, as the
// note to that place.

// aguiRoutes are the calls of AG-UI: none without a conversation.
func (s *Server) aguiRoutes() []route {
	if s.cfg.Conversation == nil {
		return nil
	}
	return []route{{
		method: http.MethodPost, path: "/v1/agui/{machine}", id: "agui", summary: "A run of an AG-UI front end", may: anyToken,
		body: "RunAgentInput", reply: "RunEvent", status: http.StatusOK, stream: (*call).agui,
	}}
}

// agui takes the input of a run and streams its events. What is wrong with the call is a problem; what the thread refuses is a RUN_ERROR.
func (c *call) agui() error {
	if c.r.PathValue("machine") != workflow.Name {
		return errNotFound
	}
	in, err := readRun(c.body)
	if err != nil {
		return err
	}
	c.about = in.thread
	user, err := c.mayRun(in)
	if err != nil {
		return err
	}
	ctx, leave, err := c.enter(c.ctx())
	if err != nil {
		return err
	}
	defer leave()
	c.w.Header().Set("Content-Type", "text/event-stream")
	c.w.WriteHeader(c.route.status)
	r := &run{call: c, in: in, user: user, fold: newFold(in, c.s.cfg.Now())}
	if r.emit(r.fold.started()...) {
		r.answer(ctx)
	}
	return nil
}

// mayRun holds the caller's token to a run, which reads the thread, and says something to it or answers. It returns whose run it is.
func (c *call) mayRun(in *runInput) (user string, err error) {
	right := mayDeliver
	if len(in.resume) > 0 {
		right = mayAnswer
	}
	switch g := c.who.grant; {
	case g == nil:
	case g.Thread != in.thread:
		return "", errNotFound
	case g.Interrupt != "" || g.Once || !c.who.may(mayView) || !c.who.may(right):
		return "", errForbidden
	}
	return c.by(in.by)
}

// run is one run on its way.
type run struct {
	*call
	in   *runInput
	user string
	fold *fold
	kept bool // the thread has the message
}

// emit writes events, and reports whether the client has taken them in time.
func (r *run) emit(events ...event) bool {
	for i := range events {
		data, err := json.Marshal(&events[i])
		if err != nil || !r.send(fmt.Sprintf("data: %s\n\n", data)) {
			return false
		}
	}
	return true
}

// answer streams the run until it ends. A client that goes away only misses what comes: the run is the engine's.
func (r *run) answer(ctx context.Context) {
	m, err := r.message(ctx)
	switch {
	case err != nil:
		r.fail(ctx, err)
		return
	case m == nil:
		r.finish(ctx)
		return
	}
	rows := r.deliver(ctx, *m)
	beat := time.NewTicker(r.s.cfg.Beat)
	defer beat.Stop()
	for {
		select {
		case row, more := <-rows:
			switch {
			case ctx.Err() != nil:
				return
			case !more:
				r.finish(ctx)
				return
			case !r.pass(ctx, row):
				return
			}
		case <-beat.C:
			if !r.send(": still here\n\n") {
				return
			}
		case <-ctx.Done():
			return
		}
	}
}

// rowOrError is what a stream of a conversation yields.
type rowOrError struct {
	row runtime.Entry
	err error
}

// deliver hands out the rows of the message's turn. Until the message is stored no connection that drops can stop it, as with every call.
func (r *run) deliver(ctx context.Context, m workflow.Message) <-chan rowOrError {
	rows := make(chan rowOrError)
	go func() {
		defer close(rows)
		going, cancel := context.WithCancel(context.WithoutCancel(ctx))
		defer cancel()
		stop := func() bool { return true }
		defer func() { stop() }()
		first := true
		for row, err := range r.s.cfg.Conversation.DeliverStream(going, m) {
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
func (r *run) pass(ctx context.Context, got rowOrError) bool {
	row := &got.row
	if got.err != nil {
		r.emit(r.fold.row(row, nil)...) // an apology, where the thread cannot be read
		r.fail(ctx, got.err)
		return false
	}
	if !r.kept {
		r.kept = true
		r.audit(r.route.status, "")
	}
	if r.lost(row) {
		return false
	}
	var asked *runtime.Interrupt
	if row.Type == runtime.EntryAnswered || row.Type == runtime.EntryExpired {
		var err error
		if asked, err = r.s.engine.Interrupt(ctx, row.Interrupt); err != nil {
			r.fail(ctx, err)
			return false
		}
	}
	return r.emit(r.fold.row(row, asked)...)
}

// finish ends a run as its thread is now.
func (r *run) finish(ctx context.Context) {
	t, err := r.s.engine.Thread(ctx, r.in.thread)
	open := []*runtime.Thread{t}
	if beside := r.fold.beside(); err == nil && beside != "" {
		t, err = r.s.engine.Thread(ctx, beside)
		open = append(open, t)
	}
	if err != nil {
		r.fail(ctx, err)
		return
	}
	r.emit(r.fold.finished(t, open...)...)
}

// fail ends a run with an error. Where the thread waits for an answer the client hears what is open, so that it can ask its user.
func (r *run) fail(ctx context.Context, err error) {
	if ctx.Err() != nil {
		return // nobody listens, or the server ends: the same run again shows how it went on
	}
	code, text := errorOf(err)
	if !r.kept {
		r.audit(r.route.status, runtime.Code(code))
	}
	if code == string(runtime.CodeInternal) {
		r.s.log.Error("web defect", "request", r.id, "operation", r.operation(), "type", fmt.Sprintf("%T", innermost(err)))
	}
	var open []*runtime.Thread
	if code == pendingInterrupt || code == string(runtime.CodeAmbiguous) {
		if t, err := r.s.engine.Thread(ctx, r.in.thread); err == nil {
			open = append(open, t)
		}
	}
	r.emit(r.fold.failed(code, text, open...)...)
}

// message is what the run says to its thread; nil when that is nothing, and the caller may see how
// the thread is.
func (r *run) message(ctx context.Context) (*workflow.Message, error) {
	m := &workflow.Message{
		Thread: r.in.thread, ID: r.in.request(), User: r.user, Text: r.in.text, Away: r.in.away,
		Metadata: r.in.metadata(),
	}
	if len(r.in.resume) > 0 {
		if err := r.resume(ctx, m); err != nil {
			return nil, err
		}
	}
	id := m.Thread
	row, err := r.s.engine.ByRequest(ctx, id, m.ID)
	if err == nil && row != nil && row.Type == runtime.EntryMessage { // a thread beside took it
		var aside struct {
			Thread string `json:"thread"`
		}
		if err = json.Unmarshal(row.Value, &aside); err == nil && aside.Thread != "" {
			id = aside.Thread
			row, err = r.s.engine.ByRequest(ctx, id, m.ID)
		}
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

// seen are the open questions that the front end has, never nil. Where the thread cannot be read,
// the delivery says so.
func (r *run) seen(ctx context.Context) []string {
	out := []string{}
	t, err := r.s.engine.Thread(ctx, r.in.thread)
	if err != nil {
		return out
	}
	for _, i := range openOf(t) {
		if r.in.shows(i) {
			out = append(out, i.ID)
		}
	}
	return out
}

// again refuses a run of another input under an id that was used: it would get what came of the
// other one. A run without any input is a look at how the run of that id went.
func (r *run) again(ctx context.Context, thread string, row *runtime.Entry) error {
	if r.in.text == "" && len(r.in.resume) == 0 {
		return nil
	}
	rows, err := r.s.engine.History(ctx, thread, max(0, row.Seq-2), 3)
	if err != nil {
		return err
	}
	// What came with a message stands after its entry, or before that in a new thread, or is its entry.
	at := slices.IndexFunc(rows, func(e runtime.Entry) bool { return e.Seq == row.Seq })
	for _, n := range []int{at, at + 1, at - 1} {
		if n < 0 || n >= len(rows) || rows[n].Type != runtime.EntryMetadata {
			continue
		}
		var came map[string]string
		if json.Unmarshal(rows[n].Value, &came) == nil && came[metaDigest] != "" && came[metaDigest] != r.in.digest {
			return errOtherBody
		}
		return nil
	}
	return nil
}

// look refuses a run that brings nothing new where its user may not see the thread.
func (r *run) look(ctx context.Context) error {
	t, err := r.s.engine.Thread(ctx, r.in.thread)
	if err == nil && t.User != "" && t.User != r.user {
		err = errForbidden
	}
	return err
}
