package agui

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/llm/llmtest"
	"github.com/routegen/routegen/runtime/thread"
	"github.com/routegen/routegen/runtime/web"
	"github.com/routegen/routegen/runtime/web/client"
)

// refused sends an input that is no run, and returns the problem.
func (d *desk) refused(status int, token, body string) web.Problem {
	d.Helper()
	res := d.post(d.Context(), token, body)
	defer func() { _ = res.Body.Close() }()
	data, err := io.ReadAll(res.Body)
	require.NoError(d, err)
	require.Equal(d, status, res.StatusCode, "%s: %s", body, data)
	assert.Equal(d, "application/problem+json", res.Header.Get("Content-Type"))
	var p web.Problem
	require.NoError(d, json.Unmarshal(data, &p))
	return p
}

func TestInputThatIsNone(t *testing.T) {
	t.Parallel()
	d := newDesk(t).open()
	resume := func(entry string) string { return inputOf("r", "", `"resume":[`+entry+`]`) }
	for body, pointer := range map[string]string{
		`[]`:   "",
		`null`: "",
		`{"threadId":"t","threadId":"u","runId":"r"}`: "/threadId",
		`{"runId":"r"}`:                                               "/threadId",
		`{"threadId":"t"}`:                                            "/runId",
		`{"threadId":"../t","runId":"r"}`:                             "/threadId",
		`{"threadId":1,"runId":"r"}`:                                  "/threadId",
		`{"threadId":"t","runId":"r\u0001"}`:                          "/runId",
		`{"threadId":"t","runId":"` + strings.Repeat("r", 201) + `"}`: "/runId",
		`{"threadId":"t","runId":"r","state":` + strings.Repeat("[", 100) + strings.Repeat("]",
			100) + `}`: "/state" + strings.Repeat("/0", 63),
		`{"threadId":"t","runId":"r","messages":{}}`:                                     "/messages",
		`{"threadId":"t","runId":"r","messages":[1]}`:                                    "/messages/0",
		`{"threadId":"t","runId":"r","messages":[{"role":1}]}`:                           "/messages/0/role",
		`{"threadId":"t","runId":"r","messages":[{"role":"user","content":1}]}`:          "/messages/0/content",
		`{"threadId":"t","runId":"r","messages":[{"role":"user"}]}`:                      "/messages/0/content",
		`{"threadId":"t","runId":"r","messages":[{"role":"user","content":""}]}`:         "/messages/0/content",
		`{"threadId":"t","runId":"r","messages":[{"role":"user","id":1,"content":"x"}]}`: "/messages/0/id",
		`{"threadId":"t","runId":"r","messages":[{"role":"user","id":"` + strings.Repeat("m", 201) +
			`","content":"x"}]}`: "/messages/0/id",
		`{"threadId":"t","runId":"r","messages":[{"role":"user","content":[{"type":"image"}]}]}`: "/messages/0/content/0",
		`{"threadId":"t","runId":"r","forwardedProps":{"by":1}}`:                                 "/forwardedProps/by",
		`{"threadId":"t","runId":"r","forwardedProps":{"away":"yes"}}`:                           "/forwardedProps/away",
		`{"threadId":"t","runId":"r","resume":{}}`:                                               "/resume",
		resume(
			`1`): "/resume/0",
		resume(
			`{"status":"resolved"}`): "/resume/0/interruptId",
		resume(
			`{"interruptId":"i","status":"done"}`): "/resume/0/status",
		resume(
			`{"interruptId":"i","Status":"resolved"}`): "/resume/0/status",
		resume(
			`{"interruptId":"i","status":"cancelled","status":"resolved"}`): "/resume/0/status",
		resume(
			`{"interruptId":"i","status":"resolved","metadata":null}`): "/resume/0/metadata",
		resume(
			`{"interruptId":"i","status":"resolved","metadata":{"digest":1}}`): "/resume/0/metadata/digest",
		resume(
			`{"interruptId":"i","status":"cancelled"},{"interruptId":"i","status":"cancelled"}`): "/resume/1/interruptId",
		resume(strings.TrimSuffix(strings.Repeat(`{"interruptId":"i","status":"cancelled"},`, 101),
			",")): "/resume",
	} {
		p := d.refused(http.StatusBadRequest, deskToken, body)
		require.Equal(t, runtime.CodeInvalid, p.Code)
		var pointers []string
		for _, wrong := range p.Problems {
			pointers = append(pointers, wrong.Pointer)
		}
		assert.Contains(t, pointers, pointer, body)
	}
	assert.Equal(t, runtime.CodeInvalid, d.refused(http.StatusBadRequest, deskToken, `{`).Code)
	d.refused(http.StatusRequestEntityTooLarge, deskToken,
		inputOf("r", strings.Repeat("x", web.MaxBody)))
	d.refused(http.StatusUnauthorized, "wrong", inputOf("r", "dag"))
	threads, err := d.engine.Threads(t.Context(), thread.Query{})
	require.NoError(t, err)
	assert.Empty(t, threads, "nothing was begun")
	d.run(inputIn("new", "r", "")).refuses("not_found")
	d.run(inputIn("new", "r", "", resumes("i", "1"))).refuses("not_found")
}

// A run neither answers nor ends what is no conversation: that takes other rights.
func TestARunTouchesConversationsAlone(t *testing.T) {
	t.Parallel()
	d := newDesk(t).open()
	_, err := d.engine.Start(t.Context(), thread.Begin{ID: "room", Machine: "job", Input: "Pay?",
		User: "ann"})
	require.NoError(t, err)
	before, err := d.engine.Wait(t.Context(), "room")
	require.NoError(t, err)
	token := d.token("ann", "", web.ActionFollow, web.ActionAnswer, web.ActionDeliver)
	i := before.Open[0].ID
	for _, body := range []string{inputOf("r", "hello"), inputOf("r", "", resumes(i, `"x"`)),
		inputOf("r", "", `"resume":[{"interruptId":"`+i+`","status":"cancelled"}]`)} {
		d.refused(http.StatusNotFound, token, body)
		d.refused(http.StatusNotFound, deskToken, body)
	}
	after, err := d.engine.Thread(t.Context(), "room")
	require.NoError(t, err)
	assert.Equal(t, before.Seq, after.Seq-1, "the token alone is new")
	assert.Equal(t, thread.StatusWaiting, after.Status())
}

func TestDoorNeedsAConversation(t *testing.T) {
	t.Parallel()
	d := newDesk(t).open()
	assert.Contains(t, d.document(), `"/v1/agui/{machine}"`)
	_, err := web.New(d.engine, deskToken, web.Config{Doors: []web.Door{Door()}})
	assert.Equal(t, runtime.CodeInvalid, runtime.CodeOf(err))
}

func TestInputFromTheFuture(t *testing.T) {
	t.Parallel()
	d := newDesk(t, deskTells("general", "Dag.")).open()
	s :=
		d.run(
			`{"threadId":"room","runId":"r1","parentRunId":"r0","messages":[{"id":"1","role":"assistant","content":"x","novel":1},
		{"id":"2","role":"user","content":"dag","name":"ann"}],"tools":[{"name":"x"}],"protocolVersion":2,"forwardedProps":null,"resume":[]}`)
	s.succeeds("Dag.")
	assert.Equal(t, "r0", s.events[0].ParentRunID)
	assert.Equal(t, "operator", d.settled().User)
	// nothing new
	look :=
		d.run(
			`{"threadId":"room","runId":"r2","messages":[{"id":"9","role":"assistant","content":"x"}]}`).succeeds()
	assert.Equal(t, "completed", look.state().Status)
}

func TestTokens(t *testing.T) {
	t.Parallel()
	d := newDesk(t, toTheQuestion(deskTells("reporting", "Klaar."))...).open()
	props := `"forwardedProps":{}`
	i := d.run(inputOf("r1", "maak rapport")).asks()
	view, says := d.token("ann", "", web.ActionFollow), d.token("ann", "", web.ActionFollow,
		web.ActionDeliver)
	answers := d.token("ann", "", web.ActionFollow, web.ActionAnswer)
	once, bound := d.token("ann", `,"once":true`, web.ActionFollow, web.ActionAnswer), d.token("ann",
		`,"interrupt":"`+i.ID+`"`, web.ActionFollow, web.ActionAnswer)
	blind := d.token("ann", "", web.ActionDeliver)
	text, form := showing(i, inputOf("r2", "Acme", props)), inputOf("r3", "",
		resumes(i.ID, `"Acme"`),
		props)
	for token, body := range map[string]string{view: text, answers: text, blind: text, says: form,
		once: form, bound: form} {
		d.refused(http.StatusForbidden, token, body)
	}
	d.refused(http.StatusNotFound, says, inputIn("elsewhere", "r2", "Acme", props))
	d.refused(http.StatusForbidden, says, inputOf("r2", "Acme", `"forwardedProps":{"by":"boss"}`))
	assert.Equal(t, thread.InterruptOpen, d.settled().Open[0].State)
	d.run(inputOf("r4", "Acme", `"forwardedProps":{"by":"eve"}`)).refuses("forbidden")
	eve := d.run(inputOf("r5", "", `"forwardedProps":{"by":"eve"}`))
	eve.refuses("forbidden")
	assert.Empty(t, eve.of("STATE_SNAPSHOT"), "and what is open is not shown")
	d.runAs(says, text).succeeds("Klaar.")

	res := d.post(t.Context(), deskToken, inputOf("r", "x"))
	_ = res.Body.Close()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost,
		d.http.URL+"/v1/agui/other", strings.NewReader(inputOf("r", "x")))
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer "+deskToken)
	req.Header.Set("Content-Type", "application/json")
	res, err = d.http.Client().Do(req)
	require.NoError(t, err)
	_ = res.Body.Close()
	assert.Equal(t, http.StatusNotFound, res.StatusCode)
	assert.NotContains(t, d.logs.String(), deskToken)
	assert.NotContains(t, d.logs.String(), "Acme")
	assert.Contains(t, d.logs.String(), "operation=agui about=room status=200")
}

func TestRevokedTokenAndOtherRequests(t *testing.T) {
	t.Parallel()
	d := newDesk(t, toTheQuestion(deskTells("reporting", "Klaar."), deskHands("history"),
		deskCalls("history", "h1", "get_inspection_history", `{}`),
		deskTells("history", "Twee."))...)
	reached, release := d.holding()
	d.open()
	i := d.run(inputOf("r1", "maak rapport")).asks()
	d.run(showing(i, inputOf("r2", "Acme"))).succeeds("Klaar.")
	token := d.token("ann", "", web.ActionFollow, web.ActionDeliver)
	res := d.post(t.Context(), token, inputOf("r3", "hoe vaak?", `"forwardedProps":{}`))
	defer func() { _ = res.Body.Close() }()
	done := make(chan [][]byte, 1)
	go func() {
		var frames [][]byte
		for frame := range framesIn(res) {
			frames = append(frames, frame)
		}
		done <- frames
	}()
	<-reached
	other := make(chan *stream)
	go func() { other <- d.run(inputOf("r3", "hoe vaak?")) }()
	rights, err := (&client.Client{Base: d.http.URL, Token: token}).Rights(t.Context())
	require.NoError(t, err)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodDelete,
		d.http.URL+"/v1/threads/room/tokens/"+rights.ID, nil)
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer "+deskToken)
	gone, err := d.http.Client().Do(req)
	require.NoError(t, err)
	_ = gone.Body.Close()
	require.Equal(t, http.StatusNoContent, gone.StatusCode)
	select {
	case frames := <-done:
		assert.Error(t, (&checker{}).check("room", "r3", frames), "the stream was cut")
	case <-time.After(time.Minute):
		assert.Fail(t, "the stream goes on with a token that was revoked")
	}
	release()
	(<-other).succeeds("Twee.") // and nobody else's
}

func TestQuestionsOfOtherKinds(t *testing.T) {
	t.Parallel()
	choices := []thread.Choice{{Label: "Red", Value: json.RawMessage(`"r"`)},
		{Label: "Two", Value: json.RawMessage(`{"n":2}`)}}
	for name, tc := range map[string]struct {
		q         thread.Question
		reason    string
		schema    string
		bad, good []string
	}{
		"yes or no": {
			thread.Question{Plain: thread.PlainYesNo}, "confirmation", `{"type":"boolean"}`,
			[]string{`"ja"`, `1`, `null`, `{}`}, []string{`true`, `false`},
		},
		"a choice": {
			thread.Question{Plain: thread.PlainChoice, Choices: choices}, "input_required",
			`{"enum":["r",{"n":2}]}`, []string{`"Red"`, `1`}, []string{`"r"`, `{ "n": 2 }`},
		},
		"a text": {
			thread.Question{Plain: thread.PlainText}, "input_required",
			`{"type":["string","object","null"]}`, []string{`1`, `-1`, `true`, `[]`},
			[]string{`"x"`, `{}`, `null`},
		},
		"a schema": {
			thread.Question{Schema: json.RawMessage(`{"type":"integer"}`)}, "input_required",
			`{"type":"integer"}`, []string{`"x"`}, []string{`0`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, deskTells("general", "Dag.").Always())
			d.before = func(ctx context.Context) error {
				_, err := thread.AskAll(ctx, func() thread.Question {
					q := tc.q
					q.Name, q.Text = "q", "Well?"
					return q
				}())
				return err
			}
			d.open()
			for n, good := range tc.good {
				room := fmt.Sprintf("room%d", n)
				i := d.run(inputIn(room, "r1", "doe het")).asks()
				assert.Equal(t, tc.reason, i.Reason)
				assert.Empty(t, i.ToolCallID)
				assert.JSONEq(t, tc.schema, string(i.ResponseSchema))
				for _, bad := range tc.bad {
					d.run(inputIn(room, "bad", "", resumes(i.ID, bad))).refuses("invalid")
				}
				d.run(inputIn(room, "r2", "", resumes(i.ID, good))).succeeds("Dag.")
			}
		})
	}
}

func TestAllOpenInterruptsAreAnswered(t *testing.T) {
	t.Parallel()
	d := newDesk(t, deskTells("general", "Dag."))
	d.before = func(ctx context.Context) error {
		_, err := thread.AskAll(ctx, thread.Question{Name: "one", Plain: thread.PlainText},
			thread.Question{Name: "two", Plain: thread.PlainText})
		return err
	}
	d.open()
	both := d.run(inputOf("r1", "doe het")).asksAll()
	require.Len(t, both, 2)
	one, two := both[0].ID, both[1].ID
	for _, body := range []string{inputOf("r2", "", resumes(one, `"x"`)),
		inputOf("r3", "", cancels(two))} {
		s := d.run(body)
		s.refuses("pending_interrupt")
		assert.Len(t, s.state().Interrupts, 2)
	}
	d.run(showing(both[0], showing(both[1], inputOf("r4", "ja")))).refuses("ambiguous")
	d.run(inputOf("r5", "", `"resume":[{"interruptId":"`+one+
		`","status":"resolved","payload":"x"},{"interruptId":"`+two+`","status":"cancelled"}]`)).
		refuses("invalid")
	d.run(inputOf("r6", "", resumes(one, `"x"`, "unknown", `"y"`))).refuses("not_found")
	d.run(inputOf("r7", "", resumes(two, `"y"`, one, `"x"`))).succeeds("Dag.")
}

func TestUnclearAnswer(t *testing.T) {
	t.Parallel()
	d := newDesk(t, deskTells("general", "Dag."))
	d.before = func(ctx context.Context) error {
		_, err := thread.Ask[bool](ctx, "sure",
			thread.Question{Text: "Zeker?", Plain: thread.PlainYesNo, Language: "nl"})
		return err
	}
	d.open()
	i := d.run(inputOf("r1", "doe het")).asks()
	for range 4 {
		s := d.run(showing(i, inputOf("r2", "misschien")))
		assert.Equal(t, i.ID, s.asks().ID, "it is asked again")
		require.Len(t, s.texts(), 1)
		assert.Contains(t, s.texts()[0], "misschien", "with the reason")
	}
	d.run(showing(i, inputOf("r3", "ja"))).succeeds("Dag.")
}

func TestSystemError(t *testing.T) {
	t.Parallel()
	d := newDesk(t, llmtest.Fails(
		thread.Permanent(&runtime.Error{Code: runtime.CodeInvalid, Op: "ask",
			Err: io.ErrUnexpectedEOF})),
		deskTells("general", "Dag."),
		llmtest.Fails(thread.Permanent(&runtime.Error{Code: runtime.CodeInvalid, Op: "ask",
			Err: io.ErrUnexpectedEOF})),
		deskTells("general", "Weer."))
	d.open()
	i := d.run(inputOf("r1", "dag")).asks()
	assert.Equal(t, "routegen:system_error", i.Reason)
	assert.Contains(t, string(i.ResponseSchema), `"edit"`)
	d.run(inputOf("r2", "", resumes(i.ID, `{"choice":"fly"}`))).refuses("invalid")
	s := d.run(inputOf("r3", "",
		resumes(i.ID, `{"choice":"edit","input":{"request":{"general":{"text":"dag"}}}}`)))
	s.succeeds("Dag.")
	assert.Equal(t, "general", s.of("STEP_STARTED")[0].StepName, "the step that goes on")
	i = d.run(inputOf("r4", "dag")).asks()
	d.run(inputOf("r5", "", resumes(i.ID, `{"choice":"abort"}`))).refuses("cancelled")
	d.run(inputOf("r6", "dag")).succeeds("Weer.") // the turn was given up, not the conversation
}

func TestThreadThatCannotBeRead(t *testing.T) {
	t.Parallel()
	d := newDesk(t, deskTells("general", "Dag."), deskTells("general", "Hallo.")).open()
	d.run(inputOf("r1", "dag")).succeeds("Dag.")
	d.restart() // what is in memory is gone
	d.broken.Store(true)
	s := d.run(inputOf("r2", "ben je daar?"))
	assert.NotContains(t, s.refuses("internal").Message, "canary", "foreign words go nowhere")
	require.Len(t, s.texts(), 1)
	assert.Contains(t, s.texts()[0], "cannot read")
	d.broken.Store(false)
	d.run(inputOf("r2", "ben je daar?")).succeeds("Hallo.")
}

func TestIdleStreamShowsThatItLives(t *testing.T) {
	t.Parallel()
	d := newDesk(t, deskHands("history"), deskCalls("history", "h1", "get_inspection_history",
		`{}`), deskTells("history", "Twee."))
	_, release := d.holding()
	d.cfg.Beat = time.Millisecond
	d.open()
	res := d.post(t.Context(), deskToken, inputOf("r1", "hoe vaak?"))
	defer func() { _ = res.Body.Close() }()
	var all strings.Builder
	buf := make([]byte, 1000)
	for !strings.Contains(all.String(), ": still here") {
		n, err := res.Body.Read(buf)
		require.NoError(t, err)
		all.Write(buf[:n])
	}
	release()
	rest, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	assert.Contains(t, string(rest), "RUN_FINISHED")
}

func TestServerThatEndsCutsItsStreams(t *testing.T) {
	t.Parallel()
	d := newDesk(t, deskHands("history"), deskCalls("history", "h1", "get_inspection_history",
		`{}`), deskTells("history", "Twee."))
	reached, release := d.holding()
	d.open()
	res := d.post(t.Context(), deskToken, inputOf("r1", "hoe vaak?"))
	defer func() { _ = res.Body.Close() }()
	<-reached
	var frames [][]byte
	for frame := range framesIn(res) {
		if frames = append(frames, frame); strings.Contains(string(frame), "TOOL_CALL_END") {
			require.NoError(t, d.server.HTTP("").Shutdown(t.Context()))
		}
	}
	require.ErrorContains(t, (&checker{}).check("room", "r1", frames), "no end",
		"it does not say how the run ended: nobody knows yet")
	release()
	assert.Equal(t, thread.StatusIdle, d.settled().Status())
}

// TestRouteTakesANote: beside a target a text is a note to it, and any other payload an answer
// too many.
func TestRouteTakesANote(t *testing.T) {
	t.Parallel()
	i := &thread.Interrupt{ID: "i", Question: thread.Question{Targets: []string{"HERE"}}}
	for payload, want := range map[string]thread.Answer{
		"":             {Interrupt: "i", RouteTo: "HERE"},
		`"look there"`: {Interrupt: "i", RouteTo: "HERE", Text: "look there"},
		`{"a":1}`:      {Interrupt: "i", RouteTo: "HERE", Value: json.RawMessage(`{"a":1}`)},
	} {
		r := resumption{interrupt: "i", routeTo: "HERE"}
		if payload != "" {
			r.payload = json.RawMessage(payload)
		}
		got, err := r.toAnswer(i)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
}
