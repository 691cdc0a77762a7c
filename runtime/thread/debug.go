package thread

import (
	"log/slog"
	"maps"
	"slices"
	"time"
)

// logStep logs at Debug that a step of the thread starts.
func (d *driver) logStep(r *stepRun) {
	if e := d.engine; e.log.Enabled(e.ctx, slog.LevelDebug) {
		e.log.Debug("step starts", "thread", d.id, "frame", r.frame.ID, "machine",
			r.frame.Machine, "step", r.frame.PC, "visit", r.frame.Visit)
	}
}

// logWaiting logs at Debug what the driver waits for: runs of steps, a commit of its pending
// commands, the end of another engine's lease, or the store.
func (d *driver) logWaiting() {
	e := d.engine
	if !e.log.Enabled(e.ctx, slog.LevelDebug) {
		return
	}
	attrs := []any{"thread", d.id, "process", e.process, "fence", d.fence,
		"frames", slices.Sorted(maps.Keys(d.runs)), "pending", len(d.pending)}
	if d.notOwner && d.base != nil {
		attrs = append(attrs, "owner", d.base.Lease.Owner, "until", d.base.Lease.Until)
	}
	if !d.retryAt.IsZero() {
		attrs = append(attrs, "retry", d.retryAt, "unconfirmed", d.unconfirmed != nil)
	}
	e.log.Debug("driver waits", attrs...)
}

// logCommitted logs at Debug the outcome of a commit, and how long it took.
func (d *driver) logCommitted(c *Change, began time.Time, err error) {
	e := d.engine
	if !e.log.Enabled(e.ctx, slog.LevelDebug) {
		return
	}
	attrs := []any{"thread", d.id, "version", c.Thread.Version, "entries", len(c.Entries),
		"status", c.Thread.Status(), "fence", c.Thread.Lease.Fence, "took", time.Since(began)}
	if err != nil {
		attrs = append(attrs, "error", err)
	}
	e.log.Debug("commit", attrs...)
}
