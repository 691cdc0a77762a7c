//go:build slow

package sqlite

import (
	"context"
	goruntime "runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime/thread"
)

// long stores a thread of so many turns, four entries each.
func long(t *testing.T, s thread.Store, turns int) *thread.Thread {
	t.Helper()
	rules := benchRules()
	c := thread.Start("long", "ann", "", rules, noon)
	c.MarkRest()
	for n := range turns {
		require.NoError(t, c.Begin("echo", "", []byte(`"hello"`), "ann", ""))
		c.Add(thread.Entry{Type: thread.EntryEffect, Frame: c.Thread.Root().ID, Name: "reply",
			State: thread.EffectDone, Value: []byte(`"hello!"`)})
		c.Add(thread.Entry{Type: thread.EntryMessage, Frame: c.Thread.Root().ID, Name: "reply",
			Value: []byte(`"hello!"`)})
		c.Return(c.Thread.Root().ID, []byte(`"hello!"`))
		if n%10 == 9 || n == turns-1 {
			c.Finish()
			require.NoError(t, s.Commit(t.Context(), c))
			c = thread.NewChange(c.Thread, rules, noon)
		}
	}
	th, err := s.Load(t.Context(), "long")
	require.NoError(t, err)
	return th
}

// TestForkCostsWhatItCopies compares a fork of 120,000 entries with one of 40,000, in time and in
// memory. The copies are never all in memory.
func TestForkCostsWhatItCopies(t *testing.T) {
	cost := func(turns int) (took time.Duration, most uint64) {
		s := opened(t, file(t))
		th := long(t, s, turns)
		e, err := thread.Open(context.Background(), s, thread.Config{}, echo)
		require.NoError(t, err)
		defer e.Close(context.Background())
		goruntime.GC()
		var before goruntime.MemStats
		goruntime.ReadMemStats(&before)
		took = time.Hour
		for range 3 {
			var high atomic.Uint64
			done, looked := make(chan struct{}), make(chan struct{})
			go func() {
				defer close(looked)
				for tick := time.NewTicker(5 * time.Millisecond); ; {
					var m goruntime.MemStats
					goruntime.ReadMemStats(&m)
					high.Store(max(high.Load(), m.HeapAlloc-min(m.HeapAlloc, before.HeapAlloc)))
					select {
					case <-tick.C:
					case <-done:
						return
					}
				}
			}()
			began := time.Now()
			forked, err := e.Fork(t.Context(), "long", th.Seq, "", "ann")
			took = min(took, time.Since(began))
			close(done)
			<-looked
			require.NoError(t, err)
			require.Equal(t, th.Seq, forked.Thread.Seq)
			most = max(most, high.Load())
		}
		return took, most
	}
	few, _ := cost(10_000)
	many, memory := cost(30_000)
	t.Logf("40,000 entries: %s; 120,000: %s, %.1f times as long, %d MB", few, many,
		float64(many)/float64(few), memory>>20)
	require.LessOrEqual(t, 2*many, 7*few, "3.5 times")
	require.Less(t, memory, uint64(64<<20))
}
