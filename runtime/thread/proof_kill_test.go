package thread_test

import (
	"bufio"
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/store/sqlite"
	"github.com/routegen/routegen/runtime/thread"
)

// TestProofKilledProcessLosesNothing kills a process at work again and again, at any moment, and
// holds what is on disk to what the process had acknowledged. At the end every thread is brought to
// its end.
func TestProofKilledProcessLosesNothing(t *testing.T) {
	t.Parallel()
	p := newParent(t)
	for round := range proofKills {
		p.round(round, modeWork)
		require.Empty(t, p.check(), "after kill %d", round+1)
	}
	p.finish(modeFinish)
	require.Empty(t, p.check())
	require.Empty(t, p.checkEnd())
	t.Logf("%d kills: %d acknowledged, %d threads, %d effects, %d of them again under the same "+
		"key, %d in doubt",
		proofKills, len(p.acked), p.threads, p.effects, p.again, p.doubts)
	require.Greater(t, len(p.acked), proofKills, "the processes worked")
}

// TestProofKillSeesWhatIsLost is the control: a store that acknowledges before the disk has it must
// be found out.
func TestProofKillSeesWhatIsLost(t *testing.T) {
	t.Parallel()
	var faults []string
	for range 10 { // a round may be killed when all that was acknowledged is on the disk already
		p := newParent(t)
		p.round(0, modeHasty)
		if faults = p.check(); len(faults) > 0 {
			break
		}
	}
	t.Logf("%d faults, such as: %s", len(faults), strings.Join(faults[:min(3, len(faults))], "; "))
	require.NotEmpty(t, faults)
}

// TestProofKillSeesWhatHappensTwice is the control: an effect that is not written down before it
// begins must be found out.
func TestProofKillSeesWhatHappensTwice(t *testing.T) {
	t.Parallel()
	p := newParent(t)
	var faults []string
	// a kill may come when no charge is under way, and finds several when one comes in time
	for round := range 50 {
		p.round(round, modeDoubled)
		if faults = p.check(); len(faults) > 0 {
			break
		}
	}
	t.Logf("%d faults, such as: %s", len(faults), strings.Join(faults[:min(3, len(faults))], "; "))
	require.NotEmpty(t, faults)
	assert.Contains(t, strings.Join(faults, "\n"), "/charge happened ")
}

// parent holds what its children acknowledged before it killed them.
type parent struct {
	t      *testing.T
	dir    string
	random *rand.Rand
	acked  []ack

	threads, effects, again, doubts int // seen at the last check
}

func newParent(t *testing.T) *parent {
	t.Helper()
	const seedEnv = "ROUTEGEN_PROOF_SEED"
	seed := rand.Uint64()
	if set := os.Getenv(seedEnv); set != "" {
		var err error
		seed, err = strconv.ParseUint(set, 10, 64)
		require.NoError(t, err)
	}
	t.Logf("the kills are those of %s=%d", seedEnv, seed)
	return &parent{t: t, dir: t.TempDir(), random: rand.New(rand.NewPCG(seed, seed))}
}

// run starts a child. acks yields what it acknowledges, and is closed when it is gone.
func (p *parent) run(round int, mode string) (cmd *exec.Cmd, acks <-chan ack, said *bytes.Buffer) {
	p.t.Helper()
	told, err := json.Marshal(childOrder{Dir: p.dir, Outside: filepath.Join(p.dir, "outside"),
		Round: round, Mode: mode})
	require.NoError(p.t, err)
	from, to, err := os.Pipe()
	require.NoError(p.t, err)
	said = new(bytes.Buffer)
	cmd = exec.CommandContext(p.t.Context(), os.Args[0], "-test.run=^TestProofChild$",
		"-test.timeout=5m")
	cmd.Env = append(os.Environ(), childEnv+"="+string(told))
	cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = said, said, []*os.File{to}
	require.NoError(p.t, cmd.Start())
	require.NoError(p.t, to.Close())
	out := make(chan ack, 100)
	go func() {
		defer close(out)
		defer from.Close()
		lines := bufio.NewScanner(from)
		for lines.Scan() {
			var a ack
			if json.Unmarshal(lines.Bytes(), &a) != nil {
				a = ack{Thread: "unreadable: " + lines.Text()}
			}
			out <- a
		}
	}()
	return cmd, out, said
}

// round lets a child work for a random time after its first acknowledgement and kills it.
func (p *parent) round(round int, mode string) {
	p.t.Helper()
	cmd, acks, said := p.run(round, mode)
	first, ok := <-acks
	require.True(p.t, ok, "the child ended by itself: %s", said)
	p.acked = append(p.acked, first)
	kill := time.After(time.Duration(p.random.IntN(150_000)) * time.Microsecond)
	for {
		select {
		case a, ok := <-acks:
			require.True(p.t, ok, "the child ended by itself: %s", said)
			p.acked = append(p.acked, a)
			continue
		case <-kill:
		}
		break
	}
	require.NoError(p.t, cmd.Process.Kill())
	for a := range acks { // what it had written before it died
		p.acked = append(p.acked, a)
	}
	_ = cmd.Wait() // it was killed
}

// finish lets a last child bring everything to its end.
func (p *parent) finish(mode string) {
	p.t.Helper()
	cmd, acks, said := p.run(999, mode)
	for a := range acks {
		p.acked = append(p.acked, a)
	}
	require.NoError(p.t, cmd.Wait(), said)
}

// open looks at the file as a database first, and then opens it as a store.
func (p *parent) open() *sqlite.Store {
	p.t.Helper()
	path := filepath.Join(p.dir, "threads.db")
	db, err := sql.Open("sqlite", path)
	require.NoError(p.t, err)
	var verdict string
	require.NoError(p.t, db.QueryRowContext(p.t.Context(), "PRAGMA quick_check").Scan(&verdict))
	require.Equal(p.t, "ok", verdict)
	require.NoError(p.t, db.Close())
	s, err := sqlite.Open(p.t.Context(), path, sqlite.Config{})
	require.NoError(p.t, err)
	return s
}

// check holds the file to what was acknowledged, and the outside to what may be there. It returns
// what is wrong.
func (p *parent) check() (faults []string) {
	p.t.Helper()
	s := p.open()
	defer s.Close()
	for _, a := range p.acked {
		if fault := a.missing(p.t.Context(), s); fault != "" {
			faults = append(faults, fault)
		}
	}
	p.effects, p.again = 0, 0
	for key, marks := range openOutside(p.t, filepath.Join(p.dir, "outside")).marks {
		p.effects += len(marks)
		p.again += len(marks) - 1
		if strings.HasSuffix(key, "/charge") && len(marks) > 1 {
			faults = append(faults, fmt.Sprintf("%s happened %d times", key, len(marks)))
		}
	}
	return faults
}

// missing says what of an acknowledgement is not in the store.
func (a *ack) missing(ctx context.Context, s thread.Store) string {
	if a.Request != "" {
		rows, err := s.Log(ctx, thread.LogQuery{Thread: a.Thread, Request: a.Request})
		if err != nil || len(rows) != 1 {
			return fmt.Sprintf("request %s of thread %s is lost: %d entries, %v", a.Request,
				a.Thread, len(rows), err)
		}
		return ""
	}
	found, err := s.Interrupts(ctx, thread.InterruptQuery{ID: a.Interrupt})
	switch {
	case err != nil || len(found) != 1:
		return fmt.Sprintf("interrupt %s of thread %s is lost: %v", a.Interrupt, a.Thread, err)
	case found[0].State != thread.InterruptAnswered || string(found[0].Answer) != string(a.Value):
		return fmt.Sprintf("the answer %s to interrupt %s is lost: %s %s", a.Value, a.Interrupt,
			found[0].State, found[0].Answer)
	}
	return ""
}

// checkEnd looks at every thread when all have come to their end.
func (p *parent) checkEnd() (faults []string) {
	p.t.Helper()
	s := p.open()
	defer s.Close()
	marks := openOutside(p.t, filepath.Join(p.dir, "outside")).marks
	after := ""
	p.threads, p.doubts = 0, 0
	for {
		rows, err := s.Threads(p.t.Context(), thread.Query{AfterID: after})
		require.NoError(p.t, err)
		if len(rows) == 0 {
			break
		}
		for _, row := range rows {
			after = row.ID
			p.threads++
			faults = append(faults, p.checkThread(s, row.ID, marks)...)
		}
	}
	// a start that was not acknowledged may have left an effect of Do behind, and nothing else may
	// be left
	for key := range marks {
		id, _, _ := strings.Cut(key, "/")
		if _, err := s.Load(p.t.Context(), id); runtime.CodeOf(err) != runtime.CodeNotFound ||
			strings.HasSuffix(key, "/charge") {
			faults = append(faults, "no thread knows of "+key)
		}
	}
	return faults
}

// checkThread looks at one thread, and takes its effects out of the marks.
func (p *parent) checkThread(s thread.Store, id string, marks map[string][]string) (
	faults []string) {
	p.t.Helper()
	fault := func(format string, args ...any) {
		faults = append(faults, id+": "+fmt.Sprintf(format, args...))
	}
	t, err := s.Load(p.t.Context(), id)
	require.NoError(p.t, err)
	entries, interrupts := wholeLog(p.t, s, id)
	sameByReplay(p.t, t, entries, interrupts)
	if t.Over != thread.StatusDone && (t.Status() != thread.StatusIdle || t.Turn != 2) {
		fault("it is %s in turn %d", t.Status(), t.Turn)
	}
	said := 0
	for _, i := range interrupts {
		if i.State != thread.InterruptAnswered {
			fault("question %s is %s", i.Name, i.State)
		}
		if strings.HasPrefix(i.Name, "in_doubt/") {
			p.doubts++
			if i.Name != "in_doubt/charge" {
				fault("%s is in doubt", i.Name)
			}
		}
	}
	for _, e := range entries {
		if e.Type == thread.EntryMessage {
			said++
		}
		if e.Type != thread.EntryReturned && e.Type != thread.EntryOver {
			continue
		}
		var b bill
		require.NoError(p.t, json.Unmarshal(e.Value, &b))
		frame := e.Frame
		if frame == "" {
			frame = "f1"
		}
		for name, mark := range map[string]string{"quote": b.Quote, "charge": b.Charge,
			"mail": b.Mail} {
			key := thread.EffectKey(id, &thread.Frame{ID: frame, Visit: 1}, name)
			if !slices.Contains(marks[key], mark) {
				fault("its %s has the result %q, and outside are %q", name, mark, marks[key])
			}
			delete(marks, key)
		}
		if !b.OK || !strings.HasPrefix(b.Note, "note ") {
			fault("it was told %+v", b)
		}
	}
	if said != t.Turn {
		fault("%d messages in %d turns", said, t.Turn)
	}
	return faults
}
