package workflow_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/store/sqlite"
	"github.com/routegen/routegen/runtime/thread"
	"github.com/routegen/routegen/runtime/workflow"
)

// waitingThreads are threads that wait for a person, by their ids. testdata/handle.db holds those
// that begin made when the step of the handler was entered twice, to ask and to take the answer.
var waitingThreads = map[string]struct {
	begin  func(w *world, begin func(typeName string, with ...any)) // and what came until it waits
	finish func(w *world, id string)
}{
	"asked": {func(w *world, begin func(string, ...any)) {
		w.cfg = workflow.Config{}
		w.on("orchestrator", w.asks("orchestrator", "HUMAN_REVIEW", "which way?"))
		w.open()
		begin("OrchestratorRequest", "goal", "the goal")
	}, func(w *world, id string) {
		w.cfg = workflow.Config{}
		w.on("orchestrator", w.stops("orchestrator"))
		w.open()
		th := w.answer(id, "left")
		require.Equal(w, thread.StatusCancelled, th.Status(), "%+v", th.Open)
		require.JSONEq(w, `"left"`, string(w.calls["orchestrator"][0].Answer))
		require.Equal(w, 1, w.calls["orchestrator"][0].Visit, "the visit that asked")
	}},
	"form": {func(w *world, begin func(string, ...any)) {
		w.cfg = workflow.Config{}
		w.on("orchestrator", w.asks("orchestrator", "HUMAN_REVIEW", "which way?"))
		w.open()
		begin("OrchestratorRequest")
		w.sendTo("form", "MERGER_AGENT", "a note")
	}, func(w *world, id string) {
		w.cfg = workflow.Config{}
		w.on("merger", w.stops("merger"))
		w.open()
		th, err := w.e.Thread(w.Context(), id)
		require.NoError(w, err)
		var schema, defs map[string]any
		require.NoError(w, json.Unmarshal(w.asked(th, thread.KindAgentQuestion).Schema, &schema))
		filled, err := runtime.Encode(smallest(schema, defs))
		require.NoError(w, err)
		th = w.order(id, string(filled))
		require.Equal(w, thread.StatusCancelled, th.Status(), "%+v", th.Open)
		require.JSONEq(w, `{"route_to":"MERGER_AGENT","note":"a note"}`,
			string(w.calls["merger"][0].Answer))
	}},
	"prepared": {func(w *world, begin func(string, ...any)) {
		w.prepareOnce()
		w.on("orchestrator", w.asks("orchestrator", "PAUSE", "which way?"))
		w.open()
		begin("OrchestratorRequest")
	}, func(w *world, id string) {
		prepared := w.prepareOnce()
		w.on("orchestrator", w.stops("orchestrator"))
		w.open()
		w.answer(id, "right")
		require.JSONEq(w, `"right"`, string(w.calls["orchestrator"][0].Answer))
		require.Equal(w, 1, w.model.count())
		require.Contains(w, w.model.last().Prompt, "PREPARED", "as the person saw it")
		require.Equal(w, 1, *prepared, "for STOP; that for PAUSE was an effect when it was asked")
	}},
	"failed": {func(w *world, begin func(string, ...any)) {
		w.on("orchestrator", w.asks("orchestrator", "HUMAN_REVIEW", "which way?"))
		w.model.while = func(question) error { return thread.Permanent(assert.AnError) }
		w.open()
		begin("OrchestratorRequest")
		w.answer("failed", "left")
	}, func(w *world, id string) {
		w.on("orchestrator", w.stops("orchestrator"))
		w.open()
		th := w.order(id, `"retry"`)
		require.Equal(w, thread.StatusCancelled, th.Status(), "%+v", th.Open)
		require.JSONEq(w, `"left"`, string(w.calls["orchestrator"][0].Answer))
	}},
	"child": {func(w *world, begin func(string, ...any)) {
		w.cfg = workflow.Config{}
		w.on("discoveryAgent", w.asks("discoveryAgent", "HUMAN_REVIEW", "whose file?"))
		w.open()
		begin("DiscoveryAgentRequests", "requests",
			[]json.RawMessage{json.RawMessage(w.sample("DiscoveryAgentRequest"))})
	}, func(w *world, id string) {
		w.cfg = workflow.Config{}
		w.on("discoveryAgent", w.says("discoveryAgent", "agentResult"))
		w.on("discoveryDispatch", w.stops("discoveryDispatch"))
		w.open()
		th := w.answer(id, "ours")
		require.Equal(w, thread.StatusCancelled, th.Status(), "%+v", th.Open)
		require.Equal(w, []string{"discoveryAgent", "discoveryDispatch"}, w.runs)
	}},
}

// prepareOnce adds a decorator that changes interrupt requests, as an effect, and returns how often
// it did.
func (w *world) prepareOnce() *int {
	prepared := 0
	w.cfg.Prepare = append(w.cfg.Prepare, func(ctx context.Context, v workflow.View,
		request runtime.Record) (runtime.Record, error) {
		if !v.Handler {
			return request, nil
		}
		reason, err := thread.Do(ctx, "prepare", func(context.Context, string) (string, error) {
			prepared++
			return "PREPARED", nil
		})
		if err != nil {
			return nil, err
		}
		name := request.Shape().Name
		data, err := runtime.Encode(request)
		if err != nil {
			return nil, err
		}
		var fields map[string]any
		if err := json.Unmarshal(data, &fields); err != nil {
			return nil, err
		}
		fields["reason"] = reason
		if data, err = runtime.Encode(fields); err != nil {
			return nil, err
		}
		return w.program.DecodeInterrupt(name, data)
	})
	return &prepared
}

// TestWaitingThreadsGoOn: threads that wait in the step of the handler go on in another engine,
// whether this version stored them or one that entered the step once more for the answer.
func TestWaitingThreadsGoOn(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(filepath.Join("testdata", "handle.db"))
	require.NoError(t, err)
	for id, waits := range waitingThreads {
		t.Run(id+" stored earlier", func(t *testing.T) {
			t.Parallel()
			waits.finish(worldIn(t, data), id)
		})
		t.Run(id, func(t *testing.T) {
			t.Parallel()
			w := worldIn(t, nil)
			waits.begin(w, func(typeName string, with ...any) { w.startAs(id, typeName, with...) })
			require.NoError(t, w.e.Close(t.Context()))
			waits.finish(w.again(), id)
		})
	}
}

// worldIn is a world on an SQLite file with some content.
func worldIn(t *testing.T, data []byte) *world {
	t.Helper()
	file := filepath.Join(t.TempDir(), "threads.db")
	if data != nil {
		require.NoError(t, os.WriteFile(file, data, 0o600))
	}
	disk, err := sqlite.Open(t.Context(), file, sqlite.Config{})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, disk.Close()) })
	w := bareWorld(t)
	w.store = disk
	return w
}

// TestQuestionIsAskedInTheCommitOfItsNode: the step of the handler runs once for an answered
// interrupt, with the answer; twice where a decorator sees the request before it is asked.
func TestQuestionIsAskedInTheCommitOfItsNode(t *testing.T) {
	onBoth(t, func(w *world) {
		for _, decorated := range []bool{false, true} {
			w := w.again()
			w.cfg = workflow.Config{}
			if decorated {
				w.prepareOnce()
			}
			w.on("orchestrator", w.asks("orchestrator", "HUMAN_REVIEW", "which way?"),
				w.says("orchestrator", "collectorRequest"))
			w.on("orchestratorCollector", w.says("orchestratorCollector", "collectorResult",
				"collectorDecision", map[string]string{"decisionType": "STOP", "rationale": "",
					"requestedPhase": ""}))
			w.open()
			m := &stepCounter{Machine: w.m, steps: map[string]int{}}
			e, err := thread.Open(w.Context(), w.store, thread.Config{Owner: "u"}, m)
			require.NoError(w, err)
			require.NoError(w, w.e.Close(w.Context()))
			w.e = e
			th := w.start("OrchestratorRequest")
			asked := slices.IndexFunc(w.log(th.ID), func(e thread.Entry) bool {
				return e.Type == thread.EntryAsked
			})
			before := w.log(th.ID)[asked-1]
			require.Equal(w, thread.EntryStepped, before.Type)
			require.Equal(w, "!handle", before.PC)
			th = w.answer(th.ID, "left")
			require.Equal(w, thread.StatusDone, th.Status(), "%+v", th.Open)
			want := map[string]int{"": 1, "orchestrator": 2, "!handle": 1,
				"orchestratorCollector": 1}
			if decorated {
				want["!handle"]++
			}
			require.Equal(w, want, m.steps)
			require.NoError(w, e.Close(w.Context()))
		}
	})
}

// stepCounter counts the runs of steps.
type stepCounter struct {
	*workflow.Machine
	mu    sync.Mutex
	steps map[string]int
}

func (c *stepCounter) Step(ctx context.Context, a thread.Activation) (thread.Transition, error) {
	c.mu.Lock()
	c.steps[a.Frame.PC]++
	c.mu.Unlock()
	return c.Machine.Step(ctx, a)
}
