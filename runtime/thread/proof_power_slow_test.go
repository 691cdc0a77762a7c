//go:build slow

package thread_test

import (
	"bufio"
	"bytes"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestProofPowerCutLosesNothing cuts the power of the disk under a process at work, and holds what is left to what it had acknowledged. The
// outside, which has its own power, remembers all effects.
func TestProofPowerCutLosesNothing(t *testing.T) {
	t.Parallel()
	const cuts = 3
	for range cuts {
		p := newParent(t)
		p.cut(modeWork)
		require.Empty(t, p.check())
		acked := len(p.acked)
		p.finish(modeFinish)
		require.Empty(t, p.check())
		require.Empty(t, p.checkEnd())
		require.Positive(t, acked, "the process worked")
		t.Logf("%d acknowledged before the power was cut, none lost; %d threads brought to their end, %d effects in doubt", acked, p.threads, p.doubts)
	}
}

// TestProofPowerCutSeesWhatIsLost is the control: the same database with synchronous=NORMAL must lose, or the cut cuts nothing.
func TestProofPowerCutSeesWhatIsLost(t *testing.T) {
	t.Parallel()
	p := newParent(t)
	p.cut(modeNormal)
	db, err := sql.Open("sqlite", filepath.Join(p.dir, "threads.db"))
	require.NoError(t, err)
	defer db.Close()
	present := 0
	for _, a := range p.acked {
		var n int
		err := db.QueryRowContext(t.Context(), "SELECT count(*) FROM acked WHERE id = ?", a.Request).Scan(&n)
		require.NoError(t, err)
		present += n
	}
	t.Logf("%d acknowledged with synchronous=NORMAL, %d present after the power was cut, %d lost", len(p.acked), present, len(p.acked)-present)
	require.Less(t, present, len(p.acked))
}

// cut runs a child on a disk of its own and cuts the power of that disk. Afterwards the parent looks at what the disk held.
func (p *parent) cut(mode string) {
	p.t.Helper()
	work := p.t.TempDir()
	told, err := json.Marshal(order{Dir: filepath.Join(work, "disk"), Outside: filepath.Join(p.dir, "outside"), Mode: mode})
	require.NoError(p.t, err)
	cmd := exec.CommandContext(p.t.Context(), "sh", "testdata/proof/powercut.sh", work, "3", os.Args[0], "-test.run=^TestProofChild$")
	cmd.Env = append(os.Environ(), childEnv+"="+string(told))
	said, err := cmd.CombinedOutput()
	const unable = 77
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.ExitCode() == unable {
		p.t.Skipf("SKIPPED: the power of a disk cannot be cut here: %s", said)
	}
	require.NoError(p.t, err, string(said))
	acks, err := os.ReadFile(filepath.Join(work, "acks"))
	require.NoError(p.t, err)
	lines := bufio.NewScanner(bytes.NewReader(acks))
	for lines.Scan() {
		var a ack
		require.NoError(p.t, json.Unmarshal(lines.Bytes(), &a))
		p.acked = append(p.acked, a)
	}
	files, err := filepath.Glob(filepath.Join(work, "after", "threads.db*"))
	require.NoError(p.t, err)
	require.NotEmpty(p.t, files)
	for _, file := range files {
		require.NoError(p.t, os.Rename(file, filepath.Join(p.dir, filepath.Base(file))))
	}
}

// modeNormal is the control of the power cut: a bare table in a file whose commits are not synced.
const modeNormal = "normal"

func init() { //nolint:gochecknoinits // the mode exists under this build tag only
	childModes[modeNormal] = func(c *child) {
		db, err := sql.Open("sqlite", "file:"+filepath.Join(c.Dir, "threads.db")+"?_journal_mode=WAL&_synchronous=NORMAL")
		require.NoError(c.t, err)
		_, err = db.ExecContext(c.ctx, "CREATE TABLE acked (id TEXT PRIMARY KEY, payload TEXT)")
		require.NoError(c.t, err)
		// Without a pause it spends a third of its time in the sync of a checkpoint, and a cut that comes then loses nothing.
		for n := 0; ; n++ {
			<-time.After(2 * time.Millisecond)
			id := fmt.Sprintf("row %d", n)
			_, err := db.ExecContext(c.ctx, "INSERT INTO acked VALUES (?, ?)", id, id)
			require.NoError(c.t, err)
			c.tell(ack{Request: id})
		}
	}
}
