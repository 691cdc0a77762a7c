package thread

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/routegen/routegen/runtime"
)

// timers wakes the engine when stored times come. The times themselves are in the store; what is kept here is only when to look next, and every
// look finds out what follows.
type timers struct {
	stuck  stuckThreads
	mu     sync.Mutex
	next   time.Time // by the engine's clock; zero: nothing known
	signal chan struct{}
	done   chan struct{}
	once   sync.Once
}

func newTimers() *timers { return &timers{signal: make(chan struct{}, 1), done: make(chan struct{})} }

func (t *timers) stop() { t.once.Do(func() { close(t.done) }) }

// at makes the engine look at that time at the latest.
func (t *timers) at(when time.Time) {
	if when.IsZero() {
		return
	}
	t.mu.Lock()
	earlier := t.next.IsZero() || when.Before(t.next)
	if earlier {
		t.next = when
	}
	t.mu.Unlock()
	if earlier {
		select {
		case t.signal <- struct{}{}:
		default:
		}
	}
}

// watch looks for what is due: at the next time this engine knows of, and every Config.Poll, for what others have stored and what was too far
// ahead.
func (e *Engine) watch() {
	t := e.timer
	for {
		t.mu.Lock()
		pause := e.cfg.Poll
		if !t.next.IsZero() {
			pause = min(pause, t.next.Sub(e.clock.Now()))
		}
		t.mu.Unlock()
		timer := time.NewTimer(max(pause, 0))
		select {
		case <-t.done:
			timer.Stop()
			return
		case <-t.signal:
			timer.Stop()
			continue
		case <-timer.C:
		}
		t.mu.Lock()
		t.next = time.Time{}
		t.mu.Unlock()
		if err := e.RunDue(e.ctx); err != nil && e.ctx.Err() == nil {
			e.log.Error("cannot look for what is due", "error", err)
		}
	}
}

// RunDue does what the clock demands now: deadlines, reminders, repeated steps, and running threads whose engine is gone. The engine calls it
// by itself; a test with its own clock calls it after moving that. It returns when everything due has been committed, or refused. A thread
// that this program cannot move, of another spec or with a machine it does not have, is tried again less and less often.
func (e *Engine) RunDue(ctx context.Context) error {
	const page = 100
	if err := e.lookAhead(ctx); err != nil {
		return err
	}
	tried := map[string]bool{}
	for limit := e.timer.stuck.size() + page; ; limit *= 2 {
		now := e.clock.Now().UTC()
		rows, err := e.store.Threads(ctx, runtime.ThreadQuery{WakeBefore: now.Add(e.cfg.Poll), Limit: limit})
		if err != nil {
			return err
		}
		all := len(rows) < limit
		if n := slices.IndexFunc(rows, func(r runtime.ThreadRow) bool { return r.Wake.After(now) }); n >= 0 {
			e.timer.at(rows[n].Wake) // it comes before the next look
			rows, all = rows[:n], true
		}
		rows = slices.DeleteFunc(rows, func(r runtime.ThreadRow) bool { return tried[r.ID] || e.waits(&r) })
		for _, r := range rows {
			tried[r.ID] = true
		}
		e.dueAll(ctx, rows)
		if all {
			e.timer.stuck.forget()
			return nil
		}
	}
}

// lookAhead looks, as often as a lease lasts, at running threads whose lease of another engine ends later than any that is made now: the
// clock has gone back since, and nobody is woken by such a lease for as long.
func (e *Engine) lookAhead(ctx context.Context) error {
	if !e.leases.late(e.cfg.Lease) {
		return nil
	}
	e.leases.forget(10 * max(e.cfg.Lease, e.cfg.Poll))
	latest := e.clock.Now().Add(e.cfg.Lease)
	for q := (runtime.ThreadQuery{Statuses: []runtime.Status{runtime.StatusRunning}, Limit: 1000}); ; {
		rows, err := e.store.Threads(ctx, q)
		if err != nil {
			return err
		}
		last := len(rows) < q.Limit
		if !last {
			q.AfterID = rows[len(rows)-1].ID
		}
		e.dueAll(ctx, slices.DeleteFunc(rows, func(r runtime.ThreadRow) bool {
			return r.Owner == "" || r.Owner == e.process || !r.Wake.After(latest) || e.waits(&r)
		}))
		if last {
			return nil
		}
	}
}

const atOnce = 32 // threads that are moved at the same time

// dueAll moves several threads at the same time, so that their commits can share a sync.
func (e *Engine) dueAll(ctx context.Context, rows []runtime.ThreadRow) {
	var all sync.WaitGroup
	slots := make(chan struct{}, atOnce)
	for _, row := range rows {
		slots <- struct{}{}
		all.Go(func() {
			e.due(ctx, row)
			<-slots
		})
	}
	all.Wait()
}

// due moves one thread.
func (e *Engine) due(ctx context.Context, row runtime.ThreadRow) {
	t, err := e.do(ctx, row.ID, &deed{now: true, decide: func(c *runtime.Change) error {
		c.Due() // a running thread is taken up by the driver, which looks for steps to run
		return nil
	}})
	switch code := runtime.CodeOf(err); {
	case code == runtime.CodeIncompatible:
		e.cannotMove(&row, err)
	case code == "" && t != nil && !e.knows(t):
		e.cannotMove(&row, errNoMachine)
	case code == "" || code == runtime.CodeUnavailable || code == runtime.CodeUnknown:
	default:
		e.log.Error("cannot move thread", "thread", row.ID, "error", err)
	}
}

// Recover takes up the running threads whose engine has ended, and those whose lease is over. [Open] calls it.
func (e *Engine) Recover(ctx context.Context) error {
	const page = 100
	ended := map[string]bool{}
	for after := ""; ; {
		rows, err := e.store.Threads(ctx, runtime.ThreadQuery{Statuses: []runtime.Status{runtime.StatusRunning}, AfterID: after, Limit: page})
		if err != nil {
			return err
		}
		var left []runtime.ThreadRow
		for _, r := range rows {
			if _, known := ended[r.Owner]; !known {
				ended[r.Owner] = e.dead(r.Owner)
			}
			if after = r.ID; ended[r.Owner] {
				left = append(left, r)
			}
		}
		e.dueAll(ctx, left)
		if len(rows) < page {
			return e.RunDue(ctx)
		}
	}
}
