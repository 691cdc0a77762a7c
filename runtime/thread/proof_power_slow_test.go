//go:build slow

package thread_test

import (
	"bufio"
	"bytes"
	"database/sql"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime/store/sqlite"
)

// TestProofPowerCutLosesNothing cuts the power of the disk under a process at work, and holds what
// is left to what it had acknowledged. The outside, which has its own power, remembers all effects.
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
		t.Logf("%d acknowledged before the power was cut, none lost; %d threads brought to their "+
			"end, %d effects in doubt", acked, p.threads, p.doubts)
	}
}

// TestProofPowerCutSeesWhatIsLost is the control: the same database with synchronous=NORMAL must
// lose, or the cut cuts nothing.
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
		err := db.QueryRowContext(t.Context(), "SELECT count(*) FROM acked WHERE id = ?",
			a.Request).Scan(&n)
		require.NoError(t, err)
		present += n
	}
	t.Logf("%d acknowledged with synchronous=NORMAL, %d present after the power was cut, %d lost",
		len(p.acked), present, len(p.acked)-present)
	require.Less(t, present, len(p.acked))
}

// TestProofPowerCutSeesASyncThatLies is the control of the whole: the same process, with the same
// store, on a system whose syncs do nothing.
func TestProofPowerCutSeesASyncThatLies(t *testing.T) {
	t.Parallel()
	needsTracing(t)
	p := newParent(t)
	p.cut(modeWork, "strace", "-D", "-f", "-qq", "-o", "/dev/null", "-e", "trace=fsync,fdatasync",
		"-e", "inject=fsync,fdatasync:retval=0")
	require.NotEmpty(t, p.acked)
	s, err := sqlite.Open(t.Context(), filepath.Join(p.dir, "threads.db"), sqlite.Config{})
	if err != nil {
		t.Logf("%d acknowledged, and the file is damaged: %v", len(p.acked), err)
		return
	}
	defer s.Close()
	lost := 0
	for _, a := range p.acked {
		if a.missing(t.Context(), s) != "" {
			lost++
		}
	}
	t.Logf("%d acknowledged, %d lost", len(p.acked), lost)
	require.Positive(t, lost)
}

// cut runs a child, as an argument of the command it is to run under, on a disk of its own and cuts
// the power of that disk. Afterwards the parent looks at what the disk held.
func (p *parent) cut(mode string, under ...string) {
	p.t.Helper()
	work := p.t.TempDir()
	told, err := json.Marshal(
		childOrder{Dir: filepath.Join(work, "disk"), Outside: filepath.Join(p.dir, "outside"),
			Mode: mode})
	require.NoError(p.t, err)
	args := append([]string{"testdata/proof/powercut.sh", work, "3"}, under...)
	cmd := exec.CommandContext(p.t.Context(), "sh",
		append(args, os.Args[0], "-test.run=^TestProofChild$")...)
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
	for _, file := range files {
		require.NoError(p.t, os.Rename(file, filepath.Join(p.dir, filepath.Base(file))))
	}
}
