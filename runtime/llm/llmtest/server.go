package llmtest

import (
	"io"
	"maps"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/routegen/routegen/runtime/llm"
	"github.com/routegen/routegen/runtime/schema"
)

// TB is what a [Server] needs of a test.
type TB interface {
	Helper()
	Errorf(format string, args ...any)
	Cleanup(f func())
}

// Answer is one line of a server's script. The zero value is an empty reply, which no adapter
// takes.
type Answer struct {
	Text     string
	Calls    []llm.ToolCall
	Thinking string // Anthropic only: said before calls, and wanted back with their results
	Refusal  string // the reply is a refusal that says this
	Category string // of the refusal; with OpenAI only "content_filter"
	// one of the reasons of [llm.StopError], or the provider's own word; "" for a reply that is
	// whole
	Stop  string
	Usage llm.Usage

	Status     int           // an error instead of a reply
	Type       string        // of the error: "rate_limit_error"
	RetryAfter time.Duration // with any status; to the millisecond, which both clients read
	Body       string        // sent as it stands instead of all that, with ContentType
	Content    string        // type of Body; default application/json
	Hang       bool          // no answer until the client gives up, or the test ends

	Arrived func() // called when the request has come, before it is answered
}

// Received is a request as it came.
type Received struct {
	Path   string
	Header http.Header
	Body   *schema.Value // in its order; nil for what is not JSON
	Fault  string        // the rule that it breaks; "" when it breaks none
}

// Server is both providers on this machine. Each request that breaks no rule gets the next answer.
// Safe for concurrent use.
type Server struct {
	tb     TB
	http   *httptest.Server
	closed chan struct{}
	once   sync.Once

	mu       sync.Mutex
	left     []Answer
	received []Received
	expected []string
	thoughts map[string]string // by the id of each call after it
	made     int
}

// NewServer starts a server with a script, and stops it when the test ends. A request after the end
// of the script, and an answer that was not asked for, fail the test.
func NewServer(tb TB, script ...Answer) *Server {
	tb.Helper()
	s := &Server{tb: tb, left: slices.Clone(script), closed: make(chan struct{}),
		thoughts: map[string]string{}}
	s.http = httptest.NewServer(http.HandlerFunc(s.handleRequest))
	tb.Cleanup(func() {
		tb.Helper()
		s.Close()
		if n := len(s.left); n > 0 {
			tb.Errorf("%d answers of the script were not asked for", n)
		}
	})
	return s
}

// Close stops the server before the test ends, as a provider that is down, and ends hanging
// requests. It may be called more than once.
func (s *Server) Close() {
	s.once.Do(func() { close(s.closed) })
	s.http.Close()
}

// OpenAI returns the base URL for OpenAI's client.
func (s *Server) OpenAI() string { return s.http.URL + "/v1" }

// Anthropic returns the base URL for Anthropic's client.
func (s *Server) Anthropic() string { return s.http.URL }

// HTTPClient returns an HTTP client whose connections end with the server.
func (s *Server) HTTPClient() *http.Client { return s.http.Client() }

// Expect names the schemas that may come, of replies and of tools. From then on any other one is
// refused, and so is one of them with its keys in another order.
func (s *Server) Expect(schemas ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, text := range schemas {
		if v, err := schema.Parse([]byte(text)); err == nil {
			text = v.String()
		}
		s.expected = append(s.expected, text)
	}
}

// Received returns the requests so far, those that broke a rule too.
func (s *Server) Received() []Received {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.received)
}

// protocol is that of one provider.
type protocol interface {
	credential(h http.Header) string             // the credential; "" is refused
	checkRequest(c *checker, body *schema.Value) // finds faults
	// of an answer that is not an error
	replyBody(a *Answer, id, model string) (body string)
	errorBody(kind, message string) (body string) // of an error
}

func (s *Server) handleRequest(w http.ResponseWriter, r *http.Request) {
	defer func() { _ = r.Body.Close() }()
	data, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client is gone
	}
	var p protocol
	switch r.URL.Path {
	case "/v1/chat/completions":
		p = openAI{}
	case "/v1/messages":
		p = anthropic{}
	default:
		http.Error(w, "no such path", http.StatusNotFound)
		return
	}
	body, err := schema.Parse(data)
	c := &checker{server: s}
	switch {
	case r.Method != http.MethodPost:
		c.faultf("the method is %s", r.Method)
	case err != nil:
		c.faultf("the body is not JSON as it should be: %s", err)
	default:
		p.checkRequest(c, body)
	}
	s.mu.Lock()
	s.received = append(s.received, Received{Path: r.URL.Path, Header: r.Header.Clone(), Body: body,
		Fault: c.first})
	s.mu.Unlock()
	switch {
	case p.credential(r.Header) == "":
		writeBody(w, http.StatusUnauthorized, p.errorBody("authentication_error", "no key"), nil)
	case c.first != "":
		writeBody(w, http.StatusBadRequest, p.errorBody("invalid_request_error", c.first), nil)
	default:
		s.sendAnswer(w, r, p, stringOf(body.Get("model")))
	}
}

func (s *Server) sendAnswer(w http.ResponseWriter, r *http.Request, p protocol, model string) {
	a, id, ok := s.nextAnswer()
	if !ok {
		s.tb.Errorf("the script is over, and %s was asked once more", r.URL.Path)
		writeBody(w, http.StatusBadRequest,
			p.errorBody("invalid_request_error", "the script is over"),
			http.Header{"X-Should-Retry": {"false"}})
		return
	}
	if a.Arrived != nil {
		a.Arrived()
	}
	h := http.Header{"X-Request-Id": {"req_" + id}, "Request-Id": {"req_" + id}}
	if a.RetryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(int(math.Ceil(a.RetryAfter.Seconds()))))
		h.Set("Retry-After-Ms", strconv.FormatInt(a.RetryAfter.Milliseconds(), 10))
	}
	switch {
	case a.Hang:
		select {
		case <-r.Context().Done():
		case <-s.closed:
		}
	case a.Body != "":
		if a.Content != "" {
			h.Set("Content-Type", a.Content)
		}
		writeBody(w, max(a.Status, http.StatusOK), a.Body, h)
	case a.Stop == llm.StopContext && p == protocol(openAI{}): // its reply is an error then
		writeBody(w, http.StatusBadRequest, p.errorBody("context_length_exceeded", "too long"), h)
	case a.Status != 0:
		writeBody(w, a.Status, p.errorBody(a.Type, "scripted: sk-secret-in-a-message"), h)
	default:
		writeBody(w, http.StatusOK, p.replyBody(&a, id, model), h)
	}
}

// nextAnswer takes an answer out of the script, with ids for its calls that no other answer has.
func (s *Server) nextAnswer() (a Answer, id string, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.left) == 0 {
		return Answer{}, "", false
	}
	a, s.left = s.left[0], s.left[1:]
	s.made++
	id = strconv.Itoa(s.made)
	a.Calls = fillCalls("call_"+id, a.Calls)
	for _, call := range a.Calls {
		s.thoughts[call.ID] = a.Thinking
	}
	return a, id, true
}

func writeBody(w http.ResponseWriter, status int, body string, h http.Header) {
	w.Header().Set("Content-Type", "application/json")
	maps.Copy(w.Header(), h)
	w.WriteHeader(status)
	_, _ = io.WriteString(w, body) // the client may be gone
}
