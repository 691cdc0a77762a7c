package thread

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/routegen/routegen/runtime"
)

// ErrWaiting is what [Do], [Once] and [Ask] return when the step is to end: it asked, or a person
// wants to pause. Return it, or anything else: from then on the step waits, and what it returns
// does not count. It runs again when it can go on.
var ErrWaiting = errors.New("the step waits: return, and it runs again when it can go on")

var errPanic = errors.New("panic")

// grace is how long a handler may take to return after its context was cancelled. The engine then
// goes on without it.
const grace = time.Second

// stepRun is one run of a step, and the context of that step. Its methods may be called by any
// goroutine of the handler.
type stepRun struct {
	context.Context //nolint:containedctx // of the step, without the run

	driver     *driver
	machine    Machine
	frame      Frame // as it was when the run began
	activation Activation
	began      runBasis
	modify     *string
	inline     bool // it runs in the goroutine that drives
	cancel     context.CancelCauseFunc
	ending     command // ends the run in the record

	// used by the goroutine that drives, and no other
	record    recordState
	cancelled bool            // cancel was called
	logged    map[string]bool // effects whose loss was logged
	rejects   int             // rejected commits; after maxRejects its effects are dropped
	drained   bool            // last is set
	last      []Entry         // effects and messages that no commit had when the run ended

	mu      sync.Mutex
	reroute *Reroute // the pending reroute event of its frame
	// closed when reroute changes; nil until a caller asks for it
	rerouteChanged   chan struct{}
	timer            *time.Timer // fires at the earliest of until, keepAt, wakeAt; nil if inline
	limit            time.Duration
	until            time.Time       // when limit is over; zero after that
	keepAt           time.Time       // when fresh is committed at the latest; zero if it is empty
	wakeAt           time.Time       // when the driver must look at the run; zero: not by time
	late             error           // set when the run exceeded its limit
	used             nameSet         // effect and question names used in this run
	fresh            []Entry         // effects and messages that no commit has yet
	intent           map[string]bool // effects of Once whose intent is being stored
	interruptContext json.RawMessage
	asked            []Question
	state            runState

	// the result; set once, when state becomes ended
	next Transition
	err  error
}

// nameSet is a set of names, which are not empty. A few need no memory of their own.
type nameSet struct {
	few  [3]string
	more map[string]bool
}

func (s *nameSet) holds(name string) bool { return slices.Contains(s.few[:], name) || s.more[name] }

func (s *nameSet) hold(name string) {
	if at := slices.Index(s.few[:], ""); at >= 0 {
		s.few[at] = name
		return
	}
	if s.more == nil {
		s.more = map[string]bool{}
	}
	s.more[name] = true
}

// contextKey is the key of the *stepRun in the context of a step, and of the *Engine in that of an
// effect.
type contextKey struct{}

var (
	errPause   = errors.New("a person paused the thread now")
	errEnded   = errors.New("the frame has ended, or another engine drives it")
	errClosing = errors.New("the engine is closing")
)

// prepare sets up a run that a goroutine then performs. The driver hears of its end once, soon
// after its time limit at the latest. It reports false, and begins nothing, if the engine is
// closing.
func (r *stepRun) prepare(ctx context.Context, limit time.Duration) bool {
	e := r.driver.engine
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closing.Load() {
		return false
	}
	r.Context, r.cancel = context.WithCancelCause(ctx)
	r.mu.Lock()
	r.limit, r.until, r.timer = limit, time.Now().Add(limit), time.AfterFunc(limit, r.tick)
	r.mu.Unlock()
	e.steps.Add(1)
	return true
}

// runInline runs an inline step in the goroutine that drives.
func (r *stepRun) runInline(ctx context.Context) {
	r.inline, r.Context, r.cancel = true, ctx, func(error) {}
	r.executeStep() //nolint:contextcheck // the run is the context of its step
}

// perform runs the step in a goroutine of the pool, which drives the thread afterwards unless
// another one does.
func (r *stepRun) perform() {
	if r.executeStarted() {
		r.driver.perform()
	}
}

// executeStarted runs a prepared step, and reports whether this goroutine is to drive the thread.
func (r *stepRun) executeStarted() bool {
	defer r.driver.engine.steps.Done()
	return r.executeStep()
}

// executeStep runs the step and notes how it ended. It reports whether its caller is to drive the
// thread.
func (r *stepRun) executeStep() bool {
	var end func(*stepRun)
	r.Context, end = r.driver.engine.observeStep(r.Context, r.activation)
	next, err := r.callMachine()
	if cause := context.Cause(r.Context); cause != nil && (err != nil || r.exceededLimit(cause)) {
		// what the handler makes of its cancelled context is not the reason, and a result that came
		// too late does not count
		err = cause
	}
	drives := r.endRun(next, err)
	end(r)
	return drives
}

// exceededLimit reports whether err is that of the run's time limit.
func (r *stepRun) exceededLimit(err error) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.late != nil && errors.Is(err, r.late)
}

// stop ends the run because its thread has changed or the engine closes.
func (r *stepRun) stop(cause error) {
	r.forbidEffects(cause) // also where it was cut for a pause before
	if !r.cancelled {
		r.cancelled = true
		r.cancelStep(cause)
	}
}

// cancelStep cancels the context of the step, and gives the run up if the handler has not returned
// within grace. No new effect begins.
func (r *stepRun) cancelStep(cause error) {
	r.forbidEffects(cause)
	r.cancel(cause)
	time.AfterFunc(grace, func() {
		if r.endRun(Transition{}, cause) {
			r.driver.perform()
		}
	})
}

// forbidEffects lets no new effect begin. For a pause it does nothing: a question may still be
// asked before the next safe point.
func (r *stepRun) forbidEffects(cause error) {
	if errors.Is(cause, errPause) {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.state == running {
		r.state = draining
	}
}

// callMachine calls the machine. A panic is a failed step.
func (r *stepRun) callMachine() (next Transition, err error) {
	defer func() {
		if p := recover(); p != nil {
			r.driver.engine.log.Error("step panicked",
				"thread", r.driver.id, "frame", r.frame.ID, "step", r.frame.PC, "stack",
				string(debug.Stack()))
			err = &runtime.Error{Code: runtime.CodeInternal, Op: "run step",
				Err: fmt.Errorf("%w: %v", errPanic, p)}
		}
	}()
	return r.machine.Step(r, r.activation)
}

// endRun notes how the run ended and tells the driver; only the first call counts. It reports
// whether its caller is to drive.
func (r *stepRun) endRun(next Transition, err error) (drives bool) {
	r.mu.Lock()
	if r.state.hasEnded() {
		r.mu.Unlock()
		return false
	}
	for name := range r.intent { // that they begin may be stored, and they did not
		r.appendEffect(name, EffectFailed, nil)
		r.suspend() // whatever the step returned, it was kept from something: it runs again
	}
	if r.next, r.err = next, err; r.state == suspended {
		r.state = endedSuspended
	} else {
		r.state = ended
	}
	if r.timer != nil {
		r.timer.Stop()
	}
	r.mu.Unlock()
	r.cancel(nil)
	r.ending.run = r
	_, drives = r.driver.enqueue(&r.ending)
	return drives
}

// runOf returns the run that a context belongs to.
func runOf(ctx context.Context, op string) (*stepRun, error) {
	switch at := ctx.Value(contextKey{}).(type) {
	case *stepRun:
		return at, nil
	case *Engine:
		return nil, runtime.Errorf(runtime.CodeInvalid, op,
			"an effect may not hold another effect or a question: use the context of "+
				"the step, after it")
	default:
		return nil, runtime.Errorf(runtime.CodeInvalid, op,
			"this context is not that of a step: pass on the one the handler got")
	}
}

// enterSafePoint is called before each effect. It returns ErrWaiting if the step is to end, and
// CodeInvalid if the name is empty or was used before.
func (r *stepRun) enterSafePoint(op, name string) error {
	switch {
	case name == "":
		return Permanent(
			runtime.Errorf(runtime.CodeInvalid, op, "it needs a name, by which its result is "+
				"found again"))
	case r.state >= suspended || len(r.asked) > 0:
		return ErrWaiting
	case r.state == draining || r.driver.pausing.Load():
		r.suspend()
		return ErrWaiting
	case r.used.holds(name):
		return Permanent(runtime.Errorf(runtime.CodeInvalid, op,
			"the name is used already in this step: give each its own, with a number "+
				"in a loop"))
	}
	r.used.hold(name)
	return nil
}

// appendEffect keeps the result of an effect, with the time at which it ended, until a commit takes
// it: that of the step's end, or one of its own after [keepWithin]. It needs r.mu.
func (r *stepRun) appendEffect(name, state string, value json.RawMessage) {
	e := r.driver.engine
	r.fresh = append(r.fresh, Entry{
		Type: EntryEffect, At: e.clock.Now(), Frame: r.frame.ID, Name: name, State: state,
		Value: value,
	})
	if r.timer != nil && r.keepAt.IsZero() {
		r.keepAt = time.Now().Add(keepWithin)
		r.timer.Reset(min(keepWithin, time.Until(r.until)))
	}
}

// keepWithin is how long a completed effect may wait for others, and for the end of its step, to
// share their commit. The docs of [Do] promise 100 ms, the commit included.
const keepWithin = 50 * time.Millisecond

// drainEffects returns the entries that no commit has yet.
func (r *stepRun) drainEffects() []Entry {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := r.fresh
	r.fresh, r.keepAt = nil, time.Time{}
	return out
}

// remainingEffects returns the entries that no commit had when the run ended, however often its end
// is decided.
func (r *stepRun) remainingEffects() []Entry {
	if !r.drained {
		r.drained, r.last = true, r.drainEffects()
	}
	return r.last
}
