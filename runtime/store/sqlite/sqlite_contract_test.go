package sqlite

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime/store/storetest"
	"github.com/routegen/routegen/runtime/thread"
)

func TestContract(t *testing.T) {
	t.Parallel()
	report := storetest.Run(t, func(t *testing.T) storetest.Opened {
		t.Helper()
		path := file(t)
		s := opened(t, path)
		return storetest.Opened{
			Store: s,
			Close: s.Close,
			Reopen: func() thread.Store {
				require.NoError(t, s.Close())
				s = opened(t, path)
				return s
			},
			Second: func() thread.Store { return opened(t, path) },
			Damage: func(thread string) {
				flipBit(t, path, "thread", "json", "id = '"+thread+"'")
			},
			Break: func() func() {
				query := func(q string) {
					_, _, err := s.writer.exec(t.Context(), q)
					require.NoError(t, err)
				}
				query("PRAGMA query_only = ON")
				return func() { query("PRAGMA query_only = OFF") }
			},
		}
	})
	assert.Empty(t, report.Absent)
}
