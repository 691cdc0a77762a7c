//go:build unix

package river

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
)

// A process without workers answers, and those with workers run the steps.
func TestStepsRunInTheProcessesWithWorkers(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.process("worker", 4)
	r.process("worker", 4)
	var ids []string
	for range 20 {
		ids = append(ids, r.start(input{Questions: 2}))
	}
	for _, id := range ids {
		r.answer(id, "q0", "1")
		r.answer(id, "q1", "2")
	}
	r.done(ids...)
	assert.Equal(t, 20, r.effects("first"))
	assert.Equal(t, 20, r.effects("last"))
	assert.Zero(t, r.count(`SELECT count(*) FROM ledger WHERE process LIKE 'api%'`))
	assert.Equal(t, 2, r.count(`SELECT count(DISTINCT process) FROM ledger`))
	r.until("River completes the jobs", func() bool {
		return r.count(`SELECT count(*) FROM river_job WHERE state <> 'completed'`) == 0
	})
	assert.LessOrEqual(t, r.count(`SELECT count(*) FROM river_job`), 60, "one for each time")
}

// Thread and job are one commit, and the job is what River's own client would insert.
func TestJobIsCommittedWithItsThread(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for _, id := range []string{"plain", `a "quoted" \ one`, "größer/日本", "tab\t<&>"} {
		_, err := r.api.engine.Start(r.ctx, thread.Begin{ID: id, Machine: "work"})
		if runtime.CodeOf(err) == runtime.CodeInvalid {
			continue // ids that the engine does not take
		}
		require.NoError(t, err)
		require.Equal(t, 1, r.count(`SELECT count(*) FROM river_job WHERE args ->> 'thread' = $1
			AND state = 'available' AND queue = 'routegen' AND attempt = 0`, id), id)
		had, err := r.api.disp.River().Insert(r.ctx,
			Job{Thread: id, Fence: r.load(id).Lease.Fence}, nil)
		require.NoError(t, err)
		assert.True(t, had.UniqueSkippedAsDuplicate, id)
		assert.Equal(t, 25, had.Job.MaxAttempts)
		other, err := r.api.disp.River().Insert(r.ctx, Job{Thread: id, Fence: 1 << 40}, nil)
		require.NoError(t, err)
		assert.False(t, other.UniqueSkippedAsDuplicate)
		assert.Equal(t, had.Job.UniqueStates, other.Job.UniqueStates)
	}
	n, err := r.api.store.RepairJobs(r.ctx)
	require.NoError(t, err)
	assert.Zero(t, n, "all are there")

	// a commit that is refused has no job
	before := r.count(`SELECT count(*) FROM river_job`)
	stale := thread.NewChange(r.load("plain"), &thread.Rules{}, time.Now())
	stale.Before, stale.Thread.Lease.Fence = 7, 99
	require.Equal(t, runtime.CodeConflict, runtime.CodeOf(r.api.store.Commit(r.ctx, stale)))
	fresh := thread.NewChange(r.load("plain"), &thread.Rules{}, time.Now())
	fresh.Thread.ID = "z" // comes after "plain" in the call
	fresh.Before, fresh.Thread.Version = 0, 1
	stale.Thread.ID = "plain"
	require.Equal(t, runtime.CodeConflict, runtime.CodeOf(r.api.store.Commit(r.ctx, fresh, stale)))
	require.Equal(t, before, r.count(`SELECT count(*) FROM river_job`))
}

// Workers hear of new jobs at once, and not only when they look.
func TestWorkersAreNotifiedOfJobs(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.process("worker", 2)
	r.done(r.start(input{})) // the worker listens by then
	began := time.Now()
	const rounds = 10
	for range rounds {
		r.done(r.start(input{}))
	}
	assert.Less(t, time.Since(began), rounds*400*time.Millisecond,
		"a look each second would take half a second at the median")
}

// What is due is done by one of the processes with workers, and leads to a job.
func TestDeadlinesComeInTheSweep(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	id := r.start(input{Questions: 1, Limit: 300 * time.Millisecond})
	r.process("worker", 2)
	r.process("worker", 2)
	r.done(id)
	require.Equal(t, 1, r.effects("last"))
	require.Equal(t, 2, r.count(`SELECT count(*) FROM river_job`))
}

func TestWrongConfigIsRefused(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for name, c := range map[string]struct {
		cfg  Config
		code runtime.Code
	}{
		"no tables":        {Config{Schema: "nowhere"}, runtime.CodeIncompatible},
		"too many workers": {Config{Schema: r.db.Schema, Workers: 20_000}, runtime.CodeInvalid},
		"negative":         {Config{Schema: r.db.Schema, Workers: -1}, runtime.CodeInvalid},
	} {
		_, err := Open(r.ctx, r.api.store, r.api.engine, c.cfg)
		assert.Equal(t, c.code, runtime.CodeOf(err), "%s: %v", name, err)
	}
	alone, err := thread.Open(r.ctx, r.api.store, thread.Config{})
	require.NoError(t, err)
	defer func() { _ = alone.Close(context.WithoutCancel(r.ctx)) }()
	_, err = Open(r.ctx, r.api.store, alone, Config{Schema: r.db.Schema})
	assert.Equal(t, runtime.CodeInvalid, runtime.CodeOf(err))
	require.NoError(t, Migrate(r.ctx, r.db.URL, r.db.Schema), "again")
}
