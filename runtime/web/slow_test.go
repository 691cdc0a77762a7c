package web_test

import (
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime/web"
	"github.com/routegen/routegen/runtime/web/socket"
)

// impatient is another server on the engine of a rig, one that gives everything little time. What
// is asked of the rig itself has all of it.
func (r *rig) impatient(cfg web.Config) *web.Server {
	r.Helper()
	cfg.Log, cfg.Now = slog.New(slog.NewTextHandler(r.logs, nil)), r.clock.now
	cfg.Doors = []web.Door{socket.Door()}
	server, err := web.New(r.engine, operator, cfg)
	require.NoError(r, err)
	return server
}

// listening is a server with its limits, and how to send it something that never ends: all that
// comes back until it closes the connection.
func (r *rig) listening(server *http.Server) (
	send func(t *testing.T, text string, patience time.Duration) (string, error)) {
	r.Helper()
	l, err := (&net.ListenConfig{}).Listen(r.Context(), "tcp", "127.0.0.1:0")
	require.NoError(r, err)
	go func() { _ = server.Serve(l) }()
	r.Cleanup(func() { assert.NoError(r, server.Close()) })
	return func(t *testing.T, text string, patience time.Duration) (string, error) {
		t.Helper()
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", l.Addr().String())
		require.NoError(t, err)
		defer func() { assert.NoError(t, conn.Close()) }()
		_, err = conn.Write([]byte(text))
		require.NoError(t, err)
		require.NoError(t, conn.SetReadDeadline(time.Now().Add(patience)))
		answer, err := io.ReadAll(conn)
		return string(answer), err
	}
}

// TestSlowHeadersAndBody has headers and bodies that begin and never end, with a good token and
// without: all are closed after the time that they have, and where there is something to say it is
// said.
func TestSlowHeadersAndBody(t *testing.T) {
	t.Parallel()
	r := newRig(t, "mem", web.Config{})
	th := r.start("ask", `"x"`)
	server := r.impatient(web.Config{Timeout: 200 * time.Millisecond, Origins: []string{friend}})
	slow := r.listening(server.HTTP(""))
	// with headers that are there, only the body is late, however busy this machine is
	patient := server.HTTP("")
	patient.ReadHeaderTimeout = time.Minute
	send := r.listening(patient)
	answer, err := slow(t, "POST /v1/threads HTTP/1.1\r\nHost: localhost\r\nX-Slow: ", time.Minute)
	require.NoError(t, err, "the server keeps a connection without headers")
	assert.Empty(t, answer)
	const good, json, fixed = "Authorization: Bearer " + operator + "\r\n",
		"Content-Type: application/json\r\n", "Content-Length: 100\r\n\r\n{"
	const chunked = "Transfer-Encoding: chunked\r\n\r\n5\r\n{\"a"
	for name, c := range map[string]struct{ text, want string }{
		"body": {"POST /v1/threads HTTP/1.1\r\nHost: localhost\r\n" + good +
			json + fixed, "408"},
		"body, chunked": {"POST /v1/threads HTTP/1.1\r\nHost: localhost\r\n" + good +
			json + chunked, "408"},
		"body of text": {"POST /v1/threads HTTP/1.1\r\nHost: localhost\r\n" + good +
			"Content-Type: text/plain\r\n" + fixed, "415"},
		"no token": {"POST /v1/threads HTTP/1.1\r\nHost: localhost\r\n" + json +
			fixed, "401"},
		"no token, chunked": {"POST /v1/threads HTTP/1.1\r\nHost: localhost\r\n" + json +
			chunked, "401"},
		"wrong token": {"POST /v1/threads HTTP/1.1\r\nHost: " +
			"localhost\r\nAuthorization: Bearer wrong\r\n" + json + fixed, "401"},
		"wrong host": {"POST /v1/threads HTTP/1.1\r\nHost: evil.test\r\n" + good +
			json + fixed, "421"},
		"foreign page": {"POST /v1/threads HTTP/1.1\r\nHost: " +
			"localhost\r\nOrigin: https://evil.test\r\n" + good + json + fixed, "403"},
		"preflight with a body": {"OPTIONS /v1/threads HTTP/1.1\r\nHost: " +
			"localhost\r\nOrigin: " + friend + "\r\nAccess-Control-Request-Method: POST\r\n" +
			fixed, "204"},
		"nothing there": {"POST /v1/nothing HTTP/1.1\r\nHost: localhost\r\n" + good +
			json + fixed, "404"},
		"a method that is not": {"PUT /v1/threads HTTP/1.1\r\nHost: localhost\r\n" + good +
			json + fixed, "405"},
		"GET with a body": {"GET /v1/threads HTTP/1.1\r\nHost: localhost\r\n" + good +
			fixed, "408"},
		"GET with a body, no token": {"GET /v1/threads HTTP/1.1\r\nHost: localhost\r\n" + fixed,
			"401"},
		"DELETE with a body": {"DELETE /v1/threads/" + th.ID +
			"/tokens/x HTTP/1.1\r\nHost: localhost\r\n" + good + chunked, "408"},
		"stream with a body": {"GET /v1/stream HTTP/1.1\r\nHost: localhost\r\n" + good +
			fixed, "408"},
		"stream with a body, chunked": {"GET /v1/threads/" + th.ID +
			"/stream HTTP/1.1\r\nHost: localhost\r\n" + good + chunked, "408"},
		"socket with a body": {"GET /v1/ws HTTP/1.1\r\nHost: localhost\r\nConnection: " +
			"Upgrade\r\nUpgrade: websocket\r\n" + good + fixed, "408"},
		"token in the address, a body": {"POST /v1/threads?token=x HTTP/1.1\r\n" +
			"Host: localhost\r\n" + json + fixed, "400"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			answer, err := send(t, c.text, time.Minute)
			require.NoError(t, err, "the server keeps the connection")
			assert.True(t, strings.HasPrefix(answer, "HTTP/1.1 "+c.want+" "), answer)
		})
	}
}

// TestWithoutADeadlineItIsHeld is the control: where the handler cannot set deadlines, a body
// that never ends is waited for, long after its time.
func TestWithoutADeadlineItIsHeld(t *testing.T) {
	t.Parallel()
	r := newRig(t, "mem", web.Config{})
	server := r.impatient(web.Config{Timeout: 200 * time.Millisecond})
	blind := server.HTTP("")
	blind.ReadHeaderTimeout = time.Minute
	blind.Handler = http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		server.ServeHTTP(struct{ http.ResponseWriter }{w}, q)
	})
	send := r.listening(blind)
	_, err :=
		send(t, "POST /v1/threads HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{",
			2*time.Second)
	require.ErrorIs(t, err, os.ErrDeadlineExceeded)
}

// TestABodyThatIsNotTakenIsLetGo has bodies that arrive where none is wanted: the calls do what
// they do, and a stream goes on when the time that the body had is over.
func TestABodyThatIsNotTakenIsLetGo(t *testing.T) {
	t.Parallel()
	r := newRig(t, "mem", web.Config{Timeout: 2 * time.Second, Beat: time.Second})
	th := r.start("ask", `"x"`)
	r.try(operator, http.MethodGet, "/v1/threads/"+th.ID, `{"a":1}`).is(200)
	r.try(operator, http.MethodGet, "/v1/threads", strings.Repeat("x", 300<<10)).is(413)
	_, in := r.raw("GET /v1/stream HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " +
		operator + "\r\nContent-Length: 2\r\n\r\n{}")
	for beats := 0; beats < 3; {
		line, err := in.ReadString('\n')
		require.NoError(t, err)
		if strings.HasPrefix(line, ": still here") {
			beats++
		}
	}
}
