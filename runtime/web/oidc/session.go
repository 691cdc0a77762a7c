package oidc

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/routegen/routegen/runtime/web"
)

// sessions are the sign-ins that have not ended, by the hash of the id in the cookie.
type sessions struct {
	now  func() time.Time
	mu   sync.Mutex
	held map[string]web.Identity
}

func hashOf(id string) string {
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:])
}

// beginSession stores a sign-in and returns its id. Sign-ins that are over are forgotten then.
func (s *sessions) beginSession(who web.Identity) (id string) {
	id = secret()
	s.mu.Lock()
	defer s.mu.Unlock()
	for other, held := range s.held {
		if !s.now().Before(held.Expires) {
			delete(s.held, other)
		}
	}
	s.held[hashOf(id)] = who
	return id
}

// find returns the sign-in with an id, and whether there is one that is not over.
func (s *sessions) find(id string) (web.Identity, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	who, found := s.held[hashOf(id)]
	return who, found && s.now().Before(who.Expires)
}

func (s *sessions) end(hash string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.held, hash)
}

var errSession = errors.New("there is no such session, or it has ended: sign in")

// Authenticate says who a request is from by the cookie of its session. It is for
// [web.Config.Authenticate]. A request without the cookie gets [web.ErrNoCredential], and so does
// one with a bearer token, which is another kind of caller's, or a cookie of another Provider; a
// session that has ended is refused.
func (p *Provider) Authenticate(r *http.Request) (web.Identity, error) {
	id, found := p.cookie(r, "session")
	if !found || web.BearerToken(r) != "" || r.Header.Get("Authorization") != "" {
		return web.Identity{}, web.ErrNoCredential
	}
	who, found := p.sessions.find(id)
	if !found {
		return web.Identity{}, errSession
	}
	return who, nil
}

// cookieName has the prefix with which browsers keep other hosts and plain HTTP from setting it.
func (p *Provider) cookieName(what string) string {
	if p.secure {
		return "__Host-routegen_" + what
	}
	return "routegen_" + what
}

// cookie returns what this provider has stored in a cookie of the browser, and whether it has.
func (p *Provider) cookie(r *http.Request, what string) (value string, found bool) {
	cookie, err := r.Cookie(p.cookieName(what))
	if err != nil {
		return "", false
	}
	return strings.CutPrefix(cookie.Value, p.tag+".")
}

// setCookie sets a cookie that scripts cannot read. With a life of 0 it is removed.
func (p *Provider) setCookie(w http.ResponseWriter, what, value string, same http.SameSite,
	life time.Duration) {
	age := int(life / time.Second)
	if age == 0 {
		age = -1
	}
	//nolint:gosec // Secure is false only on this machine, see New
	http.SetCookie(w, &http.Cookie{Name: p.cookieName(what), Value: p.tag + "." + value,
		Path:   "/",
		MaxAge: age, Secure: p.secure, HttpOnly: true, SameSite: same})
}

// attempt is a sign-in on its way, in a cookie of the browser that began it.
type attempt struct {
	state, nonce, verifier string
	old                    string // hash of the session that it replaces; "" for none
}

func (n attempt) String() string {
	return strings.Join([]string{n.state, n.nonce, n.verifier, n.old}, ".")
}

func parseAttempt(text string) (attempt, bool) {
	parts := strings.Split(text, ".")
	if len(parts) != 4 || slices.Contains(parts[:3], "") {
		return attempt{}, false
	}
	return attempt{parts[0], parts[1], parts[2], parts[3]}, true
}
