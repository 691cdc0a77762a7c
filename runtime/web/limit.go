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

func newLimiter(c *Config) *limiter {
	return &limiter{rate: c.Rate, burst: float64(c.Burst), now: c.Now,
		buckets: map[string]*bucket{}}
}

// maxBuckets bounds the memory of a limiter: who has not called for a while is forgotten, with all
// his calls left.
const maxBuckets = 10_000

// allow uses one call of a caller up, and reports whether there was one.
func (l *limiter) allow(who string) bool {
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

// share is the part of the streams that one capability token may hold: one in so many. A guest can
// exhaust the streams of no token but its own.
const share = 10

// shares counts the streams of each capability token.
type shares struct {
	mu   sync.Mutex
	held map[string]int // by the id of the grant
}

// acquire counts a stream in, and reports whether there was room for it. A nil grant has no bound
// of its own.
func (h *shares) acquire(g *Grant, most int) bool {
	if g == nil {
		return true
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.held[g.ID] >= most {
		return false
	}
	h.held[g.ID]++
	return true
}

// leave counts a stream out.
func (h *shares) leave(g *Grant) {
	if g == nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.held[g.ID]--; h.held[g.ID] == 0 {
		delete(h.held, g.ID)
	}
}
