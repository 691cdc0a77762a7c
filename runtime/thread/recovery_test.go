package thread_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
)

func TestDeadlineAndAnswerAtTheSameTime(t *testing.T) {
	t.Parallel()
	for _, early := range []time.Duration{0, time.Millisecond} {
		t.Run("answer "+early.String()+" before", func(t *testing.T) {
			onBoth(t, func(r *rig) {
				r.with(r.asker(thread.Question{Deadline: &runtime.Deadline{After: time.Minute,
					Then: "default", Answer: `"default"`}}))
				th := r.start("asker", nil)
				i := r.asked(th, "which")
				<-time.After(time.Until(i.Due) - early)
				_, err := r.e.Answer(r.ctx, th.ID,
					thread.Answer{Interrupt: i.ID, Value: value(`"person"`), By: "bob"})
				r.pass(time.Second)
				switch th = r.rest(th.ID); {
				case early > 0:
					require.NoError(r, err)
					r.done(th, `"person"`)
				default: // told so, by one of the two refusals
					assert.Contains(r, []runtime.Code{runtime.CodeExpired,
						runtime.CodeAlreadyAnswered}, runtime.CodeOf(err))
					r.done(th, `"default"`)
				}
				assert.Len(r, r.log(th.ID, thread.EntryAnswered), 1)
				assert.Equal(r, 1, r.did.of("after"))
			})
		})
	}
}

func TestNothingIsParkedForEver(t *testing.T) {
	scene(t, func(r *rig) {
		r.cfg.Poll = time.Hour
		r.cfg.Kinds = aDay()
		r.with(r.asker(thread.Question{}))
		th := r.start("asker", nil)
		r.next()
		r.pass(25 * time.Hour)
		th = r.rest(th.ID)
		assert.Equal(r, thread.StatusFailed, th.Status(),
			"the kind has a lifetime where the question has none")
		assert.Equal(r, runtime.CodeExpired, th.Failure.Code)
		rows, err := r.e.Threads(r.ctx,
			thread.Query{WakeBefore: time.Now().Add(1000 * time.Hour)})
		require.NoError(r, err)
		assert.Empty(r, rows, "nothing is left to be woken")
	})
}

func TestAnswerBeforeDuringAndAfterTheQuestion(t *testing.T) {
	onBoth(t, func(r *rig) {
		r.cfg.HoldEarly = true
		running, ask := make(chan struct{}), make(chan struct{})
		r.with(thread.Func("asker", func(ctx context.Context, _ any) (out []string, err error) {
			for _, name := range []string{"before", "during", "after"} {
				if name == "before" {
					r.did.add("run", "")
					if r.did.of("run") == 1 {
						close(running)
						<-ask
					}
				}
				got, err := thread.Ask[string](ctx, name, thread.Question{})
				if err != nil {
					return nil, err
				}
				out = append(out, got)
			}
			return out, nil
		}))
		th, err := r.e.Start(r.ctx, thread.Begin{Machine: "asker"})
		require.NoError(r, err)
		<-running
		for _, name := range []string{"before", "during"} {
			held, err := r.e.Answer(r.ctx, th.ID,
				thread.Answer{Question: name, Value: value(`"` + name + `"`), By: "bob",
					Request: name})
			require.NoError(r, err)
			assert.Nil(r, held, "it is kept, and answers nothing yet")
		}
		_, err = r.e.Answer(r.ctx, th.ID,
			thread.Answer{Question: "before", Value: value(`"twice"`), By: "bob",
				Request: "before"})
		require.NoError(r, err, "the same request again")
		close(ask)
		th = r.rest(th.ID)
		r.done(r.reply(th.ID, "after", `"after"`), `["before","during","after"]`)
		assert.Len(r, r.log(th.ID, thread.EntryTaken), 2, "each consumed once")
	})
}

func TestRunningAfterARestartIsTakenUp(t *testing.T) {
	onBoth(t, func(r *rig) {
		running, dead := make(chan struct{}), make(chan struct{})
		defer close(dead)
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
		before := time.Now()
		r.restart()
		r.done(r.rest(th.ID), `"done"`)
		assert.Less(r, time.Since(before), time.Second,
			"of its own owner at once, whatever the lease says")
	})
}

func TestResumeEntersOnlyTheParkedStep(t *testing.T) {
	scene(t, func(r *rig) {
		step := func(name string, next thread.Transition) func(context.Context, thread.Activation) (
			thread.Transition, error) {
			return func(ctx context.Context, _ thread.Activation) (thread.Transition, error) {
				r.did.add(name, "")
				if name == "two" {
					if _, err := thread.Ask[string](ctx, "which", thread.Question{}); err != nil {
						return thread.Transition{}, err
					}
				}
				return next, nil
			}
		}
		r.with(&staged{name: "line", steps: map[string]func(context.Context, thread.Activation) (
			thread.Transition, error){
			"":      step("one", thread.Advance("two", nil)),
			"two":   step("two", thread.Advance("three", nil)),
			"three": step("three", thread.Done("end")),
		}})
		th := r.start("line", nil)
		r.next()
		r.done(r.reply(th.ID, "which", `"x"`), `"end"`)
		for name, times := range map[string]int{"one": 1, "two": 2, "three": 1} {
			assert.Equal(r, times, r.did.of(name), name)
		}
	})
}

func TestStatusIsNeverStoredTwice(t *testing.T) {
	scene(t, func(r *rig) {
		r.with(r.asker(thread.Question{}),
			thread.Turns("talk", func(context.Context, any) (string, error) { return "", nil }))
		waiting, idle := r.start("asker", nil), r.start("talk", nil)
		same := func(want map[string]thread.Status) {
			rows, err := r.e.Threads(r.ctx, thread.Query{})
			require.NoError(r, err)
			got := map[string]thread.Status{}
			for _, row := range rows {
				got[row.ID] = row.Status
				assert.Equal(r, r.load(row.ID).Status(), row.Status)
			}
			assert.Equal(r, want, got)
		}
		same(map[string]thread.Status{waiting.ID: thread.StatusWaiting,
			idle.ID: thread.StatusIdle})
		r.next()
		r.reply(waiting.ID, "which", `"a"`)
		same(map[string]thread.Status{waiting.ID: thread.StatusDone, idle.ID: thread.StatusIdle})
	})
}

func TestAnswerIsHeldToTheSchemaThatWasAsked(t *testing.T) {
	onBoth(t, func(r *rig) {
		r.with(thread.Func("count", func(ctx context.Context, _ any) (int, error) {
			return thread.Ask[int](ctx, "how many", thread.Question{})
		}))
		th := r.start("count", nil)
		old := r.asked(th, "how many")
		r.close()
		r.machines = []thread.Machine{thread.Func("count",
			func(ctx context.Context, _ any) (string, error) {
				// the code of the next release
				return thread.Ask[string](ctx, "how many", thread.Question{})
			})}
		r.open()
		r.refused(runtime.CodeInvalid, thread.Answer{Interrupt: old.ID, Value: value(`"three"`)})
		th = r.say(old, `3`)
		anew := r.asked(th, "how many")
		assert.NotEqual(r, old.ID, anew.ID,
			"another question must not take its answer: it is asked anew")
		r.done(r.say(anew, `"three"`), `"three"`)
	})
}

func TestInterruptCarriesAllThatResumingNeeds(t *testing.T) {
	scene(t, func(r *rig) {
		r.with(r.asker(thread.Question{}))
		th := r.start("asker", nil)
		r.next()
		inbox, err := r.e.Inbox(r.ctx, thread.InterruptQuery{})
		require.NoError(r, err)
		i := inbox[0]
		assert.Equal(r, []any{th.ID, th.Frames[0].ID, "", 1, "which", "ann"},
			[]any{i.Thread, i.Frame, i.Step, i.Visit, i.Name, i.AskedFor})
		_, err = r.e.Answer(r.ctx, "",
			thread.Answer{Interrupt: i.ID, Value: value(`"by id alone"`)})
		require.NoError(r, err)
		r.done(r.rest(th.ID), `"by id alone"`)
		assert.Equal(r, []string{thread.EffectKey(th.ID, &th.Frames[0], "before")},
			r.did.keys["before"])
	})
}

func TestRefusedAnswerIsNotLost(t *testing.T) {
	onBoth(t, func(r *rig) {
		r.cfg.CommitDelay = -1
		r.with(r.asker(thread.Question{}))
		th := r.start("asker", nil)
		i := r.asked(th, "which")
		r.way.fails.Store(1)
		r.refused(runtime.CodeUnavailable, thread.Answer{Interrupt: i.ID, Value: value(`"a"`),
			By: "bob"})
		assert.Equal(r, thread.InterruptOpen, r.interrupt(i.ID).State, "it is still open")
		r.pass(time.Minute)
		assert.Equal(r, thread.StatusWaiting, r.load(th.ID).Status())
		assert.Zero(r, r.did.of("after"))
		r.way.fails.Store(0)
		r.done(r.say(i, `"a"`), `"a"`)
	})
}

func TestContextOfTheCallerIsNotThatOfTheWork(t *testing.T) {
	scene(t, func(r *rig) {
		type key struct{}
		r.with(r.asker(thread.Question{}))
		ctx, cancel := context.WithCancel(context.WithValue(r.ctx, key{}, "extra"))
		th, err := r.e.Start(ctx, thread.Begin{Machine: "asker"})
		require.NoError(r, err)
		cancel()
		i := r.asked(r.rest(th.ID), "which")
		r.next()
		ctx, cancel = context.WithCancel(context.WithValue(r.ctx, key{}, "extra"))
		_, err = r.e.Answer(ctx, th.ID, thread.Answer{Interrupt: i.ID, Value: value(`"a"`)})
		cancel()
		require.NoError(r, err)
		r.done(r.rest(th.ID), `"a"`)
	})
}

func TestAskingAgainIsAnOrdinaryOutcome(t *testing.T) {
	scene(t, func(r *rig) {
		limit := 10
		r.with(thread.Func("buy", func(ctx context.Context, _ any) (int, error) {
			return thread.Ask[int](ctx, "price",
				thread.Question{Payload: value(`{"limit":` + string(rune('0'+limit%10)) + `}`)})
		}))
		th := r.start("buy", nil)
		first := r.asked(th, "price")
		limit = 5 // the policy changes while the thread waits
		r.next()
		th = r.say(first, `9`)
		second := r.asked(th, "price")
		assert.NotEqual(r, first.ID, second.ID)
		assert.JSONEq(r, `{"limit":5}`, string(second.Payload))
		r.done(r.say(second, `4`), `4`)
		assert.Equal(r, thread.InterruptAnswered, r.interrupt(first.ID).State)
	})
}

func TestAnswerBindsToWhatWasShown(t *testing.T) {
	scene(t, func(r *rig) {
		args := `{"amount":50}`
		r.with(thread.Func("pay", func(ctx context.Context, _ any) (string, error) {
			now := args // what the model says this time
			if _, err := thread.Ask[bool](ctx, "approve",
				thread.Question{Payload: value(now)}); err != nil {
				return "", err
			}
			return thread.Once(ctx, "pay", func(_ context.Context, key string) (string, error) {
				r.did.add("pay "+now, key)
				return now, nil
			})
		}))
		th := r.start("pay", nil)
		seen := r.asked(th, "approve")
		r.refused(runtime.CodeConflict, thread.Answer{Interrupt: seen.ID, Value: value(`true`),
			Digest: "of something else"})
		args = `{"amount":5000}`
		r.next()
		_, err := r.e.Answer(r.ctx, th.ID, thread.Answer{Interrupt: seen.ID, Value: value(`true`),
			Digest: seen.Digest})
		require.NoError(r, err)
		th = r.rest(th.ID)
		assert.Zero(r, r.did.of(`pay {"amount":5000}`), "what nobody approved does not run")
		anew := r.asked(th, "approve")
		assert.JSONEq(r, args, string(anew.Payload))
		r.say(anew, `true`)
		assert.Equal(r, 1, r.did.of(`pay {"amount":5000}`))
	})
}

func TestDelayedDoubleClickDoesNotReachTheNextQuestion(t *testing.T) {
	scene(t, func(r *rig) {
		r.with(thread.Func("two", func(ctx context.Context, _ any) (bool, error) {
			if _, err := thread.Ask[bool](ctx, "a", thread.Question{}); err != nil {
				return false, err
			}
			return thread.Ask[bool](ctx, "b", thread.Question{})
		}))
		th := r.start("two", nil)
		a := r.asked(th, "a")
		r.say(a, `true`)
		r.next()
		_, err := r.e.Answer(r.ctx, th.ID, thread.Answer{Interrupt: a.ID, Value: value(`true`),
			By: "bob"})
		require.NoError(r, err, "the second click finds the first one's result")
		r.refused(runtime.CodeAlreadyAnswered,
			thread.Answer{Interrupt: a.ID, Value: value(`false`), By: "bob"})
		assert.Equal(r, thread.InterruptOpen, r.asked(r.load(th.ID), "b").State, "b is untouched")
		r.done(r.reply(th.ID, "b", `false`), `false`)
	})
}

func TestThreeResumersOneExecution(t *testing.T) {
	onBoth(t, func(r *rig) {
		r.cfg.CommitDelay = -1
		r.with(r.asker(thread.Question{Deadline: &runtime.Deadline{After: time.Minute,
			Then: "default", Answer: `"timer"`}}))
		cfg := r.cfg
		cfg.Owner = "other"
		other := r.engine(r.store, cfg, r.machines...)
		th := r.start("asker", nil)
		i := r.asked(th, "which")
		<-time.After(time.Until(i.Due) - time.Nanosecond)
		var all sync.WaitGroup
		for n, e := range []*thread.Engine{r.e, other} {
			all.Go(func() {
				_, _ = e.Answer(r.ctx, th.ID,
					thread.Answer{Interrupt: i.ID,
						Value: value([]string{`"signal"`, `"approval"`}[n])})
			})
			all.Go(func() { assert.NoError(r, e.RunDue(r.ctx)) })
		}
		all.Wait()
		r.pass(time.Minute)
		th = r.rest(th.ID)
		assert.Equal(r, thread.StatusDone, th.Status())
		assert.Len(r, r.log(th.ID, thread.EntryAnswered), 1)
		assert.Equal(r, 1, r.did.of("after"), "one execution")
	})
}

func TestWhoLostItsLeaseCannotCommit(t *testing.T) {
	onBoth(t, func(r *rig) {
		running, thaw := make(chan struct{}), make(chan struct{})
		r.with(thread.Func("worker", func(ctx context.Context, _ any) (string, error) {
			if r.did.add("run", ""); r.did.of("run") == 1 {
				close(running)
				<-thaw // the process is frozen, and comes back
				return "of the zombie", nil
			}
			return thread.Ask[string](ctx, "which", thread.Question{})
		}))
		th, err := r.e.Start(r.ctx, thread.Begin{Machine: "worker"})
		require.NoError(r, err)
		<-running
		zombie := r.way
		zombie.cut.Store(true)
		r.cfg.Owner = "other"
		r.open()
		r.pass(time.Minute)
		th = r.rest(th.ID)
		i := r.asked(th, "which")
		zombie.cut.Store(false)
		close(thaw)
		r.pass(time.Minute)
		th = r.rest(th.ID)
		require.Equal(r, i.ID, r.asked(th, "which").ID, "what the zombie made of it is refused")
		r.done(r.say(i, `"of the living"`), `"of the living"`)
	})
}

func TestReplaySafetyIsChecked(t *testing.T) {
	scene(t, func(r *rig) {
		r.with(thread.Func("careless", func(ctx context.Context, _ any) (string, error) {
			for range 2 { // one name for two effects: which of them is done could not be told
				if _, err := thread.Do(ctx, "same", r.did.effect("same")); err != nil {
					return "", err
				}
			}
			return "", nil
		}), thread.Func("shuffled", func(ctx context.Context, _ any) (string, error) {
			names := []string{"x", "y"}
			if r.did.add("run", ""); r.did.of("run") > 1 { // the order is another one in every run
				names = []string{"y", "x"}
			}
			for _, name := range names {
				if _, err := thread.Do(ctx, name, r.did.effect(name)); err != nil {
					return "", err
				}
			}
			return thread.Ask[string](ctx, "which", thread.Question{})
		}))
		th := r.start("careless", nil)
		assert.Contains(r, string(r.asked(th, thread.KindSystemError).Payload),
			`"recoverable":false`)
		assert.Equal(r, 1, r.did.of("same"))
		th = r.start("shuffled", nil)
		r.next()
		r.done(r.reply(th.ID, "which", `"a"`), `"a"`)
		assert.Equal(r, 1, r.did.of("x"), "results are found by name, never by order")
		assert.Equal(r, 1, r.did.of("y"))
	})
}
