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

	"github.com/routegen/routegen/runtime/store/sqlite"
	"github.com/routegen/routegen/runtime/thread"
)

const (
	// threads one after the other, as often as was ordered; the last acknowledgement says how many
	// commits that took
	modeCount = "count"
	// control: rows of a bare table in a file that is not synced at commits; without end when no
	// number was ordered
	modeNormal = "normal"
)

// TestProofEveryCommitIsSynced counts the syncs that the system is asked for: with one caller there
// is at least one for every commit.
func TestProofEveryCommitIsSynced(t *testing.T) {
	t.Parallel()
	commits, syncs := syncsOf(t, modeCount, 25)
	t.Logf("%d commits, %d syncs", commits, syncs)
	require.Greater(t, commits, 25)
	require.GreaterOrEqual(t, syncs, commits)
}

// TestProofSyncsThatAreMissingAreSeen is the control: with synchronous=NORMAL there are fewer.
func TestProofSyncsThatAreMissingAreSeen(t *testing.T) {
	t.Parallel()
	commits, syncs := syncsOf(t, modeNormal, 100)
	t.Logf("%d commits, %d syncs", commits, syncs)
	require.GreaterOrEqual(t, commits, 100)
	require.Less(t, syncs, commits)
}

// needsTracing skips the test where system calls cannot be counted, and says why.
func needsTracing(t *testing.T) {
	t.Helper()
	if said, err := exec.CommandContext(t.Context(), "strace", "-f", "-o", os.DevNull, os.Args[0],
		"-test.run=^$").CombinedOutput(); err != nil {
		t.Skipf("SKIPPED: strace is not installed here, or may not trace: %v %s", err, said)
	}
}

// TestProofFailingSyncsLoseNothing lets every few syncs fail with an error of the disk, which the
// store must refuse and the engine outlive.
func TestProofFailingSyncsLoseNothing(t *testing.T) {
	t.Parallel()
	p := newParent(t)
	all, failed := traced(t, childOrder{Dir: p.dir, Mode: modeCount, Count: 15, Patient: true},
		"-e",
		"inject=fsync,fdatasync:error=EIO:when=4+5")
	for _, a := range all {
		if a.Thread != "" {
			p.acked = append(p.acked, a)
		}
	}
	lying := bytes.Count(failed, []byte("(INJECTED)"))
	require.Greater(t, lying, 3)
	require.Empty(t, p.check())
	require.Empty(t, p.checkEnd())
	t.Logf("%d acknowledged, none lost; %d syncs failed", len(p.acked), lying)
}

// syncsOf runs a child to its end and counts its commits and its syncs.
func syncsOf(t *testing.T, mode string, count int) (commits, syncs int) {
	t.Helper()
	acks, calls := traced(t, childOrder{Dir: t.TempDir(), Mode: mode, Count: count})
	for _, a := range acks {
		if a.Thread == "" {
			commits++
		}
	}
	// a call that another thread interrupts goes on in a line without parenthesis
	return commits, bytes.Count(calls, []byte("sync("))
}

// traced runs a child under strace to its end, and returns what it acknowledged and its syncs, a
// line each.
func traced(t *testing.T, do childOrder, inject ...string) (acks []ack, calls []byte) {
	t.Helper()
	needsTracing(t)
	do.Outside = filepath.Join(do.Dir, "outside")
	told, err := json.Marshal(do)
	require.NoError(t, err)
	dir := t.TempDir()
	trace, said := filepath.Join(dir, "trace"), filepath.Join(dir, "acks")
	pipe, err := os.Create(said)
	require.NoError(t, err)
	args := append([]string{"-f", "-qq", "-o", trace, "-e", "trace=fsync,fdatasync"}, inject...)
	cmd := exec.CommandContext(t.Context(), "strace",
		append(args, os.Args[0], "-test.run=^TestProofChild$")...)
	cmd.Env = append(os.Environ(), childEnv+"="+string(told))
	cmd.ExtraFiles = []*os.File{pipe}
	output, err := cmd.CombinedOutput()
	require.NoError(t, err, string(output))
	require.NoError(t, pipe.Close())
	lines, err := os.ReadFile(said)
	require.NoError(t, err)
	for line := range bytes.Lines(lines) {
		var a ack
		require.NoError(t, json.Unmarshal(line, &a))
		acks = append(acks, a)
	}
	calls, err = os.ReadFile(trace)
	require.NoError(t, err)
	return acks, calls
}

// counted tells of every commit that went through.
type counted struct {
	thread.Store
	commits atomic.Int64
}

func (s *counted) Commit(ctx context.Context, changes ...*thread.Change) error {
	err := s.Store.Commit(ctx, changes...)
	if err == nil {
		s.commits.Add(1)
	}
	return err
}

// count runs threads one after the other.
func (c *child) count() {
	c.outside = openOutside(c.t, c.Outside)
	var disk *sqlite.Store
	c.try(func() (err error) {
		disk, err = sqlite.Open(c.ctx, filepath.Join(c.Dir, "threads.db"), sqlite.Config{})
		return err
	})
	store := &counted{Store: disk}
	var err error
	c.engine, err = thread.Open(c.ctx, store, thread.Config{}, c.machines()...)
	require.NoError(c.t, err)
	for n := range c.Count {
		b := thread.Begin{ID: fmt.Sprintf("t%d", n), Machine: "order", Input: "it",
			Request: "start"}
		c.try(func() error {
			_, err := c.engine.Start(c.ctx, b)
			return err
		})
		c.tell(ack{Thread: b.ID, Request: b.Request})
		c.drive(b.ID, 0)
	}
	for range store.commits.Load() {
		c.tell(ack{})
	}
	require.NoError(c.t, c.engine.Close(c.ctx))
	if err := disk.Close(); !c.Patient {
		require.NoError(c.t, err)
	}
}

// normal writes rows, each a commit.
func (c *child) normal() {
	db, err := sql.Open("sqlite", "file:"+filepath.Join(c.Dir, "threads.db")+
		"?_journal_mode=WAL&_synchronous=NORMAL")
	require.NoError(c.t, err)
	for _, stmt := range []string{
		"CREATE TABLE acked (id TEXT PRIMARY KEY, payload TEXT)",
		// syncs: a cut may take the rows, and must leave what they are looked for in
		"PRAGMA wal_checkpoint(TRUNCATE)",
	} {
		_, err = db.ExecContext(c.ctx, stmt)
		require.NoError(c.t, err)
	}
	for n := 0; c.Count == 0 || n < c.Count; n++ {
		// Without a pause it spends a third of its time in the sync of a checkpoint, and a power
		// cut that comes then loses nothing.
		<-time.After(2 * time.Millisecond)
		id := fmt.Sprintf("row %d", n)
		_, err := db.ExecContext(c.ctx, "INSERT INTO acked VALUES (?, ?)", id, id)
		require.NoError(c.t, err)
		c.tell(ack{Request: id})
	}
	require.NoError(c.t, db.Close())
}
