package tui

import (
	"context"
	"errors"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
	"github.com/routegen/routegen/runtime/web"
	"github.com/routegen/routegen/runtime/web/client"
)

// logged is what the log of a thread that is over has to hold.
func (r *rig) logged(id string) []string {
	r.Helper()
	told := newTeller()
	var out []string
	for row, err := range r.client.Stream(r.Context(), id, "") {
		require.NoError(r, err)
		out = append(out, formatClock(row.At)+" "+told.tell(&row))
		if row.Type == thread.EntryOver {
			break
		}
	}
	return out
}

// shownLog is the log on the screen.
func shownLog(screen string) []string {
	_, below, _ := strings.Cut(screen, "── Log")
	var out []string
	for _, l := range strings.Split(below, "\n")[1:] {
		if len(l) > 8 && l[2] == ':' && l[5] == ':' {
			out = append(out, l)
		}
	}
	return out
}

// The server ends, and comes again: the screen says so, and shows every row once.
func TestServerComesAgain(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	id := r.begin("plan", "a,b,c")
	s := r.watch(id, 120, 60, true)
	r.let("a")
	s.sees("[>] 2 b")
	r.stop()
	t.Log("\n" + s.sees("No connection (", "it is tried again by itself"))
	later := regexp.MustCompile(`try ([3-9]|\d\d)`) // who looks late sees a later one
	s.until("a third try", later.MatchString)
	r.start()
	s.loses("No connection")
	s.press(escKey, "The pause is requested.")
	r.let("b", "c")
	s.sees("How should it change?")
	s.press("d"+enterKey, "[>] 3 d")
	r.let("d")
	screen := s.sees("the thread is done: all done")
	want := r.logged(id)
	assert.Greater(t, len(want), 10)
	assert.Equal(t, want, shownLog(screen))
	s.leave()
}

// An answer that does not reach the server is kept, and is taken once when it does.
func TestAnswerWithoutServer(t *testing.T) {
	t.Parallel()
	r, id, s := watchNew(t, "name", "x")
	s.sees("  Question", "What is it called?")
	s.press(enterKey, "Your answer:")
	r.stop()
	s.sees("No connection")
	s.keys("albert" + enterKey)
	t.Log("\n" + s.sees("! The server cannot be reached. Nothing is lost", "> albert"))
	r.start()
	s.loses("No connection")
	s.sees("> albert")
	s.press(enterKey, "the thread is done: albert")
	assert.Len(t, r.history(id, thread.EntryAnswered), 1)
	s.leave()
}

// A token that ends while it is used: what was shown stays, and leaving says why.
func TestTokenEnds(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	id := r.begin("plan", "a")
	g, err := r.client.Grant(t.Context(), web.Grant{Thread: id, Actions: []string{"follow"},
		By: "ann", Expires: time.Now().Add(time.Hour).UnixMilli()})
	require.NoError(t, err)
	s := r.watchWith(client.Client{Base: r.client.Base, Token: g.Token}, id, 80, 24, true)
	s.sees("[>] 1 a")
	s.press(escKey, "Your token does not let you pause it.")
	require.NoError(t, r.client.Revoke(t.Context(), id, g.ID))
	t.Log("\n" + s.sees("The server refuses to go on", "a valid bearer token is needed", "[>] 1 a"))
	s.keys("q")
	assert.Equal(t, runtime.CodeForbidden, runtime.CodeOf(<-s.ended))
}

func TestRefusedAtOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	id := r.begin("plan", "a")
	for code, caller := range map[runtime.Code]client.Client{
		runtime.CodeForbidden:   {Base: r.client.Base, Token: "wrong"},
		runtime.CodeUnavailable: {Base: "http://127.0.0.1:1", Token: operator},
	} {
		_, err := Watch(t.Context(), Config{Client: caller, Thread: id})
		assert.Equal(t, code, runtime.CodeOf(err))
		err = Lines(t.Context(), caller, id, func(string) error { return nil }, func(string) {})
		assert.Equal(t, code, runtime.CodeOf(err))
	}
	_, err := Watch(t.Context(), Config{Client: *r.client, Thread: "nobody"})
	assert.Equal(t, runtime.CodeNotFound, runtime.CodeOf(err))
}

// A server that sends nothing any more, not even a heartbeat, counts as gone, and the reason is
// shown.
// The time is that of the test: nothing waits for it.
func TestSilence(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var told []connectionChanged
		ctx, stop := context.WithCancel(t.Context())
		caller := client.Client{HTTP: &http.Client{Transport: &connectionReporter{
			next: silentServer{}, tell: func(e connectionChanged) { told = append(told, e) },
		}}}
		time.AfterFunc(2*time.Minute, stop)
		for range caller.Stream(ctx, "x", "") {
			t.Error("a row of nothing")
		}
		up, silent := connectionChanged{up: true}, connectionChanged{why: "the server is silent"}
		assert.Equal(t, []connectionChanged{up, silent, up, silent, up}, told, "not who left it")
	})
}

// silentServer answers every request with a body that says nothing.
type silentServer struct{}

func (silentServer) RoundTrip(req *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Body: silentBody(req.Context().Done())}, nil
}

type silentBody <-chan struct{}

func (b silentBody) Read([]byte) (int, error) {
	<-b
	return 0, context.Canceled
}

func (silentBody) Close() error { return nil }

// Lines for a pipe: one a row, each once over a restart, and no escape codes.
func TestLines(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	id := r.begin("plan", "a,b\x1b[31m")
	lines := make(chan string, 100)
	lost := make(chan string, 100)
	ended := make(chan error, 1)
	go func() {
		ended <- Lines(t.Context(), *r.client, id, func(line string) error {
			lines <- line
			return nil
		}, func(why string) { lost <- why })
	}()
	first := <-lines
	r.stop()
	assert.NotEmpty(t, <-lost)
	r.start()
	r.let("a", "b\x1b[31m")
	require.NoError(t, <-ended)
	close(lines)
	got := []string{first}
	for l := range lines {
		got = append(got, l)
	}
	want := r.logged(id)
	require.Len(t, got, len(want))
	for n, l := range got {
		parts := strings.Split(l, "\t")
		require.Len(t, parts, 4, l)
		assert.Equal(t, want[n][9:], parts[3])
		assert.NotContains(t, l, "\x1b")
	}
	assert.Contains(t, strings.Join(got, "\n"), `step 2 of 2 begins: b\u001b[31m`)
}

func TestTellOnce(t *testing.T) {
	t.Parallel()
	var told []string
	tell := reportFirstFailure(func(why string) { told = append(told, why) })
	for _, e := range []connectionChanged{{up: true}, {why: "a\x1b"}, {why: "b"}, {up: true},
		{up: true},
		{why: "c"}, {why: "d"}} {
		tell(e)
	}
	assert.Equal(t, []string{`a\u001b`, "c"}, told)
}

func TestLinesEndWithTheWriter(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	id := r.begin("plan", "a")
	full := errors.New("full")
	require.ErrorIs(t, Lines(t.Context(), *r.client, id, func(string) error { return full },
		func(string) {}), full)
}
