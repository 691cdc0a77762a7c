package sqlite

import (
	"bytes"
	"database/sql/driver"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
)

func TestPathsWithSignsOfTheirOwnAreFiles(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a?mode=ro&b#c%41 d.db")
	s := opened(t, path)
	require.NoError(t, s.Commit(t.Context(), waiting("t", nil)))
	_, err := os.Stat(path)
	assert.NoError(t, err)
}

func TestSettingsAreReadBack(t *testing.T) {
	t.Parallel()
	path := file(t)
	s := opened(t, path)
	require.NoError(t, verifySettings(t.Context(), s.writer))
	for range s.all {
		c := <-s.readers
		assert.NoError(t, verifySettings(t.Context(), c))
		_, _, err := c.exec(t.Context(), "DELETE FROM thread")
		assert.Error(t, err, "a reader must not write")
		s.readers <- c
	}
	for name, keys := range map[string][]string{
		"overridden synchronous": append(slices.Clip(settings), "_sync=NORMAL"),
		"no foreign keys":        append(slices.Clip(settings), "_fk=off"),
		"a misspelt key": {"_journal_mode=WAL", "_synchronous=FULL", "_busy_timeot=10000",
			"_foreign_keys=on"},
		"another timeout": append(slices.Clip(settings), "_timeout=5000"),
		"a pragma that weakens": append(slices.Clip(settings), "_sync=",
			"_pragma=synchronous(normal)"),
		"a pragma that does none": {"_pragma=journal_mode(wl)", "_busy_timeout=10000",
			"_foreign_keys=on", "_sync=NORMAL"},
	} {
		c, err := openConn(dsn(path, keys...))
		require.NoError(t, err, name)
		assert.Equal(t, runtime.CodeUnavailable, runtime.CodeOf(verifySettings(t.Context(), c)),
			name)
		require.NoError(t, c.closeAll())
	}
	_, err := openConn(dsn(path, "_synchronous=FUL"))
	assert.Error(t, err, "the driver checks values")

	other := filepath.Join(t.TempDir(), "rollback.db")
	c, err := openConn(dsn(other, "_journal_mode=DELETE", "_synchronous=FULL",
		"_busy_timeout=10000",
		"_foreign_keys=on"))
	require.NoError(t, err)
	assert.ErrorContains(t, verifySettings(t.Context(), c),
		"journal_mode is delete and must be wal")
	require.NoError(t, c.closeAll())
}

func TestFilesThatAreNotOursStayAsTheyAre(t *testing.T) {
	t.Parallel()
	foreign, garbage, newer := file(t), file(t), file(t)
	raw(t, foreign, "CREATE TABLE notes(text)", "INSERT INTO notes VALUES('mine')")
	require.NoError(t, os.WriteFile(garbage, bytes.Repeat([]byte("no database at all. "), 500),
		0o600))
	s := opened(t, newer)
	require.NoError(t, s.Close())
	raw(t, newer, "PRAGMA user_version = 99")
	for path, code := range map[string]runtime.Code{
		foreign: runtime.CodeIncompatible, garbage: runtime.CodeInternal,
		newer: runtime.CodeIncompatible,
	} {
		before, err := os.ReadFile(path)
		require.NoError(t, err)
		_, err = Open(t.Context(), path, Config{})
		assert.Equal(t, code, runtime.CodeOf(err), "%v", err)
		after, err := os.ReadFile(path)
		require.NoError(t, err)
		assert.True(t, bytes.Equal(before, after))
	}
	_, err := Open(t.Context(), filepath.Join(garbage, "below.db"), Config{})
	assert.Equal(t, runtime.CodeUnavailable, runtime.CodeOf(err), "%v", err)
	_, err = Open(t.Context(), t.TempDir(), Config{})
	assert.Equal(t, runtime.CodeUnavailable, runtime.CodeOf(err), "%v", err)
}

// A newer program may bring the file to its version while this one has it open. To find out what
// became of a commit does not take that back: the newer one would do its steps a second time.
func TestAnUnknownOutcomeLeavesTheVersionAlone(t *testing.T) {
	t.Parallel()
	path := file(t)
	s := opened(t, path)
	require.NoError(t, s.Commit(t.Context(), waiting("t", nil)))
	raw(t, path, fmt.Sprintf("PRAGMA user_version = %d", len(migrations)+1))
	require.NoError(t, s.resolveCommit(t.Context(), nil, errors.New("the disk said nothing")))
	at, err := s.writer.queryValue(t.Context(), "PRAGMA user_version")
	require.NoError(t, err)
	assert.Equal(t, int64(len(migrations)+1), at)
}

// The statement of the package comment reads a file as it says there.
func TestAFileIsReadWithSQL(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("store.go")
	require.NoError(t, err)
	_, said, found := strings.Cut(string(source), `sqlite3 -readonly threads.db "`)
	require.True(t, found)
	said, _, _ = strings.Cut(said, `"`)
	s := opened(t, file(t))
	require.NoError(t, s.Commit(t.Context(), waiting("t", []byte(`{"html":"<b>&</b>"}`))))
	var rows [][]driver.Value
	each := func(row []driver.Value) bool {
		rows = append(rows, slices.Clone(row))
		return true
	}
	require.NoError(t, s.writer.query(t.Context(), each, said))
	require.NoError(t, s.writer.query(t.Context(), each,
		"SELECT typeof(json), json ->> '$.payload.html', json_type(json, '$.id') FROM interrupt"))
	require.NoError(t, s.writer.query(t.Context(), each, `SELECT l.n, e.value ->> '$.type',
		e.value ->> '$.at' FROM log l, json_each(l.json) e`))
	assert.Equal(t, [][]driver.Value{
		{"t", "ann", "2026-03-01T12:00:00Z"}, {"text", "<b>&</b>", nil},
		{int64(1), "started", "2026-03-01T12:00:00Z"}, {int64(1), "entered", nil},
		{int64(1), "asked", nil},
	}, rows)
}

func TestAnUncleanStopIsChecked(t *testing.T) {
	t.Parallel()
	path := file(t)
	s := opened(t, path)
	for n := range 50 {
		require.NoError(t, s.Commit(t.Context(),
			waiting(fmt.Sprint("t", n), bytes.Repeat([]byte("7"), 2000))))
	}
	require.NoError(t, s.Close())
	_, err := os.Stat(path + "-wal")
	require.ErrorIs(t, err, os.ErrNotExist, "a clean stop leaves one file")
	s = opened(t, path)
	require.NoError(t, s.Commit(t.Context(), waiting("last", nil)))

	data, err := os.ReadFile(path)
	require.NoError(t, err)
	wal, err := os.ReadFile(path + "-wal")
	require.NoError(t, err)
	cut := func(data []byte) error { // what a killed process leaves
		path := file(t)
		require.NoError(t, os.WriteFile(path, data, 0o600))
		require.NoError(t, os.WriteFile(path+"-wal", wal, 0o600))
		s, err := Open(t.Context(), path, Config{})
		if err != nil {
			return err
		}
		_, err = s.Load(t.Context(), "last")
		require.NoError(t, s.Close())
		return err
	}
	require.NoError(t, cut(data))
	bad := bytes.Clone(data)
	for at := 4096 * 20; at < 4096*22; at++ {
		bad[at] ^= 0x55
	}
	assert.Equal(t, runtime.CodeInternal, runtime.CodeOf(cut(bad)))
}
