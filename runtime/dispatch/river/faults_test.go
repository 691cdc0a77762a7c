//go:build unix

package river

import (
	"encoding/json"
	"fmt"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
)

// A process is killed in the middle of a run, before its first commit and between two of them:
// another one goes on when the lease is over.
func TestWorkerIsKilled(t *testing.T) {
	t.Parallel()
	for _, place := range []string{atBegin, inDo, inOnce, atEnd} {
		t.Run(place, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			c := r.spawn(2)
			id := r.start(input{Holds: place})
			r.arrived(1)
			pause(200 * time.Millisecond) // what was done before is committed after 100 ms
			c.kill()
			r.letGo("")
			r.process("next", 2)
			if place == inOnce {
				r.until("a person is asked", func() bool {
					return len(r.load(id).OpenInterrupts()) == 1
				})
				i := r.load(id).OpenInterrupts()[0]
				assert.Equal(t, thread.KindSystemError, i.Kind)
				_, err := r.api.engine.Answer(r.ctx, id, thread.Answer{Interrupt: i.ID,
					Value: json.RawMessage(`{"choice":"done","value":"it happened"}`), By: "bob"})
				require.NoError(t, err)
			}
			r.done(id)
			assert.Equal(t, 1, r.effects("last"))
			want := 1
			if place == inDo {
				want = 2
			}
			assert.Equal(t, want, r.effects("first"))
			assert.Equal(t, 1, r.count(`SELECT count(DISTINCT key) FROM ledger
				WHERE effect = 'first'`), "it is done again under its key")
		})
	}
}

// A process is killed when it has fetched a job and not taken its thread yet.
func TestWorkerIsKilledBeforeItTakesTheThread(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	id, young := r.start(input{}), r.start(input{})
	fetched := `UPDATE river_job SET state = 'running', attempt = 1, attempted_by = '{dead}',
		attempted_at = now() - $2::interval WHERE args ->> 'thread' = $1`
	r.exec(fetched, id, "11 seconds")
	r.exec(fetched, young, "1 second")
	n, err := r.api.store.RepairJobs(r.ctx)
	require.NoError(t, err)
	require.EqualValues(t, 1, n, "the worker of the other one may still take it")
	r.process("worker", 2)
	r.done(id, young)
	assert.Equal(t, 2, r.effects("last"))
	assert.Equal(t, 2, r.count(`SELECT count(*) FROM river_job`))
}

// A process died after the commit with which the thread came to rest, and before River's own: the
// job is worked again, and does nothing.
func TestJobOfAThreadAtRestDoesNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.process("worker", 2)
	id := r.start(input{Questions: 1})
	r.answer(id, "q0", "1")
	r.done(id)
	completed := func() bool {
		return r.count(`SELECT count(*) FROM river_job WHERE state <> 'completed'`) == 0
	}
	r.until("River completes the jobs", completed)
	before := r.load(id).Version
	r.exec(`UPDATE river_job SET state = 'available', finalized_at = NULL`)
	r.until("they are worked again", completed)
	assert.Equal(t, 2, r.count(`SELECT min(attempt) FROM river_job`))
	assert.Equal(t, before, r.load(id).Version)
	assert.Equal(t, 1, r.effects("first"))
	assert.Equal(t, 1, r.effects("last"))
}

// A process is stopped for longer than its lease, and comes back in the middle of its step.
func TestStoppedWorkerComesBack(t *testing.T) {
	t.Parallel()
	for _, first := range []bool{true, false} {
		t.Run(fmt.Sprintf("before its successor has ended: %t", first), func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			c := r.spawn(1)
			id := r.start(input{Holds: atEnd})
			r.arrived(1)
			pause(200 * time.Millisecond)
			c.signal(syscall.SIGSTOP)
			next := r.process("next", 1)
			r.arrived(2)
			if first {
				r.letGo(c.name)
				c.signal(syscall.SIGCONT)
				pause(time.Second)
				require.Zero(t, r.effects("last"), "it has lost the thread")
			}
			r.letGo(next.ledger.by)
			r.done(id)
			r.letGo(c.name)
			c.signal(syscall.SIGCONT)
			pause(time.Second)
			assert.Equal(t, 1, r.effects("last"))
			assert.Equal(t, 1, r.effects("first"))
			assert.Equal(t, 1, r.count(`SELECT count(*) FROM ledger WHERE effect = 'last'
				AND process = $1`, next.ledger.by))
		})
	}
}

// A process stops in the middle of a sweep, and holds its lock.
func TestSweeperStopsInItsLock(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	pool, err := pgxpool.New(r.ctx, r.db.URL)
	require.NoError(t, err)
	defer pool.Close()
	tx, err := pool.Begin(r.ctx)
	require.NoError(t, err)
	require.NoError(t, r.api.disp.lockSweep(r.ctx, tx))
	began := time.Now()
	r.process("worker", 2)
	id := r.start(input{Questions: 1, Limit: 100 * time.Millisecond})
	pause(5 * time.Second)
	require.Equal(t, thread.StatusWaiting, r.load(id).Status(), "only one process sweeps")
	r.done(id)
	assert.Less(t, time.Since(began), 30*time.Second)
	assert.Error(t, tx.Commit(r.ctx), "the server has ended it")
}

// A person, or River, ends or deletes the job of a thread: before a worker has seen it, and while
// one runs it that is then killed.
func TestJobIsChangedByOthers(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]string{
		"completed": `UPDATE river_job SET state = 'completed', finalized_at = now()`,
		"discarded": `UPDATE river_job SET state = 'discarded', finalized_at = now()`,
		"cancelled": `UPDATE river_job SET state = 'cancelled', finalized_at = now()`,
		"deleted":   `DELETE FROM river_job`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			waits := r.start(input{})
			r.exec(change)
			c := r.spawn(4)
			r.done(waits)

			runs := r.start(input{Holds: atEnd})
			r.arrived(1)
			r.exec(change)
			pause(200 * time.Millisecond)
			require.NotEmpty(t, r.load(runs).Lease.Owner, "it goes on")
			c.kill()
			r.letGo("")
			r.process("next", 2)
			r.done(runs)
			assert.Equal(t, 2, r.effects("last"))
			assert.Equal(t, 2, r.effects("first"))
		})
	}
}

// A job is cancelled by River's own call while its thread runs.
func TestJobIsCancelledWhileItsThreadRuns(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.process("worker", 2)
	id := r.start(input{Holds: atEnd})
	r.arrived(1)
	var job int64
	require.NoError(t, r.api.ledger.pool.QueryRow(r.ctx, `SELECT id FROM river_job`).Scan(&job))
	_, err := r.api.disp.River().JobCancel(r.ctx, job)
	require.NoError(t, err)
	r.until("the job ends", func() bool {
		return r.count(`SELECT count(*) FROM river_job WHERE state IN ('cancelled', 'completed')`) == 1
	})
	require.NotEmpty(t, r.load(id).Lease.Owner, "the thread goes on")
	r.letGo("")
	r.done(id)
	assert.Equal(t, 1, r.effects("arrived"))
	assert.Equal(t, 1, r.effects("last"))
}

// A thread has several jobs at once: one of them runs it.
func TestSeveralJobsOfOneThread(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	id := r.start(input{})
	r.exec(`INSERT INTO river_job(args, kind, max_attempts, queue)
		SELECT args, kind, max_attempts, queue FROM river_job, generate_series(1, 5)`)
	r.process("worker", 3)
	r.process("worker", 3)
	r.done(id)
	r.until("all jobs end", func() bool {
		return r.count(`SELECT count(*) FROM river_job WHERE state = 'completed'`) == 6
	})
	assert.Equal(t, 1, r.effects("first"))
	assert.Equal(t, 1, r.effects("last"))
}

// Answers come while the worker is about to bring the thread to rest, and just after that: each
// leads to the next question.
func TestAnswersRaceWithTheEndOfARun(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.process("worker", 4)
	r.process("worker", 4)
	var all sync.WaitGroup
	ids := make([]string, raceThreads)
	for n := range ids {
		ids[n] = r.start(input{Questions: raceQuestions})
		all.Go(func() {
			for q := range raceQuestions {
				for { // before it is asked, too: the thread keeps 64 such answers
					_, err := r.api.engine.Answer(r.ctx, ids[n], thread.Answer{
						Question: fmt.Sprintf("q%d", q), Value: json.RawMessage("1"), By: "bob"})
					if err == nil {
						break
					}
					if !assert.Equal(t, runtime.CodeConflict, runtime.CodeOf(err), "%v", err) {
						return
					}
					pause(time.Millisecond)
				}
			}
		})
	}
	all.Wait()
	r.done(ids...)
	assert.Equal(t, len(ids), r.effects("last"))
	n, err := r.api.store.RepairJobs(r.ctx)
	require.NoError(t, err)
	assert.Zero(t, n)
}

// Two processes take answers to one question at the same time.
func TestTwoProcessesAnswerAtOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	apis := []*process{r.api, r.process("api", 0)}
	r.process("worker", 4)
	for round := range 10 {
		same := round%2 == 0
		id := r.start(input{Questions: 1})
		r.until("it asks", func() bool { return len(r.load(id).OpenInterrupts()) == 1 })
		i := r.load(id).OpenInterrupts()[0].ID
		var both sync.WaitGroup
		errs := make([]error, len(apis))
		for n, api := range apis {
			both.Go(func() {
				value := "1"
				if !same {
					value = strconv.Itoa(n)
				}
				_, errs[n] = api.engine.Answer(r.ctx, id, thread.Answer{Interrupt: i,
					Value: json.RawMessage(value), By: "bob"})
			})
		}
		both.Wait()
		codes := []runtime.Code{runtime.CodeOf(errs[0]), runtime.CodeOf(errs[1])}
		if same {
			assert.Equal(t, []runtime.Code{"", ""}, codes, "the same answer has the same result")
		} else {
			assert.ElementsMatch(t, []runtime.Code{"", runtime.CodeAlreadyAnswered}, codes)
		}
		r.done(id)
	}
	assert.Equal(t, 10, r.effects("last"))
}

// A worker whose program lacks the machine of a thread leaves it to one that has it.
func TestWorkerOfAnotherProgramLeavesTheThread(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	old := r.config("old", 2)
	old.NoMachine = true
	r.open(old, asIs)
	id := r.start(input{})
	snoozed := func() bool {
		return r.count(`SELECT count(*) FROM river_job WHERE metadata ->> 'snoozes' = '1'
			AND attempt = 0 AND state IN ('available', 'scheduled')`) == 1
	}
	r.until("it is left for later", snoozed)
	before := r.load(id)
	require.EqualValues(t, 1, before.Version)
	r.process("new", 2)
	r.done(id)
	assert.Equal(t, 1, r.effects("last"))
	assert.Zero(t, r.count(`SELECT count(*) FROM river_job WHERE state = 'discarded'`))
}

// A step that ends its process is not run for ever.
func TestStepThatKillsItsProcess(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	id := r.start(input{Holds: dies})
	for r.effects("died") < 5 {
		<-r.spawn(1).ended
	}
	r.process("next", 1)
	r.until("a person is asked", func() bool { return len(r.load(id).OpenInterrupts()) == 1 })
	i := r.load(id).OpenInterrupts()[0]
	assert.Equal(t, thread.KindSystemError, i.Kind)
	assert.Contains(t, i.Text, "five processes in a row died")
	assert.Equal(t, 5, r.effects("died"))
}

// A process that stops gives its threads back within its time, with a job.
func TestStoppingWorkerGivesItsThreadsBack(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	c := r.spawn(1)
	id := r.start(input{Holds: atEnd})
	r.arrived(1)
	first := r.load(id).Lease.Fence
	c.signal(syscall.SIGTERM)
	began := time.Now()
	require.NoError(t, <-c.ended)
	assert.Less(t, time.Since(began), 8*time.Second)
	back := r.load(id)
	assert.Equal(t, thread.StatusRunning, back.Status())
	assert.Empty(t, back.Lease.Owner)
	assert.Equal(t, first, back.Lease.Fence)
	assert.Equal(t, 1, r.count(`SELECT count(*) FROM river_job WHERE args ->> 'fence' = $1
		AND state = 'available'`, strconv.FormatInt(first, 10)), "a job is there for it")
	r.letGo("")
	r.process("next", 1)
	r.done(id)
	assert.Equal(t, 1, r.effects("last"))
}
