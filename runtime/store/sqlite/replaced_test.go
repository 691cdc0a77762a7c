package sqlite

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	goruntime "runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
)

// lines is a log that several goroutines may write.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) Write(data []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(data)
}

func (l *lines) count(text string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.text.String(), text)
}

// TestReplacedFileTakesNoCommits takes the file, or its log, away under an open store, or puts
// another in its place. Nothing that would be lost is acknowledged, the log of the program says
// why, also without a commit, and what was there goes on when it is put back.
func TestReplacedFileTakesNoCommits(t *testing.T) {
	t.Parallel()
	if goruntime.GOOS == "windows" {
		t.Skip("an open file cannot be moved there")
	}
	for _, suffix := range []string{"", "-wal"} {
		for name, replace := range map[string]bool{"deleted": false, "replaced": true} {
			t.Run(name+" file"+suffix, func(t *testing.T) {
				t.Parallel()
				path := file(t)
				var log lines
				s, err := Open(t.Context(), path,
					Config{Log: slog.New(slog.NewTextHandler(&log, nil))})
				require.NoError(t, err)
				t.Cleanup(func() { require.NoError(t, s.Close()) })
				require.NoError(t, s.Commit(t.Context(), waiting("before", nil)))

				data, err := os.ReadFile(path + suffix)
				require.NoError(t, err)
				require.NoError(t, os.Rename(path+suffix, path+suffix+".away"))
				if replace {
					require.NoError(t, os.WriteFile(path+suffix, data, 0o600))
				}
				for _, id := range []string{"after", "later"} {
					err = s.Commit(t.Context(), waiting(id, nil))
					require.Equal(t, runtime.CodeUnavailable, runtime.CodeOf(err))
					require.ErrorContains(t, err, "was deleted, moved or replaced")
				}
				require.Equal(t, 1, log.count("commits are refused"), "once")
				_, err = s.Load(t.Context(), "before")
				require.NoError(t, err, "what was stored can be read")

				require.NoError(t, os.Rename(path+suffix+".away", path+suffix))
				require.NoError(t, s.Commit(t.Context(), waiting("back", nil)))
				require.Equal(t, 1, log.count("commits go on"))
				_, err = s.Load(t.Context(), "after")
				require.Equal(t, runtime.CodeNotFound, runtime.CodeOf(err))
			})
		}
	}
}

// TestReplacedFileIsNoticedByAnIdleEngine commits nothing: the engine's own look at what is due,
// every second, finds it.
func TestReplacedFileIsNoticedByAnIdleEngine(t *testing.T) {
	t.Parallel()
	if goruntime.GOOS == "windows" {
		t.Skip("an open file cannot be deleted there")
	}
	path := file(t)
	synctest.Test(t, func(t *testing.T) {
		var log lines
		s, err := Open(t.Context(), path, Config{Log: slog.New(slog.NewTextHandler(&log, nil))})
		require.NoError(t, err)
		defer func() { require.NoError(t, s.Close()) }()
		e := openEngine(t, s)
		defer func() { require.NoError(t, e.Close(context.Background())) }()
		synctest.Wait()
		require.NoError(t, os.Remove(path))
		require.Zero(t, log.count("commits are refused"))
		<-time.After(time.Second)
		synctest.Wait()
		require.Equal(t, 1, log.count("commits are refused"))
		_, err = e.Start(t.Context(), thread.Begin{Machine: "mail", Input: 1, User: "ann"})
		require.Equal(t, runtime.CodeUnavailable, runtime.CodeOf(err))
	})
}
