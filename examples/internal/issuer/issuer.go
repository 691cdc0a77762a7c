// Package issuer is an OpenID Connect issuer for demos and tests on one machine: on its page a
// visitor signs in as one of its people, without a password. It has one client, and makes a new key
// at each start. Do not use it to protect anything.
package issuer

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"html/template"
	"net/http"
	"net/url"
	"sync"
	"time"
)

// Person is a user who can sign in.
type Person struct {
	Subject string
	Groups  []string
}

// App is the program that people sign in to.
type App struct{ ID, Secret, RedirectURL string }

// Issuer serves the addresses of an issuer. It may be called at the same time.
type Issuer struct {
	address string
	client  App
	people  []Person
	key     *ecdsa.PrivateKey
	mux     *http.ServeMux

	mu    sync.Mutex
	codes map[string]grant
}

// grant is a sign-in whose code the client has not used yet.
type grant struct {
	who              Person
	nonce, challenge string
	until            time.Time
}

// New makes an issuer with an address like http://127.0.0.1:9000, where it has to be served.
func New(address string, client App, people ...Person) (*Issuer, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	s := &Issuer{address: address, client: client, people: people, key: key,
		codes: map[string]grant{}}
	s.mux = s.paths()
	return s, nil
}

// ServeHTTP serves discovery, the key, the page where people sign in, and the token endpoint.
func (s *Issuer) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

func (s *Issuer) paths() *http.ServeMux {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", s.discover)
	mux.HandleFunc("GET /keys", s.showKeys)
	mux.HandleFunc("GET /authorize", s.choose)
	mux.HandleFunc("POST /authorize", s.authorize)
	mux.HandleFunc("POST /token", s.redeem)
	return mux
}

func sendJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	//nolint:errchkjson // texts; and a client that is gone hears nothing
	_ = json.NewEncoder(w).Encode(v)
}

func (s *Issuer) discover(w http.ResponseWriter, _ *http.Request) {
	sendJSON(w, http.StatusOK, map[string]any{
		"issuer": s.address, "authorization_endpoint": s.address + "/authorize",
		"token_endpoint": s.address + "/token", "jwks_uri": s.address + "/keys",
		"response_types_supported":              []string{"code"},
		"subject_types_supported":               []string{"public"},
		"code_challenge_methods_supported":      []string{"S256"},
		"id_token_signing_alg_values_supported": []string{"ES256"},
	})
}

func base64url(data []byte) string { return base64.RawURLEncoding.EncodeToString(data) }

func (s *Issuer) showKeys(w http.ResponseWriter, _ *http.Request) {
	point, err := s.key.PublicKey.Bytes() // 4, x, y
	if err != nil {
		http.Error(w, "the key has no point", http.StatusInternalServerError)
		return
	}
	sendJSON(w, http.StatusOK, map[string]any{"keys": []any{map[string]any{"kty": "EC",
		"crv": "P-256", "alg": "ES256", "use": "sig", "kid": "1", "x": base64url(point[1:33]),
		"y": base64url(point[33:])}}})
}

// page lets a person choose who they are.
var page = template.Must(template.New("page").Parse(`<!doctype html><html lang="en">
<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Who are you?</title>
<style>
body{font:16px system-ui;max-width:26rem;margin:15vh auto;padding:0 1rem;
color-scheme:light dark}
button{display:block;width:100%;margin:.6rem 0;padding:.8rem;font:inherit;text-align:left}</style>
<h1>Who are you?</h1><p>A local issuer for trying out: it asks for no password.</p>
{{range .People}}<form method="post" action="/authorize?{{$.Query}}">
<button name="subject" value="{{.Subject}}">{{.Subject}}{{range .Groups}} · {{.}}{{end}}</button>
</form>{{end}}</html>`))

func (s *Issuer) choose(w http.ResponseWriter, r *http.Request) {
	if !s.asks(w, r.URL.Query()) {
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_ = page.Execute(w, struct { // a browser that is gone sees nothing
		People []Person
		Query  template.URL
	}{s.people, template.URL(r.URL.Query().Encode())}) //nolint:gosec // it was encoded here
}

// asks holds a sign-in to the client, and refuses another one's.
func (s *Issuer) asks(w http.ResponseWriter, q url.Values) bool {
	if q.Get("client_id") != s.client.ID || q.Get("redirect_uri") != s.client.RedirectURL ||
		q.Get("response_type") != "code" || q.Get("code_challenge_method") != "S256" ||
		q.Get("code_challenge") == "" {
		http.Error(w, "this is no sign-in of the client that this issuer knows",
			http.StatusBadRequest)
		return false
	}
	return true
}

func (s *Issuer) authorize(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	if !s.asks(w, q) {
		return
	}
	for _, who := range s.people {
		if who.Subject != r.PostFormValue("subject") {
			continue
		}
		code := rand.Text()
		s.mu.Lock()
		s.codes[code] = grant{who, q.Get("nonce"), q.Get("code_challenge"),
			time.Now().Add(time.Minute)}
		s.mu.Unlock()
		http.Redirect(w, r, s.client.RedirectURL+"?"+url.Values{"code": {code},
			"state": {q.Get("state")}, "iss": {s.address}}.Encode(), http.StatusSeeOther)
		return
	}
	http.Error(w, "there is no person of that name", http.StatusBadRequest)
}

// redeem gives the client the ID token for a code, once.
func (s *Issuer) redeem(w http.ResponseWriter, r *http.Request) {
	id, secret, _ := r.BasicAuth()
	s.mu.Lock()
	g, found := s.codes[r.PostFormValue("code")]
	delete(s.codes, r.PostFormValue("code"))
	s.mu.Unlock()
	sum := sha256.Sum256([]byte(r.PostFormValue("code_verifier")))
	if !found || time.Now().After(g.until) || id != s.client.ID ||
		subtle.ConstantTimeCompare([]byte(secret), []byte(s.client.Secret)) != 1 ||
		g.challenge != base64url(sum[:]) {
		sendJSON(w, http.StatusBadRequest, map[string]any{"error": "invalid_grant"})
		return
	}
	now := time.Now()
	token, err := s.sign(map[string]any{"iss": s.address, "aud": id, "sub": g.who.Subject,
		"groups": g.who.Groups, "nonce": g.nonce, "iat": now.Unix(),
		"exp": now.Add(5 * time.Minute).Unix()})
	if err != nil {
		http.Error(w, "the token cannot be signed", http.StatusInternalServerError)
		return
	}
	sendJSON(w, http.StatusOK, map[string]any{"access_token": rand.Text(), "token_type": "Bearer",
		"expires_in": 300, "id_token": token})
}

func (s *Issuer) sign(claims map[string]any) (string, error) {
	body, err := json.Marshal(claims)
	if err != nil {
		return "", err
	}
	text := base64url([]byte(`{"alg":"ES256","kid":"1","typ":"JWT"}`)) + "." + base64url(body)
	sum := sha256.Sum256([]byte(text))
	a, b, err := ecdsa.Sign(rand.Reader, s.key, sum[:])
	if err != nil {
		return "", err
	}
	return text + "." + base64url(append(a.FillBytes(make([]byte, 32)),
		b.FillBytes(make([]byte, 32))...)), nil
}
