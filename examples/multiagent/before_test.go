package main

import (
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/examples/internal/scripted"
	"github.com/routegen/routegen/examples/multiagent/agents"
	"github.com/routegen/routegen/runtime/prompt"
	"github.com/routegen/routegen/runtime/store/sqlite"
	"github.com/routegen/routegen/runtime/thread"
	"github.com/routegen/routegen/runtime/workflow"
	"github.com/routegen/routegen/templates"
)

// TestThreadOfBefore opens a file that this program wrote with earlier generated code, up to its
// first question. It is still read: the answer is taken, and the thread comes to its next question.
func TestThreadOfBefore(t *testing.T) {
	t.Parallel()
	packed, err := os.Open("testdata/work.db.gz")
	require.NoError(t, err)
	defer func() { assert.NoError(t, packed.Close()) }()
	unpacked, err := gzip.NewReader(packed)
	require.NoError(t, err)
	text, err := io.ReadAll(unpacked)
	require.NoError(t, err)
	db := filepath.Join(t.TempDir(), "work.db")
	require.NoError(t, os.WriteFile(db, text, 0o600))

	model, err := scripted.Model("", script)
	require.NoError(t, err)
	program := agents.NewProgram()
	prompts, err := prompt.New(&program, templates.Prompts(nil))
	require.NoError(t, err)
	machine, err := workflow.New(program, workflow.Config{Model: model, Prompts: prompts})
	require.NoError(t, err)
	store, err := sqlite.Open(t.Context(), db, sqlite.Config{})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, store.Close()) })
	engine, err := thread.Open(t.Context(), store, thread.Config{}, machine)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, engine.Close(t.Context())) })
	before, err := engine.Thread(t.Context(), "work")
	require.NoError(t, err)
	require.Len(t, before.Open, 1)
	question := before.Open[0].ID
	_, err = engine.Answer(t.Context(), "work",
		thread.Answer{Interrupt: question, Text: "go on", By: "you"})
	require.NoError(t, err)
	after, err := engine.Wait(t.Context(), "work")
	require.NoError(t, err)
	assert.Greater(t, after.Version, before.Version)
	for _, open := range after.Open {
		assert.NotEqual(t, question, open.ID)
	}
}
