//go:build unix

package transfer_test

import (
	goruntime "runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime/store/sqlite"
	"github.com/routegen/routegen/runtime/store/transfer"
	"github.com/routegen/routegen/runtime/thread"
)

// TestACopyTakesNoMoreMemoryForMore copies a store and one with six times as much in it, 7 MB.
// What the heap has between two parts is the same to some megabytes.
func TestACopyTakesNoMoreMemoryForMore(t *testing.T) { //nolint:paralleltest // it measures the heap
	peaks := map[int]uint64{}
	for _, threads := range []int{4, 24} {
		path := file(t)
		s, err := sqlite.Open(t.Context(), path, sqlite.Config{})
		require.NoError(t, err)
		for n := range threads {
			c := thread.Start(strconv.Itoa(n), "ann", "fp", &thread.Rules{}, time.Now())
			for range 500 {
				c.Add(thread.Entry{Type: thread.EntryMessage, Text: strings.Repeat("x", 600)})
			}
			require.NoError(t, s.Commit(t.Context(), c))
		}
		require.NoError(t, s.Close())
		to, _, err := sqlite.OpenImport(t.Context(), file(t))
		require.NoError(t, err)
		_, err = transfer.Copy(t.Context(), reading(t, path), to, func(int) {
			goruntime.GC()
			var m goruntime.MemStats
			goruntime.ReadMemStats(&m)
			peaks[threads] = max(peaks[threads], m.HeapAlloc)
		})
		require.NoError(t, err)
	}
	t.Log(peaks)
	assert.Less(t, peaks[24], peaks[4]+4<<20)
}
