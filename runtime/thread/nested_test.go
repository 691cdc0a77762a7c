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

func TestWhatWasSaidBeforeTheQuestionIsStoredOnce(t *testing.T) {
	scene(t, func(r *rig) {
		r.with(thread.Func("speaker", func(ctx context.Context, _ any) (string, error) {
			if err := thread.Say(ctx, "hello", "hello"); err != nil {
				return "", err
			}
			return thread.Ask[string](ctx, "which", thread.Question{})
		}))
		th := r.start("speaker", nil)
		r.next()
		assert.Len(r, r.log(th.ID, thread.EntryMessage), 1)
		r.reply(th.ID, "which", `"a"`)
		r.next()
		assert.Len(r, r.log(th.ID, thread.EntryMessage), 1)
	})
}

func TestEveryNodeMayStop(t *testing.T) {
	scene(t, func(r *rig) {
		stop := func(next string) func(context.Context, thread.Activation) (thread.Transition,
			error) {
			return func(ctx context.Context, _ thread.Activation) (thread.Transition, error) {
				if _, err := thread.Ask[string](ctx, "go on", thread.Question{}); err != nil {
					return thread.Transition{}, err
				}
				if next == "" {
					return thread.Done("end"), nil
				}
				return thread.Advance(next, nil), nil
			}
		}
		r.with(&staged{name: "line", steps: map[string]func(context.Context, thread.Activation) (
			thread.Transition, error){
			"": stop("two"), "two": stop("three"), "three": stop(""),
		}})
		th := r.start("line", nil)
		for _, pc := range []string{"", "two", "three"} {
			assert.Equal(r, pc, r.asked(th, "go on").Step)
			r.next()
			th = r.reply(th.ID, "go on", `"yes"`)
		}
		r.done(th, `"end"`)
	})
}

func TestRunningThreadWithoutAnEngineIsTakenUp(t *testing.T) {
	onBoth(t, func(r *rig) {
		running, dead := make(chan struct{}), make(chan struct{})
		r.with(thread.Func("worker", func(context.Context, any) (string, error) {
			if r.did.add("run", ""); r.did.of("run") == 1 {
				close(running)
				<-dead
			}
			return "done", nil
		}))
		th, err := r.e.Start(r.ctx, thread.Begin{Machine: "worker"})
		require.NoError(r, err)
		<-running
		r.way.cut.Store(true)
		r.cfg.Owner = "another process"
		// over a store that knows no processes
		r.e = r.engine(plainStore{r.store}, r.cfg, r.machines...)
		defer close(dead)
		assert.Equal(r, thread.StatusRunning, r.load(th.ID).Status(),
			"the lease of the dead one is respected")
		r.pass(29 * time.Second)
		require.Equal(r, thread.StatusRunning, r.load(th.ID).Status())
		r.pass(3 * time.Second)
		r.done(r.rest(th.ID), `"done"`)
	})
}

func TestTwoLevelsDeep(t *testing.T) {
	scene(t, func(r *rig) {
		r.with(r.nested())
		th := r.start("nested", 2)
		r.next()
		th = r.reply(th.ID, "deep", `"x"`)
		assert.Equal(r, thread.StatusIdle, th.Status())
		for _, what := range []string{"enter 2", "enter 1", "enter 0", "up 1", "up 2"} {
			assert.Equal(r, 1, r.did.of(what), what)
		}
	})
}

func TestWhoHearsOfAQuestionFindsItStored(t *testing.T) {
	onBoth(t, func(r *rig) {
		r.with(r.asker(thread.Question{}))
		answered := make(chan error, 1)
		go func() {
			for e, err := range r.e.Subscribe(r.ctx,
				thread.Filter{Types: []thread.EntryType{thread.EntryAsked}}, 0) {
				if err == nil {
					_, err = r.e.Answer(r.ctx, e.Thread,
						thread.Answer{Interrupt: e.Interrupt, Value: value(`"at once"`)})
				}
				answered <- err
				return
			}
		}()
		th, err := r.e.Start(r.ctx, thread.Begin{Machine: "asker"})
		require.NoError(r, err)
		require.NoError(r, <-answered)
		r.done(r.rest(th.ID), `"at once"`)
	})
}

func TestEveryWayOutLeavesAThreadThatGoesOn(t *testing.T) {
	t.Parallel()
	ways := map[string]struct {
		leave func(r *rig, id string) // makes the running step end
		back  func(r *rig, id string) // what brings it back
	}{
		"pause": {func(r *rig, id string) {
			r.Helper()
			_, err := r.e.Escape(r.ctx, id, thread.EscapeNow, "ann", "")
			require.NoError(r, err)
		}, func(r *rig, id string) {
			r.Helper()
			r.reply(id, thread.KindUserEscape, `"continue"`)
		}},
		"time limit": {func(r *rig, _ string) { r.Helper(); r.pass(5 * time.Minute) },
			func(r *rig, id string) { r.Helper(); r.pass(10 * time.Second); r.rest(id) }},
		"close": {func(r *rig, _ string) {
			r.Helper()
			ctx, cancel := context.WithCancel(r.ctx)
			cancel()
			require.NoError(r, r.e.Close(ctx))
			r.open()
		}, func(*rig, string) {}},
		"crash": {func(r *rig, _ string) { r.Helper(); r.restart() }, func(*rig, string) {}},
	}
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(r *rig) {
				running := make(chan struct{})
				first := true
				r.with(thread.Func("worker", func(ctx context.Context, _ any) (string, error) {
					if _, err := thread.Do(ctx, "before", r.did.effect("before")); err != nil {
						return "", err
					}
					if first {
						first = false
						close(running)
						<-ctx.Done()
						return "", ctx.Err()
					}
					return "done", nil
				}))
				th, err := r.e.Start(r.ctx, thread.Begin{Machine: "worker"})
				require.NoError(r, err)
				<-running
				r.pass(time.Second) // what it has done is committed meanwhile
				way.leave(r, th.ID)
				r.rest(th.ID)
				way.back(r, th.ID)
				r.done(r.rest(th.ID), `"done"`)
				assert.Equal(r, 1, r.did.of("before"))
			})
		})
	}
	t.Run("panic", func(t *testing.T) {
		onBoth(t, func(r *rig) {
			r.with(thread.Func("worker", func(context.Context, any) (string, error) {
				if r.did.add("try", ""); r.did.of("try") == 1 {
					var nobody *thread.Thread
					return nobody.ID, nil // panics
				}
				return "done", nil
			}))
			th := r.tried("worker", nil)
			require.Equal(r, thread.StatusWaiting, th.Status())
			failed := r.log(th.ID, thread.EntryFailed)
			require.Len(r, failed, 1)
			assert.Equal(r, runtime.CodeInternal, failed[0].Failure.Code)
			r.pass(2 * time.Second)
			r.done(r.rest(th.ID), `"done"`)
		})
	})
}

func TestParentAndChildrenAreStoredTogether(t *testing.T) {
	scene(t, func(r *rig) {
		r.with(&staged{name: "parent", steps: map[string]func(context.Context, thread.Activation) (
			thread.Transition, error){
			"": func(context.Context, thread.Activation) (thread.Transition, error) {
				return thread.Call("end", nil, thread.Spawned{Machine: "asker", Input: 1},
					thread.Spawned{Machine: "nobody", Input: 2}), nil
			},
		}}, r.asker(thread.Question{}))
		th := r.start("parent", nil)
		r.next()
		th = r.load(th.ID)
		require.Len(r, th.Frames, 1,
			"a child that nothing could run is refused, and its sibling with it")
		assert.Empty(r, th.Frames[0].Children)
		i := r.asked(th, thread.KindSystemError)
		assert.Contains(r, string(i.Payload), `"recoverable":false`)
	})
}

func TestNoLayerTakesAQuestionForAnError(t *testing.T) {
	t.Parallel()
	layers := map[string]func(ask func() (string, error)) (string, error){
		"swallows it": func(ask func() (string, error)) (string, error) {
			got, err := ask()
			if err != nil {
				return "fallback", nil //nolint:nilerr // what the test is about
			}
			return got, nil
		},
		"rewrites it as text": func(ask func() (string, error)) (string, error) {
			got, err := ask()
			if err != nil {
				return "", errors.New("tool failed: " + err.Error())
			}
			return got, nil
		},
		"replaces it": func(ask func() (string, error)) (string, error) {
			got, err := ask()
			if err != nil {
				return "", thread.Permanent(errors.New("no luck"))
			}
			return got, nil
		},
		"tries again": func(ask func() (string, error)) (got string, err error) {
			for range 3 {
				if got, err = ask(); err == nil {
					return got, nil
				}
			}
			return "", err
		},
	}
	for name, layer := range layers {
		t.Run(name, func(t *testing.T) {
			scene(t, func(r *rig) {
				r.with(thread.Func("wrapped", func(ctx context.Context, _ any) (string, error) {
					return layer(func() (string, error) {
						got, err := thread.Ask[string](ctx, "which", thread.Question{})
						if err != nil { // an effect behind the question does nothing either
							_, behind := thread.Do(ctx, "behind", r.did.effect("behind"))
							assert.ErrorIs(r, behind, thread.ErrWaiting)
						}
						return got, err
					})
				}))
				th := r.start("wrapped", nil)
				require.Equal(r, thread.StatusWaiting, th.Status())
				require.Len(r, th.Open, 1)
				assert.Empty(r, r.log(th.ID, thread.EntryFailed))
				r.next()
				r.done(r.reply(th.ID, "which", `"a"`), `"a"`)
				assert.Zero(r, r.did.of("behind"))
			})
		})
	}
}

func TestThreeLevelsDeep(t *testing.T) {
	scene(t, func(r *rig) {
		r.with(r.nested())
		th := r.start("nested", 3)
		r.next()
		th = r.reply(th.ID, "deep", `"x"`)
		assert.Equal(r, thread.StatusIdle, th.Status())
		assert.Equal(r, 1, r.did.of("enter 0"))
	})
}

// The pause waits for two steps that run below, in the middle of their work, when its thread is
// cancelled.
func TestCancelledWhilePausing(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{thread.EscapeSafe, thread.EscapeNow} {
		t.Run(mode, func(t *testing.T) {
			onBoth(t, func(r *rig) {
				running, free := make(chan struct{}, 2), make(chan struct{})
				r.with(family2("family"), family("worker", 0, 1),
					thread.Func("worker", func(ctx context.Context, _ int) (string, error) {
						if _, err := thread.Do(ctx, "before", r.did.effect("before")); err != nil {
							return "", err
						}
						running <- struct{}{}
						<-free // it does not heed its context
						r.nothingBegins(ctx)
						return "ok", nil
					}))
				th, err := r.e.Start(r.ctx, thread.Begin{Machine: "family2"})
				require.NoError(r, err)
				<-running
				<-running
				_, err = r.e.Escape(r.ctx, th.ID, mode, "ann", "")
				require.NoError(r, err)
				pausing := r.load(th.ID)
				require.NotNil(r, pausing.Control)
				require.False(r, pausing.Control.Paused, "it waits for what runs")
				over, err := r.e.Cancel(r.ctx, th.ID, "ann", "enough")
				require.NoError(r, err)
				close(free)
				assert.Equal(r, thread.StatusCancelled, over.Status())
				assert.Empty(r, over.Frames)
				r.pass(2 * time.Second)
				assert.Zero(r, r.did.of("begun"))
				assert.Empty(r, r.log(th.ID, thread.EntryPaused, thread.EntryAsked,
					thread.EntryReturned), "neither the pause nor the steps came to their end")
				rows := r.log(th.ID)
				assert.Equal(r, thread.EntryOver, rows[len(rows)-1].Type)
			})
		})
	}
}
