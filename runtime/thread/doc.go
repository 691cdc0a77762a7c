// Package thread is the engine: it runs threads that stop for a person at the exact point, survive the end of their process, and go on
// exactly once. A newcomer begins with [Func], [Do] and [Ask]: an ordinary function that pauses.
//
// # The model
//
// A thread is one stored record with a tree of frames. A [Machine] runs one step of a frame and returns a [Transition], which the engine
// commits together with everything else that happened: effects, questions, messages, times. What is not committed has not happened.
//
//	      Start, Deliver
//	            │
//	            ▼
//	┌───────► ready ──── a step runs ──┬─ Advance ───────────────► ready
//	│                                  ├─ Ask ───────────────────► asking ──── all answered ───┐
//	│                                  ├─ Call ──────────────────► calling ─── all children ───┤
//	│                                  │                                       have ended      │
//	│                                  ├─ it failed ─────────────► retrying ── its time came ──┤
//	│                                  │   └─ no try left ───────► asking (system_error) ──────┤
//	│                                  └─ Return, Fail, Done ────► gone: its parent goes on,   │
//	│                                                              or the turn or the thread   │
//	│                                                              is over                     │
//	└──────────────────────────────────────────────────────────────────────────────────────────┘
//
// The engine waits for nobody's goroutine: a frame that waits is a row in the store, and costs the process nothing. Of a thread it is said
// that it is running while some frame is ready, waiting while none is, idle between two turns, and over when it is done, failed, cancelled
// or handed off.
//
//   - A step waits for the answers to all its questions; then it runs again from its top.
//   - A frame waits for all the children it called. Siblings run, ask and fail at the same time, and the order they end in never shows.
//   - A less urgent question waits behind a more urgent one, or is superseded by it, as its kind says.
//   - A person's pause waits for every running step to reach a safe point: before its next effect, or at its end. Mode now cancels the
//     steps' contexts instead. Until the pause is answered no step runs.
//   - Who calls the engine waits for the commit of what he did, and for nothing else.
//
// # What runs again, and what does not
//
// A step is run again after an answer, a failed try, a pause, a crash. It then meets what it did before:
//
//	Do    its stored result, which is committed at most 100 ms after fn returned. If the process dies before that, fn
//	      runs again with the same key: at least once.
//	Once  its stored result. That it begins is committed first, so it is not begun again without an order: if its end
//	      is unknown it is in doubt, and a person is asked.
//	Ask   the answer, found by name, in the same visit of the same step, and only when the question is the one that was answered.
//	Say   nothing: the message is in the outbox once.
//
// Code between them runs again, so it has no effects of its own. What one run of a step did is committed
// with its end, or at most 100 ms after it happened, and has the time at which it happened. A run counts for
// the record that it began on: the same step and visit, with the same input, locals, answers and results of
// children. A run that no longer counts, since the record is another one, its frame has ended, it was given
// up at its time limit, or another engine took the thread, is cut: its later effects do nothing and return
// [ErrWaiting], and a result after the limit is a failure.
//
// # Order and durability
//
// A commit is a compare-and-set on the version of the thread: all of it or nothing, and nobody hears of it before it is on disk. The entries of
// a thread are numbered without gaps; [Engine.Subscribe] yields them in the order of their commits, and whoever comes back with its last
// cursor misses nothing. Commits of different threads do not wait for one another. A batch of answers is one commit over several threads.
//
// When the store refuses, callers are told CodeUnavailable and nothing of theirs is stored, unless the store did it and could not say so:
// that is read back before anything is done again. So is a call whose context is over before anything was done. A call whose context ends while
// its command is being decided or committed is told CodeUnknown: the command goes on without it, and the same request id finds its outcome.
// What a step did is kept and committed when the store is there again. The same request
// id, or the same answer, gets the same result however often it comes.
//
// With Config.Eager at its default, the step that a start, an answer or a message leads to begins while that is
// still being committed. If the store then refuses it, since another caller was faster or the store failed,
// effects of Do that the step had begun have happened outside. They are not recorded: the thread goes on with
// the effects of what is stored, which have the same keys. A warning in the program's log names those that
// were not recorded. Use Once, or an Eager below zero, for what must not be done on a request that is refused.
//
// # Several engines
//
// Any number of processes may have an engine on one store. A running thread has a lease: who drives it, and until when. The others answer,
// pause and cancel it all the same, and the driver sees that within [Config.Poll]. A lease names the engine and its
// process, whatever their Owner is. When it is over, or the store knows that the process died ([runtime.Presence]), the next engine takes the
// thread with a higher fence, and only then runs its steps. What the former one still tries to commit is
// refused by the fence, and dropped. An engine that lacks the machine of a frame takes answers and leaves the steps to those that have it.
//
// A lease is over when its time is, and it was not renewed while another engine watched it: for a quarter of a
// lease or twice Config.Poll, whichever is more, and no longer than a lease. One that ends later than any that is
// made now, since the clock has gone back, is over when it was watched for as long as a lease lasts. So a clock that
// jumps takes no thread from an engine that is alive, and keeps none for a dead one. Deadlines do follow the clock:
// when it jumps forward they come early, and when it goes back they come late, and an answer until then is in time.
//
// # Closing
//
// [Engine.Close] begins no step any more, refuses new calls with CodeUnavailable, and waits for the steps that run. At the end of its context
// their contexts are cancelled, and those that do not heed that are left behind. What they did is committed, their leases are given back,
// and the next engine goes on at once. A process that is killed instead loses what was not committed, and nothing else.
package thread
