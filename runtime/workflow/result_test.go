package workflow_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/generated/routes"
	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
	"github.com/routegen/routegen/runtime/workflow"
)

// TestResultIsTyped: a result is read as its own type, and as no other.
func TestResultIsTyped(t *testing.T) {
	t.Parallel()
	done := &thread.Thread{ID: "t",
		Result: json.RawMessage(
			`{"MergerAgentResult":{"acceptability":"OK","conflictDetails":[],"resolutionGuidance":[],"output":"o"}}`)}
	found, err := workflow.Result[routes.MergerAgentResult](done)
	require.NoError(t, err)
	assert.Equal(t, "o", found.Output)

	_, err = workflow.Result[routes.ReviewAgentResult](done)
	assert.Equal(t, runtime.CodeInvalid, runtime.CodeOf(err))
	require.ErrorContains(t, err, "MergerAgentResult")

	_, err = workflow.Result[routes.MergerAgentResult](&thread.Thread{ID: "t"})
	assert.Equal(t, runtime.CodeNotFound, runtime.CodeOf(err))
}

// TestTargetsAreOfferedWhereTheyCount: a question lists places to go on at only where an answer may
// name one.
func TestTargetsAreOfferedWhereTheyCount(t *testing.T) {
	t.Parallel()
	for _, routeTo := range []bool{true, false} {
		w := newWorld(t, "mem")
		w.program.Tables.Kinds = append([]runtime.Kind(nil), w.program.Tables.Kinds...)
		for i := range w.program.Tables.Kinds {
			if k := &w.program.Tables.Kinds[i]; k.Name == thread.KindAgentQuestion {
				k.RouteTo = routeTo
			}
		}
		w.open()
		w.on("orchestrator", w.asks("orchestrator", "HUMAN_REVIEW", "well?"))
		open := w.asked(w.start("OrchestratorRequest"), thread.KindAgentQuestion)
		if !routeTo {
			assert.Empty(t, open.Targets)
			continue
		}
		assert.Contains(t, open.Targets, "ORCHESTRATOR")
		w.on("discoveryOrchestrator", w.asks("discoveryOrchestrator", "HUMAN_REVIEW", "sent here"))
		assert.Equal(t, "sent here", w.asked(w.answer(open.Thread, "-> DISCOVERY_ORCHESTRATOR"),
			thread.KindAgentQuestion).Text)
	}
}
