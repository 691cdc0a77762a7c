// Package client calls a server of package web, its doors included.
package client

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/planner"
	"github.com/routegen/routegen/runtime/thread"
	"github.com/routegen/routegen/runtime/web"
	"github.com/routegen/routegen/runtime/workflow"
)

// Client calls a [web.Server]. A refusal is a [web.Problem], so [runtime.CodeOf] tells what it is;
// a server that cannot be reached is CodeUnavailable. All methods may be called by any number of
// goroutines; the fields are not changed then.
type Client struct {
	Base  string       // like http://127.0.0.1:8080
	Token string       // the operator's, or a capability
	HTTP  *http.Client // default: http.DefaultClient

	key string
}

// bodyFields is the body of a call.
type bodyFields map[string]any

// list is a page of anything.
type list[T any] struct {
	Items []T    `json:"items"`
	Next  string `json:"next"`
}

type answered struct {
	Interrupt *web.Interrupt `json:"interrupt"`
}

type ack struct {
	Ack string `json:"ack"`
}

// Once returns a client that sends key as the Idempotency-Key of calls without a key parameter: use
// it for one call, and again for the same call if its outcome is unknown.
func (c *Client) Once(key string) *Client {
	out := *c
	out.key = key
	return &out
}

// LogValue keeps the token out of logs.
func (c *Client) LogValue() slog.Value { return slog.StringValue("client of " + c.Base) }

// String is LogValue for fmt.
func (c *Client) String() string { return "client of " + c.Base }

// Start makes a thread of a machine. key, when it is not empty, is the Idempotency-Key: the same
// call again gets the same thread.
func (c *Client) Start(ctx context.Context, machine, name string, input any, by, key string) (
	*web.Thread, error) {
	data, err := runtime.Encode(input)
	if err != nil {
		return nil, err
	}
	return send[web.Thread](ctx, c, http.MethodPost, "/v1/threads",
		bodyFields{"machine": machine, "name": name, "input": json.RawMessage(data), "by": by}, key)
}

// Thread returns a thread with its open interrupts.
func (c *Client) Thread(ctx context.Context, id string) (*web.Thread, error) {
	return get[web.Thread](ctx, c, threadPath(id, ""))
}

// Deliver delivers a message to a thread.
func (c *Client) Deliver(ctx context.Context, thread, text, by, key string) (*web.Thread, error) {
	return send[web.Thread](ctx, c, http.MethodPost, threadPath(thread, "/messages"),
		bodyFields{"message": text, "by": by}, key)
}

// Inbox lists interrupts by the filters of the inbox call (state, kind, node, assignee, mine,
// thread, before, after, limit), the most urgent first. next goes into the filter after; "" is the
// end. An unknown state is refused with CodeInvalid, and so is a kind that neither the engine knows
// nor any stored interrupt has.
func (c *Client) Inbox(ctx context.Context, filters url.Values) (found []web.Interrupt, next string,
	err error) {
	return listed(get[list[web.Interrupt]](ctx, c, "/v1/interrupts?"+filters.Encode()))
}

// Interrupt returns an interrupt of any state.
func (c *Client) Interrupt(ctx context.Context, id string) (*web.Interrupt, error) {
	return get[web.Interrupt](ctx, c, interruptPath(id, ""))
}

// Answer answers the interrupt that the answer names; its Request is the Idempotency-Key.
func (c *Client) Answer(ctx context.Context, a thread.Answer) (*web.Interrupt, error) {
	out, err := send[answered](ctx, c, http.MethodPost, interruptPath(a.Interrupt, "/answer"),
		answerFields(&a), a.Request)
	if err != nil {
		return nil, err
	}
	return out.Interrupt, nil
}

// AnswerAll answers interrupts of any threads, all or none.
func (c *Client) AnswerAll(ctx context.Context, key string, answers ...thread.Answer) (
	[]web.Interrupt, error) {
	all := make([]bodyFields, len(answers))
	for n := range answers {
		all[n] = answerFields(&answers[n])
	}
	out, _, err := listed(send[list[web.Interrupt]](ctx, c, http.MethodPost, "/v1/answers",
		bodyFields{"answers": all}, key))
	return out, err
}

func answerFields(a *thread.Answer) bodyFields {
	f := bodyFields{"interrupt": a.Interrupt, "question": a.Question, "text": a.Text,
		"routeTo": a.RouteTo, "digest": a.Digest, "by": a.By}
	if a.Value != nil {
		f["value"] = a.Value
	}
	for name, value := range f {
		if value == "" { // the digest of a repeated call does not depend on what it leaves out
			delete(f, name)
		}
	}
	return f
}

// Claim claims an interrupt, or releases the claim.
func (c *Client) Claim(ctx context.Context, interrupt, by string, release bool) (*web.Interrupt,
	error) {
	return post[web.Interrupt](ctx, c, interruptPath(interrupt, "/claim"),
		bodyFields{"by": by, "release": release})
}

// TakeOver takes an interrupt on although another person may have it.
func (c *Client) TakeOver(ctx context.Context, interrupt, by string) (*web.Interrupt, error) {
	return post[web.Interrupt](ctx, c, interruptPath(interrupt, "/claim"),
		bodyFields{"by": by, "takeOver": true})
}

// Extend moves the deadline of an interrupt.
func (c *Client) Extend(ctx context.Context, interrupt string, until time.Time, by string) (
	*web.Interrupt, error) {
	return post[web.Interrupt](ctx, c, interruptPath(interrupt, "/extend"),
		bodyFields{"until": until.UnixMilli(), "by": by})
}

// Escape asks a thread to pause, and returns the acknowledgement.
func (c *Client) Escape(ctx context.Context, thread, mode, by, reason string) (string, error) {
	out, err := post[ack](ctx, c, threadPath(thread, "/escape"),
		bodyFields{"mode": mode, "by": by, "reason": reason})
	if err != nil {
		return "", err
	}
	return out.Ack, nil
}

// Cancel ends a thread.
func (c *Client) Cancel(ctx context.Context, thread, by, reason string) (*web.Thread, error) {
	return post[web.Thread](ctx, c, threadPath(thread, "/cancel"),
		bodyFields{"by": by, "reason": reason})
}

// Fork makes a thread from an earlier point of another, and returns it with the effects that were
// done after that point.
func (c *Client) Fork(ctx context.Context, thread string, seq int64, id, by string) (*web.Thread,
	[]web.Row, error) {
	out, err := post[struct {
		Thread web.Thread `json:"thread"`
		After  []web.Row  `json:"after"`
	}](ctx, c, threadPath(thread, "/fork"), bodyFields{"seq": seq, "id": id, "by": by})
	if err != nil {
		return nil, nil, err
	}
	return &out.Thread, out.After, nil
}

// History lists what happened to a thread after a row; "" is the beginning. next goes into after;
// "" is the end.
func (c *Client) History(ctx context.Context, thread, after string, limit int) (rows []web.Row,
	next string, err error) {
	query := url.Values{"after": {after}, "limit": {strconv.Itoa(limit)}}
	return listed(get[list[web.Row]](ctx, c, threadPath(thread, "/history?")+query.Encode()))
}

// Reroute sends a reroute event to a thread, and returns what became of it.
func (c *Client) Reroute(ctx context.Context, thread string, event *workflow.Event) (string,
	error) {
	out, err := post[ack](ctx, c, "/v1/interrupt-events?thread="+url.QueryEscape(thread), event)
	if err != nil {
		return "", err
	}
	return out.Ack, nil
}

// PreviewPlan asks what a modification would make of a paused plan, see [planner.Preview].
func (c *Client) PreviewPlan(ctx context.Context, thread, modification, by string) (
	*planner.Proposal, error) {
	return post[planner.Proposal](ctx, c, threadPath(thread, "/plan/preview"),
		bodyFields{"modification": modification, "by": by})
}

// ApplyPlan lets a paused thread go on with the plan of a proposal: by the id of its preview, see
// [planner.ApplyPreview], and one without an id as it stands, see [planner.Apply].
func (c *Client) ApplyPlan(ctx context.Context, p *planner.Proposal, by string) (*web.Thread,
	error) {
	body := bodyFields{"preview": p.ID, "by": by}
	if p.ID == "" {
		body = bodyFields{"proposal": p, "by": by}
	}
	return post[web.Thread](ctx, c, threadPath(p.Thread, "/plan/apply"), body)
}

// UndoPlan lets a paused thread go on with the plan before its last change, see
// [planner.Undo].
func (c *Client) UndoPlan(ctx context.Context, thread, by string) (*web.Thread, error) {
	return post[web.Thread](ctx, c, threadPath(thread, "/plan/undo"), bodyFields{"by": by})
}

// RedoPlan takes an UndoPlan back, see [planner.Redo].
func (c *Client) RedoPlan(ctx context.Context, thread, by string) (*web.Thread, error) {
	return post[web.Thread](ctx, c, threadPath(thread, "/plan/redo"), bodyFields{"by": by})
}

// At returns a thread as it was after entry seq.
func (c *Client) At(ctx context.Context, thread string, seq int64) (*web.Moment, error) {
	return get[web.Moment](ctx, c, threadPath(thread, "/at/")+strconv.FormatInt(seq, 10))
}

// Stats counts the interrupts created since a time, see [thread.Engine.Stats]. Times are in whole
// milliseconds.
func (c *Client) Stats(ctx context.Context, since time.Time) ([]thread.Stat, error) {
	out, _, err := listed(get[list[thread.Stat]](ctx, c, "/v1/stats?since="+
		strconv.FormatInt(max(0, since.UnixMilli()), 10)))
	for n := range out { // they come in milliseconds
		out[n].Median *= 1e6
		out[n].P95 *= 1e6
	}
	return out, err
}

// Programs lists what can be started. The graphs have no nodes here: ask for one with Program.
func (c *Client) Programs(ctx context.Context) ([]web.Graph, error) {
	out, _, err := listed(get[list[web.Graph]](ctx, c, "/v1/programs"))
	return out, err
}

// Program returns the graph of a machine. It returns CodeNotFound for a machine that is not among
// the server's programs.
func (c *Client) Program(ctx context.Context, machine string) (*web.Graph, error) {
	return get[web.Graph](ctx, c, "/v1/programs/"+url.PathEscape(machine))
}

// Grant makes the capability token that g describes: its thread, interrupt, actions, name and time.
func (c *Client) Grant(ctx context.Context, g web.Grant) (*web.Grant, error) {
	return post[web.Grant](ctx, c, threadPath(g.Thread, "/tokens"), bodyFields{"actions": g.Actions,
		"interrupt": g.Interrupt, "by": g.By, "expires": g.Expires, "once": g.Once})
}

// Tokens lists the capability tokens of a thread, those that have ended too, the oldest first.
func (c *Client) Tokens(ctx context.Context, thread string) ([]web.Grant, error) {
	out, _, err := listed(get[list[web.Grant]](ctx, c, threadPath(thread, "/tokens")))
	return out, err
}

// Rights tells what the client's token may do now. The operator's may do everything, so it has all
// the actions, and no thread.
func (c *Client) Rights(ctx context.Context) (*web.Grant, error) {
	return get[web.Grant](ctx, c, "/v1/token")
}

// Revoke ends a capability token before its time.
func (c *Client) Revoke(ctx context.Context, thread, id string) error {
	_, err := send[struct{}](ctx, c, http.MethodDelete,
		threadPath(thread, "/tokens/")+url.PathEscape(id), nil, "")
	return err
}
