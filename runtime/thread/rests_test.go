package thread_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
)

// panicky is an observer with a defect: in the method of that name.
type panicky struct{ in string }

func (p panicky) Step(ctx context.Context, _ thread.Activation) (context.Context,
	func(thread.StepEnd)) {
	p.at("step")
	return context.WithValue(ctx, observedKey{}, "panicky"), func(thread.StepEnd) { p.at("end") }
}

func (p panicky) Committed(*thread.Thread, []thread.Entry, []*thread.Interrupt) {
	p.at("committed")
}

func (p panicky) at(place string) {
	if p.in == place {
		panic("in the observer")
	}
}

func TestPanicOfAnObserverEndsNothing(t *testing.T) {
	t.Parallel()
	for _, in := range []string{"step", "end", "committed"} {
		t.Run(in, func(t *testing.T) {
			scene(t, func(r *rig) {
				l, sees := &logged{}, &observed{}
				r.cfg.Log, r.cfg.Observers = l.to(slog.LevelError),
					[]thread.Observer{panicky{in}, sees, panicky{in}}
				r.with(r.asker(thread.Question{}))
				th := r.start("asker", nil)
				r.next()
				r.done(r.reply(th.ID, "which", `"a"`), `"a"`)
				r.pass(time.Millisecond) // the end of a step is told after its commit
				lines := l.lines(r.T, "observer panicked")
				require.NotEmpty(r, lines)
				assert.Contains(r, lines[0]["stack"], "panicky")
				sees.mu.Lock()
				defer sees.mu.Unlock()
				assert.Len(r, sees.ends, 2, "the others are told all the same")
				assert.NotEmpty(r, sees.committed)
			})
		})
	}
}

func TestOpenRefusesANilStore(t *testing.T) {
	t.Parallel()
	_, err := thread.Open(t.Context(), nil, thread.Config{})
	require.Equal(t, runtime.CodeInvalid, runtime.CodeOf(err))
}

func TestWaitNeverReturnsBetweenTwoTries(t *testing.T) {
	scene(t, func(r *rig) {
		r.with(thread.Func("weak", func(ctx context.Context, name string) (string, error) {
			if r.did.add(name, ""); r.did.of(name) < 3 {
				return "", errors.New("down")
			}
			return thread.Ask[string](ctx, "which", thread.Question{})
		}))
		th := r.tried("weak", "try")
		r.next()
		th = r.rest(th.ID)
		require.Len(r, th.Open, 1)
		assert.Equal(r, "which", th.Open[0].Name)
		assert.Equal(r, 3, r.did.of("try"))

		down := r.tried("weak", "again")
		ctx, cancel := context.WithTimeout(r.ctx, time.Millisecond)
		defer cancel()
		_, err := r.e.Wait(ctx, down.ID)
		require.Equal(r, runtime.CodeUnavailable, runtime.CodeOf(err))
	})
}

// A handler that makes an error of its own of ErrWaiting does not fail a step that a person paused.
func TestErrorOfAPausedStepIsNoFailure(t *testing.T) {
	onBoth(t, func(r *rig) {
		begun, free := make(chan struct{}, 1), make(chan struct{})
		r.with(thread.Func("worker", func(ctx context.Context, _ any) (string, error) {
			if r.did.of("work") == 0 {
				begun <- struct{}{}
				<-free
			}
			done, err := thread.Do(ctx, "work", r.did.effect("work"))
			if err != nil {
				return "", thread.Permanent(errors.New("no luck"))
			}
			return done, nil
		}))
		th, err := r.e.Start(r.ctx, thread.Begin{Machine: "worker"})
		require.NoError(r, err)
		<-begun
		_, err = r.e.Escape(r.ctx, th.ID, thread.EscapeSafe, "ann", "")
		require.NoError(r, err)
		close(free)
		i := r.asked(r.rest(th.ID), thread.KindUserEscape)
		require.Empty(r, r.log(th.ID, thread.EntryFailed))
		assert.Equal(r, thread.StatusDone, r.say(i, `"continue"`).Status())
		assert.Equal(r, 1, r.did.of("work"))
	})
}
