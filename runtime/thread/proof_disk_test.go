package thread_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/store/sqlite"
	"github.com/routegen/routegen/runtime/thread"
)

// smallDisk mounts a disk of one mebibyte, or skips the test and says why.
func smallDisk(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if said, err := exec.CommandContext(t.Context(), "mount", "-t", "tmpfs", "-o", "size=1m",
		"routegen-proof", dir).CombinedOutput(); err != nil {
		t.Skipf("SKIPPED: a full disk needs a small one to fill, and tmpfs cannot be mounted "+
			"here (root on Linux can): %v %s", err, said)
	}
	t.Cleanup(func() {
		nobodyBegins()
		// the test's context is over by now
		said, err := exec.Command("umount", dir).CombinedOutput()
		assert.NoError(t, err, string(said))
	})
	return dir
}

// nobodyBegins returns when no process of another test is on its way between fork and exec: until
// then it holds the files that were open, closed here or not, and the disk is busy.
func nobodyBegins() {
	syscall.ForkLock.Lock()
	defer syscall.ForkLock.Unlock()
}

// fill takes all the space there is, and returns what gives it back.
func fill(t *testing.T, dir string) (free func()) {
	t.Helper()
	path := filepath.Join(dir, "filler")
	f, err := os.Create(path)
	require.NoError(t, err)
	zeros := make([]byte, 4096)
	for err == nil {
		_, err = f.Write(zeros)
	}
	require.NoError(t, f.Close())
	require.ErrorContains(t, err, "no space")
	return func() { require.NoError(t, os.Remove(path)) }
}

// diskProgram has a thread that asks at once, and one whose effect is under way for as long as the
// test wants.
type diskProgram struct {
	begun, end    chan struct{}
	done, started atomic.Int32
}

func (p *diskProgram) machines() []thread.Machine {
	return []thread.Machine{
		thread.Func("asker", func(ctx context.Context, _ any) (string, error) {
			p.started.Add(1)
			return thread.Ask[string](ctx, "name", thread.Question{})
		}),
		thread.Func("worker", func(ctx context.Context, _ any) (string, error) {
			return thread.Once(ctx, "work", func(context.Context, string) (string, error) {
				p.done.Add(1)
				p.begun <- struct{}{}
				<-p.end
				return "worked", nil
			})
		}),
	}
}

// TestProofFullDiskRefusesAndForgetsNothing answers while the disk is full: the answer is refused
// and nothing is marked, what a step has done meanwhile is kept, and when there is space again both
// go on.
func TestProofFullDiskRefusesAndForgetsNothing(t *testing.T) {
	t.Parallel()
	dir := smallDisk(t)
	ctx := t.Context()
	store, err := sqlite.Open(ctx, filepath.Join(dir, "threads.db"), sqlite.Config{})
	require.NoError(t, err)
	t.Cleanup(func() { _ = store.Close() }) // or the disk is busy, where the test fails
	p := &diskProgram{begun: make(chan struct{}), end: make(chan struct{})}
	e, err := thread.Open(ctx, store, thread.Config{Poll: 20 * time.Millisecond, CommitDelay: -1},
		p.machines()...)
	require.NoError(t, err)
	_, err = e.Start(ctx, thread.Begin{ID: "ask", Machine: "asker"})
	require.NoError(t, err)
	asked, err := e.Wait(ctx, "ask")
	require.NoError(t, err)
	require.Len(t, asked.Open, 1)
	question := asked.Open[0].ID
	_, err = e.Start(ctx, thread.Begin{ID: "work", Machine: "worker"})
	require.NoError(t, err)
	<-p.begun
	before := everything(t, store)

	free := fill(t, dir)
	answer := thread.Answer{Interrupt: question, Value: json.RawMessage(`"Bob"`), By: "bob",
		Request: "r1"}
	for range 3 {
		_, err = e.Answer(ctx, "ask", answer)
		require.Equal(t, runtime.CodeUnavailable, runtime.CodeOf(err), err)
		_, err = e.AnswerAll(ctx, answer)
		require.Equal(t, runtime.CodeUnavailable, runtime.CodeOf(err), err)
		_, err = e.Start(ctx, thread.Begin{ID: "new", Machine: "asker"})
		require.Equal(t, runtime.CodeUnavailable, runtime.CodeOf(err), err)
		_, err = e.Cancel(ctx, "ask", "bob", "")
		require.Equal(t, runtime.CodeUnavailable, runtime.CodeOf(err), err)
	}
	close(p.end) // the effect ends, and its result cannot be stored
	require.JSONEq(t, before, everything(t, store), "nothing has changed, and all can be read")

	free()
	done, err := e.Wait(ctx, "work")
	require.NoError(t, err)
	assert.Equal(t, `"worked"`, string(done.Result))
	assert.EqualValues(t, 1, p.done.Load(), "its result was kept")
	i, err := e.Answer(ctx, "ask", answer)
	require.NoError(t, err)
	assert.Equal(t, thread.InterruptAnswered, i.State)
	done, err = e.Wait(ctx, "ask")
	require.NoError(t, err)
	assert.Equal(t, `"Bob"`, string(done.Result))
	_, err = e.Start(ctx, thread.Begin{ID: "new", Machine: "asker"})
	require.NoError(t, err, "what was refused left no trace")
	require.NoError(t, e.Close(ctx))
	require.NoError(t, store.Close())

	readOnlyDisk(t, dir)
}

// readOnlyDisk opens the file of a disk that cannot be written: that is refused, and all is there
// when it can be.
func readOnlyDisk(t *testing.T, dir string) {
	t.Helper()
	remount := func(mode string) {
		nobodyBegins()
		said, err := exec.CommandContext(t.Context(), "mount", "-o", "remount,"+mode, dir).
			CombinedOutput()
		require.NoError(t, err, string(said))
	}
	path := filepath.Join(dir, "threads.db")
	remount("ro")
	_, err := sqlite.Open(t.Context(), path, sqlite.Config{})
	require.Equal(t, runtime.CodeUnavailable, runtime.CodeOf(err), err)
	remount("rw")
	store, err := sqlite.Open(t.Context(), path, sqlite.Config{})
	require.NoError(t, err)
	for _, id := range []string{"ask", "work"} {
		done, err := store.Load(t.Context(), id)
		require.NoError(t, err)
		assert.Equal(t, thread.StatusDone, done.Status())
	}
	require.NoError(t, store.Close())
}

// everything is all that a store holds, as JSON.
func everything(t *testing.T, s thread.Store) string {
	t.Helper()
	all := map[string]any{}
	rows, err := s.Threads(t.Context(), thread.Query{})
	require.NoError(t, err)
	for _, row := range rows {
		record, err := s.Load(t.Context(), row.ID)
		require.NoError(t, err)
		entries, interrupts := wholeLog(t, s, row.ID)
		record.Lease.Until = time.Time{} // it may have been renewed just before
		all[row.ID] = []any{record, record.Open, entries, interrupts}
	}
	data, err := json.Marshal(all)
	require.NoError(t, err)
	return string(data)
}
