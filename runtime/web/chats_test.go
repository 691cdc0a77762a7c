package web_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/examples/inspection/routes"
	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/agent"
	"github.com/routegen/routegen/runtime/chat"
	"github.com/routegen/routegen/runtime/llm"
	"github.com/routegen/routegen/runtime/llm/llmtest"
	"github.com/routegen/routegen/runtime/store/sqlite"
	"github.com/routegen/routegen/runtime/thread"
	"github.com/routegen/routegen/runtime/web"
	"github.com/routegen/routegen/runtime/web/socket"
	"github.com/routegen/routegen/runtime/workflow"
)

// room is a rig with a real conversation behind POST messages: the four agents of the inspection
// example. Their model follows a script, and each tool counts its calls.
type room struct {
	*rig
	mu    sync.Mutex
	calls map[string]int
	model *llmtest.ScriptedModel
	hold  chan struct{} // general waits for it, when there is one
	limit time.Duration // of a tool
}

// roomAgents are the handlers of the nodes.
type roomAgents struct{ r *room }

func (a roomAgents) General(ctx context.Context, _ runtime.Call, q *routes.GeneralRequest) (
	*routes.GeneralRouting, error) {
	if a.r.hold != nil {
		select {
		case <-a.r.hold:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	to, reply, err := a.talk(ctx, "general", q.Text)
	out := &routes.GeneralRouting{Reply: reply}
	switch to {
	case "history":
		out.History = &routes.HistoryRequest{Text: q.Text}
	case "regulation":
		out.Regulation = &routes.RegulationRequest{Text: q.Text}
	case "reporting":
		out.Reporting = &routes.ReportingRequest{Text: q.Text}
	}
	return out, err
}

func (a roomAgents) Regulation(ctx context.Context, _ runtime.Call, q *routes.RegulationRequest) (
	*routes.RegulationRouting, error) {
	_, reply, err := a.talk(ctx, "regulation", q.Text)
	return &routes.RegulationRouting{Reply: reply}, err
}

func (a roomAgents) History(ctx context.Context, _ runtime.Call, q *routes.HistoryRequest) (
	*routes.HistoryRouting, error) {
	_, reply, err := a.talk(ctx, "history", q.Text)
	return &routes.HistoryRouting{Reply: reply}, err
}

func (a roomAgents) Reporting(ctx context.Context, _ runtime.Call, q *routes.ReportingRequest) (
	*routes.ReportingRouting, error) {
	_, reply, err := a.talk(ctx, "reporting", q.Text)
	return &routes.ReportingRouting{Reply: reply}, err
}

func (a roomAgents) talk(ctx context.Context, who, text string) (to string, reply *routes.Reply,
	err error) {
	said, err := workflow.RunTalk(ctx, agent.Talk{Model: a.r.model, System: who, Text: text,
		Timeout: a.r.limit})
	if err != nil || said.Transfer != "" {
		if said != nil {
			to = said.Transfer
		}
		return to, nil, err
	}
	return "", &routes.Reply{Text: said.Reply}, workflow.Reply(ctx, "reply", said.Reply)
}

// roomTools are the tools of a server.
type roomTools []llm.Tool

func (t roomTools) Tools(context.Context) ([]llm.Tool, error) { return t, nil }

func (r *room) tool(name string) llm.Tool {
	return llm.Tool{Name: name, Call: func(ctx context.Context, args json.RawMessage) (
		json.RawMessage, error) {
		r.mu.Lock()
		r.calls[name]++
		r.calls[name+string(args)]++
		r.mu.Unlock()
		if name == "get_inspection_history" { // a server that hangs
			<-ctx.Done()
			return nil, ctx.Err()
		}
		return runtime.Encode("done")
	}}
}

func (r *room) called(name string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.calls[name]
}

// repliesAs narrows a reply of the model to one agent.
func repliesAs(name string, r llmtest.Reply) llmtest.Reply {
	return r.For(func(q llm.Request) bool { return q.System == name })
}

func uses(name, tool, args string) llmtest.Reply {
	return repliesAs(name, llmtest.Calls(llm.ToolCall{Name: tool, Args: json.RawMessage(args)}))
}

func tells(name, text string) llmtest.Reply { return repliesAs(name, llmtest.Writes(text)) }

var (
	clarifies = []llmtest.Reply{
		uses("general", "transfer_to_reporting", `{"reason":"a report"}`),
		uses("reporting", "extract_inspection_data", `{}`),
		uses("reporting", "request_clarification", `{"questions":[{"question":"Welk bedrijf?"}]}`),
	}
	approves = []llmtest.Reply{
		uses("general", "transfer_to_reporting", `{"reason":"a report"}`),
		uses("reporting", "generate_final_report", `{"send_email":true}`),
	}
)

// talking plays a scenario on every store.
func talking(t *testing.T, script []llmtest.Reply, play func(r *room)) {
	t.Helper()
	t.Parallel()
	for _, store := range []string{"mem", "sqlite"} {
		t.Run(store, func(t *testing.T) {
			t.Parallel()
			play(newRoom(t, store, web.Config{}, script...))
		})
	}
}

func newRoom(t *testing.T, store string, cfg web.Config, script ...llmtest.Reply) *room {
	t.Helper()
	r := &room{calls: map[string]int{}, model: llmtest.NewModel(script...), limit: time.Minute}
	m, c := r.conversation(t)
	cfg.Conversation = c
	r.rig = newRig(t, store, cfg, m)
	return r
}

// conversation is what a process has of the program.
func (r *room) conversation(t *testing.T) (*workflow.Machine, *chat.Conversation) {
	t.Helper()
	machine, err := workflow.New(routes.New(roomAgents{r}),
		workflow.Config{Conversation: true, Servers: map[string]llm.Tools{
			"regulation": roomTools{r.tool("search_regulations")},
			"history":    roomTools{r.tool("get_inspection_history")},
			"reporting": roomTools{r.tool("extract_inspection_data"),
				r.tool("submit_verification_answers"), r.tool("generate_final_report")},
		}})
	require.NoError(t, err)
	return machine, &chat.Conversation{
		Machine: machine, Cancel: []string{"annuleer"}, Skip: []string{"sla over"},
		Cancelled: "Geannuleerd.",
		Begin: func(m chat.Message, _ json.RawMessage) (thread.Begin, error) {
			return machine.BeginTurn(&routes.GeneralRequest{Text: m.Text})
		},
		Digress: func(_ context.Context, m chat.Message, _ *thread.Interrupt) (bool, error) {
			return strings.HasSuffix(m.Text, "?"), nil
		},
	}
}

// says posts a message of ann to the thread room.
func (r *room) says(text string, headers ...string) *reply {
	r.Helper()
	return r.post("/v1/threads/room/messages", fmt.Sprintf(`{"message":%q,"by":"ann"}`, text),
		headers...)
}

// turn posts a message, and expects a turn of it.
func (r *room) turn(text string) web.Thread {
	r.Helper()
	return decode[web.Thread](r.says(text).is(200))
}

func (r *room) question(th web.Thread, kind string) web.Interrupt {
	r.Helper()
	require.Equal(r, thread.StatusWaiting, th.Status, "%q", th.Reply)
	require.Len(r, th.Open, 1)
	require.Equal(r, kind, th.Open[0].Type, th.Open[0].Text)
	return th.Open[0]
}

// TestAConversationOverREST asks, goes on with the answer, and is back at the entry node
// with the next message.
func TestAConversationOverREST(t *testing.T) {
	talking(t, append(clarifies[:3:3], tells("reporting", "Klaar."),
		tells("general", "Graag gedaan.")), func(r *room) {
		th := r.turn("maak rapport")
		i := r.question(th, "request_clarification")
		assert.Equal(t, []string{"1. Welk bedrijf?"}, th.Reply, "the question's text, once")
		assert.Equal(t, []string{"ann"}, i.Assignees)
		r.post("/v1/threads/room/messages", `{"message":"Jansen","by":"mallory"}`).
			is(403, runtime.CodeForbidden)
		th = r.turn("Jansen")
		assert.Equal(t, []string{"Klaar."}, th.Reply)
		assert.Equal(t, thread.StatusIdle, th.Status)
		assert.Equal(t, 1, r.called("extract_inspection_data"))
		assert.Equal(t, []string{"Graag gedaan."}, r.turn("bedankt").Reply)
		require.NoError(t, r.model.Left())
	})
}

// TestADigressionOverREST gets its answer on a thread beside, and the question stays open.
func TestADigressionOverREST(t *testing.T) {
	script := slices.Concat(clarifies, []llmtest.Reply{
		uses("general", "transfer_to_regulation", `{"reason":"a rule"}`),
		tells("regulation", "Onder 4 graden."), tells("reporting", "Klaar."),
	})
	talking(t, script, func(r *room) {
		i := r.question(r.turn("maak rapport"), "request_clarification")
		th := r.turn("wat is de regel voor vis?")
		assert.Equal(t, []string{"Onder 4 graden."}, th.Reply)
		assert.Equal(t, i.ID, r.question(th, "request_clarification").ID)
		assert.Empty(t, th.Beside)
		assert.Equal(t, []string{"Klaar."}, r.turn("Jansen").Reply)
	})
}

// TestCancelOverREST ends the turn with the word, or with the field.
func TestCancelOverREST(t *testing.T) {
	t.Parallel()
	for _, body := range []string{`{"message":"annuleer","by":"ann"}`,
		`{"message":"","cancel":true,"by":"ann"}`} {
		t.Run(body, func(t *testing.T) {
			talking(t, append(clarifies[:3:3], tells("general", "Hallo.")), func(r *room) {
				r.turn("maak rapport")
				th := decode[web.Thread](r.post("/v1/threads/room/messages", body).is(200))
				assert.Equal(t, []string{"Geannuleerd."}, th.Reply)
				assert.Equal(t, thread.StatusIdle, th.Status)
				assert.Zero(t, r.called("generate_final_report"))
				assert.Equal(t, []string{"Hallo."}, r.turn("hallo").Reply)
			})
		})
	}
}

// TestAnApprovalOverREST asks before any effect; a message does not end it, another user
// does not answer it, and each answer leads where it says.
func TestAnApprovalOverREST(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{
		`{"decision":"approve"}`:                          `generate_final_report{"send_email":true}`,
		`{"decision":"edit","args":{"send_email":false}}`: `generate_final_report{"send_email":false}`,
		`{"decision":"deny","reason":"not yet"}`:          "",
	} {
		t.Run(value, func(t *testing.T) {
			talking(t, append(approves[:2:2], tells("reporting", "Zo is het gegaan.")),
				func(r *room) {
					i := r.question(r.turn("maak rapport"), "approval")
					assert.Zero(t, r.called("generate_final_report"))
					assert.Equal(t, []string{i.ID}, r.says("en vis?").is(409, runtime.CodeConflict).
						problem().Open)
					answer := "/v1/interrupts/" + i.ID + "/answer"
					r.post(answer, `{"value":`+value+`,"by":"mallory"}`).
						is(403, runtime.CodeForbidden)
					r.post(answer, `{"value":{"decision":"maybe"},"by":"ann"}`).
						is(400, runtime.CodeInvalid)
					r.post("/v1/interrupts/unknown/answer", `{"value":`+value+`,"by":"ann"}`).
						is(404)
					assert.Zero(t, r.called("generate_final_report"))
					r.post(answer, `{"value":`+value+`,"by":"ann"}`).is(200)
					assert.Equal(t, thread.StatusIdle, r.settled("room").Status)
					if want == "" {
						assert.Zero(t, r.called("generate_final_report"))
						return
					}
					assert.Equal(t, 1, r.called("generate_final_report"))
					assert.Equal(t, 1, r.called(want), "with these arguments, in full")
					r.post(answer, `{"value":{"decision":"deny"},"by":"bob"}`).
						is(409, runtime.CodeAlreadyAnswered)
				})
		})
	}
}

// TestTheServerRestartsWithAnApprovalOpen lists it again, and the answer through the new server
// works.
func TestTheServerRestartsWithAnApprovalOpen(t *testing.T) {
	t.Parallel()
	r := newRoom(t, "sqlite", web.Config{}, append(approves[:2:2], tells("reporting", "Klaar."))...)
	i := r.question(r.turn("maak rapport"), "approval")
	r.http.Config.Handler = nil
	require.NoError(t, r.engine.Close(t.Context()))
	m, c := r.conversation(t)
	var err error
	r.engine, err = thread.Open(t.Context(), r.store, thread.Config{}, append(machines(), m)...)
	require.NoError(t, err)
	c.Engine = r.engine
	server, err := web.New(r.engine, operator,
		web.Config{Conversation: c, Doors: []web.Door{socket.Door()}})
	require.NoError(t, err)
	r.http.Config.Handler = server
	sock := r.socket(operator)
	sock.send(context0("room", ""))
	var shown *web.Interrupt
	for shown == nil {
		shown = sock.row().Question
	}
	assert.Equal(t, i.ID, shown.ID, "with its question")
	assert.Contains(t, sock.ask(
		`{"type":"resume","payload":{"thread_id":"room","user_id":"ann","interrupt_id":"`+i.ID+
			`","value":{"decision":"approve"}},"id":"r"}`).raw, `"success":true`)
	assert.Equal(t, thread.StatusIdle, r.settled("room").Status)
	assert.Equal(t, 1, r.called("generate_final_report"))
	require.NoError(t, r.engine.Close(t.Context()))
}

// TestTwoInputsAtOnce runs one, and tells the other that it does.
func TestTwoInputsAtOnce(t *testing.T) {
	t.Parallel()
	for _, store := range []string{"mem", "sqlite"} {
		t.Run(store, func(t *testing.T) {
			t.Parallel()
			r := newRoom(t, store, web.Config{Patience: time.Second}, tells("general", "Hallo."))
			r.hold = make(chan struct{})
			th := r.turn("hallo")
			assert.Equal(t, thread.StatusRunning, th.Status,
				"it came in, and goes on when the caller's patience is over")
			r.says("en nog iets").is(409, runtime.CodeConflict)
			close(r.hold)
			assert.Equal(t, thread.StatusIdle, r.settled("room").Status)
			require.NoError(t, r.model.Left())
		})
	}
}

// TestAKeyedMessageIsOneTurn gives a message to a new thread and to an old one several times:
// each is one turn.
func TestAKeyedMessageIsOneTurn(t *testing.T) {
	talking(t, []llmtest.Reply{tells("general", "Een."), tells("general", "Twee.")}, func(r *room) {
		for n, text := range []string{"een", "twee"} {
			key := []string{"Idempotency-Key", text}
			first := decode[web.Thread](r.says(text, key...).is(200))
			assert.Equal(t, []string{[]string{"Een.", "Twee."}[n]}, first.Reply)
			again := decode[web.Thread](r.says(text, key...).is(200))
			assert.Equal(t, first.Reply, again.Reply)
			assert.Equal(t, n+1, again.Turn)
			r.says("iets anders", key...).is(422, runtime.CodeConflict)
		}
		assert.Equal(t, 2, r.settled("room").Turn)
		require.NoError(t, r.model.Left())
	})
}

// TestAToolThatHangs is a failed result after its time; the thread is usable.
func TestAToolThatHangs(t *testing.T) {
	script := []llmtest.Reply{
		uses("general", "transfer_to_history", `{"reason":"the past"}`),
		uses("history", "get_inspection_history", `{}`), tells("history", "Dat weet ik niet."),
		tells("general", "Hallo."),
	}
	talking(t, script, func(r *room) {
		// far more than it takes to ask the servers for their tools, which has the same limit
		r.limit = 2 * time.Second
		assert.Equal(t, []string{"Dat weet ik niet."}, r.turn("was ik er eerder").Reply)
		assert.Contains(t, string(r.get("/v1/threads/room/history").body), `"failed":true`)
		assert.Equal(t, []string{"Hallo."}, r.turn("hallo").Reply)
	})
}

// TestATurnMayTakeLongerThanACall: a turn that is waited for outlasts Config.Timeout, and its reply
// arrives all the same, the first time and when the message is repeated.
func TestATurnMayTakeLongerThanACall(t *testing.T) {
	t.Parallel()
	for _, store := range []string{"mem", "sqlite"} {
		t.Run(store, func(t *testing.T) {
			t.Parallel()
			const limit = time.Second
			r := newRoom(t, store, web.Config{Timeout: limit}, tells("general", "Hallo."))
			r.hold = make(chan struct{})
			time.AfterFunc(2*limit, func() { close(r.hold) })
			for range 2 {
				told := r.says("hallo", "Idempotency-Key", "k").is(200)
				assert.Equal(t, []string{"Hallo."}, decode[web.Thread](told).Reply)
			}
		})
	}
}

// TestMessagesOfOtherThreads go to the engine, and what only a conversation knows is refused there.
func TestMessagesOfOtherThreads(t *testing.T) {
	talking(t, nil, func(r *room) {
		th := r.start("talk", `"hi"`)
		r.post("/v1/threads/"+th.ID+"/messages", `"again"`).is(200)
		assert.JSONEq(t, `"again"`, string(r.settled(th.ID).Result))
		r.post("/v1/threads/"+th.ID+"/messages", `{"message":"x","cancel":true}`).is(400)
		r.post("/v1/threads/"+th.ID+"/messages", `{"message":"x","metadata":{"a":1}}`).
			is(400, runtime.CodeInvalid)
		r.try(r.forAll(th.ID, "deliver"), http.MethodPost, "/v1/threads/other/messages", `"x"`).
			is(404)
	})
}

func TestAConversationOfAnotherEngineIsRefused(t *testing.T) {
	t.Parallel()
	disk, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "threads.db"), sqlite.Config{})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, disk.Close()) })
	r := newRoom(t, "mem", web.Config{})
	other, err := thread.Open(t.Context(), disk, thread.Config{})
	require.NoError(t, err)
	defer func() { assert.NoError(t, other.Close(context.WithoutCancel(t.Context()))) }()
	_, err = web.New(r.engine, operator,
		web.Config{Conversation: &chat.Conversation{Engine: other}})
	assert.Equal(t, runtime.CodeInvalid, runtime.CodeOf(err))
}
