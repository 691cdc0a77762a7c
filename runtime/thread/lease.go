package thread

import (
	"maps"
	"sync"
	"time"

	"github.com/routegen/routegen/runtime"
)

// leaseOver reports whether the lease of another engine has ended. seen is how long this engine has known the lease as it is, by a clock that
// does not jump; now is the time that jumps, which Until was made of.
//
// The holder of a lease renews it long before its end, and within Config.Poll when its clock has jumped. So a lease whose time is over
// counts as over after a while in which it was not renewed, and one that no clock of now can have made after as long as a lease may last.
func leaseOver(l *runtime.Lease, now time.Time, seen time.Duration, cfg *Config) bool {
	switch left := l.Until.Sub(now); {
	case l.Owner == "":
		return true
	case left <= 0:
		return seen >= min(cfg.Lease, max(2*cfg.Poll, cfg.Lease/4))
	case left > cfg.Lease:
		return seen >= cfg.Lease
	default:
		return false
	}
}

// renews reports whether the holder of a lease must renew it: half of it is over, or its clock has gone back and the others see a lease that
// is too long.
func renews(l *runtime.Lease, now time.Time, cfg *Config) bool {
	left := l.Until.Sub(now)
	return left < cfg.Lease/2 || left > cfg.Lease
}

// leases is since when an engine knows the leases of others.
type leases struct {
	mu     sync.Mutex
	known  map[string]sighting // by thread
	looked time.Time           // at leases that end too late
}

type sighting struct {
	lease       runtime.Lease
	first, last time.Time // with the reading of the clock that does not jump
}

// seen notes the lease of a thread, and returns for how long it has been known as it is.
func (s *leases) seen(thread string, l runtime.Lease) time.Duration {
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

// forget drops what was not looked at for so long: those threads have moved on.
func (s *leases) forget(idle time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.known, func(_ string, at sighting) bool { return time.Since(at.last) > idle })
}

// late reports whether it is time to look at leases that end too late.
func (s *leases) late(every time.Duration) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.looked.IsZero() && time.Since(s.looked) < every {
		return false
	}
	s.looked = time.Now()
	return true
}
