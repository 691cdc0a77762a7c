package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/examples/internal/scripted"
	"github.com/routegen/routegen/examples/multiagent/agents"
	"github.com/routegen/routegen/generated/routes"
	"github.com/routegen/routegen/generator"
	"github.com/routegen/routegen/generator/plan"
	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/prompt"
	"github.com/routegen/routegen/runtime/store/sqlite"
	"github.com/routegen/routegen/runtime/thread"
	"github.com/routegen/routegen/runtime/workflow"
	"github.com/routegen/routegen/templates"
)

// shapesOf are the stored shapes of this folder's spec after an edit.
func shapesOf(t *testing.T, text, with string) []runtime.StoredShape {
	t.Helper()
	src, err := os.ReadFile("../../routes.yaml")
	require.NoError(t, err)
	require.Contains(t, string(src), text)
	r := generator.Plan("routes.yaml", []byte(strings.Replace(string(src), text, with, 1)))
	require.NotNil(t, r.Plan, "%+v", r.Findings)
	return plan.Shapes(r.Plan)
}

// TestWorkOfAnotherSpec leaves work in a file while a person is asked, and comes back with a
// program of another spec: where what is stored cannot be read any more, the answer is refused and
// nothing is touched; where it can, the work goes on.
func TestWorkOfAnotherSpec(t *testing.T) {
	t.Parallel()
	const field = "      curation: {type: PlanningCuration, doc: What planning left for later " +
		"phases.}\n"
	same := shapesOf(t, "", "")
	assert.Equal(t, same, routes.StoredShapes(), "the generated table is that of the spec")
	for name, c := range map[string]struct {
		shapes  []runtime.StoredShape
		refused string
	}{
		"the same spec": {same, ""},
		"an optional more": {shapesOf(t, field, field+"      remark: {type: string, optional: "+
			"true, doc: What was noticed.}\n"), ""},
		"a field less": {shapesOf(t, "      selectionRationale: {type: string, doc: Why this "+
			"curation was handed on.}\n", ""), "DiscoveryCollectorContext.selectionRationale"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := filepath.Join(t.TempDir(), "work.db")
			model, err := scripted.Model("", script)
			require.NoError(t, err)
			var out bytes.Buffer
			require.NoError(t, run(t.Context(), strings.NewReader(""), &out, db,
				"Add rate limiting to the public API", model))

			program := agents.NewProgram()
			prompts, err := prompt.New(&program, templates.Prompts(nil))
			require.NoError(t, err)
			machine, err := workflow.New(program, workflow.Config{Model: model, Prompts: prompts})
			require.NoError(t, err)
			store, err := sqlite.Open(t.Context(), db, sqlite.Config{})
			require.NoError(t, err)
			t.Cleanup(func() { assert.NoError(t, store.Close()) })
			engine, err := thread.Open(t.Context(), store,
				thread.Config{Kinds: program.Tables.Kinds, Shapes: c.shapes}, machine)
			require.NoError(t, err)
			t.Cleanup(func() { assert.NoError(t, engine.Close(t.Context())) })
			before, err := engine.Thread(t.Context(), "work")
			require.NoError(t, err)
			require.Len(t, before.Open, 1)

			_, err = engine.Answer(t.Context(), "work", thread.Answer{Interrupt: before.Open[0].ID,
				Text: "go on", By: "you"})
			if c.refused == "" {
				require.NoError(t, err)
				return
			}
			assert.Equal(t, runtime.CodeIncompatible, runtime.CodeOf(err))
			require.ErrorContains(t, err, c.refused)
			after, err := engine.Thread(t.Context(), "work")
			require.NoError(t, err)
			assert.Equal(t, before, after,
				"it is kept, untouched, for the program that can read it")
		})
	}
}
