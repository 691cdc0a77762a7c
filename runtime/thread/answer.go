package thread

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/routegen/routegen/runtime"
)

// Answer settles one interrupt of a thread, by the rules and with the refusals of [runtime.Change.Answer] and [runtime.Closed], and returns it
// as it is then. An early answer that is kept returns nil and no error. It returns when the answer is durable; the step it leads to is in
// the same commit when it is quick.
//
// thread may be empty when the answer names its interrupt.
func (e *Engine) Answer(ctx context.Context, thread string, a runtime.Answer) (*runtime.Interrupt, error) {
	if thread == "" {
		i, err := e.Interrupt(ctx, a.Interrupt)
		if err != nil {
			return nil, err
		}
		thread = i.Thread
	}
	var answered *runtime.Interrupt
	_, err := e.do(ctx, thread, &deed{now: e.cfg.Eager < 0, decide: func(c *runtime.Change) (err error) {
		answered, err = e.answer(c, a)
		return err
	}})
	if err != nil {
		return nil, err
	}
	return answered, nil
}

// answer decides an answer; for an interrupt that is closed it looks in the store.
func (e *Engine) answer(c *runtime.Change, a runtime.Answer) (*runtime.Interrupt, error) {
	if a.Interrupt == "" {
		if err := e.served(e.ctx, c.Thread.ID, a.Request); err != nil {
			return e.answeredBy(c.Thread.ID, a.Request)
		}
	}
	i, err := c.Answer(a)
	if runtime.CodeOf(err) != runtime.CodeNotFound || a.Interrupt == "" {
		return i, err
	}
	closed, missing := e.store.Interrupts(e.ctx, runtime.InterruptQuery{ID: a.Interrupt, Thread: c.Thread.ID})
	if missing != nil {
		return nil, missing
	}
	if len(closed) == 0 {
		return nil, err
	}
	return runtime.Closed(closed[0], &a)
}

// answeredBy finds the interrupt that a request has answered.
func (e *Engine) answeredBy(thread, request string) (*runtime.Interrupt, error) {
	rows, err := e.store.Log(e.ctx, runtime.LogQuery{Thread: thread, Request: request, Limit: 1})
	if err != nil || len(rows) == 0 || rows[0].Interrupt == "" {
		return nil, err
	}
	return e.Interrupt(e.ctx, rows[0].Interrupt)
}

// BatchError says which answer of a batch was refused; none of them counts.
type BatchError struct {
	Index int
	Err   error
}

// Error names the answer and why it was refused.
func (b *BatchError) Error() string {
	return fmt.Sprintf("answer %d of the batch: %v", b.Index+1, b.Err)
}

// Unwrap returns the refusal.
func (b *BatchError) Unwrap() error { return b.Err }

// AnswerAll settles interrupts of any threads, all of them or none, in one commit. Each answer names its interrupt. A refusal is a [BatchError]
// with what [Engine.Answer] would have refused. Steps run after the commit: a step with several questions runs once.
func (e *Engine) AnswerAll(ctx context.Context, answers ...runtime.Answer) ([]*runtime.Interrupt, error) {
	if e.closing.Load() {
		return nil, refuse(runtime.CodeUnavailable, "answer batch", errClosing)
	}
	const tries = 20
	for range tries {
		out, changes, err := e.batch(ctx, answers)
		if err != nil {
			return nil, err
		}
		if len(changes) > 0 {
			err = e.store.Commit(ctx, changes...)
		}
		switch {
		case runtime.CodeOf(err) == runtime.CodeConflict:
			continue
		case err != nil:
			return nil, err
		}
		for _, c := range changes {
			e.announce(c)
			e.revive(c.Thread.ID)
		}
		return out, nil
	}
	return nil, refuse(runtime.CodeConflict, "answer batch", errors.New("others were faster, many times over: try again"))
}

func (e *Engine) batch(ctx context.Context, answers []runtime.Answer) (out []*runtime.Interrupt, changes []*runtime.Change, err error) {
	byThread := map[string]*runtime.Change{}
	for n, a := range answers {
		i, err := e.Interrupt(ctx, a.Interrupt)
		if err != nil {
			return nil, nil, &BatchError{Index: n, Err: err}
		}
		c := byThread[i.Thread]
		if c == nil {
			t, err := e.load(ctx, i.Thread)
			if err != nil {
				return nil, nil, &BatchError{Index: n, Err: err}
			}
			c = runtime.NewChange(t, &e.rules, e.clock.Now())
			byThread[i.Thread] = c
			changes = append(changes, c)
		}
		answered, err := e.answer(c, a)
		if err != nil {
			return nil, nil, &BatchError{Index: n, Err: err}
		}
		out = append(out, answered)
	}
	changes = slices.DeleteFunc(changes, func(c *runtime.Change) bool { return c.Empty() })
	for _, c := range changes {
		if c.Thread.Status() == runtime.StatusRunning && c.Thread.Lease.Owner == "" {
			c.Drive(e.cfg.Owner, e.clock.Now().Add(e.cfg.Lease)) // found again if this process dies before the step runs
		}
		c.Finish()
	}
	return out, changes, nil
}

// load reads a thread that this engine's code fits.
func (e *Engine) load(ctx context.Context, id string) (*runtime.Thread, error) {
	t, err := e.store.Load(ctx, id)
	if err != nil {
		return nil, err
	}
	return t, e.compatible(t)
}

// revive makes a driver look at a thread that was changed past it.
func (e *Engine) revive(id string) {
	_ = e.submit(id, &deed{fresh: true, decide: func(*runtime.Change) error { return nil }}) // closing: the next engine does
}
