package workflow_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
)

// What a node asks by itself, and what is asked about it, stands under that node and not under the request that the thread began with.
func TestQuestionsAreFiledUnderTheNodeThatRuns(t *testing.T) {
	t.Parallel()
	form := runtime.Question{Text: "How much?", Schema: json.RawMessage(`{"type":"integer"}`)}
	for name, tc := range map[string]struct {
		kind string
		ask  turn
	}{
		"a question with a schema": {runtime.KindAgentQuestion, func(ctx context.Context, _ runtime.Call, _ runtime.Record) (string, error) {
			_, err := thread.Ask[int](ctx, "amount", form)
			return "", err
		}},
		"a failed step": {runtime.KindSystemError, func(context.Context, runtime.Call, runtime.Record) (string, error) {
			return "", runtime.Permanent(errors.New("no way"))
		}},
		"an effect in doubt": {runtime.KindSystemError, func(ctx context.Context, _ runtime.Call, _ runtime.Record) (string, error) {
			_, err := thread.Once(ctx, "pay", func(context.Context, string) (bool, error) {
				return false, &runtime.Error{Code: runtime.CodeInDoubt, Op: "pay"}
			})
			return "", err
		}},
	} {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(w *world) {
				w.on("orchestrator", w.says("orchestrator", "discoveryOrchestratorRequest"))
				w.on("discoveryOrchestrator", tc.ask)
				w.open()
				i := w.asked(w.start("OrchestratorRequest"), tc.kind)
				assert.Equal(w, "discoveryOrchestrator", i.Node)
				if tc.kind == runtime.KindSystemError {
					var payload struct {
						Node string `json:"node"`
					}
					require.NoError(w, json.Unmarshal(i.Payload, &payload))
					assert.Equal(w, "discoveryOrchestrator", payload.Node)
				}
				inbox, err := w.e.Inbox(w.Context(), runtime.InterruptQuery{Nodes: []string{"discoveryOrchestrator"}})
				require.NoError(w, err)
				require.Len(w, inbox, 1, "the filter finds it")
				stats, err := w.e.Stats(w.Context(), time.Time{})
				require.NoError(w, err)
				require.Len(w, stats, 1)
				assert.Equal(w, "discoveryOrchestrator", stats[0].Node)
			})
		})
	}
}

// A failure of the unified handler belongs to the node whose interrupt it handles.
func TestFailureOfTheHandlerIsFiledUnderItsNode(t *testing.T) {
	onBoth(t, func(w *world) {
		w.cfg.Reviewer, w.cfg.Model = nil, nil
		w.on("orchestrator", w.says("orchestrator", "discoveryOrchestratorRequest"))
		w.on("discoveryOrchestrator", w.asks("discoveryOrchestrator", "AGENT_REVIEW", "is this right?"))
		w.open()
		i := w.asked(w.start("OrchestratorRequest"), runtime.KindSystemError)
		assert.Contains(w, i.Text, "reviewer")
		assert.Equal(w, "discoveryOrchestrator", i.Node)
	})
}

// Nobody looks at a question from Friday to Monday: it is answered then, and the work goes on.
func TestQuestionWaitsOverAWeekend(t *testing.T) {
	onBoth(t, func(w *world) {
		clock := &clock{now: time.Date(2026, 11, 20, 17, 0, 0, 0, time.UTC)}
		w.clock = clock
		w.on("orchestrator", w.asks("orchestrator", "HUMAN_REVIEW", "Go on?"), w.stops("orchestrator"))
		w.open()
		th := w.start("OrchestratorRequest")
		w.asked(th, runtime.KindAgentQuestion)
		clock.add(65 * time.Hour)
		require.NoError(w, w.e.RunDue(w.Context()))
		w.asked(w.wait(th.ID), runtime.KindAgentQuestion)
		w.answer(th.ID, "go on")
		assert.Equal(w, []string{"orchestrator", "orchestrator"}, w.runs)
	})
}
