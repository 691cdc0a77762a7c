package oidc_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"maps"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const clientID, clientSecret = "threads", "client-secret"

// issuer is an OpenID Connect issuer on a port of this machine: discovery, keys, authorization and
// token endpoint. It signs in whoever is set as subject, and holds the client to PKCE.
type issuer struct {
	*testing.T
	http *httptest.Server

	mu      sync.Mutex
	key     *ecdsa.PrivateKey
	kid     string
	subject string
	groups  []string
	codes   map[string]url.Values             // what was asked for with a code
	spoil   func(head, claims map[string]any) // changes what is signed; nil: nothing
	unsign  bool                              // takes the signature off
	asked   int                               // how often the keys were asked for
}

func newIssuer(t *testing.T) *issuer {
	t.Helper()
	s := &issuer{T: t, codes: map[string]url.Values{}}
	s.rotate("first")
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", func(w http.ResponseWriter,
		_ *http.Request) {
		s.send(w, map[string]any{"issuer": s.http.URL,
			"authorization_endpoint": s.http.URL + "/authorize",
			"token_endpoint":         s.http.URL + "/token", "jwks_uri": s.http.URL + "/keys",
			"id_token_signing_alg_values_supported": []string{"ES256", "none"}})
	})
	mux.HandleFunc("GET /keys", s.serveKeys)
	mux.HandleFunc("GET /authorize", s.serveAuthorize)
	mux.HandleFunc("POST /token", s.serveToken)
	s.http = httptest.NewServer(mux)
	t.Cleanup(s.http.Close)
	return s
}

// rotate signs with a new key from now on, and forgets the old one.
func (s *issuer) rotate(kid string) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(s, err)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.key, s.kid = key, kid
}

func (s *issuer) send(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	assert.NoError(s, json.NewEncoder(w).Encode(v))
}

func text64(data []byte) string { return base64.RawURLEncoding.EncodeToString(data) }

func (s *issuer) serveKeys(w http.ResponseWriter, _ *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked++
	point, err := s.key.PublicKey.Bytes() // 4, x, y
	assert.NoError(s, err)
	s.send(w, map[string]any{"keys": []any{map[string]any{"kty": "EC", "crv": "P-256",
		"alg": "ES256", "use": "sig", "kid": s.kid, "x": text64(point[1:33]),
		"y": text64(point[33:])}}})
}

// serveAuthorize is the page where a person signs in, without the page.
func (s *issuer) serveAuthorize(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	assert.Equal(s, []string{"code", clientID, "openid", "S256"}, []string{q.Get("response_type"),
		q.Get("client_id"), q.Get("scope"), q.Get("code_challenge_method")})
	code := rand.Text()
	s.mu.Lock()
	s.codes[code] = q
	s.mu.Unlock()
	http.Redirect(w, r, q.Get("redirect_uri")+"?"+url.Values{"code": {code},
		"state": {q.Get("state")}}.Encode(), http.StatusFound)
}

func (s *issuer) serveToken(w http.ResponseWriter, r *http.Request) {
	id, password, _ := r.BasicAuth()
	s.mu.Lock()
	defer s.mu.Unlock()
	q := s.codes[r.FormValue("code")]
	delete(s.codes, r.FormValue("code"))
	sum := sha256.Sum256([]byte(r.FormValue("code_verifier")))
	if q == nil || id != clientID || password != clientSecret ||
		q.Get("code_challenge") != text64(sum[:]) ||
		q.Get("redirect_uri") != r.FormValue("redirect_uri") {
		w.WriteHeader(http.StatusBadRequest)
		s.send(w, map[string]any{"error": "invalid_grant"})
		return
	}
	head := map[string]any{"alg": "ES256", "kid": s.kid, "typ": "JWT"}
	claims := map[string]any{"iss": s.http.URL, "aud": clientID, "sub": s.subject,
		"nonce": q.Get("nonce"), "groups": s.groups, "iat": time.Now().Unix(),
		"exp": time.Now().Add(time.Minute).Unix()}
	if s.spoil != nil {
		s.spoil(head, claims)
	}
	s.send(w, map[string]any{"access_token": "x", "token_type": "Bearer",
		"id_token": s.sign(head, claims)})
}

func (s *issuer) sign(head, claims map[string]any) string {
	h, err := json.Marshal(head)
	assert.NoError(s, err)
	c, err := json.Marshal(claims)
	assert.NoError(s, err)
	signed := text64(h) + "." + text64(c)
	if s.unsign {
		return signed + "."
	}
	sum := sha256.Sum256([]byte(signed))
	a, b, err := ecdsa.Sign(rand.Reader, s.key, sum[:])
	assert.NoError(s, err)
	return signed + "." + text64(append(fill(a), fill(b)...))
}

func fill(n *big.Int) []byte { return n.FillBytes(make([]byte, 32)) }

// person is a browser without a page: it keeps cookies, follows redirects by hand, and sends no
// cookie to another host than the one that set it, and on the way back from the issuer, which is
// another site, none that is Strict.
type person struct {
	*testing.T
	base    string // of the program
	at      string // where the provider is
	cookies map[string]*http.Cookie
}

func newPerson(t *testing.T, base string) *person {
	t.Helper()
	return &person{t, base, "/auth", map[string]*http.Cookie{}}
}

// received is a response without its body.
type received struct {
	StatusCode int
	Header     http.Header
}

// call makes one request and returns the response and its body.
func (p *person) call(method, address, body string, headers ...string) (received, string) {
	p.Helper()
	req, err := http.NewRequestWithContext(p.Context(), method, address, strings.NewReader(body))
	require.NoError(p, err)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for n := 0; n < len(headers); n += 2 {
		req.Header.Set(headers[n], headers[n+1])
	}
	if strings.HasPrefix(address, p.base) {
		for _, name := range []string{"routegen_session", "routegen_pending"} {
			if c := p.cookies[name]; c != nil && (c.SameSite != http.SameSiteStrictMode ||
				!strings.HasSuffix(req.URL.Path, "/callback")) {
				req.AddCookie(&http.Cookie{Name: c.Name, Value: c.Value})
			}
		}
	}
	res, err := http.DefaultTransport.RoundTrip(req)
	require.NoError(p, err)
	defer func() { _ = res.Body.Close() }()
	var read strings.Builder
	_, err = io.Copy(&read, res.Body)
	require.NoError(p, err)
	for _, c := range res.Cookies() {
		if c.MaxAge < 0 {
			delete(p.cookies, c.Name)
		} else {
			p.cookies[c.Name] = c
		}
	}
	return received{res.StatusCode, res.Header}, read.String()
}

// comeBack signs in up to the address at which the issuer sends the browser back.
func (p *person) comeBack() string {
	p.Helper()
	res, _ := p.call(http.MethodGet, p.base+p.at+"/login", "")
	require.Equal(p, http.StatusFound, res.StatusCode)
	res, _ = p.call(http.MethodGet, res.Header.Get("Location"), "")
	require.Equal(p, http.StatusFound, res.StatusCode)
	return res.Header.Get("Location")
}

// signIn signs in, and returns the status of the last step and whether there is a session.
func (p *person) signIn() (status int, in bool) {
	p.Helper()
	res, _ := p.call(http.MethodGet, p.comeBack(), "")
	return res.StatusCode, p.cookies["routegen_session"] != nil
}

// api calls the server of threads.
func (p *person) api(method, path, body string, headers ...string) (int, map[string]any) {
	p.Helper()
	res, text := p.call(method, p.base+path, body, headers...)
	var out map[string]any
	require.NoError(p, json.Unmarshal([]byte(text), &out), text)
	return res.StatusCode, out
}

func (p *person) copy() *person {
	return &person{p.T, p.base, p.at, maps.Clone(p.cookies)}
}
