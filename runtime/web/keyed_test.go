package web_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
	"github.com/routegen/routegen/runtime/web"
)

// TestTheSameKeyOnEveryCall repeats each call that takes a key: the second time nothing happens,
// and what is told is the same. Another body under the key is refused, and the same body under
// another key is another call.
func TestTheSameKeyOnEveryCall(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		path, body, other string
		again             int // status of the same body under another key
	}{
		"escape": {"/v1/threads/{t}/escape", `{"reason":"wait","by":"ann"}`,
			`{"reason":"stop","by":"ann"}`, 200},
		"cancel": {"/v1/threads/{t}/cancel", `{"reason":"enough"}`, `{"reason":"more"}`, 409},
		"claim":  {"/v1/interrupts/{i}/claim", `{"by":"ann"}`, `{"by":"ann","release":true}`, 200},
		"extend": {"/v1/interrupts/{i}/extend", `{"until":{soon}}`, `{"until":{soon}1}`, 200},
		"fork":   {"/v1/threads/{t}/fork", `{"seq":{seq}}`, `{"seq":1}`, 201},
	} {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(r *rig) {
				th := r.start("ask", `"x"`)
				fill := strings.NewReplacer("{t}", th.ID, "{i}", th.Open[0].ID, "{soon}",
					jsonOf(r.soon()), "{seq}", jsonOf(th.Seq))
				path, body := fill.Replace(c.path), fill.Replace(c.body)
				first := r.post(path, body, "Idempotency-Key", "k")
				require.Less(t, first.status, 300, string(first.body))
				quiet := r.settled(th.ID).Seq
				got := make([]*reply, 4)
				var all sync.WaitGroup
				for n := range got {
					all.Go(func() { got[n] = r.post(path, " "+body+" ", "Idempotency-Key", "k") })
				}
				all.Wait()
				for _, again := range got {
					assert.Equal(t, first.status, again.status)
					if name != "escape" && name != "cancel" { // there the thread has gone on since
						assert.Equal(t, string(first.body), string(again.body))
					}
				}
				assert.Equal(t, quiet, r.settled(th.ID).Seq, "nothing happened the second time")
				r.post(path, fill.Replace(c.other), "Idempotency-Key", "k").
					is(422, runtime.CodeConflict)
				assert.Equal(t, quiet, r.settled(th.ID).Seq)
				r.post(path, body, "Idempotency-Key", "another").is(c.again)
				assert.NotContains(t, string(r.get("/v1/threads/"+th.ID+"/outbox").body),
					`"name":"request"`, "keys are no messages to anybody")
			})
		})
	}
}

// TestAKeyOutlivesTheServer finds the first result through another server with another engine on
// the same store.
func TestAKeyOutlivesTheServer(t *testing.T) {
	onBoth(t, func(r *rig) {
		th := r.start("ask", `"x"`)
		fork := "/v1/threads/" + th.ID + "/fork"
		escape, body := "/v1/threads/"+th.ID+"/escape", fmt.Sprintf(`{"seq":%d}`, th.Seq)
		first := decode[struct{ Thread web.Thread }](r.post(fork, body, "Idempotency-Key", "f").
			is(201)).Thread
		assert.JSONEq(t, `{"ack":"requested"}`, string(r.post(escape, `{}`, "Idempotency-Key", "e").
			is(200).body))
		r.settled(th.ID)
		require.NoError(t, r.engine.Close(t.Context()))
		engine, err := thread.Open(t.Context(), r.store, thread.Config{}, machines()...)
		require.NoError(t, err)
		r.engine = engine
		server, err := web.New(engine, operator, web.Config{})
		require.NoError(t, err)
		r.http.Config.Handler = server
		again := decode[struct{ Thread web.Thread }](r.post(fork, body, "Idempotency-Key", "f").
			is(201)).Thread
		assert.Equal(t, first.ID, again.ID)
		assert.JSONEq(t, `{"ack":"requested"}`, string(r.post(escape, `{}`, "Idempotency-Key", "e").
			is(200).body))
		assert.JSONEq(t, `{"ack":"already_pending"}`,
			string(r.post(escape, `{}`, "Idempotency-Key", "e2").is(200).body),
			"the control: under another key it is another request")
		require.NoError(t, engine.Close(t.Context()))
	})
}

// TestAKeyBelongsToItsCaller and is not found under another token, nor on another interrupt of the
// thread.
func TestAKeyBelongsToItsCaller(t *testing.T) {
	onBoth(t, func(r *rig) {
		th := r.start("pair", `""`)
		one, two := "/v1/interrupts/"+th.Open[0].ID+"/claim", "/v1/interrupts/"+th.Open[1].ID+
			"/claim"
		r.post(one, `{"by":"ann"}`, "Idempotency-Key", "k").is(200)
		r.post(two, `{"by":"ann"}`, "Idempotency-Key", "k").is(422)
		ann := r.forAll(th.ID, "answer")
		assert.Equal(t, "ann", decode[web.Interrupt](
			r.try(ann, http.MethodPost, two, `{"by":"ann"}`, "Idempotency-Key", "k").is(200)).
			ClaimedBy)
		r.post(two, `{"by":"ann"}`, "Idempotency-Key", strings.Repeat("k", 300)).is(400)
	})
}

// TestARefusedCallDoesNotUseItsKey lets the corrected call have it.
func TestARefusedCallDoesNotUseItsKey(t *testing.T) {
	onBoth(t, func(r *rig) {
		th := r.start("ask", `"x"`)
		extend := "/v1/interrupts/" + th.Open[0].ID + "/extend"
		r.post(extend, `{"until":1}`, "Idempotency-Key", "k").is(400)
		assert.Equal(t, th.Seq, r.settled(th.ID).Seq)
		r.post(extend, fmt.Sprintf(`{"until":%d}`, r.soon()), "Idempotency-Key", "k").is(200)
		r.post("/v1/threads/unknown/cancel", `{}`, "Idempotency-Key", "k").is(404)
	})
}

// TestForkAgainHasTheSameEffects lists what the source had done after the point of the fork, the
// second time too.
func TestForkAgainHasTheSameEffects(t *testing.T) {
	planning(t, func(w *works) {
		id, _ := w.begin("a,ask b")
		w.settled(id)
		var end int64
		for _, row := range decode[struct{ Items []web.Row }](
			w.get("/v1/threads/" + id + "/history?limit=1000")).Items {
			if row.End && end == 0 {
				end = row.Seq
			}
		}
		path, body := "/v1/threads/"+id+"/fork", fmt.Sprintf(`{"seq":%d,"id":"own"}`, end)
		first := w.post(path, body, "Idempotency-Key", "f").is(201)
		after := decode[struct{ After []web.Row }](first)
		again := decode[struct{ After []web.Row }](w.post(path, body, "Idempotency-Key", "f").
			is(201))
		assert.Equal(t, after, again)
		w.post(path, fmt.Sprintf(`{"seq":%d,"id":"own","by":"bob"}`, end), "Idempotency-Key", "f").
			is(409, runtime.CodeConflict)
		w.post(path, fmt.Sprintf(`{"seq":%d,"id":"own","by":"bob"}`, end)).
			is(409, runtime.CodeConflict)
	})
}

// TestARequestFindsItsThread gives the engine a request without an id, many times at once: it makes
// one thread.
func TestARequestFindsItsThread(t *testing.T) {
	onBoth(t, func(r *rig) {
		got := make([]string, 8)
		var all sync.WaitGroup
		for n := range got {
			all.Go(func() {
				th, err := r.engine.Start(t.Context(),
					thread.Begin{Machine: "ask", Input: "x", Request: "req"})
				if assert.NoError(t, err) {
					got[n] = th.ID
				}
			})
		}
		all.Wait()
		for _, id := range got {
			assert.Equal(t, got[0], id)
		}
		other, err := r.engine.Start(t.Context(),
			thread.Begin{Machine: "ask", Input: "x", Request: "another"})
		require.NoError(t, err)
		assert.NotEqual(t, got[0], other.ID)
		none, err := r.engine.Start(t.Context(), thread.Begin{Machine: "ask", Input: "x"})
		require.NoError(t, err)
		assert.NotEqual(t, got[0], none.ID)
		threads := decode[struct{ Items []web.Thread }](r.get("/v1/threads?limit=2").is(200))
		assert.Len(t, threads.Items, 2, "a page is full as long as there are more")
	})
}
