package thread_test

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/store/sqlite"
	"github.com/routegen/routegen/runtime/thread"
)

const (
	modeCount  = "count"  // threads one after the other, as often as was ordered; the last acknowledgement says how many commits that took
	modeNormal = "normal" // control: rows of a bare table in a file that is not synced at commits; without end when no number was ordered
)

// TestProofEveryCommitIsSynced counts the syncs that the system is asked for: with one caller there is at least one for every commit.
func TestProofEveryCommitIsSynced(t *testing.T) {
	t.Parallel()
	commits, syncs := traced(t, modeCount, 25)
	t.Logf("%d commits, %d syncs", commits, syncs)
	require.Greater(t, commits, 25)
	require.GreaterOrEqual(t, syncs, commits)
}

// TestProofSyncsThatAreMissingAreSeen is the control: with synchronous=NORMAL there are fewer.
func TestProofSyncsThatAreMissingAreSeen(t *testing.T) {
	t.Parallel()
	commits, syncs := traced(t, modeNormal, 100)
	t.Logf("%d commits, %d syncs", commits, syncs)
	require.GreaterOrEqual(t, commits, 100)
	require.Less(t, syncs, commits)
}

// needsTracing skips the test where system calls cannot be counted, and says why.
func needsTracing(t *testing.T) {
	t.Helper()
	if said, err := exec.CommandContext(t.Context(), "strace", "-f", "-o", os.DevNull, os.Args[0], "-test.run=^$").CombinedOutput(); err != nil {
		t.Skipf("SKIPPED: strace is not installed here, or may not trace: %v %s", err, said)
	}
}

// traced runs a child to its end and counts its commits and its syncs.
func traced(t *testing.T, mode string, count int) (commits, syncs int) {
	t.Helper()
	needsTracing(t)
	dir := t.TempDir()
	told, err := json.Marshal(order{Dir: dir, Outside: filepath.Join(dir, "outside"), Mode: mode, Count: count})
	require.NoError(t, err)
	trace, said := filepath.Join(dir, "trace"), filepath.Join(dir, "acks")
	acks, err := os.Create(said)
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), "strace", "-f", "-qq", "-o", trace, "-e", "trace=fsync,fdatasync", os.Args[0], "-test.run=^TestProofChild$")
	cmd.Env = append(os.Environ(), childEnv+"="+string(told))
	cmd.ExtraFiles = []*os.File{acks}
	output, err := cmd.CombinedOutput()
	require.NoError(t, err, string(output))
	require.NoError(t, acks.Close())
	lines, err := os.ReadFile(said)
	require.NoError(t, err)
	for line := range bytes.Lines(lines) {
		var a ack
		require.NoError(t, json.Unmarshal(line, &a))
		if a.Thread == "" {
			commits++
		}
	}
	calls, err := os.ReadFile(trace)
	require.NoError(t, err)
	for line := range bytes.Lines(calls) {
		if bytes.Contains(line, []byte("sync(")) { // one that another thread interrupts goes on in a line without parenthesis
			syncs++
		}
	}
	return commits, syncs
}

// counted tells of every commit that went through.
type counted struct {
	runtime.Store
	commits atomic.Int64
}

func (s *counted) Commit(ctx context.Context, changes ...*runtime.Change) error {
	err := s.Store.Commit(ctx, changes...)
	if err == nil {
		s.commits.Add(1)
	}
	return err
}

// count runs threads one after the other.
func (c *child) count() {
	c.outside = openOutside(c.t, c.Outside)
	disk, err := sqlite.Open(c.ctx, filepath.Join(c.Dir, "threads.db"), sqlite.Config{})
	require.NoError(c.t, err)
	store := &counted{Store: disk}
	c.engine, err = thread.Open(c.ctx, store, thread.Config{}, c.machines()...)
	require.NoError(c.t, err)
	for n := range c.Count {
		b := thread.Begin{ID: fmt.Sprintf("t%d", n), Machine: "order", Input: "it"}
		_, err := c.engine.Start(c.ctx, b)
		require.NoError(c.t, err)
		c.drive(b.ID, 0)
	}
	for range store.commits.Load() {
		c.tell(ack{})
	}
	require.NoError(c.t, c.engine.Close(c.ctx))
	require.NoError(c.t, disk.Close())
}

// normal writes rows, each a commit.
func (c *child) normal() {
	db, err := sql.Open("sqlite", "file:"+filepath.Join(c.Dir, "threads.db")+"?_journal_mode=WAL&_synchronous=NORMAL")
	require.NoError(c.t, err)
	_, err = db.ExecContext(c.ctx, "CREATE TABLE acked (id TEXT PRIMARY KEY, payload TEXT)")
	require.NoError(c.t, err)
	for n := 0; c.Count == 0 || n < c.Count; n++ {
		// Without a pause it spends a third of its time in the sync of a checkpoint, and a power cut that comes then loses nothing.
		<-time.After(2 * time.Millisecond)
		id := fmt.Sprintf("row %d", n)
		_, err := db.ExecContext(c.ctx, "INSERT INTO acked VALUES (?, ?)", id, id)
		require.NoError(c.t, err)
		c.tell(ack{Request: id})
	}
	require.NoError(c.t, db.Close())
}
