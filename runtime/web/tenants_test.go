package web_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/web"
)

// TestTokensOfATenantOpenNoOther calls every operation that names a thread or an interrupt with
// tokens of tenant acme on the ids of tenant "": each is answered as for an id that nobody has. The
// lists show nothing of it either, and the same id is free.
func TestTokensOfATenantOpenNoOther(t *testing.T) {
	t.Parallel()
	const boss = "operator-of-acme-0123456789abcdef0123456789"
	r := newRig(t, "mem", web.Config{Programs: map[string]web.Program{"ask": {}},
		Authenticate: people(t)})
	other := r.settled(r.start("ask", `"y"`).ID)

	before := string(r.get("/v1/threads/" + other.ID).is(200).body)
	acme, err := web.New(r.engine, boss, web.Config{OperatorTenant: "acme", Rate: 1e6, Burst: 1e6,
		Now: r.clock.now, Programs: map[string]web.Program{"ask": {}}})
	require.NoError(t, err)
	both, plain := httptest.NewServer(acme), r.http
	t.Cleanup(both.Close)
	r.http = both
	for _, list := range []string{"/v1/threads", "/v1/interrupts", "/v1/stats"} {
		assert.NotContains(t, string(r.try(boss, http.MethodGet, list, "").is(200).body), other.ID)
	}
	require.Contains(t, string(r.try(boss, http.MethodPost, "/v1/threads",
		fmt.Sprintf(`{"id":%q,"machine":"ask","input":"mine"}`, other.ID)).is(201).body), other.ID)
	require.Contains(t, string(r.try(boss, http.MethodPost, "/v1/threads",
		`{"id":"mine","machine":"ask","input":"y"}`).is(201).body), `"id":"mine"`)
	form := fmt.Sprintf(`{"actions":["follow","inspect","answer","deliver","operate"],"by":"ann",`+
		`"expires":%d}`, r.soon())
	guest := decode[web.Grant](r.try(boss, http.MethodPost, "/v1/threads/mine/tokens", form).
		is(201)).Token
	r.try(guest, http.MethodGet, "/v1/threads/mine", "").is(200)
	r.try(guest, http.MethodGet, "/v1/threads/"+other.ID, "").is(404)

	// the guest of acme at the server of all: the tenant is the token's
	r.http = plain
	r.try(guest, http.MethodGet, "/v1/threads/mine", "").is(200)

	// and so is that of a person, whom the issuer or a proxy says to be of acme
	ann := append(as("ann", "all"), "X-Tenant", "acme")
	r.try("", http.MethodGet, "/v1/threads/mine", "", ann...).is(200)
	r.try("", http.MethodGet, "/v1/threads/mine", "", as("ann", "all")...).is(404)
	r.try("", http.MethodGet, "/v1/threads", "", append(as("ann", "all"), "X-Tenant", "a/b")...).
		is(401)
	r.try(operator, http.MethodGet, "/v1/threads/mine", "").is(404)
	made := r.settled(r.start("ask", `"only of the first"`).ID)
	question := made.Open[0].ID
	for _, list := range []string{"/v1/threads", "/v1/interrupts"} {
		assert.Contains(t, string(r.get(list).is(200).body), made.ID)
		own := string(r.try("", http.MethodGet, list, "", ann...).is(200).body)
		assert.NotContains(t, own, made.ID, list)
	}
	rows, tried := operations(), 0
	for path, item := range r.contract.paths {
		for method, op := range item {
			row := rows[op.(map[string]any)["operationId"].(string)]
			if !strings.Contains(path, "{thread}") && !strings.Contains(path, "{interrupt}") {
				continue
			}
			at := func(thread, interrupt string) string {
				return strings.NewReplacer("{thread}", thread, "{interrupt}", interrupt,
					"{grant}", "g", "{seq}", "1").Replace(path)
			}
			for _, caller := range []struct {
				token   string
				headers []string
				server  *httptest.Server
			}{{guest, nil, plain}, {boss, nil, both}, {"", ann, plain}} {
				token, server := caller.token, caller.server
				if server == both && (strings.Contains(path, "/plan") ||
					strings.Contains(path, "reroute")) {
					continue // that server has no such door
				}
				r.http = server
				call := func(path string) (int, web.Problem) {
					a := r.try(token, strings.ToUpper(method), path, row.body,
						caller.headers...)
					p := a.problem()
					p.Request = ""
					return a.status, p
				}
				status, said := call(at(made.ID, question))
				unknown, toldThen := call(at("nothing", "nothing"))
				assert.Equal(t, unknown, status, "%s %s", method, path)
				assert.Equal(t, toldThen, said, "%s %s", method, path)
				if row.rights != "" || token == boss {
					assert.Contains(t, []int{400, 404}, status, "%s %s", method, path)
				}
				tried++
			}
		}
	}
	assert.Greater(t, tried, 20)
	r.http = plain
	assert.Equal(t, before, string(r.get("/v1/threads/"+other.ID).is(200).body))
	bad, err := web.New(r.engine, boss, web.Config{OperatorTenant: "a/b"})
	assert.Nil(t, bad)
	assert.Equal(t, runtime.CodeInvalid, runtime.CodeOf(err))
}
