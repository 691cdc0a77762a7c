package thread

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/routegen/routegen/runtime"
)

// timers wakes the engine at stored times. The times are in the store; only the next time to look
// is kept here.
type timers struct {
	backoffs backoffs
	mu       sync.Mutex
	next     time.Time // by the engine's clock; zero: nothing known
	signal   chan struct{}
	done     chan struct{}
	once     sync.Once
}

func newTimers() *timers {
	return &timers{signal: make(chan struct{}, 1), done: make(chan struct{})}
}

func (t *timers) stopTimers() { t.once.Do(func() { close(t.done) }) }

// wakeAt makes the engine look at that time at the latest.
func (t *timers) wakeAt(when time.Time) {
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

// watchTimers looks for due threads at the next time this engine knows of, and every Config.Poll
// for times that others have stored.
func (e *Engine) watchTimers() {
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
			e.log.Error("cannot list due threads", "error", err)
		}
	}
}

// RunDue does everything that is due: deadlines, reminders, next tries of steps, and running
// threads whose engine has ended. The engine calls it by itself; a test with its own clock calls it
// after moving that clock. It returns when everything due is committed or refused. A thread that
// this program cannot move, because of another spec or a missing machine, is tried again less and
// less often.
func (e *Engine) RunDue(ctx context.Context) error {
	const page = 100
	e = e.root
	if err := e.lookAhead(ctx); err != nil {
		return err
	}
	tried := map[string]bool{}
	for limit := e.timer.backoffs.length() + page; ; limit *= 2 {
		now := e.clock.Now().UTC()
		rows, err := e.store.Threads(ctx, Query{WakeBefore: now.Add(e.cfg.Poll),
			Limit: limit})
		if err != nil {
			return err
		}
		all := len(rows) < limit
		if n := slices.IndexFunc(rows, func(r Summary) bool {
			return r.Wake.After(now)
		}); n >= 0 {
			e.timer.wakeAt(rows[n].Wake) // it comes before the next look
			rows, all = rows[:n], true
		}
		rows = slices.DeleteFunc(rows, func(r Summary) bool {
			return tried[r.ID] || e.isBackedOff(&r)
		})
		for _, r := range rows {
			tried[r.ID] = true
		}
		e.moveAllDue(ctx, rows)
		if all {
			e.timer.backoffs.forget()
			return nil
		}
	}
}

// lookAhead looks, once per lease time, for running threads whose lease of another engine ends
// later than any lease made now: the clock has gone back, and no timer fires for such a lease in
// time.
func (e *Engine) lookAhead(ctx context.Context) error {
	if !e.leases.isScanDue(e.cfg.Lease) {
		return nil
	}
	e.leases.forget(10 * max(e.cfg.Lease, e.cfg.Poll))
	latest := e.clock.Now().Add(e.cfg.Lease)
	for q := (Query{Statuses: []Status{StatusRunning},
		Limit: 1000}); ; {
		rows, err := e.store.Threads(ctx, q)
		if err != nil {
			return err
		}
		last := len(rows) < q.Limit
		if !last {
			q.AfterID = rows[len(rows)-1].ID
		}
		e.moveAllDue(ctx, slices.DeleteFunc(rows, func(r Summary) bool {
			return r.Owner == "" || r.Owner == e.process || !r.Wake.After(latest) ||
				e.isBackedOff(&r)
		}))
		if last {
			return nil
		}
	}
}

const maxConcurrent = 32 // threads that are moved at the same time

// moveAllDue moves several threads at the same time, so that their commits can share a sync.
func (e *Engine) moveAllDue(ctx context.Context, rows []Summary) {
	var all sync.WaitGroup
	slots := make(chan struct{}, maxConcurrent)
	for _, row := range rows {
		slots <- struct{}{}
		all.Go(func() {
			e.moveDue(ctx, row)
			<-slots
		})
	}
	all.Wait()
}

// moveDue moves one thread.
func (e *Engine) moveDue(ctx context.Context, row Summary) {
	t, err := e.perform(ctx, row.ID, &command{urgent: true, decide: func(c *Change) error {
		c.ApplyDue() // a running thread is taken up by the driver, which looks for steps to run
		return nil
	}})
	switch code := runtime.CodeOf(err); {
	case code == runtime.CodeIncompatible:
		e.backOff(&row, err)
	case code == "" && t != nil && !e.hasMachines(t):
		e.backOff(&row, errNoMachine)
	case code == "" || code == runtime.CodeUnavailable || code == runtime.CodeUnknown:
	default:
		e.log.Error("cannot move thread", "thread", row.ID, "error", err)
	}
}

// Recover takes up the running threads whose engine has ended, and those whose lease is over.
// [Open] calls it.
func (e *Engine) Recover(ctx context.Context) error {
	const page = 100
	e = e.root
	ended := map[string]bool{}
	for after := ""; ; {
		rows, err := e.store.Threads(ctx, Query{Statuses: []Status{StatusRunning}, AfterID: after,
			Limit: page})
		if err != nil {
			return err
		}
		var left []Summary
		for _, r := range rows {
			if _, known := ended[r.Owner]; !known {
				ended[r.Owner] = e.hasEnded(r.Owner)
			}
			if after = r.ID; ended[r.Owner] {
				left = append(left, r)
			}
		}
		e.moveAllDue(ctx, left)
		if len(rows) < page {
			return e.RunDue(ctx)
		}
	}
}
