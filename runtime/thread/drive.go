package thread

import (
	"context"
	"errors"

	"github.com/routegen/routegen/runtime"
)

var errNotAwaiting = errors.New("the thread does not wait for an engine with this fence")

// waiting is one time that a thread waits for an engine.
type waiting struct {
	thread string
	fence  int64
}

// Drive runs the steps of one thread in this engine until it rests, or another engine has taken it.
// It is for dispatchers over engines with [Config.AnswerOnly]: fence is that of the lease in the
// commit by which the thread began to wait for an engine. Drive does nothing if the thread does not
// wait any longer, or waits again with another fence: the call for that one runs it.
//
// It returns CodeIncompatible, and leaves the thread as it is, if this program lacks a machine of
// it or cannot read its data; CodeUnavailable if the store refuses or the engine is closing; and
// CodeUnknown if ctx ends first: the engine then goes on with what it has begun.
//
// A step whose process has died five times in a row, with nothing recorded in between, is not run:
// a system_error interrupt asks a person.
func (e *Engine) Drive(ctx context.Context, id string, fence int64) error {
	e = e.root
	e.addDriven(waiting{id, fence}, 1)
	defer e.addDriven(waiting{id, fence}, -1)
	const tries = 10
	for range tries {
		t, err := e.perform(ctx, id, &command{urgent: true, reload: true,
			decide: func(c *Change) error {
				l := &c.Thread.Lease
				if c.Thread.Status() != StatusRunning || l.Owner != "" || l.Fence != fence {
					return runtime.Errorf(runtime.CodeNotWaiting, "drive thread "+id, "%w",
						errNotAwaiting)
				}
				return nil
			}})
		switch {
		case errors.Is(err, errNotAwaiting), runtime.CodeOf(err) == runtime.CodeNotFound:
			return nil
		case err != nil:
			return err
		case t.Status() != StatusRunning || t.Lease.Owner == e.process:
			return e.awaitRest(ctx, id)
		case !e.hasMachines(t):
			return runtime.Errorf(runtime.CodeIncompatible, "drive thread "+id, "%w", errNoMachine)
		}
		// a driver of this engine had begun a change for a caller: it is committed by now
	}
	return runtime.Errorf(runtime.CodeUnavailable, "drive thread "+id,
		"changes of callers came first %d times: drive it again", tries)
}

// AnswerOnly returns that of the engine's [Config].
func (e *Engine) AnswerOnly() bool { return e.cfg.AnswerOnly }

// addDriven counts the calls of Drive.
func (e *Engine) addDriven(w waiting, n int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.driven[w] += n; e.driven[w] == 0 {
		delete(e.driven, w)
	}
}

// isDriven reports whether Drive is called for a thread with that fence.
func (e *Engine) isDriven(id string, fence int64) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.driven[waiting{id, fence}] > 0
}

// awaitRest returns when no driver of this engine has anything to do for a thread.
func (e *Engine) awaitRest(ctx context.Context, id string) error {
	e.mu.Lock()
	d := e.drivers[id]
	if d == nil {
		e.mu.Unlock()
		return nil
	}
	if d.gone == nil {
		d.gone = make(chan struct{})
	}
	gone := d.gone
	e.mu.Unlock()
	select {
	case <-gone:
		return nil
	case <-ctx.Done():
		return unknownOutcome(ctx, "drive thread "+id)
	}
}

const maxTakeovers = 5

var errTakenOver = errors.New("five processes in a row died while they ran this step, and " +
	"recorded nothing: find out whether the step ends its process, then retry")

// askTakenOver fails the steps whose process has died too often, and reports whether it did.
func (d *driver) askTakenOver(ready []string) bool {
	if d.base == nil || d.base.Lease.Takeovers < maxTakeovers {
		return false
	}
	d.decideAndSignal(&command{urgent: true, decide: func(c *Change) error {
		for _, id := range ready {
			if f := c.Thread.Frame(id); f != nil && f.State == FrameReady && !d.notOwner {
				c.StepFailed(id, Permanent(errTakenOver), d.engine.rerouteTargets(f))
			}
		}
		return nil
	}})
	return true
}
