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
// by itself; a test with its own clock calls it after moving that. It returns when everything due has been committed, or refused.
func (e *Engine) RunDue(ctx context.Context) error {
	const page = 100
	tried := map[string]bool{}
	for {
		now := e.clock.Now().UTC()
		// One that cannot be moved, of another program for one, stays in the list: look past it.
		rows, err := e.store.Threads(ctx, runtime.ThreadQuery{WakeBefore: now.Add(e.cfg.Poll), Limit: page + len(tried)})
		if err != nil {
			return err
		}
		rows = slices.DeleteFunc(rows, func(r runtime.ThreadRow) bool { return tried[r.ID] })
		if n := slices.IndexFunc(rows, func(r runtime.ThreadRow) bool { return r.Wake.After(now) }); n >= 0 {
			e.timer.at(rows[n].Wake) // it comes before the next look
			rows = rows[:n]
		}
		if len(rows) == 0 {
			return nil
		}
		for _, r := range rows {
			tried[r.ID] = true
		}
		e.dueAll(ctx, rows)
	}
}

// dueAll moves several threads at the same time, so that their commits can share a sync.
func (e *Engine) dueAll(ctx context.Context, rows []runtime.ThreadRow) {
	const atOnce = 32
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
	_, err := e.do(ctx, row.ID, &deed{now: true, decide: func(c *runtime.Change) error {
		c.Due() // a running thread is taken up by the driver, which looks for steps to run
		return nil
	}})
	switch runtime.CodeOf(err) {
	case "", runtime.CodeUnavailable:
	case runtime.CodeIncompatible:
		e.log.Warn("thread of another program", "thread", row.ID, "error", err)
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
