package sqlite

import (
	"context"
	goruntime "runtime"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime/thread"
)

// echo is a conversation of one effect a turn.
var echo = thread.Turns("echo", func(ctx context.Context, text string) (string, error) {
	return thread.Do(ctx, "reply", func(context.Context, string) (string, error) {
		return text + "!", nil
	})
})

// BenchmarkTurns compares a turn late in a conversation with one early in it: nothing may grow with
// the history. Both are taken in short turns on threads of the two lengths, so that what else the
// machine does falls on both.
func BenchmarkTurns(b *testing.B) {
	ctx := context.Background()
	e, err := thread.Open(ctx, openBench(b), thread.Config{}, echo)
	require.NoError(b, err)
	b.Cleanup(func() { _ = e.Close(ctx) })
	turn := func(id string) {
		_, err := e.Deliver(ctx, thread.Message{Thread: id, Machine: "echo", Text: "hello"})
		must(b, err)
		_, err = e.Wait(ctx, id)
		must(b, err)
	}
	grown := func(turns int) string {
		t, err := e.Start(ctx, thread.Begin{Machine: "echo", Input: "hello"})
		require.NoError(b, err)
		_, err = e.Wait(ctx, t.ID)
		require.NoError(b, err)
		for range turns - 1 {
			turn(t.ID)
		}
		return t.ID
	}
	const rounds = 50
	var early, late []string
	for range rounds {
		early = append(early, grown(9))
	}
	for range 5 {
		late = append(late, grown(999))
	}
	var took [2][]time.Duration
	b.ResetTimer()
	for n := range b.N {
		for side, id := range []string{early[n%rounds], late[n%5]} {
			begin := time.Now()
			turn(id)
			took[side] = append(took[side], time.Since(begin))
		}
	}
	ten, thousand := middle(took[0]), middle(took[1])
	b.ReportMetric(float64(ten.Nanoseconds()), "ns/10th")
	b.ReportMetric(float64(thousand.Nanoseconds()), "ns/1000th")
	b.ReportMetric(float64(thousand)/float64(ten), "ratio")
}

func middle(times []time.Duration) time.Duration {
	slices.Sort(times)
	return times[len(times)/2]
}

// BenchmarkResume answers one thread beside none, and beside 100,000 others that wait, in turns.
func BenchmarkResume(b *testing.B) {
	ctx := context.Background()
	alone, among := openBench(b), openBench(b)
	fill(b, among, 100_000, func(int) time.Time { return time.Now() })
	engines := []*thread.Engine{openEngine(b, alone), openEngine(b, among)}
	var took [2][]time.Duration
	b.ResetTimer()
	for range b.N {
		for side, e := range engines {
			t, err := e.Start(ctx, thread.Begin{Machine: "mail", Input: 4711, User: "ann"})
			must(b, err)
			_, err = e.Wait(ctx, t.ID)
			must(b, err)
			begin := time.Now()
			_, err = e.Answer(ctx, t.ID, thread.Answer{Value: []byte("true"), By: "bob"})
			must(b, err)
			took[side] = append(took[side], time.Since(begin))
		}
	}
	few, many := middle(took[0]), middle(took[1])
	b.ReportMetric(float64(few.Nanoseconds()), "ns/alone")
	b.ReportMetric(float64(many.Nanoseconds()), "ns/among")
	b.ReportMetric(float64(many)/float64(few), "ratio")
}

// BenchmarkWaiting counts what a thread that waits keeps in the memory of the process.
func BenchmarkWaiting(b *testing.B) {
	ctx := context.Background()
	heap := func() uint64 {
		goruntime.GC()
		goruntime.GC()
		var m goruntime.MemStats
		goruntime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	const n = 5000
	e := openEngine(b, openBench(b))
	start := func() {
		for range n {
			_, err := e.Start(ctx, thread.Begin{Machine: "mail", Input: 4711, User: "ann"})
			must(b, err)
		}
	}
	for range b.N {
		start() // what is made once is there after this
		before := heap()
		start()
		after := heap()
		b.ReportMetric((float64(after)-float64(before))/n, "B/thread")
		b.ReportMetric(float64(goruntime.NumGoroutine()), "goroutines")
	}
}
