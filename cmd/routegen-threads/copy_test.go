//go:build unix

package main

import (
	"bytes"
	"context"
	"net/url"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/generated/routes"
	"github.com/routegen/routegen/runtime/store/postgrestest"
	"github.com/routegen/routegen/runtime/store/sqlite"
	"github.com/routegen/routegen/runtime/thread"
)

// ran runs the program, and returns its exit code and what it prints.
func ran(t *testing.T, args ...string) (code int, out, said string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	p := &program{stdin: &bytes.Buffer{}, stdout: &stdout, stderr: &stderr, getenv: os.Getenv}
	code = p.runCommand(t.Context(), args)
	return code, stdout.String(), stderr.String()
}

// asking is a file with two threads, one that waits and one that is done, and its engine.
func asking(t *testing.T) (path string, store *sqlite.Store, e *thread.Engine) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "work.db")
	store, err := sqlite.Open(t.Context(), path, sqlite.Config{})
	require.NoError(t, err)
	t.Cleanup(func() { _ = store.Close() })
	e, err = thread.Open(t.Context(), store, thread.Config{}, thread.Func("plain",
		func(ctx context.Context, ask bool) (string, error) {
			if !ask {
				return "done", nil
			}
			return thread.Ask[string](ctx, "go", thread.Question{Text: "Go on?"})
		}))
	require.NoError(t, err)
	t.Cleanup(func() { _ = e.Close(context.Background()) })
	for id, ask := range map[string]bool{"waits": true, "over": false} {
		_, err := e.Start(t.Context(), thread.Begin{ID: id, Machine: "plain", Input: ask})
		require.NoError(t, err)
		_, err = e.Wait(t.Context(), id)
		require.NoError(t, err)
	}
	return path, store, e
}

// TestCopyMovesAStoreThereAndBack copies a file to PostgreSQL and back with the program, checks all
// three, and compares what it is told of a program that runs and of other contents.
func TestCopyMovesAStoreThereAndBack(t *testing.T) {
	t.Parallel()
	path, store, e := asking(t)
	d := postgrestest.New(t)
	schema := []string{"--schema", d.Schema}
	code, out, said := ran(t, append([]string{"copy", "sqlite:" + path, d.URL}, schema...)...)
	require.Equal(t, exitFailed, code)
	assert.Empty(t, out)
	assert.Contains(t, said, "engines have the source open (file-")
	require.NoError(t, e.Close(t.Context()))
	require.NoError(t, store.Close())

	const same = "2 threads, 1 of them waiting, 1 interrupt, 6 entries: the same in both stores\n" +
		"sha256 "
	code, first, said := ran(t, append([]string{"copy", "sqlite:" + path, d.URL}, schema...)...)
	require.Zero(t, code, said)
	assert.Empty(t, said)
	require.Contains(t, first, same)
	back := filepath.Join(t.TempDir(), "back.db")
	for _, from := range [][]string{{d.URL, "sqlite:" + back}, {path, d.URL}, {path, back}} {
		code, out, said = ran(t, append(append([]string{"copy"}, from...), schema...)...)
		require.Zero(t, code, said)
		assert.Equal(t, first, out)
	}

	for _, name := range []string{path, d.URL, "postgres:" + d.URL, back} {
		const all = "1 unfinished thread: 1 go on, 0 refused\n"
		assert.Equal(t, all, checked(t, name, routes.StoredShapes(), schema...))
	}

	other, store, e := asking(t)
	require.NoError(t, e.Close(t.Context()))
	require.NoError(t, store.Close())
	code, out, said = ran(t, append([]string{"copy", other, d.URL}, schema...)...)
	require.Equal(t, exitFailed, code)
	assert.Empty(t, out)
	assert.Contains(t, said, "the target has threads already, and is no copy of this source")
}

// TestBackupIsForFiles backs up a file while an engine has it open, and refuses PostgreSQL.
func TestBackupIsForFiles(t *testing.T) {
	t.Parallel()
	path, _, _ := asking(t)
	backup := filepath.Join(t.TempDir(), "backup.db")
	code, out, said := ran(t, "backup", path, backup)
	require.Zero(t, code, said)
	assert.Empty(t, out+said)
	s, err := sqlite.Open(t.Context(), backup, sqlite.Config{})
	require.NoError(t, err)
	had, err := s.Load(t.Context(), "waits")
	require.NoError(t, err)
	assert.Len(t, had.Open, 1)
	require.NoError(t, s.Close())
	again := filepath.Join(t.TempDir(), "again.db")
	code, _, said = ran(t, "backup", "sqlite:"+backup, again)
	require.Zero(t, code, said, "of a file that no program has open")
	code, _, said = ran(t, "backup", path, backup)
	require.Equal(t, exitFailed, code)
	assert.Contains(t, said, "file already exists")
	code, _, said = ran(t, "backup", "postgres://u:secret@127.0.0.1:1/x", again+"2")
	require.Equal(t, exitFailed, code)
	assert.Contains(t, said, "pg_basebackup")
	assert.NotContains(t, said, "secret")
}

// TestPasswordsAreNotPrinted names databases that cannot be reached or read.
func TestPasswordsAreNotPrinted(t *testing.T) {
	t.Parallel()
	path, store, e := asking(t)
	require.NoError(t, e.Close(t.Context()))
	require.NoError(t, store.Close())
	for _, name := range []string{
		"postgres://ann:se%63ret-word@127.0.0.1:1/work", "postgres://ann:secret-word@[::1/work",
		"postgres://ann:secret-word%zz@127.0.0.1:1/work",
		"postgres://ann:secret-word@127.0.0.1:port/work",
		"postgres://127.0.0.1:1/work?user=ann&password=secret-word",
		"postgres:host=127.0.0.1 port=1 user=ann password=secret-word",
		"postgres:host=127.0.0.1 port=x user=ann password='secret-word'",
		"postgresql://ann:secret-word@127.0.0.1:1/work?sslmode=never",
	} {
		for _, args := range [][]string{{"copy", path, name}, {"copy", name, path + "2"},
			{"check", name, "--program", "shapes.json"}, {"backup", name, path + "2"}} {
			if args[0] == "check" {
				args[3] = filepath.Join(t.TempDir(), "shapes.json")
				require.NoError(t, os.WriteFile(args[3], []byte(`[{"name":"x"}]`), 0o600))
			}
			code, out, said := ran(t, args...)
			require.Equal(t, exitFailed, code)
			assert.NotContains(t, out+said, "secret-word")
			assert.NotContains(t, out+said, url.QueryEscape("se%63ret-word"))
			assert.NotContains(t, said, "se%63ret")
		}
	}
	require.NoFileExists(t, path+"2")
	require.NoFileExists(t, path+"2.partial")
}
