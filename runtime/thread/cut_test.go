package thread_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
)

// shape is what a test compares of a log.
func shape(rows []thread.Entry) []string {
	out := make([]string, len(rows))
	for n, e := range rows {
		out[n] = string(e.Type) + " " + e.Name + " " + e.State
	}
	return out
}

// What a step did and said before its thread was cancelled stands before the end. What it is doing
// then ends behind it, and is in the log as an effect that was; it has no further messages.
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
		assert.Equal(r, []string{"started  ", "entered  ", "effect say/hello done",
			"message hello ", "over  cancelled", "effect call done"}, shape(r.log(th.ID)))
	})
}

// What no commit took when another process ended the thread is told of as far as it was done. It
// was not said: no step could say it later.
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
		assert.Equal(r, []string{"started  ", "entered  ", "over  cancelled", "effect call done"},
			shape(r.log(th.ID)))
	})
}

// A step whose frame ended below another one begins nothing either: its sibling ended the thread.
func TestNothingBeginsAfterASiblingEndedTheThread(t *testing.T) {
	onBoth(t, func(r *rig) {
		running, free := make(chan struct{}), make(chan struct{})
		r.with(family("worker", "ends", "goes on"),
			&staged{name: "worker", steps: map[string]stepFunc{
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
		assert.Equal(r, thread.StatusCancelled, r.rest(th.ID).Status())
		close(free)
		r.pass(2 * time.Second)
		assert.Zero(r, r.did.of("begun"))
	})
}

// A step that was kept from something, and does not care, has not come to its end: what stopped it
// may never be stored.
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
			return thread.Do(ctx, "call", func(context.Context, string) (string, error) {
				return "called", nil
			})
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

// slowly is a store that takes its time with the first commit that says an effect begins.
type slowly struct {
	thread.Store
	takes   time.Duration
	writing chan struct{} // closed when it is at it
	did     atomic.Bool
}

func (s *slowly) Commit(ctx context.Context, changes ...*thread.Change) error {
	begins := func(e thread.Entry) bool { return e.State == thread.EffectIntended }
	if slices.ContainsFunc(changes[0].Entries, begins) && !s.did.Swap(true) {
		close(s.writing)
		<-time.After(s.takes)
	}
	return s.Store.Commit(ctx, changes...)
}

// A step comes to its end while the store writes down that an effect of Once begins. The effect
// does not begin then. Soon after the step was cut it says so itself, and no person need be asked;
// a step that was given up, or has returned, adds no further messages, and a person is asked.
func TestOnceDoesNotBeginInAStepThatIsOver(t *testing.T) {
	t.Parallel()
	const limit = time.Minute
	for name, c := range map[string]struct {
		takes  time.Duration
		leaves bool
	}{
		"it goes on":      {takes: limit - time.Second/2},
		"it was cut":      {takes: limit + time.Second/2},
		"it was given up": {takes: limit + 2*time.Second},
		"it has returned": {takes: time.Second, leaves: true},
	} {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(r *rig) {
				r.cfg.StepTimeout = limit
				store := &slowly{Store: r.store, takes: c.takes, writing: make(chan struct{})}
				once := func(ctx context.Context) (string, error) {
					// it is not told of the end of its time
					return thread.Once(context.WithoutCancel(ctx), "pay", r.did.effect("pay"))
				}
				r.machines = []thread.Machine{thread.Func("payer",
					func(ctx context.Context, _ any) (string, error) {
						if r.did.add("run", ""); r.did.of("run") > 1 || name == "it goes on" {
							return once(ctx)
						}
						ended := make(chan struct{})
						go func() {
							defer close(ended)
							_, err := once(ctx)
							assert.ErrorIs(r, err, thread.ErrWaiting)
							if !c.leaves { // else the next run may have paid already
								assert.Zero(r, r.did.of("pay"))
							}
						}()
						if c.leaves {
							<-store.writing
							return "paid, they said", nil
						}
						<-ended
						return "", thread.ErrWaiting
					})}
				r.e = r.engine(store, r.cfg, r.machines...)
				th, err := r.e.Start(r.ctx, thread.Begin{Machine: "payer"})
				require.NoError(r, err)
				r.pass(2 * limit)
				th = r.rest(th.ID)
				for _, e := range r.log(th.ID, thread.EntryAsked) {
					assert.NotContains(r, e.Name, "in_doubt",
						"an effect that has not begun is not asked about")
				}
				require.Equal(r, 1, r.did.of("pay"))
				r.done(th, fmt.Sprintf("%q", r.did.keys["pay"][0]))
			})
		})
	}
}
