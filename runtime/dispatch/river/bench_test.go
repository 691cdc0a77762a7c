//go:build unix

package river

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime/store/postgres"
	"github.com/routegen/routegen/runtime/thread"
)

// mailer is the cycle of the benchmarks of the store: one effect, one question, one effect.
var mailer = thread.Func("mail", func(ctx context.Context, _ int) (string, error) {
	made := func(context.Context, string) (string, error) { return "m1", nil }
	if _, err := thread.Do(ctx, "draft", made); err != nil {
		return "", err
	}
	if _, err := thread.Ask[bool](ctx, "send", thread.Question{Text: "Send it?"}); err != nil {
		return "", err
	}
	return thread.Do(ctx, "send", made)
})

func cycle(ctx context.Context, e *thread.Engine) error {
	t, err := e.Start(ctx, thread.Begin{Machine: "mail", Input: 4711, User: "ann"})
	if err == nil {
		t, err = e.Wait(ctx, t.ID)
	}
	if err == nil {
		_, err = e.Answer(ctx, t.ID, thread.Answer{Value: []byte("true"), By: "bob"})
	}
	if err == nil {
		_, err = e.Wait(ctx, t.ID)
	}
	return err
}

// BenchmarkDispatch compares the cycle through jobs with that of an engine that runs its own steps,
// in one process and in turns of a second.
func BenchmarkDispatch(b *testing.B) {
	for _, callers := range []int{1, 16, 64} {
		b.Run(fmt.Sprintf("callers=%d", callers), func(b *testing.B) {
			r := newRig(b)
			ctx := context.Background()
			engines := make([]*thread.Engine, 2)
			for n := range engines {
				store, err := postgres.Open(ctx, r.db.URL+"&pool_max_conns=16",
					postgres.Config{Schema: r.db.Schema})
				require.NoError(b, err)
				b.Cleanup(func() { _ = store.Close() })
				e, err := thread.Open(ctx, store, thread.Config{Clock: store, AnswerOnly: n == 1},
					mailer)
				require.NoError(b, err)
				engines[n] = e
				stop := func() { _ = e.Close(ctx) }
				if n == 1 {
					d, err := Open(ctx, store, e, Config{Workers: 64, Schema: r.db.Schema})
					require.NoError(b, err)
					stop = func() { _ = d.Stop(ctx) }
				}
				b.Cleanup(stop)
			}
			var rate [2]float64
			b.ResetTimer()
			for range b.N {
				for n, e := range engines {
					rate[n] += together(b, callers, func() error { return cycle(ctx, e) })
				}
			}
			b.ReportMetric(rate[0]/float64(b.N), "alone/s")
			b.ReportMetric(rate[1]/float64(b.N), "dispatch/s")
			b.ReportMetric(rate[1]/rate[0], "ratio")
		})
	}
}

// together has callers do something for a second, and returns how often that was done in a second.
func together(b *testing.B, callers int, do func() error) float64 {
	b.Helper()
	var n atomic.Int64
	var all sync.WaitGroup
	began := time.Now()
	for range callers {
		all.Go(func() {
			for time.Since(began) < time.Second {
				if err := do(); err != nil {
					b.Error(err)
					return
				}
				n.Add(1)
			}
		})
	}
	all.Wait()
	return float64(n.Load()) / time.Since(began).Seconds()
}

// BenchmarkWorkers has steps wait for a second each, as for a model, and counts how many processes
// of 50 workers each complete in a second, from the first start to the last end.
func BenchmarkWorkers(b *testing.B) {
	for _, processes := range []int{1, 2, 4} {
		b.Run(fmt.Sprintf("processes=%d", processes), func(b *testing.B) {
			r := newRig(b)
			for range processes {
				r.spawn(50)
			}
			var did, took float64
			b.ResetTimer()
			for range b.N {
				began := time.Now()
				var all sync.WaitGroup
				ids := make([]string, 250*processes)
				for n := range ids {
					all.Go(func() { ids[n] = r.start(input{Nap: time.Second}) })
				}
				all.Wait()
				r.done(ids...)
				did, took = did+float64(len(ids)), took+time.Since(began).Seconds()
			}
			b.ReportMetric(did/took, "steps/s")
		})
	}
}
