package sqlite

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime/store/mem"
	"github.com/routegen/routegen/runtime/thread"
)

// mailer is the cycle as a user writes it: one effect, one question, one effect.
var mailer = thread.Func("mail", func(ctx context.Context, order int) (string, error) {
	if _, err := thread.Do(ctx, "draft", func(context.Context, string) (string, error) {
		return "m1", nil
	}); err != nil {
		return "", err
	}
	ok, err := thread.Ask[bool](ctx, "send", thread.Question{Text: "Send it?", Payload: payload})
	if err != nil || !ok {
		return "", err
	}
	return thread.Do(ctx, "send", func(context.Context, string) (string, error) {
		return "sent", nil
	})
})

func openEngine(tb testing.TB, s thread.Store) *thread.Engine {
	tb.Helper()
	e, err := thread.Open(context.Background(), s, thread.Config{}, mailer)
	require.NoError(tb, err)
	tb.Cleanup(func() { _ = e.Close(context.Background()) })
	return e
}

func engineCycle(e *thread.Engine) error {
	ctx := context.Background()
	t, err := e.Start(ctx, thread.Begin{Machine: "mail", Input: 4711, User: "ann"})
	if err != nil {
		return err
	}
	// the machine is busy, and the step took longer than an acknowledgement waits
	if t.Status() == thread.StatusRunning {
		if t, err = e.Wait(ctx, t.ID); err != nil {
			return err
		}
	}
	_, err = e.Answer(ctx, t.ID, thread.Answer{Value: []byte("true"), By: "bob"})
	return err
}

// BenchmarkEngineProfile is the cycle by itself, for profiles and for what it allocates.
func BenchmarkEngineProfile(b *testing.B) {
	for name, store := range map[string]func() thread.Store{
		"file":   func() thread.Store { return openBench(b) },
		"memory": func() thread.Store { return mem.Open() },
	} {
		b.Run(name, func(b *testing.B) {
			e := openEngine(b, store())
			b.ReportAllocs()
			for b.Loop() {
				must(b, engineCycle(e))
			}
		})
	}
}

// BenchmarkEngine compares the cycle through the engine with the floor, in short turns: what else
// the machine does falls on both. The engine on a store in memory is what a file that costs nothing
// could reach.
func BenchmarkEngine(b *testing.B) {
	for _, workers := range []int{1, 8, 64} {
		b.Run(fmt.Sprintf("ratio/workers=%d", workers), func(b *testing.B) {
			f, e, m := openFloor(b, workers > 1), openEngine(b, openBench(b)), openEngine(b,
				mem.Open())
			var rate [3]float64
			b.ResetTimer()
			for range b.N {
				for n, cycle := range []func(){f.cycle, func() { must(b, engineCycle(e)) }, func() {
					must(b, engineCycle(m))
				}} {
					begin := time.Now()
					did := together(workers, func(int64) bool {
						return time.Since(begin) > 100*time.Millisecond
					}, cycle)
					rate[n] += float64(did) / time.Since(begin).Seconds()
				}
			}
			b.ReportMetric(rate[0]/float64(b.N), "floor/s")
			b.ReportMetric(rate[1]/float64(b.N), "engine/s")
			b.ReportMetric(rate[2]/float64(b.N), "memory/s")
			b.ReportMetric(rate[1]/rate[0], "ratio")
			b.ReportMetric(rate[2]/rate[0], "memory-ratio")
		})
	}
}

func must(b *testing.B, err error) {
	b.Helper()
	if err != nil {
		b.Error(err)
	}
}
