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
	row, err := e.request(c, a.Request)
	switch {
	case err != nil:
		return nil, err
	case row == nil:
	case row.Type == runtime.EntryHeld && a.Interrupt == "" && a.Question == row.Name: // an early answer
		return nil, nil
	case row.Interrupt == "" || a.Interrupt != "" && a.Interrupt != row.Interrupt:
		return nil, requestUsed("answer thread " + c.Thread.ID)
	case row.Type == runtime.EntryReasked:
		return nil, a.Unclear(row)
	default:
		i, err := e.find(c, row.Interrupt)
		if err == nil && i != nil && a.Question != "" && i.Name != a.Question {
			err = requestUsed("answer thread " + c.Thread.ID)
		}
		return i, err
	}
	i, refusal := c.Answer(a)
	if runtime.CodeOf(refusal) != runtime.CodeNotFound || a.Interrupt == "" {
		return i, refusal
	}
	if i, err = e.find(c, a.Interrupt); err != nil {
		return nil, err
	}
	if i == nil {
		return nil, refusal
	}
	return runtime.Closed(i, &a)
}

// find returns an interrupt of the thread, of any state, as the change leaves it; nil when there is none.
func (e *Engine) find(c *runtime.Change, id string) (*runtime.Interrupt, error) {
	for _, i := range c.Interrupts {
		if i.ID == id {
			return i, nil
		}
	}
	found, err := e.store.Interrupts(e.ctx, runtime.InterruptQuery{ID: id, Thread: c.Thread.ID})
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return found[0], nil
}

// request returns what a request has done to the thread, in this change or before; nil when it is new.
func (e *Engine) request(c *runtime.Change, id string) (*runtime.Entry, error) {
	if id == "" {
		return nil, nil
	}
	for n := range c.Entries {
		if c.Entries[n].Request == id {
			return &c.Entries[n], nil
		}
	}
	if c.Before == 0 {
		return nil, nil
	}
	rows, err := e.store.Log(e.ctx, runtime.LogQuery{Thread: c.Thread.ID, Request: id, Limit: 1})
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	return &rows[0], nil
}

// ErrRequestUsed is the reason of a CodeConflict for a request whose id stands for something else in the log of its thread: it takes a new one.
var ErrRequestUsed = errors.New("the request id was used for something else: take a new one")

func requestUsed(op string) error { return refuse(runtime.CodeConflict, op, ErrRequestUsed) }

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
// with what [Engine.Answer] would have refused. Steps run after the commit: a step with several questions runs once. After CodeUnavailable or
// CodeUnknown the same batch again finds what the first one did, if it did anything.
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
		switch err = e.commit(ctx, "answer batch", changes...); runtime.CodeOf(err) {
		case "":
			return out, nil
		case runtime.CodeConflict: // others were faster: decide on what they made of it
		default:
			return nil, err
		}
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
			c.Drive(e.process, e.clock.Now().Add(e.cfg.Lease)) // found again if this process dies before the step runs
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

// revive makes a driver look at a thread that was changed past it, and go on under the lease that the change took. An engine that is closing
// leaves it to the next one.
func (e *Engine) revive(c *runtime.Change) {
	x := &deed{fresh: true, decide: func(*runtime.Change) error { return nil }}
	if c.Thread.Lease.Owner == e.process {
		x.fence = c.Thread.Lease.Fence
	}
	_ = e.submit(c.Thread.ID, x)
}
