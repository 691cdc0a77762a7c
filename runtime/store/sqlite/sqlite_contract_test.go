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
				c, err := openConn(dsn(path, settings...))
				require.NoError(t, err)
				v, err := c.queryValue(t.Context(), "SELECT body FROM thread WHERE id = ?", thread)
				require.NoError(t, err)
				body := v.([]byte)
				body[0] ^= 1
				_, _, err = c.exec(t.Context(), "UPDATE thread SET body = ? WHERE id = ?", body,
					thread)
				require.NoError(t, err)
				require.NoError(t, c.closeAll())
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
