package workflow_test

import (
	"context"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/generated/routes"
	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/store/sqlite"
	"github.com/routegen/routegen/runtime/thread"
	"github.com/routegen/routegen/runtime/workflow"
)

// BenchmarkCycle compares a whole interrupt of the workflow on SQLite, a node that asks a person
// and goes on with the answer, with the bare cycle of a thread: start, an effect, a question; the
// answer, an effect, the end. Both have the same effects, and take turns, so that what else the
// machine does falls on both.
func BenchmarkCycle(b *testing.B) {
	ctx := context.Background()
	program := routes.New(routes.UnimplementedHandlers{})
	effect := func(ctx context.Context, name string) error {
		_, err := thread.Do(ctx, name, func(context.Context, string) (string, error) {
			return "done", nil
		})
		return err
	}
	program.Invoke = func(ctx context.Context, call runtime.Call, _ runtime.Record) (
		runtime.Routing, error) {
		if err := effect(ctx, "work"); err != nil {
			return nil, err
		}
		reply :=
			`{"interruptRequest":{"type":"HUMAN_REVIEW","reason":"which way?","phase":"DISCOVERY","goal":"g","workflowContext":"w"}}`
		if call.Answer != nil {
			reply =
				`{"interruptRequest":{"type":"STOP","reason":"enough","phase":"DISCOVERY","goal":"g","workflowContext":"w"}}`
		}
		return program.DecodeRouting(1, []byte(reply))
	}
	machine, err := workflow.New(program, workflow.Config{})
	require.NoError(b, err)
	bare := thread.Func("bare", func(ctx context.Context, goal string) (string, error) {
		if err := effect(ctx, "before"); err != nil {
			return "", err
		}
		way, err := thread.Ask[string](ctx, "way",
			thread.Question{Text: "which way?", Payload: []byte(`{"goal":"` + goal + `"}`),
				Plain: thread.PlainText})
		if err != nil {
			return "", err
		}
		return way, effect(ctx, "after")
	})
	store, err := sqlite.Open(ctx, filepath.Join(b.TempDir(), "threads.db"), sqlite.Config{})
	require.NoError(b, err)
	engine, err := thread.Open(ctx, store, thread.Config{}, machine, bare)
	require.NoError(b, err)
	b.Cleanup(func() { _ = store.Close() })
	b.Cleanup(func() { _ = engine.Close(ctx) }) // first
	begin, err := workflow.Begin(&routes.OrchestratorRequest{Goal: "g", Phase: "DISCOVERY"})
	require.NoError(b, err)
	cycle := func(begin thread.Begin) time.Duration {
		at := time.Now()
		t, err := engine.Start(ctx, begin)
		require.NoError(b, err)
		t, err = engine.Wait(ctx, t.ID)
		require.NoError(b, err)
		_, err = engine.Answer(ctx, t.ID, thread.Answer{Text: "left", By: "ann"})
		require.NoError(b, err)
		t, err = engine.Wait(ctx, t.ID)
		require.NoError(b, err)
		require.NotEmpty(b, t.Over)
		return time.Since(at)
	}
	var took [2][]time.Duration
	b.ResetTimer()
	for range b.N {
		took[0] = append(took[0], cycle(thread.Begin{Machine: "bare", Input: "g"}))
		took[1] = append(took[1], cycle(begin))
	}
	for _, times := range took {
		slices.Sort(times)
	}
	plain, whole := took[0][len(took[0])/2], took[1][len(took[1])/2]
	b.ReportMetric(float64(plain.Nanoseconds()), "ns/bare")
	b.ReportMetric(float64(whole.Nanoseconds()), "ns/workflow")
	b.ReportMetric(float64(whole)/float64(plain), "ratio")
}
