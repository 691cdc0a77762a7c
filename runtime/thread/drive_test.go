package thread_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
)

// An engine that only answers leaves steps to the others on its store.
func TestAnswerOnlyRunsNoStep(t *testing.T) {
	onBoth(t, func(r *rig) {
		cfg := r.cfg
		cfg.AnswerOnly = true
		asker := r.asker(thread.Question{})
		api := r.engine(r.store, cfg, asker)
		th, err := api.Start(r.ctx, thread.Begin{Machine: "asker", User: "ann"})
		require.NoError(r, err)
		r.pass(time.Hour)
		th = r.load(th.ID)
		require.Equal(r, thread.StatusRunning, th.Status())
		require.Empty(r, th.Lease.Owner)
		require.EqualValues(r, 1, th.Version, "it is looked at by nothing")
		first := th.Lease.Fence
		require.Positive(r, first)

		r.with(asker)
		i := r.asked(r.rest(th.ID), "which")
		_, err = api.AnswerAll(r.ctx,
			thread.Answer{Interrupt: i.ID, Value: value(`"blue"`), By: "bob"})
		require.NoError(r, err)
		r.done(r.rest(th.ID), `"blue"`)
		assert.Equal(r, 1, r.did.of("after"))
		assert.Greater(r, r.load(th.ID).Lease.Fence, first)

		forked, err := api.Fork(r.ctx, th.ID, r.log(th.ID, thread.EntryAsked)[0].Seq, "", "ann")
		require.NoError(r, err)
		i = r.asked(r.rest(forked.Thread.ID), "which")
		_, err = api.Answer(r.ctx, "", thread.Answer{Interrupt: i.ID, Value: value(`"red"`)})
		require.NoError(r, err)
		r.done(r.rest(forked.Thread.ID), `"red"`)
	})
}

// waiting returns the fence with which a thread waits for an engine.
func (r *rig) waiting(id string) int64 {
	r.Helper()
	t := r.load(id)
	require.Equal(r, thread.StatusRunning, t.Status())
	require.Empty(r, t.Lease.Owner)
	return t.Lease.Fence
}

func TestDriveRunsAThreadUntilItRests(t *testing.T) {
	onBoth(t, func(r *rig) {
		r.cfg.AnswerOnly = true
		r.with(r.asker(thread.Question{}))
		th, err := r.e.Start(r.ctx, thread.Begin{Machine: "asker", User: "ann"})
		require.NoError(r, err)
		first := r.waiting(th.ID)
		require.NoError(r, r.e.Drive(r.ctx, "another", first), "there is no such thread")
		require.NoError(r, r.e.Drive(r.ctx, th.ID, first+1), "it waits with another fence")
		require.Equal(r, first, r.waiting(th.ID))
		require.NoError(r, r.e.Drive(r.ctx, th.ID, first))
		i := r.asked(r.load(th.ID), "which")
		require.NoError(r, r.e.Drive(r.ctx, th.ID, first), "it rests")

		_, err = r.e.Answer(r.ctx, "", thread.Answer{Interrupt: i.ID, Value: value(`"blue"`)})
		require.NoError(r, err)
		r.pass(time.Hour)
		second := r.waiting(th.ID)
		require.Greater(r, second, first)
		require.NoError(r, r.e.Drive(r.ctx, th.ID, first), "that was for the time before")
		require.Equal(r, second, r.waiting(th.ID))
		require.NoError(r, r.e.Drive(r.ctx, th.ID, second))
		r.done(r.load(th.ID), `"blue"`)
	})
}

// No fence is that of two times of waiting, also where no engine ran the thread in between.
func TestEachTimeOfWaitingHasItsFence(t *testing.T) {
	onBoth(t, func(r *rig) {
		r.cfg.AnswerOnly = true
		r.with(thread.Func("chat", func(_ context.Context, text string) (string, error) {
			return text, nil
		}))
		th, err := r.e.Start(r.ctx, thread.Begin{Machine: "chat", Input: "a", User: "ann"})
		require.NoError(r, err)
		before := r.waiting(th.ID)
		_, err = r.e.Escape(r.ctx, th.ID, thread.EscapeNow, "ann", "stop")
		require.NoError(r, err)
		require.Equal(r, before, r.waiting(th.ID), "it waits as before")
		require.NoError(r, r.e.Drive(r.ctx, th.ID, before))
		th = r.load(th.ID)
		require.True(r, th.Paused(), "a pause is announced by the engine that drives")
		_, err = r.e.Answer(r.ctx, "", thread.Answer{Interrupt: th.Control.Interrupt,
			Value: value(`{"choice":"continue"}`), By: "ann"})
		require.NoError(r, err)
		again := r.waiting(th.ID)
		require.Greater(r, again, before)
		require.NoError(r, r.e.Drive(r.ctx, th.ID, again))
		r.done(r.load(th.ID), `"a"`)
	})
}

// A thread whose process died waits for an engine again when its lease is over, and asks a person
// when that happens too often.
func TestStepWhoseProcessDiesIsNotRunForEver(t *testing.T) {
	onBoth(t, func(r *rig) {
		r.cfg.AnswerOnly = true
		deadly, healed := make(chan struct{}), false
		died := func(ctx context.Context, _ any) (string, error) {
			r.did.add("run", "")
			if healed {
				return "done", nil
			}
			<-deadly
			return "", ctx.Err()
		}
		defer close(deadly)
		r.with(thread.Func("deadly", died))
		sweeper := r.engine(plainStore{r.store}, r.cfg, thread.Func("deadly", died))
		th, err := r.e.Start(r.ctx, thread.Begin{Machine: "deadly", User: "ann"})
		require.NoError(r, err)
		for n := range 5 {
			fence := r.waiting(th.ID)
			go func() { _ = r.e.Drive(context.WithoutCancel(r.ctx), th.ID, fence) }()
			r.pass(time.Minute)
			require.Equal(r, n+1, r.did.of("run"))
			require.NoError(r, sweeper.RunDue(r.ctx))
			require.NotEmpty(r, r.load(th.ID).Lease.Owner, "its lease is renewed")
			r.restart()
			for range 14 {
				r.pass(time.Second)
				require.NoError(r, sweeper.RunDue(r.ctx))
			}
			require.NotEmpty(r, r.load(th.ID).Lease.Owner, "it may be renewed still")
			for range 20 {
				r.pass(time.Second)
				require.NoError(r, sweeper.RunDue(r.ctx))
			}
			require.Equal(r, n+1, r.load(th.ID).Lease.Takeovers)
		}
		require.NoError(r, r.e.Drive(r.ctx, th.ID, r.waiting(th.ID)))
		require.Equal(r, 5, r.did.of("run"))
		i := r.asked(r.load(th.ID), thread.KindSystemError)
		assert.Contains(r, i.Text, "died")
		healed = true
		_, err = r.e.Answer(r.ctx, "",
			thread.Answer{Interrupt: i.ID, Value: value(`{"choice":"retry"}`), By: "bob"})
		require.NoError(r, err)
		require.NoError(r, r.e.Drive(r.ctx, th.ID, r.waiting(th.ID)))
		r.done(r.load(th.ID), `"done"`)
	})
}

// What a program cannot run it leaves, and says so.
func TestDriveLeavesWhatItCannotRun(t *testing.T) {
	onBoth(t, func(r *rig) {
		r.cfg.AnswerOnly = true
		r.with(r.asker(thread.Question{}))
		th, err := r.e.Start(r.ctx, thread.Begin{Machine: "asker", User: "ann"})
		require.NoError(r, err)
		other := r.engine(r.store, r.cfg)
		fence := r.waiting(th.ID)
		require.Equal(r, runtime.CodeIncompatible,
			runtime.CodeOf(other.Drive(r.ctx, th.ID, fence)))
		require.NoError(r, r.e.Drive(r.ctx, th.ID, r.waiting(th.ID)))
		r.asked(r.load(th.ID), "which")

		require.NoError(r, r.e.Close(r.ctx))
		require.Equal(r, runtime.CodeUnavailable,
			runtime.CodeOf(r.e.Drive(r.ctx, th.ID, fence)))
	})
}

// A closing engine gives back what it drives.
func TestClosingEngineGivesBackWhatItDrives(t *testing.T) {
	onBoth(t, func(r *rig) {
		r.cfg.AnswerOnly = true
		stays := make(chan struct{})
		r.with(thread.Func("long", func(ctx context.Context, _ any) (string, error) {
			select {
			case <-ctx.Done():
				return "", ctx.Err()
			case <-stays:
				return "done", nil
			}
		}))
		th, err := r.e.Start(r.ctx, thread.Begin{Machine: "long", User: "ann"})
		require.NoError(r, err)
		first, ended := r.waiting(th.ID), make(chan error, 1)
		go func() { ended <- r.e.Drive(context.WithoutCancel(r.ctx), th.ID, first) }()
		r.pass(time.Second)
		ctx, cancel := context.WithTimeout(r.ctx, 10*time.Second)
		defer cancel()
		require.NoError(r, r.e.Close(ctx))
		require.NoError(r, <-ended)
		require.Greater(r, r.waiting(th.ID), first)
		close(stays)
		r.open()
		require.NoError(r, r.e.Drive(r.ctx, th.ID, r.waiting(th.ID)))
		r.done(r.load(th.ID), `"done"`)
	})
}
