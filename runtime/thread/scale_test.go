package thread_test

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/store/mem"
	"github.com/routegen/routegen/runtime/store/sqlite"
	"github.com/routegen/routegen/runtime/thread"
)

// eachStore runs a test, or a benchmark, once on a store of every kind.
func eachStore[T interface {
	testing.TB
	Run(name string, f func(T)) bool
}](t T, run func(t T, s runtime.Store),
) {
	t.Run("mem", func(t T) { run(t, mem.Open()) })
	t.Run("sqlite", func(t T) {
		disk, err := sqlite.Open(context.Background(), filepath.Join(t.TempDir(), "threads.db"), sqlite.Config{})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, disk.Close()) })
		run(t, disk)
	})
}

// fans are children that do nothing, and children that ask and are cancelled with their thread.
var fans = map[string]func(context.Context, any) (string, error){
	"quiet": func(context.Context, any) (string, error) { return "", nil },
	"asking": func(ctx context.Context, _ any) (string, error) {
		return thread.Ask[string](ctx, "which", runtime.Question{})
	},
}

// fan returns a function that runs a thread of so many children to its end.
func fan(tb testing.TB, s runtime.Store, kind string, children int) func() {
	tb.Helper()
	ctx := context.Background()
	e, err := thread.Open(ctx, s, thread.Config{}, family("child", make([]any, children)...), thread.Turns("child", fans[kind]))
	require.NoError(tb, err)
	tb.Cleanup(func() { require.NoError(tb, e.Close(ctx)) })
	return func() {
		th, err := e.Start(ctx, thread.Begin{Machine: "family"})
		require.NoError(tb, err)
		th, err = e.Wait(ctx, th.ID)
		require.NoError(tb, err)
		if kind == "asking" {
			require.Len(tb, th.Open, children)
			th, err = e.Cancel(ctx, th.ID, "ann", "")
			require.NoError(tb, err)
		}
		require.NotEmpty(tb, th.Over)
	}
}

// TestFanOutCostsWhatItsWidthSays compares 1,600 children with 400. Four times as much work takes about four times as long; a cost of the
// square would take sixteen times. Both are measured in turns, in processor time, and the least of each counts.
func TestFanOutCostsWhatItsWidthSays(t *testing.T) {
	const most, rounds = 9, 20
	for kind := range fans {
		t.Run(kind, func(t *testing.T) {
			eachStore(t, func(t *testing.T, s runtime.Store) {
				t.Helper()
				narrow, wide := fan(t, s, kind, 400), fan(t, s, kind, 1600)
				few, many := time.Hour, time.Hour
				for n := 0; n < 2 || n < rounds && many > most*few; n++ {
					began := burnt()
					narrow()
					between := burnt()
					wide()
					few, many = min(few, between-began), min(many, burnt()-between)
				}
				t.Logf("400 children: %s, 1,600: %s", few, many)
				require.LessOrEqual(t, many, most*few)
			})
		})
	}
}

func BenchmarkFan(b *testing.B) {
	for kind := range fans {
		for _, children := range []int{400, 1600} {
			b.Run(fmt.Sprint(kind, "/", children), func(b *testing.B) {
				eachStore(b, func(b *testing.B, s runtime.Store) {
					b.Helper()
					run := fan(b, s, kind, children)
					for b.Loop() {
						run()
					}
				})
			})
		}
	}
}
