//go:build unix

package killloop

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
)

// setup says how a round is played.
type setup struct {
	name    string
	procs   int
	shared  bool          // all bear one owner name
	eager   time.Duration // see thread.Config
	control string
}

// window is a time in which a process could do nothing, in microseconds. A dead one has no end.
type window struct {
	proc     string
	from, to int64
	dead     bool
}

// cluster is the processes of a round, and what was done to them.
type cluster struct {
	t   *testing.T
	ctx context.Context //nolint:containedctx // of the round
	setup
	dir   string
	slots []*slot

	mu      sync.Mutex
	made    int
	windows []window
	born    map[string]int64 // by process
}

// slot is a place for a process: when one dies the next takes its place.
type slot struct {
	cluster *cluster
	n       int

	mu  sync.Mutex
	now *process // nil while none is there
}

type process struct {
	name  string
	cmd   *exec.Cmd
	input io.WriteCloser
	said  bytes.Buffer
	base  string // of its server
	ended chan struct{}
}

func newCluster(ctx context.Context, t *testing.T, s setup) *cluster {
	t.Helper()
	h := &cluster{t: t, ctx: ctx, setup: s, dir: t.TempDir(), born: map[string]int64{}}
	for n := range s.procs {
		h.slots = append(h.slots, &slot{cluster: h, n: n})
	}
	t.Cleanup(func() {
		for _, s := range h.slots {
			if p := s.process(); p != nil {
				_ = p.cmd.Process.Kill()
				<-p.ended
			}
		}
	})
	return h
}

// up starts a process in the slot, and returns when its server answers.
func (s *slot) up() error {
	h := s.cluster
	h.mu.Lock()
	h.made++
	a := assignment{Dir: h.dir, Proc: fmt.Sprintf("p%d", h.made), CommitDelay: h.eager,
		Control: h.control}
	h.mu.Unlock()
	a.Owner = fmt.Sprintf("desk-%d", s.n)
	if h.shared {
		a.Owner = "desk"
	}
	told, err := json.Marshal(a)
	if err != nil {
		return err
	}
	from, to, err := os.Pipe()
	if err != nil {
		return err
	}
	defer from.Close()
	p := &process{name: a.Proc, ended: make(chan struct{})}
	args := []string{"-test.run=^TestKillLoopWorker$", "-test.timeout=20m"}
	p.cmd = exec.CommandContext(h.ctx, os.Args[0], args...)
	p.cmd.Env = append(os.Environ(), workerEnv+"="+string(told))
	p.cmd.Stdout, p.cmd.Stderr, p.cmd.ExtraFiles = &p.said, &p.said, []*os.File{to}
	if p.input, err = p.cmd.StdinPipe(); err != nil {
		return err
	}
	h.mu.Lock()
	h.born[p.name] = micros(time.Now())
	h.mu.Unlock()
	if err := errors.Join(p.cmd.Start(), to.Close()); err != nil {
		return err
	}
	go func() {
		_ = p.cmd.Wait() // killed, most of the time
		close(p.ended)
	}()
	text, err := bufio.NewReader(from).ReadString('\n')
	if err != nil {
		<-p.ended
		return fmt.Errorf("process %s did not come up: %w\n%s", p.name, err, &p.said)
	}
	p.base = strings.TrimSpace(text)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = p
	return nil
}

func (s *slot) process() *process {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

// kill ends the process of the slot at once.
func (s *slot) kill() {
	s.mu.Lock()
	p := s.now
	s.now = nil
	s.mu.Unlock()
	from := micros(time.Now())
	_ = p.cmd.Process.Kill()
	<-p.ended
	s.cluster.note(window{proc: p.name, from: from, dead: true})
}

// stop holds the process of the slot for longer than its lease.
func (s *slot) stop(d time.Duration) {
	p := s.process()
	from := micros(time.Now())
	_ = p.cmd.Process.Signal(syscall.SIGSTOP)
	select {
	case <-time.After(d):
	case <-s.cluster.ctx.Done():
	}
	_ = p.cmd.Process.Signal(syscall.SIGCONT)
	s.cluster.note(window{proc: p.name, from: from, to: micros(time.Now())})
}

func (h *cluster) note(w window) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.windows = append(h.windows, w)
}

// all does something to every slot at once.
func (h *cluster) all(do func(s *slot) error) {
	h.t.Helper()
	failed := make([]error, len(h.slots))
	var each sync.WaitGroup
	for n, s := range h.slots {
		each.Go(func() { failed[n] = do(s) })
	}
	each.Wait()
	require.NoError(h.t, errors.Join(failed...))
}

// storm kills processes and stops them, so many times, and always has another one take the
// place of a dead one.
func (h *cluster) storm(random *rand.Rand, kills int) {
	h.t.Helper()
	var stopped sync.WaitGroup
	busy := make([]sync.Mutex, len(h.slots))
	for n := 0; n < kills; {
		at := random.IntN(len(h.slots))
		pause := time.Duration(20+random.IntN(120)) * time.Millisecond
		halt := random.IntN(4+8/len(h.slots)) == 0
		d := lease + time.Duration(random.Int64N(int64(lease)))
		kill := random.IntN(3) == 0
		select {
		case <-time.After(pause):
		case <-h.ctx.Done():
			return
		}
		if !busy[at].TryLock() {
			continue // it is stopped
		}
		if halt {
			stopped.Go(func() {
				defer busy[at].Unlock()
				h.slots[at].stop(d)
			})
			if len(h.slots) == 1 || kill { // it is alone, or is to die as it comes back
				stopped.Wait()
			}
			continue
		}
		h.slots[at].kill()
		err := h.slots[at].up()
		busy[at].Unlock()
		require.NoError(h.t, err)
		n++
	}
	stopped.Wait()
}

// leave has every process end as one that is not killed.
func (h *cluster) leave() {
	h.t.Helper()
	h.all(func(s *slot) error {
		p := s.process()
		if err := p.input.Close(); err != nil {
			return err
		}
		<-p.ended
		s.mu.Lock()
		s.now = nil
		s.mu.Unlock()
		if code := p.cmd.ProcessState.ExitCode(); code != 0 {
			return fmt.Errorf("process %s ended with %d: %s", p.name, code, &p.said)
		}
		return nil
	})
}

// unknown reports whether a caller cannot know what became of a call.
func unknown(err error) bool {
	code := runtime.CodeOf(err)
	return code == runtime.CodeUnavailable || code == runtime.CodeUnknown
}
