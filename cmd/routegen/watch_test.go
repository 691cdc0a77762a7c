package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/generator"
)

// looker is a watch under test. The channel of ticks has no room: once a second tick is taken, what the first one led to is done.
type looker struct {
	t     *testing.T
	dir   string
	ticks chan time.Time
	out   bytes.Buffer // both outputs; read between two ticks only
	ended chan error
	stop  context.CancelFunc
}

func startWatch(t *testing.T) *looker {
	t.Helper()
	w := &looker{t: t, dir: t.TempDir(), ticks: make(chan time.Time), ended: make(chan error, 1)}
	p := &program{stdout: &w.out, stderr: &w.out, getenv: func(string) string { return "" }, generate: generator.Generate, disk: openDisk}
	require.Zero(t, p.run(t.Context(), []string{"-C", w.dir, "init", "-q"}))
	p.opts = options{dir: w.dir, color: "never", format: "text", maxErrors: 20}
	ctx, stop := context.WithCancel(t.Context())
	w.stop = stop
	go func() { w.ended <- p.watch(ctx, w.ticks, generateFlags{noVerify: true}) }()
	return w
}

// look lets the watch look n times and returns what it has said since the last call.
func (w *looker) look(n int) string {
	w.t.Helper()
	for range n + 1 { // the last one is taken when the one before is dealt with
		w.ticks <- time.Time{}
	}
	said := w.out.String()
	w.out.Reset()
	return said
}

func (w *looker) spec() string { return filepath.Join(w.dir, "routes.yaml") }

// edit replaces the spec.
func (w *looker) edit(old, now string) {
	w.t.Helper()
	text, err := os.ReadFile(w.spec())
	require.NoError(w.t, err)
	changed := strings.Replace(string(text), old, now, 1)
	require.NotEqual(w.t, string(text), changed)
	require.NoError(w.t, os.WriteFile(w.spec(), []byte(changed), 0o600))
}

func (w *looker) generated() string {
	w.t.Helper()
	text, err := os.ReadFile(filepath.Join(w.dir, "generated/routes/handlers_gen.go"))
	require.NoError(w.t, err)
	return string(text)
}

func TestWatch(t *testing.T) {
	t.Parallel()
	w := startWatch(t)
	said := w.look(2)
	assert.Contains(t, said, "21 files written or removed")
	assert.Contains(t, said, "watching ")
	assert.Empty(t, w.look(5), "nothing changes, nothing is said")

	w.edit("Takes the goal,", "Takes one goal,")
	said = w.look(3)
	assert.Contains(t, said, "has changed")
	assert.Contains(t, w.generated(), "Takes one goal,")
	assert.Empty(t, w.look(3))

	w.edit("version: 1", "version: 1\nwrong: yes")
	said = w.look(3)
	assert.Contains(t, said, `unknown key "wrong"`)
	assert.Contains(t, said, "nothing was written. The files of the last good state stay as they are")
	assert.Contains(t, w.generated(), "Takes one goal,")
	assert.Empty(t, w.look(3), "a mistake is told once")

	w.edit("\nwrong: yes", "")
	assert.Contains(t, w.look(3), "21 files unchanged", "what was there before is good again")

	require.NoError(t, os.Remove(w.spec()))
	assert.Empty(t, w.look(3), "a file that is being replaced is waited for")

	w.stop()
	require.NoError(t, <-w.ended)
	assert.Contains(t, w.out.String(), "no longer watching")
}

// A text is acted on when two looks in a row have seen it: never a half-saved one.
func TestWatchedSettles(t *testing.T) {
	t.Parallel()
	var w watched
	for i, look := range []struct {
		text string
		err  error
		want bool
	}{
		{text: "a"},
		{text: "a", want: true},
		{text: "a"},
		{text: "a half"},
		{text: "a half save"},
		{text: "a whole save"},
		{err: errors.New("gone")},
		{text: "a whole save", want: true},
		{text: "b"},
		{text: "a whole save"},
		{text: "a whole save"},
	} {
		assert.Equal(t, look.want, w.settled([]byte(look.text), look.err), "look %d", i)
	}
}

func TestWatchWithoutASpec(t *testing.T) {
	t.Parallel()
	p := &program{stdout: &bytes.Buffer{}, stderr: &bytes.Buffer{}, opts: options{dir: t.TempDir()}}
	require.ErrorContains(t, p.watch(t.Context(), nil, generateFlags{}), "no routes.yaml in")
}
