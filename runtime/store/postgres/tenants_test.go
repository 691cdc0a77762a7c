//go:build unix

package postgres

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime/store/internal/record"
	"github.com/routegen/routegen/runtime/store/postgrestest"
	"github.com/routegen/routegen/runtime/thread"
)

// TestASchemaOfVersion1IsMigrated fills a schema of version 1 with a thread that asks and a table
// of shapes, and brings it to the latest version: the thread is of tenant "" and goes on, and the
// table is of the tenant that its id begins with.
func TestASchemaOfVersion1IsMigrated(t *testing.T) {
	t.Parallel()
	d := postgrestest.New(t)
	quoted := quoteSchema(d.Schema)
	d.Exec(t, inSchema("CREATE SCHEMA IF NOT EXISTS {schema};"+migrations()[0]+
		"UPDATE {schema}.settings SET version = 1", quoted))
	asks := say(nil, "t1", "")
	asks.Interrupts = []*thread.Interrupt{{ID: "i1", Thread: "t1", State: thread.InterruptOpen,
		Kind: thread.KindAgentQuestion, Created: time.Now()}}
	rows, err := record.RowsOf([]*thread.Change{asks, say(nil, "shapes/fp", "")})
	require.NoError(t, err)
	for n := range rows {
		r := &rows[n]
		d.Exec(t, inSchema(fmt.Sprintf(`INSERT INTO {schema}.thread(version, fence, token, crc,
			status, id, fingerprint, body) VALUES (%d, %d, 1, %d, %d, '%s', '%s', $b$%s$b$)`,
			r.Version, r.Next, r.Body.CRC, r.Status, r.ID, r.Fingerprint, r.Body.JSON), quoted))
		for _, i := range r.Interrupts {
			d.Exec(t, inSchema(fmt.Sprintf(`INSERT INTO {schema}.interrupt(thread, id, kind, node,
				state, priority, created, body, crc) VALUES (%d, '%s', '%s', '%s', %d, %d, %d,
				$b$%s$b$, %d)`, n+1, i.ID, i.Kind, i.Node, i.State, i.Priority, i.Created,
				i.Body.JSON, i.Body.CRC), quoted))
		}
		for _, l := range r.Log {
			d.Exec(t, inSchema(fmt.Sprintf(`INSERT INTO {schema}.log(thread, seq, x, token, crc,
				place, body) VALUES (%d, %d, 1, 1, %d, %d, $b$%s$b$)`, n+1, l.Last, l.Body.CRC, n,
				l.Body.JSON), quoted))
		}
	}
	require.NoError(t, Migrate(t.Context(), d.Admin, d.Schema))
	s, err := Open(t.Context(), d.Admin, Config{Schema: d.Schema})
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.Close() })
	tenant, shapes := "", "shapes"
	inbox, err := s.Interrupts(t.Context(), thread.InterruptQuery{Tenant: &tenant})
	require.NoError(t, err)
	require.Len(t, inbox, 1)
	assert.Equal(t, "t1", inbox[0].Thread)
	for of, want := range map[*string]string{&tenant: "t1", &shapes: "shapes/fp"} {
		log, err := s.Log(t.Context(), thread.LogQuery{Tenant: of})
		require.NoError(t, err)
		require.NotEmpty(t, log)
		for _, e := range log {
			assert.Equal(t, want, e.Thread)
		}
		found, err := s.Threads(t.Context(), thread.Query{Tenant: of})
		require.NoError(t, err)
		require.Len(t, found, 1)
		assert.Equal(t, want, found[0].ID)
	}
	had, err := s.Load(t.Context(), "t1")
	require.NoError(t, err)
	require.NoError(t, s.Commit(t.Context(), say(had, "t1", "r")))
}
