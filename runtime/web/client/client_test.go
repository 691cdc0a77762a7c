package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/generated/routes"
	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/store/mem"
	"github.com/routegen/routegen/runtime/thread"
	"github.com/routegen/routegen/runtime/web"
	"github.com/routegen/routegen/runtime/web/client"
	"github.com/routegen/routegen/runtime/web/control"
	"github.com/routegen/routegen/runtime/workflow"
)

const operator = "operator-canary-0123456789abcdef0123456789"

// server is an engine with a web server, and the operator's client of it. Of its machines, ask puts
// one question, pair two at once, and talk is a conversation.
type server struct {
	*testing.T

	engine *thread.Engine
	http   *httptest.Server
	*client.Client
}

func newServer(t *testing.T) *server {
	t.Helper()
	t.Parallel()
	nodes, err := workflow.New(routes.New(routes.UnimplementedHandlers{}), workflow.Config{})
	require.NoError(t, err)
	r := &server{T: t}
	r.engine, err = thread.Open(t.Context(), mem.Open(), thread.Config{},
		thread.Func("ask", func(ctx context.Context, _ string) (json.RawMessage, error) {
			return thread.Ask[json.RawMessage](ctx, "ok", thread.Question{Text: "Go on?",
				Schema: json.RawMessage(`{"type":"object","properties":{"ok":{"type":"boolean"}}}`)})
		}),
		thread.Func("pair", func(ctx context.Context, _ string) ([]thread.Reply, error) {
			return thread.AskAll(ctx, thread.Question{Name: "one", Plain: thread.PlainText},
				thread.Question{Name: "two", Plain: thread.PlainText})
		}),
		thread.Turns("talk", func(_ context.Context, in string) (string, error) {
			return in, nil
		}))
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, r.engine.Close(context.Background())) })
	handler, err := web.New(r.engine, operator,
		web.Config{Rate: 1e6, Burst: 1e6, Doors: []web.Door{control.Reroutes(nodes)}})
	require.NoError(t, err)
	r.http = httptest.NewServer(handler)
	t.Cleanup(r.http.Close)
	t.Cleanup(r.http.CloseClientConnections)
	r.Client = &client.Client{Base: r.http.URL + "/", Token: operator}
	return r
}

// begin starts a thread of a machine and returns it when it waits.
func (r *server) begin(machine string) *web.Thread {
	r.Helper()
	th, err := r.Start(r.Context(), machine, "", "x", "ann", "")
	require.NoError(r, err)
	return r.settled(th.ID)
}

func (r *server) settled(id string) *web.Thread {
	r.Helper()
	_, err := r.engine.Wait(r.Context(), id)
	require.NoError(r, err)
	th, err := r.Thread(r.Context(), id)
	require.NoError(r, err)
	return th
}

func TestTheClientDoesWhatTheEngineDoes(t *testing.T) {
	r := newServer(t)
	ctx := t.Context()
	c := r.Client
	th, err := c.Start(ctx, "ask", "", "x", "ann", "key")
	require.NoError(t, err)
	again, err := c.Start(ctx, "ask", "", "x", "ann", "key")
	require.NoError(t, err)
	assert.Equal(t, th.ID, again.ID)
	found, next, err := c.Inbox(ctx, url.Values{"thread": {th.ID}})
	require.NoError(t, err)
	require.Len(t, found, 1)
	assert.Empty(t, next)
	id := found[0].ID
	_, err = c.Claim(ctx, id, "ann", false)
	require.NoError(t, err)
	i, err := c.Extend(ctx, id, time.Now().Add(time.Hour), "ann")
	require.NoError(t, err)
	assert.Equal(t, "ann", i.ClaimedBy)
	_, err = c.Answer(ctx, thread.Answer{Interrupt: id, Value: json.RawMessage(`{"ok":1}`),
		By: "ann"})
	assert.Equal(t, runtime.CodeInvalid, runtime.CodeOf(err))
	var p *web.Problem
	require.ErrorAs(t, err, &p)
	assert.Equal(t, "/ok", p.Problems[0].Pointer)
	g, err := c.Grant(ctx, web.Grant{Thread: th.ID, Actions: []string{"follow"}, By: "bob",
		Expires: time.Now().Add(time.Hour).UnixMilli()})
	require.NoError(t, err)
	_, err = (&client.Client{Base: r.http.URL, Token: g.Token}).Interrupt(ctx, id)
	require.NoError(t, err)
	require.NoError(t, c.Revoke(ctx, th.ID, g.ID))
	_, err = (&client.Client{Base: r.http.URL, Token: g.Token}).Interrupt(ctx, id)
	assert.Equal(t, runtime.CodeForbidden, runtime.CodeOf(err))

	fork, _, err := c.Fork(ctx, th.ID, r.settled(th.ID).Seq, "", "ann")
	require.NoError(t, err)
	assert.Equal(t, th.ID, fork.ForkedFrom.Thread)
	_, err = c.Answer(ctx, thread.Answer{Interrupt: id, Value: json.RawMessage(`{"ok":true}`),
		By: "ann", Digest: i.Digest, Request: "once"})
	require.NoError(t, err)
	rows, _, err := c.History(ctx, th.ID, "", 1000)
	require.NoError(t, err)
	assert.Len(t, rows, int(r.settled(th.ID).Seq))
	gone := &workflow.Event{NodeID: "f99", SourceAgentType: "ORCHESTRATOR",
		InterruptType: "HUMAN_REVIEW"}
	status, err := c.Reroute(ctx, th.ID, gone)
	require.NoError(t, err)
	assert.Equal(t, workflow.IgnoredTargetNotActive, status)

	talk, err := c.Start(ctx, "talk", "", "hi", "ann", "")
	require.NoError(t, err)
	r.settled(talk.ID)
	_, err = c.Deliver(ctx, talk.ID, "again", "ann", "m1")
	require.NoError(t, err)
	_, err = c.Cancel(ctx, talk.ID, "ann", "enough")
	require.NoError(t, err)
	_, err = c.Escape(ctx, talk.ID, thread.EscapeSafe, "ann", "")
	assert.Equal(t, runtime.CodeNotWaiting, runtime.CodeOf(err))
	two := r.begin("pair")
	both, err := c.AnswerAll(ctx, "batch", thread.Answer{Interrupt: two.Open[0].ID, Text: "1"},
		thread.Answer{Interrupt: two.Open[1].ID, Text: "2"})
	require.NoError(t, err)
	assert.Len(t, both, 2)
	assert.NotContains(t, fmt.Sprintf("%v", c), operator)
	for _, err := range c.Stream(ctx, "unknown", "") {
		assert.Equal(t, runtime.CodeNotFound, runtime.CodeOf(err), "a refusal ends a stream")
	}
}

// TestClientOnce sends the key of a client.
func TestClientOnce(t *testing.T) {
	r := newServer(t)
	th := r.begin("ask")
	c := r.Once("key")
	first, _, err := c.Fork(t.Context(), th.ID, th.Seq, "", "ann")
	require.NoError(t, err)
	again, _, err := c.Fork(t.Context(), th.ID, th.Seq, "", "ann")
	require.NoError(t, err)
	assert.Equal(t, first.ID, again.ID)
	_, _, err = c.Fork(t.Context(), th.ID, th.Seq, "", "bob")
	assert.Equal(t, runtime.CodeConflict, runtime.CodeOf(err))
}

// A refusal is a problem with its code; what is no answer of the server's is CodeUnavailable.
func TestErrorsOfAServer(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status int
		body   string
		code   runtime.Code
		text   string
	}{
		"a problem": {403, `{"code":"forbidden","status":403,"detail":"not you"}`,
			runtime.CodeForbidden, "not you"},
		"a problem without a code": {403, `{"detail":"a proxy"}`, runtime.CodeUnavailable,
			"403 Forbidden"},
		"a page of a proxy": {502, "<html>", runtime.CodeUnavailable, "502 Bad Gateway"},
		"half an answer":    {200, `{"id":"a`, runtime.CodeUnavailable, "unexpected EOF"},
		"no JSON":           {200, "hello", runtime.CodeUnavailable, "invalid character"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			front := httptest.NewServer(http.HandlerFunc(
				func(w http.ResponseWriter, _ *http.Request) {
					w.WriteHeader(c.status)
					_, _ = w.Write([]byte(c.body))
				}))
			defer front.Close()
			_, err := (&client.Client{Base: front.URL}).Thread(t.Context(), "a")
			assert.Equal(t, c.code, runtime.CodeOf(err))
			assert.ErrorContains(t, err, c.text)
		})
	}
	_, err := (&client.Client{Base: "http://127.0.0.1:1"}).Thread(t.Context(), "x")
	assert.Equal(t, runtime.CodeUnavailable, runtime.CodeOf(err))
	_, err = (&client.Client{Base: "http://[::1"}).Thread(t.Context(), "x")
	assert.Equal(t, runtime.CodeInvalid, runtime.CodeOf(err))
}

// scripted answers the requests of a stream one after the other, and notes what they ask for.
type scripted struct {
	bodies []string // "" is a server that cannot be reached, "-" one that falls silent
	after  []string // the Last-Event-ID of each request
	paths  []string
}

func (s *scripted) RoundTrip(req *http.Request) (*http.Response, error) {
	s.after = append(s.after, req.Header.Get("Last-Event-ID"))
	s.paths = append(s.paths, req.URL.Path)
	body := s.bodies[0]
	s.bodies = s.bodies[1:]
	if body == "" {
		return nil, errors.New("no route to host")
	}
	res := httptest.NewRecorder()
	_, _ = res.WriteString(strings.TrimSuffix(body, "-"))
	out := res.Result()
	if strings.HasSuffix(body, "-") {
		silent, _ := io.Pipe()
		context.AfterFunc(req.Context(), func() { _ = silent.CloseWithError(io.ErrClosedPipe) })
		out.Body = io.NopCloser(io.MultiReader(out.Body, silent))
	}
	return out, nil
}

// A stream asks for what comes after the last row that came, whichever way a connection ends: the
// server closes it, cannot be reached, or says nothing for too long. Comments are no rows.
func TestAStreamGoesOnAfterTheLastRow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server := &scripted{bodies: []string{
			": still here\n\nid: a/1\ndata: {\"id\":\"a/1\"}\n\n", "", "",
			"id: a/2\ndata: {\"id\":\"a/2\"}\n\n-", "id: a/3\ndata: {\"id\":\"a/3\"}\n\n",
		}}
		c := &client.Client{Base: "http://server", HTTP: &http.Client{Transport: server}}
		began := time.Now()
		var got []string
		for row, err := range c.Stream(t.Context(), "a", "a/0") {
			require.NoError(t, err)
			if got = append(got, row.ID); row.ID == "a/3" {
				break
			}
		}
		assert.Equal(t, []string{"a/1", "a/2", "a/3"}, got)
		assert.Equal(t, []string{"a/0", "a/1", "a/1", "a/1", "a/2"}, server.after)
		assert.Equal(t, "/v1/threads/a/stream", server.paths[0])
		// the silence, and pauses that grow while no connection comes
		assert.Equal(t, 50*time.Second+(100+300+700+100)*time.Millisecond, time.Since(began))
	})
}
