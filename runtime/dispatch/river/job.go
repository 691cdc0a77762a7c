package river

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"strings"
	"time"

	queue "github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
)

// Job is what a job says: the thread that waits for an engine, and the fence with which it does.
// Each time of waiting has another one, so a new job is never taken for one that is about to end.
type Job struct {
	Fence  int64  `json:"fence"  river:"unique"`
	Thread string `json:"thread" river:"unique"`
}

// Kind implements River's JobArgs.
func (Job) Kind() string { return "routegen_thread" }

// InsertOpts implements River's JobArgsWithInsertOpts: there is one job for a time of waiting, as
// long as it may still be worked.
func (Job) InsertOpts() queue.InsertOpts {
	return queue.InsertOpts{Queue: Queue, UniqueOpts: queue.UniqueOpts{ByArgs: true,
		ByState: []rivertype.JobState{rivertype.JobStateAvailable, rivertype.JobStatePending,
			rivertype.JobStateRetryable, rivertype.JobStateRunning, rivertype.JobStateScheduled}}}
}

// insertJobs returns the statement by which commits insert jobs: what River's client would insert
// for a [Job], as a part of another statement, and without the notification that a commit would
// wait for. Its unique key and states are River's.
func insertJobs(schema string) string {
	return strings.ReplaceAll(`INSERT INTO {river}.river_job
			(args, kind, max_attempts, queue, state, unique_key, unique_states)
		SELECT jsonb_build_object('fence', fence, 'thread', thread), 'routegen_thread', 25,
			'`+Queue+`', 'available', sha256(convert_to('&kind=routegen_thread&args={"fence":' ||
			fence || ',"thread":' || to_json(thread)::text || '}', 'UTF8')), B'11110001'
		FROM jobs
		ON CONFLICT (unique_key) WHERE unique_key IS NOT NULL AND unique_states IS NOT NULL
			AND {river}.river_job_state_in_bitmask(unique_states, state) DO NOTHING`,
		"{river}", quote(schema))
}

// freeJobs returns the statement that makes jobs available again whose process died after it had
// fetched them and before it took the lease. River itself would wait for two hours, and in that
// time no other job can have their key. A worker that is only slow may come after that: the fence
// tells the two apart.
func freeJobs(schema string) string {
	return `UPDATE ` + quote(schema) + `.river_job j SET state = 'available' FROM jobs
		WHERE j.state = 'running' AND j.kind = 'routegen_thread' AND j.queue = '` + Queue + `'
			AND j.attempted_at < now() - interval '10 seconds'
			AND j.args ->> 'thread' = jobs.thread AND (j.args ->> 'fence')::bigint = jobs.fence`
}

// snooze is how long a job is left for others, at most. It is spread, so that the worker that looks
// first then is not always the one that has left it.
const snooze = 5 * time.Second

// worker works jobs.
type worker struct {
	queue.WorkerDefaults[Job]
	engine *thread.Engine
	log    *slog.Logger
}

// Work drives the thread of a job. What it returns is about River's row alone: the thread has its
// own lease and fence.
func (w *worker) Work(ctx context.Context, job *queue.Job[Job]) error {
	err := w.engine.Drive(ctx, job.Args.Thread, job.Args.Fence)
	switch code := runtime.CodeOf(err); code {
	case "", runtime.CodeUnknown: // the engine goes on with what it has begun, and has the lease
		return nil
	case runtime.CodeIncompatible, runtime.CodeUnavailable:
		// another program can run it, or this one later
		w.log.Warn("a thread is left for later", "thread", job.Args.Thread, "error", err)
		//nolint:gosec // it only spreads them
		return queue.JobSnooze(snooze/5 + rand.N(snooze*4/5))
	default:
		return err
	}
}
