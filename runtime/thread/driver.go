package thread

import (
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/routegen/routegen/runtime"
)

// driver moves one thread as long as there is something to do, and retires when the thread waits.
// One goroutine at a time drives: it decides and commits. While there is nothing to do no goroutine
// drives, and the next command starts one; after a step, the goroutine of that step drives. The
// state here is a cache: the store holds the record, and every commit is a compare-and-set against
// it.
type driver struct {
	engine  *Engine
	id      string
	pausing atomic.Bool // a pause was requested: steps stop at their next safe point

	mu            sync.Mutex
	first, last   *command // the queue
	wakeRequested bool     // it has to check its thread
	driving       bool     // a goroutine drives
	retired       bool     // nothing is left to do; guarded by engine.mu too
	// closed when it retires; nil until Drive waits for that; guarded by engine.mu
	gone chan struct{}
	// wakes it at the latest; nil before it was parked
	timer *time.Timer

	// The rest belongs to the goroutine that drives.
	// as stored; nil until it is loaded, and while the thread does not exist
	base    *Thread
	upgrade *Entry  // that base needs before a step of this program runs, or nil
	work    *Change // base with the pending commands; nil if there are none
	pending []*command
	runs    map[string]*stepRun // by frame
	// of the lease this driver took; 0 until it had to take one
	fence   int64
	flushAt time.Time // when pending commands are committed at the latest
	retryAt time.Time // after the store refused
	// when it next renews its lease and reads changes of others
	renewAt             time.Time
	unconfirmed         *Change           // a commit with unknown outcome
	unconfirmedCommands map[*command]bool // those of unconfirmed
	rejections          int               // times in a row
	// this engine may not drive the thread: another does, or it lacks a machine
	notOwner bool
	wrote    bool     // the last change was written
	nextRun  *stepRun // a step that this goroutine runs when it has nothing else to do
}

// perform drives in a goroutine of the pool.
func (d *driver) perform() { d.drive(nil) }

// drive moves the thread until it is at rest. It then runs the last step that was started itself,
// which saves waking a goroutine for the step and one for its end. In the goroutine of a call,
// served is closed when the call has its outcome: the pool then goes on and runs the steps.
func (d *driver) drive(served <-chan struct{}) {
	e := d.engine
	for {
		select {
		case <-served:
			if t := d.base; t != nil && (t.Status() == StatusRunning || t.Control != nil) ||
				!d.retireIfIdle() {
				e.workers.runTask(d)
			}
			return
		default:
		}
		d.renewLease()
		d.receiveCommands()
		d.completePause()
		if e.cfg.CommitDelay >= 0 || d.work == nil {
			d.startReadySteps()
		}
		queued := d.hasQueued() // an inline step has ended
		if d.commitDue() && (!queued || d.commitOverdue()) {
			d.handOver(nil)
			d.commitPending()
			continue
		}
		if queued {
			continue
		}
		d.stopRuns()
		if len(d.runs) == 0 && len(d.pending) == 0 && d.releaseOnClose() {
			continue
		}
		if d.retireIfIdle() {
			return
		}
		d.logWaiting()
		switch next, parked := d.park(); {
		case !parked:
		case next == nil:
			return
		case served != nil:
			e.workers.runTask(next)
			return
		case !next.executeStarted():
			return
		}
	}
}

// retireIfIdle ends the driver if it has nothing to do, and reports whether it did.
func (d *driver) retireIfIdle() bool {
	retires := len(d.runs) == 0 && len(d.pending) == 0 && d.engine.retire(d)
	if retires {
		d.engine.loops.Done()
	}
	return retires
}

// handOver gives the step that this goroutine was going to run to the pool, and takes r in its
// place; r may be nil.
func (d *driver) handOver(r *stepRun) {
	if d.nextRun != nil {
		d.engine.workers.runTask(d.nextRun)
	}
	d.nextRun = r
}

// stopRuns ends the steps that run once the time for closing the engine is over.
func (d *driver) stopRuns() {
	if !d.engine.stopped() {
		return
	}
	for _, r := range d.runs {
		r.stop(errClosing)
	}
}

// receiveCommands takes the queued commands and decides them.
func (d *driver) receiveCommands() {
	d.mu.Lock()
	next := d.first
	d.first, d.last, d.wakeRequested = nil, nil, false
	d.mu.Unlock()
	collected, came := false, next != nil
	for x := next; x != nil; x = next {
		next, x.next = x.next, nil
		if x.run != nil {
			if x.run.record == abandoned {
				continue
			}
			delete(d.runs, x.run.frame.ID)
		}
		if !d.retryAt.IsZero() { // it is decided with the others, on what the store holds then
			d.pending, d.work = append(d.pending, x), nil
			continue
		}
		if x.reload && d.work == nil || d.base == nil && d.work == nil && x.newThread == nil {
			if err := d.loadThread(); err != nil {
				d.loadFailed(x, err)
				continue
			}
			if x.fence != 0 && d.base.Lease.Fence == x.fence && d.owns() {
				d.fence = x.fence
			}
		}
		if !collected { // effects before these commands, which may end steps
			d.collectEffects()
			collected = true
		}
		d.decideCommand(x)
	}
	if came {
		d.signalRuns()
	}
}

// loadFailed handles a command whose thread cannot be read. A caller gets the error; what a step
// has done is kept until the thread can be read.
func (d *driver) loadFailed(x *command, err error) {
	if x.done != nil || runtime.CodeOf(err) == runtime.CodeNotFound {
		x.setResult(nil, err)
		return
	}
	d.pending = append(d.pending, x)
	d.rejectPending(err)
}

// decideAndSignal decides a command on top of the pending ones, and signals the runs that it
// concerns.
func (d *driver) decideAndSignal(x *command) {
	d.decideCommand(x)
	d.signalRuns()
}

// decideCommand decides a command on top of the pending ones. A refusal may depend on those, so it
// waits for their commit like any other outcome.
func (d *driver) decideCommand(x *command) {
	if !x.claim() {
		return // its caller has left
	}
	c := d.work
	if c == nil {
		if d.base == nil {
			c = x.newThread()
		} else {
			c = d.newChange()
		}
		c.Entries = slices.Grow(c.Entries, 6) // entries are large, and there are seldom more
	}
	before := len(c.Entries)
	x.err = x.applyTo(c)
	_, unclear := errors.AsType[*UnclearError](x.err)
	refused := x.err != nil && !unclear
	switch {
	case refused && (d.work == nil || before == 0 && c.Empty()):
		x.setResult(d.base, x.err)
		return
	case refused && len(c.Entries) > before:
		// it had added entries: decide the pending commands again without it
		refusal := x.err
		x.decide = func(*Change) error { return refusal }
		d.pending = append(d.pending, x)
		d.decideAgain(nil)
		return
	}
	if len(c.Entries) > before {
		c.MarkRest()
	}
	d.work = c
	if d.pending == nil {
		d.pending = make([]*command, 0, 4) // a request, the end of its step, and seldom more
	}
	d.pending = append(d.pending, x)
	if d.flushAt.IsZero() {
		d.flushAt = time.Now().Add(d.engine.cfg.CommitDelay)
	}
	if x.urgent {
		d.flushAt = time.Now()
	}
}

// newChange begins a change of the base. The first one of a thread that another version of the
// program stored brings it to the shapes of this one, if this engine drives it: another that does
// may be of that version.
func (d *driver) newChange() *Change {
	c := NewChange(d.base, &d.engine.rules, d.engine.clock.Now())
	if d.upgrade != nil && !d.notOwner {
		c.Add(*d.upgrade)
	}
	return c
}

// signalRuns stops each running step whose frame has ended or moved on, and signals a requested
// pause to the others.
func (d *driver) signalRuns() {
	t := d.current()
	if t == nil {
		return
	}
	control := t.Control
	d.pausing.Store(control != nil)
	for _, r := range d.runs {
		switch {
		case !r.awaitsEnd(t):
			r.stop(errEnded)
		case control != nil && control.Mode == EscapeNow:
			r.stop(errPause)
		}
	}
}

// updateReroutes passes the stored reroute events to the running steps.
func (d *driver) updateReroutes() {
	for id, r := range d.runs {
		r.setReroute(d.base.PendingReroute(id))
	}
}

// completePause pauses the thread when a pause is requested and no step runs.
func (d *driver) completePause() {
	t := d.current()
	if t == nil || t.Control == nil || t.Control.Paused || len(d.runs) > 0 || d.notOwner ||
		!d.retryAt.IsZero() {
		return
	}
	d.decideAndSignal(&command{decide: func(c *Change) error {
		if !d.notOwner && len(d.runs) == 0 { // decided again, it may be another engine that drives
			c.Pause(d.unofferedChoices(c.Thread)...)
		}
		return nil
	}})
}

// unofferedChoices returns the choices that a pause of the thread does not offer.
func (d *driver) unofferedChoices(t *Thread) []string {
	if root := t.Root(); root != nil {
		if m, ok := d.engine.machines[root.Machine].(Changeable); ok && m.Changeable(root) {
			return nil
		}
	}
	return []string{"modify"}
}

// startReadySteps starts the step of every frame that is ready.
func (d *driver) startReadySteps() {
	t := d.current()
	if t == nil || t.Over != "" || t.Control != nil || d.notOwner || d.engine.closing.Load() ||
		!d.retryAt.IsZero() {
		return
	}
	var ready []string
	for i := range t.Frames {
		if f := &t.Frames[i]; f.State == FrameReady && d.runs[f.ID] == nil {
			ready = append(ready, f.ID)
		}
	}
	if len(ready) == 0 {
		return
	}
	if d.notOwner = !d.owns(); d.notOwner {
		return
	}
	if d.askTakenOver(ready) {
		return
	}
	ready = slices.DeleteFunc(ready, d.askInDoubt)
	if t = d.current(); d.base != nil && (d.upgrade != nil && d.work == nil ||
		d.fence == 0 && d.base.Status() == StatusRunning) {
		// it ran under a lease that is not this driver's: take the lease before the steps run
		if d.work == nil {
			d.decideAndSignal(&command{urgent: true})
		}
		return
	}
	for _, id := range ready {
		if f := t.Frame(id); f != nil && f.State == FrameReady {
			d.startStep(t, f)
		}
	}
}

// askInDoubt asks about the effects of a frame whose outcome is unknown, and reports whether there
// are any. The step must not run before they are resolved.
func (d *driver) askInDoubt(id string) bool {
	if f := d.current().Frame(id); f == nil || !slices.ContainsFunc(f.Effects, unknownEnd) {
		return false
	}
	d.decideAndSignal(&command{urgent: true, decide: func(c *Change) error {
		if !d.notOwner { // otherwise the engine that drives may be running these effects
			c.MarkInDoubt(id)
		}
		return nil
	}})
	return true
}

func unknownEnd(e Effect) bool {
	return e.State == EffectIntended || e.State == EffectInDoubt
}

// owns reports whether this engine may drive the thread: no other engine does, and it has the
// machine of every frame.
func (d *driver) owns() bool {
	t, e := d.base, d.engine
	if t == nil {
		return !e.cfg.AnswerOnly
	}
	if !e.hasMachines(t) {
		return false
	}
	owner := t.Lease.Owner
	if e.cfg.AnswerOnly { // a lease that has ended is revoked first, see revokesLease
		return owner == e.process || owner == "" && e.isDriven(t.ID, t.Lease.Fence)
	}
	return owner == "" || owner == e.process || d.leaseEnded()
}

// leaseEnded reports whether the engine that the lease names has ended, or stopped to renew it.
func (d *driver) leaseEnded() bool {
	e, l := d.engine, &d.base.Lease
	return e.hasEnded(l.Owner) ||
		leaseOver(l, e.clock.Now(), e.leases.observe(d.base.ID, *l), &e.cfg)
}

// revokesLease reports whether a commit has to end the lease of another engine, with
// [Config.AnswerOnly]: the thread then waits for whoever [Engine.Drive] is called by.
func (d *driver) revokesLease() bool {
	return d.engine.cfg.AnswerOnly && d.notOwner && d.base != nil && d.base.Lease.Owner != "" &&
		d.leaseEnded()
}

func (d *driver) startStep(t *Thread, f *Frame) {
	e := d.engine
	m := e.machines[f.Machine]
	r := &stepRun{driver: d, machine: m, frame: *f, began: basisFor(t, f.ID)}
	if d.work == nil {
		r.record = stored
	}
	r.activation = Activation{
		Thread: d.id, User: t.User, Turn: t.Turn, Frame: &r.frame, Metadata: t.Metadata,
		Previous: t.Previous,
		Reroute:  t.PendingReroute(f.ID), Modify: t.Modify,
	}
	r.reroute = r.activation.Reroute
	if f.Parent == "" {
		r.modify = t.Modify
	}
	if d.runs == nil {
		d.runs = map[string]*stepRun{}
	}
	d.logStep(r)
	if i, ok := m.(Inline); ok && i.Inline(&r.frame) {
		d.runs[f.ID] = r
		r.runInline(e.stepContext)
		return
	}
	limit := e.cfg.StepTimeout
	if timed, ok := m.(Timed); ok {
		if own := timed.Timeout(&r.frame); own > 0 {
			limit = own
		}
	}
	if r.prepare(e.stepContext, limit) {
		d.runs[f.ID] = r
		d.handOver(r)
	}
}

// abandonRun gives up a run whose thread another engine has taken. Nothing the run does is recorded
// from then on.
func (d *driver) abandonRun(r *stepRun) {
	delete(d.runs, r.frame.ID)
	r.record = abandoned
	r.endRun(Transition{}, errEnded)
}

// releaseOnClose gives the lease back when the engine closes, so that the next engine need not wait
// for its end. It reports whether there is something to commit.
func (d *driver) releaseOnClose() bool {
	if !d.releasesLease() {
		return false
	}
	d.decideAndSignal(&command{urgent: true})
	return true
}

func (d *driver) releasesLease() bool {
	return d.engine.closing.Load() && d.fence != 0 && !d.notOwner && d.base != nil &&
		d.base.Status() == StatusRunning
}
