package thread

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/routegen/routegen/runtime"
)

// driver moves one thread as long as there is something to do, and is gone when the thread waits. Its one goroutine decides and commits;
// steps run in goroutines of their own. Nothing here is the truth: what counts is what the store holds, and every commit is a
// compare-and-set against it.
type driver struct {
	engine  *Engine
	id      string
	pausing atomic.Bool // a pause was requested: steps stop at their next safe point
	signal  chan struct{}

	mu    sync.Mutex
	queue []*deed // what came and is not yet looked at
	gone  bool    // the goroutine has ended; guarded by engine.mu too

	// The rest belongs to the goroutine.
	base    *runtime.Thread // as stored; nil until it is loaded, and while the thread does not exist
	work    *runtime.Change // what the pending deeds make of base; nil when there are none
	pending []*deed
	runs    map[string]*run // by frame
	fence   int64           // of the lease this driver took; 0 until it had to take one
	flushAt time.Time       // when pending deeds are committed at the latest
	retryAt time.Time       // after the store refused
	beatAt  time.Time       // when it next looks after its lease, and at what others did
	unsure  *runtime.Change // a commit of which nobody knows whether it landed
	part    map[*deed]bool  // the deeds of unsure
	refused int             // times in a row
	stuck   bool            // this engine may not move the thread: another does, or its code does not fit
	wrote   bool            // the change at hand is in the store
}

// deed is one thing to do to the thread. It may be decided several times: again on the new record when somebody else was faster.
type deed struct {
	begin  func() *runtime.Change             // makes the thread, where it does not exist
	decide func(c *runtime.Change) error      // pure, but for reads of the store
	done   func(t *runtime.Thread, err error) // once: after the commit, or the refusal; nil for what the engine does by itself
	run    *run                               // whose end this is
	soFar  bool                               // it is what a running step has done so far
	now    bool                               // do not wait for a running step
	fresh  bool                               // the thread was changed past this driver: read it again
	fence  int64                              // with fresh: of the lease that the change took for this engine
	err    error                              // the refusal of decide
	state  atomic.Int32                       // whether it is decided, or its caller has left before: see decides and withdraw
}

// The states of a deed.
const (
	deedQueued int32 = iota
	deedDecided
	deedWithdrawn
)

// decides reports whether the deed is to be decided, or decided again: its caller cannot withdraw it from here on.
func (x *deed) decides() bool {
	return x.state.CompareAndSwap(deedQueued, deedDecided) || x.state.Load() == deedDecided
}

// withdraw takes a deed back that was not looked at yet, and reports whether it did.
func (x *deed) withdraw() bool { return x.state.CompareAndSwap(deedQueued, deedWithdrawn) }

// loop is the driver's goroutine.
func (d *driver) loop() {
	e := d.engine
	for {
		d.beat()
		d.receive()
		d.pause()
		if e.cfg.Eager >= 0 || d.work == nil {
			d.launch()
		}
		if d.came() { // a quick step has ended
			if d.late() && d.due() {
				d.flush()
			}
			continue
		}
		if d.due() {
			d.flush()
			continue
		}
		d.halt()
		if len(d.runs) == 0 && len(d.pending) == 0 {
			if d.leave() {
				continue
			}
			if e.retire(d) {
				return
			}
		}
		d.wait()
	}
}

// halt ends the steps that run when the engine's time to close is over.
func (d *driver) halt() {
	if !d.engine.stopped() {
		return
	}
	for _, r := range d.runs {
		r.stop(errClosing)
	}
}

// receive takes what came and decides it.
func (d *driver) receive() {
	d.mu.Lock()
	came := d.queue
	d.queue = nil
	d.mu.Unlock()
	collected := false
	for _, x := range came {
		if x.run != nil {
			if x.run.lost {
				continue
			}
			delete(d.runs, x.run.frame.ID)
		}
		if !d.retryAt.IsZero() { // it is decided with the others, on what the store holds then
			d.pending, d.work = append(d.pending, x), nil
			continue
		}
		if x.fresh && d.work == nil || d.base == nil && d.work == nil && x.begin == nil {
			if err := d.load(); err != nil {
				d.unloaded(x, err)
				continue
			}
			if x.fence != 0 && d.base.Lease.Fence == x.fence && d.mine() {
				d.fence = x.fence
			}
		}
		if !collected { // what steps did before these deeds comes before them: they may end steps
			d.collect()
			collected = true
		}
		d.add(x)
	}
	if len(came) > 0 {
		d.heed()
	}
}

// unloaded deals with a deed whose thread cannot be read. What a step has done is kept until it can.
func (d *driver) unloaded(x *deed, err error) {
	if x.done != nil || runtime.CodeOf(err) == runtime.CodeNotFound {
		x.finish(nil, err)
		return
	}
	d.pending = append(d.pending, x)
	d.refuse(err)
}

// take decides a deed on top of the pending ones, and signals the running steps that it concerns.
func (d *driver) take(x *deed) {
	d.add(x)
	d.heed()
}

// add decides a deed on top of the pending ones. A refusal may rest on what they do: then it waits for their commit, as they do.
func (d *driver) add(x *deed) {
	if !x.decides() {
		return // its caller did not wait for it
	}
	c := d.work
	if c == nil {
		if d.base == nil {
			c = x.begin()
		} else {
			c = runtime.NewChange(d.base, &d.engine.rules, d.engine.clock.Now())
		}
		c.Entries = slices.Grow(c.Entries, 6) // they are large, and seldom more
	}
	before := len(c.Entries)
	x.err = x.decide(c)
	var unclear *runtime.UnclearError
	refused := x.err != nil && !errors.As(x.err, &unclear)
	switch {
	case refused && (d.work == nil || before == 0 && c.Empty()):
		x.finish(d.base, x.err)
		return
	case refused && len(c.Entries) > before: // it had begun: the pending ones are decided again without it
		refusal := x.err
		x.decide = func(*runtime.Change) error { return refusal }
		d.pending = append(d.pending, x)
		d.rebase(nil)
		return
	}
	if len(c.Entries) > before {
		c.AtRest()
	}
	d.work = c
	d.pending = append(d.pending, x)
	if d.flushAt.IsZero() {
		d.flushAt = time.Now().Add(d.engine.cfg.Eager)
	}
	if x.now {
		d.flushAt = time.Now()
	}
}

func (x *deed) finish(t *runtime.Thread, err error) {
	if x.done != nil {
		x.done(t, err)
		x.done = nil
	}
}

// current is the record as the pending deeds make it; nil when there is no thread.
func (d *driver) current() *runtime.Thread {
	if d.work != nil {
		return d.work.Thread
	}
	return d.base
}

// heed lets running steps feel what the record says: a requested pause, and frames that are gone.
func (d *driver) heed() {
	t := d.current()
	if t == nil {
		return
	}
	control := t.Control
	d.pausing.Store(control != nil)
	for _, r := range d.runs {
		switch {
		case !r.fits(t):
			r.stop(errEnded)
		case control != nil && control.Mode == runtime.EscapeNow:
			r.stop(errPause)
		}
	}
}

// tell lets running steps know the reroute events that are stored for them.
func (d *driver) tell() {
	for id, r := range d.runs {
		r.hear(d.base.PendingReroute(id))
	}
}

// pause completes a requested pause when no step runs.
func (d *driver) pause() {
	t := d.current()
	if t == nil || t.Control == nil || t.Control.Paused || len(d.runs) > 0 || d.stuck || !d.retryAt.IsZero() {
		return
	}
	d.take(&deed{decide: func(c *runtime.Change) error {
		if !d.stuck && len(d.runs) == 0 { // decided again, it may be another engine that drives
			c.PauseWithout(d.unoffered(c.Thread)...)
		}
		return nil
	}})
}

// unoffered are the choices that a pause of the thread does not offer.
func (d *driver) unoffered(t *runtime.Thread) []string {
	if root := t.Root(); root != nil {
		if m, ok := d.engine.machines[root.Machine].(Changeable); ok && m.Changeable(root) {
			return nil
		}
	}
	return []string{"modify"}
}

// launch starts the step of every frame that can move.
func (d *driver) launch() {
	t := d.current()
	if t == nil || t.Over != "" || t.Control != nil || d.stuck || d.engine.closing.Load() || !d.retryAt.IsZero() {
		return
	}
	var ready []string
	for i := range t.Frames {
		if f := &t.Frames[i]; f.State == runtime.FrameReady && d.runs[f.ID] == nil {
			ready = append(ready, f.ID)
		}
	}
	if len(ready) == 0 {
		return
	}
	if d.stuck = !d.mine(); d.stuck {
		return
	}
	ready = slices.DeleteFunc(ready, d.doubtful)
	if t = d.current(); d.fence == 0 && d.base != nil && d.base.Status() == runtime.StatusRunning {
		if d.work == nil { // it ran before under a lease that is not this driver's: first that one, then the steps
			d.take(&deed{now: true, decide: func(*runtime.Change) error { return nil }})
		}
		return
	}
	for _, id := range ready {
		if f := t.Frame(id); f != nil && f.State == runtime.FrameReady {
			d.start(t, f)
		}
	}
}

// doubtful asks about the effects of a frame whose end nobody knows, and reports whether there are any. Its step must not run before.
func (d *driver) doubtful(id string) bool {
	if f := d.current().Frame(id); f == nil || !slices.ContainsFunc(f.Effects, unknownEnd) {
		return false
	}
	d.take(&deed{now: true, decide: func(c *runtime.Change) error {
		if !d.stuck { // else the engine that drives may be running just these
			c.Doubt(id)
		}
		return nil
	}})
	return true
}

func unknownEnd(e runtime.Effect) bool {
	return e.State == runtime.EffectIntended || e.State == runtime.EffectInDoubt
}

// mine reports whether this engine may drive the thread: nobody else does, and it knows the code of every frame.
func (d *driver) mine() bool {
	t, e := d.base, d.engine
	if t == nil {
		return true
	}
	l := &t.Lease
	return e.knows(t) && (l.Owner == "" || l.Owner == e.process || e.dead(l.Owner) ||
		leaseOver(l, e.clock.Now(), e.leases.seen(t.ID, *l), &e.cfg))
}

func (d *driver) start(t *runtime.Thread, f *runtime.Frame) {
	e := d.engine
	m := e.machines[f.Machine]
	r := &run{driver: d, frame: *f, user: t.User, began: basisOf(t, f.ID), stored: d.work == nil}
	a := Activation{Thread: d.id, User: t.User, Turn: t.Turn, Frame: &r.frame}
	a.Reroute, a.Metadata, a.Previous = t.PendingReroute(f.ID), t.Metadata, t.Previous
	r.order = a.Reroute
	a.Modify = t.Modify
	if f.Parent == "" {
		r.modify = t.Modify
	}
	if quick, ok := m.(Quick); ok && quick.Quick(&r.frame) {
		d.runs[f.ID] = r
		r.inPlace(e.stepContext, m, a)
		return
	}
	limit := e.cfg.StepTimeout
	if timed, ok := m.(Timed); ok {
		if own := timed.Timeout(&r.frame); own > 0 {
			limit = own
		}
	}
	if r.start(e.stepContext, m, a, limit) {
		d.runs[f.ID] = r
	}
}

// drop gives a run up that another engine's lease has overtaken: nothing it does counts any more.
func (d *driver) drop(r *run) {
	delete(d.runs, r.frame.ID)
	r.lost = true
	r.end(Transition{}, errEnded)
}

// leave gives the lease back when the engine closes, so that the next one need not wait for its end. It reports whether there is something
// to commit.
func (d *driver) leave() bool {
	if !d.leaving() {
		return false
	}
	d.take(&deed{now: true, decide: func(*runtime.Change) error { return nil }})
	return true
}

func (d *driver) leaving() bool {
	return d.engine.closing.Load() && d.fence != 0 && !d.stuck && d.base != nil && d.base.Status() == runtime.StatusRunning
}

// ended puts the end of a run into the queue.
func (d *driver) ended(r *run) {
	d.push(&deed{decide: ending(r), run: r})
}

// ending decides the end of a run. What the run did since the last commit is taken from it the first time only, and kept for the next.
func ending(r *run) func(c *runtime.Change) error {
	fresh := sync.OnceValue(r.drain)
	return func(c *runtime.Change) error {
		if !r.lost {
			r.decide(c, fresh())
		}
		return nil
	}
}

// poke makes the goroutine look around.
func (d *driver) poke() {
	select {
	case d.signal <- struct{}{}:
	default:
	}
}

// came reports whether there is something to receive.
func (d *driver) came() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.queue) > 0
}

// push hands a deed to the goroutine. It reports false when that has ended: then another driver is needed.
func (d *driver) push(x *deed) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.gone {
		return false
	}
	d.queue = append(d.queue, x)
	d.poke()
	return true
}

// intend commits that an effect begins, and returns when that is durable. It returns ErrWaiting, and the effect does not begin, where the
// record has moved on, a person pauses the thread, or the effect was begun before and its end is unknown.
func (d *driver) intend(ctx context.Context, r *run, name string) error {
	if r.inside {
		return runtime.Permanent(refuse(runtime.CodeInvalid, "once "+name, errors.New("its machine said that this step only computes: see Quick")))
	}
	r.intends(name)
	result := make(chan error, 1)
	ok := d.push(&deed{
		now: true,
		decide: func(c *runtime.Change) error {
			if d.runs[r.frame.ID] != r || !r.fits(c.Thread) || c.Thread.Control != nil {
				return ErrWaiting // a safe point, and somebody waits for one
			}
			if had := c.Thread.Frame(r.frame.ID).Effect(name); had != nil && had.State != runtime.EffectFailed {
				return ErrWaiting // somebody else began it: its step ends here, and meets the result or the doubt when it runs again
			}
			c.Add(runtime.Entry{Type: runtime.EntryEffect, Frame: r.frame.ID, Name: name, State: runtime.EffectIntended})
			return nil
		},
		done: func(_ *runtime.Thread, err error) { result <- err },
	})
	if !ok {
		return ErrWaiting
	}
	select {
	case err := <-result:
		return r.intended(name, err)
	case <-ctx.Done():
		return context.Cause(ctx) // the end of the run says that the effect did not begin
	}
}

// intends notes that a person need not be asked about an effect whose beginning is being stored, should the run end before it.
func (r *run) intends(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.intent == nil {
		r.intent = map[string]bool{}
	}
	r.intent[name] = true
}

// intended says whether an effect begins whose intention was stored, or refused with err.
func (r *run) intended(name string, err error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.over: // its end is being decided
		return ErrWaiting
	case err == nil && r.shut: // it was cut meanwhile: the end of the run says that the effect did not begin
		r.paused = true
		return ErrWaiting
	case errors.Is(err, ErrWaiting):
		r.paused = true
	}
	delete(r.intent, name)
	return err
}
