// Package limit counts the calls of each caller, and finds the address of who calls from behind a
// proxy: for the server of threads, and for people who sign in.
package limit

import (
	"sync"
	"time"
)

// Limiter gives every caller a number of calls in a burst, and so many a second after that. Its
// methods may be called at the same time.
type Limiter struct {
	rate, burst float64
	now         func() time.Time

	mu      sync.Mutex
	buckets map[string]*bucket
}

type bucket struct {
	left float64
	at   time.Time
}

// NewLimiter returns a limiter of rate calls a second, and burst at once.
func NewLimiter(rate float64, burst int, now func() time.Time) *Limiter {
	return &Limiter{rate: rate, burst: float64(burst), now: now, buckets: map[string]*bucket{}}
}

// maxBuckets bounds the memory of a limiter: who has not called for a while is forgotten, with all
// his calls left.
const maxBuckets = 10_000

// Allow uses one call of a caller up, and reports whether there was one.
func (l *Limiter) Allow(who string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	b := l.buckets[who]
	if b == nil {
		if len(l.buckets) >= maxBuckets {
			l.forget(now)
		}
		b = &bucket{left: l.burst, at: now}
		l.buckets[who] = b
	}
	b.left = min(l.burst, b.left+max(0, now.Sub(b.at).Seconds())*l.rate)
	b.at = now
	if b.left < 1 {
		return false
	}
	b.left--
	return true
}

// forget drops the callers that have all their calls again, and everybody when these are not
// enough.
func (l *Limiter) forget(now time.Time) {
	for who, b := range l.buckets {
		if b.left+now.Sub(b.at).Seconds()*l.rate >= l.burst {
			delete(l.buckets, who)
		}
	}
	if len(l.buckets) >= maxBuckets {
		clear(l.buckets)
	}
}

// Restore gives a caller the call back that Allow has used up.
func (l *Limiter) Restore(who string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if b := l.buckets[who]; b != nil {
		b.left = min(l.burst, b.left+1)
	}
}
