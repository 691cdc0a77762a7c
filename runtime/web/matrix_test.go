package web_test

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"maps"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/generated/routes"
	"github.com/routegen/routegen/runtime/chat"
	"github.com/routegen/routegen/runtime/thread"
	"github.com/routegen/routegen/runtime/web"
	"github.com/routegen/routegen/runtime/web/agui"
	"github.com/routegen/routegen/runtime/web/control"
	"github.com/routegen/routegen/runtime/web/socket"
	"github.com/routegen/routegen/runtime/web/usertoken"
	"github.com/routegen/routegen/runtime/workflow"
)

// anyone in an operation's rights: every valid token will do.
const anyone = "anyone"

// admits is a row: the rights of tokens, a body, and the rights of people where they need others.
type admits struct{ rights, body, people string }

// operations says of every operation which rights let a caller through, each by itself or, with a
// plus, together; none: the operator only. The body must get past the door, and no further.
func operations() map[string]admits {
	type op = admits
	return map[string]op{
		"openapi": {anyone, "", ""}, "rights": {anyone, "", ""},
		"startThread": {"", `{"machine":"ask","input":"y"}`, "deliver"},
		"listThreads": {"", "", "follow"},
		"getThread":   {"follow", "", ""}, "deliver": {"deliver", `"x"`, ""},
		"answerThread": {"answer", `{"value":1}`, ""}, "escape": {"escape", `{}`, ""},
		"cancel": {"cancel", `{}`, ""}, "fork": {"", `{"seq":1}`, "operate"},
		"history": {"inspect", "", ""},
		"outbox":  {"follow", "", ""}, "stream": {"follow", "", ""}, "moment": {"inspect", "", ""},
		"stats": {"", "", "inspect"}, "programs": {"", "", "follow"},
		"program": {"inspect", "", ""}, "streamAll": {"", "", "follow"},
		"grant": {"", `{"actions":["follow"],"by":"x","expires":9}`, ""}, "tokens": {"operate", "", ""},
		"revoke": {"operate", "", ""}, "inbox": {"", "", "follow"},
		"getInterrupt": {"follow", "", ""},
		"answer":       {"answer", `{"value":1}`, ""}, "claim": {"answer", `{}`, ""},
		"extend":      {"", `{}`, "operate"},
		"answerAll":   {"", `{"answers":[]}`, "answer"},
		"previewPlan": {"operate", `{"modification":"x"}`, ""}, "applyPlan": {"operate", `{}`, ""},
		"undoPlan": {"operate", `{}`, ""}, "redoPlan": {"operate", `{}`, ""},
		"reroute": {"operate", `{"nodeId":"f9","sourceAgentType":"x","interruptType":"HUMAN_REVIEW",` +
			`"reason":"r"}`, ""},
		"makeUserToken":   {"", `{"user":"x","rights":["follow"],"expires":9}`, ""},
		"userTokens":      {"", "", "operate"},
		"revokeUserToken": {"", "", "operate"},
		"socket":          {anyone, "", ""},
		"agui": {"follow+deliver",
			`{"threadId":"{thread}","runId":"r","messages":[{"id":"m","role":"user","content":"x"}]}`,
			""},
	}
}

// A caller is let through to an operation by the rights that the table says, and by no others:
// every operation of the document, with every kind of caller.
func TestWhoMayCallWhat(t *testing.T) {
	t.Parallel()
	talks := thread.Turns("chat", askTwo)
	m, err := workflow.New(routes.New(routes.UnimplementedHandlers{}), workflow.Config{})
	require.NoError(t, err)
	tokens := userTokens(t)
	r := newRig(t, "mem", web.Config{
		Programs:     map[string]web.Program{"ask": {}, "chat": {}},
		Authenticate: web.FirstOf(tokens.Authenticate, people(t)),
		Conversation: &chat.Conversation{Machine: talks},
		Doors: []web.Door{socket.Door(), agui.Door(), control.Plans(), control.Reroutes(m),
			tokens.Operations()},
	}, talks)
	r.users = tokens
	rows := operations()
	seen := map[string]bool{}
	for path, item := range r.contract.paths {
		for method, op := range item {
			id := op.(map[string]any)["operationId"].(string)
			seen[id] = true
			row, known := rows[id]
			if !assert.True(t, known, "%s has no row: say who may call it", id) {
				continue
			}
			for caller, want := range callers(id, row.rights) {
				if strings.HasPrefix(caller, "person ") && want == 0 {
					want = person(caller, cmp.Or(row.rights, row.people))
				}
				got := r.reaches(caller, method, path, row.body)
				assert.Equal(t, want, got, "%s by %s", id, caller)
			}
		}
	}
	assert.ElementsMatch(t, slices.Collect(maps.Keys(rows)), slices.Collect(maps.Keys(seen)))
}

// person is what an operation tells somebody who has signed in with one right, with all, or none.
func person(caller, rights string) int {
	has := strings.Split(strings.TrimPrefix(caller, "person "), "+")
	if has[0] == "all" || rights == anyone {
		if rights == "" {
			return 403
		}
		return 200
	}
	if has[0] == "operate" {
		has = append(has, "answer", "escape", "cancel")
	}
	for right := range strings.SplitSeq(rights, "+") {
		if !slices.Contains(has, right) {
			return 403
		}
	}
	return 200
}

// callers are all kinds of them, each with what an operation tells it: 401, 403, 404, or 200 for
// one that is let through, whatever comes of it then.
func callers(id, rights string) map[string]int {
	let := func(tokens ...string) int {
		switch rights {
		case anyone:
			return 200
		case "":
			return 403
		}
		for right := range strings.SplitSeq(rights, "+") {
			if !slices.Contains(tokens, right) {
				return 403
			}
		}
		return 200
	}
	out := map[string]int{"operator": 200}
	for _, bad := range []string{"none", "wrong", "forged", "expired", "revoked"} {
		out[bad] = 401
	}
	all := []string{"follow", "inspect", "answer", "deliver", "escape", "cancel", "operate"}
	for _, right := range all {
		out[right] = let(right)
	}
	for _, right := range append([]string{"all", "all+token", "none", "follow+deliver"}, all...) {
		out["person "+right] = 0 // see person
	}
	out["person of a stranger"] = 401
	out["revoked token of a person"] = 401
	out["operate"] = let("operate", "answer", "escape", "cancel") // it has these in it
	out["all"] = let(all...)
	out["chats"] = let("follow", "deliver")
	out["stored view"] = let("follow") // of an older program
	// tokens for one answer, and for one interrupt
	out["once"], out["spent"], out["bound"] = let("follow", "answer"), let("follow", "answer"),
		let("follow", "answer")
	if id == "claim" {
		out["spent"] = 403
	}
	if rights != anyone && id != "getInterrupt" && id != "answer" && id != "claim" {
		out["bound"] = 403
	}
	switch out["other thread"] = 404; rights {
	case anyone, "":
		out["other thread"] = let(all...)
	}
	if id == "socket" { // it says nothing to one for an interrupt
		out["bound"] = 403
	}
	return out
}

// reaches calls an operation on a new thread, and returns the status: 200 for all that is neither
// 401, 403 nor 404.
func (r *rig) reaches(caller, method, path, body string) int {
	r.Helper()
	// two questions: a token that is spent on one can try the other
	th := r.start("pair", `""`)
	if strings.Contains(path, "/programs/") {
		th = r.start("ask", `"x"`)
	}
	machine := "ask"
	if strings.Contains(path, "agui") {
		machine = "chat"
		th = r.start(machine, `""`)
	}
	groups, signedIn := strings.CutPrefix(caller, "person ")
	token, grant := r.tokenOf(map[bool]string{true: "none", false: caller}[signedIn], &th)
	if strings.Contains(path, "/people/") {
		grant = r.userToken("follow").ID
	}
	fill := strings.NewReplacer("{thread}", th.ID, "{interrupt}", th.Open[len(th.Open)-1].ID,
		"{machine}", machine, "{seq}", "1", "{grant}", grant)
	if path = fill.Replace(path); strings.HasSuffix(path, "interrupt-events") {
		path += "?thread=" + th.ID
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, strings.ToUpper(method), r.http.URL+path,
		strings.NewReader(fill.Replace(body)))
	require.NoError(r, err)
	if groups == "all+token" { // which decides before a header
		token, groups, signedIn = r.userToken(everyRight...).Token, "", false
	}
	if groups == "of a stranger" { // a header that names somebody, and a token that is not good
		token = "rg_eA.wrong"
		groups = "all"
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	if signedIn {
		req.Header.Set("X-User", "ann")
		req.Header.Set("X-Groups", strings.ReplaceAll(groups, "+", ","))
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := http.DefaultTransport.RoundTrip(req)
	require.NoError(r, err)
	defer func() { _ = res.Body.Close() }()
	require.Less(r, res.StatusCode, 500)
	switch res.StatusCode {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound:
		return res.StatusCode
	}
	return 200
}

// tokenOf makes the token of a kind of caller for a thread, and another one that may be revoked.
func (r *rig) tokenOf(caller string, th *web.Thread) (token, grant string) {
	r.Helper()
	form := func(more string, rights ...string) web.Grant {
		return r.grant(th.ID, fmt.Sprintf(`{"actions":%s,"by":"ann","expires":%d%s}`,
			jsonOf(rights), r.soon(), more))
	}
	grant = form("", "follow").ID
	all := []string{"follow", "inspect", "answer", "deliver", "escape", "cancel", "operate"}
	last := th.Open[len(th.Open)-1].ID
	switch caller {
	case "operator":
		return operator, grant
	case "none":
		return "", grant
	case "wrong":
		return strings.Repeat("w", 40), grant
	case "forged": // the secret of one thread under the name of another
		other := r.start("ask", `"x"`)
		packed, _, _ := strings.Cut(form("", all...).Token, ".")
		_, secret, _ := strings.Cut(r.forAll(other.ID, all...), ".")
		return packed + "." + secret, grant
	case "expired":
		return r.stored(web.Grant{Thread: th.ID, Actions: all, By: "ann", Expires: 1}), grant
	case "revoked token of a person":
		made := r.userToken(all...)
		require.NoError(r, r.users.Revoke(made.ID))
		return made.Token, grant
	case "revoked":
		g := form("", all...)
		r.try(operator, http.MethodDelete, "/v1/threads/"+th.ID+"/tokens/"+g.ID, "").is(204)
		return g.Token, grant
	case "stored view":
		return r.stored(web.Grant{Thread: th.ID, Actions: []string{"view"}, By: "ann",
			Expires: r.soon()}), grant
	case "all":
		return form("", all...).Token, grant
	case "chats":
		return form("", "follow", "deliver").Token, grant
	case "once":
		return form(`,"once":true`, "follow", "answer").Token, grant
	case "spent":
		token = form(`,"once":true`, "follow", "answer").Token
		if len(th.Open) > 1 {
			r.try(token, http.MethodPost, "/v1/interrupts/"+th.Open[0].ID+"/answer",
				`{"text":"mine"}`).is(200)
		}
		return token, grant
	case "bound":
		return form(`,"interrupt":"`+last+`"`, "follow", "answer").Token, grant
	case "other thread":
		return r.forAll(r.start("talk", `""`).ID, all...), grant
	}
	return form("", caller).Token, grant
}

// stored puts a grant into the log of its thread as a server that is no longer has stored it, and
// returns its token.
func (r *rig) stored(g web.Grant) string {
	r.Helper()
	const secret = "a-secret-that-an-older-program-has-made-1234"
	sum := sha256.Sum256([]byte(g.Thread + "\x00" + secret))
	g.ID = hex.EncodeToString(sum[:])
	_, err := r.engine.Change(r.Context(), g.Thread, func(c *thread.Change) error {
		c.Add(thread.Entry{Type: thread.EntryMessage, Name: "grant", By: "operator",
			Request: "grant/" + g.ID, Value: []byte(jsonOf(g))})
		return nil
	})
	require.NoError(r, err)
	return "rg_" + base64.RawURLEncoding.EncodeToString([]byte(g.Thread)) + "." + secret
}

// userTokens are tokens of people in a folder of the test.
func userTokens(t *testing.T) *usertoken.Tokens {
	t.Helper()
	tokens, err := usertoken.Open(filepath.Join(t.TempDir(), "people"), usertoken.Config{})
	require.NoError(t, err)
	return tokens
}

// userToken makes a token of a person with some rights.
func (r *rig) userToken(rights ...string) *usertoken.Token {
	r.Helper()
	made, err := r.users.Make(usertoken.Token{User: "ann", Rights: rights, Expires: r.soon()})
	require.NoError(r, err)
	return made
}
