package thread

import (
	"bytes"
	"context"
	"slices"
	"time"

	"github.com/routegen/routegen/runtime"
)

// wasCommitted reports whether a change is stored although Commit returned an error: a store that
// became unavailable may have committed before. If the store cannot be read either, the change is
// kept as unconfirmed.
func (d *driver) wasCommitted(c *Change, err error) bool {
	if runtime.CodeOf(err) != runtime.CodeUnavailable || c.Empty() {
		return false
	}
	found, known := d.engine.isStored(d.engine.ctx, c)
	if !known {
		d.unconfirmed, d.unconfirmedCommands = c, map[*command]bool{}
		for _, x := range d.pending {
			d.unconfirmedCommands[x] = true
		}
	}
	return found
}

// isStored reports whether the log holds the entries of a change, and whether that could be read.
func (e *Engine) isStored(ctx context.Context, c *Change) (found, known bool) {
	if c.Copied != nil {
		first, err := e.store.Log(ctx, LogQuery{Thread: c.Thread.ID, Limit: 1})
		if err != nil || len(first) == 0 {
			return false, err == nil
		}
		want := c.NewEntries()[0]
		return first[0].Name == want.Name && bytes.Equal(first[0].Value, want.Value), true
	}
	rows, err := e.store.Log(ctx, LogQuery{Thread: c.Thread.ID, AfterSeq: c.Entries[0].Seq - 1,
		Limit: len(c.Entries)})
	if err != nil {
		return false, false
	}
	return slices.EqualFunc(rows, c.Entries, func(a, b Entry) bool {
		one, err1 := runtime.Encode(a)
		two, err2 := runtime.Encode(b)
		return err1 == nil && err2 == nil && bytes.Equal(one, two)
	}), true
}

// commitChanges commits changes without their drivers, all or none, and has the drivers reload. It
// returns CodeUnknown if ctx ends first; the commit then goes on in the background.
func (e *Engine) commitChanges(ctx context.Context, op string, changes ...*Change) error {
	if len(changes) == 0 {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return runtime.Errorf(runtime.CodeUnavailable, op, "%w", context.Cause(ctx))
	}
	e.mu.Lock()
	if e.closing.Load() {
		e.mu.Unlock()
		return runtime.Errorf(runtime.CodeUnavailable, op, "%w", errClosing)
	}
	e.loops.Add(1)
	e.mu.Unlock()
	result := make(chan error, 1)
	e.workers.runTask(taskFunc(func() {
		defer e.loops.Done()
		result <- e.commitBeside(changes...)
	}))
	select {
	case err := <-result:
		return err
	case <-ctx.Done():
	}
	select {
	case err := <-result: // both are ready: the outcome counts
		return err
	default:
		return unknownOutcome(ctx, op)
	}
}

// commitBeside is commitChanges without a context. An unknown outcome is read back once; if the
// store cannot be read either, the error of the commit is returned.
func (e *Engine) commitBeside(changes ...*Change) error {
	err := e.store.Commit(e.ctx, changes...)
	if runtime.CodeOf(err) == runtime.CodeConflict {
		return err
	}
	if runtime.CodeOf(err) == runtime.CodeUnavailable {
		if found, _ := e.isStored(e.ctx, changes[0]); found { // and the others with it
			err = nil
		}
	}
	for _, c := range changes {
		if err == nil {
			e.announceCommit(c)
		}
		// after an error too: the store may have committed before it became unavailable
		e.reloadDriver(c)
	}
	return err
}

// readBack resolves an unconfirmed change. Commands that were committed with it are not decided
// again. It reports false while the store cannot be read.
func (d *driver) readBack() bool {
	found, known := d.engine.isStored(d.engine.ctx, d.unconfirmed)
	if !known {
		d.rejectPending(&runtime.Error{Code: runtime.CodeUnavailable,
			Op: "read back thread " + d.id})
		return false
	}
	part := d.unconfirmedCommands
	d.unconfirmed, d.unconfirmedCommands = nil, nil
	if !found {
		return true
	}
	d.pending = slices.DeleteFunc(d.pending, func(x *command) bool { return part[x] })
	if err := d.loadThread(); err != nil {
		d.rejectPending(err)
		return false
	}
	d.flushAt = time.Time{}
	d.rebase(nil)
	return true
}
