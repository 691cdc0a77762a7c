//go:build slow

package sqlite

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime/store/mem"
	"github.com/routegen/routegen/runtime/thread"
)

// TestStatsCostsWhatItReads compares 200,000 interrupts with 10,000: twenty times as many rows,
// which no longer fit the caches. Pages that sort take 190 times as long. Both are measured in
// turns, in processor time, and the least of each counts.
func TestStatsCostsWhatItReads(t *testing.T) {
	const most, rounds = 25, 20
	for name, open := range map[string]func() thread.Store{
		"sqlite": func() thread.Store { return opened(t, file(t)) },
		"mem":    func() thread.Store { return mem.Open() },
	} {
		t.Run(name, func(t *testing.T) {
			filled := func(n int) func() time.Duration {
				s := open()
				fill(t, s, n, func(int) time.Time { return time.Now() })
				e, err := thread.Open(context.Background(), s, thread.Config{}, mailer)
				require.NoError(t, err)
				t.Cleanup(func() { require.NoError(t, e.Close(context.Background())) })
				return func() time.Duration {
					began := burnt()
					rows, err := e.Stats(t.Context(), time.Time{})
					took := time.Duration(burnt() - began)
					require.NoError(t, err)
					require.Len(t, rows, 1)
					require.Equal(t, n, rows[0].Count)
					return took
				}
			}
			ten, twoHundred := filled(10_000), filled(200_000)
			few, many := time.Hour, time.Hour
			for n := 0; n < 2 || n < rounds && (many > most*few || many >= time.Second); n++ {
				few, many = min(few, ten()), min(many, twoHundred())
			}
			t.Logf("10,000 interrupts: %s, 200,000: %s, %.1f times as long", few, many,
				float64(many)/float64(few))
			require.LessOrEqual(t, many, most*few)
			require.Less(t, many, time.Second)
		})
	}
}
