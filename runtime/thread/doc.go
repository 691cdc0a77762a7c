// Package thread is the durable engine. It runs threads that stop for a person, survive the end of
// their process, and go on from where they were. To begin, see [Func], [Do] and [Ask]: an ordinary
// function that pauses.
//
// # The model
//
// A thread is one stored record with a tree of frames. A [Machine] runs one step of a frame and
// returns a [Transition], which the engine commits together with the effects, questions, messages
// and times of that step. What is not committed is not part of the thread.
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
// A frame that waits is a row in the store and needs no goroutine. A thread is running while some
// frame is ready, waiting while none is, idle between two turns, and over when it is done, failed,
// cancelled or handed off.
//
//   - A step waits for the answers to all its questions; then it runs again from its top.
//   - A frame waits for all the children it called. Siblings run, ask and fail at the same time,
//     and the parent gets their results in the order of the calls.
//   - A less urgent question waits behind a more urgent one, or is superseded by it, as its kind
//     says.
//   - A requested pause waits until each running step reaches a safe point: its next effect, or its
//     end. With [EscapeNow] the contexts of the steps are cancelled as well. No step runs until the
//     pause is answered.
//   - A call returns as soon as its own change is committed. It does not wait for steps that run as
//     a result.
//
// # What runs again, and what does not
//
// A step runs again after an answer, a failed try, a pause, or a crash. Then:
//
//	Do    returns its stored result. The result is committed at most 100 ms after fn returned; if
//	      the process dies before that, fn runs again with the same key: at least once.
//	Once  returns its stored result. It commits that it begins before it calls fn, so fn is not
//	      called again without an order: if its outcome is unknown, a person is asked.
//	Ask   returns the answer, found by name, in the same visit of the same step, if the question
//	      is the same.
//	Say   does nothing: the message is in the outbox once.
//
// Code between these calls runs again, so it must have no effects of its own. What a run did is
// committed with the end of its step, or at most 100 ms after it happened, with the time at which
// it happened. A run belongs to the record that it began on: the same step and visit, with the same
// input, locals, answers and results of children. When the record has moved on, the frame has
// ended, the time limit has passed, or another engine has taken the thread, the run is cancelled:
// its later effects are not performed and return [ErrWaiting], and a result after the limit is a
// failure.
//
// # Order and durability
//
// A commit is a compare-and-set on the version of the thread: all of it or nothing, and it is
// announced only once it is on disk. The entries of a thread are numbered without gaps.
// [Engine.Subscribe] yields them in the order of their commits; a reader that comes back with its
// last cursor misses nothing. Commits of different threads do not wait for one another. A batch of
// answers is one commit over several threads.
//
// If the store refuses, callers get CodeUnavailable and nothing of theirs is stored. If the store
// committed but could not say so, the engine reads that back before it does anything again. A call
// whose context has ended already gets CodeUnavailable too. A call whose context ends while its
// command is decided or committed gets CodeUnknown: the command goes on without it, and the same
// request id finds its outcome. What a step did is kept, and committed when the store is available
// again. The same request id, or the same answer, gets the same result however often it comes.
//
// With the default [Config.CommitDelay], the step that a start, an answer or a message leads to
// begins while that is being committed. If the store then refuses it, because another caller came
// first or the store failed, effects of Do that the step had begun have happened outside. They are
// not recorded: the thread goes on with the effects of what is stored, which have the same keys,
// and a warning in the log names those that were not recorded. Use Once, or a negative CommitDelay,
// for what must not be done on a request that is refused.
//
// # Several engines
//
// Any number of processes may have an engine on one store. A running thread has a lease: which
// engine drives it, and until when. The other engines still answer, pause and cancel it, and the
// driving engine sees that within [Config.Poll]. Followers and [Engine.Wait] see what another
// engine commits within Config.Poll too, or when the store tells of it ([Feed]). A lease names the
// engine and its process, whatever their Owner is. When the lease ends, or the store knows that the
// process died ([Presence]), the next engine takes the thread with a higher fence and then runs its
// steps. Commits of the former engine are refused by the fence, and dropped. An engine that lacks
// the machine of a frame takes answers and leaves the steps to engines that have it.
//
// A lease has ended when its time is over and it was not renewed while another engine watched it:
// for a quarter of a lease or twice Config.Poll, whichever is more, and no longer than a lease. If
// the clock has gone back, a lease may end later than any lease made now; it has ended when it was
// watched unchanged for as long as a lease lasts. So a clock that jumps takes no thread from a live
// engine, and keeps none for a dead one. Deadlines do follow the clock: if it jumps forward they
// come early, and if it goes back they come late, and an answer until then is in time.
//
// # Closing
//
// [Engine.Close] starts no step, refuses new calls with CodeUnavailable, and waits for the steps
// that run. When its context ends, their contexts are cancelled; steps that do not return within a
// second are left behind. What they did is committed, their leases are given back, and the next
// engine goes on at once. A process that is killed loses only what was not committed.
package thread
