package web_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime/thread"
	"github.com/routegen/routegen/runtime/web"
	"github.com/routegen/routegen/runtime/web/client"
	"github.com/routegen/routegen/runtime/web/control"
	"github.com/routegen/routegen/runtime/web/socket"
)

// TestEscapeWhileAQuestionIsPending shows the pause in place of the question, refuses the old
// id, and has both in the history.
func TestEscapeWhileAQuestionIsPending(t *testing.T) {
	onBoth(t, func(r *rig) {
		th := r.start("yes", `""`)
		c := r.socket(operator)
		c.ask(context0(th.ID, ""))
		c.send(`{"type":"interrupt","payload":{"thread_id":"` + th.ID +
			`","reason":"user_escape"},"id":"1"}`)
		var open *web.Interrupt
		for acked := false; open == nil || !acked; { // the row may come before the acknowledgement
			m, err := c.read()
			require.NoError(t, err)
			if m.Type != "row" {
				assert.Contains(t, m.raw, "requested")
				acked = true
				continue
			}
			var row web.Row
			require.NoError(t, json.Unmarshal(m.Payload, &row))
			if row.Type == thread.EntryPaused {
				open = row.Question
			}
		}
		assert.Equal(t, thread.KindUserEscape, open.Kind)
		assert.Contains(t, c.ask(`{"type":"resume","payload":{"thread_id":"`+th.ID+
			`","interrupt_id":"`+th.Open[0].ID+`","value":true},"id":"2"}`).raw,
			`"message":"superseded: `)
		assert.Contains(t, c.ask(`{"type":"resume","payload":{"thread_id":"`+th.ID+
			`","user_input":""},"id":"3"}`).raw, `"success":true`)
		again := r.settled(th.ID).Open[0]
		assert.NotEqual(t, th.Open[0].ID, again.ID, "the agent asks anew, under a new id")
		history := string(r.get("/v1/threads/" + th.ID + "/history").body)
		for _, id := range []string{th.Open[0].ID, open.ID, again.ID} {
			assert.Contains(t, history, id)
		}
	})
}

// TestTwoTabsResume lets the first win.
func TestTwoTabsResume(t *testing.T) {
	onBoth(t, func(r *rig) {
		th := r.start("yes", `""`)
		tabs := []*socketClient{r.socket(operator), r.socket(operator)}
		got := make([]string, len(tabs))
		var all sync.WaitGroup
		for n, c := range tabs {
			all.Go(func() {
				c.send(`{"type":"resume","payload":{"thread_id":"` + th.ID + `","interrupt_id":"` +
					th.Open[0].ID + `","value":` + []string{"true", "false"}[n] + `},"id":"1"}`)
				if m, err := c.read(); assert.NoError(t, err) {
					got[n] = m.raw
				}
			})
		}
		all.Wait()
		both := strings.Join(got, "\n")
		assert.Equal(t, 1, strings.Count(both, `"success":true`), both)
		assert.Equal(t, 1, strings.Count(both, `"message":"already_answered: `), both)
		assert.Equal(t, 1, strings.Count(string(r.get("/v1/threads/"+th.ID+"/history").body),
			`"type":"answered"`))
	})
}

// TestTheServerRestartsWhileItWaits answers through another server with another engine on the
// same store, with the same token.
func TestTheServerRestartsWhileItWaits(t *testing.T) {
	onBoth(t, func(r *rig) {
		th := r.start("ask", `"x"`)
		token := r.forAll(th.ID, "follow", "answer")
		last := decode[struct{ Items []web.Row }](r.get("/v1/threads/" + th.ID + "/outbox")).Items
		r.http.Close()
		require.NoError(t, r.engine.Close(t.Context()))

		engine, err := thread.Open(t.Context(), r.store, thread.Config{}, machines()...)
		require.NoError(t, err)
		server, err := web.New(engine, operator,
			web.Config{Doors: []web.Door{socket.Door(), control.Plans()}})
		require.NoError(t, err)
		again := httptest.NewServer(server)
		defer func() {
			again.Close()
			assert.NoError(t, engine.Close(context.WithoutCancel(t.Context())))
		}()
		c := &client.Client{Base: again.URL, Token: token}
		open, err := c.Thread(t.Context(), th.ID)
		require.NoError(t, err)
		require.Len(t, open.Open, 1)
		assert.Equal(t, th.Open[0], open.Open[0], "with its payload")
		_, err = c.Answer(t.Context(),
			thread.Answer{Interrupt: open.Open[0].ID, Value: json.RawMessage(`{"ok":true}`)})
		require.NoError(t, err)
		var types []thread.EntryType
		for row, err := range c.Stream(t.Context(), th.ID, last[len(last)-1].ID) {
			require.NoError(t, err)
			if types = append(types, row.Type); row.Type == thread.EntryOver {
				break
			}
		}
		assert.Equal(t, []thread.EntryType{"answered", "over"}, types)
	})
}

// TestShutdownEndsStreams lets http.Server.Shutdown return while somebody follows.
func TestShutdownEndsStreams(t *testing.T) {
	t.Parallel()
	r := newRig(t, "mem", web.Config{})
	front := httptest.NewUnstartedServer(r.server)
	front.Config = r.server.HTTP("")
	front.Start()
	defer front.Close()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, front.URL+"/v1/stream", nil)
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer "+operator)
	res, err := http.DefaultTransport.RoundTrip(req)
	require.NoError(t, err)
	defer func() { _ = res.Body.Close() }()
	require.NoError(t, front.Config.Shutdown(t.Context()))
}
