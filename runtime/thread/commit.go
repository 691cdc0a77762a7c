package thread

import (
	"errors"
	"slices"
	"time"

	"github.com/routegen/routegen/runtime"
)

// due reports whether pending deeds are to be committed now: nothing runs that they could be committed together with, or they have waited
// long enough.
func (d *driver) due() bool {
	if !d.retryAt.IsZero() && !d.engine.stopped() {
		return !time.Now().Before(d.retryAt)
	}
	if len(d.pending) == 0 {
		return false
	}
	return len(d.runs) == 0 || d.late()
}

// late reports whether the pending deeds have waited long enough.
func (d *driver) late() bool {
	return len(d.pending) > 0 && !time.Now().Before(d.flushAt)
}

// wait sleeps until something is to be done.
func (d *driver) wait() {
	next := time.Until(d.beatAt)
	switch {
	case !d.retryAt.IsZero(): // it alone counts while the store refuses
		next = min(next, time.Until(d.retryAt))
	case !d.flushAt.IsZero():
		next = min(next, time.Until(d.flushAt))
	}
	timer := time.NewTimer(max(next, 0))
	defer timer.Stop()
	select {
	case <-d.signal:
	case <-timer.C:
	}
}

// flush commits the pending deeds, with all that running steps have done so far. When somebody else was faster it decides them again on the
// new record; what no longer fits there is refused, or dropped.
func (d *driver) flush() {
	const tries = 20
	d.retryAt = time.Time{}
	if d.unsure != nil && !d.readBack() {
		return
	}
	if d.work == nil && len(d.pending) > 0 { // the thread could not be read before
		if err := d.load(); err != nil && runtime.CodeOf(err) != runtime.CodeNotFound {
			d.refuse(err)
			return
		}
		d.again(nil)
	}
	d.collect()
	for range tries {
		c := d.work
		if c == nil {
			d.flushAt = time.Time{}
			return
		}
		err := d.commit(c)
		if err != nil && d.wrote && d.landed(c, err) {
			err = nil
		}
		switch {
		case err == nil:
			d.settled(c)
			return
		case runtime.CodeOf(err) == runtime.CodeConflict:
			if err = d.load(); err == nil || runtime.CodeOf(err) == runtime.CodeNotFound {
				d.again(nil)
				continue
			}
		}
		if d.blame(err) {
			d.again(nil)
			continue
		}
		d.refuse(err)
		return
	}
	d.refuse(refuse(runtime.CodeConflict, "commit thread "+d.id, errors.New("others were faster, many times over")))
}

// collect takes what running steps have done and no commit has yet.
func (d *driver) collect() {
	for _, r := range d.runs {
		fresh := r.drain()
		if len(fresh) == 0 {
			continue
		}
		d.take(&deed{soFar: true, decide: func(c *runtime.Change) error {
			if !r.lost {
				r.record(c, fresh)
			}
			return nil
		}})
	}
}

// commit writes a change, under the lease where the thread goes on running. Where nothing happened and no lease is to be taken, kept or
// given back, nothing is written.
func (d *driver) commit(c *runtime.Change) error {
	running, leaving := c.Thread.Status() == runtime.StatusRunning, d.leaving() && len(d.runs) == 0
	takes := running && !d.stuck && d.fence == 0
	d.wrote = !c.Empty() || d.base == nil || len(d.runs) > 0 || leaving || takes
	if !d.wrote {
		return nil
	}
	e := d.engine
	c.Fence = d.fence
	switch {
	case d.stuck:
		if running && c.Thread.Lease.Owner == "" {
			c.Thread.Lease.Until = c.Now // nobody drives it: whoever knows its code shall look
		}
	case running && leaving:
		c.Rest()
		c.Thread.Lease.Until = c.Now
	case running:
		if takes {
			c.Thread.Lease.Owner = "" // a new fence, also where an earlier run of this engine had the lease
		}
		c.Drive(e.process, e.clock.Now().Add(e.cfg.Lease))
	default:
		if l := &c.Thread.Lease; d.fence == 0 && l.Owner != "" {
			l.Fence++ // taken over, only to rest: what the engine before still commits is refused
		}
		c.Rest()
	}
	c.Finish()
	return e.store.Commit(e.ctx, c)
}

// settled announces a commit: only now does anybody hear of it.
func (d *driver) settled(c *runtime.Change) {
	if d.wrote {
		d.base = c.Thread
		d.fence = 0
		if l := &d.base.Lease; l.Owner == d.engine.process && !d.stuck {
			d.fence = l.Fence
		}
	}
	for _, r := range d.runs {
		r.stored = r.stored || r.continues(d.base) // else it was stopped, and its end is still to come
	}
	d.tell()
	done := d.pending
	d.work, d.pending, d.flushAt, d.refused = nil, nil, time.Time{}, 0
	if d.wrote {
		d.engine.announce(c)
	}
	for _, x := range done {
		x.finish(d.base, x.err)
	}
}

// load reads the record anew. Where another engine drives the thread now, the steps of this driver are given up.
func (d *driver) load() error {
	t, err := d.engine.load(d.engine.ctx, d.id)
	if err != nil {
		d.base = nil
		return err
	}
	d.base = t
	overtaken := d.fence != 0 && t.Lease.Fence != d.fence
	d.stuck = !d.mine() || overtaken && len(d.runs) > 0 && t.Lease.Owner != "" // also by one that bears the same name
	if overtaken {
		d.fence = 0
	}
	if overtaken || d.stuck {
		d.overtaken()
	}
	if d.work == nil { // else a run may have begun on what is not stored yet
		d.tell()
	}
	return nil
}

// overtaken gives up the steps of a thread that another engine took: those that run, and those that have ended and are not committed.
func (d *driver) overtaken() {
	if len(d.runs) > 0 {
		l := &d.base.Lease
		d.engine.log.Warn("another engine took the thread", "thread", d.id, "owner", l.Owner, "fence", l.Fence)
	}
	for _, r := range d.runs {
		d.drop(r)
	}
	for _, x := range d.pending {
		if x.run != nil {
			x.run.lost = true
		}
	}
}

// again decides the pending deeds once more, on the base. With an error it refuses the callers' deeds and keeps only what the engine does by
// itself. Running steps hear of what came of all of them, and of nothing in between: a step that began on the result of
// another one is healthy when that result stands again.
func (d *driver) again(err error) {
	d.rebase(err)
	d.heed()
}

func (d *driver) rebase(err error) {
	pending := d.pending
	d.work, d.pending = nil, nil
	for _, x := range pending {
		if err != nil && x.done != nil {
			x.finish(d.base, err)
			continue
		}
		switch {
		case d.base != nil || d.work != nil || x.begin != nil:
		case err != nil:
			d.pending = append(d.pending, x)
			continue
		default:
			x.finish(nil, refuse(runtime.CodeNotFound, "load thread "+d.id, errors.New("no such thread")))
			continue
		}
		d.add(x)
	}
}

// refuse tells the callers that the store did not take the change. What steps have done is kept and tried again: [driver.blame] has dealt with
// those that are the reason.
func (d *driver) refuse(err error) {
	const first, most = 50 * time.Millisecond, 5 * time.Second
	d.again(err)
	if d.engine.stopped() { // this one tries nothing any more: the next engine runs the steps again
		d.stuck, d.fence, d.pending = true, 0, nil
	}
	if len(d.pending) == 0 {
		d.work, d.flushAt = nil, time.Time{}
		return
	}
	d.retryAt = time.Now().Add(min(first<<min(d.refused, 10), most))
	d.refused++
	d.engine.log.Error("commit refused, trying again", "thread", d.id, "error", err)
}

// blame finds the steps because of which no store will ever take the change: they have failed, and it is decided again without what they wanted. It
// reports whether it found any. Where their entries do not show it, it may be a caller's deed, which is refused first, or else any of the
// steps; and when it is not what they came to, it is what they did, which is done again then.
func (d *driver) blame(err error) bool {
	if code := runtime.CodeOf(err); code == runtime.CodeUnavailable || code == runtime.CodeConflict {
		return false
	}
	var c *runtime.Change
	if d.base != nil {
		c = runtime.NewChange(d.base, &d.engine.rules, d.engine.clock.Now())
	}
	var guilty, suspects []*run
	callers := false
	for _, x := range d.pending {
		if c == nil {
			c = x.begin()
		}
		before := len(c.Entries)
		_ = x.decide(c) // its refusal is its caller's
		callers = callers || x.done != nil
		if x.run != nil && x.run.rejects < maxRejects {
			suspects = append(suspects, x.run)
			if storable(c.Entries[before:]) != nil {
				guilty = append(guilty, x.run)
			}
		}
	}
	all := len(d.pending)
	if len(guilty) == 0 && !callers {
		guilty = suspects
		d.pending = slices.DeleteFunc(d.pending, func(x *deed) bool { return x.soFar })
	}
	for _, r := range guilty {
		r.fail(err)
	}
	return len(guilty) > 0 || len(d.pending) < all
}

// storable refuses entries, and interrupts they make, that cannot be written down.
func storable(entries []runtime.Entry) error {
	for n := range entries {
		_, err := runtime.Encode(&entries[n])
		if opened := entries[n].Opened; err == nil && opened != nil {
			_, err = runtime.Encode(opened)
		}
		if err != nil {
			return refuse(runtime.CodeInvalid, "commit an entry of type "+string(entries[n].Type), err)
		}
	}
	return nil
}

// beat keeps the lease while steps run, and looks whether somebody else changed the thread: every Config.Poll, however much else there is to do.
func (d *driver) beat() {
	now := time.Now()
	if now.Before(d.beatAt) {
		return
	}
	d.beatAt = now.Add(d.engine.cfg.Poll)
	if len(d.runs) == 0 || len(d.pending) > 0 || d.base == nil || d.stuck {
		return
	}
	before := d.base
	if err := d.load(); err != nil {
		d.base = before // what runs goes on; the next commit will tell
		return
	}
	if d.base.Version != before.Version {
		d.heed()
	}
	if d.fence == 0 || renews(&d.base.Lease, d.engine.clock.Now(), &d.engine.cfg) {
		d.take(&deed{now: true, decide: func(*runtime.Change) error { return nil }})
	}
}
