package web_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/web"
)

const friend = "https://app.example.com"

// befriended runs a test over a server that takes calls of one other origin.
func befriended(t *testing.T, play func(r *rig)) {
	t.Helper()
	t.Parallel()
	for _, store := range []string{"mem", "sqlite"} {
		t.Run(store, func(t *testing.T) {
			t.Parallel()
			play(newRig(t, store, web.Config{Origins: []string{friend}}))
		})
	}
}

// preflight is what a browser asks before a call of a page; headers are pairs. The contract knows
// no such call.
func (r *rig) preflight(path, origin string, headers ...string) (status int, h http.Header) {
	r.Helper()
	req, err := http.NewRequestWithContext(r.Context(), http.MethodOptions, r.http.URL+path, nil)
	require.NoError(r, err)
	req.Header.Set("Origin", origin)
	for i := 0; i < len(headers); i += 2 {
		if req.Header.Set(headers[i], headers[i+1]); headers[i] == "Host" {
			req.Host = headers[i+1]
		}
	}
	res, err := http.DefaultTransport.RoundTrip(req)
	require.NoError(r, err)
	require.NoError(r, res.Body.Close())
	return res.StatusCode, res.Header
}

// unshared asserts that a page of another origin may not read an answer.
func unshared(t *testing.T, h http.Header) {
	t.Helper()
	for name := range h {
		assert.False(t, strings.HasPrefix(name, "Access-Control-"), name)
	}
	assert.Equal(t, "same-origin", h.Get("Cross-Origin-Resource-Policy"))
}

func TestPreflights(t *testing.T) {
	befriended(t, func(r *rig) {
		const asks, wants = "Access-Control-Request-Method", "Access-Control-Request-Headers"
		for _, path := range []string{"/v1/threads", "/v1/threads/a/stream", "/v1/agui/workflow",
			"/v1/interrupts/a/answer"} {
			status, h := r.preflight(path, friend, asks, "POST", wants,
				"authorization,content-type,idempotency-key")
			assert.Equal(r, 204, status)
			for name, want := range map[string]string{
				"Access-Control-Allow-Origin":  friend,
				"Access-Control-Allow-Methods": "GET, POST, DELETE",
				"Access-Control-Max-Age":       "600", "Vary": "Origin",
				"Access-Control-Allow-Headers": "Authorization, Content-Type, Idempotency-Key, " +
					"Last-Event-ID", "Access-Control-Allow-Credentials": "",
			} {
				assert.Equal(r, want, h.Get(name), name)
			}
		}
		for _, origin := range []string{"https://evil.test", "null", "http://app.example.com",
			friend + ":8443", friend + ".evil.test", "https://APP.example.com"} {
			status, h := r.preflight("/v1/threads", origin, asks, "POST")
			assert.Equal(r, 401, status, origin)
			unshared(r.T, h)
			assert.Equal(r, "Origin", h.Get("Vary"))
		}
		status, _ := r.preflight("/v1/threads", friend, asks, "POST", "Host", "evil.test")
		assert.Equal(r, 421, status)
		status, _ = r.preflight("/v1/threads", friend)
		assert.Equal(r, 401, status, "it asks for nothing")
	})
}

func TestAPageOfAnotherOriginCalls(t *testing.T) {
	befriended(t, func(r *rig) {
		from := []string{"Origin", friend, "Sec-Fetch-Site", "cross-site"}
		begun := r.post("/v1/threads", `{"machine":"ask","input":"x"}`, from...).is(201)
		id := decode[web.Thread](begun).ID
		for _, got := range []*reply{
			begun, r.try(operator, http.MethodGet, "/v1/threads/"+id, "", from...).is(200),
			r.try("wrong", http.MethodGet, "/v1/threads/"+id, "", from...).is(401),
			r.post("/v1/threads", `{`, from...).is(400),
		} {
			assert.Equal(r, friend, got.header.Get("Access-Control-Allow-Origin"),
				"refusals can be read too")
			assert.Contains(r, got.header.Get("Access-Control-Expose-Headers"), "X-Request-ID")
			assert.Equal(r, "Origin", got.header.Get("Vary"))
			assert.Equal(r, "cross-origin", got.header.Get("Cross-Origin-Resource-Policy"))
			assert.Empty(r, got.header.Get("Access-Control-Allow-Credentials"))
		}
		evil := []string{"Origin", "https://evil.test", "Sec-Fetch-Site", "cross-site"}
		unshared(r.T, r.post("/v1/threads", `{"machine":"ask","input":"x"}`, evil...).
			is(403, runtime.CodeForbidden).header)
		unshared(r.T, r.try(operator, http.MethodGet, "/v1/threads/"+id, "", evil...).is(200).
			header)
		unshared(r.T, r.get("/v1/threads/"+id).is(200).header)

		for origin, want := range map[string]string{friend: friend, "https://evil.test": ""} {
			req, err := http.NewRequestWithContext(r.Context(), http.MethodGet,
				r.http.URL+"/v1/threads/"+id+"/stream", nil)
			require.NoError(r, err)
			req.Header.Set("Authorization", "Bearer "+operator)
			req.Header.Set("Origin", origin)
			res, err := http.DefaultTransport.RoundTrip(req)
			require.NoError(r, err)
			assert.Equal(r, 200, res.StatusCode)
			assert.Equal(r, want, res.Header.Get("Access-Control-Allow-Origin"))
			require.NoError(r, res.Body.Close())
		}
		//nolint:bodyclose // an accepted socket has none
		c, _, err := r.dial(operator, "Origin", friend)
		require.NoError(r, err)
		assert.Contains(r, c.ask(context0(id, "")).raw, `"success":true`)
	})
}

// TestWithoutOriginsNothingIsShared is the default.
func TestWithoutOriginsNothingIsShared(t *testing.T) {
	onBoth(t, func(r *rig) {
		status, h := r.preflight("/v1/threads", friend, "Access-Control-Request-Method", "POST")
		assert.Equal(r, 401, status)
		unshared(r.T, h)
		assert.Empty(r, h.Get("Vary"))
		unshared(r.T, r.post("/v1/threads", `{"machine":"ask"}`, "Origin", friend).is(403).header)
	})
}
