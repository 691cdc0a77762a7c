package web_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime/thread"
	"github.com/routegen/routegen/runtime/web"
)

// TestNoSecretIsLogged sends a canary through every place where a caller can put one, of a call, a
// stream and a socket, and looks for it in all that was logged.
func TestNoSecretIsLogged(t *testing.T) {
	onBoth(t, func(r *rig) {
		const secret = "CANARY-5ec7"
		th := r.start("ask", `"`+secret+`"`)
		token := r.forAll(th.ID, "follow", "answer", "deliver")
		path := "/v1/threads/" + th.ID
		r.try(token, http.MethodGet, path, "").is(200)
		r.try(token, http.MethodGet, path+"?"+secret+"=1", "").is(400)
		r.try(token+secret, http.MethodGet, path, "").is(401)
		r.try(token, http.MethodPost, path+"/cancel", `{"reason":"`+secret+`"}`).is(403)
		r.try(token, http.MethodPost, path+"/messages", `{"message":"`+secret+`"}`,
			"Idempotency-Key", secret).is(409)
		r.try(token, http.MethodPost, path+"/answer", `{"value":{"ok":"`+secret+`"}}`).is(400)
		r.try(token, http.MethodPost, path+"/answer", `{"value":{"ok":true},"`+secret+`":1}`).
			is(400)
		r.secretsOnAStream(th.ID, token, secret)
		r.secretsOnASocket(th.ID, token, secret)
		r.try(token, http.MethodPost, path+"/answer", `{"value":{"ok":true}}`).is(200)
		bad := r.start("bad", `"`+secret+`"`)
		r.post("/v1/threads/"+bad.ID+"/answer", `{"value":{"choice":"skip","value":"`+secret+`"}}`).
			is(200)
		logged := r.logs.String()
		for _, line := range []string{"web audit", "operation=answerThread", "operation=stream",
			"operation=socket about=" + th.ID} {
			assert.Contains(t, logged, line, "something was logged at all")
		}
		for _, canary := range []string{secret, operator, token, token[len(token)-20:]} {
			assert.NotContains(t, logged, canary)
		}
		assert.NotContains(t, fmt.Sprintf("%v %+v", web.Grant{Token: token},
			web.Grant{Token: token}), token)
	})
}

// secretsOnAStream follows a thread whose rows hold the canary, and puts it where a stream takes a
// cursor and a token.
func (r *rig) secretsOnAStream(id, token, secret string) {
	r.Helper()
	path := "/v1/threads/" + id + "/stream"
	next, end := r.events(token, path, "")
	rows := until(r.T, next, thread.EntryAsked)
	assert.Contains(r, jsonOf(rows), secret, "it was sent")
	end()
	for _, cursor := range []string{secret, id + "/" + secret, token} {
		r.try(token, http.MethodGet, path, "", "Last-Event-ID", cursor).is(400)
		r.try(token, http.MethodGet, path+"?after="+cursor, "").is(400)
	}
	r.try(token, http.MethodGet, "/v1/stream", "", "Last-Event-ID", secret).is(403)
	bound := r.grant(id, fmt.Sprintf(`{"actions":["answer"],"by":"ann","expires":%d}`, r.soon())).
		Token
	r.try(bound, http.MethodGet, path, "", "Last-Event-ID", secret).is(403)
}

// secretsOnASocket opens one with the token as a browser sends it, and says the canary in every
// field, in good messages and in bad ones.
func (r *rig) secretsOnASocket(id, token, secret string) {
	r.Helper()
	//nolint:bodyclose // the library has read it
	_, res, err := r.dial("", "Sec-WebSocket-Protocol", "routegen, bearer."+token+secret)
	require.Error(r, err)
	assert.Equal(r, 401, res.StatusCode)
	//nolint:bodyclose // an accepted socket has none
	c, _, err := r.dial("", "Sec-WebSocket-Protocol", "routegen, bearer."+token)
	require.NoError(r, err)
	assert.Contains(r, c.ask(context0(id, "")).raw, `"success":true`)
	for _, text := range []string{
		secret, `{"` + secret + `":1}`, `{"type":"` + secret + `","payload":{"thread_id":"` + id +
			`"},"id":"` + secret + `"}`,
		`{"type":"thread_context","payload":{"thread_id":"` + secret + `"},"id":"1"}`,
		`{"type":"thread_context","payload":{"thread_id":"` + id + `","after":"` + secret +
			`"},"id":"2"}`,
		`{"type":"interrupt","payload":{"thread_id":"` + id + `","reason":"` + secret +
			`","mode":"` + secret + `"},"id":"3"}`,
		`{"type":"resume","payload":{"thread_id":"` + id + `","user_input":"` + secret +
			`","user_id":"` + secret + `"},"id":"4"}`,
		`{"type":"resume","payload":{"thread_id":"` + id + `","value":{"ok":"` + secret +
			`"}},"id":"5"}`,
		`{"type":"resume","payload":{"thread_id":"` + id + `","interrupt_id":"` + secret +
			`","value":true},"id":"` + secret + `"}`,
	} {
		m := c.ask(text)
		assert.True(r, m.Type == "error" || strings.Contains(m.raw, `"success":false`), m.raw)
	}
	require.NoError(r, c.conn.Close(websocket.StatusNormalClosure, secret))
}
