package thread

import (
	"slices"
	"time"

	"github.com/routegen/routegen/runtime"
)

// commitDue reports whether the pending commands are to be committed now: no step runs that they
// could share a commit with, or they have waited long enough.
func (d *driver) commitDue() bool {
	if !d.retryAt.IsZero() && !d.engine.stopped() {
		return !time.Now().Before(d.retryAt)
	}
	if len(d.pending) == 0 {
		return false
	}
	return len(d.runs) == 0 || d.commitOverdue()
}

// commitOverdue reports whether the pending commands have waited long enough.
func (d *driver) commitOverdue() bool {
	return len(d.pending) > 0 && !time.Now().Before(d.flushAt)
}

// park stops driving until a command comes or the timer fires, and returns the step that this
// goroutine is to run meanwhile, if any. It reports false if a command has come already.
func (d *driver) park() (run *stepRun, parked bool) {
	next := d.renewAt
	switch {
	case !d.retryAt.IsZero(): // only this counts while the store refuses
		next = earlier(next, d.retryAt)
	case !d.flushAt.IsZero():
		next = earlier(next, d.flushAt)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.first != nil || d.wakeRequested {
		return nil, false
	}
	run, d.nextRun, d.driving = d.nextRun, nil, false
	switch {
	case run != nil && run.wakeDriverAt(next): // it has a timer already
	case d.timer == nil:
		d.timer = time.AfterFunc(time.Until(next), d.wake)
	default:
		d.timer.Reset(time.Until(next))
	}
	return run, true
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// commitPending commits the pending commands, with everything that running steps have done so far.
// If another commit came first it decides them again on the new record; commands that no longer fit
// are refused, and ends of runs that no longer fit are dropped.
func (d *driver) commitPending() {
	const tries = 20
	d.retryAt = time.Time{}
	if d.unconfirmed != nil && !d.readBack() {
		return
	}
	if d.work == nil && len(d.pending) > 0 { // the thread could not be read before
		if err := d.loadThread(); err != nil && runtime.CodeOf(err) != runtime.CodeNotFound {
			d.rejectPending(err)
			return
		}
		d.rebase(nil)
	}
	d.collectEffects()
	for range tries {
		c := d.work
		if c == nil {
			d.flushAt = time.Time{}
			return
		}
		err := d.commitChange(c)
		if err != nil && d.wrote && d.wasCommitted(c, err) {
			err = nil
		}
		switch {
		case err == nil:
			d.committed(c)
			return
		case runtime.CodeOf(err) == runtime.CodeConflict:
			if err = d.loadThread(); err == nil || runtime.CodeOf(err) == runtime.CodeNotFound {
				d.rebase(nil)
				continue
			}
		}
		if d.failPoisoned(err) {
			d.rebase(nil)
			continue
		}
		d.rejectPending(err)
		return
	}
	d.rejectPending(runtime.Errorf(runtime.CodeConflict, "commit thread "+d.id,
		"20 commits of other callers came first: try again"))
}

// collectEffects adds what running steps have done since the last commit.
func (d *driver) collectEffects() {
	for _, r := range d.runs {
		fresh := r.drainEffects()
		if len(fresh) == 0 {
			continue
		}
		d.decideAndSignal(&command{partial: true, decide: func(c *Change) error {
			if r.record != abandoned {
				r.recordEffects(c, fresh)
			}
			return nil
		}})
	}
}

// commitChange writes a change, and takes, keeps or gives back the lease as the record demands. It
// writes nothing if nothing happened and the lease stays as it is.
func (d *driver) commitChange(c *Change) error {
	running, leaving := c.Thread.Status() == StatusRunning, d.releasesLease() && len(d.runs) == 0
	takes := running && !d.notOwner && d.fence == 0
	revokes := running && d.revokesLease()
	d.wrote = !c.Empty() || d.base == nil || len(d.runs) > 0 || leaving || takes || revokes
	if !d.wrote {
		return nil
	}
	e := d.engine
	c.Fence = d.fence
	switch {
	case revokes:
		c.revokeLease()
	case d.notOwner:
		if running && c.Thread.Lease.Owner == "" {
			c.awaitDriver()
		}
	case running && leaving:
		c.ReleaseLease()
		c.Thread.Lease.Until = c.Now
	case running:
		if takes {
			// a new fence, also where an earlier run of this engine had the lease
			c.Thread.Lease.Owner = ""
		}
		c.TakeLease(e.process, e.clock.Now().Add(e.cfg.Lease))
		if !c.Empty() {
			c.Thread.Lease.Takeovers = 0
		}
	default:
		if l := &c.Thread.Lease; d.fence == 0 && l.Owner != "" {
			l.Fence++ // taken over, and at rest: commits of the engine before are refused
		}
		c.ReleaseLease()
	}
	c.Finish()
	began := time.Now()
	err := e.store.Commit(e.ctx, c)
	d.logCommitted(c, began, err)
	return err
}

// committed takes over the committed record and announces it. Nothing is announced before.
func (d *driver) committed(c *Change) {
	if d.wrote {
		d.base, d.upgrade = c.Thread, nil
		d.fence = 0
		if l := &d.base.Lease; l.Owner == d.engine.process && !d.notOwner {
			d.fence = l.Fence
		}
	}
	for _, r := range d.runs {
		// otherwise it was stopped, and its end is still to come
		if r.record == unstored && r.continues(d.base) {
			r.record = stored
		}
	}
	d.updateReroutes()
	done := d.pending
	d.work, d.pending, d.flushAt, d.rejections = nil, nil, time.Time{}, 0
	if d.wrote {
		d.engine.announceCommit(c)
	}
	for _, x := range done {
		x.setResult(d.base, x.err)
	}
}

// loadThread reads the record again. If another engine drives the thread, the runs of this driver
// are abandoned.
func (d *driver) loadThread() error {
	t, err := d.engine.store.Load(d.engine.ctx, d.id)
	if err == nil {
		d.upgrade, err = d.engine.upgrade(t)
	}
	if err != nil {
		d.base = nil
		return err
	}
	d.base = t
	overtaken := d.fence != 0 && t.Lease.Fence != d.fence
	// another engine may have the same owner name
	d.notOwner = !d.owns() || overtaken && len(d.runs) > 0 && t.Lease.Owner != ""
	if overtaken {
		d.fence = 0
	}
	if overtaken || d.notOwner {
		d.abandonRuns()
	}
	if d.work == nil { // else a run may have begun on what is not stored yet
		d.updateReroutes()
	}
	return nil
}

// abandonRuns gives up the steps of a thread that another engine took: those that run, and those
// that have ended and are not committed.
func (d *driver) abandonRuns() {
	if len(d.runs) > 0 {
		l := &d.base.Lease
		d.engine.log.Warn("another engine took the thread", "thread", d.id, "owner", l.Owner,
			"fence", l.Fence)
	}
	for _, r := range d.runs {
		d.abandonRun(r)
	}
	for _, x := range d.pending {
		if x.run != nil {
			x.run.record = abandoned
		}
	}
}

// rebase decides the pending commands again on the base, and then signals the runs. With an error
// it refuses the callers' commands with that error and keeps only the engine's own. Runs are
// signalled after all commands only: a step that began on the result of another one is valid if
// that result stands again.
func (d *driver) rebase(err error) {
	d.decideAgain(err)
	d.signalRuns()
}

func (d *driver) decideAgain(err error) {
	pending := d.pending
	d.work, d.pending = nil, nil
	for _, x := range pending {
		if err != nil && x.done != nil {
			x.setResult(d.base, err)
			continue
		}
		switch {
		case d.base != nil || d.work != nil || x.newThread != nil:
		case err != nil:
			d.pending = append(d.pending, x)
			continue
		default:
			x.setResult(nil, runtime.Errorf(runtime.CodeNotFound, "load thread "+d.id,
				"no such thread"))
			continue
		}
		d.decideCommand(x)
	}
}

// rejectPending returns the store's refusal to the callers. What steps have done is kept and
// committed later.
func (d *driver) rejectPending(err error) {
	const first, most = 50 * time.Millisecond, 5 * time.Second
	d.rebase(err)
	if d.engine.stopped() { // the next engine runs the steps again
		d.notOwner, d.fence, d.pending = true, 0, nil
	}
	if len(d.pending) == 0 {
		d.work, d.flushAt = nil, time.Time{}
		return
	}
	d.retryAt = time.Now().Add(min(first<<min(d.rejections, 10), most))
	d.rejections++
	d.engine.log.Error("commit refused, trying again", "thread", d.id, "error", err)
}

// failPoisoned handles a change that the store will never accept. It fails the runs whose entries
// cannot be encoded. If there are none it lets pending commands be refused first; if the change is
// still rejected, every run that ended with it fails, and partial effects are dropped. It reports
// whether anything was removed, so that the caller decides again.
func (d *driver) failPoisoned(err error) bool {
	if code := runtime.CodeOf(err); code == runtime.CodeUnavailable ||
		code == runtime.CodeConflict {
		return false
	}
	var c *Change
	if d.base != nil {
		c = d.newChange()
	}
	var poisoned, suspects []*stepRun
	callers := false
	for _, x := range d.pending {
		if c == nil {
			c = x.newThread()
		}
		before := len(c.Entries)
		_ = x.applyTo(c) // the caller gets the refusal
		callers = callers || x.done != nil
		if x.run != nil && x.run.rejects < maxRejects {
			suspects = append(suspects, x.run)
			if checkEncodable(c.Entries[before:]) != nil {
				poisoned = append(poisoned, x.run)
			}
		}
	}
	all := len(d.pending)
	if len(poisoned) == 0 && !callers {
		poisoned = suspects
		d.pending = slices.DeleteFunc(d.pending, func(x *command) bool { return x.partial })
	}
	for _, r := range poisoned {
		r.markFailed(err)
	}
	return len(poisoned) > 0 || len(d.pending) < all
}

// checkEncodable returns CodeInvalid if an entry, or an interrupt it makes, cannot be encoded as
// JSON.
func checkEncodable(entries []Entry) error {
	for n := range entries {
		_, err := runtime.Encode(&entries[n])
		if opened := entries[n].Opened; err == nil && opened != nil {
			_, err = runtime.Encode(opened)
		}
		if err != nil {
			return runtime.Errorf(runtime.CodeInvalid,
				"commit an entry of type "+string(entries[n].Type),
				"%w", err)
		}
	}
	return nil
}

// renewLease keeps the lease while steps run, and reads the thread again to see changes of other
// engines, once every Config.Poll.
func (d *driver) renewLease() {
	now := time.Now()
	if now.Before(d.renewAt) {
		return
	}
	d.renewAt = now.Add(d.engine.cfg.Poll)
	if len(d.runs) == 0 || len(d.pending) > 0 || d.base == nil || d.notOwner {
		return
	}
	before := d.base
	if err := d.loadThread(); err != nil {
		d.base = before // running steps go on; the next commit finds out
		return
	}
	if d.base.Version != before.Version {
		d.signalRuns()
	}
	if d.fence == 0 || renews(&d.base.Lease, d.engine.clock.Now(), &d.engine.cfg) {
		d.decideAndSignal(&command{urgent: true})
	}
}
