package thread

import "sync/atomic"

// crew runs functions in goroutines that are used again: a fresh goroutine grows its stack anew for every commit, and that costs more than most
// steps do.
type crew struct {
	work chan func()
	done chan struct{}
	idle atomic.Int32
}

const mostIdle = 64 // members that wait for work; more than that go home

func newCrew() *crew { return &crew{work: make(chan func()), done: make(chan struct{})} }

// run starts f at once: a member that waits takes it, or a new one does.
func (c *crew) run(f func()) {
	select {
	case c.work <- f:
	default:
		go c.member(f)
	}
}

func (c *crew) member(f func()) {
	for {
		f()
		if c.idle.Add(1) > mostIdle {
			c.idle.Add(-1)
			return
		}
		select {
		case f = <-c.work:
			c.idle.Add(-1)
		case <-c.done:
			return
		}
	}
}

// dismiss sends home the members that wait. Those that work follow when they have ended.
func (c *crew) dismiss() { close(c.done) }
