package web_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
	"github.com/routegen/routegen/runtime/web"
	"github.com/routegen/routegen/runtime/web/client"
)

// TestRightsAreWhatIsAllowed asks what a token may do, and holds that to what the calls say.
func TestRightsAreWhatIsAllowed(t *testing.T) {
	onBoth(t, func(r *rig) {
		rights := func(token string) web.Grant {
			c := &client.Client{Base: r.http.URL, Token: token}
			g, err := c.Rights(t.Context())
			require.NoError(t, err)
			assert.Equal(t, *g, decode[web.Grant](r.try(token, http.MethodGet, "/v1/token", "").
				is(200)))
			return *g
		}
		all := []string{"follow", "inspect", "answer", "deliver", "escape", "cancel",
			"operate"}
		assert.Equal(t, web.Grant{Actions: all}, rights(operator), "no thread: all of them")

		th := r.start("pair", `""`)
		for _, action := range all {
			g := r.grant(th.ID, fmt.Sprintf(`{"actions":[%q],"by":"ann","expires":%d}`, action,
				r.soon()))
			want := g
			want.Token = ""
			if action == "operate" {
				want.Actions = []string{"operate", "answer",
					"escape", "cancel"} // it has them in it
			}
			assert.Equal(t, want, rights(g.Token))
			view := r.try(g.Token, http.MethodGet, "/v1/threads/"+th.ID, "")
			assert.Equal(t, action == "follow", view.status == 200, action)
			answer := r.try(g.Token, http.MethodPost, "/v1/interrupts/"+th.Open[0].ID+"/answer",
				`{}`)
			assert.Equal(t, action == "answer" || action == "operate", answer.status == 400,
				"%s: %s", action, answer.body)
		}
		assert.NotContains(t, string(r.try(r.forAll(th.ID, "follow"), http.MethodGet, "/v1/token",
			"").body), "rg_")

		one := r.grant(th.ID, fmt.Sprintf(
			`{"interrupt":%q,"actions":["follow","answer"],"by":"ann","expires":%d,"once":true}`,
			th.Open[0].ID, r.soon()))
		assert.Equal(t, []string{"follow", "answer"}, rights(one.Token).Actions)
		assert.Equal(t, th.Open[0].ID, rights(one.Token).Interrupt)
		r.try(one.Token, http.MethodPost, "/v1/interrupts/"+th.Open[0].ID+"/answer",
			`{"text":"mine"}`).is(200)
		assert.Equal(t, []string{"follow"}, rights(one.Token).Actions, "its answer is given")
		assert.Equal(t, one.Actions, r.grantOf(one).Actions, "what is stored stays")

		r.try(operator, http.MethodDelete, "/v1/threads/"+th.ID+"/tokens/"+one.ID, "").is(204)
		r.try(one.Token, http.MethodGet, "/v1/token", "").is(401)
		r.try("", http.MethodGet, "/v1/token", "").is(401)
		r.try(operator, http.MethodGet, "/v1/token?of=x", "").is(400)
	})
}

// grantOf reads a grant from the history of its thread.
func (r *rig) grantOf(g web.Grant) web.Grant {
	r.Helper()
	for _, row := range decode[struct{ Items []web.Row }](
		r.get("/v1/threads/" + g.Thread + "/history").is(200)).Items {
		if row.Name == "grant" && strings.Contains(string(row.Value), g.ID) {
			return decode[web.Grant](&reply{t: r.T, body: row.Value})
		}
	}
	require.Fail(r, "no such grant")
	return web.Grant{}
}

// TestAGuestHoldsAShareOfTheStreams opens all that one capability token may have: others, and the
// operator, still have theirs.
func TestAGuestHoldsAShareOfTheStreams(t *testing.T) {
	t.Parallel()
	// nobody here reads, and none loses its place for that
	r := newRig(t, "mem", web.Config{MaxStreams: 40, Beat: time.Hour})
	th := r.start("ask", `"x"`)
	greedy, other := r.forAll(th.ID, "follow"), r.forAll(th.ID, "follow")
	stream := "/v1/threads/" + th.ID + "/stream"
	var held []*socketClient
	for range 3 {
		held = append(held, r.socket(greedy))
	}
	next, end := r.events(greedy, stream, "")
	until(t, next, thread.EntryAsked)
	refused := r.try(greedy, http.MethodGet, stream, "").is(503, runtime.CodeUnavailable)
	assert.Equal(t, "1", refused.header.Get("Retry-After"))
	assert.Contains(t, refused.problem().Detail, "of this token")
	_, res, err := r.dial(greedy) //nolint:bodyclose // a refused socket has none that counts
	require.Error(t, err)
	assert.Equal(t, 503, res.StatusCode)

	r.socket(other)
	for range 35 {
		r.socket(operator)
	}
	assert.Contains(t, r.get("/v1/stream").is(503).problem().Detail, "too many streams:",
		"and then all are taken")
	end()
	require.Eventually(t, func() bool { return r.opens(t, 1) }, time.Minute, time.Millisecond,
		"a place that is left is free")
	require.NoError(t, held[0].conn.CloseNow())
	require.Eventually(t, func() bool {
		c, _, err := r.dial(greedy) //nolint:bodyclose // an accepted socket has none
		if err != nil {
			return false
		}
		return c.conn.Close(websocket.StatusNormalClosure, "") == nil
	}, time.Minute, time.Millisecond, "and so is its part of the share")
}
