package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
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
	"github.com/routegen/routegen/runtime/compat"
	"github.com/routegen/routegen/runtime/prompt"
	"github.com/routegen/routegen/runtime/store/sqlite"
	"github.com/routegen/routegen/runtime/thread"
	"github.com/routegen/routegen/runtime/workflow"
	"github.com/routegen/routegen/templates"
)

// shapesOf are the stored shapes of this folder's spec after edits: each text is replaced, where it
// stands first, by the one after it.
func shapesOf(t *testing.T, edits ...string) []runtime.StoredShape {
	t.Helper()
	src, err := os.ReadFile("../../routes.yaml")
	require.NoError(t, err)
	text := string(src)
	for i := 0; i < len(edits); i += 2 {
		require.Contains(t, text, edits[i])
		text = strings.Replace(text, edits[i], edits[i+1], 1)
	}
	r := generator.Plan("routes.yaml", []byte(text))
	require.NotNil(t, r.Plan, "%+v", r.Findings)
	return plan.Shapes(r.Plan)
}

// without leaves out a node and its messages.
func without(shapes []runtime.StoredShape, node, messages string) []runtime.StoredShape {
	return slices.DeleteFunc(shapes, func(s runtime.StoredShape) bool {
		return s.Name == node || s.Kind != runtime.ShapeUnion && strings.HasPrefix(s.Name, messages)
	})
}

// TestWorkOfAnotherSpec leaves work in a file while a person is asked, and comes back with a
// program of another spec: what the work itself holds decides. Where that cannot be read any more,
// the answer is refused, the value is named and nothing is touched; where it can, the work goes on.
func TestWorkOfAnotherSpec(t *testing.T) {
	t.Parallel()
	assert.Equal(t, shapesOf(t), routes.StoredShapes(), "the generated table is that of the spec")
	first := filepath.Join(t.TempDir(), "work.db")
	model, err := scripted.Model("", script)
	require.NoError(t, err)
	var out bytes.Buffer
	require.NoError(t, run(t.Context(), strings.NewReader(""), &out, first,
		"Add rate limiting to the public API", model))
	file, err := os.ReadFile(first)
	require.NoError(t, err)

	const (
		goal  = "        goal: {type: string, doc: Objective to be worked on.}\n"
		added = goal + "        urgency: {type: string, "
		key   = "[0-9A-HJKMNP-TV-Z]{26}(/"
		asked = "/frames/0/locals/last/orchestrator/request/"
	)
	goalWith := func(more string) []string {
		return []string{goal, strings.Replace(goal, "string,", "string, "+more+",", 1)}
	}
	same := shapesOf(t)
	for name, c := range map[string]struct {
		shapes  []runtime.StoredShape
		refused string
	}{
		"the same spec":                  {same, ""},
		"a wider pattern":                {shapesOf(t, key, "[0-9A-Za-z]{26}(/"), ""},
		"a pattern that the value meets": {shapesOf(t, goalWith(`pattern: "^Add "`)...), ""},
		"a pattern that it does not meet": {shapesOf(t, goalWith(`pattern: "^Remove "`)...),
			asked + `goal: it is "Add rate limiting to the public API": does not match`},
		"a length that it keeps": {shapesOf(t, goalWith("max_length: 80")...), ""},
		"a length that it exceeds": {shapesOf(t, goalWith("max_length: 8")...),
			asked + "goal: it is"},
		"a required field": {shapesOf(t, goal, added+"doc: How soon.}\n"),
			asked + "urgency: OrchestratorRequest needs it, and it is not there"},
		"a required field with a value for old ones": {shapesOf(t, goal,
			added+"default_old: LATER, doc: How soon.}\n"), ""},
		"an optional field": {shapesOf(t, goal, added+"optional: true, doc: How soon.}\n"), ""},
		"a branch less that it has not taken": {shapesOf(t,
			"      # routegen:allow SELF_ROUTE the record of the original has this branch\n"+
				"      orchestratorRequest: DiscoveryOrchestratorRequest\n", ""), ""},
		"an enum value less that it does not hold": {withoutValue(shapesOf(t),
			"RecommendationPriority", "LOW"), ""},
		"an enum value less that it holds": {withoutValue(shapesOf(t), "InterruptType",
			"HUMAN_REVIEW"), `/frames/0/locals/raised/request/type: it is "HUMAN_REVIEW"`},
		"a field renamed with was": {renamed(shapesOf(t), "goal", "objective", "goal"), ""},
		"a field renamed without it": {renamed(shapesOf(t), "goal", "objective"),
			asked + `goal: it is "Add rate limiting to the public API", and OrchestratorRequest ` +
				"has no such field"},
		"another type":          {retyped(shapesOf(t), "goal", "int"), asked + "goal: it is"},
		"a node less elsewhere": {without(shapesOf(t), "merger", "Merger"), ""},
		"its node less": {without(shapesOf(t), "discoveryCollector",
			"DiscoveryCollectorRequest"),
			`/frames/0/locals/node: it is "discoveryCollector", and the program has no such node`},
		"the interrupt less that it has raised": {without(shapesOf(t), "",
			"DiscoveryCollectorInterrupt"), "the program has no type of that name"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := filepath.Join(t.TempDir(), "work.db")
			require.NoError(t, os.WriteFile(db, file, 0o600))
			program := agents.NewProgram()
			model, err := scripted.Model("", script)
			require.NoError(t, err)
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
			require.Equal(t, "discoveryCollector", before.Open[0].Node)

			_, err = engine.Answer(t.Context(), "work", thread.Answer{Interrupt: before.Open[0].ID,
				Text: "go on", By: "you"})
			after, failed := engine.Thread(t.Context(), "work")
			require.NoError(t, failed)
			if c.refused == "" {
				require.NoError(t, err)
				assert.Equal(t, compat.Fingerprint(c.shapes), after.Fingerprint)
				return
			}
			assert.Equal(t, runtime.CodeIncompatible, runtime.CodeOf(err))
			require.ErrorContains(t, err, c.refused)
			assert.Equal(t, before, after,
				"it is kept, untouched, for the program that can read it")
		})
	}
}

// renamed gives a field of the request another name.
func renamed(shapes []runtime.StoredShape, from, to string, was ...string) []runtime.StoredShape {
	for i := range shapes {
		for n := range shapes[i].Fields {
			f := &shapes[i].Fields[n]
			if shapes[i].Name == "OrchestratorRequest" && f.Name == from {
				f.Name, f.Was = to, was
			}
		}
	}
	return shapes
}

// retyped gives a field of the request another type.
func retyped(shapes []runtime.StoredShape, field, typ string) []runtime.StoredShape {
	for i := range shapes {
		for n := range shapes[i].Fields {
			f := &shapes[i].Fields[n]
			if shapes[i].Name == "OrchestratorRequest" && f.Name == field {
				f.Type = typ
			}
		}
	}
	return shapes
}

// withoutValue leaves out a value of an enum.
func withoutValue(shapes []runtime.StoredShape, enum, value string) []runtime.StoredShape {
	for i := range shapes {
		if shapes[i].Name == enum {
			shapes[i].Fields = slices.DeleteFunc(shapes[i].Fields,
				func(f runtime.StoredField) bool { return f.Name == value })
		}
	}
	return shapes
}
