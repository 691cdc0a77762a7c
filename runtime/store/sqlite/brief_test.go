package sqlite

import (
	"bytes"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime/store/internal/record"
	"github.com/routegen/routegen/runtime/thread"
)

// TestBriefInterruptsAreNotDecoded reads interrupts whose records cannot be decoded any longer: a
// brief query does not look at the rest of them. Where one is no JSON at all, the others come as
// they do of a query that is not brief.
func TestBriefInterruptsAreNotDecoded(t *testing.T) {
	t.Parallel()
	path := file(t)
	var log bytes.Buffer
	s, err := Open(t.Context(), path, Config{Log: slog.New(slog.NewTextHandler(&log, nil))})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, s.Close()) })
	fill(t, s, 3, func(int) time.Time { return time.Now() })
	q := thread.InterruptQuery{ByAge: true, States: record.States}
	whole, err := s.Interrupts(t.Context(), q)
	require.NoError(t, err)
	require.Len(t, whole, 3)

	raw(t, path, "UPDATE interrupt SET crc = crc + 1")
	left, err := s.Interrupts(t.Context(), q)
	require.NoError(t, err)
	require.Empty(t, left, "the control: they cannot be read")
	require.Contains(t, log.String(), "left out")
	log.Reset()
	q.Brief = true
	brief, err := s.Interrupts(t.Context(), q)
	require.NoError(t, err)
	require.Len(t, brief, 3)
	assert.Equal(t, whole[2].Created, brief[2].Created)
	assert.Empty(t, log.String())

	raw(t, path, "UPDATE interrupt SET crc = crc - 1",
		"UPDATE interrupt SET json = '{' WHERE n = (SELECT min(n) FROM interrupt)")
	brief, err = s.Interrupts(t.Context(), q)
	require.NoError(t, err)
	require.Len(t, brief, 2)
	assert.Equal(t, whole[1:], brief)
	assert.Contains(t, log.String(), whole[0].ID)
}
