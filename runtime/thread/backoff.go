package thread

import (
	"errors"
	"maps"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"github.com/routegen/routegen/runtime"
)

var errNoMachine = errors.New("a frame is of a machine that this program does not have")

// hasMachines reports whether the engine has the machine of every frame.
func (e *Engine) hasMachines(t *Thread) bool {
	for n := range t.Frames {
		if e.machines[t.Frames[n].Machine] == nil {
			return false
		}
	}
	return true
}

// backoffs are the due threads that this program cannot move. Each is tried again after a second at
// first and a minute at most, since another program may move it meanwhile, and immediately after a
// change.
type backoffs struct {
	mu      sync.Mutex
	threads map[string]backoff
	told    map[string]time.Time // when a fingerprint was logged
}

// backoff is the state of one of them.
type backoff struct {
	version    int64
	wait       time.Duration
	next, last time.Time // of a try; when it was seen
}

const (
	firstWait = time.Second
	maxWait   = time.Minute
)

func (s *backoffs) length() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.threads)
}

// isBackedOff reports whether a thread is not to be tried now.
func (e *Engine) isBackedOff(row *Summary) bool {
	s := &e.timer.backoffs
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

// backOff notes that a thread cannot be moved. The log gets at most one line a minute for each
// fingerprint. Of values that the program cannot read it gets the places alone: people may have
// said them.
func (e *Engine) backOff(row *Summary, why error) {
	s, now := &e.timer.backoffs, time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.threads == nil {
		s.threads, s.told = map[string]backoff{}, map[string]time.Time{}
	}
	at := s.threads[row.ID]
	if at.version != row.Version {
		at = backoff{version: row.Version}
	}
	at.wait = min(max(2*at.wait, firstWait), maxWait)
	//nolint:gosec // it only spreads them
	at.last, at.next = now, now.Add(at.wait-rand.N(at.wait/2))
	s.threads[row.ID] = at
	if last, found := s.told[row.Fingerprint]; !found || now.Sub(last) >= maxWait {
		s.told[row.Fingerprint] = now
		e.log.Warn("threads cannot be moved by this program", "fingerprint", row.Fingerprint,
			"thread", row.ID, "error", withoutValues(why))
	}
}

// withoutValues returns the text of an error, of an [runtime.InvalidError] the places alone.
func withoutValues(err error) string {
	wrong, ok := errors.AsType[*runtime.InvalidError](err)
	if !ok {
		return err.Error()
	}
	places := make([]string, len(wrong.Problems))
	for n, p := range wrong.Problems {
		places[n] = p.Pointer
	}
	return "the program cannot read " + strings.Join(places, ", ")
}

// forget drops threads that have not been due for some time: another program has moved them.
func (s *backoffs) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.threads, func(_ string, at backoff) bool {
		return time.Since(at.last) > 2*maxWait
	})
}
