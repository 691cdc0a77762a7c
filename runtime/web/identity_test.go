package web_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
	"github.com/routegen/routegen/runtime/web"
)

// everyRight is all that a person may have.
var everyRight = []string{"follow", "inspect", "answer", "deliver", "escape", "cancel", "operate"}

// people is an authenticator that a proxy on loopback stands behind: the right of a group is the
// group's name, with + between.
func people(t *testing.T) func(*http.Request) (web.Identity, error) {
	t.Helper()
	roles := web.Roles{"all": everyRight, "chats": {"follow", "deliver"}}
	for _, right := range everyRight {
		roles[right] = []string{right}
	}
	authenticate, err := web.TrustedProxy(web.ProxyHeaders{
		Proxies: []string{"127.0.0.1", "::1"}, User: "X-User", Groups: "X-Groups", Roles: roles})
	require.NoError(t, err)
	ofTenant, err := web.TrustedProxy(web.ProxyHeaders{
		Proxies: []string{"127.0.0.1", "::1"}, User: "X-User", Groups: "X-Groups",
		Tenant: "X-Tenant", Roles: roles})
	require.NoError(t, err)
	return func(r *http.Request) (web.Identity, error) {
		if r.Header.Get("X-Tenant") != "" {
			return ofTenant(r)
		}
		return authenticate(r)
	}
}

// as is the headers of a person.
func as(user, groups string) []string { return []string{"X-User", user, "X-Groups", groups} }

// Who has signed in acts as the subject of their issuer, byte for byte, and in no other name.
func TestAPersonActsInTheirOwnName(t *testing.T) {
	t.Parallel()
	for _, store := range []string{"mem", "sqlite"} {
		t.Run(store, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, store, web.Config{Authenticate: people(t)})
			// no normal form, and of mixed scripts: it is the issuer's
			const subject = "auth0|Ann\u0456 5F7"
			ann := as(subject, "all")
			th := decode[web.Thread](r.try("", http.MethodPost, "/v1/threads",
				`{"machine":"pair","input":""}`, ann...).is(201))
			assert.Equal(t, subject, r.settled(th.ID).User)
			one := "/v1/interrupts/" + r.settled(th.ID).Open[0].ID
			for _, named := range []string{"bob", "operator", "policy", strings.ToLower(subject)} {
				r.try("", http.MethodPost, one+"/answer", fmt.Sprintf(`{"text":"x","by":%q}`, named),
					ann...).is(403, runtime.CodeForbidden)
			}
			r.try("", http.MethodPost, one+"/answer", fmt.Sprintf(`{"text":"x","by":%q}`, subject),
				ann...).is(200)
			two := r.settled(th.ID).Open[0].ID
			r.try("", http.MethodPost, "/v1/answers", `{"answers":[{"interrupt":"`+two+
				`","text":"y","by":"bob"}]}`, ann...).is(403)
			r.try("", http.MethodPost, "/v1/answers", `{"answers":[{"interrupt":"`+two+
				`","text":"y"}]}`, ann...).is(200)
			rows := decode[struct{ Items []web.Row }](r.get("/v1/threads/" + th.ID + "/history")).
				Items
			answers := 0
			for _, row := range rows {
				assert.Empty(t, row.Via, "nobody acts for her")
				if row.Type == thread.EntryAnswered {
					answers++
					assert.Equal(t, subject, row.By)
				}
			}
			assert.Equal(t, 2, answers)
			told := decode[web.Grant](r.try("", http.MethodGet, "/v1/token", "", ann...).is(200))
			assert.Equal(t, subject, told.By)
			assert.Subset(t, told.Actions, everyRight)
			assert.Contains(t, r.logs.String(), "who=\"person ")
		})
	}
}

// A person starts what the program declares, and no machine in its middle. Who may fork a thread
// reads of it what their rights let them.
func TestAPersonStartsWhatIsDeclared(t *testing.T) {
	t.Parallel()
	r := newRig(t, "mem", web.Config{Authenticate: people(t), Programs: map[string]web.Program{
		"pair": {Starts: []web.Start{{Title: "A pair", Schema: []byte(`{"type":"string"}`)}}}}})
	ann := as("ann", "deliver,operate")
	begin := func(body string) *reply {
		return r.try("", http.MethodPost, "/v1/threads", body, ann...)
	}
	begin(`{"machine":"pair","input":""}`).is(201)
	begin(`{"machine":"pair","input":7}`).is(400)
	begin(`{"machine":"pair","name":"second","input":""}`).is(403)
	begin(`{"machine":"ask","name":"step","input":"a"}`).is(403)
	th := decode[web.Thread](begin(`{"machine":"ask","input":"a"}`).is(201))
	r.settled(th.ID)
	fork := func(groups string) *reply {
		return r.try("", http.MethodPost, "/v1/threads/"+th.ID+"/fork", `{"seq":2}`,
			as("ann", groups)...).is(201)
	}
	assert.Contains(t, string(fork("all").body), `"value":true`, "what an effect returned")
	assert.NotContains(t, string(fork("operate").body), `"value"`)
}

// The history says where the operator acted in the name of a person, over every way in.
func TestTheHistorySaysWhoActedForWhom(t *testing.T) {
	onBoth(t, func(r *rig) {
		th := decode[web.Thread](r.post("/v1/threads",
			`{"machine":"pair","input":"","by":"Ann "}`).is(201))
		open := r.settled(th.ID).Open
		r.post("/v1/interrupts/"+open[0].ID+"/claim", `{"by":"bob"}`).is(200)
		r.post("/v1/interrupts/"+open[0].ID+"/answer", `{"text":"x","by":"BOB"}`).is(200)
		r.post("/v1/answers", `{"answers":[{"interrupt":"`+open[1].ID+
			`","text":"y","by":"cy"}]}`).is(200)
		other := r.start("pair", `""`)
		c := r.socket(operator)
		assert.Contains(t, c.ask(`{"type":"resume","payload":{"thread_id":"`+other.ID+
			`","interrupt_id":"`+other.Open[0].ID+`","user_id":"dee","user_input":"z"},"id":"1"}`).raw,
			`"success":true`)
		r.post("/v1/interrupts/"+other.Open[1].ID+"/answer", `{"text":"own"}`).is(200)
		guest := r.start("ask", `"x"`)
		r.try(r.forAll(guest.ID, "answer"), http.MethodPost, "/v1/threads/"+guest.ID+"/answer",
			`{"value":{"ok":true}}`).is(200)
		want := map[string]string{"ann": "operator", "bob": "operator", "cy": "operator",
			"dee": "operator", "operator": ""}
		seen := map[string]bool{}
		for _, id := range []string{th.ID, other.ID} {
			for _, row := range decode[struct{ Items []web.Row }](
				r.get("/v1/threads/" + id + "/history").is(200)).Items {
				if row.By != "" {
					seen[row.By] = true
					assert.Equal(t, want[row.By], row.Via, "%s by %s", row.Type, row.By)
				}
			}
		}
		assert.Len(t, seen, len(want))
		assert.NotContains(t, string(r.get("/v1/threads/"+guest.ID+"/history").body), `"via"`,
			"a guest is who the token is for")
	})
}

// Of five spellings of a name four are one person, and the fifth is refused: none of them approves
// what that person has asked for.
func TestFiveSpellingsOfAPerson(t *testing.T) {
	t.Parallel()
	notOwn := thread.Func("own", func(ctx context.Context, _ string) (string, error) {
		return thread.Ask[string](ctx, "sure", thread.Question{Text: "Sure?", NotOwn: true,
			Plain: thread.PlainText})
	})
	r := newRig(t, "mem", web.Config{}, notOwn)
	th := decode[web.Thread](r.post("/v1/threads", `{"machine":"own","input":"","by":"ann"}`).
		is(201))
	path := "/v1/interrupts/" + r.settled(th.ID).Open[0].ID + "/answer"
	for _, same := range []string{"Ann", "ann ", "an\u200bn", "ａｎｎ"} {
		r.post(path, fmt.Sprintf(`{"text":"x","by":%q}`, same)).is(403, runtime.CodeForbidden)
	}
	refused := r.post(path, "{\"text\":\"x\",\"by\":\"\u0430nn\"}").is(400).problem()
	assert.Equal(t, "/by", refused.Problems[0].Pointer)
	assert.Contains(t, refused.Problems[0].Reason, "several scripts")

	votes := r.start("votes", `""`)
	path = "/v1/interrupts/" + votes.Open[0].ID + "/answer"
	r.post(path, `{"value":1,"by":"bob"}`).is(200)
	r.post(path, `{"value":1,"by":"Bob "}`).is(200)
	assert.Len(t, r.settled(votes.ID).Open, 1, "bob and \"Bob \" are one voice")
	r.post(path, `{"value":1,"by":"CY"}`).is(200)
	assert.Empty(t, r.settled(votes.ID).Open, "the control")

	for _, name := range []string{"ｏｐｅｒａｔｏｒ", "pol\u00adicy", "Operator for ann", "\u200b"} {
		r.post("/v1/threads", fmt.Sprintf(`{"machine":"own","input":"","by":%q}`, name)).is(400)
		r.post("/v1/threads/"+th.ID+"/tokens", fmt.Sprintf(
			`{"actions":["follow"],"by":%q,"expires":%d}`, name, r.soon())).is(400)
	}
	assert.Equal(t, "gwen", r.grant(th.ID, fmt.Sprintf(
		`{"actions":["follow"],"by":"GWEN","expires":%d}`, r.soon())).By)
}

// An identity that cannot be, and a credential that is not good, let nobody in, whatever else the
// request holds.
func TestWhoIsRefused(t *testing.T) {
	t.Parallel()
	var refuse atomic.Value
	first := func(r *http.Request) (web.Identity, error) {
		switch r.Header.Get("X-First") {
		case "":
			return web.Identity{}, web.ErrNoCredential
		case "down":
			return web.Identity{}, &runtime.Error{Code: runtime.CodeUnavailable, Op: "look",
				Err: errors.New("CANARY-store")}
		case "bad":
			return web.Identity{}, errors.New("CANARY-secret")
		default:
			who, _ := refuse.Load().(web.Identity)
			return who, nil
		}
	}
	r := newRig(t, "mem", web.Config{Authenticate: web.FirstOf(first, people(t))})
	ann := as("ann", "all")
	with := func(value string) []string { return append([]string{"X-First", value}, ann...) }
	r.try("", http.MethodGet, "/v1/token", "", ann...).is(200)
	r.try("", http.MethodGet, "/v1/token", "").is(401)
	r.try("", http.MethodGet, "/v1/token", "", with("bad")...).is(401)
	r.try("", http.MethodGet, "/v1/token", "", with("down")...).is(503)
	r.try(operator, http.MethodGet, "/v1/threads", "", with("bad")...).is(200)
	r.try("rg_YQ.x", http.MethodGet, "/v1/token", "", ann...).is(401)
	assert.NotContains(t, r.logs.String(), "CANARY-secret")

	for _, who := range []web.Identity{{}, {User: "operator"}, {User: "POLICY"}, {User: " ann"},
		{User: "operator for ann"}, {User: "ann\n"}, {User: "\xff"},
		{User: strings.Repeat("x", 201)}, {User: "ann", Rights: []string{"root"}},
		{User: "ann", Rights: everyRight, Expires: time.Now().Add(-time.Second)}} {
		refuse.Store(who)
		r.try("", http.MethodGet, "/v1/token", "", "X-First", "x").is(401)
	}
	refuse.Store(web.Identity{User: "ann"})
	r.try("", http.MethodGet, "/v1/token", "", "X-First", "x").is(200)
	r.try("", http.MethodGet, "/v1/threads", "", "X-First", "x").is(403)
}

// What names a person counts from a proxy alone: not from a stranger, and not twice.
func TestOnlyAProxyNamesPeople(t *testing.T) {
	t.Parallel()
	authenticate, err := web.TrustedProxy(web.ProxyHeaders{Proxies: []string{"10.0.0.0/8"},
		User: "X-User", Groups: "X-Groups", Tenant: "X-Tenant",
		Roles: web.Roles{"*": {"follow"}, "finance": {"answer", "follow"}}, Life: time.Hour,
		Now: func() time.Time { return time.Unix(1000, 0) }})
	require.NoError(t, err)
	ask := func(from string, headers ...string) (web.Identity, error) {
		req := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
		req.RemoteAddr = from
		req.Header.Set("X-Forwarded-For", "10.0.0.1")
		for n := 0; n < len(headers); n += 2 {
			req.Header.Add(headers[n], headers[n+1])
		}
		return authenticate(req)
	}
	who, err := ask("10.1.2.3:4", "X-User", "Ann", "X-Groups", "finance, staff,", "X-Tenant",
		"acme")
	require.NoError(t, err)
	assert.Equal(t, web.Identity{Tenant: "acme", User: "Ann", Groups: []string{"finance", "staff"},
		Rights: []string{"answer", "follow"}, Expires: time.Unix(4600, 0)}, who)
	_, err = ask("10.1.2.3:4", "X-User", "ann")
	require.Error(t, err, "a person of no tenant is not of the default one")
	_, err = ask("10.1.2.3:4")
	require.ErrorIs(t, err, web.ErrNoCredential)
	for _, bad := range [][]string{{"203.0.113.1:4", "X-User", "ann"},
		{"203.0.113.1:4", "X-Groups", "finance"}, {"not an address", "X-User", "ann"},
		{"10.1.2.3:4", "X-User", "ann", "X-User", "bob"}} {
		_, err = ask(bad[0], bad[1:]...)
		require.Error(t, err)
		require.NotErrorIs(t, err, web.ErrNoCredential, "%v is refused, not skipped", bad)
	}
	for _, wrong := range []web.ProxyHeaders{{}, {User: "X-User"}, {User: "X-User",
		Proxies: []string{"proxy.example"}}, {User: "X-User", Proxies: []string{"10.0.0.1"},
		Roles: web.Roles{"a": {"root"}}}} {
		_, err = web.TrustedProxy(wrong)
		assert.Equal(t, runtime.CodeInvalid, runtime.CodeOf(err))
	}
}

// A stream ends when its person is signed in no longer, or with other rights, and not while that
// cannot be said.
func TestAStreamEndsWithTheSignIn(t *testing.T) {
	t.Parallel()
	for _, end := range []string{"out", "other", "fewer"} {
		t.Run(end, func(t *testing.T) {
			t.Parallel()
			var state atomic.Value
			state.Store("in")
			var asked atomic.Int64
			r := newRig(t, "mem", web.Config{Beat: 20 * time.Millisecond,
				Authenticate: func(*http.Request) (web.Identity, error) {
					asked.Add(1)
					ann := web.Identity{User: "ann", Rights: []string{"follow", "answer"}}
					switch state.Load() {
					case "in":
					case "other":
						ann.User = "bob"
					case "fewer":
						ann.Rights = ann.Rights[:1]
					case "down":
						return ann, &runtime.Error{Code: runtime.CodeUnavailable}
					default:
						return ann, errors.New("signed out")
					}
					return ann, nil
				}})
			th := r.start("ask", `"x"`)
			next, stop := r.events("", "/v1/threads/"+th.ID+"/stream", "")
			defer stop()
			until(t, next, thread.EntryAsked)
			c := r.socket("")
			assert.Contains(t, c.ask(context0(th.ID, "")).raw, "thread_context_ack")
			state.Store("down")
			before := asked.Load()
			require.Eventually(t, func() bool { return asked.Load() > before+4 }, time.Minute,
				time.Millisecond)
			state.Store("in")
			r.post("/v1/threads/"+th.ID+"/answer", `{"value":{"ok":true}}`).is(200)
			until(t, next, thread.EntryAnswered) // it went on
			state.Store(end)
			for next() != nil {
				continue
			}
			require.Eventually(t, func() bool { return r.opens(t, 0) }, time.Minute,
				time.Millisecond, "the socket ends too")
		})
	}
}

// A stream of a person whom a proxy names ends when what the proxy said is over, over Server-Sent
// Events and the WebSocket: the request it began with would be good for ever. Who comes back
// through the proxy is let in.
func TestAStreamEndsWithWhatTheProxySaid(t *testing.T) {
	t.Parallel()
	var r *rig
	authenticate, err := web.TrustedProxy(web.ProxyHeaders{Proxies: []string{"127.0.0.1", "::1"},
		User: "X-User", Roles: web.Roles{"*": {"follow", "deliver"}},
		Now: func() time.Time { return r.clock.now() }})
	require.NoError(t, err)
	r = newRig(t, "mem", web.Config{Beat: 20 * time.Millisecond,
		Authenticate: func(r *http.Request) (web.Identity, error) {
			r.Header.Set("X-User", "ann") // the proxy
			return authenticate(r)
		}})
	th := r.start("ask", `"x"`)
	next, stop := r.events("", "/v1/threads/"+th.ID+"/stream", "")
	defer stop()
	until(t, next, thread.EntryAsked)
	c := r.socket("")
	assert.Contains(t, c.ask(context0(th.ID, "")).raw, "thread_context_ack")
	r.clock.move(14 * time.Minute)
	r.post("/v1/threads/"+th.ID+"/answer", `{"value":{"ok":true}}`).is(200)
	until(t, next, thread.EntryAnswered) // it goes on
	r.clock.move(2 * time.Minute)
	for next() != nil {
		continue
	}
	require.Eventually(t, func() bool { return r.opens(t, 0) }, time.Minute, time.Millisecond,
		"the socket ends too")
	again, stopAgain := r.events("", "/v1/threads/"+th.ID+"/stream", "")
	defer stopAgain()
	until(t, again, thread.EntryAnswered)
}

// Each time that a stream asks who a person is, Authenticate gets a request of its own: what it
// writes into one is not there the next time.
func TestAuthenticateGetsARequestOfItsOwn(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	r := newRig(t, "mem", web.Config{Beat: time.Millisecond,
		Authenticate: func(r *http.Request) (web.Identity, error) {
			asked.Add(1)
			if r.Header.Get("X-Seen") != "" {
				return web.Identity{}, errors.New("a request of another call")
			}
			r.Header.Set("X-Seen", "yes")
			return web.Identity{User: "ann", Rights: []string{"follow"}}, nil
		}})
	th := r.start("ask", `"x"`)
	next, stop := r.events("", "/v1/threads/"+th.ID+"/stream", "")
	defer stop()
	until(t, next, thread.EntryAsked)
	c := r.socket("")
	for range 20 { // messages ask too, beside the stream
		assert.Contains(t, c.ask(context0(th.ID, "")).raw, "thread_context_ack")
	}
	require.Eventually(t, func() bool { return asked.Load() > 40 }, time.Minute, time.Millisecond)
	r.post("/v1/threads/"+th.ID+"/answer", `{"value":{"ok":true}}`).is(200)
	until(t, next, thread.EntryAnswered)
}

// TestTheRateOfAPersonIsTheirs has two people whose ids begin with the same eight digits, as who
// chooses a name can find one: each has a rate of their own, and audit lines of their own.
func TestTheRateOfAPersonIsTheirs(t *testing.T) {
	t.Parallel()
	begins, ann, bob := map[string]string{}, "", ""
	for n := 0; bob == ""; n++ {
		name := fmt.Sprint("person-", n)
		sum := sha256.Sum256([]byte("\x00" + name))
		digits := hex.EncodeToString(sum[:])[:8]
		if ann = begins[digits]; ann != "" {
			bob = name
		}
		begins[digits] = name
	}
	r := newRig(t, "mem", web.Config{Authenticate: people(t), Rate: 1e-9, Burst: 2})
	look := func(name string) *reply {
		return r.try("", http.MethodGet, "/v1/threads", "", as(name, "answer")...)
	}
	look(ann).is(403)
	look(ann).is(403)
	look(ann).is(429)
	look(bob).is(403)
	who := map[string]bool{}
	for line := range strings.Lines(r.logs.String()) {
		if _, rest, found := strings.Cut(line, `who="`); found {
			name, _, _ := strings.Cut(rest, `"`)
			who[name] = true
		}
	}
	assert.Len(t, who, 2)
}

// What docs/http.md says of names: a person with two is two people, and two people with one name,
// of different issuers, are one.
func TestTwoNamesOfOnePerson(t *testing.T) {
	t.Parallel()
	tokens := userTokens(t)
	notOwn := thread.Func("own", func(ctx context.Context, _ string) (string, error) {
		return thread.Ask[string](ctx, "sure", thread.Question{Text: "Sure?", NotOwn: true,
			Plain: thread.PlainText})
	})
	voted := thread.Func("two", func(ctx context.Context, _ string) (string, error) {
		return thread.Ask[string](ctx, "sure", thread.Question{Text: "Sure?", Quorum: 2,
			Plain: thread.PlainText})
	})
	r := newRig(t, "mem", web.Config{Authenticate: web.FirstOf(tokens.Authenticate, people(t))},
		notOwn, voted)
	r.users = tokens
	token := r.userToken("answer", "deliver", "follow").Token // for ann
	ask := func(machine, user string) string {
		th := decode[web.Thread](r.try("", http.MethodPost, "/v1/threads",
			`{"machine":"`+machine+`","input":""}`, as(user, "all")...).is(201))
		return "/v1/interrupts/" + r.settled(th.ID).Open[0].ID
	}
	const vote = `{"text":"yes"}`
	own := ask("own", "Auth0|5F")
	r.try("", http.MethodPost, own+"/answer", `{"text":"x"}`, as("Auth0|5F", "all")...).is(403)
	r.try(token, http.MethodPost, own+"/answer", `{"text":"x"}`).is(200)
	own = ask("own", "ann") // another issuer's ann
	r.try(token, http.MethodPost, own+"/answer", `{"text":"x"}`).is(403)

	votes := ask("two", "ann")
	state := func() thread.InterruptState { return decode[web.Interrupt](r.get(votes)).State }
	r.try("", http.MethodPost, votes+"/answer", vote, as("ann", "all")...).is(200)
	r.try(token, http.MethodPost, votes+"/answer", vote).is(200)
	assert.Equal(t, thread.InterruptOpen, state(), "one vote")
	r.try("", http.MethodPost, votes+"/answer", vote, as("Auth0|5F", "all")...).is(200)
	assert.Equal(t, thread.InterruptAnswered, state())
	claimed := ask("pair", "Auth0|5F")
	r.try("", http.MethodPost, claimed+"/claim", `{}`, as("Auth0|5F", "all")...).is(200)
	r.try(token, http.MethodPost, claimed+"/answer", `{"text":"x"}`).is(403)
}
