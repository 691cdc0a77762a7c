package workflow_test

import (
	"context"
	"encoding/json"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/internal/threadtest"
	"github.com/routegen/routegen/runtime/thread"
	"github.com/routegen/routegen/runtime/workflow"
)

// What a node asks by itself, and what is asked about it, stands under that node and not under the
// request that the thread began with.
func TestQuestionsNameTheRunningNode(t *testing.T) {
	t.Parallel()
	form := thread.Question{Text: "How much?", Schema: json.RawMessage(`{"type":"integer"}`)}
	for name, tc := range map[string]struct {
		kind string
		ask  turn
	}{
		"a question with a schema": {thread.KindAgentQuestion,
			func(ctx context.Context, _ runtime.Call, _ runtime.Record) (string, error) {
				_, err := thread.Ask[int](ctx, "amount", form)
				return "", err
			}},
		"a failed step": {thread.KindSystemError,
			func(context.Context, runtime.Call, runtime.Record) (string, error) {
				return "", thread.Permanent(errors.New("no way"))
			}},
		"an effect in doubt": {thread.KindSystemError,
			func(ctx context.Context, _ runtime.Call, _ runtime.Record) (string, error) {
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
				if tc.kind == thread.KindSystemError {
					var payload struct {
						Node string `json:"node"`
					}
					require.NoError(w, json.Unmarshal(i.Payload, &payload))
					assert.Equal(w, "discoveryOrchestrator", payload.Node)
				}
				inbox, err := w.e.Inbox(w.Context(),
					thread.InterruptQuery{Nodes: []string{"discoveryOrchestrator"}})
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
func TestHandlerFailureNamesItsNode(t *testing.T) {
	onBoth(t, func(w *world) {
		w.cfg.Reviewer, w.cfg.Model = nil, nil
		w.on("orchestrator", w.says("orchestrator", "discoveryOrchestratorRequest"))
		w.on("discoveryOrchestrator", w.asks("discoveryOrchestrator", "AGENT_REVIEW",
			"is this right?"))
		w.open()
		i := w.asked(w.start("OrchestratorRequest"), thread.KindSystemError)
		assert.Contains(w, i.Text, "reviewer")
		assert.Equal(w, "discoveryOrchestrator", i.Node)
	})
}

// Nobody looks at a question from Friday to Monday: it is answered then, and the work goes on.
func TestQuestionWaitsOverAWeekend(t *testing.T) {
	onBoth(t, func(w *world) {
		clock := threadtest.NewClock(time.Date(2026, 11, 20, 17, 0, 0, 0, time.UTC))
		w.clock = clock
		w.on("orchestrator", w.asks("orchestrator", "HUMAN_REVIEW", "Go on?"),
			w.stops("orchestrator"))
		w.open()
		th := w.start("OrchestratorRequest")
		w.asked(th, thread.KindAgentQuestion)
		clock.Move(65 * time.Hour)
		require.NoError(w, w.e.RunDue(w.Context()))
		w.asked(w.wait(th.ID), thread.KindAgentQuestion)
		w.answer(th.ID, "go on")
		assert.Equal(w, []string{"orchestrator", "orchestrator"}, w.runs)
	})
}

// A decorator that panics fails a try of the step that it decorates, and nothing else: other
// threads go on, and so does this one with the next try.
func TestPanicOfADecoratorFailsATryOfItsStep(t *testing.T) {
	onBoth(t, func(w *world) {
		clock := threadtest.NewClock(time.Date(2026, 11, 20, 17, 0, 0, 0, time.UTC))
		w.clock = clock
		var calls atomic.Int64
		w.cfg.Prepare = append(w.cfg.Prepare, func(_ context.Context, _ workflow.View,
			request runtime.Record) (runtime.Record, error) {
			if calls.Add(1) == 1 {
				panic("in the decorator")
			}
			return request, nil
		})
		w.on("orchestrator", w.stops("orchestrator"), w.stops("orchestrator"))
		w.open()
		broken := w.start("OrchestratorRequest")
		require.Len(w, broken.Frames[0].Attempts, 1)
		assert.Contains(w, broken.Frames[0].Attempts[0].Text, "in the decorator")
		assert.Equal(w, thread.StatusCancelled, w.start("OrchestratorRequest").Status())
		clock.Move(time.Minute)
		require.NoError(w, w.e.RunDue(w.Context()))
		assert.Equal(w, thread.StatusCancelled, w.wait(broken.ID).Status())
		assert.Len(w, w.runs, 2)
	})
}
