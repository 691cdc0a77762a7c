package web

import (
	"sync"
	"time"
)

// limiter gives every caller a number of calls in a burst, and so many a second after that.
type limiter struct {
	rate, burst float64
	now         func() time.Time

	mu      sync.Mutex
	buckets map[string]*bucket
}

type bucket struct {
	left float64
	at   time.Time
}

// maxBuckets bounds the memory of a limiter: who has not called for a while is forgotten, with all his calls left.
const maxBuckets = 10_000

// take uses one call of a caller up, and reports whether there was one.
func (l *limiter) take(who string) bool {
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

// forget drops the callers that have all their calls again, and everybody when these are not enough.
func (l *limiter) forget(now time.Time) {
	for who, b := range l.buckets {
		if b.left+now.Sub(b.at).Seconds()*l.rate >= l.burst {
			delete(l.buckets, who)
		}
	}
	if len(l.buckets) >= maxBuckets {
		clear(l.buckets)
	}
}
