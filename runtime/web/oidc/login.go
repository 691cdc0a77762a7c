package oidc

import (
	"crypto/subtle"
	"errors"
	"fmt"
	"net/http"
	"path"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

// pendingFor is how long a person may take at the issuer.
const pendingFor = 10 * time.Minute

// mostRefused is how many sign-ins of one address may be refused at once, and one a second then:
// each may ask the issuer.
const mostRefused = 100

var (
	errState    = errors.New("the state is not that of a sign-in that this browser has begun")
	errNonce    = errors.New("the nonce of the ID token is another sign-in's")
	errNoToken  = errors.New("the issuer sent no ID token")
	errIssuer   = errors.New("the answer is another issuer's")
	errNoTenant = errors.New("the ID token names no tenant")
)

// ServeHTTP serves the three addresses of a sign-in, which end in login, callback and logout: GET
// login leads to the issuer; GET callback, the end of RedirectURL, begins the session; POST logout
// ends it, from a page of this origin alone. Anything else is 404. Mount it where RedirectURL is.
func (p *Provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Content-Type-Options", "nosniff")
	switch r.Method + " " + path.Base(r.URL.Path) {
	case "GET login":
		p.login(w, r)
	case "GET callback":
		from := p.proxies.ClientAddress(r)
		if !p.failures.Allow(from) {
			http.Error(w, "Too many sign-ins from your address were refused: wait, and sign in "+
				"again.", http.StatusTooManyRequests)
			return
		}
		if err := p.callback(w, r); err == nil {
			p.failures.Restore(from)
		} else {
			p.cfg.Log.Info("sign-in refused", "reason", err.Error())
			http.Error(w, "You are not signed in: the sign-in was refused, or took too long. "+
				"Go back and sign in again; the log of the server has the reason.",
				http.StatusForbidden)
		}
	case "POST logout":
		p.logout(w, r)
	default:
		http.NotFound(w, r)
	}
}

func (p *Provider) login(w http.ResponseWriter, r *http.Request) {
	n := attempt{secret(), secret(), oauth2.GenerateVerifier(), ""}
	if id, found := p.cookie(r, "session"); found { // it does not come back with the callback
		n.old = hashOf(id)
	}
	// Lax: the issuer leads the browser back, and the cookie has to come along
	p.setCookie(w, "pending", n.String(), http.SameSiteLaxMode, pendingFor)
	http.Redirect(w, r, p.client.AuthCodeURL(n.state, oidc.Nonce(n.nonce),
		oauth2.S256ChallengeOption(n.verifier)), http.StatusFound)
}

// callback begins the session of a person whom the issuer has sent back. A browser has one sign-in
// on its way, that of the tab where it was begun last: the answer to another is refused and leaves
// it as it is. It can be ended once: its cookie goes whatever comes of it then.
func (p *Provider) callback(w http.ResponseWriter, r *http.Request) error {
	query := r.URL.Query()
	text, _ := p.cookie(r, "pending")
	n, ok := parseAttempt(text)
	if !ok || !sameText(query.Get("state"), n.state) {
		return errState
	}
	p.setCookie(w, "pending", "", http.SameSiteLaxMode, 0)
	if iss := query.Get("iss"); iss != "" && iss != p.cfg.Issuer {
		return errIssuer
	}
	if refused := query.Get("error"); refused != "" {
		return fmt.Errorf("the issuer refuses: %q", refused)
	}
	ctx := oidc.ClientContext(r.Context(), p.cfg.Client)
	got, err := p.client.Exchange(ctx, query.Get("code"), oauth2.VerifierOption(n.verifier))
	if err != nil {
		return fmt.Errorf("the code is not taken: %w", err)
	}
	raw, _ := got.Extra("id_token").(string)
	if raw == "" {
		return errNoToken
	}
	token, err := p.verifier.Verify(ctx, raw)
	if err != nil {
		return err
	}
	if !sameText(token.Nonce, n.nonce) {
		return errNonce
	}
	who, err := p.identity(token)
	if err != nil {
		return err
	}
	p.sessions.end(n.old) // of who was signed in here before
	p.setCookie(w, "session", p.sessions.beginSession(who), http.SameSiteStrictMode, p.cfg.Session)
	http.Redirect(w, r, p.cfg.After, http.StatusFound)
	return nil
}

func sameText(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

func (p *Provider) logout(w http.ResponseWriter, r *http.Request) {
	if p.cross.Check(r) != nil {
		http.Error(w, "a page of another origin may not do that", http.StatusForbidden)
		return
	}
	if id, found := p.cookie(r, "session"); found {
		p.sessions.end(hashOf(id))
	}
	p.setCookie(w, "session", "", http.SameSiteStrictMode, 0)
	w.WriteHeader(http.StatusNoContent)
}
