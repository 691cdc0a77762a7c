package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/examples/multiagent/agents"
	"github.com/routegen/routegen/generated/routes"
	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/store/sqlite"
	"github.com/routegen/routegen/runtime/thread"
	"github.com/routegen/routegen/runtime/workflow"
)

// checked runs check on a store, with the shapes of a program.
func checked(t *testing.T, store string, shapes []runtime.StoredShape, args ...string) string {
	t.Helper()
	text, err := json.Marshal(shapes)
	require.NoError(t, err)
	var out, said bytes.Buffer
	p := &program{stdin: bytes.NewReader(text), stdout: &out, stderr: &said, getenv: os.Getenv}
	code := p.runCommand(t.Context(),
		slices.Concat([]string{"check", store, "--program", "-"}, args))
	require.Zero(t, code, "%s", &said)
	return out.String()
}

// without returns the shapes of a program whose record lacks a field.
func without(t *testing.T, record, field string) []runtime.StoredShape {
	t.Helper()
	out := slices.Clone(routes.StoredShapes())
	at := slices.IndexFunc(out, func(s runtime.StoredShape) bool { return s.Name == record })
	require.GreaterOrEqual(t, at, 0)
	fields := len(out[at].Fields)
	out[at].Fields = slices.DeleteFunc(slices.Clone(out[at].Fields),
		func(f runtime.StoredField) bool { return f.Name == field })
	require.Len(t, out[at].Fields, fields-1)
	return out
}

// TestCheckCountsTheThreadsOfAStore has two threads that wait, one of nodes and one of a plain
// function, and one that is done. A field that the first one holds is taken away. The numbers are
// the same of a store that is open, of a closed one and of a backup, and nothing is written.
func TestCheckCountsTheThreadsOfAStore(t *testing.T) {
	t.Parallel()
	ctx, dir := t.Context(), t.TempDir()
	file, backup := filepath.Join(dir, "work.db"), filepath.Join(dir, "backup.db")
	store, err := sqlite.Open(ctx, file, sqlite.Config{})
	require.NoError(t, err)
	waits := thread.Func("plain", func(ctx context.Context, ask bool) (string, error) {
		if !ask {
			return "done", nil
		}
		return thread.Ask[string](ctx, "go", thread.Question{Text: "Go on?",
			Plain: thread.PlainText})
	})
	program := agents.NewProgram()
	machine, err := workflow.New(program, workflow.Config{})
	require.NoError(t, err)
	engine, err := thread.Open(ctx, store, thread.Config{}, machine, waits)
	require.NoError(t, err)
	begin, err := workflow.Begin(&routes.OrchestratorRequest{Goal: "the goal", Phase: "any"})
	require.NoError(t, err)
	begin.ID = "nodes"
	for _, b := range []thread.Begin{begin, {ID: "plain", Machine: "plain", Input: true},
		{ID: "over", Machine: "plain", Input: false}} {
		started, err := engine.Start(ctx, b)
		require.NoError(t, err)
		started, err = engine.Wait(ctx, started.ID)
		require.NoError(t, err)
		t.Log(started.ID, started.Status())
	}
	require.NoError(t, store.Backup(ctx, backup))

	fewer := without(t, "OrchestratorRequest", "goal")
	const all = "2 unfinished threads: 2 go on, 0 refused\n"
	const refused = "2 unfinished threads: 1 go on, 1 refused\n\nnodes\n  /frames/0/locals/" +
		"request/goal: it is \"the goal\", and OrchestratorRequest has no such field\n"
	assert.Equal(t, all, checked(t, file, routes.StoredShapes()), "while programs have it open")
	assert.Equal(t, refused, checked(t, file, fewer))
	assert.Equal(t, refused, checked(t, backup, fewer))
	var report checkReport
	require.NoError(t, json.Unmarshal([]byte(checked(t, file, fewer, "--format", "json")), &report))
	assert.Equal(t, "threads", report.Kind)
	assert.Equal(t, []int{1, 2, 1}, []int{report.V, report.Unfinished, report.GoOn})
	require.Len(t, report.Refused, 1)
	assert.Equal(t, "nodes", report.Refused[0].Thread)

	_, err = engine.Answer(ctx, "plain", thread.Answer{Text: "yes", By: "ann"})
	require.NoError(t, err, "check does not keep programs from working")
	require.NoError(t, engine.Close(ctx))
	require.NoError(t, store.Close())
	before := snapshot(t, dir)
	assert.Equal(t, strings.Replace(all, "2 unfinished threads: 2", "1 unfinished thread: 1", 1),
		checked(t, file, routes.StoredShapes()), "of a closed store")
	assert.Equal(t, before, snapshot(t, dir), "nothing is written")
}

// snapshot reads all files of a folder.
func snapshot(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		require.NoError(t, err)
		out[e.Name()] = string(data)
	}
	return out
}
