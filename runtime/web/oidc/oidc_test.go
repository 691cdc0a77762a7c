package oidc_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/store/mem"
	"github.com/routegen/routegen/runtime/thread"
	"github.com/routegen/routegen/runtime/web"
	"github.com/routegen/routegen/runtime/web/oidc"
)

const operator = "operator-0123456789abcdef0123456789abcdef"

// program is a server of threads whose people sign in at an issuer.
type program struct {
	*testing.T
	issuer *issuer
	base   string
	mu     sync.Mutex
	ahead  time.Duration
}

func (p *program) now() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return time.Now().Add(p.ahead)
}

func (p *program) pass(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ahead += d
}

func newProgram(t *testing.T) *program {
	t.Helper()
	p := &program{T: t, issuer: newIssuer(t)}
	asks := thread.Func("ask", func(ctx context.Context, _ string) (string, error) {
		return thread.Ask[string](ctx, "q", thread.Question{Text: "Well?", NotOwn: true,
			Plain: thread.PlainText})
	})
	engine, err := thread.Open(t.Context(), mem.Open(), thread.Config{}, asks)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, engine.Close(context.Background())) })
	mux := http.NewServeMux()
	front := httptest.NewServer(mux)
	t.Cleanup(front.Close)
	p.base = front.URL
	provider, err := oidc.New(t.Context(), oidc.Config{
		Issuer: p.issuer.http.URL, ClientID: clientID, ClientSecret: clientSecret,
		RedirectURL: p.base + "/auth/callback", Now: p.now, TenantClaim: "",
		Roles: web.Roles{"*": {"follow"}, "staff": {"answer", "deliver"}},
	})
	require.NoError(t, err)
	server, err := web.New(engine, operator, web.Config{Authenticate: provider.Authenticate})
	require.NoError(t, err)
	mux.Handle("/auth/", provider)
	mux.Handle("/v1/", server)
	return p
}

// signedIn is a person with a session.
func (p *program) signedIn(subject string, groups ...string) *person {
	p.Helper()
	p.issuer.mu.Lock()
	p.issuer.subject, p.issuer.groups = subject, groups
	p.issuer.mu.Unlock()
	out := newPerson(p.T, p.base)
	status, in := out.signIn()
	require.True(p, in, "status %d", status)
	return out
}

// People sign in with their accounts, answer as the subject of the issuer, byte for byte, and do
// what their groups let them.
func TestATeamSignsIn(t *testing.T) {
	t.Parallel()
	p := newProgram(t)
	const subject = "Auth0|Ann 5F"
	ann, ben := p.signedIn(subject, "staff"), p.signedIn("ben", "staff")
	carl := p.signedIn("carl", "guests")
	status, started := ann.api(http.MethodPost, "/v1/threads", `{"machine":"ask","input":""}`)
	require.Equal(t, 201, status)
	id := started["id"].(string)
	require.Eventually(t, func() bool {
		_, inbox := ann.api(http.MethodGet, "/v1/interrupts", "")
		return len(inbox["items"].([]any)) == 1
	}, time.Minute, time.Millisecond)
	path := "/v1/threads/" + id + "/answer"
	status, _ = ann.api(http.MethodPost, path, `{"text":"yes"}`)
	assert.Equal(t, 403, status, "her own request is not hers to approve")
	status, _ = ann.api(http.MethodPost, path, `{"text":"yes","by":"ben"}`)
	assert.Equal(t, 403, status, "and not in the name of another person")
	status, _ = carl.api(http.MethodPost, path, `{"text":"yes"}`)
	assert.Equal(t, 403, status, "carl's groups let him follow")
	status, _ = carl.api(http.MethodGet, "/v1/threads/"+id, "")
	assert.Equal(t, 200, status)
	status, _ = carl.api(http.MethodGet, "/v1/threads/"+id+"/history", "")
	assert.Equal(t, 403, status)
	status, answered := ben.api(http.MethodPost, path, `{"text":"yes"}`)
	require.Equal(t, 200, status)
	assert.Equal(t, "ben", answered["interrupt"].(map[string]any)["answeredBy"])
	_, th := ben.api(http.MethodGet, "/v1/threads/"+id, "")
	assert.Equal(t, subject, th["user"])

	// no session, a made-up one, and a good one beside a bearer token that is not
	status, _ = newPerson(t, p.base).api(http.MethodGet, "/v1/threads", "")
	assert.Equal(t, 401, status)
	status, _ = newPerson(t, p.base).api(http.MethodGet, "/v1/threads", "", "Cookie",
		"routegen_session="+strings.Repeat("A", 26))
	assert.Equal(t, 401, status)
	status, _ = ann.api(http.MethodGet, "/v1/threads", "", "Authorization", "Bearer wrong")
	assert.Equal(t, 401, status)
	status, _ = ann.api(http.MethodPost, "/v1/threads", `{"machine":"ask","input":""}`, "Origin",
		"https://evil.example")
	assert.Equal(t, 403, status, "a page of another origin acts for nobody")
}

// A session ends with its time and with signing out, and its cookie is no page's to read or send.
func TestASessionEnds(t *testing.T) {
	t.Parallel()
	p := newProgram(t)
	ann := p.signedIn("ann", "staff")
	c := ann.cookies["routegen_session"]
	assert.True(t, c.HttpOnly)
	assert.False(t, c.Secure, "the program is on this machine, without TLS")
	assert.Equal(t, []any{http.SameSiteStrictMode, "/", 8 * 3600},
		[]any{c.SameSite, c.Path, c.MaxAge})
	stolen := ann.copy()
	res, _ := ann.call(http.MethodPost, p.base+"/auth/logout", "", "Origin", "https://evil.example")
	assert.Equal(t, 403, res.StatusCode)
	status, _ := ann.api(http.MethodGet, "/v1/token", "")
	assert.Equal(t, 200, status, "the control")
	res, _ = ann.call(http.MethodPost, p.base+"/auth/logout", "")
	assert.Equal(t, 204, res.StatusCode)
	assert.Nil(t, ann.cookies["routegen_session"])
	status, _ = stolen.api(http.MethodGet, "/v1/token", "")
	assert.Equal(t, 401, status, "the session is over, not the cookie alone")

	ben := p.signedIn("ben")
	p.pass(8*time.Hour - time.Minute)
	status, _ = ben.api(http.MethodGet, "/v1/token", "")
	assert.Equal(t, 200, status)
	p.pass(2 * time.Minute)
	status, _ = ben.api(http.MethodGet, "/v1/token", "")
	assert.Equal(t, 401, status)
	res, _ = ben.call(http.MethodGet, p.base+"/auth/logout", "")
	assert.Equal(t, 404, res.StatusCode, "a link signs nobody out")
}

// What does not belong to the sign-in that this browser has begun begins no session.
func TestASignInOfSomebodyElse(t *testing.T) {
	t.Parallel()
	p := newProgram(t)
	p.issuer.subject = "mallory"
	refused := func(b *person, address, why string) {
		t.Helper()
		res, _ := b.call(http.MethodGet, address, "")
		assert.Equal(t, 403, res.StatusCode, why)
		assert.Nil(t, b.cookies["routegen_session"], why)
	}
	refusedOnce := func(b *person, address, why string) {
		t.Helper()
		refused(b, address, why)
		assert.Nil(t, b.cookies["routegen_pending"], "it can be tried once: "+why)
	}
	with := func(address, name, value string) string {
		u, err := url.Parse(address)
		require.NoError(t, err)
		q := u.Query()
		q.Set(name, value)
		u.RawQuery = q.Encode()
		return u.String()
	}
	mallory, ann := newPerson(t, p.base), newPerson(t, p.base)
	back := mallory.comeBack()
	refused(ann, back, "a link of mallory's, without a sign-in of hers")
	ann.comeBack()
	refused(ann, back, "a link of mallory's, into a sign-in of hers")
	own := ann.comeBack()
	refused(ann, with(own, "state", ""), "no state")
	res, _ := ann.copy().call(http.MethodGet, own, "")
	assert.Equal(t, 302, res.StatusCode, "the control: her own sign-in is on its way still")
	own = ann.comeBack()
	refusedOnce(ann, with(own, "iss", "https://other.example"), "another issuer's answer")
	own = ann.comeBack()
	refusedOnce(ann, with(own, "error", "access_denied"), "the issuer refuses")
	own = ann.comeBack()
	refusedOnce(ann, with(own, "code", "made-up"), "a code of nobody")
	code := func(address string) string {
		u, err := url.Parse(address)
		require.NoError(t, err)
		return u.Query().Get("code")
	}
	refusedOnce(ann, with(ann.comeBack(), "code", code(back)),
		"mallory's code: PKCE has her verifier")
	status, in := ann.signIn()
	assert.True(t, in, "the control: %d", status)
	refusedAgain := newPerson(t, p.base)
	once := refusedAgain.comeBack()
	res, _ = refusedAgain.call(http.MethodGet, once, "")
	assert.Equal(t, 302, res.StatusCode)
	delete(refusedAgain.cookies, "routegen_session")
	refusedOnce(refusedAgain, once, "the same answer again")
}

// An ID token that is not the issuer's, for this client, for this sign-in and still good, signs
// nobody in.
func TestTokensThatAreNotGood(t *testing.T) {
	t.Parallel()
	p := newProgram(t)
	p.issuer.subject = "ann"
	for why, spoil := range map[string]func(head, claims map[string]any){
		"nonce of another": func(_, c map[string]any) { c["nonce"] = "other" },
		"no nonce":         func(_, c map[string]any) { delete(c, "nonce") },
		"another client":   func(_, c map[string]any) { c["aud"] = "other" },
		"another issuer":   func(_, c map[string]any) { c["iss"] = "https://other.example" },
		"expired":          func(_, c map[string]any) { c["exp"] = time.Now().Unix() - 3600 },
		"unknown key":      func(h, _ map[string]any) { h["kid"] = "of another" },
		"alg none":         func(h, _ map[string]any) { h["alg"] = "none"; p.issuer.unsign = true },
		"alg of a secret":  func(h, _ map[string]any) { h["alg"] = "HS256" },
		"no signature":     func(map[string]any, map[string]any) { p.issuer.unsign = true },
	} {
		p.issuer.mu.Lock()
		p.issuer.spoil, p.issuer.unsign = spoil, false
		p.issuer.mu.Unlock()
		status, in := newPerson(t, p.base).signIn()
		assert.False(t, in, why)
		assert.Equal(t, 403, status, why)
	}
	p.issuer.mu.Lock()
	p.issuer.spoil, p.issuer.unsign = nil, false
	p.issuer.mu.Unlock()
	_, in := newPerson(t, p.base).signIn()
	assert.True(t, in, "the control")
	for _, subject := range []string{"", "operator", "policy", " ann"} {
		p.issuer.mu.Lock()
		p.issuer.subject = subject
		p.issuer.mu.Unlock()
		b := newPerson(t, p.base)
		b.signIn()
		status, _ := b.api(http.MethodGet, "/v1/token", "")
		assert.Equal(t, 401, status, "subject %q", subject)
	}
}

// An issuer changes its keys while the program runs: new tokens are good, those of the old key not.
func TestTheIssuerChangesItsKeys(t *testing.T) {
	t.Parallel()
	p := newProgram(t)
	ann := p.signedIn("ann")
	old := p.issuer.key
	p.issuer.rotate("second")
	p.signedIn("ben")
	status, _ := ann.api(http.MethodGet, "/v1/token", "")
	assert.Equal(t, 200, status, "sessions stay")
	asked := p.issuer.asked
	p.signedIn("ben")
	assert.Equal(t, asked, p.issuer.asked, "a known key is not asked for again")
	p.issuer.mu.Lock()
	p.issuer.key, p.issuer.kid = old, "first" // somebody who has the key that was given up
	p.issuer.mu.Unlock()
	p.issuer.spoil = func(h, _ map[string]any) { h["kid"] = "second" }
	_, in := newPerson(t, p.base).signIn()
	assert.False(t, in)
}

func TestSettingsThatCannotBe(t *testing.T) {
	t.Parallel()
	s := newIssuer(t)
	good := oidc.Config{Issuer: s.http.URL, ClientID: clientID,
		RedirectURL: "https://threads.example.com/auth/callback"}
	p, err := oidc.New(t.Context(), good)
	require.NoError(t, err)
	w := httptest.NewRecorder()
	p.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet,
		"/auth/login", nil))
	c := w.Result().Cookies()[0]
	assert.True(t, c.Secure && c.HttpOnly)
	assert.Equal(t, "__Host-routegen_pending", c.Name)
	for change, code := range map[string]runtime.Code{"client": runtime.CodeInvalid,
		"http": runtime.CodeInvalid, "roles": runtime.CodeInvalid, "away": runtime.CodeUnavailable,
		"slash": runtime.CodeUnavailable} {
		bad := good
		switch change {
		case "client":
			bad.ClientID = ""
		case "http":
			bad.RedirectURL = "http://threads.example.com/auth/callback"
		case "roles":
			bad.Roles = web.Roles{"*": {"root"}}
		case "away":
			bad.Issuer = "http://127.0.0.1:1"
		case "slash": // it names itself without
			bad.Issuer += "/"
		}
		_, err = oidc.New(t.Context(), bad)
		assert.Equal(t, code, runtime.CodeOf(err), fmt.Sprint(change, ": ", err))
	}
}

// Who signs in again has one session: the one before ends when the new one begins, and not when the
// sign-in is refused. The browser does not send its cookie on the way back from another site.
func TestSigningInAgainEndsTheSessionBefore(t *testing.T) {
	t.Parallel()
	p := newProgram(t)
	b := p.signedIn("ann", "staff")
	before := b.copy()
	works := func(b *person, want int, why string) {
		t.Helper()
		status, _ := b.api(http.MethodGet, "/v1/token", "")
		assert.Equal(t, want, status, why)
	}
	back := b.comeBack()
	res, _ := b.call(http.MethodGet, back+"x", "") // a state of no sign-in
	assert.Equal(t, 403, res.StatusCode)
	p.issuer.mu.Lock()
	p.issuer.codes = map[string]url.Values{} // the issuer does not take the code
	p.issuer.mu.Unlock()
	res, _ = b.call(http.MethodGet, back, "")
	assert.Equal(t, 403, res.StatusCode)
	works(before, 200, "refused: the session goes on")

	p.issuer.mu.Lock()
	p.issuer.subject = "ben"
	p.issuer.mu.Unlock()
	_, in := b.signIn()
	require.True(t, in)
	works(before, 401, "the session of ann is over, not its cookie alone")
	_, told := b.api(http.MethodGet, "/v1/token", "")
	assert.Equal(t, "ben", told["by"])

	// a browser on another machine has its own
	other := p.signedIn("ben")
	_, in = b.signIn()
	require.True(t, in)
	works(other, 200, "the control")
}

// Two tabs of a browser sign in: the tab that began last gets the session, the other is refused and
// takes nothing from it, and no session stays that the browser has no cookie of.
func TestTwoTabsSignIn(t *testing.T) {
	t.Parallel()
	p := newProgram(t)
	b := p.signedIn("ann", "staff")
	before := b.copy()
	first := b.comeBack()
	second := b.comeBack()
	res, _ := b.call(http.MethodGet, first, "")
	assert.Equal(t, 403, res.StatusCode)
	res, _ = b.call(http.MethodGet, second, "")
	assert.Equal(t, 302, res.StatusCode)
	status, _ := before.api(http.MethodGet, "/v1/token", "")
	assert.Equal(t, 401, status)
	status, _ = b.api(http.MethodGet, "/v1/token", "")
	assert.Equal(t, 200, status)
	for _, again := range []string{first, second} {
		res, _ = b.call(http.MethodGet, again, "")
		assert.Equal(t, 403, res.StatusCode)
	}
	status, _ = b.api(http.MethodGet, "/v1/token", "")
	assert.Equal(t, 200, status, "the refused tab signs nobody out")
}

// Two issuers of one host share the names of their cookies: the sign-in at one is no credential at
// the other, and cannot be ended there; who signs in last is who the browser is.
func TestTwoIssuersOfOneHost(t *testing.T) {
	t.Parallel()
	engine, err := thread.Open(t.Context(), mem.Open(), thread.Config{}, thread.Func("none",
		func(context.Context, string) (string, error) { return "", nil }))
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, engine.Close(context.Background())) })
	mux := http.NewServeMux()
	front := httptest.NewServer(mux)
	t.Cleanup(front.Close)
	people, asks := map[string]*person{}, []func(*http.Request) (web.Identity, error){}
	for _, name := range []string{"ann", "ben"} {
		s := newIssuer(t)
		s.subject = name
		provider, err := oidc.New(t.Context(), oidc.Config{Issuer: s.http.URL, ClientID: clientID,
			ClientSecret: clientSecret, RedirectURL: front.URL + "/" + name + "/callback",
			Roles: web.Roles{"*": {"follow"}}})
		require.NoError(t, err)
		mux.Handle("/"+name+"/", provider)
		asks = append(asks, provider.Authenticate)
		people[name] = newPerson(t, front.URL)
		people[name].at = "/" + name
	}
	server, err := web.New(engine, operator, web.Config{Authenticate: web.FirstOf(asks...)})
	require.NoError(t, err)
	mux.Handle("/v1/", server)
	is := func(b *person, want string) {
		t.Helper()
		_, told := b.api(http.MethodGet, "/v1/token", "")
		assert.Equal(t, want, told["by"])
	}
	for name, b := range people {
		_, in := b.signIn()
		require.True(t, in)
		is(b, name)
	}
	ann := people["ann"]
	back := ann.comeBack() // a sign-in of ann's issuer, brought to the other address
	res, _ := ann.call(http.MethodGet, strings.Replace(back, "/ann/", "/ben/", 1), "")
	assert.Equal(t, 403, res.StatusCode)
	res, _ = ann.call(http.MethodGet, back, "")
	assert.Equal(t, 302, res.StatusCode, "and is on its way still")
	for _, name := range []string{"ben", "ann"} {
		ann.at = "/" + name
		_, in := ann.signIn()
		require.True(t, in)
		is(ann, name)
	}
}

// Refused sign-ins are limited for each address, also that of a client behind a proxy, before the
// issuer is asked. Good ones use nothing up.
func TestRefusedSignInsAreLimited(t *testing.T) {
	t.Parallel()
	s := newIssuer(t)
	s.subject = "ann"
	at := time.Now()
	cfg := oidc.Config{Issuer: s.http.URL, ClientID: clientID, ClientSecret: clientSecret,
		RedirectURL: "http://localhost/auth/callback", Now: func() time.Time { return at },
		TrustedProxies: []string{"10.0.0.1"}}
	provider, err := oidc.New(t.Context(), cfg)
	require.NoError(t, err)
	call := func(path, from string, cookies ...*http.Cookie) *httptest.ResponseRecorder {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
		r.RemoteAddr = "10.0.0.1:1"
		r.Header.Set("X-Forwarded-For", from)
		for _, c := range cookies {
			r.AddCookie(c)
		}
		w := httptest.NewRecorder()
		provider.ServeHTTP(w, r)
		return w
	}
	signIn := func(from string) int {
		out := call("/auth/login", from)
		res, _ := newPerson(t, "http://nowhere").call(http.MethodGet,
			out.Header().Get("Location"), "")
		back, err := url.Parse(res.Header.Get("Location"))
		require.NoError(t, err)
		cookies := out.Result().Cookies()
		return call(back.RequestURI(), from, cookies...).Code
	}
	for range 150 {
		require.Equal(t, 302, signIn("192.0.2.1"))
	}
	for range 100 {
		require.Equal(t, 403, call("/auth/callback?code=x&state=y", "192.0.2.1").Code)
	}
	assert.Equal(t, 429, call("/auth/callback?code=x&state=y", "192.0.2.1").Code)
	assert.Equal(t, 429, signIn("192.0.2.1"), "a good one waits too")
	assert.Equal(t, 302, signIn("192.0.2.2"), "the control: another address")
	at = at.Add(2 * time.Second)
	assert.Equal(t, 302, signIn("192.0.2.1"))
	cfg.TrustedProxies = []string{"proxy.example"}
	_, err = oidc.New(t.Context(), cfg)
	assert.Equal(t, runtime.CodeInvalid, runtime.CodeOf(err))
}
