package thread

import (
	"bytes"
	"context"
	"slices"
	"time"

	"github.com/routegen/routegen/runtime"
)

// landed resolves an unknown outcome by reading back: a store that became unavailable may have committed before. Where it cannot be read
// either, the change is kept until it can.
func (d *driver) landed(c *runtime.Change, err error) bool {
	if runtime.CodeOf(err) != runtime.CodeUnavailable || c.Empty() {
		return false
	}
	landed, known := d.engine.stored(d.engine.ctx, c)
	if !known {
		d.unsure, d.part = c, map[*deed]bool{}
		for _, x := range d.pending {
			d.part[x] = true
		}
	}
	return landed
}

// stored reports whether the log holds the entries of a change, and whether that could be found out.
func (e *Engine) stored(ctx context.Context, c *runtime.Change) (landed, known bool) {
	if c.Copied != nil {
		first, err := e.store.Log(ctx, runtime.LogQuery{Thread: c.Thread.ID, Limit: 1})
		if err != nil || len(first) == 0 {
			return false, err == nil
		}
		want := c.News()[0]
		return first[0].Name == want.Name && bytes.Equal(first[0].Value, want.Value), true
	}
	rows, err := e.store.Log(ctx, runtime.LogQuery{Thread: c.Thread.ID, AfterSeq: c.Entries[0].Seq - 1, Limit: len(c.Entries)})
	if err != nil {
		return false, false
	}
	return slices.EqualFunc(rows, c.Entries, func(a, b runtime.Entry) bool {
		one, err1 := runtime.Encode(a)
		two, err2 := runtime.Encode(b)
		return err1 == nil && err2 == nil && bytes.Equal(one, two)
	}), true
}

// commit commits changes past their drivers, all or none, and makes those look at what came of it. A caller whose context ends first is
// told CodeUnknown, and the commit goes on without it.
func (e *Engine) commit(ctx context.Context, op string, changes ...*runtime.Change) error {
	if len(changes) == 0 {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return refuse(runtime.CodeUnavailable, op, context.Cause(ctx))
	}
	e.mu.Lock()
	if e.closing.Load() {
		e.mu.Unlock()
		return refuse(runtime.CodeUnavailable, op, errClosing)
	}
	e.loops.Add(1)
	e.mu.Unlock()
	result := make(chan error, 1)
	e.crew.run(func() {
		defer e.loops.Done()
		result <- e.commitPast(changes...)
	})
	select {
	case err := <-result:
		return err
	case <-ctx.Done():
	}
	select {
	case err := <-result: // both are there: what is known counts
		return err
	default:
		return unknownOutcome(ctx, op)
	}
}

// commitPast does what commit says. An unknown outcome is read back as a driver does it; where the store cannot be read either, the refusal
// stays and whoever asked asks again.
func (e *Engine) commitPast(changes ...*runtime.Change) error {
	err := e.store.Commit(e.ctx, changes...)
	if runtime.CodeOf(err) == runtime.CodeConflict {
		return err
	}
	if runtime.CodeOf(err) == runtime.CodeUnavailable {
		if landed, _ := e.stored(e.ctx, changes[0]); landed { // and the others with it
			err = nil
		}
	}
	for _, c := range changes {
		if err == nil {
			e.announce(c)
		}
		e.revive(c) // after an error too: the store may have done it before it became unavailable
	}
	return err
}

// readBack settles a change whose outcome was unknown: what landed is not decided again. It reports false when the store still cannot say.
func (d *driver) readBack() bool {
	landed, known := d.engine.stored(d.engine.ctx, d.unsure)
	if !known {
		d.refuse(&runtime.Error{Code: runtime.CodeUnavailable, Op: "read back thread " + d.id})
		return false
	}
	part := d.part
	d.unsure, d.part = nil, nil
	if !landed {
		return true
	}
	d.pending = slices.DeleteFunc(d.pending, func(x *deed) bool { return part[x] })
	if err := d.load(); err != nil {
		d.refuse(err)
		return false
	}
	d.flushAt = time.Time{}
	d.again(nil)
	return true
}
