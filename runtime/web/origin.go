package web

import (
	"net/http"
	"slices"
)

// share lets a page of one of Config.Origins read what comes, and reports whether the request only
// asks what such a page may send: a browser asks that before a call, without a token. Other origins
// get nothing, and no page of another origin can read what a cookie is answered with: the header
// that allows it is not sent. WebSockets, which need no such header, check the origin themselves.
func (s *Server) share(r *http.Request, h http.Header) (asks bool) {
	if len(s.cfg.Origins) == 0 {
		return false
	}
	h.Add("Vary", "Origin")
	origin := r.Header.Get("Origin")
	if !slices.Contains(s.cfg.Origins, origin) {
		return false
	}
	h.Set("Access-Control-Allow-Origin", origin)
	h.Set("Cross-Origin-Resource-Policy", "cross-origin")
	if r.Method != http.MethodOptions || r.Header.Get("Access-Control-Request-Method") == "" {
		h.Set("Access-Control-Expose-Headers", "Retry-After, X-Request-ID")
		return false
	}
	h.Set("Access-Control-Allow-Methods", "GET, POST, DELETE")
	h.Set("Access-Control-Allow-Headers",
		"Authorization, Content-Type, Idempotency-Key, Last-Event-ID")
	h.Set("Access-Control-Max-Age", "600")
	return true
}
