package thread

import (
	"sync/atomic"
)

// command is one change to make to a thread. It may be decided several times: again on the new
// record whenever another commit came first.
type command struct {
	newThread func() *Change // makes the thread, where it does not exist
	// pure, but for reads of the store; nil: there is nothing to decide
	decide func(c *Change) error
	// closed after the commit, or the refusal; nil for what the engine does by itself
	done    chan struct{}
	thread  *Thread  // with done: as it is then
	run     *stepRun // whose end this is
	partial bool     // it is what a running step has done so far
	urgent  bool     // do not wait for a running step
	reload  bool     // the thread was changed past this driver: read it again
	// with fresh: of the lease that the change took for this engine
	fence int64
	err   error    // the refusal of decide, or with done of the store
	next  *command // in the queue
	// whether it is decided, or its caller has left before: see decides and withdraw
	state atomic.Int32
}

// The states of a command.
const (
	commandQueued int32 = iota
	commandDecided
	commandWithdrawn
)

// claim reports whether the command is to be decided. From then on its caller cannot withdraw it.
func (x *command) claim() bool {
	return x.state.CompareAndSwap(commandQueued, commandDecided) || x.state.Load() == commandDecided
}

// withdraw takes back a command that was not claimed yet, and reports whether it did.
func (x *command) withdraw() bool { return x.state.CompareAndSwap(commandQueued, commandWithdrawn) }

// awaitable makes the channel that is closed when the outcome of the command is known.
func (x *command) awaitable() <-chan struct{} {
	x.done = make(chan struct{})
	return x.done
}

// applyTo decides the command, or the end of a run.
func (x *command) applyTo(c *Change) error {
	switch {
	case x.run != nil && x.run.record != abandoned:
		x.run.decideEnd(c, x.run.remainingEffects())
	case x.decide != nil:
		return x.decide(c)
	}
	return nil
}

func (x *command) setResult(t *Thread, err error) {
	if done := x.done; done != nil {
		x.thread, x.err, x.done = t, err, nil
		close(done)
	}
}

// current returns the record as the pending commands make it, or nil if there is no thread.
func (d *driver) current() *Thread {
	if d.work != nil {
		return d.work.Thread
	}
	return d.base
}

// wake makes the driver check its thread.
func (d *driver) wake() {
	d.mu.Lock()
	drives := !d.driving && !d.retired
	d.wakeRequested, d.driving = true, d.driving || drives
	d.mu.Unlock()
	if drives {
		d.engine.workers.runTask(d)
	}
}

// hasQueued reports whether there are commands to receive.
func (d *driver) hasQueued() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.first != nil
}

// push hands a command to the driver. It reports false if the driver has retired; the caller then
// needs another one.
func (d *driver) push(x *command) bool {
	ok, drives := d.enqueue(x)
	if drives {
		d.engine.workers.runTask(d)
	}
	return ok
}

// enqueue is push without starting a goroutine: if drives is true the caller must drive.
func (d *driver) enqueue(x *command) (ok, drives bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.retired {
		return false, false
	}
	if d.first == nil {
		d.first = x
	} else {
		d.last.next = x
	}
	d.last = x
	drives, d.driving = !d.driving, true
	return true, drives
}
