package web

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
	"github.com/routegen/routegen/runtime/workflow"
)

// Client calls a [Server]. A refusal is a [Problem], so [runtime.CodeOf] tells what it is; a server that cannot be reached is CodeUnavailable.
// All methods may be called by any number of goroutines; the fields are not changed then.
type Client struct {
	Base  string       // like http://127.0.0.1:8080
	Token string       // the operator's, or a capability
	HTTP  *http.Client // default: http.DefaultClient

	key string
}

// Once returns a client whose calls bear an Idempotency-Key, where they take none by themselves: use it for one call, and again for the same
// call when nobody knows what became of it.
func (c *Client) Once(key string) *Client {
	out := *c
	out.key = key
	return &out
}

// LogValue keeps the token out of logs.
func (c *Client) LogValue() slog.Value { return slog.StringValue("client of " + c.Base) }

// String is LogValue for fmt.
func (c *Client) String() string { return "client of " + c.Base }

// Start makes a thread of a machine. key, when it is not empty, is the Idempotency-Key: the same call again gets the same thread.
func (c *Client) Start(ctx context.Context, machine, name string, input any, by, key string) (*Thread, error) {
	data, err := runtime.Encode(input)
	if err != nil {
		return nil, err
	}
	return send[Thread](ctx, c, http.MethodPost, "/v1/threads", startForm{Machine: machine, Name: name, Input: data, By: by}, key)
}

// Thread returns a thread with its open interrupts.
func (c *Client) Thread(ctx context.Context, id string) (*Thread, error) {
	return send[Thread](ctx, c, http.MethodGet, "/v1/threads/"+url.PathEscape(id), nil, "")
}

// Deliver says something to a thread.
func (c *Client) Deliver(ctx context.Context, thread, text, by, key string) (*Thread, error) {
	return send[Thread](ctx, c, http.MethodPost, "/v1/threads/"+url.PathEscape(thread)+"/messages", messageForm{Message: text, By: by}, key)
}

// Inbox lists interrupts by the filters of the inbox call (state, kind, node, assignee, thread, before, after, limit), the most urgent first.
// next goes into the filter after; "" is the end. A state that there is not is refused with CodeInvalid, and so is a kind that neither the engine
// knows nor any stored interrupt has.
func (c *Client) Inbox(ctx context.Context, filters url.Values) (found []Interrupt, next string, err error) {
	page, err := send[list[Interrupt]](ctx, c, http.MethodGet, "/v1/interrupts?"+filters.Encode(), nil, "")
	if err != nil {
		return nil, "", err
	}
	return page.Items, page.Next, nil
}

// Interrupt returns an interrupt of any state.
func (c *Client) Interrupt(ctx context.Context, id string) (*Interrupt, error) {
	return send[Interrupt](ctx, c, http.MethodGet, "/v1/interrupts/"+url.PathEscape(id), nil, "")
}

// Answer answers the interrupt that the answer names; its Request is the Idempotency-Key.
func (c *Client) Answer(ctx context.Context, a runtime.Answer) (*Interrupt, error) {
	out, err := send[answered](ctx, c, http.MethodPost, "/v1/interrupts/"+url.PathEscape(a.Interrupt)+"/answer", formOf(&a), a.Request)
	if err != nil {
		return nil, err
	}
	return out.Interrupt, nil
}

// AnswerAll answers interrupts of any threads, all or none.
func (c *Client) AnswerAll(ctx context.Context, key string, answers ...runtime.Answer) ([]Interrupt, error) {
	var f answersForm
	for n := range answers {
		f.Answers = append(f.Answers, formOf(&answers[n]))
	}
	out, err := send[list[Interrupt]](ctx, c, http.MethodPost, "/v1/answers", f, key)
	if err != nil {
		return nil, err
	}
	return out.Items, nil
}

func formOf(a *runtime.Answer) answerForm {
	return answerForm{
		Interrupt: a.Interrupt, Question: a.Question, Value: a.Value, Text: a.Text, RouteTo: a.RouteTo, Digest: a.Digest, By: a.By,
	}
}

// Claim takes an interrupt on, or lays it down.
func (c *Client) Claim(ctx context.Context, interrupt, by string, release bool) (*Interrupt, error) {
	return send[Interrupt](ctx, c, http.MethodPost, "/v1/interrupts/"+url.PathEscape(interrupt)+"/claim", claimForm{By: by, Release: release}, "")
}

// Extend moves the deadline of an interrupt.
func (c *Client) Extend(ctx context.Context, interrupt string, until time.Time, by string) (*Interrupt, error) {
	return send[Interrupt](ctx, c, http.MethodPost, "/v1/interrupts/"+url.PathEscape(interrupt)+"/extend", extendForm{Until: until.UnixMilli(), By: by}, "")
}

// Escape asks a thread to pause, and returns what the person is told.
func (c *Client) Escape(ctx context.Context, thread, mode, by, reason string) (string, error) {
	out, err := send[ack](ctx, c, http.MethodPost, "/v1/threads/"+url.PathEscape(thread)+"/escape", escapeForm{Mode: mode, By: by, Reason: reason}, "")
	if err != nil {
		return "", err
	}
	return out.Ack, nil
}

// Cancel ends a thread.
func (c *Client) Cancel(ctx context.Context, thread, by, reason string) (*Thread, error) {
	return send[Thread](ctx, c, http.MethodPost, "/v1/threads/"+url.PathEscape(thread)+"/cancel", reasonForm{By: by, Reason: reason}, "")
}

// Fork makes a thread from an earlier point of another, and returns it with the effects that were done after that point.
func (c *Client) Fork(ctx context.Context, thread string, seq int64, id, by string) (*Thread, []Row, error) {
	out, err := send[forked](ctx, c, http.MethodPost, "/v1/threads/"+url.PathEscape(thread)+"/fork", forkForm{Seq: seq, ID: id, By: by}, "")
	if err != nil {
		return nil, nil, err
	}
	return &out.Thread, out.After, nil
}

// History lists what happened to a thread after a row; "" is the beginning. next goes into after; "" is the end.
func (c *Client) History(ctx context.Context, thread, after string, limit int) (rows []Row, next string, err error) {
	query := url.Values{"after": {after}, "limit": {strconv.Itoa(limit)}}
	page, err := send[list[Row]](ctx, c, http.MethodGet, "/v1/threads/"+url.PathEscape(thread)+"/history?"+query.Encode(), nil, "")
	if err != nil {
		return nil, "", err
	}
	return page.Items, page.Next, nil
}

// Reroute sends a reroute event to a thread, and returns what became of it.
func (c *Client) Reroute(ctx context.Context, thread string, event *workflow.Event) (string, error) {
	out, err := send[ack](ctx, c, http.MethodPost, "/v1/interrupt-events?thread="+url.QueryEscape(thread), event, "")
	if err != nil {
		return "", err
	}
	return out.Ack, nil
}

// PreviewPlan asks what a modification would make of a paused plan, see [workflow.PreviewPlan].
func (c *Client) PreviewPlan(ctx context.Context, thread, modification, by string) (*workflow.Proposal, error) {
	out, err := send[proposal](ctx, c, http.MethodPost, planPath(thread, "preview"), previewForm{Modification: modification, By: by}, "")
	if err != nil {
		return nil, err
	}
	return out.proposal(), nil
}

// ApplyPlan lets a paused thread go on with the plan of a proposal, see [workflow.ApplyPlan].
func (c *Client) ApplyPlan(ctx context.Context, p *workflow.Proposal, by string) (*Thread, error) {
	return send[Thread](ctx, c, http.MethodPost, planPath(p.Thread, "apply"), applyForm{Proposal: proposalOf(p), By: by}, "")
}

// UndoPlan lets a paused thread go on with the plan before its last change, see [workflow.UndoPlan].
func (c *Client) UndoPlan(ctx context.Context, thread, by string) (*Thread, error) {
	return send[Thread](ctx, c, http.MethodPost, planPath(thread, "undo"), byForm{By: by}, "")
}

// RedoPlan takes an UndoPlan back, see [workflow.RedoPlan].
func (c *Client) RedoPlan(ctx context.Context, thread, by string) (*Thread, error) {
	return send[Thread](ctx, c, http.MethodPost, planPath(thread, "redo"), byForm{By: by}, "")
}

func planPath(thread, what string) string {
	return "/v1/threads/" + url.PathEscape(thread) + "/plan/" + what
}

// At returns a thread as it was after entry seq.
func (c *Client) At(ctx context.Context, thread string, seq int64) (*Moment, error) {
	return send[Moment](ctx, c, http.MethodGet, "/v1/threads/"+url.PathEscape(thread)+"/at/"+strconv.FormatInt(seq, 10), nil, "")
}

// Stats counts the interrupts created since a time, see [thread.Engine.Stats]. Times are in whole milliseconds.
func (c *Client) Stats(ctx context.Context, since time.Time) ([]thread.Stat, error) {
	page, err := send[list[stat]](ctx, c, http.MethodGet, "/v1/stats?since="+strconv.FormatInt(max(0, since.UnixMilli()), 10), nil, "")
	if err != nil {
		return nil, err
	}
	out := make([]thread.Stat, len(page.Items))
	for n := range page.Items {
		out[n] = page.Items[n].stat()
	}
	return out, nil
}

// Programs lists what can be started. The graphs have no nodes here: ask for one with Program.
func (c *Client) Programs(ctx context.Context) ([]Graph, error) {
	page, err := send[list[Graph]](ctx, c, http.MethodGet, "/v1/programs", nil, "")
	if err != nil {
		return nil, err
	}
	return page.Items, nil
}

// Program returns the graph of a machine. One that the server was told nothing of is refused with CodeNotFound.
func (c *Client) Program(ctx context.Context, machine string) (*Graph, error) {
	return send[Graph](ctx, c, http.MethodGet, "/v1/programs/"+url.PathEscape(machine), nil, "")
}

// Grant makes the capability token that g describes: its thread, interrupt, actions, name and time.
func (c *Client) Grant(ctx context.Context, g Grant) (*Grant, error) {
	f := grantForm{Interrupt: g.Interrupt, Actions: g.Actions, By: g.By, Expires: g.Expires, Once: g.Once}
	return send[Grant](ctx, c, http.MethodPost, "/v1/threads/"+url.PathEscape(g.Thread)+"/tokens", f, "")
}

// Rights tells what the client's token may do now. The operator's may do everything, so it has all the actions, and no thread.
func (c *Client) Rights(ctx context.Context) (*Grant, error) {
	return send[Grant](ctx, c, http.MethodGet, "/v1/token", nil, "")
}

// Revoke ends a capability token before its time.
func (c *Client) Revoke(ctx context.Context, thread, id string) error {
	_, err := send[struct{}](ctx, c, http.MethodDelete, "/v1/threads/"+url.PathEscape(thread)+"/tokens/"+url.PathEscape(id), nil, "")
	return err
}

// Stream yields the outbox of a thread, or of all when it is "", after a row, and goes on until ctx ends, which is not yielded as an error. A
// connection that drops is opened again after the last row that came, so each row is yielded once. A refusal is yielded and ends it.
func (c *Client) Stream(ctx context.Context, thread, after string) iter.Seq2[Row, error] {
	path := "/v1/stream"
	if thread != "" {
		path = "/v1/threads/" + url.PathEscape(thread) + "/stream"
	}
	return func(yield func(Row, error) bool) {
		for pause := time.Duration(0); ; pause = min(2*pause+100*time.Millisecond, 5*time.Second) {
			select {
			case <-time.After(pause):
			case <-ctx.Done():
				return
			}
			up, err := c.stream(ctx, path, &after, yield)
			switch {
			case errors.Is(err, errStop) || ctx.Err() != nil:
				return
			case err != nil && runtime.CodeOf(err) != runtime.CodeUnavailable:
				yield(Row{}, err)
				return
			case up:
				pause = 0
			}
		}
	}
}

var errStop = errors.New("the reader has enough")

// silence is how long a stream may say nothing before it counts as dropped. A server that lives shows it every [Config.Beat], 15 seconds when it
// is not told otherwise; one that is gone without a word says nothing.
const silence = 50 * time.Second

// stream reads one connection to its end, and reports whether there was one.
func (c *Client) stream(ctx context.Context, path string, after *string, yield func(Row, error) bool) (up bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	quiet := time.AfterFunc(silence, cancel)
	defer quiet.Stop()
	body, err := c.open(ctx, http.MethodGet, path, nil, "Last-Event-ID", *after)
	if err != nil {
		return false, err
	}
	defer func() { _ = body.Close() }()
	lines := bufio.NewReader(body)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return true, nil // it dropped: the caller comes back
		}
		quiet.Reset(silence)
		data, is := strings.CutPrefix(line, "data: ")
		if !is {
			continue
		}
		var row Row
		if err := json.Unmarshal([]byte(data), &row); err != nil {
			return true, err
		}
		if *after = row.ID; !yield(row, nil) {
			return true, errStop
		}
	}
}

// send makes one call.
func send[T any](ctx context.Context, c *Client, method, path string, body any, key string) (*T, error) {
	var data []byte
	if body != nil {
		var err error
		if data, err = runtime.Encode(body); err != nil {
			return nil, err
		}
	}
	stream, err := c.open(ctx, method, path, data, "Idempotency-Key", cmp.Or(key, c.key))
	if err != nil {
		return nil, err
	}
	defer func() { _ = stream.Close() }()
	out := new(T)
	if err := json.NewDecoder(stream).Decode(out); err != nil && !errors.Is(err, io.EOF) {
		return nil, &runtime.Error{Code: runtime.CodeUnavailable, Op: "read answer", Err: err}
	}
	return out, nil
}

// open sends a request and returns the body of its success.
func (c *Client) open(ctx context.Context, method, path string, body []byte, header, value string) (io.ReadCloser, error) {
	const op = "call server"
	req, err := http.NewRequestWithContext(ctx, method, strings.TrimSuffix(c.Base, "/")+path, bytes.NewReader(body))
	if err != nil {
		return nil, &runtime.Error{Code: runtime.CodeInvalid, Op: op, Err: err}
	}
	req.Header.Set("Authorization", "Bearer "+c.Token)
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if value != "" {
		req.Header.Set(header, value)
	}
	caller := c.HTTP
	if caller == nil {
		caller = http.DefaultClient
	}
	res, err := caller.Do(req)
	if err != nil {
		return nil, &runtime.Error{Code: runtime.CodeUnavailable, Op: op, Err: err}
	}
	if res.StatusCode < http.StatusBadRequest {
		return res.Body, nil
	}
	defer func() { _ = res.Body.Close() }()
	p := new(Problem)
	if err := json.NewDecoder(io.LimitReader(res.Body, maxBody)).Decode(p); err != nil || p.Code == "" {
		return nil, &runtime.Error{Code: runtime.CodeUnavailable, Op: op, Err: errors.New(res.Status)}
	}
	return nil, p
}
