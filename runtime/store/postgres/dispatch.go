package postgres

import (
	"context"
	"time"

	"github.com/routegen/routegen/runtime/store/internal/record"
	"github.com/routegen/routegen/runtime/thread"
)

// dispatch is what commits do for threads that wait for an engine.
type dispatch struct {
	commit   string // commitThreads, with the jobs
	missing  string // inserts the jobs that are not there
	inserted func()
}

// Dispatch makes each commit insert jobs for the threads that it leaves waiting for an engine:
// those that run and have no lease, as engines with [thread.Config.AnswerOnly] commit them. insert
// is an INSERT that reads such threads from a table named jobs, with the columns thread (text) and
// fence (bigint), and must do nothing for a job that is there. It is part of the commit's
// statement, so jobs are committed with their threads and in the same round trip. inserted is
// called after such a commit, and must return at once.
//
// Such a thread has no wake time but those of its questions and frames: an engine that looks for
// due threads does not find it.
func (s *Store) Dispatch(insert string, inserted func()) {
	s.dispatch.Store(&dispatch{
		commit: `WITH done AS MATERIALIZED (` + commitThreads + ` AS why),
			jobs AS (SELECT * FROM unnest($31::text[], $32::bigint[]) AS j(thread, fence)
				WHERE (SELECT why IS NULL FROM done)),
			made AS (` + insert + `)
			SELECT why FROM done`,
		missing: `WITH jobs AS (SELECT t.id AS thread, t.fence FROM {schema}.due d
			JOIN {schema}.thread t ON t.n = d.thread WHERE d.running AND t.owner IS NULL) ` + insert,
		inserted: inserted,
	})
}

// InsertMissing inserts a job for each thread that waits for an engine and has none, and returns
// how many these were. A job may be lost when a person deletes it, or a program commits before it
// calls [Store.Dispatch].
func (s *Store) InsertMissing(ctx context.Context) (int64, error) {
	const op = "insert missing jobs"
	jobs := s.dispatch.Load()
	if jobs == nil {
		return 0, nil
	}
	ctx, cancel := context.WithTimeout(ctx, readLimit)
	defer cancel()
	done, err := s.pool.Exec(ctx, s.sql(jobs.missing))
	if err == nil && done.RowsAffected() > 0 {
		jobs.inserted()
	}
	return done.RowsAffected(), wrapError(op, err)
}

// waitingThreads are the threads of a commit that wait for an engine.
type waitingThreads struct {
	ids    []string
	fences []int64
}

// take adds the threads of changes, and takes the time at which they began to wait from their rows.
// It reports whether there are any.
func (w *waitingThreads) take(changes []*thread.Change, rows []record.Row) bool {
	for n, c := range changes {
		if c.Thread.Status() != thread.StatusRunning || c.Thread.Lease.Owner != "" {
			continue
		}
		w.ids, w.fences = append(w.ids, c.Thread.ID), append(w.fences, c.Thread.Lease.Fence)
		rest := *c.Thread
		rest.Lease.Until = time.Time{}
		rows[n].Wake = nil
		if wake := rest.Wake(); !wake.IsZero() {
			rows[n].Wake = wake.UnixMilli()
		}
	}
	return len(w.ids) > 0
}
