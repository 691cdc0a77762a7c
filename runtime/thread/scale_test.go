package thread_test

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime/store/mem"
	"github.com/routegen/routegen/runtime/store/sqlite"
	"github.com/routegen/routegen/runtime/thread"
)

// eachStore runs a test, or a benchmark, once on a store of every kind.
func eachStore[T interface {
	testing.TB
	Run(name string, f func(T)) bool
}](t T, run func(t T, s thread.Store),
) {
	t.Run("mem", func(t T) { run(t, mem.Open()) })
	t.Run("sqlite", func(t T) {
		disk, err := sqlite.Open(context.Background(), filepath.Join(t.TempDir(), "threads.db"),
			sqlite.Config{})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, disk.Close()) })
		run(t, disk)
	})
}

// fans are children that do nothing, children that ask and are cancelled with their thread, and
// children that ask and get their answers.
var fans = map[string]func(context.Context, any) (string, error){
	"quiet":    func(context.Context, any) (string, error) { return "", nil },
	"asking":   asksWhich,
	"answered": asksWhich,
}

func asksWhich(ctx context.Context, _ any) (string, error) {
	return thread.Ask[string](ctx, "which", thread.Question{})
}

// fan returns a function that runs a thread of so many children to its end.
func fan(tb testing.TB, s thread.Store, kind string, children int) func() {
	tb.Helper()
	ctx := context.Background()
	// long, so that the speed of the machine does not decide in how many commits they are stored
	e, err := thread.Open(ctx, s, thread.Config{CommitDelay: time.Second},
		family("child", make([]any, children)...), thread.Turns("child", fans[kind]))
	require.NoError(tb, err)
	tb.Cleanup(func() { require.NoError(tb, e.Close(ctx)) })
	return func() {
		th, err := e.Start(ctx, thread.Begin{Machine: "family"})
		require.NoError(tb, err)
		th, err = e.Wait(ctx, th.ID)
		require.NoError(tb, err)
		if kind != "quiet" {
			require.Len(tb, th.Open, children)
		}
		switch kind {
		case "asking":
			th, err = e.Cancel(ctx, th.ID, "ann", "")
			require.NoError(tb, err)
		case "answered":
			answers := make([]thread.Answer, children)
			for n, i := range th.Open {
				answers[n] = thread.Answer{Interrupt: i.ID, Value: []byte(`"a"`)}
			}
			_, err = e.AnswerAll(ctx, answers...)
			require.NoError(tb, err)
			th, err = e.Wait(ctx, th.ID)
			require.NoError(tb, err)
		}
		require.NotEmpty(tb, th.Over)
	}
}

// TestFanOutCostsWhatItsWidthSays compares 1,600 children with 400: they take at most five times as
// long. A cost of the square would take sixteen times. Four narrow threads are measured against a
// wide one, so that both leave as much garbage, one after the other and in processor time; of
// several such rounds one is to pass, because other work of the machine counts in some of them.
func TestFanOutCostsWhatItsWidthSays(t *testing.T) {
	const most, rounds = 5, 12
	for kind := range fans {
		t.Run(kind, func(t *testing.T) {
			eachStore(t, func(t *testing.T, s thread.Store) {
				t.Helper()
				narrow, wide := fan(t, s, kind, 400), fan(t, s, kind, 1600)
				var few, many time.Duration // of 400 children, of 1,600
				for n := 0; n < 2 || n < rounds && many > most*few; n++ {
					began := burnt()
					for range 4 {
						narrow()
					}
					between := burnt()
					wide()
					few, many = (between-began)/4, burnt()-between
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
				eachStore(b, func(b *testing.B, s thread.Store) {
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
