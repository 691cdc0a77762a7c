package sqlite

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
)

// TestBackupHasEveryAnswerFromBeforeIt runs threads on an engine without a break while backups are
// made. Each backup opens, and has the result of every thread whose answer was acknowledged before
// that backup began.
func TestBackupHasEveryAnswerFromBeforeIt(t *testing.T) {
	t.Parallel()
	path := file(t)
	s := opened(t, path)
	e := openEngine(t, s)
	var mu sync.Mutex
	var answered []string
	ctx, stop := context.WithCancel(t.Context())
	whole := context.WithoutCancel(ctx) // what has begun goes on
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for ctx.Err() == nil {
				th, err := e.Start(whole, thread.Begin{Machine: "mail", Input: 4711, User: "ann"})
				if err == nil {
					_, err = e.Wait(whole, th.ID)
				}
				if err == nil {
					_, err = e.Answer(whole, th.ID,
						thread.Answer{Value: []byte("true"), By: "bob"})
				}
				if !assert.NoError(t, err) {
					return
				}
				mu.Lock()
				answered = append(answered, th.ID)
				mu.Unlock()
			}
		})
	}
	for n := range 3 {
		var before []string
		require.Eventually(t, func() bool {
			mu.Lock()
			defer mu.Unlock()
			before = append([]string(nil), answered...)
			return len(before) > 50*(n+1)
		}, time.Minute, time.Millisecond)
		to := filepath.Join(t.TempDir(), "copy.db")
		require.NoError(t, s.Backup(t.Context(), to))
		copied := opened(t, to)
		for _, id := range before {
			th, err := copied.Load(t.Context(), id)
			require.NoError(t, err)
			require.Empty(t, th.Open, "the answer is there")
		}
		require.NoError(t, checkFile(t.Context(), copied.writer))
		require.NoError(t, copied.Close())
	}
	stop()
	all.Wait()
	require.NoError(t, e.Close(context.Background()))
	to := filepath.Join(t.TempDir(), "copy.db")
	require.NoError(t, s.Backup(t.Context(), to))
	restored := openEngine(t, opened(t, to))
	th, err := restored.Start(t.Context(), thread.Begin{Machine: "mail", Input: 1, User: "ann"})
	require.NoError(t, err, "a restored store goes on")
	_, err = restored.Wait(t.Context(), th.ID)
	require.NoError(t, err)
	for _, id := range answered {
		th, err := restored.Thread(t.Context(), id)
		require.NoError(t, err)
		require.Equal(t, thread.StatusDone, th.Status())
	}
}

func TestBackupRefusals(t *testing.T) {
	t.Parallel()
	s := opened(t, file(t))
	fill(t, s, 20_000, func(int) time.Time { return noon })
	folder := t.TempDir()
	empty := func(why string) {
		t.Helper()
		left, err := os.ReadDir(folder)
		require.NoError(t, err)
		require.Empty(t, left, why)
	}
	to := filepath.Join(folder, "copy.db")

	over, cancel := context.WithCancel(t.Context())
	cancel()
	require.Equal(t, runtime.CodeUnavailable, runtime.CodeOf(s.Backup(over, to)))
	soon, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	require.Equal(t, runtime.CodeUnavailable, runtime.CodeOf(s.Backup(soon, to)))
	empty("a backup that was cut leaves nothing")
	require.Equal(t, runtime.CodeUnavailable,
		runtime.CodeOf(s.Backup(t.Context(), filepath.Join(folder, "missing", "copy.db"))))
	empty("nothing is made")

	require.NoError(t, s.Backup(t.Context(), to))
	before, err := os.ReadFile(to)
	require.NoError(t, err)
	require.Equal(t, runtime.CodeInvalid, runtime.CodeOf(s.Backup(t.Context(), to)))
	after, err := os.ReadFile(to)
	require.NoError(t, err)
	require.Equal(t, before, after, "what is there stays")
	for range s.all {
		c := <-s.readers
		_, _, err := c.exec(t.Context(), "DELETE FROM thread")
		require.Error(t, err, "a reader still must not write")
		s.readers <- c
	}

	require.NoError(t, s.Close())
	require.Equal(t, runtime.CodeUnavailable,
		runtime.CodeOf(s.Backup(t.Context(), filepath.Join(folder, "late.db"))))
}
