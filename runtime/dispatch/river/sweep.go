package river

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	sweepPause  = time.Second      // between two sweeps of this process, about
	repairPause = 10 * time.Second // between two looks for missing jobs
	sweepLimit  = time.Minute
	ringPause   = 20 * time.Millisecond
)

// sweepUntil sweeps until ctx ends.
func (d *Dispatcher) sweepUntil(ctx context.Context) {
	var looked time.Time // for missing jobs
	for {
		if err := d.sweep(ctx, &looked); err != nil && ctx.Err() == nil {
			d.cfg.Log.Error("cannot look for due threads", "error", err)
		}
		select {
		//nolint:gosec // it only spreads them
		case <-time.After(sweepPause/2 + rand.N(sweepPause)):
		case <-ctx.Done():
			return
		}
	}
}

var errOtherSweeps = errors.New("another process sweeps")

// sweep does what no job is for: deadlines and next tries that are due, leases that their engines
// no longer renew, and jobs that are missing. One process does at a time.
//
// The lock is held by a transaction that does nothing else, so it ends with its connection. The
// server ends it when the process has stopped in here.
func (d *Dispatcher) sweep(ctx context.Context, looked *time.Time) error {
	ctx, cancel := context.WithTimeout(ctx, sweepLimit)
	defer cancel()
	err := pgx.BeginFunc(ctx, d.store.Pool(), func(tx pgx.Tx) error {
		if err := d.lockSweep(ctx, tx); err != nil {
			return err
		}
		if err := d.engine.RunDue(ctx); err != nil {
			return err
		}
		if time.Since(*looked) < repairPause {
			return nil
		}
		*looked = time.Now()
		n, err := d.store.RepairJobs(ctx)
		if n > 0 {
			d.cfg.Log.Warn("threads had no job, or its process died", "threads", n)
		}
		return err
	})
	if errors.Is(err, errOtherSweeps) {
		return nil
	}
	return err
}

// lockSweep takes the lock, or returns errOtherSweeps.
func (d *Dispatcher) lockSweep(ctx context.Context, tx pgx.Tx) error {
	var locked bool
	err := tx.QueryRow(ctx, `SELECT pg_try_advisory_xact_lock(hashtextextended($1, 0))
		FROM set_config('idle_in_transaction_session_timeout', '10s', true)`,
		"routegen sweep "+d.cfg.Schema).Scan(&locked)
	if err == nil && !locked {
		return errOtherSweeps
	}
	return err
}

// signalInserted is called after commits that inserted jobs.
func (d *Dispatcher) signalInserted() {
	select {
	case d.rings <- struct{}{}:
	default:
	}
}

// ringUntil tells the workers of all processes that there are jobs, until ctx ends.
func (d *Dispatcher) ringUntil(ctx context.Context) {
	for {
		select {
		case <-d.rings:
			d.ring(ctx)
		case <-ctx.Done():
			return
		}
		select {
		case <-time.After(ringPause):
		case <-ctx.Done():
			return
		}
	}
}

// ringPending rings once if jobs were inserted and no worker knows.
func (d *Dispatcher) ringPending(ctx context.Context) {
	select {
	case <-d.rings:
		d.ring(ctx)
	default:
	}
}

// ring notifies the workers as River's client would. It is a transaction of its own: notifying in a
// commit takes a lock of the whole server until the commit is synced. If it fails they find the
// jobs within a second.
func (d *Dispatcher) ring(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	_, err := d.store.Pool().Exec(ctx, `SELECT pg_notify($1, $2)
		FROM set_config('synchronous_commit', 'off', true)`,
		d.cfg.Schema+".river_insert", `{"queue": "`+Queue+`"}`)
	if err != nil && ctx.Err() == nil {
		d.cfg.Log.Warn("cannot notify workers of new jobs", "error", err)
	}
}
