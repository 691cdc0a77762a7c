package socket_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime/store/mem"
	"github.com/routegen/routegen/runtime/thread"
	"github.com/routegen/routegen/runtime/web"
	"github.com/routegen/routegen/runtime/web/client"
	"github.com/routegen/routegen/runtime/web/socket"
)

const operator = "operator-canary-0123456789abcdef0123456789"

// server is an engine whose threads ask for a yes, with a server that has sockets.
type server struct {
	*testing.T
	*client.Client
}

func newServer(t *testing.T, cfg web.Config) *server {
	t.Helper()
	t.Parallel()
	engine, err := thread.Open(t.Context(), mem.Open(), thread.Config{},
		thread.Func("yes", func(ctx context.Context, _ string) (bool, error) {
			return thread.Ask[bool](ctx, "yes", thread.Question{Plain: thread.PlainYesNo})
		}))
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, engine.Close(context.Background())) })
	cfg.Doors = []web.Door{socket.Door()}
	handler, err := web.New(engine, operator, cfg)
	require.NoError(t, err)
	front := httptest.NewServer(handler)
	t.Cleanup(front.Close)
	return &server{t, &client.Client{Base: front.URL, Token: operator}}
}

// asking starts a thread and returns its question.
func (s *server) asking() (i web.Interrupt) {
	s.Helper()
	th, err := s.Start(s.Context(), "yes", "", "", "ann", "")
	require.NoError(s, err)
	require.Eventually(s, func() bool {
		th, err = s.Thread(s.Context(), th.ID)
		require.NoError(s, err)
		return len(th.Open) == 1
	}, time.Minute, time.Millisecond)
	return th.Open[0]
}

// dial opens a socket; headers are pairs. It returns the status, which is 101 of an accepted one.
func (s *server) dial(token string, headers ...string) (*websocket.Conn, *http.Response) {
	s.Helper()
	options := &websocket.DialOptions{HTTPHeader: http.Header{}}
	if token != "" {
		options.HTTPHeader.Set("Authorization", "Bearer "+token)
	}
	for n := 0; n < len(headers); n += 2 {
		switch value := headers[n+1]; headers[n] {
		case "Host":
			options.Host = value
		case "Sec-WebSocket-Protocol":
			options.Subprotocols = strings.Split(value, ", ")
		default:
			options.HTTPHeader.Set(headers[n], value)
		}
	}
	conn, res, err := websocket.Dial(s.Context(), s.Base+"/v1/ws", options)
	if err == nil {
		s.Cleanup(func() { _ = conn.CloseNow() })
	}
	require.NotNil(s, res, "%v", err)
	return conn, res
}

// ask sends a message and returns the reply; rows are passed over.
func (s *server) ask(conn *websocket.Conn, kind, thread, more string) string {
	s.Helper()
	require.NoError(s, conn.Write(s.Context(), websocket.MessageText, fmt.Appendf(nil,
		`{"type":%q,"payload":{"thread_id":%q%s},"id":"1"}`, kind, thread, more)))
	for {
		_, data, err := conn.Read(s.Context())
		require.NoError(s, err)
		if !bytes.HasPrefix(data, []byte(`{"type":"row"`)) {
			return string(data)
		}
	}
}

// A socket is opened with a token, in a header or among the subprotocols, by a page of this origin
// or of one that is named.
func TestWhoMayOpenASocket(t *testing.T) {
	s := newServer(t, web.Config{Origins: []string{"https://app.example.com"}})
	for _, c := range []struct {
		token   string
		headers []string
		status  int
	}{
		{operator, nil, 101},
		{"", nil, 401},
		{"wrong", nil, 401},
		{"", []string{"Sec-WebSocket-Protocol", "routegen, bearer." + operator}, 101},
		{"", []string{"Sec-WebSocket-Protocol", "routegen, bearer.wrong"}, 401},
		{operator, []string{"Origin", s.Base}, 101},
		{operator, []string{"Origin", "https://app.example.com"}, 101},
		{operator, []string{"Origin", "https://evil.test"}, 403},
		{operator, []string{"Origin", "null"}, 403},
		// a name that was made to resolve to this address
		{operator, []string{"Host", "evil.test", "Origin", "http://evil.test"}, 421},
	} {
		_, res := s.dial(c.token, c.headers...) //nolint:bodyclose // the library has read it
		assert.Equal(t, c.status, res.StatusCode, "%v", c.headers)
		assert.NotContains(t, res.Header.Get("Sec-WebSocket-Protocol"), "bearer",
			"the token is not sent back")
	}
}

// A capability token is for its thread, its actions and in its name, and as long as it is valid.
func TestATokenOnASocket(t *testing.T) {
	s := newServer(t, web.Config{})
	a, b := s.asking(), s.asking()
	grant := func(g web.Grant) *web.Grant {
		g.By, g.Expires = "ann", time.Now().Add(time.Hour).UnixMilli()
		made, err := s.Grant(t.Context(), g)
		require.NoError(t, err)
		return made
	}
	g := grant(web.Grant{Thread: a.Thread, Actions: []string{"follow", "answer"}})
	conn, _ := s.dial(g.Token) //nolint:bodyclose // an accepted socket has none
	assert.Contains(t, s.ask(conn, "thread_context", b.Thread, ""), "not_found")
	assert.Contains(t, s.ask(conn, "interrupt", a.Thread, ""), "forbidden")
	assert.Contains(t, s.ask(conn, "resume", a.Thread, `,"user_input":"yes","user_id":"eve"`),
		`"success":true`)
	i, err := s.Interrupt(t.Context(), a.ID)
	require.NoError(t, err)
	assert.Equal(t, "ann", i.AnsweredBy)
	require.NoError(t, s.Revoke(t.Context(), a.Thread, g.ID))
	assert.Contains(t, s.ask(conn, "thread_context", a.Thread, ""), "forbidden")
	bound := grant(web.Grant{Thread: b.Thread, Actions: []string{"follow"}, Interrupt: b.ID})
	_, res := s.dial(bound.Token) //nolint:bodyclose // the library has read it
	assert.Equal(t, 403, res.StatusCode)
}

func TestFramesThatAreTooLargeOrTooMany(t *testing.T) {
	s := newServer(t, web.Config{Rate: 0.001, Burst: 20})
	conn, _ := s.dial(operator) //nolint:bodyclose // an accepted socket has none
	_ = conn.Write(t.Context(), websocket.MessageText, bytes.Repeat([]byte("x"), 1<<20))
	_, _, err := conn.Read(t.Context())
	assert.Equal(t, websocket.StatusMessageTooBig, websocket.CloseStatus(err))

	conn, _ = s.dial(operator) //nolint:bodyclose // an accepted socket has none
	for err = nil; err == nil; _, _, err = conn.Read(t.Context()) {
		if conn.Write(t.Context(), websocket.MessageText, []byte(`{}`)) != nil {
			break
		}
	}
	for err == nil {
		_, _, err = conn.Read(t.Context())
	}
	assert.Equal(t, websocket.StatusPolicyViolation, websocket.CloseStatus(err))
}

// Sockets that read nothing, not even a ping, hold all places for a bounded time, and calls go on
// all the while. One that reads, and so answers the pings, keeps its place.
func TestSocketsThatNeverReadLoseTheirPlaces(t *testing.T) {
	const places = 10
	s := newServer(t, web.Config{MaxStreams: places, Beat: time.Second, Timeout: 3 * time.Second,
		Rate: 1e6, Burst: 1e6})
	i := s.asking()
	reads, _ := s.dial(operator) //nolint:bodyclose // an accepted socket has none
	replies := make(chan string, 100)
	go func() {
		defer close(replies)
		for {
			_, data, err := reads.Read(context.WithoutCancel(t.Context()))
			if err != nil {
				return
			}
			replies <- string(data)
		}
	}()
	for range places - 1 {
		_, res := s.dial(operator) //nolint:bodyclose // an accepted socket has none
		require.Equal(t, 101, res.StatusCode)
	}
	_, res := s.dial(operator) //nolint:bodyclose // the library has read it
	assert.Equal(t, 503, res.StatusCode)
	_, err := s.Answer(t.Context(), thread.Answer{Interrupt: i.ID, Text: "yes"})
	require.NoError(t, err)
	for range places - 1 {
		require.Eventually(t, func() bool {
			_, res := s.dial(operator) //nolint:bodyclose // the library has read it
			return res.StatusCode == http.StatusSwitchingProtocols
		}, 3*time.Minute, 100*time.Millisecond)
	}
	require.NoError(t, reads.Write(t.Context(), websocket.MessageText, []byte(`{}`)))
	assert.Contains(t, <-replies, `"type":"error"`, "it is served, and was not cut")
}
