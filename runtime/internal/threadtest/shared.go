package threadtest

import (
	"strings"
	"sync"
	"time"
)

// Clock is a [thread.Clock] that a test moves. It may be used by many goroutines.
type Clock struct {
	mu  sync.Mutex
	now time.Time
}

// NewClock returns a clock that stands at a time.
func NewClock(now time.Time) *Clock { return &Clock{now: now} }

// Now returns the time of the clock.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Move moves the clock on.
func (c *Clock) Move(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// Written keeps what is written to it, for a test that reads it while others still write.
type Written struct {
	mu   sync.Mutex
	text strings.Builder
}

// Write implements [io.Writer].
func (w *Written) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.Write(p)
}

// String returns everything that was written.
func (w *Written) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.String()
}
