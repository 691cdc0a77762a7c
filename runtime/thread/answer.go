package thread

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/routegen/routegen/runtime"
)

// Answer answers one interrupt of a thread by the rules of [Change.Answer], and returns the
// interrupt as it is then. It returns when the answer is durable, with the step that it leads to if
// that ends within [Config.CommitDelay]. The same request, or the same answer by the same person,
// gets the same result again; any other answer to a closed interrupt gets the errors of [Closed].
// An early answer that is kept returns nil and no error.
//
// thread may be empty if the answer names its interrupt.
func (e *Engine) Answer(ctx context.Context, thread string, a Answer) (*Interrupt, error) {
	if thread == "" {
		i, err := e.Interrupt(ctx, a.Interrupt)
		if err != nil {
			return nil, err
		}
		thread = i.Thread
	}
	var answered *Interrupt
	_, err := e.perform(ctx, thread,
		&command{urgent: e.cfg.CommitDelay < 0, decide: func(c *Change) (err error) {
			answered, err = e.decideAnswer(c, a)
			return err
		}})
	if err != nil {
		return nil, err
	}
	return e.localInterrupt(answered), nil
}

// decideAnswer decides an answer. It looks in the store for an interrupt that is closed.
func (e *Engine) decideAnswer(c *Change, a Answer) (*Interrupt, error) {
	row, err := e.FindRequest(e.ctx, c, a.Request)
	switch {
	case err != nil:
		return nil, err
	case row == nil:
	case row.Type == EntryHeld && a.Interrupt == "" && a.Question == row.Name:
		// an early answer
		return nil, nil
	case row.Interrupt == "" || a.Interrupt != "" && a.Interrupt != row.Interrupt:
		return nil, requestUsed("answer thread " + c.Thread.ID)
	case row.Type == EntryReasked:
		return nil, a.Unclear(row)
	default:
		i, err := e.findInterrupt(c, row.Interrupt)
		if err == nil && i != nil && a.Question != "" && i.Name != a.Question {
			err = requestUsed("answer thread " + c.Thread.ID)
		}
		return i, err
	}
	i, refusal := c.Answer(a)
	if runtime.CodeOf(refusal) != runtime.CodeNotFound || a.Interrupt == "" {
		return i, refusal
	}
	if i, err = e.findInterrupt(c, a.Interrupt); err != nil {
		return nil, err
	}
	if i == nil {
		return nil, refusal
	}
	return Closed(i, &a)
}

// findInterrupt returns an interrupt of the thread, of any state, as the change leaves it, or nil.
func (e *Engine) findInterrupt(c *Change, id string) (*Interrupt, error) {
	for _, i := range c.Interrupts {
		if i.ID == id {
			return i, nil
		}
	}
	found, err := e.store.Interrupts(e.ctx, InterruptQuery{ID: id, Thread: c.Thread.ID})
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return found[0], nil
}

// FindRequest returns the first entry that a request has added to the thread, in this change or
// before, or nil if the request is new.
func (e *Engine) FindRequest(ctx context.Context, c *Change, request string) (*Entry, error) {
	for n := range c.Entries {
		if request != "" && c.Entries[n].Request == request {
			return &c.Entries[n], nil
		}
	}
	if c.Before == 0 {
		return nil, nil
	}
	return e.ByRequest(ctx, c.Thread.ID, request)
}

// ErrRequestUsed is the reason of a CodeConflict for a request id that was used for something else
// on the same thread.
var ErrRequestUsed = errors.New("the request id was used for something else: take a new one")

func requestUsed(op string) error {
	return runtime.Errorf(runtime.CodeConflict, op, "%w", ErrRequestUsed)
}

// BatchError says which answer of a batch was refused. None of the batch is stored.
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

// AnswerAll answers interrupts of any threads, all of them or none, in one commit. Each answer must
// name its interrupt. If one is refused, AnswerAll returns a [BatchError] with the error that
// [Engine.Answer] would have returned. Steps run after the commit, so a step with several questions
// runs once. After CodeUnavailable or CodeUnknown the same batch may be given again: answers that
// were stored are found.
func (e *Engine) AnswerAll(ctx context.Context, answers ...Answer) ([]*Interrupt, error) {
	if e.closing.Load() {
		return nil, runtime.Errorf(runtime.CodeUnavailable, "answer batch", "%w", errClosing)
	}
	const tries = 20
	for range tries {
		out, changes, err := e.decideBatch(ctx, answers)
		if err != nil {
			return nil, err
		}
		switch err = e.commitChanges(ctx, "answer batch", changes...); runtime.CodeOf(err) {
		case "":
			return out, nil
		case runtime.CodeConflict: // decide again on the new records
		default:
			return nil, err
		}
	}
	return nil, runtime.Errorf(runtime.CodeConflict, "answer batch",
		"20 commits of other callers came first: try again")
}

func (e *Engine) decideBatch(ctx context.Context, answers []Answer) (out []*Interrupt,
	changes []*Change, err error) {
	byThread := map[string]*Change{}
	who, _ := ctx.Value(actorKey{}).(actor)
	for n, a := range answers {
		i, err := e.Interrupt(ctx, a.Interrupt)
		if err != nil {
			return nil, nil, &BatchError{Index: n, Err: err}
		}
		c := byThread[i.Thread]
		if c == nil {
			t, err := e.root.loadCompatible(ctx, e.key(i.Thread))
			if err != nil {
				return nil, nil, &BatchError{Index: n, Err: err}
			}
			c = NewChange(t, &e.rules, e.clock.Now())
			byThread[i.Thread] = c
			changes = append(changes, c)
		}
		c.caller = who
		answered, err := e.decideAnswer(c, a)
		if err != nil {
			return nil, nil, &BatchError{Index: n, Err: err}
		}
		out = append(out, e.localInterrupt(answered))
	}
	changes = slices.DeleteFunc(changes, func(c *Change) bool { return c.Empty() })
	for _, c := range changes {
		if c.Thread.Lease.Owner == "" {
			e.leaseNew(c)
		}
		who.sign(c.Entries)
		c.Finish()
	}
	return out, changes, nil
}

// loadCompatible loads a thread, and returns CodeIncompatible if this program cannot read its data.
func (e *Engine) loadCompatible(ctx context.Context, id string) (*Thread, error) {
	t, err := e.store.Load(ctx, id)
	if err != nil {
		return nil, err
	}
	_, err = e.upgrade(t)
	return t, err
}

// reloadDriver makes a driver load a thread that was changed without it, and use the lease that the
// change took. A closing engine leaves the thread to the next one.
func (e *Engine) reloadDriver(c *Change) {
	x := &command{reload: true}
	if c.Thread.Lease.Owner == e.process {
		x.fence = c.Thread.Lease.Fence
	}
	if d, _ := e.submit(c.Thread.ID, x); d != nil {
		e.workers.runTask(d)
	}
}
