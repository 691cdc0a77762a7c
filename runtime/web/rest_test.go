package web_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
	"github.com/routegen/routegen/runtime/web"
)

func TestAThreadFromStartToEnd(t *testing.T) {
	onBoth(t, func(r *rig) {
		th := r.start("ask", `"a <b>"`)
		require.Equal(t, thread.StatusWaiting, th.Status)
		require.Len(t, th.Open, 1)
		i := th.Open[0]
		assert.Equal(t, "ok", i.Name)
		assert.Positive(t, i.Due)
		assert.Equal(t, i, decode[web.Interrupt](r.get("/v1/interrupts/"+i.ID).is(200)))

		wrong := r.post("/v1/interrupts/"+i.ID+"/answer", `{"value":{"ok":"yes"}}`).
			is(400, runtime.CodeInvalid).problem()
		assert.Equal(t, "/ok", wrong.Problems[0].Pointer)
		done := decode[struct{ Interrupt web.Interrupt }](r.post("/v1/interrupts/"+i.ID+"/answer",
			`{"value":{"ok":false},"digest":"`+i.Digest+`","by":"ann"}`).is(200))
		assert.Equal(t, thread.InterruptAnswered, done.Interrupt.State)
		assert.Equal(t, "ann", done.Interrupt.AnsweredBy)
		th = r.settled(th.ID)
		assert.Equal(t, thread.StatusDone, th.Status)
		assert.JSONEq(t, `{"ok":false}`, string(th.Result))

		rows := decode[struct{ Items []web.Row }](r.get("/v1/threads/" + th.ID + "/history").
			is(200)).Items
		assert.Equal(t, th.ID+"/1", rows[0].ID)
		assert.Len(t, rows, int(th.Seq))
		var types []thread.EntryType
		for _, row := range decode[struct{ Items []web.Row }](
			r.get("/v1/threads/" + th.ID + "/outbox").is(200)).Items {
			types = append(types, row.Type)
			if row.Type == thread.EntryAsked {
				assert.Equal(t, i.ID, row.Question.ID)
			}
		}
		assert.Equal(t, []thread.EntryType{"started", "message", "asked", "answered", "over"},
			types)
	})
}

func TestInboxFiltersAndPages(t *testing.T) {
	onBoth(t, func(r *rig) {
		type page struct {
			Items []web.Interrupt
			Next  string
		}
		var ids []string
		for range 5 {
			ids = append(ids, r.start("ask", `"x"`).Open[0].ID)
		}
		r.start("votes", `""`)
		var found []string
		for next := ""; ; {
			p := decode[page](r.get("/v1/interrupts?limit=2&assignee=dan&after=" + next).is(200))
			for _, i := range p.Items {
				found = append(found, i.ID)
			}
			if next = p.Next; next == "" {
				break
			}
		}
		assert.ElementsMatch(t, ids, found)
		assert.Len(t, decode[page](r.get("/v1/interrupts?assignee=ann").is(200)).Items, 6)
		assert.Empty(t, decode[page](r.get("/v1/interrupts?kind=system_error").is(200)).Items)
		assert.Empty(t, decode[page](r.get("/v1/interrupts?before=1").is(200)).Items)
		r.get("/v1/interrupts?after=forged").is(400)
		r.get("/v1/interrupts?limit=1001").is(400)
		r.get("/v1/interrupts?order=by").is(400)
		assert.Len(t, decode[page](r.get("/v1/interrupts?state=queued,open").is(200)).Items, 6)
		for _, state := range []string{"nonsense", "Open", "open,", "open,nonsense", "waiting",
			"open%20"} {
			refused := r.get("/v1/interrupts?state="+state).is(400, runtime.CodeInvalid).problem()
			if !strings.Contains(state, "%") {
				assert.Contains(t, refused.Detail,
					"use [open queued answered superseded cancelled expired]", state)
			}
		}

		known := "use [user_escape agent_question system_error], several with commas between"
		for _, kind := range []string{"nonsense", "System_Error", "agent_question,",
			"agent_question,nonsense", "nonsense,agent_question", ",", "open"} {
			assert.Contains(t, r.get("/v1/interrupts?kind="+kind).is(400, runtime.CodeInvalid).
				problem().Detail, known, kind)
		}
		assert.Len(t, decode[page](r.get("/v1/interrupts?kind=system_error,agent_question").
			is(200)).Items, 6)
		assert.Empty(t, decode[page](r.get("/v1/interrupts?node=nonsense").is(200)).Items,
			"nodes are the programs' own")

		assert.Len(t, decode[struct{ Items []web.Thread }](r.get("/v1/threads?status=waiting,idle").
			is(200)).Items, 6)
		assert.Contains(t, r.get("/v1/threads?status=foo").is(400, runtime.CodeInvalid).problem().
			Detail,
			`"foo" is no status: use [idle running waiting done failed cancelled handed_off]`)
		r.get("/v1/threads?status=open").is(400)
		threads := decode[struct{ Items []web.Thread }](r.get("/v1/threads?status=waiting").
			is(200)).Items
		assert.Len(t, threads, 6)
	})
}

// TestAKindOfAnOlderProgram has a question of a kind that the engine has no rules for any more: it
// can be asked for, whatever becomes of it.
func TestAKindOfAnOlderProgram(t *testing.T) {
	t.Parallel()
	for _, store := range []string{"mem", "sqlite"} {
		t.Run(store, func(t *testing.T) {
			t.Parallel()
			law := thread.Func("law", func(ctx context.Context, _ string) ([]thread.Reply, error) {
				return thread.AskAll(ctx, thread.Question{Name: "sign", Kind: "legal",
					Plain: thread.PlainText})
			})
			r := newRig(t, store, web.Config{}, law)
			r.get("/v1/interrupts?kind=legal").is(400, runtime.CodeInvalid)
			older, err := thread.Open(t.Context(), r.store.Store,
				thread.Config{Kinds: append(kinds(), runtime.Kind{Name: "legal", Clash: "queue"}),
					Owner: "older"}, law)
			require.NoError(t, err)
			_, err = older.Start(t.Context(),
				thread.Begin{ID: "law", Machine: "law", Input: json.RawMessage(`""`)})
			require.NoError(t, err)
			_, err = older.Wait(t.Context(), "law")
			require.NoError(t, err)
			require.NoError(t, older.Close(t.Context()))

			found := func() []web.Interrupt {
				return decode[struct{ Items []web.Interrupt }](r.get("/v1/interrupts?kind=legal").
					is(200)).Items
			}
			assert.Equal(t, r.settled("law").Open, found())
			assert.Equal(t, "legal", found()[0].Kind)
			r.get("/v1/interrupts?kind=legal,nonsense").is(400, runtime.CodeInvalid)
			r.post("/v1/threads/law/cancel", `{}`).is(200)
			assert.Empty(t, found(), "nobody waits, and the kind is none that is misspelt")
		})
	}
}

func TestClaimExtendAndBatch(t *testing.T) {
	onBoth(t, func(r *rig) {
		one, two := r.start("ask", `"1"`).Open[0], r.start("ask", `"2"`).Open[0]
		claimed := decode[web.Interrupt](r.post("/v1/interrupts/"+one.ID+"/claim", `{"by":"ann"}`).
			is(200))
		assert.Equal(t, "ann", claimed.ClaimedBy)
		r.post("/v1/interrupts/"+one.ID+"/claim", `{"by":"bob"}`).is(409, runtime.CodeConflict)
		r.post("/v1/interrupts/"+one.ID+"/answer", `{"value":{"ok":true},"by":"bob"}`).
			is(403, runtime.CodeForbidden)
		r.post("/v1/interrupts/"+one.ID+"/claim", `{"by":"ann","release":true}`).is(200)
		until := r.soon()
		extended := decode[web.Interrupt](r.post("/v1/interrupts/"+one.ID+"/extend",
			fmt.Sprintf(`{"until":%d}`, until)).is(200))
		assert.Equal(t, until, extended.Due)
		r.post("/v1/interrupts/"+one.ID+"/extend", `{"until":1}`).is(400)

		batch := func(a, b string) string {
			return fmt.Sprintf(
				`{"answers":[{"interrupt":%q,"value":%s},{"interrupt":%q,"value":%s}]}`, one.ID, a,
				two.ID, b)
		}
		refused := r.post("/v1/answers", batch(`{"ok":true}`, `{"ok":1}`)).is(400).problem()
		assert.Equal(t, 1, *refused.Index)
		assert.Equal(t, thread.InterruptOpen,
			decode[web.Interrupt](r.get("/v1/interrupts/"+one.ID)).State,
			"none of a batch counts when one is refused")
		body := batch(`{"ok":true}`, `{"ok":false}`)
		first := r.post("/v1/answers", body, "Idempotency-Key", "k").is(200)
		assert.Equal(t, first.body, r.post("/v1/answers", body, "Idempotency-Key", "k").is(200).
			body)
		r.post("/v1/answers", batch(`{"ok":false}`, `{"ok":false}`), "Idempotency-Key", "k").is(422)
	})
}

func TestDeliverTakesAStringOrAnObject(t *testing.T) {
	onBoth(t, func(r *rig) {
		th := r.start("talk", `"hi"`)
		path := "/v1/threads/" + th.ID + "/messages"
		r.post(path, `"again"`).is(200)
		assert.JSONEq(t, `"again"`, string(r.settled(th.ID).Result))
		r.post(path, `{"message":"and again"}`, "Idempotency-Key", "m").is(200)
		assert.JSONEq(t, `"and again"`, string(r.settled(th.ID).Result))
		r.post(path, `{"message":"and again"}`, "Idempotency-Key", "m").is(200)
		assert.Equal(t, 3, r.settled(th.ID).Turn)
		r.post(path, `{"message":"other"}`, "Idempotency-Key", "m").is(422)
		r.post(path, `{"text":"x"}`).is(400)

		asks := r.start("yes", `""`)
		unclear := r.post("/v1/threads/"+asks.ID+"/messages", `"no way, maybe"`).
			is(400, runtime.CodeInvalid).problem()
		assert.Equal(t, 2, *unclear.Left)
		r.post("/v1/threads/"+asks.ID+"/messages", `{"message":"no way"}`, "Idempotency-Key", "n").
			is(200)
		assert.JSONEq(t, `false`, string(r.settled(asks.ID).Result))
		r.post("/v1/threads/"+asks.ID+"/messages", `{"message":"yes"}`, "Idempotency-Key", "n").
			is(422)
		r.post("/v1/threads/"+asks.ID+"/messages", `"more"`).is(409, runtime.CodeNotWaiting)
	})
}

func TestEscapeCancelAndFork(t *testing.T) {
	onBoth(t, func(r *rig) {
		th := decode[web.Thread](r.post("/v1/threads", `{"machine":"long","input":""}`).is(201))
		path := "/v1/threads/" + th.ID
		assert.JSONEq(t, `{"ack":"requested"}`,
			string(r.post(path+"/escape", `{"mode":"now","reason":"stop"}`).is(200).body))
		assert.JSONEq(t, `{"ack":"already_pending"}`,
			string(r.post(path+"/escape", `{}`).is(200).body))
		paused := r.settled(th.ID)
		require.True(t, paused.Paused)
		assert.Equal(t, thread.KindUserEscape, paused.Open[0].Kind)
		r.post(path+"/escape", `{"mode":"sideways"}`).is(400)
		assert.Equal(t, thread.StatusCancelled,
			decode[web.Thread](r.post(path+"/cancel", `{"reason":"enough"}`).is(200)).Status)
		r.post(path+"/cancel", `{}`).is(409, runtime.CodeNotWaiting)
		r.post(path+"/escape", `{}`).is(409, runtime.CodeNotWaiting)

		source := r.start("ask", `"f"`)
		forked := decode[struct{ Thread web.Thread }](r.post("/v1/threads/"+source.ID+"/fork",
			fmt.Sprintf(`{"seq":%d,"id":"copy"}`, source.Seq)).is(201)).Thread
		assert.Equal(t, source.ID, forked.ForkedFrom.Thread)
		r.post("/v1/threads/"+source.ID+"/fork", `{"seq":9999}`).is(400)
		r.post("/v1/threads/"+source.ID+"/fork", `{"seq":1,"id":"a b"}`).is(400)
	})
}

// TestTheDocumentHasEveryRoute calls every operation of the document once, so that each answer has
// been held to its schema.
func TestTheDocumentHasEveryRoute(t *testing.T) {
	t.Parallel()
	w := newWorks(t, "mem", web.Config{Programs: map[string]web.Program{"ask": {}}})
	r := w.rig
	plan, _, _ := w.pausedAt()
	proposal := r.post("/v1/threads/"+plan+"/plan/preview", `{"modification":"do ask d"}`).is(200).
		body
	r.post("/v1/threads/"+plan+"/plan/apply", `{"proposal":`+string(proposal)+`}`).is(200)
	r.post("/v1/threads/"+plan+"/plan/undo", `{}`).is(409) // see TestUndoAndRedoOverHTTP
	r.post("/v1/threads/"+plan+"/plan/redo", `{}`).is(409)
	for _, path := range []string{"/v1/token", "/v1/stats", "/v1/programs", "/v1/programs/ask",
		"/v1/threads/" + plan + "/at/1"} {
		r.get(path).is(200)
	}
	th := r.start("ask", `"x"`)
	g := r.grant(th.ID, fmt.Sprintf(`{"actions":["follow"],"by":"ann","expires":%d}`, r.soon()))
	of, on := "/v1/threads/"+th.ID, "/v1/interrupts/"+th.Open[0].ID
	r.try(operator, http.MethodDelete, of+"/tokens/"+g.ID, "").is(204)
	for _, path := range []string{"/v1/openapi.json", "/v1/threads", of, of + "/history",
		of + "/outbox", of + "/tokens", "/v1/interrupts", on} {
		r.get(path).is(200)
	}
	r.post(of+"/fork", fmt.Sprintf(`{"seq":%d}`, th.Seq)).is(201)
	r.post(on+"/claim", `{"by":"ann"}`).is(200)
	r.post(on+"/extend", fmt.Sprintf(`{"until":%d,"by":"ann"}`, r.soon())).is(200)
	r.post(on+"/answer", `{"value":{"ok":true},"by":"ann"}`).is(200)
	r.post("/v1/answers", fmt.Sprintf(
		`{"answers":[{"interrupt":%q,"value":{"ok":true},"by":"ann"}]}`, th.Open[0].ID)).is(200)
	asks := r.start("yes", `""`)
	r.post("/v1/threads/"+asks.ID+"/escape", `{}`).is(200)
	r.settled(asks.ID)
	r.post("/v1/threads/"+asks.ID+"/answer", `{"value":"continue"}`).is(200)
	r.settled(asks.ID)
	talk := r.start("talk", `""`)
	r.post("/v1/threads/"+talk.ID+"/messages", `"x"`).is(200)
	r.post("/v1/threads/"+talk.ID+"/cancel", `{}`).is(200)
	r.post("/v1/interrupt-events?thread="+talk.ID, event("e", "f99", "ORCHESTRATOR")).is(200)

	for path, item := range r.contract.paths {
		for method, op := range item {
			operation := op.(map[string]any)
			id := operation["operationId"].(string)
			if content := operation["responses"].(map[string]any)["200"]; content == nil &&
				id == "socket" || content != nil && isStream(content) {
				continue // its rows are held to their schema where streams are tested
			}
			assert.Positive(t, r.calls[id], "%s %s was not called", method, path)
		}
	}
	assert.Equal(t, "3.1.0", r.contract.doc["openapi"])
	schemas := r.contract.doc["components"].(map[string]any)["schemas"].(map[string]any)
	properties := schemas["Interrupt"].(map[string]any)["properties"].(map[string]any)
	state := properties["state"].(map[string]any)
	assert.Equal(t, state["enum"], r.contract.filter("/v1/interrupts", "state", "enum"),
		"what can be asked for is what can come")
	assert.Equal(t, schemas["Status"].(map[string]any)["enum"],
		r.contract.filter("/v1/threads", "status", "enum"))
	assert.Equal(t, []any{"user_escape", "agent_question", "system_error"},
		r.contract.filter("/v1/interrupts", "kind", "examples"))
	assert.Equal(t, "string", r.contract.filter("/v1/interrupts", "node", "type"),
		"several with commas between")
	missing := r.try(operator, http.MethodGet, "/v1/nothing", "").is(404).problem()
	assert.NotEmpty(t, missing.Request)
	assert.Equal(t, "GET", r.try(operator, http.MethodDelete, of, "").is(405).header.Get("Allow"))
	var bodies int
	for name := range r.contract.doc["components"].(map[string]any)["schemas"].(map[string]any) {
		_, err := r.contract.c.Compile("openapi.json#/components/schemas/" + name)
		require.NoError(t, err)
		bodies++
	}
	assert.Greater(t, bodies, 20)
}

// filter is what the schema of the values of a parameter has under a keyword.
func (c *contract) filter(path, name, keyword string) any {
	for _, param := range c.paths[path]["get"].(map[string]any)["parameters"].([]any) {
		if p := param.(map[string]any); p["name"] == name && p["style"] == "form" &&
			p["explode"] == false {
			return p["schema"].(map[string]any)["items"].(map[string]any)[keyword]
		}
	}
	return nil
}

func isStream(response any) bool {
	content, _ := response.(map[string]any)["content"].(map[string]any)
	return content["text/event-stream"] != nil
}

func TestStartIsIdempotent(t *testing.T) {
	onBoth(t, func(r *rig) {
		body := `{"machine":"ask","input":"x"}`
		first := decode[web.Thread](r.post("/v1/threads", body, "Idempotency-Key", "s").is(201))
		assert.Equal(t, first.ID,
			decode[web.Thread](r.post("/v1/threads", body, "Idempotency-Key", "s").is(201)).ID)
		r.post("/v1/threads", `{"machine":"ask","input":"y"}`, "Idempotency-Key", "s").is(422)
		other := decode[web.Thread](r.post("/v1/threads", body, "Idempotency-Key", "t").is(201))
		assert.NotEqual(t, first.ID, other.ID)
		r.post("/v1/threads", `{"machine":"none"}`).is(400)
		r.post("/v1/threads", `{"machine":"ask","id":"own"}`).is(201)
		r.post("/v1/threads", `{"machine":"ask","id":"own"}`).is(409, runtime.CodeConflict)
	})
}

func TestNullIsAnAnswer(t *testing.T) {
	onBoth(t, func(r *rig) {
		th := r.start("votes", `""`)
		i := th.Open[0].ID
		for _, who := range []string{"ann", "bob"} {
			r.post("/v1/interrupts/"+i+"/answer", `{"value":null,"by":"`+who+`"}`).is(200)
		}
		got := decode[web.Interrupt](r.get("/v1/interrupts/" + i).is(200))
		assert.Equal(t, json.RawMessage("null"), got.Answer)
		r.post("/v1/interrupts/"+r.start("votes", `""`).Open[0].ID+"/answer", `{"by":"ann"}`).
			is(400)
	})
}
