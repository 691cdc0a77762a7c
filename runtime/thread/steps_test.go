package thread_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
)

// slow is a machine whose steps have a limit of their own.
type slow struct {
	thread.Machine
	limit time.Duration
}

func (s slow) Timeout(*thread.Frame) time.Duration { return s.limit }

func TestStepTimeLimit(t *testing.T) {
	t.Parallel()
	for name, step := range map[string]func(r *rig, ctx context.Context) (string, error){
		"it heeds its context": func(_ *rig, ctx context.Context) (string, error) {
			<-ctx.Done()
			return "", errors.New("some error of its own")
		},
		"it has half of a result": func(_ *rig, ctx context.Context) (string, error) {
			<-ctx.Done()
			return "half", nil
		},
		"it has a result a moment later": func(_ *rig, ctx context.Context) (string, error) {
			<-ctx.Done()
			<-time.After(time.Second / 2)
			return "half", nil
		},
		"it goes on": func(r *rig, ctx context.Context) (string, error) {
			<-ctx.Done()
			r.nothingBegins(ctx)
			return "done without it", nil
		},
		"it asks": func(r *rig, ctx context.Context) (string, error) {
			<-ctx.Done()
			_, err := thread.Ask[string](ctx, "ask behind the end", thread.Question{})
			assert.ErrorIs(r, err, thread.ErrWaiting)
			return "", err
		},
		"it goes on after it was given up": func(r *rig, ctx context.Context) (string, error) {
			<-time.After(20 * time.Second)
			r.nothingBegins(ctx)
			return "too late", nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(r *rig) {
				r.cfg.Kinds = thread.DefaultKinds()
				r.cfg.Kinds[2].Retry = nil
				r.with(slow{thread.Func("slow", func(ctx context.Context, _ any) (string, error) {
					if _, err := thread.Do(ctx, "before", r.did.effect("before")); err != nil {
						return "", err
					}
					return step(r, ctx)
				}), 10 * time.Second})
				began := time.Now()
				th := r.start("slow", nil)
				i := r.asked(th, thread.KindSystemError)
				assert.Contains(r, string(i.Payload), "it ran longer than 10s")
				assert.Contains(r, string(i.Payload), `"code":"unavailable"`)
				assert.LessOrEqual(r, time.Since(began), 12*time.Second)
				require.NotNil(r, th.Frames[0].Effect("before"), "what it had done is kept")
				r.pass(20 * time.Second)
				assert.Zero(r, r.did.of("begun"))
				assert.Len(r, r.log(th.ID, thread.EntryAsked), 1,
					"a person is asked about the failure, and nothing else")
				assert.Equal(r, th.Version, r.load(th.ID).Version,
					"what was given up does nothing any more")
			})
		})
	}
}

// nothingBegins tries all that a step can begin, where it may begin nothing.
func (r *rig) nothingBegins(ctx context.Context) {
	r.Helper()
	_, err := thread.Do(ctx, "do behind the end", r.did.effect("begun"))
	assert.ErrorIs(r, err, thread.ErrWaiting)
	_, err = thread.Once(ctx, "once behind the end", r.did.effect("begun"))
	assert.ErrorIs(r, err, thread.ErrWaiting)
	assert.ErrorIs(r, thread.Say(ctx, "say behind the end", 1), thread.ErrWaiting)
	_, err = thread.Ask[string](ctx, "ask behind the end", thread.Question{})
	assert.ErrorIs(r, err, thread.ErrWaiting)
}

func TestFailedStepIsTriedAgainLaterAndLater(t *testing.T) {
	scene(t, func(r *rig) {
		r.cfg.Kinds = thread.DefaultKinds()
		r.cfg.Kinds[2].Retry = &runtime.Retry{Attempts: 4, Backoff: "exponential",
			First: 10 * time.Second, Max: 30 * time.Second}
		var at []time.Duration
		began := time.Now()
		r.with(thread.Func("weak", func(ctx context.Context, _ any) (string, error) {
			at = append(at, time.Since(began).Truncate(5*time.Second))
			if _, err := thread.Do(ctx, "good", r.did.effect("good")); err != nil {
				return "", err
			}
			return thread.Do(ctx, "bad", func(context.Context, string) (string, error) {
				return "", errors.New("down")
			})
		}))
		th := r.tried("weak", nil)
		for range 3 {
			assert.Equal(r, thread.StatusWaiting, r.load(th.ID).Status())
			r.next()
			r.pass(35 * time.Second)
		}
		r.asked(r.rest(th.ID), thread.KindSystemError)
		assert.Equal(r, 1, r.did.of("good"), "what succeeded is not done again")
		require.Len(r, at, 4)
		if r.mode == goesOn {
			assert.Equal(r, []time.Duration{0, 10 * time.Second, 30 * time.Second, time.Minute}, at)
		}
	})
}

func TestWhatNoOtherTryMendsIsTriedAgainByOrderOnly(t *testing.T) {
	t.Parallel()
	permanent := map[string]error{
		"marked":       thread.Permanent(errors.New("no such account")),
		"invalid":      &runtime.Error{Code: runtime.CodeInvalid},
		"forbidden":    &runtime.Error{Code: runtime.CodeForbidden},
		"incompatible": fmt.Errorf("wrapped: %w", &runtime.Error{Code: runtime.CodeIncompatible}),
	}
	for name, err := range permanent {
		t.Run(name, func(t *testing.T) {
			scene(t, func(r *rig) {
				r.with(thread.Func("broken", func(context.Context, any) (string, error) {
					r.did.add("try", "")
					return "", err
				}))
				i := r.asked(r.start("broken", nil), thread.KindSystemError)
				assert.Equal(r, 1, r.did.of("try"))
				r.refused(runtime.CodeInvalid,
					thread.Answer{Interrupt: i.ID, Value: value(`"reroute"`)})
				r.next()
				i = r.asked(r.say(i, `"retry"`), thread.KindSystemError)
				assert.Equal(r, 2, r.did.of("try"))
				assert.Equal(r, thread.StatusCancelled, r.say(i, `"abort"`).Status())
			})
		})
	}
}

func TestOnceIsInDoubtWhenItsProcessDied(t *testing.T) {
	t.Parallel()
	orders := map[string]struct {
		order, result string
		happened      int
	}{
		"done":  {`{"choice":"done","value":"by hand"}`, `"by hand"`, 1},
		"run":   {`"run"`, `"ran"`, 2},
		"abort": {`"abort"`, ``, 1},
	}
	for name, c := range orders {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(r *rig) {
				running, dead := make(chan struct{}), make(chan struct{})
				defer close(dead)
				r.with(thread.Func("payer", func(ctx context.Context, _ any) (string, error) {
					return thread.Once(ctx, "pay", func(_ context.Context, key string) (string,
						error) {
						if r.did.add("pay", key); r.did.of("pay") == 1 {
							close(running)
							<-dead
						}
						return "ran", nil
					})
				}))
				th, err := r.e.Start(r.ctx, thread.Begin{Machine: "payer"})
				require.NoError(r, err)
				<-running
				r.restart()
				th = r.rest(th.ID)
				i := r.asked(th, "in_doubt/pay")
				assert.Equal(r, thread.KindSystemError, i.Kind)
				assert.Contains(r, string(i.Payload), r.did.keys["pay"][0])
				r.restart()
				assert.Equal(r, 1, r.did.of("pay"), "it is never run again silently")
				th = r.say(i, c.order)
				if c.result == "" {
					assert.Equal(r, thread.StatusCancelled, th.Status())
				} else {
					r.done(th, c.result)
				}
				assert.Equal(r, c.happened, r.did.of("pay"))
				for _, key := range r.did.keys["pay"] {
					assert.Equal(r, r.did.keys["pay"][0], key)
				}
			})
		})
	}
}

func TestOnceIsInDoubtWhenItsContextWasCut(t *testing.T) {
	onBoth(t, func(r *rig) {
		running := make(chan struct{})
		r.with(thread.Func("payer", func(ctx context.Context, _ any) (string, error) {
			return thread.Once(ctx, "pay", func(ctx context.Context, key string) (string, error) {
				if r.did.add("pay", key); r.did.of("pay") == 1 {
					close(running)
					<-ctx.Done()
					return "", ctx.Err()
				}
				return "paid", nil
			})
		}))
		th, err := r.e.Start(r.ctx, thread.Begin{Machine: "payer"})
		require.NoError(r, err)
		<-running
		_, err = r.e.Escape(r.ctx, th.ID, thread.EscapeNow, "ann", "")
		require.NoError(r, err)
		th = r.rest(th.ID)
		th = r.say(r.asked(th, thread.KindUserEscape), `"continue"`)
		i := r.asked(th, "in_doubt/pay")
		assert.Equal(r, 1, r.did.of("pay"), "also after a pause it is not run again silently")
		r.done(r.say(i, `"run"`), `"paid"`)
		assert.Equal(r, 2, r.did.of("pay"))
	})
}

func TestOnceThatSaysHowItEndedIsInNoDoubt(t *testing.T) {
	scene(t, func(r *rig) {
		r.with(thread.Func("payer", func(ctx context.Context, code runtime.Code) (string, error) {
			return thread.Once(ctx, "pay", func(_ context.Context, key string) (string, error) {
				if r.did.add("pay", key); r.did.of("pay") == 1 {
					return "", &runtime.Error{Code: code, Op: "pay"}
				}
				return "paid", nil
			})
		}))
		th := r.start("payer", runtime.CodeUnavailable)
		assert.Empty(r, th.Open, "a refusal is an end: it runs again by itself")
		r.next()
		r.pass(5 * time.Second)
		r.done(r.rest(th.ID), `"paid"`)
		r.did = tally{}
		th = r.start("payer", runtime.CodeInDoubt)
		r.asked(th, "in_doubt/pay")
	})
}

func TestEffectsThatAreRefused(t *testing.T) {
	scene(t, func(r *rig) {
		r.with(thread.Func("curious", func(ctx context.Context, _ any) (string, error) {
			_, err := thread.Do(ctx, "outer", func(inner context.Context, _ string) (string,
				error) {
				_, err := thread.Do(inner, "nested", r.did.effect("nested"))
				assert.Equal(r, runtime.CodeInvalid, runtime.CodeOf(err))
				_, err = thread.Ask[string](inner, "nested", thread.Question{})
				assert.Equal(r, runtime.CodeInvalid, runtime.CodeOf(err))
				assert.Equal(r, runtime.CodeInvalid, runtime.CodeOf(thread.Say(inner, "nested", 1)))
				return "", nil
			})
			require.NoError(r, err)
			_, err = thread.Do(ctx, "", r.did.effect("nameless"))
			assert.Equal(r, runtime.CodeInvalid, runtime.CodeOf(err))
			_, err = thread.Do(ctx, "no JSON", func(context.Context, string) (func(), error) {
				return func() {}, nil
			})
			assert.Equal(r, runtime.CodeInvalid, runtime.CodeOf(err))
			_, err = thread.AskAll(ctx, thread.Question{Name: "x", Kind: thread.KindSystemError})
			assert.Equal(r, runtime.CodeInvalid, runtime.CodeOf(err))
			_, err = thread.AskAll(ctx, thread.Question{})
			assert.Equal(r, runtime.CodeInvalid, runtime.CodeOf(err))
			return "", nil
		}), thread.Func("liar", func(context.Context, any) (string, error) {
			return "", thread.ErrWaiting
		}))
		r.done(r.start("curious", nil), `""`)
		assert.Zero(r, r.did.of("nested"))
		_, err := thread.Do(r.ctx, "outside", r.did.effect("outside"))
		assert.Equal(r, runtime.CodeInvalid, runtime.CodeOf(err))
		th := r.tried("liar", nil)
		assert.Len(r, r.log(th.ID, thread.EntryFailed), 1,
			"who says it waits, and was not told to, has failed")
	})
}

func TestEffectsOfOneStepAtTheSameTime(t *testing.T) {
	scene(t, func(r *rig) {
		r.with(thread.Func("many", func(ctx context.Context, _ any) (int, error) {
			var all sync.WaitGroup
			for n := range 20 {
				all.Go(func() {
					_, err := thread.Do(ctx, fmt.Sprint("do ", n), r.did.effect("do"))
					assert.NoError(r, err)
					_, err = thread.Once(ctx, fmt.Sprint("once ", n), r.did.effect("once"))
					assert.NoError(r, err)
				})
			}
			all.Wait()
			return thread.Ask[int](ctx, "which", thread.Question{})
		}))
		th := r.start("many", nil)
		r.next()
		r.done(r.reply(th.ID, "which", `1`), `1`)
		assert.Equal(r, 20, r.did.of("do"))
		assert.Equal(r, 20, r.did.of("once"))
	})
}

// switching is a machine whose failed steps can be sent elsewhere.
type switching struct{ *staged }

func (switching) Targets(*thread.Frame) []string { return []string{"by hand", "later"} }

func TestFailedStepIsSentElsewhere(t *testing.T) {
	scene(t, func(r *rig) {
		r.with(switching{&staged{name: "switching", steps: map[string]stepFunc{
			"": func(_ context.Context, a thread.Activation) (thread.Transition, error) {
				if a.Frame.RouteTo != "" {
					return thread.Done(a.Frame.RouteTo), nil
				}
				return thread.Transition{}, thread.Permanent(errors.New("no line"))
			},
		}}})
		i := r.asked(r.start("switching", nil), thread.KindSystemError)
		assert.Equal(r, []string{"by hand", "later"}, i.Targets)
		r.refused(runtime.CodeNoRoute,
			thread.Answer{Interrupt: i.ID,
				Value: value(`{"choice":"reroute","target":"nowhere"}`)})
		r.next()
		r.done(r.say(i, `{"choice":"reroute","target":"by hand"}`), `"by hand"`)
	})
}
