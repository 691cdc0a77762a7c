package web_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
	"github.com/routegen/routegen/runtime/web"
	"github.com/routegen/routegen/runtime/web/client"
	"github.com/routegen/routegen/runtime/workflow"
)

func TestTheClientDoesWhatTheEngineDoes(t *testing.T) {
	onBoth(t, func(r *rig) {
		ctx := t.Context()
		c := &client.Client{Base: r.http.URL + "/", Token: operator}
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
		g, err := c.Grant(ctx, web.Grant{Thread: th.ID, Actions: []string{"view"}, By: "bob",
			Expires: r.soon()})
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
		two := r.start("pair", `""`)
		both, err := c.AnswerAll(ctx, "batch", thread.Answer{Interrupt: two.Open[0].ID, Text: "1"},
			thread.Answer{Interrupt: two.Open[1].ID, Text: "2"})
		require.NoError(t, err)
		assert.Len(t, both, 2)
		assert.NotContains(t, fmt.Sprintf("%v", c), operator)
		_, err = (&client.Client{Base: "http://127.0.0.1:1"}).Thread(ctx, "x")
		assert.Equal(t, runtime.CodeUnavailable, runtime.CodeOf(err))
	})
}

func TestTheClientsStreamSurvivesCuts(t *testing.T) {
	onBoth(t, func(r *rig) {
		c := &client.Client{Base: r.http.URL, Token: operator}
		th := r.start("ask", `"x"`)
		var got []string
		for row, err := range c.Stream(t.Context(), th.ID, "") {
			require.NoError(t, err)
			got = append(got, row.ID)
			r.http.CloseClientConnections() // after every row
			if row.Type == thread.EntryAsked {
				_, err := r.engine.Answer(t.Context(), th.ID,
					thread.Answer{Interrupt: row.Interrupt, Value: json.RawMessage(`{"ok":true}`)})
				require.NoError(t, err)
			}
			if row.Type == thread.EntryOver {
				break
			}
		}
		var want []string
		for _, row := range decode[struct{ Items []web.Row }](
			r.get("/v1/threads/" + th.ID + "/outbox")).Items {
			want = append(want, row.ID)
		}
		assert.Equal(t, want, got)
		for _, err := range c.Stream(t.Context(), "unknown", "") {
			assert.Equal(t, runtime.CodeNotFound, runtime.CodeOf(err))
		}
	})
}
