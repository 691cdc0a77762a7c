//go:build unix

package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/hinshun/vt10x"
	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime/planner"
	"github.com/routegen/routegen/runtime/store/postgrestest"
	"github.com/routegen/routegen/runtime/store/sqlite"
	"github.com/routegen/routegen/runtime/thread"
	"github.com/routegen/routegen/runtime/web"
	"github.com/routegen/routegen/runtime/web/control"
)

// TestMain lets scripts and tests run the program as a command.
func TestMain(m *testing.M) {
	testscript.Main(withServer{m}, map[string]func(){"routegen-threads": main})
}

// withServer stops the PostgreSQL server that tests have shared.
type withServer struct{ m *testing.M }

func (s withServer) Run() int { return postgrestest.Run(s.m) }

func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script", RequireExplicitExec: true, RequireUniqueNames: true,
	})
}

// watchedServer is a server on SQLite with a plan that waits at its first step.
type watchedServer struct {
	address   string // of the thread
	tokenFile string
	token     string
	engine    *thread.Engine
	thread    string
	release   chan struct{}
}

func newWatchedServer(t *testing.T) *watchedServer {
	t.Helper()
	w := &watchedServer{tokenFile: filepath.Join(t.TempDir(), "token"),
		release: make(chan struct{})}
	plans, err := planner.New(planner.Config{
		Plan: func(_ context.Context, goal string) ([]string, error) {
			return strings.Split(goal, ","), nil
		},
		Execute: func(ctx context.Context, _ *planner.Plan, step string) (string, error) {
			select {
			case <-w.release:
				return step + " done", nil
			case <-ctx.Done():
				return "", ctx.Err()
			}
		},
		Replan: func(_ context.Context, p *planner.Plan, modification string) (planner.Replanned,
			error) {
			switch {
			case modification != "":
				return planner.Replanned{Steps: strings.Split(modification, ",")}, nil
			case len(p.Steps) > 0:
				return planner.Replanned{Steps: p.Steps}, nil
			}
			return planner.Replanned{Done: true, Answer: "all done"}, nil
		},
	})
	require.NoError(t, err)
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "threads.db"),
		sqlite.Config{})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, store.Close()) })
	w.engine, err = thread.Open(t.Context(), store, thread.Config{}, plans)
	require.NoError(t, err)
	t.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		assert.NoError(t, w.engine.Close(ctx))
	})
	w.token, err = web.OpenToken(w.tokenFile)
	require.NoError(t, err)
	server, err := web.New(w.engine, w.token, web.Config{Doors: []web.Door{control.Plans()}})
	require.NoError(t, err)
	front := httptest.NewServer(server)
	t.Cleanup(front.Close)
	t.Cleanup(front.CloseClientConnections)
	started, err := w.engine.Start(t.Context(),
		thread.Begin{Machine: planner.Name, Input: "a,b", User: "ann"})
	require.NoError(t, err)
	w.thread = started.ID
	w.address = front.URL + "/v1/threads/" + started.ID
	return w
}

// run starts the program with an environment of its own.
func (w *watchedServer) run(t *testing.T, env []string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "routegen-threads",
		append([]string{"watch", w.address}, args...)...)
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir()}, env...)
	return cmd
}

// TestWatchOnATerminal drives the program through a pseudo-terminal: it watches, pauses, changes
// the plan, and leaves.
func TestWatchOnATerminal(t *testing.T) {
	t.Parallel()
	w := newWatchedServer(t)
	cmd := w.run(t, []string{"TERM=xterm-256color", "NO_COLOR=1"}, "--token-file", w.tokenFile,
		"--by", "bob")
	terminal, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 24, Cols: 80})
	require.NoError(t, err)
	defer func() { _ = terminal.Close() }()
	// of a letter a terminal may give a part only, and the rest later
	screen, in := vt10x.New(vt10x.WithSize(80, 24)), bufio.NewReader(terminal)
	require.NoError(t, terminal.SetReadDeadline(time.Now().Add(3*time.Minute)))
	sees := func(words ...string) {
		t.Helper()
		for {
			missing := ""
			for _, word := range words {
				if !strings.Contains(screen.String(), word) {
					missing = word
				}
			}
			if missing == "" {
				return
			}
			require.NoError(t, screen.Parse(in), "not seen: %s\n%s", missing, screen.String())
		}
	}
	keys := func(text string) {
		t.Helper()
		_, err := terminal.WriteString(text)
		require.NoError(t, err)
	}
	sees("Plan: 0 of 2 done", "[>] 1 a", "Esc pause")
	keys("\x1b")
	sees("The pause is requested.", "bob asked for a pause")
	close(w.release)
	sees("The work is paused", "The plan: 1 of 2 done", "How should it change?")
	keys("c,d\r")
	sees("the plan is changed: c,d", "the thread is done: all done", "done · thread "+w.thread)
	keys("q")
	_, _ = io.Copy(io.Discard, terminal)
	require.NoError(t, cmd.Wait())
}

// Where the output is no terminal there is one line a row, until the thread is over.
func TestWatchPrintsLinesIntoAPipe(t *testing.T) {
	t.Parallel()
	w := newWatchedServer(t)
	cmd := w.run(t, []string{"TERM=xterm-256color", "ROUTEGEN_TOKEN=" + w.token})
	var out, complaints bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaints
	require.NoError(t, cmd.Start())
	close(w.release)
	require.NoError(t, cmd.Wait(), complaints.String())
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	rows, err := w.engine.History(t.Context(), w.thread, 0, 1000)
	require.NoError(t, err)
	last := rows[len(rows)-1]
	assert.Regexp(t, `^1\t\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\tstarted\tann started the thread$`,
		lines[0])
	assert.Equal(t, []string{string(last.Type), "the thread is done: all done"},
		strings.Split(lines[len(lines)-1], "\t")[2:])
	assert.NotContains(t, out.String(), "\x1b")
	assert.Empty(t, complaints.String())
}

// A stream that ends because the program was told to end is no failure, and a server that is gone
// is one at the start only.
func TestWatchEndsWhenInterrupted(t *testing.T) {
	t.Parallel()
	w := newWatchedServer(t)
	var out, complaints bytes.Buffer
	ctx, stop := context.WithCancel(t.Context())
	p := &program{stdin: &bytes.Buffer{}, stdout: writerFunc(func(text []byte) (int, error) {
		stop()
		return out.Write(text)
	}), stderr: &complaints, getenv: func(name string) string {
		return map[string]string{"ROUTEGEN_TOKEN": w.token}[name]
	}}
	assert.Zero(t, p.runCommand(ctx, []string{"watch", w.address}))
	assert.Contains(t, out.String(), "started the thread")
	p.stdout = writerFunc(func([]byte) (int, error) { return 0, errors.New("disk full") })
	assert.Equal(t, exitFailed, p.runCommand(t.Context(), []string{"watch", w.address}))
	assert.Contains(t, complaints.String(), "disk full")
}

type writerFunc func(text []byte) (int, error)

func (f writerFunc) Write(text []byte) (int, error) { return f(text) }

func TestInTheClear(t *testing.T) {
	t.Parallel()
	for base, want := range map[string]bool{
		"http://127.0.0.1:1": false, "http://[::1]:1": false, "http://localhost": false,
		"https://example.com": false,
		"http://example.com":  true, "http://10.0.0.1": true,
	} {
		assert.Equal(t, want, inTheClear(base), base)
	}
}

func TestParseThread(t *testing.T) {
	t.Parallel()
	base, id, err := parseThread("https://example.com/deep/v1/threads/a-1")
	require.NoError(t, err)
	assert.Equal(t, []string{"https://example.com/deep", "a-1"}, []string{base.String(), id})
	for _, wrong := range []string{
		"", "a-1", "example.com/v1/threads/a", "ftp://example.com/v1/threads/a",
		"http://example.com/v1/threads/", "http://example.com/v1/threads/a/stream",
		"http://example.com/v1/threads/a?token=secret", "http://me:secret@example.com/v1/threads/a",
		"http://example.com/v1/threads/a#secret", "http://[secret",
	} {
		_, _, err := parseThread(wrong)
		require.ErrorContains(t, err, "http://127.0.0.1:8080/v1/threads/ID", wrong)
		assert.NotContains(t, err.Error(), "secret", "it may be a token")
	}
}
