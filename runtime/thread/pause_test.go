package thread_test

import (
	"context"
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
)

// workers is a family of two children that are in the middle of their step, each between two
// effects.
func (r *rig) workers(running chan<- int, free []chan struct{}) []thread.Machine {
	return []thread.Machine{family("worker", 0, 1),
		thread.Turns("worker", func(ctx context.Context, n int) (string, error) {
			if _, err := thread.Do(ctx, "first", r.did.effect("first")); err != nil {
				return "", err
			}
			if r.did.add("run", ""); r.did.of("run") <= len(free) {
				running <- n
				select {
				case <-free[n]:
				case <-ctx.Done():
					r.did.add("cut", "")
					return "", ctx.Err()
				}
			}
			if _, err := thread.Do(ctx, "second", r.did.effect("second")); err != nil {
				return "", err
			}
			return "ok", nil
		})}
}

func TestEscapeWaitsForTheSafePointOfEveryStep(t *testing.T) {
	onBoth(t, func(r *rig) {
		running, free := make(chan int, 2), []chan struct{}{make(chan struct{}),
			make(chan struct{})}
		r.with(r.workers(running, free)...)
		th, err := r.e.Start(r.ctx, thread.Begin{Machine: "family"})
		require.NoError(r, err)
		<-running
		<-running
		escape := func(mode, want string) {
			r.Helper()
			ack, err := r.e.Escape(r.ctx, th.ID, mode, "ann", "look at this")
			require.NoError(r, err)
			assert.Equal(r, want, ack)
		}
		escape(thread.EscapeSafe, thread.AckRequested)
		escape(thread.EscapeSafe, thread.AckPending)
		close(free[0])
		synctest.Wait()
		th = r.load(th.ID)
		assert.False(r, th.Paused(), "a sibling still runs")
		assert.Equal(r, thread.StatusRunning, th.Status())
		assert.Zero(r, r.did.of("second"), "the effect behind the safe point does not begin")
		close(free[1])
		th = r.rest(th.ID)
		assert.True(r, th.Paused())
		assert.Zero(r, r.did.of("cut"), "nothing was cut")
		escape(thread.EscapeNow, thread.AckPending)
		i := r.asked(th, thread.KindUserEscape)
		assert.Contains(r, string(i.Payload), "look at this")
		r.restart()
		r.done(r.say(i, `"continue"`), `["child 0: \"ok\"","child 1: \"ok\""]`)
		assert.Equal(r, 2, r.did.of("first"))
		assert.Equal(r, 2, r.did.of("second"))
	})
}

func TestEscapeNowCutsAndComesAfterSafe(t *testing.T) {
	onBoth(t, func(r *rig) {
		running, free := make(chan int, 2), []chan struct{}{make(chan struct{}),
			make(chan struct{})}
		r.with(r.workers(running, free)...)
		th, err := r.e.Start(r.ctx, thread.Begin{Machine: "family"})
		require.NoError(r, err)
		<-running
		<-running
		_, err = r.e.Escape(r.ctx, th.ID, thread.EscapeSafe, "ann", "")
		require.NoError(r, err)
		synctest.Wait()
		assert.Zero(r, r.did.of("cut"))
		ack, err := r.e.Escape(r.ctx, th.ID, thread.EscapeNow, "ann", "")
		require.NoError(r, err)
		assert.Equal(r, thread.AckPending, ack)
		th = r.rest(th.ID)
		assert.Equal(r, 2, r.did.of("cut"))
		assert.Empty(r, r.log(th.ID, thread.EntryFailed), "to be paused is no failure")
		r.done(r.say(r.asked(th, thread.KindUserEscape), `"continue"`),
			`["child 0: \"ok\"","child 1: \"ok\""]`)
		assert.Equal(r, 2, r.did.of("first"), "what was done stays done")
		_, err = r.e.Escape(r.ctx, th.ID, "gently", "ann", "")
		assert.Equal(r, runtime.CodeInvalid, runtime.CodeOf(err))
	})
}

func TestAnswersToAnEscape(t *testing.T) {
	scene(t, func(r *rig) {
		r.with(thread.TakesChanges(
			thread.Func("planner", func(ctx context.Context, _ any) (string, error) {
				if err := thread.SetContext(ctx,
					map[string]any{"completed_steps": 2, "total_steps": 3}); err != nil {
					return "", err
				}
				if text, is := thread.Modification(ctx); is {
					r.did.add("modified "+text, "")
					return "changed: " + text, nil
				}
				return thread.Ask[string](ctx, "which", thread.Question{})
			})))
		pause := func() *thread.Interrupt {
			th := r.start("planner", nil)
			_, err := r.e.Escape(r.ctx, th.ID, thread.EscapeSafe, "ann", "")
			require.NoError(r, err)
			r.next()
			return r.asked(r.load(th.ID), thread.KindUserEscape)
		}
		i := pause()
		assert.JSONEq(r, `{"completed_steps":2,"total_steps":3}`, string(i.Context),
			"it carries the plan")
		th := r.say(i, `"status"`)
		assert.Equal(r, i.ID, r.asked(th, thread.KindUserEscape).ID,
			"asked for its status it stays paused")
		status := r.log(th.ID, thread.EntryMessage)
		require.Len(r, status, 1)
		assert.JSONEq(r, string(i.Context), string(status[0].Value))
		r.done(r.say(i, `{"choice":"modify","text":"skip step 3"}`), `"changed: skip step 3"`)
		assert.Equal(r, 1, r.did.of("modified skip step 3"))
		assert.Len(r, r.log(th.ID, thread.EntryModified), 1)

		for _, unchanged := range []string{`"continue"`, `{"choice":"modify","text":"  "}`,
			`"modify"`} {
			th = r.say(pause(), unchanged)
			r.asked(th, "which")
			assert.Nil(r, th.Modify)
		}
		assert.Equal(r, thread.StatusCancelled, r.say(pause(), `"cancel"`).Status())
		i = pause()
		r.refused(runtime.CodeInvalid, thread.Answer{Interrupt: i.ID, Value: value(`"retry"`)})
		r.refused(runtime.CodeInvalid,
			thread.Answer{Interrupt: i.ID, Value: value(`{"choice":"modify","txt":"x"}`)})
		_, err := r.e.Answer(r.ctx, "", thread.Answer{Interrupt: i.ID, Text: "Continue.",
			By: "ann"})
		require.NoError(r, err, "plain words do too")
	})
}

// TestModifyIsOfferedWhereItIsTaken: a machine that would throw a change away is not offered one,
// and an answer that gives one all the same is refused.
func TestModifyIsOfferedWhereItIsTaken(t *testing.T) {
	scene(t, func(r *rig) {
		asks := func(ctx context.Context, _ any) (string, error) {
			return thread.Ask[string](ctx, "which", thread.Question{})
		}
		r.with(thread.Func("plain", asks), thread.TakesChanges(thread.Turns("changing", asks)))
		for machine, offered := range map[string][]string{
			"plain": {"continue", "cancel", "status"}, "changing": {"continue", "modify", "cancel",
				"status"},
		} {
			th := r.start(machine, nil)
			_, err := r.e.Escape(r.ctx, th.ID, thread.EscapeSafe, "ann", "")
			require.NoError(r, err)
			r.next()
			i := r.asked(r.load(th.ID), thread.KindUserEscape)
			var got []string
			for _, c := range i.Choices {
				got = append(got, c.Label)
			}
			require.Equal(r, offered, got)
			if machine == "plain" {
				r.refused(runtime.CodeInvalid,
					thread.Answer{Interrupt: i.ID,
						Value: value(`{"choice":"modify","text":"faster"}`)})
				assert.Nil(r, r.load(th.ID).Modify)
			}
			r.asked(r.say(r.asked(r.load(th.ID), thread.KindUserEscape), `"continue"`), "which")
		}
	})
}

func TestModificationIsDeliveredExactlyOnce(t *testing.T) {
	scene(t, func(r *rig) {
		step := func(next thread.Transition) stepFunc {
			return func(ctx context.Context, a thread.Activation) (thread.Transition, error) {
				got := "none"
				if a.Modify != nil {
					got = *a.Modify
				}
				r.did.add(a.Frame.PC+" saw "+got, "")
				if a.Frame.PC == "" {
					if _, err := thread.Ask[bool](ctx, "go", thread.Question{}); err != nil {
						return thread.Transition{}, err
					}
				}
				return next, nil
			}
		}
		r.with(&staged{name: "line", steps: map[string]stepFunc{
			"": step(thread.Advance("two", nil)), "two": step(thread.Advance("three", nil)),
			"three": step(thread.Done(1)),
		}})
		th := r.start("line", nil)
		_, err := r.e.Escape(r.ctx, th.ID, thread.EscapeSafe, "ann", "")
		require.NoError(r, err)
		r.next()
		th = r.say(r.asked(r.load(th.ID), thread.KindUserEscape),
			`{"choice":"modify","text":"faster"}`)
		r.next()
		r.done(r.reply(th.ID, "go", `true`), `1`)
		assert.Equal(r, 2, r.did.of(" saw faster"), "for the step that it met, until that one ends")
		assert.Equal(r, 1, r.did.of("two saw none"))
		assert.Equal(r, 1, r.did.of("three saw none"))
		assert.Len(r, r.log(th.ID, thread.EntryModified), 1)
	})
}

func TestCancelWhileAStepRuns(t *testing.T) {
	t.Parallel()
	for _, heeds := range []bool{true, false} {
		onCancel := "a handler that ignores it"
		if heeds {
			onCancel = "a handler that heeds it"
		}
		t.Run(onCancel, func(t *testing.T) {
			onBoth(t, func(r *rig) {
				running, free := make(chan struct{}), make(chan struct{})
				r.with(thread.Func("worker", func(ctx context.Context, _ any) (string, error) {
					if _, err := thread.Do(ctx, "before", r.did.effect("before")); err != nil {
						return "", err
					}
					close(running)
					if heeds {
						<-ctx.Done()
						return "", ctx.Err()
					}
					<-free
					r.nothingBegins(ctx)
					return "finished", nil
				}))
				th, err := r.e.Start(r.ctx, thread.Begin{Machine: "worker"})
				require.NoError(r, err)
				<-running
				th, err = r.e.Cancel(r.ctx, th.ID, "ann", "enough")
				require.NoError(r, err)
				assert.Equal(r, thread.StatusCancelled, th.Status())
				assert.Equal(r, "enough", th.Failure.Text)
				close(free) // at once: nothing waits until the step is given up
				r.pass(2 * time.Second)
				after := r.load(th.ID)
				assert.Equal(r, thread.StatusCancelled, after.Status(),
					"what it still does has no effect")
				assert.Nil(r, after.Result)
				assert.Zero(r, r.did.of("begun"))
				rows := r.log(th.ID)
				assert.Equal(r, thread.EntryOver, rows[len(rows)-1].Type,
					"and nothing is said behind the end")
				assert.Len(r, r.log(th.ID, thread.EntryEffect), 1, "the log says what was done")
				_, err = r.e.Cancel(r.ctx, th.ID, "ann", "")
				assert.Equal(r, runtime.CodeNotWaiting, runtime.CodeOf(err))
			})
		})
	}
}

func TestPauseHoldsAStepThatIgnoresIt(t *testing.T) {
	onBoth(t, func(r *rig) {
		running, free := make(chan struct{}), make(chan struct{})
		defer close(free)
		r.with(thread.Func("worker", func(context.Context, any) (json.RawMessage, error) {
			if r.did.add("run", ""); r.did.of("run") == 1 {
				close(running)
				<-free
			}
			return value(`"done"`), nil
		}))
		th, err := r.e.Start(r.ctx, thread.Begin{Machine: "worker"})
		require.NoError(r, err)
		<-running
		_, err = r.e.Escape(r.ctx, th.ID, thread.EscapeNow, "ann", "")
		require.NoError(r, err)
		th = r.rest(th.ID)
		assert.True(r, th.Paused(), "the engine goes on without it")
		r.done(r.say(r.asked(th, thread.KindUserEscape), `"continue"`), `"done"`)
	})
}

// A step that returns what cannot be done has failed: it has taken no modification, and said
// nothing.
func TestAnIllegalTransitionTakesNothing(t *testing.T) {
	t.Parallel()
	for name, bad := range map[string]func() thread.Transition{
		"none": func() thread.Transition { return thread.Transition{} },
		"a machine that is unknown": func() thread.Transition {
			return thread.Call("", nil, thread.Spawned{Machine: "nobody"})
		},
		"a jump to one": func() thread.Transition {
			return thread.Jump(thread.Spawned{Machine: "nobody"})
		},
		"a kind that is unknown": func() thread.Transition {
			return thread.Asks("", nil, thread.Question{Name: "q", Kind: "nobody's"})
		},
		"locals that are no JSON": func() thread.Transition {
			return thread.Advance("", func() {})
		},
		"an input that is no JSON": func() thread.Transition {
			return thread.Call("", nil, thread.Spawned{Machine: "line", Input: func() {}})
		},
		"a jump with one": func() thread.Transition {
			return thread.Jump(thread.Spawned{Machine: "line", Input: func() {}})
		},
	} {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(r *rig) {
				r.cfg.Kinds = thread.DefaultKinds()
				r.cfg.Kinds[2].Retry = nil
				r.with(&staged{name: "line",
					steps: map[string]stepFunc{"": func(ctx context.Context, a thread.Activation) (
						thread.Transition, error) {
						if _, err := thread.Ask[bool](ctx, "go", thread.Question{}); err != nil {
							return thread.Transition{}, err
						}
						said := func(c *thread.Change) {
							c.Add(thread.Entry{Type: thread.EntryMessage, Name: "said"})
						}
						if string(a.Frame.Input) != "1" {
							return bad().First(said).Also(said), nil
						}
						return thread.Done(a.Modify).First(said), nil
					}}})
				th := r.start("line", nil)
				_, err := r.e.Escape(r.ctx, th.ID, thread.EscapeSafe, "ann", "")
				require.NoError(r, err)
				r.say(r.asked(r.rest(th.ID), thread.KindUserEscape),
					`{"choice":"modify","text":"faster"}`)
				failed := r.reply(th.ID, "go", "true")
				i := r.asked(failed, thread.KindSystemError)
				assert.Empty(r, r.log(th.ID, thread.EntryMessage, thread.EntryModified), "%s",
					i.Text)
				th = r.say(i, `{"choice":"edit","input":1}`)
				r.done(r.reply(th.ID, "go", "true"), `"faster"`)
				assert.Len(r, r.log(th.ID, thread.EntryMessage), 1)
			})
		})
	}
}
