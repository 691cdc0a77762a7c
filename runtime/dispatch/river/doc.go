// Package river runs threads in several processes: the state is in PostgreSQL, and River, a job
// queue in the same database, says which process looks at which thread.
//
//	store, err := postgres.Open(ctx, url, postgres.Config{})
//	...
//	engine, err := thread.Open(ctx, store, thread.Config{Clock: store, AnswerOnly: true},
//		machines...)
//	...
//	dispatch, err := river.Open(ctx, store, engine, river.Config{Workers: 50})
//	...
//	defer dispatch.Stop(ctx) // closes the engine; then close the store
//
// # Processes
//
// Every process opens a store, an engine and a [Dispatcher]. One without Workers takes starts,
// answers and messages and runs no step; one with Workers runs threads, and may serve as well. All
// have the same machines, and any number of each may run.
//
// # What is promised
//
// The truth about a thread is in its record: version, lease and fence. A job only says that there
// is a thread to look at. So jobs may be lost, done twice, cancelled, discarded, retried or
// deleted, by a person or by River, and no step runs twice for it and no thread stays behind.
//
//   - A commit that leaves a thread waiting for an engine inserts the job in the same statement.
//     Its key is the thread and its fence, and each time of waiting has a new fence: a job that is
//     about to end never stands in the way of the next one.
//   - A worker takes the lease of the thread, drives it until it rests, and then lets River
//     complete the job. A job whose thread does not wait any longer, or has a lease, does nothing.
//   - Every second one of the processes with workers does what no job is for: deadlines, next
//     tries, and threads whose lease was not renewed. Those get a new fence, and so a new job: the
//     thread of a process that died goes on two to five seconds after the end of its lease
//     ([thread.Config.Lease]). Every ten seconds it inserts the jobs that are missing, and frees
//     those that a process had fetched when it died.
//   - A step whose process died five times in a row is not run a sixth time: a person is asked, by
//     an interrupt of kind system_error.
//   - A program that lacks a machine of a thread, or cannot read its record, leaves the job for up
//     to five seconds at a time, to a program that can.
//
// All that [thread.Do] and [thread.Once] promise holds as on one machine.
//
// # River
//
// [Migrate] makes River's tables in a schema of their own. Do not use it for other jobs: a leader
// of River discards stuck jobs that it does not know. Jobs that are done stay for five minutes. A
// job ends after an hour even if its thread still runs, which goes on under its lease. River's own
// page can be mounted with the client that [Dispatcher.River] returns.
//
// Workers listen for new jobs, and look each second in case a notification was lost. Behind a
// pooler in transaction mode they need a direct [Config.Pool], or [Config.PollOnly].
package river
