//go:build slow

package sqlite

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/store/mem"
	"github.com/routegen/routegen/runtime/thread"
)

// TestStatsCostsWhatItReads compares 200,000 interrupts with 10,000: twenty times as many rows, which no
// longer fit the caches. Pages that sort take 190 times as long.
func TestStatsCostsWhatItReads(t *testing.T) {
	for name, open := range map[string]func() runtime.Store{
		"sqlite": func() runtime.Store { return opened(t, file(t)) },
		"mem":    func() runtime.Store { return mem.Open() },
	} {
		t.Run(name, func(t *testing.T) {
			took := func(n int) time.Duration {
				s := open()
				fill(t, s, n, func(int) time.Time { return time.Now() })
				e, err := thread.Open(context.Background(), s, thread.Config{}, mailer)
				require.NoError(t, err)
				defer e.Close(context.Background())
				best := time.Hour
				for range 5 {
					began := time.Now()
					rows, err := e.Stats(t.Context(), time.Time{})
					best = min(best, time.Since(began))
					require.NoError(t, err)
					require.Len(t, rows, 1)
					require.Equal(t, n, rows[0].Count)
				}
				return best
			}
			few, many := took(10_000), took(200_000)
			t.Logf("10,000 interrupts: %s, 200,000: %s, %.1f times as long", few, many, float64(many)/float64(few))
			require.LessOrEqual(t, many, 60*few)
		})
	}
}
