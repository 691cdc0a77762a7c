package thread

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/routegen/routegen/runtime"
)

// ErrWaiting is what [Do], [Once] and [Ask] return when the step is to end: it asked, or a person wants to pause. Return it, wrapped or not;
// the engine knows without it. The step runs again when it can go on.
var ErrWaiting = errors.New(waitingText)

const waitingText = "the step waits: return, and it runs again when it can go on"

// grace is how long a step may take to heed its cancelled context before the engine goes on without it.
const grace = time.Second

// run is one run of a step. Effects and questions of the handler arrive here, from any goroutine of the handler.
type run struct {
	driver *driver
	frame  runtime.Frame // as stored when the run began
	user   string        // who started the thread
	modify *string
	inside bool // it runs in the driver's goroutine
	cancel context.CancelCauseFunc

	// of the driver's goroutine
	stopping bool // its context was cancelled
	lost     bool // another engine drives the thread
	blamed   int  // times that no store took it: what it came to does not count then, and what it did neither after [blamedWhole] times

	late error // that it ran longer than it may; nil without a limit

	mu     sync.Mutex
	limit  *time.Timer
	used   map[string]bool // names this run has used
	fresh  []runtime.Entry // effects and messages that no commit has yet
	shows  json.RawMessage
	asked  []runtime.Question
	paused bool // it met a safe point, and was told to end there
	shut   bool // its frame has ended, its time is over or the engine closes: it begins nothing any more
	over   bool // it has ended, or was given up: whatever its handler still does is ignored

	// how it ended; set once, with over
	next Transition
	err  error
}

// contextKey finds the run of a step in its context, and in that of an effect the engine.
type contextKey struct{}

var (
	errPause   = errors.New("a person paused the thread now")
	errEnded   = errors.New("the frame has ended, or another engine drives it")
	errClosing = errors.New("the engine is closing")
)

// start runs the step in a goroutine of its own. The driver hears of its end once, soon after its time limit at the latest. It reports false
// when the engine is closing: then nothing was begun.
func (r *run) start(ctx context.Context, m Machine, a Activation, limit time.Duration) bool {
	e := r.driver.engine
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closing.Load() {
		return false
	}
	ctx, r.cancel = context.WithCancelCause(ctx)
	r.late = &runtime.Error{Code: runtime.CodeUnavailable, Op: "run step", Err: fmt.Errorf("it ran longer than %s", limit)}
	r.mu.Lock()
	r.limit = time.AfterFunc(limit, func() { r.cut(r.late) })
	r.mu.Unlock()
	e.steps.Add(1)
	e.crew.run(func() {
		defer e.steps.Done()
		r.whole(ctx, m, a)
	})
	return true
}

// inPlace runs a quick step in the driver's goroutine.
func (r *run) inPlace(ctx context.Context, m Machine, a Activation) {
	r.inside, r.cancel = true, func(error) {}
	r.whole(ctx, m, a)
}

// whole runs the step and notes how it ended.
func (r *run) whole(ctx context.Context, m Machine, a Activation) {
	ctx, end := r.driver.engine.observeStep(ctx, a)
	next, err := r.step(context.WithValue(ctx, contextKey{}, r), m, a)
	if cause := context.Cause(ctx); cause != nil && (err != nil || errors.Is(cause, r.late)) {
		err = cause // what the handler makes of its cancelled context is not the reason, and a result that came too late is none
	}
	r.end(next, err)
	end(r)
}

// stop ends the run because of what happened to its thread.
func (r *run) stop(cause error) {
	r.forbid(cause) // also where it was cut for a pause before
	if !r.stopping {
		r.stopping = true
		r.cut(cause)
	}
}

// cut cancels the context of the step, and gives the step up when it does not heed that. From here on it begins nothing.
func (r *run) cut(cause error) {
	r.forbid(cause)
	r.cancel(cause)
	time.AfterFunc(grace, func() { r.end(Transition{}, cause) })
}

// forbid lets the step begin nothing any more. A pause is left to its safe points: a question may still be asked there.
func (r *run) forbid(cause error) {
	if errors.Is(cause, errPause) {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.shut = true
}

// step calls the machine. A panic is a failed step.
func (r *run) step(ctx context.Context, m Machine, a Activation) (next Transition, err error) {
	defer func() {
		if p := recover(); p != nil {
			r.driver.engine.log.Error("step panicked", "thread", a.Thread, "frame", a.Frame.ID, "step", a.Frame.PC, "stack", string(debug.Stack()))
			err = &runtime.Error{Code: runtime.CodeInternal, Op: "run step", Err: fmt.Errorf("panic: %v", p)}
		}
	}()
	return m.Step(ctx, a)
}

// end notes how the run ended and tells the driver, the first time.
func (r *run) end(next Transition, err error) {
	r.mu.Lock()
	if r.over {
		r.mu.Unlock()
		return
	}
	r.over, r.next, r.err = true, next, err
	if r.limit != nil {
		r.limit.Stop()
	}
	r.mu.Unlock()
	r.cancel(nil)
	r.driver.ended(r)
}

// runOf returns the run that a context belongs to.
func runOf(ctx context.Context, op string) (*run, error) {
	switch at := ctx.Value(contextKey{}).(type) {
	case *run:
		return at, nil
	case *Engine:
		return nil, refuse(runtime.CodeInvalid, op, errors.New("an effect may not hold another effect or a question: use the context of the step, after it"))
	default:
		return nil, refuse(runtime.CodeInvalid, op, errors.New("this context is not that of a step: pass on the one the handler got"))
	}
}

// enter is the safe point before every effect and question. It refuses with ErrWaiting when the step is to end.
func (r *run) enter(op, name string) error {
	switch {
	case name == "":
		return runtime.Permanent(refuse(runtime.CodeInvalid, op, errors.New("it needs a name, by which its result is found again")))
	case r.over || r.paused || len(r.asked) > 0:
		return ErrWaiting
	case r.shut || r.driver.pausing.Load():
		r.paused = true // its end is none, whatever it returns: it was kept from something
		return ErrWaiting
	case r.used[name]:
		return runtime.Permanent(refuse(runtime.CodeInvalid, op,
			errors.New("the name is used already in this step: give each its own, with a number in a loop")))
	}
	if r.used == nil {
		r.used = map[string]bool{}
	}
	r.used[name] = true
	return nil
}

// note keeps the result of an effect until the next commit takes it.
func (r *run) note(name, state string, value json.RawMessage) {
	r.fresh = append(r.fresh, runtime.Entry{Type: runtime.EntryEffect, Frame: r.frame.ID, Name: name, State: state, Value: value})
}

// drain returns what no commit has yet.
func (r *run) drain() []runtime.Entry {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := r.fresh
	r.fresh = nil
	return out
}

// sameStep reports whether the frame is where this run began: then what it did counts.
func (r *run) sameStep(f *runtime.Frame) bool {
	return f != nil && f.PC == r.frame.PC && f.Visit == r.frame.Visit
}

// fits reports whether the frame is unchanged since this run began: then its transition can be applied, also to a record that others changed
// meanwhile.
func (r *run) fits(f *runtime.Frame) bool {
	return r.sameStep(f) && f.State == runtime.FrameReady && f.RouteTo == r.frame.RouteTo && len(f.Attempts) == len(r.frame.Attempts) &&
		runtime.SameJSON(f.Input, r.frame.Input) && slices.EqualFunc(f.Replies, r.frame.Replies, sameReply)
}

// sameReply compares what a step was told: one that began on an answer which was not stored in the end must not count.
func sameReply(a, b runtime.Reply) bool {
	return a.Interrupt == b.Interrupt && a.RouteTo == b.RouteTo && a.By == b.By && runtime.SameJSON(a.Value, b.Value)
}

// record adds what the run has done. Of a frame that is gone the log still says which effects there were, and nothing is said for it any more.
func (r *run) record(c *runtime.Change, fresh []runtime.Entry) {
	f := c.Thread.Frame(r.frame.ID)
	if r.blamed >= blamedWhole {
		return
	}
	for n := range fresh {
		if r.sameStep(f) || f == nil && !saying(fresh, n) {
			c.Add(fresh[n])
		}
	}
}

// saying reports whether an entry is a message, or the mark before it that it was said.
func saying(fresh []runtime.Entry, n int) bool {
	return fresh[n].Type == runtime.EntryMessage || n+1 < len(fresh) && fresh[n+1].Type == runtime.EntryMessage
}

// decide applies to a change what the run came to.
func (r *run) decide(c *runtime.Change, fresh []runtime.Entry) {
	r.record(c, fresh)
	f := c.Thread.Frame(r.frame.ID)
	if !r.fits(f) || c.Doubt(f.ID) {
		return
	}
	if r.shows != nil && string(r.shows) != string(f.Shows) {
		c.Add(runtime.Entry{Type: runtime.EntryShows, Frame: f.ID, Value: r.shows})
	}
	e := r.driver.engine
	switch {
	case r.failed():
		open(c, f.ID, r.asked)
		c.StepFailed(f.ID, r.err, e.targets(f))
	case len(r.asked) > 0:
		open(c, f.ID, r.asked)
	case r.paused || r.err != nil: // it stopped for a pause, or for the engine's sake: it runs again
	default:
		if err := r.next.check(e, r.user); err != nil {
			c.StepFailed(f.ID, err, e.targets(f))
			return
		}
		if r.modify != nil {
			c.Add(runtime.Entry{Type: runtime.EntryModified, Frame: f.ID})
		}
		for _, decide := range r.next.first {
			decide(c)
		}
		r.next.apply(c, f)
		for _, decide := range r.next.also {
			decide(c)
		}
	}
}

// failed reports whether the run came to an error of its own. The sign that a step waits is none, even if a layer between has rewritten it
// as text: no retry or failover may hide a pause.
func (r *run) failed() bool {
	switch {
	case r.err == nil, errors.Is(r.err, errPause), errors.Is(r.err, errEnded), errors.Is(r.err, errClosing):
		return false
	case len(r.asked) > 0 || r.paused:
		return !errors.Is(r.err, ErrWaiting) && !strings.Contains(r.err.Error(), waitingText)
	default:
		return true // also ErrWaiting: nothing told this run to wait
	}
}

const blamedWhole = 2

// fail makes a failure of a run that has ended, since no store takes it.
func (r *run) fail(err error) {
	r.mu.Lock() // a handler that was given up may still run
	defer r.mu.Unlock()
	r.blamed++
	r.err = err
	r.next, r.asked, r.shows, r.paused = Transition{}, nil, nil, false
}

// targets are the places where a failed step of the frame can be sent to.
func (e *Engine) targets(f *runtime.Frame) []string {
	if m, ok := e.machines[f.Machine].(Rerouter); ok {
		return m.Targets(f)
	}
	return nil
}
