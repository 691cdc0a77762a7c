package thread

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/routegen/routegen/runtime"
)

// Clock is where the engine has its time from, so that a test can have another.
type Clock interface {
	// Now may go backwards: deadlines are compared with it, and order comes from sequence numbers.
	Now() time.Time
}

type systemClock struct{}

func (systemClock) Now() time.Time { return time.Now() }

// Config is what an engine can be told. The zero value works; [Open] copies it.
type Config struct {
	Clock  Clock                 // default: the system's. Deadlines follow it: when it jumps they come early, or late
	NewID  func() string         // ids of threads and interrupts; default: 26 characters, sorted by time, 80 bits of them random
	Log    *slog.Logger          // default: none. Payloads and answers appear as digests only
	Kinds  []runtime.Kind        // default: those of the machines' spec, see [Specified]; else [runtime.DefaultKinds]
	Owner  string                // name of this process in leases and logs, for people; default "engine". Several processes may have one name
	Shapes []runtime.StoredShape // what stored data relies on; default: those of the machines' spec. Empty and not nil: nothing is compared

	StepTimeout time.Duration // how long a step may run; default 5 minutes. Waiting for a person does not count
	// Lease is how long another process leaves a running thread alone, unless it is seen that this one died; default 30 seconds, renewed by half.
	// Engines on one store have the same. A clock that jumps ends no lease: one that seems over, or too long, is watched for a while first.
	Lease time.Duration
	Poll  time.Duration // how often the store is asked for what other processes did, and for what is due; default 1 second

	// Eager is how long an acknowledgement may wait to share its commit with the step that it leads to; default 5 milliseconds. Below zero
	// every command is committed before its step runs: then no effect happens on a start, an answer or a message that is refused.
	// Otherwise the effects of [Do] in a step that began on one which the store then refuses have happened, under the same keys as those
	// of the one that counts; they are not recorded. [Once] begins no effect before its request is stored, whatever Eager says.
	Eager time.Duration

	// HoldEarly keeps an answer that names a question which is not asked yet: until the end of the turn, or between turns of the next one. A thread
	// keeps 64 of them, and 64 KiB; one more is refused with CodeConflict. Default: all are refused with CodeNotFound.
	HoldEarly bool

	PlainText string // what a delivered text does on a waiting thread: "answer" (default) or "strict"

	Observers []Observer // told of steps and commits
}

// Engine runs threads over a store. All methods may be called by any number of goroutines, and several engines, in several processes, may
// share one store.
type Engine struct {
	store    runtime.Store
	cfg      Config
	clock    Clock
	log      *slog.Logger
	rules    runtime.Rules
	machines map[string]Machine
	shapes   *shapeTable
	process  string // in leases: Config.Owner, and an id that no other engine has
	absent   func() // says that this engine has ended

	stepContext context.Context //nolint:containedctx // ends when steps are to end: they belong to no call
	stopSteps   context.CancelCauseFunc
	closing     atomic.Bool
	ctx         context.Context //nolint:containedctx // ends when nothing may be written any more
	stop        context.CancelFunc

	mu      sync.Mutex
	drivers map[string]*driver
	steps   sync.WaitGroup
	loops   sync.WaitGroup
	crew    *crew // runs steps and drivers
	timer   *timers
	leases  leases // of others
	news    bulletin
}

// Open starts an engine: it takes up the threads that this owner was driving, and those whose owner is gone, and goes on from there. The
// machines are those the threads may have frames of; two of one name are refused with CodeInvalid, and so are a store that is nil, a wrong
// Config, and machines of several specs that do not agree, unless Config says what holds. The store stays the caller's to close, after [Engine.Close].
func Open(ctx context.Context, store runtime.Store, cfg Config, machines ...Machine) (*Engine, error) {
	if store == nil {
		return nil, refuse(runtime.CodeInvalid, "open engine", errors.New("there is no store: give it one"))
	}
	e := &Engine{store: store, machines: map[string]Machine{}, drivers: map[string]*driver{}, crew: newCrew()}
	for _, m := range machines {
		if e.machines[m.Name()] != nil || m.Name() == "" {
			return nil, refuse(runtime.CodeInvalid, "open engine", fmt.Errorf("machine name %q is empty or used twice", m.Name()))
		}
		e.machines[m.Name()] = m
	}
	if err := specified(&cfg, machines); err != nil {
		return nil, err
	}
	if err := e.configure(cfg); err != nil {
		return nil, err
	}
	e.stepContext, e.stopSteps = context.WithCancelCause(context.WithoutCancel(ctx))
	e.ctx, e.stop = context.WithCancel(context.WithoutCancel(ctx))
	err := e.registerShapes(ctx)
	if err == nil {
		err = e.announceProcess(ctx)
	}
	if err != nil {
		e.stop()
		e.stopSteps(errClosing)
		return nil, err
	}
	e.timer = newTimers()
	e.loops.Go(e.watch)
	if err := e.Recover(ctx); err != nil {
		_ = e.Close(ctx)
		return nil, err
	}
	return e, nil
}

func (e *Engine) configure(cfg Config) error {
	e.cfg = cfg
	c := &e.cfg
	defaulted(&c.StepTimeout, 5*time.Minute)
	defaulted(&c.Lease, 30*time.Second)
	defaulted(&c.Poll, time.Second)
	if c.Eager == 0 {
		c.Eager = 5 * time.Millisecond
	}
	if c.Clock == nil {
		c.Clock = systemClock{}
	}
	if c.NewID == nil {
		c.NewID = func() string { return newID(c.Clock.Now()) }
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Kinds = slices.Clone(c.Kinds); c.Kinds == nil {
		c.Kinds = runtime.DefaultKinds()
	}
	c.Observers = slices.Clone(c.Observers)
	if c.Owner == "" {
		c.Owner = "engine"
	}
	switch c.PlainText {
	case "":
		c.PlainText = plainAnswers
	case plainAnswers, plainStrict:
	default:
		return refuse(runtime.CodeInvalid, "open engine", fmt.Errorf("Config.PlainText is %q: use %s or %s", c.PlainText, plainAnswers, plainStrict))
	}
	if err := runtime.CheckKinds(c.Kinds); err != nil {
		return refuse(runtime.CodeInvalid, "open engine", err)
	}
	if c.StepTimeout < 0 || c.Lease < 0 || c.Poll < 0 {
		return refuse(runtime.CodeInvalid, "open engine", errors.New("a time in Config is negative"))
	}
	e.clock, e.log = c.Clock, c.Log
	e.rules = runtime.Rules{
		Kinds: c.Kinds, NewID: c.NewID, Check: newAnswerSchemas().check, HoldEarly: c.HoldEarly, Turns: e.turns, Node: e.node,
	}
	return nil
}

// specified takes from the machines what the Config leaves out.
func specified(cfg *Config, machines []Machine) error {
	var kinds, shapes Machine // those that said it first
	ownKinds, ownShapes := cfg.Kinds != nil, cfg.Shapes != nil
	differ := func(what string, a, b Machine) error {
		return refuse(runtime.CodeInvalid, "open engine",
			fmt.Errorf("the machines %q and %q come from specs with different %s: set Config.%[3]s to what holds for both", a.Name(), b.Name(), what))
	}
	for _, m := range machines {
		spec, ok := m.(Specified)
		if !ok {
			continue
		}
		if k := spec.Kinds(); k != nil && !ownKinds {
			if kinds != nil && !reflect.DeepEqual(k, cfg.Kinds) {
				return differ("Kinds", kinds, m)
			}
			kinds, cfg.Kinds = m, k
		}
		if s := spec.Shapes(); s != nil && !ownShapes {
			if shapes != nil && !reflect.DeepEqual(s, cfg.Shapes) {
				return differ("Shapes", shapes, m)
			}
			shapes, cfg.Shapes = m, s
		}
	}
	return nil
}

func defaulted(d *time.Duration, value time.Duration) {
	if *d == 0 {
		*d = value
	}
}

const idDigits = "0123456789abcdefghjkmnpqrstvwxyz" // without i, l, o, u: they are misread

// newID returns 10 digits of time and 16 random ones. Ids made one after the other lie beside each other in a store.
func newID(now time.Time) string {
	var random [10]byte
	_, _ = rand.Read(random[:]) // never fails
	var out [26]byte
	for i, ms := 9, now.UnixMilli(); i >= 0; i, ms = i-1, ms>>5 {
		out[i] = idDigits[ms&31]
	}
	bits, have, n := uint64(0), 0, 10
	for _, b := range random {
		bits, have = bits<<8|uint64(b), have+8
		for ; have >= 5; have -= 5 {
			out[n] = idDigits[bits>>(have-5)&31]
			n++
		}
	}
	return string(out[:])
}

// Close ends the engine: nothing new is begun, steps that run may end until ctx does and are cut then, and what they did is committed. A step
// that is cut runs again, by the next engine. Nothing is lost if Close is never called; it only makes the next start quicker.
func (e *Engine) Close(ctx context.Context) error {
	e.mu.Lock()
	first := !e.closing.Swap(true)
	e.mu.Unlock()
	if !first {
		<-e.ctx.Done()
		return nil
	}
	e.wakeAll()
	ended := make(chan struct{})
	go func() {
		e.steps.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-ctx.Done():
	}
	e.stopSteps(errClosing)
	e.wakeAll()
	e.timer.stop()
	e.loops.Wait()
	e.crew.dismiss()
	e.stop()
	e.absent()
	e.news.publish("")
	return nil
}

// stopped reports whether steps may not run any more.
func (e *Engine) stopped() bool { return e.stepContext.Err() != nil }

func (e *Engine) wakeAll() {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, d := range e.drivers {
		d.poke()
	}
}

// submit hands a deed to the driver of a thread, a new one where there is none. It refuses when the engine is closing.
func (e *Engine) submit(id string, x *deed) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if d := e.drivers[id]; d != nil && d.push(x) {
		return nil
	}
	if e.closing.Load() {
		return refuse(runtime.CodeUnavailable, "thread "+id, errClosing)
	}
	d := &driver{engine: e, id: id, signal: make(chan struct{}, 1), runs: map[string]*run{}, queue: []*deed{x}}
	d.beatAt = time.Now().Add(e.cfg.Poll)
	e.drivers[id] = d
	e.loops.Add(1)
	e.crew.run(func() {
		defer e.loops.Done()
		d.loop()
	})
	return nil
}

// retire removes a driver that has nothing to do. It reports false when something came meanwhile.
func (e *Engine) retire(d *driver) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.queue) > 0 {
		return false
	}
	d.gone = true
	delete(e.drivers, d.id)
	return true
}

// do runs a deed and waits for its commit. A context that is over is refused before anything is done, and so is one that ends before the
// deed was looked at. One that ends later is refused with CodeUnknown: what became of the deed is read back, or asked for again.
func (e *Engine) do(ctx context.Context, id string, x *deed) (*runtime.Thread, error) {
	op := "thread " + id
	switch {
	case e.closing.Load():
		return nil, refuse(runtime.CodeUnavailable, op, errClosing)
	case ctx.Err() != nil:
		return nil, refuse(runtime.CodeUnavailable, op, context.Cause(ctx))
	}
	type outcome struct {
		t   *runtime.Thread
		err error
	}
	result := make(chan outcome, 1)
	x.done = func(t *runtime.Thread, err error) { result <- outcome{t, err} }
	if err := e.submit(id, x); err != nil {
		return nil, err
	}
	select {
	case o := <-result:
		return o.t, o.err
	case <-ctx.Done():
	}
	select {
	case o := <-result: // both are there: what is known counts
		return o.t, o.err
	default:
	}
	if x.withdraw() {
		return nil, refuse(runtime.CodeUnavailable, op, context.Cause(ctx))
	}
	return nil, unknownOutcome(ctx, op)
}

// unknownOutcome is the refusal of a call whose context ended while the store was at work for it.
func unknownOutcome(ctx context.Context, op string) error {
	return refuse(runtime.CodeUnknown, op, fmt.Errorf("it may be done or not, ask again under the same request id or look: %w", context.Cause(ctx)))
}
