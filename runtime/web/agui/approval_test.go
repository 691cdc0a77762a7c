package agui

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/agent"
	"github.com/routegen/routegen/runtime/chat"
	"github.com/routegen/routegen/runtime/llm"
	"github.com/routegen/routegen/runtime/thread"
	"github.com/routegen/routegen/runtime/web"
)

func TestApproval(t *testing.T) {
	t.Parallel()
	for payload, want := range map[string]string{
		`{"approved":true}`: `{"send_email":true,"copies":2}`,
		`{"approved":true,"editedArgs":{"send_email":false}}`: `{"send_email":false}`,
		`{"approved":true,"editedArgs":null}`:                 `{"send_email":true,"copies":2}`,
		`{"approved":false,"reason":"not by mail"}`:           "",
		`{"approved":false}`:                                  "",
		`{"decision":"approve"}`:                              `{"send_email":true,"copies":2}`,
	} {
		t.Run(payload, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, toTheReport(deskTells("reporting", "Zo is het gegaan."))...).open()
			s := d.run(inputOf("r1", "maak rapport"))
			i := s.asks()
			assert.Equal(t, "tool_call", i.Reason)
			assert.Equal(t, "g1", i.ToolCallID)
			assert.JSONEq(t, `{"type":"object","required":["approved"],"additionalProperties":false,
				"properties":{"approved":{"type":"boolean"},"editedArgs":{"type":"object"},"reason":{"type":"string"}}}`, string(i.ResponseSchema))
			assert.JSONEq(t, `{"send_email":true,"copies":2}`, s.of("TOOL_CALL_ARGS")[1].Delta,
				"what is proposed")
			assert.Zero(t, d.done("generate_final_report"), "asked before any effect")
			s = d.run(inputOf("r2", "", resumes(i.ID, payload))).succeeds("Zo is het gegaan.")
			assert.Empty(t, s.started(), "only the result")
			if want == "" {
				assert.Zero(t, d.done("generate_final_report"))
				assert.Contains(t, s.result("g1").Content, "denied")
				assert.Equal(t, map[string]any{"failed": true}, s.result("g1").Metadata)
				return
			}
			assert.Equal(t, 1, d.done("generate_final_report"))
			assert.Equal(t, 1, d.done("generate_final_report "+want),
				"with these arguments, in full")
			assert.Equal(t, "generate_final_report 1", s.result("g1").Content)
			assert.Nil(t, s.result("g1").Metadata)
		})
	}
}

func TestWhatWasShownIsApproved(t *testing.T) {
	t.Parallel()
	d := newDesk(t, toTheReport(deskTells("reporting", "Klaar."))...).open()
	i := d.run(inputOf("r1", "maak rapport")).asks()
	entry := func(digest string) string {
		return fmt.Sprintf(
			`"resume":[{"interruptId":%q,"status":"resolved","payload":{"approved":true},"metadata":{"digest":%q,"ag-ui":null}}]`, i.ID, digest)
	}
	d.run(inputOf("r2", "", entry("something else"))).refuses("conflict")
	assert.Zero(t, d.done("generate_final_report"))
	d.run(inputOf("r3", "", entry(i.Metadata.Routegen.Digest))).succeeds("Klaar.")
}

// token makes a capability token for the thread room, in somebody's name. more are more fields, as
// JSON.
func (d *desk) token(by, more string, actions ...string) string {
	d.Helper()
	list, err := json.Marshal(actions)
	require.NoError(d, err)
	body := fmt.Sprintf(`{"actions":%s,"by":%q,"expires":%d%s}`, list, by, time.Now().
		Add(time.Hour).UnixMilli(), more)
	req, err := http.NewRequestWithContext(d.Context(), http.MethodPost,
		d.http.URL+"/v1/threads/room/tokens", strings.NewReader(body))
	require.NoError(d, err)
	req.Header.Set("Authorization", "Bearer "+deskToken)
	req.Header.Set("Content-Type", "application/json")
	res, err := d.http.Client().Do(req)
	require.NoError(d, err)
	defer func() { _ = res.Body.Close() }()
	require.Equal(d, http.StatusCreated, res.StatusCode)
	var g web.Grant
	require.NoError(d, json.NewDecoder(res.Body).Decode(&g))
	return g.Token
}

func TestRestartWithAnApprovalOpen(t *testing.T) {
	t.Parallel()
	d := newDesk(t, toTheReport(deskTells("reporting", "Klaar."))...).open()
	i := d.run(inputOf("r1", "maak rapport")).asks()
	d.restart()
	again := d.run(inputOf("r1", "maak rapport"))
	assert.Equal(t, i, again.asks(), "the same run again lists it")
	assert.Equal(t, []string{"x1", "g1"}, again.started(), "and shows what led there")
	assert.Equal(t, i.ID, d.run(inputOf("r1", "")).asks().ID, "also without its input")
	assert.Equal(t, i, d.run(inputOf("look", "")).asks(), "and so does a run that brings nothing")

	mallory := d.token("mallory", "", web.ActionFollow, web.ActionAnswer)
	d.runAs(mallory, inputOf("r2", "", resumes(i.ID, `{"approved":true}`), `"forwardedProps":{}`)).
		refuses("forbidden")
	d.run(inputOf("r3", "", resumes("unknown", `{"approved":true}`))).refuses("not_found")
	for _, bad := range []string{
		`{"approved":true,"other":1}`, `{"approved":"yes"}`, `{"approved":null}`, `{}`, `true`,
		`null`, `{"approved":false,"editedArgs":{}}`, `{"approved":true,"editedArgs":[]}`,
	} {
		d.run(inputOf("r4", "", resumes(i.ID, bad))).refuses("invalid")
	}
	d.run(inputOf("r4", "", `"resume":[{"interruptId":"`+i.ID+`","status":"resolved"}]`)).
		refuses("invalid")
	assert.Zero(t, d.done("generate_final_report"), "no effect")

	ann := d.token("ann", "", web.ActionFollow, web.ActionInspect,
		web.ActionAnswer)
	yes := inputOf("r5", "", resumes(i.ID, `{"approved":true}`), `"forwardedProps":{}`)
	d.runAs(ann, yes).succeeds("Klaar.")
	d.run(inputOf("r6", "", resumes(i.ID, `{"approved":false}`))).refuses("already_answered")
	d.run(inputOf("r5", "", resumes(i.ID, `{"approved":false}`))).refuses("conflict")
	same := d.run(inputOf("r7", "", resumes(i.ID, `{"approved":true}`)))
	assert.Empty(t, same.succeeds().of("TOOL_CALL_RESULT"),
		"the same answer in another run is safe, and has nothing to tell")
	d.restart()
	assert.Equal(t, "generate_final_report 1", d.runAs(ann, yes).succeeds("Klaar.").result("g1").
		Content, "the same run again has its rows")
	assert.Equal(t, 1, d.done("generate_final_report"))
}

// holding makes the tool of the history agent wait until it is released.
func (d *desk) holding() (reached <-chan struct{}, release func()) {
	at, free := make(chan struct{}, 10), make(chan struct{})
	once := sync.OnceFunc(func() { close(free) })
	d.Cleanup(once)
	tool := &d.servers["history"].tools[0]
	inner := tool.Call
	tool.Call = func(ctx context.Context, args json.RawMessage) (json.RawMessage, error) {
		at <- struct{}{}
		select {
		case <-free:
			return inner(ctx, args)
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return at, once
}

func TestSocketDropsInTheMiddle(t *testing.T) {
	t.Parallel()
	d := newDesk(t, deskHands("history"), deskCalls("history", "h1", "get_inspection_history",
		`{}`), deskTells("history", "Twee."))
	reached, release := d.holding()
	d.open()
	ctx, drop := context.WithCancel(t.Context())
	res := d.post(ctx, deskToken, inputOf("r1", "hoe vaak?"))
	shown := 0
	for frame := range framesIn(res) {
		if shown++; strings.Contains(string(frame), "TOOL_CALL_END") {
			break // the call is shown while the tool is at work
		}
	}
	<-reached
	drop()
	_ = res.Body.Close()
	assert.Eventually(t, func() bool { return d.serving.Load() == 0 }, time.Minute,
		time.Millisecond, "the server lets go of it")
	release()
	assert.Equal(t, thread.StatusIdle, d.settled().Status(), "the run went on")
	s := d.run(inputOf("r1", "hoe vaak?")).succeeds("Twee.")
	assert.Greater(t, len(s.frames), shown)
	assert.Equal(t, "get_inspection_history 1", s.result("h1").Content)
	assert.Equal(t, 1, d.done("get_inspection_history"))
	require.NoError(t, d.model.Left())
}

func TestSocketDropsBeforeTheMessageIsTaken(t *testing.T) {
	t.Parallel()
	d := newDesk(t, toTheQuestion(deskTells("reporting", "Klaar."))...)
	reached, free := make(chan struct{}), make(chan struct{})
	d.c.Digress = func(context.Context, chat.Message, *thread.Interrupt) (bool, error) {
		close(reached)
		<-free
		return false, nil
	}
	d.open()
	acme := showing(d.run(inputOf("r1", "maak rapport")).asks(), inputOf("r2", "Acme"))
	ctx, drop := context.WithCancel(t.Context())
	res := d.post(ctx, deskToken, acme)
	<-reached
	drop()
	_ = res.Body.Close()
	assert.Eventually(t, func() bool { return d.serving.Load() == 0 }, time.Minute,
		time.Millisecond)
	close(free)
	within, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	taken := false
	for row, err := range d.engine.Subscribe(within, thread.Filter{Thread: "room"}, 0) {
		if require.NoError(t, err); row.Type == thread.EntryReturned {
			taken = true
			break
		}
	}
	require.True(t, taken, "the message came in all the same")
	d.run(acme).succeeds("Klaar.")
}

func TestNewMessageWithAnApprovalOpen(t *testing.T) {
	t.Parallel()
	d := newDesk(t, toTheReport(deskTells("reporting", "Klaar."))...)
	d.c.Digress = func(context.Context, chat.Message, *thread.Interrupt) (bool, error) {
		return true, nil
	}
	d.open()
	i := d.run(inputOf("r1", "maak rapport")).asks()
	for _, said := range []string{"wat is de regel voor vis?", "approve", "ja", "sla over"} {
		s := d.run(showing(i, inputOf(said, said)))
		s.refuses("pending_interrupt")
		assert.Equal(t, i.ID, s.state().Interrupts[0].ID)
		assert.Equal(t, "interrupted", s.state().Status, "the run is not cancelled")
	}
	d.run(inputOf("r2", "", resumes(i.ID, `{"approved":true}`))).succeeds("Klaar.")
}

func TestTwoInputsAtOnce(t *testing.T) {
	t.Parallel()
	d := newDesk(t, deskHands("history"), deskCalls("history", "h1", "get_inspection_history",
		`{}`), deskTells("history", "Twee."))
	reached, release := d.holding()
	d.open()
	streams := make([]*stream, 3)
	var both sync.WaitGroup
	both.Go(func() { streams[0] = d.run(inputOf("r1", "hoe vaak?")) })
	<-reached
	streams[1] = d.run(inputOf("r2", "en waar?"))
	both.Go(func() { streams[2] = d.run(inputOf("r1", "hoe vaak?")) }) // the same run twice at once
	release()
	both.Wait()
	streams[1].refuses("conflict")
	streams[0].succeeds("Twee.")
	streams[2].succeeds("Twee.")
	assert.Equal(t, 1, d.done("get_inspection_history"), "never two runs")
}

func TestCrashAfterTheMail(t *testing.T) {
	t.Parallel()
	d := newDesk(t, toTheReport(deskTells("reporting", "Klaar."))...)
	mails := map[string]int{} // by key: the mail service sends one for each
	var mu sync.Mutex
	sent := make(chan struct{}, 1)
	d.servers["reporting"].tools[2].Call = func(ctx context.Context, _ json.RawMessage) (
		json.RawMessage, error) {
		mu.Lock()
		mails[agent.ToolKey(ctx)]++
		first := mails[agent.ToolKey(ctx)] == 1
		mu.Unlock()
		if first {
			d.cut.Store(true) // the process dies: nothing of it is stored any more
			sent <- struct{}{}
			<-ctx.Done()
			return nil, ctx.Err()
		}
		return json.RawMessage(`"sent"`), nil
	}
	d.open()
	i := d.run(inputOf("r1", "maak rapport")).asks()
	yes := inputOf("r2", "", resumes(i.ID, `{"approved":true}`))
	res := d.post(t.Context(), deskToken, yes)
	defer func() { _ = res.Body.Close() }()
	<-sent
	d.restart()
	s := d.run(yes).succeeds("Klaar.")
	assert.Equal(t, "sent", s.result("g1").Content)
	assert.Len(t, mails, 1, "one mail")
	for key, n := range mails {
		assert.Equal(t, 2, n, "sent for twice, under one key")
		assert.Contains(t, key, "generate_final_report")
	}
}

func TestOfflineBatch(t *testing.T) {
	t.Parallel()
	d := newDesk(t, toTheQuestion(deskTells("general", "A1"), deskTells("general", "B1"),
		deskTells("general", "B2"), deskTells("reporting", "Klaar."))...).open()
	i := d.run(inputOf("r1", "maak rapport")).asks()
	away := `"forwardedProps":{"by":"ann","away":true}`
	for range 2 { // the connection broke: all of it again
		d.run(inputIn("a", "1", "een", away)).succeeds("A1")
		d.run(inputIn("b", "1", "twee", away)).succeeds("B1")
		d.run(showing(i, inputOf("2", "annuleer", away))).refuses("pending_interrupt")
		d.run(showing(i, inputOf("3", "Acme", away))).refuses("pending_interrupt")
		d.run(inputIn("b", "2", "drie", away)).succeeds("B2")
	}
	assert.Equal(t, 4, d.asked(), "each on its own thread, in order, once")
	d.run(inputOf("4", "", resumes(i.ID, `"Acme"`), away)).succeeds("Klaar.")
}

func TestHangingTool(t *testing.T) {
	t.Parallel()
	d := newDesk(t, deskHands("history"), deskCalls("history", "h1", "get_inspection_history",
		`{}`), deskTells("history", "Dat lukt nu niet."), deskTells("general", "Dag."))
	d.holding()
	// far more than it takes to ask the servers for their tools, which has the same limit
	d.timeout = 2 * time.Second
	d.open()
	s := d.run(inputOf("r1", "hoe vaak?")).succeeds("Dat lukt nu niet.")
	assert.Contains(t, s.result("h1").Content, "more than 2s")
	assert.Equal(t, map[string]any{"failed": true}, s.result("h1").Metadata)
	d.run(inputOf("r2", "dag")).succeeds("Dag.")
}

func TestDeadServer(t *testing.T) {
	t.Parallel()
	d := newDesk(t, deskHands("history"), deskCalls("history", "h1", "get_inspection_history",
		`{}`), deskTells("history", "Niet bereikbaar."), deskTells("general", "Dag."))
	d.servers["history"].dead = true
	d.open()
	s := d.run(inputOf("r1", "hoe vaak?")).succeeds("Niet bereikbaar.")
	assert.Equal(t, map[string]any{"failed": true}, s.result("h1").Metadata)
	assert.Contains(t, d.model.Asked()[1].Tools[0].Description, "not available")
	d.run(inputOf("r2", "dag")).succeeds("Dag.")
}

func TestResultsAreNotCut(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("Onder 4 graden. <script>\n", 20_000)
	d := newDesk(t, deskHands("regulation"), deskCalls("regulation", "r1", "search_regulations",
		`{}`), deskCalls("regulation", "r2", "search_regulations", `{}`),
		deskTells("regulation", long))
	calls := 0
	d.servers["regulation"].tools[0] = llm.Tool{Name: "search_regulations",
		Call: func(context.Context, json.RawMessage) (json.RawMessage, error) {
			if calls++; calls == 2 {
				return json.RawMessage(`""`), nil
			}
			return runtime.Encode(long)
		}}
	d.open()
	s := d.run(inputOf("r1", "wat is de regel voor vis?")).succeeds(long)
	assert.Equal(t, long, s.result("r1").Content)
	assert.Equal(t, `""`, s.result("r2").Content, "an empty result is one")
	for _, frame := range s.frames {
		assert.NotContains(t, string(frame), "<script>", "inert wherever it ends up")
	}
}
