package thread_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
)

// shape is what a test compares of a log.
func shape(rows []runtime.Entry) []string {
	out := make([]string, len(rows))
	for n, e := range rows {
		out[n] = string(e.Type) + " " + e.Name + " " + e.State
	}
	return out
}

// What a step did and said before its thread was cancelled stands before the end. What it is doing then ends behind it, and is in the log as an
// effect that was; it says nothing any more.
func TestTheLogOfACancelledStep(t *testing.T) {
	onBoth(t, func(r *rig) {
		running, free := make(chan struct{}), make(chan struct{})
		r.with(thread.Func("worker", func(ctx context.Context, _ any) (string, error) {
			assert.NoError(r, thread.Say(ctx, "hello", "I begin"))
			_, err := thread.Do(ctx, "call", func(context.Context, string) (string, error) {
				close(running)
				<-free
				return "called", nil
			})
			assert.NoError(r, err, "it began in time, and its end is known")
			assert.ErrorIs(r, thread.Say(ctx, "bye", "I have called"), thread.ErrWaiting)
			return "", err
		}))
		th, err := r.e.Start(r.ctx, thread.Begin{Machine: "worker"})
		require.NoError(r, err)
		<-running
		_, err = r.e.Cancel(r.ctx, th.ID, "ann", "")
		require.NoError(r, err)
		close(free)
		r.pass(2 * time.Second)
		assert.Equal(r, []string{"started  ", "entered  ", "effect say/hello done", "message hello ", "over  cancelled", "effect call done"}, shape(r.log(th.ID)))
	})
}

// What no commit took when another process ended the thread is told of as far as it was done. It was not said: nobody could say it any more.
func TestTheLogOfAStepThatAnotherProcessCancels(t *testing.T) {
	onBoth(t, func(r *rig) {
		running := make(chan struct{})
		machine := thread.Func("worker", func(ctx context.Context, _ any) (string, error) {
			<-time.After(time.Second) // its beginning is committed
			if _, err := thread.Do(ctx, "call", r.did.effect("call")); err != nil {
				return "", err
			}
			assert.NoError(r, thread.Say(ctx, "hello", "I have called"))
			close(running)
			<-ctx.Done()
			return "", ctx.Err()
		})
		r.with(machine)
		th, err := r.e.Start(r.ctx, thread.Begin{Machine: "worker"})
		require.NoError(r, err)
		<-running
		_, err = r.another(machine).Cancel(r.ctx, th.ID, "ann", "")
		require.NoError(r, err)
		r.pass(5 * time.Second)
		assert.Equal(r, []string{"started  ", "entered  ", "over  cancelled", "effect call done"}, shape(r.log(th.ID)))
	})
}

// A step whose frame ended below another one begins nothing either: its sibling ended the thread.
func TestNothingBeginsAfterASiblingEndedTheThread(t *testing.T) {
	onBoth(t, func(r *rig) {
		running, free := make(chan struct{}), make(chan struct{})
		r.with(family("worker", "ends", "goes on"), &staged{name: "worker", steps: map[string]stepFunc{
			"": func(ctx context.Context, a thread.Activation) (thread.Transition, error) {
				if string(a.Frame.Input) == `"ends"` {
					<-running
					return thread.Cancel(errors.New("no use")), nil
				}
				close(running)
				<-free
				r.nothingBegins(ctx)
				return thread.Return("ok"), nil
			},
		}})
		th, err := r.e.Start(r.ctx, thread.Begin{Machine: "family"})
		require.NoError(r, err)
		assert.Equal(r, runtime.StatusCancelled, r.rest(th.ID).Status())
		close(free)
		r.pass(2 * time.Second)
		assert.Zero(r, r.did.of("begun"))
	})
}

// A step that was kept from something, and does not care, has not come to its end: what stopped it may never be stored.
func TestAStepThatWasKeptFromSomethingRunsAgain(t *testing.T) {
	onBoth(t, func(r *rig) {
		running, free := make(chan struct{}), make(chan struct{})
		r.with(thread.Func("worker", func(ctx context.Context, _ any) (string, error) {
			if r.did.add("run", ""); r.did.of("run") == 1 {
				close(running)
				<-free
				_, err := thread.Do(ctx, "call", r.did.effect("call"))
				assert.ErrorIs(r, err, thread.ErrWaiting)
				return "done without it", nil
			}
			return thread.Do(ctx, "call", func(context.Context, string) (string, error) { return "called", nil })
		}))
		th, err := r.e.Start(r.ctx, thread.Begin{Machine: "worker"})
		require.NoError(r, err)
		<-running
		r.way.fails.Store(1)
		_, err = r.e.Cancel(r.ctx, th.ID, "ann", "")
		require.Equal(r, runtime.CodeUnavailable, runtime.CodeOf(err), "nothing came of it")
		close(free)
		r.done(r.rest(th.ID), `"called"`)
		assert.Zero(r, r.did.of("call"), "the run that was cut began nothing")
	})
}

// A closing engine cuts its steps: they begin nothing more, and run again elsewhere.
func TestNothingBeginsWhenTheEngineCloses(t *testing.T) {
	onBoth(t, func(r *rig) {
		running := make(chan struct{})
		r.with(thread.Func("worker", func(ctx context.Context, _ any) (string, error) {
			if r.did.add("run", ""); r.did.of("run") == 1 {
				close(running)
				<-ctx.Done()
				<-time.After(time.Second / 2) // the engine has heard of it
				r.nothingBegins(ctx)
				return "done without it", nil
			}
			return "done", nil
		}))
		th, err := r.e.Start(r.ctx, thread.Begin{Machine: "worker"})
		require.NoError(r, err)
		<-running
		ctx, cancel := context.WithCancel(r.ctx)
		cancel()
		require.NoError(r, r.e.Close(ctx))
		assert.Zero(r, r.did.of("begun"))
		r.open()
		r.done(r.rest(th.ID), `"done"`)
	})
}
