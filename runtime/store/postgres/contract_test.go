//go:build unix

package postgres

import (
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime/store/postgrestest"
	"github.com/routegen/routegen/runtime/store/storetest"
	"github.com/routegen/routegen/runtime/thread"
)

func TestMain(m *testing.M) { os.Exit(postgrestest.Run(m)) }

// migrated returns a database with the schema of this program.
func migrated(tb testing.TB) *postgrestest.Database {
	tb.Helper()
	d := postgrestest.New(tb)
	require.NoError(tb, Migrate(tb.Context(), d.URL, d.Schema))
	return d
}

func opened(tb testing.TB, d *postgrestest.Database) *Store {
	tb.Helper()
	s, err := Open(tb.Context(), d.URL, Config{Schema: d.Schema})
	require.NoError(tb, err)
	tb.Cleanup(func() { _ = s.Close() })
	return s
}

func TestContract(t *testing.T) {
	t.Parallel()
	report := storetest.Run(t, func(t *testing.T) storetest.Opened {
		t.Helper()
		d := migrated(t)
		s := opened(t, d)
		return storetest.Opened{
			Store: s,
			Close: s.Close,
			Reopen: func() thread.Store {
				require.NoError(t, s.Close())
				s = opened(t, d)
				return s
			},
			Second: func() thread.Store { return opened(t, d) },
			Damage: func(thread string) {
				d.Exec(t, fmt.Sprintf(`UPDATE %s.thread SET body = overlay(body PLACING '~' FROM 9)
					WHERE id = '%s'`, d.Schema, thread))
			},
			Break: func() func() {
				d.Exec(t, fmt.Sprintf(`ALTER ROLE %s CONNECTION LIMIT 0;
					SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '%s'`,
					d.Schema, d.Schema))
				return func() { d.Exec(t, "ALTER ROLE "+d.Schema+" CONNECTION LIMIT -1") }
			},
		}
	})
	assert.Empty(t, report.Absent)
}
