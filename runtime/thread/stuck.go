package thread

import (
	"errors"
	"maps"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/routegen/routegen/runtime"
)

var errNoMachine = errors.New("a frame is of a machine that this program does not have")

// knows reports whether the engine has the machine of every frame.
func (e *Engine) knows(t *runtime.Thread) bool {
	for n := range t.Frames {
		if e.machines[t.Frames[n].Machine] == nil {
			return false
		}
	}
	return true
}

// stuckThreads are those that are due and that this program cannot move. Each is tried again after a second at first, and in the end once a
// minute, since another program may move it meanwhile; at once when it was changed.
type stuckThreads struct {
	mu      sync.Mutex
	threads map[string]stuckThread
	told    map[string]time.Time // when the log heard of a fingerprint
}

type stuckThread struct {
	version    int64
	wait       time.Duration
	next, last time.Time // of a try; when it was seen
}

const (
	firstWait = time.Second
	mostWait  = time.Minute
)

func (s *stuckThreads) size() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.threads)
}

// waits reports whether a thread is stuck, and is not to be tried now.
func (e *Engine) waits(row *runtime.ThreadRow) bool {
	s := &e.timer.stuck
	s.mu.Lock()
	defer s.mu.Unlock()
	at, found := s.threads[row.ID]
	if !found || at.version != row.Version {
		return false
	}
	at.last = time.Now()
	s.threads[row.ID] = at
	return at.last.Before(at.next)
}

// cannotMove notes that a thread is stuck. The log has a line a minute for all of a fingerprint.
func (e *Engine) cannotMove(row *runtime.ThreadRow, why error) {
	s, now := &e.timer.stuck, time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.threads == nil {
		s.threads, s.told = map[string]stuckThread{}, map[string]time.Time{}
	}
	at := s.threads[row.ID]
	if at.version != row.Version {
		at = stuckThread{version: row.Version}
	}
	at.wait = min(max(2*at.wait, firstWait), mostWait)
	at.last, at.next = now, now.Add(at.wait-rand.N(at.wait/2)) //nolint:gosec // it only spreads them
	s.threads[row.ID] = at
	if last, found := s.told[row.Fingerprint]; !found || now.Sub(last) >= mostWait {
		s.told[row.Fingerprint] = now
		e.log.Warn("threads cannot be moved by this program", "fingerprint", row.Fingerprint, "thread", row.ID, "error", why)
	}
}

// forget drops those that were not due for a while: another program has moved them.
func (s *stuckThreads) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.threads, func(_ string, at stuckThread) bool { return time.Since(at.last) > 2*mostWait })
}
