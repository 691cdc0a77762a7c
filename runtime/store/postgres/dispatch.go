package postgres

import (
	"context"
	"time"

	"github.com/routegen/routegen/runtime/store/internal/record"
	"github.com/routegen/routegen/runtime/thread"
)

// dispatch is what commits do for threads that wait for an engine.
type dispatch struct {
	commit   string    // commitThreads, with the jobs
	repair   [2]string // frees and inserts jobs that are missing
	inserted func()
}

// Dispatch makes each commit insert jobs for the threads that it leaves waiting for an engine:
// those that run and have no lease, as engines with [thread.Config.AnswerOnly] commit them. insert
// is an INSERT that reads such threads from a table named jobs, with the columns thread (text) and
// fence (bigint), and must do nothing for a job that is there. It is part of the commit's
// statement, so jobs are committed with their threads and in the same round trip. inserted is
// called after such a commit, and must return at once.
//
// free is an UPDATE that reads the same table, of all threads that wait: it makes jobs ready again
// whose worker does not take its thread. See [Store.RepairJobs].
//
// A thread that waits has no wake time but those of its questions and frames: an engine that looks
// for due threads does not find it.
func (s *Store) Dispatch(insert, free string, inserted func()) {
	const waiting = `WITH jobs AS (SELECT t.id AS thread, t.fence FROM {schema}.due d
		JOIN {schema}.thread t ON t.n = d.thread WHERE d.running AND t.owner IS NULL) `
	s.dispatch.Store(&dispatch{
		commit: `WITH done AS MATERIALIZED (` + commitThreads + ` AS why),
			jobs AS (SELECT * FROM unnest($31::text[], $32::bigint[]) AS j(thread, fence)
				WHERE (SELECT why IS NULL FROM done)),
			made AS (` + insert + `)
			SELECT why FROM done`,
		repair:   [2]string{waiting + free, waiting + insert},
		inserted: inserted,
	})
}

// RepairJobs frees the jobs of threads that wait for an engine and whose worker does not take them,
// inserts those that are missing, and returns how many these were. A worker may have died, a person
// may have deleted a job, and a program may have committed before it called [Store.Dispatch].
func (s *Store) RepairJobs(ctx context.Context) (n int64, err error) {
	jobs := s.dispatch.Load()
	if jobs == nil {
		return 0, nil
	}
	ctx, cancel := context.WithTimeout(ctx, readLimit)
	defer cancel()
	for _, query := range jobs.repair {
		done, err := s.pool.Exec(ctx, s.sql(query))
		if n += done.RowsAffected(); err != nil {
			return n, wrapError("repair jobs", err)
		}
	}
	if n > 0 {
		jobs.inserted()
	}
	return n, nil
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
