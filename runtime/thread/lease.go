package thread

import (
	"maps"
	"sync"
	"time"
)

// leaseNew leases a thread that a change without a driver leaves running, so that it is found if
// this process dies before the step runs.
func (e *Engine) leaseNew(c *Change) {
	switch {
	case c.Thread.Status() != StatusRunning:
	case e.cfg.AnswerOnly:
		c.awaitDriver()
	default:
		c.TakeLease(e.process, e.clock.Now().Add(e.cfg.Lease))
	}
}

// leaseOver reports whether the lease of another engine has ended. seen is how long this engine has
// known the lease unchanged, on a monotonic clock; now is wall-clock time, as Until is.
//
// The holder renews a lease long before its end, and within Config.Poll after its clock jumped. So
// a lease whose time is over counts as ended only after a while without a renewal, and one that
// ends later than any lease made now, after as long as a lease lasts.
func leaseOver(l *Lease, now time.Time, seen time.Duration, cfg *Config) bool {
	switch left := l.Until.Sub(now); {
	case l.Owner == "":
		return true
	case left <= 0 && cfg.AnswerOnly:
		return seen >= min(cfg.Lease, 2*cfg.Poll)
	case left <= 0:
		return seen >= min(cfg.Lease, max(2*cfg.Poll, cfg.Lease/4))
	case left > cfg.Lease:
		return seen >= cfg.Lease
	default:
		return false
	}
}

// renews reports whether the holder must renew its lease: half of it is over, or the clock has gone
// back and other engines see a lease that is too long.
func renews(l *Lease, now time.Time, cfg *Config) bool {
	left := l.Until.Sub(now)
	return left < cfg.Lease/2 || left > cfg.Lease
}

// leases records since when an engine knows the leases of others.
type leases struct {
	mu      sync.Mutex
	known   map[string]sighting // by thread
	scanned time.Time           // at leases that end too late
}

type sighting struct {
	lease       Lease
	first, last time.Time // with the reading of the clock that does not jump
}

// observe notes the lease of a thread, and returns for how long it has been known unchanged.
func (s *leases) observe(thread string, l Lease) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	at, found := s.known[thread]
	if !found || at.lease != l {
		at = sighting{lease: l, first: now}
	}
	at.last = now
	if s.known == nil {
		s.known = map[string]sighting{}
	}
	s.known[thread] = at
	return now.Sub(at.first)
}

// forget drops leases that were not seen for that long: their threads have ended or changed hands.
func (s *leases) forget(idle time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.known, func(_ string, at sighting) bool { return time.Since(at.last) > idle })
}

// isScanDue reports whether it is time to look for leases that end too late.
func (s *leases) isScanDue(every time.Duration) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.scanned.IsZero() && time.Since(s.scanned) < every {
		return false
	}
	s.scanned = time.Now()
	return true
}
