package thread

import (
	"context"
	"errors"

	"github.com/routegen/routegen/runtime"
)

// storeIntent commits that an effect begins, and returns when that is durable. It returns
// ErrWaiting, and the effect does not begin, if the record has moved on, a pause is requested, or
// the effect was begun before and its outcome is unknown.
func (d *driver) storeIntent(ctx context.Context, r *stepRun, name string) error {
	if r.inline {
		return Permanent(runtime.Errorf(runtime.CodeInvalid, "once "+name,
			"the machine runs this step inline, where Once is not allowed: see Inline"))
	}
	r.markIntent(name)
	x := &command{
		urgent: true,
		decide: func(c *Change) error {
			if d.runs[r.frame.ID] != r || !r.awaitsEnd(c.Thread) || c.Thread.Control != nil {
				return ErrWaiting // a safe point, and a pause waits for one
			}
			if had := c.Thread.Frame(r.frame.ID).Effect(name); had != nil &&
				had.State != EffectFailed {
				// another engine began it: the step ends here, and finds the result or the question
				// when it runs again
				return ErrWaiting
			}
			c.Add(Entry{Type: EntryEffect, Frame: r.frame.ID, Name: name,
				State: EffectIntended})
			return nil
		},
	}
	done := x.awaitable()
	if !d.push(x) {
		return ErrWaiting
	}
	select {
	case <-done:
		return r.confirmIntent(name, x.err)
	case <-ctx.Done():
		return context.Cause(ctx) // the end of the run says that the effect did not begin
	}
}

// markIntent notes that the beginning of an effect is being stored. If the run ends before, the
// effect is recorded as failed and no person is asked about it.
func (r *stepRun) markIntent(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.intent == nil {
		r.intent = map[string]bool{}
	}
	r.intent[name] = true
}

// confirmIntent returns nil if the effect may begin now that its intent was stored, or rejected
// with err.
func (r *stepRun) confirmIntent(name string, err error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.state.hasEnded(): // its end is being decided
		return ErrWaiting
	case err == nil && r.state != running:
		// it was cut meanwhile: the end of the run says that the effect did not begin
		r.suspend()
		return ErrWaiting
	case errors.Is(err, ErrWaiting):
		r.suspend()
	}
	delete(r.intent, name)
	return err
}
