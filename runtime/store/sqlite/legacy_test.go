package sqlite

import (
	"bytes"
	"context"
	"database/sql/driver"
	"encoding/binary"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/store/internal/record"
	"github.com/routegen/routegen/runtime/thread"
)

// old is a copy of the file of version 3, and what it holds.
func old(t *testing.T) (path, holds string) {
	t.Helper()
	data, err := os.ReadFile("testdata/v3-states.db")
	require.NoError(t, err)
	want, err := os.ReadFile("testdata/v3-states.json")
	require.NoError(t, err)
	path = file(t)
	require.NoError(t, os.WriteFile(path, data, 0o600))
	return path, string(want)
}

// unopened is a store of which only the writer is open.
func unopened(t *testing.T, path string) *Store {
	t.Helper()
	c, err := openConn(dsn(path, settings...))
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, c.closeAll()) })
	return &Store{writer: c, log: quiet}
}

// before runs something before each run of a statement.
type before struct {
	stmt
	run func() error
}

func (b *before) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result,
	error) {
	if err := b.run(); err != nil {
		return nil, err
	}
	return b.stmt.ExecContext(ctx, args)
}

func (b *before) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows,
	error) {
	if err := b.run(); err != nil {
		return nil, err
	}
	return b.stmt.QueryContext(ctx, args)
}

// A process that is killed leaves the file and its write-ahead log as they are at that moment. Both
// are copied at many moments of the migration: what opens them finds all that was there.
func TestAKilledMigrationIsDoneAgain(t *testing.T) {
	t.Parallel()
	path, holds := old(t)
	s := unopened(t, path)
	_, err := s.writer.queryValue(t.Context(), "PRAGMA cache_size = 1") // pages go to disk early
	require.NoError(t, err)
	type cut struct{ data, wal []byte }
	var cuts []cut
	at := []string{"ALTER TABLE thread DROP COLUMN body", "ALTER TABLE log DROP COLUMN body",
		migrations[len(migrations)-1], commitStmt}
	for _, q := range legacyRows {
		at = append(at, q.next)
	}
	for _, query := range at {
		runs := 0
		replace(t, s, query, func(had stmt) stmt {
			return &before{stmt: had, run: func() error {
				data, err := os.ReadFile(path)
				require.NoError(t, err)
				wal, err := os.ReadFile(path + "-wal")
				require.NoError(t, err)
				if runs++; runs%5 == 1 {
					cuts = append(cuts, cut{data, wal})
				}
				return nil
			}}
		})
	}
	require.NoError(t, s.migrateFile(t.Context()))
	require.Greater(t, len(cuts), 6)
	assert.NotEmpty(t, cuts[len(cuts)-1].wal, "some of it was on disk before the commit")
	for _, c := range cuts {
		path := file(t)
		require.NoError(t, os.WriteFile(path, c.data, 0o600))
		require.NoError(t, os.WriteFile(path+"-wal", c.wal, 0o600))
		at, err := fileVersion(t.Context(), unopened(t, path).writer)
		require.NoError(t, err)
		assert.Equal(t, 3, at, "no part of it is seen")
		assert.Equal(t, holds, contents(t, opened(t, path)))
	}
	assert.Equal(t, holds, contents(t, opened(t, path)))
}

func TestAMigrationThatFailsLeavesTheFile(t *testing.T) {
	t.Parallel()
	path, holds := old(t)
	s := unopened(t, path)
	pages, err := s.writer.queryValue(t.Context(), "PRAGMA page_count")
	require.NoError(t, err)
	for name, spoil := range map[string]string{
		"full":      "PRAGMA max_page_count = " + textOf(t, pages),
		"read-only": "PRAGMA query_only = 1",
	} {
		_, err = s.writer.queryValue(t.Context(), spoil)
		require.NoError(t, err)
		err = wrapError("open", s.migrateFile(t.Context()))
		assert.Equal(t, runtime.CodeUnavailable, runtime.CodeOf(err), "%s: %v", name, err)
		_, err = s.writer.queryValue(t.Context(), "PRAGMA max_page_count = 1000000")
		require.NoError(t, err)
		_, err = s.writer.queryValue(t.Context(), "PRAGMA query_only = 0")
		require.NoError(t, err)
		at, err := fileVersion(t.Context(), s.writer)
		require.NoError(t, err)
		assert.Equal(t, 3, at, name)
	}
	ctx, cancel := context.WithCancel(t.Context())
	replace(t, s, "ALTER TABLE log DROP COLUMN body", func(had stmt) stmt {
		return &before{stmt: had, run: func() error {
			cancel()
			return ctx.Err()
		}}
	})
	err = wrapError("open", s.migrateFile(ctx))
	assert.Equal(t, runtime.CodeUnavailable, runtime.CodeOf(err), "%v", err)
	assert.Equal(t, holds, contents(t, opened(t, path)))
}

func textOf(t *testing.T, v driver.Value) string {
	t.Helper()
	n, ok := v.(int64)
	require.True(t, ok)
	return strconv.FormatInt(n, 10)
}

// Two processes of a new version begin at the same moment. One of an older version that still has
// the file open can read and write no row of the new form.
func TestOthersOpenTheFileDuringAMigration(t *testing.T) {
	t.Parallel()
	path, holds := old(t)
	older := unopened(t, path).writer
	const reads = "SELECT body FROM thread"
	const writes = "INSERT INTO log(thread, seq, body) VALUES(1, 1, x'00')"
	_, err := older.queryValue(t.Context(), reads)
	require.NoError(t, err)
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() {
			s, err := Open(context.Background(), path, Config{Log: quiet})
			if assert.NoError(t, err) {
				assert.NoError(t, s.Close())
			}
		})
	}
	all.Wait()
	assert.Equal(t, holds, contents(t, opened(t, path)))
	_, err = older.queryValue(t.Context(), reads)
	require.ErrorContains(t, err, "no such column: body")
	_, _, err = older.exec(t.Context(), writes)
	require.ErrorContains(t, err, "no column named body")
}

// A damaged row of an old file, and one that JSON cannot hold, stay damaged, keep their bytes, and
// harm their thread only.
func TestAMigrationKeepsADamagedRow(t *testing.T) {
	t.Parallel()
	path, _ := old(t)
	flipBit(t, path, "thread", "body", "id = 'thread-3'")
	flipBit(t, path, "interrupt", "body", "id = 'i-done'")
	flipBit(t, path, "log", "body", "thread = (SELECT n FROM thread WHERE id = 'failed')")
	// the year 33658, in the field Created
	far := binary.AppendVarint([]byte{4}, int64(1e15)<<1)
	far = binary.LittleEndian.AppendUint32(append(far, 0),
		uint32(record.Checksum(append(bytes.Clone(far), 0), []string{"idle", ""})))
	c := unopened(t, path).writer
	_, _, err := c.exec(t.Context(), "UPDATE thread SET body = ? WHERE id = 'idle'", far)
	require.NoError(t, err)
	damaged, err := c.queryValue(t.Context(), "SELECT body FROM thread WHERE id = 'thread-3'")
	require.NoError(t, err)

	var said bytes.Buffer
	s, err := Open(t.Context(), path, Config{Log: slog.New(slog.NewTextHandler(&said, nil))})
	require.NoError(t, err)
	for _, of := range []string{"table=thread", "table=interrupt", "table=log", "of=thread-3",
		"of=i-done", "of=failed", "of=idle"} {
		assert.Contains(t, said.String(), of)
	}
	assert.Equal(t, 4, strings.Count(said.String(), "\n"), said.String())
	for _, id := range []string{"thread-3", "idle"} {
		_, err = s.Load(t.Context(), id)
		assert.Equal(t, runtime.CodeInternal, runtime.CodeOf(err), "%s: %v", id, err)
	}
	_, err = s.Interrupts(t.Context(), thread.InterruptQuery{ID: "i-done"})
	assert.Equal(t, runtime.CodeInternal, runtime.CodeOf(err), "%v", err)
	_, err = s.Log(t.Context(), thread.LogQuery{Thread: "failed"})
	assert.Equal(t, runtime.CodeInternal, runtime.CodeOf(err), "%v", err)
	for _, id := range []string{"thread-1", "thread-2", "done", "failed", "every-field"} {
		_, err = s.Load(t.Context(), id)
		require.NoError(t, err, id)
	}
	require.NoError(t, s.Close())
	kept, err := unopened(t, path).writer.queryValue(t.Context(),
		"SELECT json FROM thread WHERE id = 'thread-3'")
	require.NoError(t, err)
	assert.Equal(t, damaged, kept)
}

// Whatever is in an old body, it is read or refused.
func TestAnyOldBodyIsReadOrRefused(t *testing.T) {
	t.Parallel()
	path, _ := old(t)
	var seeds [][]byte
	c := unopened(t, path).writer
	for _, table := range []string{"thread", "interrupt", "log"} {
		require.NoError(t, c.query(t.Context(), func(row []driver.Value) bool {
			seeds = append(seeds, row[0].([]byte))
			return true
		}, "SELECT body FROM "+table))
	}
	rapid.Check(t, func(t *rapid.T) {
		seed := rapid.SampledFrom(seeds).Draw(t, "seed")
		data := bytes.Clone(seed[:len(seed)-4])
		for range rapid.IntRange(1, 4).Draw(t, "times") {
			data[rapid.IntRange(0, len(data)-1).Draw(t, "at")] = rapid.Byte().Draw(t, "byte")
		}
		data = binary.LittleEndian.AppendUint32(data, uint32(record.Checksum(data, nil)))
		for _, v := range []any{new(thread.Thread), new(thread.Interrupt), new([]thread.Entry)} {
			if err := unsealLegacy(data, v); err != nil {
				require.ErrorIs(t, err, record.ErrDamaged)
			}
		}
	})
}
