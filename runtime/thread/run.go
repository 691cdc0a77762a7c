package thread

import (
	"bytes"
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

// ErrWaiting is what [Do], [Once] and [Ask] return when the step is to end: it asked, or a person wants
// to pause. Return it, or anything else: from then on the step waits, and what it returns does not
// count. It runs again when it can go on.
var ErrWaiting = errors.New("the step waits: return, and it runs again when it can go on")

var errPanic = errors.New("panic")

// grace is how long a step may take to heed its cancelled context before the engine goes on without it.
const grace = time.Second

// run is one run of a step. Effects and questions of the handler arrive here, from any goroutine of the handler.
type run struct {
	driver *driver
	frame  runtime.Frame // as it was when the run began
	began  basis
	user   string // who started the thread
	modify *string
	inside bool // it runs in the driver's goroutine
	cancel context.CancelCauseFunc

	// of the driver's goroutine
	stopping bool            // its context was cancelled
	lost     bool            // another engine drives the thread
	stored   bool            // the record that it began on is in the store
	stale    bool            // the store has another result of an effect that this run has used
	logged   map[string]bool // effects whose loss was logged
	rejects  int             // commits with it that the store rejected; after [maxRejects] its effects are dropped too

	late error // that it ran longer than it may; nil without a limit

	mu      sync.Mutex
	order   *runtime.Reroute // the stored reroute event that its frame has now
	ordered chan struct{}    // closed when that is another one; nil until a caller wants to know
	limit   *time.Timer
	used    map[string]bool // names this run has used
	fresh   []runtime.Entry // effects and messages that no commit has yet
	keeper  *time.Timer     // has fresh committed soon; nil while there is nothing in it
	intent  map[string]bool // effects of Once that are being intended and have not begun
	shows   json.RawMessage
	asked   []runtime.Question
	paused  bool // it met a safe point, and was told to end there
	shut    bool // its frame has ended, its time is over or the engine closes: it begins nothing any more
	over    bool // it has ended, or was given up: whatever its handler still does is ignored

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
	next, err := r.step(withInfo(context.WithValue(ctx, contextKey{}, r), a), m, a)
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
			err = &runtime.Error{Code: runtime.CodeInternal, Op: "run step", Err: fmt.Errorf("%w: %v", errPanic, p)}
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
	for name := range r.intent { // it may be stored that they begin, and they never did
		r.note(name, runtime.EffectFailed, nil)
		r.paused = true // whatever the step returned, it was kept from something: it runs again
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

// note keeps the result of an effect, with the time at which it ended, until a commit takes it: that of the step's end, or one of its own
// within [keepWithin].
func (r *run) note(name, state string, value json.RawMessage) {
	e := r.driver.engine
	r.fresh = append(r.fresh, runtime.Entry{
		Type: runtime.EntryEffect, At: e.clock.Now(), Frame: r.frame.ID, Name: name, State: state, Value: value,
	})
	if r.keeper == nil && !r.inside {
		r.keeper = time.AfterFunc(keepWithin, func() {
			r.driver.push(&deed{now: true, decide: func(*runtime.Change) error { return nil }})
		})
	}
}

// keepWithin is how long a completed effect may wait for others, and for the end of its step, to be
// committed together with them. The promise in the docs of [Do] is 100 ms, the commit included.
const keepWithin = 50 * time.Millisecond

// drain returns what no commit has yet.
func (r *run) drain() []runtime.Entry {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.keeper != nil {
		r.keeper.Stop()
		r.keeper = nil
	}
	out := r.fresh
	r.fresh = nil
	return out
}

// basis is what a step reads of its thread beside its frame.
type basis struct {
	turn     int
	user     string
	metadata json.RawMessage
	modify   *string
	reroute  string
}

func basisOf(t *runtime.Thread, frame string) basis {
	b := basis{turn: t.Turn, user: t.User, metadata: t.Metadata, modify: t.Modify}
	if event := t.PendingReroute(frame); event != nil {
		b.reroute = event.ID
	}
	return b
}

// holds reports whether what the step read is so in the record. An event that came later does not count.
func (b *basis) holds(now *basis) bool {
	return b.turn == now.turn && b.user == now.user && bytes.Equal(b.metadata, now.metadata) &&
		(b.reroute == "" || b.reroute == now.reroute) &&
		(b.modify == nil) == (now.modify == nil) && (b.modify == nil || *b.modify == *now.modify)
}

// continues reports whether the run began on what the record says now: the same step and visit, with the
// same input, locals, answers and results of children. Only then does what it did belong to the thread.
// While the record that the run began on is not stored, its turn, metadata, modification and reroute event
// must be those of the record too; afterwards they may change under a running step.
func (r *run) continues(t *runtime.Thread) bool {
	f, was := t.Frame(r.frame.ID), &r.frame
	if f == nil || r.stale || f.PC != was.PC || f.Visit != was.Visit || f.RouteTo != was.RouteTo ||
		!bytes.Equal(f.Input, was.Input) || !bytes.Equal(f.Locals, was.Locals) ||
		!slices.EqualFunc(f.Replies, was.Replies, sameReply) || !slices.EqualFunc(f.Children, was.Children, sameChild) {
		return false
	}
	if r.stored {
		return true
	}
	now := basisOf(t, f.ID)
	return r.began.holds(&now)
}

// fits reports whether the frame waits for the end of this run: then its transition can be applied, also
// to a record that others changed meanwhile.
func (r *run) fits(t *runtime.Thread) bool {
	if !r.continues(t) {
		return false
	}
	f := t.Frame(r.frame.ID)
	return f.State == runtime.FrameReady && len(f.Attempts) == len(r.frame.Attempts)
}

// sameReply compares what a step was told. The id of the interrupt does not count: a question that was
// answered at once gets another one when its commit is decided again.
func sameReply(a, b runtime.Reply) bool {
	return a.Name == b.Name && a.Digest == b.Digest && a.RouteTo == b.RouteTo && a.By == b.By && bytes.Equal(a.Value, b.Value)
}

// sameChild compares what a child returned.
func sameChild(a, b runtime.Child) bool {
	failed := func(c *runtime.Child) runtime.Failure {
		if c.Failure == nil {
			return runtime.Failure{}
		}
		return *c.Failure
	}
	return a.Frame == b.Frame && a.Done == b.Done && a.Skipped == b.Skipped && bytes.Equal(a.Value, b.Value) &&
		(a.Failure == nil) == (b.Failure == nil) && failed(&a) == failed(&b)
}

// record adds to a change what the run has done, if it continues the record. What was done by a run that
// began on a start, an answer or a message which was not stored in the end is not the thread's: it is
// dropped, with a line in the log of the program. An effect that the record has a result of keeps that
// result; a run that used another one is stale. Of a frame that has ended meanwhile the history still says
// which effects there were.
func (r *run) record(c *runtime.Change, fresh []runtime.Entry) {
	if r.rejects >= maxRejects {
		return
	}
	f := c.Thread.Frame(r.frame.ID)
	if f != nil && !r.continues(c.Thread) || f == nil && !r.stored {
		r.dropped(fresh)
		return
	}
	for n := range fresh {
		if f == nil && saying(fresh, n) {
			continue
		}
		if had := effectOf(c.Thread, &fresh[n]); had != nil && had.State == runtime.EffectDone {
			r.stale = r.stale || fresh[n].State == runtime.EffectDone && !bytes.Equal(had.Value, fresh[n].Value)
			continue
		}
		c.Add(fresh[n])
		if n+1 == len(fresh) || !saying(fresh, n) || fresh[n].Type == runtime.EntryMessage {
			c.AtRest()
		}
	}
}

// effectOf returns the effect that an entry is about, as the record has it; nil for any other entry.
func effectOf(t *runtime.Thread, e *runtime.Entry) *runtime.Effect {
	f := t.Frame(e.Frame)
	if e.Type != runtime.EntryEffect || f == nil {
		return nil
	}
	return f.Effect(e.Name)
}

// dropped logs, once, the completed effects of a run that do not become the thread's.
func (r *run) dropped(fresh []runtime.Entry) {
	for n := range fresh {
		if e := &fresh[n]; e.State == runtime.EffectDone && !saying(fresh, n) && !r.logged[e.Name] {
			if r.logged == nil {
				r.logged = map[string]bool{}
			}
			r.logged[e.Name] = true
			r.driver.engine.log.Warn("effect not recorded: its step does not continue what is stored",
				"thread", r.driver.id, "frame", e.Frame, "step", r.frame.PC, "effect", e.Name)
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
	if !r.fits(c.Thread) {
		return
	}
	f := c.Thread.Frame(r.frame.ID)
	if c.Doubt(f.ID) {
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

// failed reports whether the run came to an error of its own. Once it has asked, or was kept from
// something by a pause, what it returns is none: whatever a layer between makes of ErrWaiting, it hides
// no question. An error that is real comes again with the next run.
func (r *run) failed() bool {
	switch {
	case r.err == nil, errors.Is(r.err, errPause), errors.Is(r.err, errEnded), errors.Is(r.err, errClosing):
		return false
	case len(r.asked) > 0 || r.paused:
		return errors.Is(r.err, errPanic) || errors.Is(r.err, r.late)
	default:
		return true // also ErrWaiting: nothing told this run to wait
	}
}

const maxRejects = 2

// fail makes a failure of a run that has ended, since no store takes it.
func (r *run) fail(err error) {
	r.mu.Lock() // a handler that was given up may still run
	defer r.mu.Unlock()
	r.rejects++
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
