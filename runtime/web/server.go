package web

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/chat"
	"github.com/routegen/routegen/runtime/thread"
	"github.com/routegen/routegen/runtime/web/internal/limit"
)

// Config is what a server can be told. The zero value works; [New] copies it.
type Config struct {
	// host names it answers to, without port; default: localhost, 127.0.0.1 and [::1]
	Hosts []string
	// other origins whose pages may call it and read what comes, written like https://example.com;
	// default: none
	Origins []string
	// Authenticate says who a request is from that has neither the operator's token nor a
	// capability token, for example package oidc's; see [FirstOf] for several, and [Roles]. An
	// error refuses the request with 401, an error of CodeUnavailable with 503. It is called for
	// each request, and while a stream of the person is open every Beat; at the same time for
	// any number of them. default: nobody else is let in
	Authenticate func(*http.Request) (Identity, error)
	// addresses and networks (10.0.0.0/8) of the proxies before it, whose Forwarded or
	// X-Forwarded-For says who calls; default: none, and nobody's is read
	TrustedProxies []string
	Doors          []Door // ways in beside REST; default: none
	// the tenant whose threads the operator's token is for, see [thread.Engine.Tenant]; default "".
	// Capability tokens are of the tenant whose operator made them
	OperatorTenant string

	// Programs says of machines, by their names, what can be started and how their nodes hang
	// together; default: nothing.
	Programs map[string]Program
	// Conversation takes the messages to threads of its machine, and makes a thread of an id that
	// is unknown. Its Engine must be the server's. Default: messages go to the engine, which knows
	// no turns, no digression and no words for cancel or skip.
	Conversation *chat.Conversation

	// calls a second for each token, and failed log-ins for each address; default 100
	Rate  float64
	Burst int // calls at once; default 200
	// streams and sockets at once, for a capability token a tenth of them, or one; default 2,000
	MaxStreams int
	// how long a call may take, a body be on its way, and a write to a stream block; default 10
	// seconds
	Timeout time.Duration
	// how long a call waits for a turn of a conversation, or for a replanner; default 2 minutes
	Patience time.Duration
	// the longest that a capability token may live; default 90 days
	MaxTokenLife time.Duration
	Beat         time.Duration // how often an idle stream shows that it lives; default 15 seconds

	// one audit line for each change and each refused token. Never a token, a body or a query;
	// default: none
	Log *slog.Logger
	Now func() time.Time // for the end of tokens and the rate; default: time.Now
}

// MaxBody bounds a body, and a message of a socket, in bytes.
const MaxBody = 256 << 10

const (
	maxURL   = 2 << 10
	minToken = 32
)

// Server is an [http.Handler] over an engine. It may be used by any number of goroutines, and
// several servers may share a store. Use [Server.HTTP] for an http.Server with the limits that a
// handler cannot set.
type Server struct {
	engine   *thread.Engine
	cfg      Config
	log      *slog.Logger
	keysMu   sync.Mutex
	keys     []*operatorKey // of the operator, see SetOperatorTokens
	cross    *http.CrossOriginProtection
	proxies  limit.Proxies
	routes   []Endpoint
	schemas  map[string]json.RawMessage
	mux      *http.ServeMux
	document []byte
	graphs   map[string]*Graph
	calls    *limit.Limiter
	failures *limit.Limiter
	streams  atomic.Int64
	shares   shares
	//nolint:containedctx // ends when streams are to end: they belong to no call
	ending context.Context
	end    context.CancelFunc
}

// New makes a server. token is the operator's, at least 32 bytes, see [OpenToken]; a shorter one,
// and an invalid origin, are refused with CodeInvalid. The engine stays the caller's to close;
// close the http.Server first.
func New(engine *thread.Engine, token string, cfg Config) (*Server, error) {
	s := &Server{engine: engine, cfg: cfg, cross: http.NewCrossOriginProtection()}
	if err := s.SetOperatorTokens(token); err != nil {
		return nil, err
	}
	c := &s.cfg
	if c.Hosts == nil {
		c.Hosts = []string{"localhost", "127.0.0.1", "::1"}
	}
	for _, origin := range c.Origins {
		if err := s.cross.AddTrustedOrigin(origin); err != nil {
			return nil, runtime.Errorf(runtime.CodeInvalid, "new server", "%w", err)
		}
	}
	defaulted(&c.Rate, 100)
	defaulted(&c.Burst, 200)
	defaulted(&c.MaxStreams, 2000)
	defaulted(&c.Timeout, 10*time.Second)
	defaulted(&c.Patience, 2*time.Minute)
	defaulted(&c.Beat, 15*time.Second)
	defaulted(&c.MaxTokenLife, 90*24*time.Hour)
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Conversation != nil && (c.Conversation.Engine != engine ||
		c.Conversation.Machine == nil) {
		return nil, runtime.Errorf(runtime.CodeInvalid, "new server",
			"the conversation has no machine, or another engine: give it a machine of this one")
	}
	c.Programs = maps.Clone(c.Programs)
	_, err := engine.Tenant(c.OperatorTenant)
	if err != nil {
		return nil, err
	}
	if s.proxies, err = limit.ParseProxies("Config.TrustedProxies", c.TrustedProxies); err != nil {
		return nil, err
	}
	if s.graphs, err = graphs(c); err != nil {
		return nil, err
	}
	if err = s.addDoors(); err != nil {
		return nil, err
	}
	s.log = c.Log
	// [Server.HTTP] calls it; without, nothing is held but this context
	s.ending, s.end = context.WithCancel(context.Background()) //nolint:gosec // see above
	s.calls = limit.NewLimiter(c.Rate, c.Burst, c.Now)
	s.failures = limit.NewLimiter(c.Rate, c.Burst, c.Now)
	s.shares.held = map[string]int{}
	return s, s.register()
}

func defaulted[T int | float64 | time.Duration](v *T, value T) {
	if *v <= 0 {
		*v = value
	}
}

// HTTP returns an http.Server with this handler, and limits for headers and idle connections. Its
// Shutdown ends the streams, for good.
func (s *Server) HTTP(addr string) *http.Server {
	server := &http.Server{
		Addr: addr, Handler: s, ReadHeaderTimeout: min(5*time.Second, s.cfg.Timeout),
		IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10,
		ErrorLog: slog.NewLogLogger(s.log.Handler(), slog.LevelWarn),
	}
	server.RegisterOnShutdown(s.end)
	return server
}

// register makes the mux and the document from the one table of routes.
func (s *Server) register() (err error) {
	s.routes = s.table()
	s.mux = http.NewServeMux()
	for i := range s.routes {
		rt := &s.routes[i]
		s.mux.HandleFunc(rt.Method+" "+rt.Path, func(w http.ResponseWriter, r *http.Request) {
			c, _ := r.Context().Value(callKey{}).(*Call) // set by ServeHTTP
			c.w, c.r, c.route = w, r, rt
			//nolint:contextcheck // a call carries its request, and that its context
			if err := c.handle(); err != nil {
				c.refuse(err)
			}
		})
	}
	s.mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		c, _ := r.Context().Value(callKey{}).(*Call)
		c.w = w
		c.refuse(s.unknown(w, r))
	})
	s.document, err = s.describe()
	return err
}

// unknown tells a wrong path from a wrong method.
func (s *Server) unknown(w http.ResponseWriter, r *http.Request) error {
	var allowed []string
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodDelete} {
		other := r.Clone(r.Context())
		other.Method = method
		if _, pattern := s.mux.Handler(other); pattern != "/" {
			allowed = append(allowed, method)
		}
	}
	if len(allowed) == 0 {
		return ErrNotFound
	}
	w.Header().Set("Allow", strings.Join(allowed, ", "))
	return refusal(http.StatusMethodNotAllowed, runtime.CodeInvalid,
		"use "+strings.Join(allowed, " or "))
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c := &Call{s: s, w: w, r: r, id: rand.Text()}
	h := w.Header()
	h.Set("X-Request-ID", c.id)
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Security-Policy",
		"default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	defer c.Recover()
	if r.Body != http.NoBody { // net/http waits for it before it replies, whatever the reply is
		// a recorder in a test has none
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(s.cfg.Timeout))
	}
	if s.share(r, h) && s.hosted(r.Host) {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	if err := s.admit(c); err != nil {
		c.refuse(err)
		return
	}
	s.mux.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), callKey{}, c)))
}

// admit lets a request in that comes to the right host, from no foreign page, with a plain address
// and a good token.
func (s *Server) admit(c *Call) error {
	r := c.r
	if !s.hosted(r.Host) {
		return refusal(http.StatusMisdirectedRequest, runtime.CodeForbidden,
			"this server does not answer to that host name")
	}
	if err := s.cross.Check(r); err != nil {
		return refusal(http.StatusForbidden, runtime.CodeForbidden,
			"a page of another origin may not do that")
	}
	raw := r.URL.EscapedPath()
	if len(r.RequestURI) > maxURL || strings.Contains(raw, "//") || strings.Contains(raw, "..") ||
		strings.Contains(raw, "%") {
		return BadRequest(
			"the path holds what no id here holds: use letters, digits and - _ . ~, " +
				"at most 200")
	}
	for name := range r.URL.Query() {
		if strings.Contains(strings.ToLower(name), "token") ||
			strings.Contains(strings.ToLower(name), "auth") {
			return BadRequest("a token does not belong into the address: send it in the " +
				"Authorization header, and make a new one")
		}
	}
	who, err := s.authenticate(r)
	if err != nil {
		if !s.failures.Allow(s.proxies.ClientAddress(r)) {
			return errTooMany
		}
		return err
	}
	if c.engine, err = s.engine.Tenant(s.tenantOf(who)); err != nil {
		return err
	}
	if c.who = who; !s.calls.Allow(who.label()) {
		return errTooMany
	}
	return nil
}

// hosted reports whether a Host header names this server. A page can make its own name resolve to
// this address; it cannot choose the header.
func (s *Server) hosted(host string) bool {
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	name = strings.Trim(name, "[]")
	for _, own := range s.cfg.Hosts {
		if strings.EqualFold(name, strings.Trim(own, "[]")) {
			return true
		}
	}
	return false
}
