package thread

import (
	"context"
	"crypto/rand"
	"log/slog"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/routegen/routegen/runtime"
)

// Clock is the engine's source of time, so that a test can have its own.
type Clock interface {
	// Now may go backwards: deadlines are compared with it, and order comes from sequence numbers.
	Now() time.Time
}

type systemClock struct{}

func (systemClock) Now() time.Time { return time.Now() }

// Config configures an engine. The zero value works; [Open] copies it.
type Config struct {
	// default: the system's. Deadlines follow it: when it jumps they come early, or late
	Clock Clock
	// ids of threads and interrupts; default: 26 characters, sorted by time, 80 bits of them random
	NewID func() string
	Log   *slog.Logger // default: none. Payloads and answers appear as digests only
	// default: those of the machines' spec, see [FromSpec]; else [DefaultKinds]
	Kinds []runtime.Kind
	// name of this process in leases and logs, for people; default "engine". Several processes may
	// have one name
	Owner string
	// what stored data relies on; default: those of the machines' spec. Empty and not nil: nothing
	// is compared
	Shapes []runtime.StoredShape

	// how long a step may run; default 5 minutes. Waiting for a person does not count
	StepTimeout time.Duration
	// Lease is how long other processes do not take a running thread, unless they know that this
	// one died; default 30 seconds, renewed by half. It must be the same for all engines on a
	// store. A clock that jumps ends no lease: one that seems over, or too long, is watched for a
	// while first.
	Lease time.Duration
	// how often the store is polled for due threads and for changes of other processes, of which a
	// [Feed] tells followers sooner; default 1 second
	Poll time.Duration

	// CommitDelay is how long an acknowledgement may wait to share its commit with the step that it
	// leads to; default 5 milliseconds. If it is negative, every command is committed before its
	// step runs, so no effect happens for a start, an answer or a message that is refused.
	// Otherwise effects of [Do] may have happened in a step that began on a request which the store
	// then refuses, under the same keys as those of the request that counts; they are not recorded.
	// [Once] begins no effect before its request is stored, whatever CommitDelay says.
	CommitDelay time.Duration

	// HoldEarly keeps an answer that names a question which is not asked yet: until the end of the
	// turn, or between turns of the next one. A thread keeps 64 of them, and 64 KiB; one more is
	// refused with CodeConflict. Default: all are refused with CodeNotFound.
	HoldEarly bool

	// AnswerOnly makes an engine that takes starts, answers and messages, and runs no step but
	// those of threads for which [Engine.Drive] is called. It does not look for due or abandoned
	// threads by itself. Engines without it, on the same store, take its threads when they poll;
	// where there are none, a dispatcher such as runtime/dispatch/river has to have them driven.
	AnswerOnly bool

	// how a delivered text is taken by a waiting thread: "answer" (default) or "strict"
	PlainText string

	Observers []Observer // called for steps and commits
}

// Engine runs threads over a store. All methods may be called by any number of goroutines, and
// several engines, in several processes, may share one store. It sees the threads of one tenant:
// see [Engine.Tenant].
type Engine struct {
	*engineCore

	store  Store   // what the tenant sees of it
	tenant *string // nil for the engine of all tenants, which drives their threads
}

// engineCore is what the engines of all tenants share.
type engineCore struct {
	root     *Engine // of all tenants
	plain    *Engine // of tenant ""
	cfg      Config
	clock    Clock
	log      *slog.Logger
	rules    Rules
	machines map[string]Machine
	shapes   *shapeTable
	process  string // in leases: Config.Owner, and an id that no other engine has
	leave    func() // says that this engine has ended

	//nolint:containedctx // ends when steps have to end: they belong to no call
	stepContext context.Context
	stopSteps   context.CancelCauseFunc
	closing     atomic.Bool
	ctx         context.Context //nolint:containedctx // ends when nothing more may be written
	stop        context.CancelFunc
	fed         atomic.Bool     // the store wakes followers
	feedContext context.Context //nolint:containedctx // ends when it shall not
	stopFeed    context.CancelFunc

	mu      sync.Mutex
	drivers map[string]*driver
	driven  map[waiting]int // calls of Drive
	steps   sync.WaitGroup
	loops   sync.WaitGroup
	workers *workerPool // runs steps and drivers
	timer   *timers
	leases  leases // of others
	commits notifier
}

// Open starts an engine. It takes up the threads whose engine has ended. machines are those that
// the frames of the threads may have. Open returns CodeInvalid if store is nil, two machines have
// one name, cfg is invalid, or machines come from specs that differ and cfg does not decide between
// them. The caller closes the store, after [Engine.Close].
func Open(ctx context.Context, store Store, cfg Config, machines ...Machine) (*Engine, error) {
	if store == nil {
		return nil, runtime.Errorf(runtime.CodeInvalid, "open engine",
			"there is no store: give it one")
	}
	e := &Engine{store: store, engineCore: &engineCore{machines: map[string]Machine{},
		drivers: map[string]*driver{}, driven: map[waiting]int{}, workers: newWorkerPool()}}
	e.root = e
	e.plain = e.view("")
	for _, m := range machines {
		if e.machines[m.Name()] != nil || m.Name() == "" {
			return nil, runtime.Errorf(runtime.CodeInvalid, "open engine",
				"machine name %q is empty or used twice", m.Name())
		}
		e.machines[m.Name()] = m
	}
	if err := takeSpec(&cfg, machines); err != nil {
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
	e.feedContext, e.stopFeed = context.WithCancel(e.ctx)
	e.followFeed()
	if cfg.AnswerOnly { // nothing is polled and nothing taken up, see [Engine.Drive]
		return e.plain, nil
	}
	e.loops.Go(e.watchTimers)
	if err := e.Recover(ctx); err != nil {
		_ = e.Close(ctx)
		return nil, err
	}
	return e.plain, nil
}

func (e *Engine) configure(cfg Config) error {
	e.cfg = cfg
	c := &e.cfg
	setDefault(&c.StepTimeout, 5*time.Minute)
	setDefault(&c.Lease, 30*time.Second)
	setDefault(&c.Poll, time.Second)
	if c.CommitDelay == 0 {
		c.CommitDelay = 5 * time.Millisecond
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
		c.Kinds = DefaultKinds()
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
		return runtime.Errorf(runtime.CodeInvalid, "open engine",
			"Config.PlainText is %q: use %s or %s", c.PlainText, plainAnswers,
			plainStrict)
	}
	if err := CheckKinds(c.Kinds); err != nil {
		return runtime.Errorf(runtime.CodeInvalid, "open engine", "%w", err)
	}
	if c.StepTimeout < 0 || c.Lease < 0 || c.Poll < 0 {
		return runtime.Errorf(runtime.CodeInvalid, "open engine", "a time in Config is negative")
	}
	e.clock, e.log = c.Clock, c.Log
	e.rules = Rules{
		Kinds: c.Kinds, NewID: c.NewID, Check: newAnswerSchemas().checkValue,
		HoldEarly: c.HoldEarly,
		Turns:     e.hasTurns, Node: e.nodeOf,
	}
	return nil
}

// takeSpec fills what cfg leaves out from the machines.
func takeSpec(cfg *Config, machines []Machine) error {
	var kinds, shapes Machine // the first ones that have it
	ownKinds, ownShapes := cfg.Kinds != nil, cfg.Shapes != nil
	differ := func(what string, a, b Machine) error {
		return runtime.Errorf(runtime.CodeInvalid, "open engine",
			"the machines %q and %q come from specs with different %s: set "+
				"Config.%[3]s to what holds for both", a.Name(), b.Name(), what)
	}
	for _, m := range machines {
		spec, ok := m.(FromSpec)
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

func setDefault(d *time.Duration, value time.Duration) {
	if *d == 0 {
		*d = value
	}
}

const idDigits = "0123456789abcdefghjkmnpqrstvwxyz" // without i, l, o, u: they are misread

// newID returns 10 digits of time and 16 random ones. Ids made one after the other are neighbours
// in the index of a store.
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

// Close ends the engine. It refuses new calls with CodeUnavailable, starts no step, and waits for
// the steps that run; when ctx ends first, their contexts are cancelled. What they did is
// committed, and a cancelled step runs again in the next engine. Nothing is lost if Close is never
// called, but the next engine then starts later.
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
	e.timer.stopTimers()
	e.stopFeed()
	e.loops.Wait()
	e.workers.stop()
	e.stop()
	e.leave()
	e.fed.Store(false)
	e.commits.publish("")
	return nil
}

// stopped reports whether steps must end.
func (e *Engine) stopped() bool { return e.stepContext.Err() != nil }

func (e *Engine) wakeAll() {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, d := range e.drivers {
		d.wake()
	}
}

// submit hands a command to the driver of a thread. If it makes a new driver it returns that, and
// the caller must drive it. It returns CodeUnavailable if the engine is closing.
func (e *Engine) submit(id string, x *command) (fresh *driver, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if d := e.drivers[id]; d != nil && d.push(x) {
		return nil, nil //nolint:nilnil // it has a driver
	}
	if e.closing.Load() {
		return nil, runtime.Errorf(runtime.CodeUnavailable, "thread "+id, "%w", errClosing)
	}
	d := &driver{engine: e.root, id: id, first: x, last: x, driving: true, renewAt: time.Now().
		Add(e.cfg.Poll), notOwner: e.cfg.AnswerOnly}
	e.drivers[id] = d
	e.loops.Add(1)
	return d, nil
}

// retire removes a driver that has nothing to do. It reports false if a command came meanwhile.
func (e *Engine) retire(d *driver) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.first != nil {
		return false
	}
	d.retired = true
	if d.gone != nil {
		close(d.gone)
	}
	if d.timer != nil {
		d.timer.Stop()
	}
	delete(e.drivers, d.id)
	return true
}

// perform runs a command and waits for its commit. It returns CodeUnavailable if ctx ends before
// the command was claimed, and CodeUnknown if it ends later: the command then goes on without its
// caller.
func (e *Engine) perform(ctx context.Context, id string, x *command) (*Thread, error) {
	id = e.key(id)
	switch {
	case e.closing.Load():
		return nil, runtime.Errorf(runtime.CodeUnavailable, "thread "+id, "%w", errClosing)
	case ctx.Err() != nil:
		return nil, runtime.Errorf(runtime.CodeUnavailable, "thread "+id, "%w", context.Cause(ctx))
	}
	x.signedBy(ctx)
	done := x.awaitable()
	d, err := e.submit(id, x)
	switch {
	case err != nil:
		return nil, err
	case d == nil:
	case ctx.Done() == nil:
		// the caller waits as long as it takes, since its goroutine drives
		d.drive(done) //nolint:contextcheck // a run is the context of its step
	default:
		e.workers.runTask(d)
	}
	select {
	case <-done:
		return e.localThread(x.thread), x.err
	case <-ctx.Done():
	}
	select {
	case <-done: // both are ready: the outcome counts
		return e.localThread(x.thread), x.err
	default:
	}
	if x.withdraw() {
		return nil, runtime.Errorf(runtime.CodeUnavailable, "thread "+id, "%w", context.Cause(ctx))
	}
	return nil, unknownOutcome(ctx, "thread "+id)
}

// unknownOutcome returns the error of a call whose context ended while the store was committing for
// it.
func unknownOutcome(ctx context.Context, op string) error {
	return runtime.Errorf(runtime.CodeUnknown, op,
		"the outcome is unknown: ask again with the same request id, or load the thread: %w",
		context.Cause(ctx))
}
