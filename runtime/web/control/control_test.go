package control_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/generated/routes"
	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/planner"
	"github.com/routegen/routegen/runtime/store/mem"
	"github.com/routegen/routegen/runtime/thread"
	"github.com/routegen/routegen/runtime/web"
	"github.com/routegen/routegen/runtime/web/client"
	"github.com/routegen/routegen/runtime/web/control"
	"github.com/routegen/routegen/runtime/workflow"
)

const operator = "operator-canary-0123456789abcdef0123456789"

// server is an engine with a web server and the operator's client of it. It runs a workflow whose
// first node works until the test ends, and plans: the goal is the plan, steps between commas, and
// a step "ask x" puts a question.
type server struct {
	*testing.T
	*client.Client

	engine    *thread.Engine
	replanned atomic.Int64 // how often the replanner was told a change
}

// busy is that workflow.
type busy struct{ routes.UnimplementedHandlers }

func (busy) Orchestrator(ctx context.Context, _ runtime.Call, _ *routes.OrchestratorRequest) (
	*routes.OrchestratorRouting, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func newServer(t *testing.T) *server {
	t.Helper()
	t.Parallel()
	s := &server{T: t}
	nodes, err := workflow.New(routes.New(busy{}), workflow.Config{})
	require.NoError(t, err)
	plans, err := planner.New(planner.Config{
		Plan: func(_ context.Context, goal string) ([]string, error) {
			return strings.Split(goal, ","), nil
		},
		Execute: func(ctx context.Context, _ *planner.Plan, step string) (string, error) {
			if strings.HasPrefix(step, "ask") {
				return thread.Ask[string](ctx, "which", thread.Question{Text: "Which?",
					Plain: thread.PlainText})
			}
			return step + " done", nil
		},
		Replan: func(_ context.Context, p *planner.Plan, modification string) (planner.Replanned,
			error) {
			switch {
			case modification != "":
				s.replanned.Add(1)
				return planner.Replanned{Steps: strings.Split(modification, ",")}, nil
			case len(p.Steps) > 0:
				return planner.Replanned{Steps: p.Steps}, nil
			}
			return planner.Replanned{Done: true, Answer: p.Done[len(p.Done)-1].Result}, nil
		},
	})
	require.NoError(t, err)
	s.engine, err = thread.Open(t.Context(), mem.Open(), thread.Config{}, nodes, plans,
		thread.Func("ask", func(ctx context.Context, _ string) (string, error) {
			return thread.Ask[string](ctx, "ok", thread.Question{Plain: thread.PlainText})
		}))
	require.NoError(t, err)
	t.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		assert.NoError(t, s.engine.Close(ctx))
	})
	handler, err := web.New(s.engine, operator, web.Config{Rate: 1e6, Burst: 1e6,
		Doors: []web.Door{control.Plans(), control.Reroutes(nodes)}})
	require.NoError(t, err)
	front := httptest.NewServer(handler)
	t.Cleanup(front.Close)
	s.Client = &client.Client{Base: front.URL, Token: operator}
	return s
}

// begin starts a thread and returns its id.
func (s *server) begin(machine, name string, input any) string {
	s.Helper()
	th, err := s.Start(s.Context(), machine, name, input, "ann", "")
	require.NoError(s, err)
	return th.ID
}

// busy starts a thread of the workflow, and returns its id and the frame that runs.
func (s *server) busy() (id, frame string) {
	s.Helper()
	begin, err := workflow.Begin(&routes.OrchestratorRequest{Goal: "g", Phase: "DISCOVERY"})
	require.NoError(s, err)
	id = s.begin(begin.Machine, begin.Name, begin.Input)
	require.Eventually(s, func() bool { // at its first node
		th, err := s.engine.Thread(s.Context(), id)
		require.NoError(s, err)
		frame = th.Root().ID
		return th.Root().PC == "orchestrator"
	}, time.Minute, time.Millisecond)
	return id, frame
}

// paused starts a plan that asks in its first step, and pauses it there.
func (s *server) paused(goal string) (id string) {
	s.Helper()
	id = s.begin(planner.Name, "", goal)
	s.settled(id)
	s.pause(id)
	return id
}

func (s *server) pause(id string) {
	s.Helper()
	_, err := s.Escape(s.Context(), id, thread.EscapeSafe, "ann", "")
	require.NoError(s, err)
	require.True(s, s.settled(id).Paused)
}

func (s *server) settled(id string) *web.Thread {
	s.Helper()
	_, err := s.engine.Wait(s.Context(), id)
	require.NoError(s, err)
	th, err := s.Thread(s.Context(), id)
	require.NoError(s, err)
	return th
}

// token makes a capability token of a thread.
func (s *server) token(id string, once bool, actions ...string) string {
	s.Helper()
	g, err := s.Grant(s.Context(), web.Grant{Thread: id, Actions: actions, By: "ann", Once: once,
		Expires: time.Now().Add(time.Hour).UnixMilli()})
	require.NoError(s, err)
	return g.Token
}

// post sends a body as it stands, and expects a status; headers are pairs.
func (s *server) post(token, path, body string, status int, headers ...string) (text string,
	p web.Problem) {
	s.Helper()
	req, err := http.NewRequestWithContext(s.Context(), http.MethodPost, s.Base+path,
		strings.NewReader(body))
	require.NoError(s, err)
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Content-Type", "application/json")
	for n := 0; n < len(headers); n += 2 {
		req.Header.Set(headers[n], headers[n+1])
	}
	res, err := http.DefaultClient.Do(req)
	require.NoError(s, err)
	defer func() { _ = res.Body.Close() }()
	data, err := io.ReadAll(res.Body)
	require.NoError(s, err)
	require.Equal(s, status, res.StatusCode, "%s: %s", body, data)
	if status >= http.StatusBadRequest {
		require.NoError(s, json.Unmarshal(data, &p))
	}
	return string(data), p
}

// event is a reroute event for the node that runs.
func event(frame, target, more string) string {
	return fmt.Sprintf(`{"nodeId":%q,"sourceAgentType":"ORCHESTRATOR","rerouteToAgentType":%q,
		"interruptType":"HUMAN_REVIEW","reason":"r"%s}`, frame, target, more)
}

// An event has an id, a time and a name, where it brings none; the same request, or the same id, is
// the same event.
func TestAnEventIsTakenOnce(t *testing.T) {
	s := newServer(t)
	id, frame := s.busy()
	path, before := "/v1/interrupt-events?thread="+id, time.Now().Add(-time.Minute)
	took := func(body, ack string, headers ...string) {
		t.Helper()
		told, _ := s.post(operator, path, body, 200, headers...)
		assert.JSONEq(t, `{"ack":"`+ack+`"}`, told)
	}
	bare := event(frame, "ORCHESTRATOR", "")
	for range 2 {
		took(bare, workflow.Requested, "Idempotency-Key", "k")
	}
	s.post(operator, path, event(frame, "MERGER_AGENT", ""), 422, "Idempotency-Key", "k")
	took(bare, workflow.Queued) // without a key it is another event
	for range 2 {
		took(event(frame, "MERGER_AGENT", `,"eventId":"mine","requestedBy":"ann"`), workflow.Queued)
	}
	took(event("f99", "", ""), workflow.IgnoredTargetNotActive)

	th, err := s.engine.Thread(t.Context(), id)
	require.NoError(t, err)
	require.Len(t, th.Reroutes, 3)
	events := make([]workflow.Event, 3)
	for n, r := range th.Reroutes {
		require.NoError(t, json.Unmarshal(r.Event, &events[n]))
		assert.Equal(t, r.ID, events[n].EventID)
		assert.True(t, events[n].Timestamp.After(before), "it has the time when it came")
	}
	assert.Equal(t, "operator", events[0].RequestedBy)
	assert.NotEqual(t, events[0].EventID, events[1].EventID)
	assert.Equal(t, "mine ann", events[2].EventID+" "+events[2].RequestedBy)
}

func TestEventsAreRefused(t *testing.T) {
	s := newServer(t)
	id, frame := s.busy()
	path := "/v1/interrupt-events?thread=" + id
	good := event(frame, "ORCHESTRATOR", "")
	_, p := s.post(operator, path, event(frame, "DISCOVERY_AGENT", ""), 422)
	assert.Equal(t, runtime.CodeNoRoute, p.Code)
	assert.Contains(t, p.Allowed, "ORCHESTRATOR", "where it may go")
	_, p = s.post(operator, path, strings.Replace(good, `"ORCHESTRATOR"`, `"UNKNOWN"`, 1), 400)
	assert.Contains(t, p.Detail, "DISCOVERY_ORCHESTRATOR", "what there is")
	for _, c := range []struct {
		path, body string
		status     int
	}{
		{path, strings.Replace(good, "HUMAN_REVIEW", "NOTHING", 1), 400},
		{path, strings.Replace(good, `"reason"`, `"Reason"`, 1), 400},
		{path, `{}`, 400},
		{"/v1/interrupt-events", good, 400}, {"/v1/interrupt-events?thread=a/b", good, 400},
		{"/v1/interrupt-events?thread=unknown", good, 404},
	} {
		s.post(operator, c.path, c.body, c.status)
	}
	_, p = s.post(s.token(id, false, web.ActionFollow, web.ActionAnswer, web.ActionDeliver,
		web.ActionEscape, web.ActionCancel), path, good, 403)
	assert.Equal(t, runtime.CodeForbidden, p.Code, "it takes the right to operate")
	th, err := s.engine.Thread(t.Context(), id)
	require.NoError(t, err)
	assert.Empty(t, th.Reroutes)
	s.post(operator, path, good, 200) // the checks can lose
}

// stands expects the first step of a plan that waits, and how many changes can be taken back.
func (s *server) stands(id, step string, undo, redo int) {
	s.Helper()
	moment, err := s.At(s.Context(), id, s.settled(id).Seq)
	require.NoError(s, err)
	var plan control.PlanState
	require.NoError(s, json.Unmarshal(moment.Plan, &plan))
	assert.Equal(s, []any{step, undo, redo}, []any{plan.Steps[0], plan.Undo, plan.Redo})
}

// A change is tried out, made, taken back, and that is taken back.
func TestAPlanIsChanged(t *testing.T) {
	s := newServer(t)
	ctx := t.Context()
	id := s.paused("ask a,b")
	before := s.settled(id)
	p, err := s.PreviewPlan(ctx, id, "ask x,y", "ann")
	require.NoError(t, err)
	assert.Equal(t, []string{"ask x", "y"}, p.After)
	assert.Equal(t, []string{"ask x", "y"}, p.Added)
	assert.Equal(t, []string{"ask a", "b"}, p.Removed)
	assert.Equal(t, before, s.settled(id), "a preview changes nothing")
	th, err := s.ApplyPlan(ctx, p, "ann")
	require.NoError(t, err)
	assert.False(t, th.Paused)
	_, err = s.ApplyPlan(ctx, p, "ann")
	assert.Equal(t, runtime.CodeNotWaiting, runtime.CodeOf(err), "it was carried out")
	s.stands(id, "ask x", 1, 0)

	s.pause(id)
	_, err = s.RedoPlan(ctx, id, "ann")
	assert.Equal(t, runtime.CodeConflict, runtime.CodeOf(err), "there is nothing to take back")
	_, err = s.UndoPlan(ctx, id, "ann")
	require.NoError(t, err)
	s.stands(id, "ask a", 0, 1)
	s.pause(id)
	_, err = s.UndoPlan(ctx, id, "ann")
	assert.Equal(t, runtime.CodeConflict, runtime.CodeOf(err))
	_, err = s.RedoPlan(ctx, id, "ann")
	require.NoError(t, err)
	s.stands(id, "ask x", 1, 0)
	assert.EqualValues(t, 1, s.replanned.Load(), "only the preview asked the replanner")
	_, err = s.Answer(ctx, thread.Answer{Interrupt: s.settled(id).Open[0].ID, Text: "left"})
	require.NoError(t, err)
	th = s.settled(id)
	assert.Equal(t, thread.StatusDone, th.Status)
	assert.JSONEq(t, `"y done"`, string(th.Result))
}

func TestPlanCallsAreRefused(t *testing.T) {
	s := newServer(t)
	id := s.paused("ask a,b")
	path := "/v1/threads/" + id + "/plan/"
	for _, token := range []string{s.token(id, false, web.ActionFollow, web.ActionAnswer,
		web.ActionEscape, web.ActionCancel), s.token(id, true, web.ActionAnswer)} {
		for call, body := range map[string]string{"preview": `{"modification":"x"}`, "apply": `{}`,
			"undo": `{}`, "redo": `{}`} {
			_, p := s.post(token, path+call, body, 403)
			assert.Equal(t, runtime.CodeForbidden, p.Code)
		}
	}
	operates := s.token(id, false, web.ActionOperate)
	another := s.token(id, false, web.ActionOperate) // now: a token is in the log of the thread
	s.post(operates, path+"preview", `{"modification":"e","by":"bob"}`, 403)
	text, _ := s.post(operates, path+"preview", `{"modification":"e"}`, 200)
	var p planner.Proposal
	require.NoError(t, json.Unmarshal([]byte(text), &p))

	proposal := func(thread, version, after string) string {
		return `{"proposal":{"thread":"` + thread + `",` + version + `,"before":[],"after":[` +
			after + `],"added":[],"removed":[]}}`
	}
	many := strings.TrimSuffix(strings.Repeat(`"x",`, 1001), ",")
	for body, status := range map[string]int{
		proposal("other", `"version":1`, `"x"`): 400, proposal(id, `"Version":1`, `"x"`): 400,
		proposal(id, `"version":1`, many): 400, proposal(id, `"version":1`, `"x"`): 409,
	} {
		s.post(operator, path+"apply", body, status)
	}
	s.post(operator, path+"preview", `{"modification":"`+strings.Repeat("x", 5000)+`"}`, 400)
	s.post(operator, path+"preview", `{}`, 400)
	s.post(operator, "/v1/threads/unknown/plan/preview", `{"modification":"x"}`, 404)
	other := s.begin("ask", "", "x")
	s.settled(other)
	_, refused := s.post(operator, "/v1/threads/"+other+"/plan/undo", `{}`, 409)
	assert.Equal(t, runtime.CodeNotWaiting, refused.Code)

	// a preview is its caller's, its thread's, and of the version it was made for
	second := s.paused("ask a,b")
	mine := `{"preview":"` + p.ID + `"}`
	for path, token := range map[string]string{
		"/v1/threads/" + id:     another,
		"/v1/threads/" + second: operator,
	} {
		s.post(token, path+"/plan/apply", mine, 404)
	}
	for body, status := range map[string]int{`{}`: 400, `{"preview":"/"}`: 400,
		`{"preview":"none"}`: 404, `{"preview":"` + id + `"}`: 404,
		`{"preview":"x","proposal":{"thread":"` + id +
			`","version":1,"before":[],"after":[],"added":[],"removed":[]}}`: 400} {
		s.post(operates, path+"apply", body, status)
	}
	assert.True(t, s.settled(id).Paused, "nothing was done")
	s.post(operates, path+"apply", mine, 200)
	s.post(operates, path+"apply", mine, 409)
}
