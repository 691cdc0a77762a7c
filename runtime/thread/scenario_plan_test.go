package thread_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
)

// staged is a machine of a few steps, each a function. The first one is "".
type staged struct {
	name  string
	steps map[string]func(ctx context.Context, a thread.Activation) (thread.Transition, error)
}

func (s *staged) Name() string { return s.name }

func (s *staged) Changeable(*thread.Frame) bool { return true }

func (s *staged) Step(ctx context.Context, a thread.Activation) (thread.Transition, error) {
	step := s.steps[a.Frame.PC]
	if step == nil {
		return thread.Transition{}, fmt.Errorf("there is no step %q", a.Frame.PC)
	}
	return step(ctx, a)
}

// asker does something, asks its question and gives the answer back.
func (r *rig) asker(q thread.Question) thread.Machine {
	return thread.Func("asker", func(ctx context.Context, _ any) (string, error) {
		if _, err := thread.Do(ctx, "before", r.did.effect("before")); err != nil {
			return "", err
		}
		answer, err := thread.Ask[string](ctx, "which", q)
		if err != nil {
			return "", err
		}
		if _, err := thread.Do(ctx, "after", r.did.effect("after")); err != nil {
			return "", err
		}
		return answer, nil
	})
}

func TestEscapeWhenNothingRuns(t *testing.T) {
	scene(t, func(r *rig) {
		r.with(thread.Turns("idle", func(context.Context, any) (string, error) {
			return "rested", nil
		}),
			thread.Func("done", func(context.Context, any) (string, error) { return "over", nil }))
		for _, machine := range []string{"idle", "done"} {
			before := r.start(machine, nil)
			r.next()
			ack, err := r.e.Escape(r.ctx, before.ID, thread.EscapeSafe, "ann", "stop")
			assert.Empty(r, ack)
			assert.Equal(r, runtime.CodeNotWaiting, runtime.CodeOf(err))
			require.ErrorContains(r, err, "not_running")
			assert.Equal(r, before, r.load(before.ID), "nothing has changed")
		}
		_, err := r.e.Escape(r.ctx, "nobody", thread.EscapeSafe, "ann", "")
		assert.Equal(r, runtime.CodeNotFound, runtime.CodeOf(err))
	})
}

func TestAgentQuestionGoesBackToItsStep(t *testing.T) {
	scene(t, func(r *rig) {
		plan := map[string]any{"current_plan": []string{"a", "b"}, "completed_steps": 1}
		r.with(thread.Func("agent", func(ctx context.Context, _ any) (string, error) {
			if err := thread.SetContext(ctx, plan); err != nil {
				return "", err
			}
			if _, err := thread.Do(ctx, "search", r.did.effect("search")); err != nil {
				return "", err
			}
			return thread.Ask[string](ctx, "which", thread.Question{
				Text: "Which?", Choices: []thread.Choice{{Label: "A", Value: value(`"a"`)},
					{Label: "B", Value: value(`"b"`)}}, Plain: thread.PlainChoice,
			})
		}))
		th := r.start("agent", nil)
		require.Equal(r, thread.StatusWaiting, th.Status())
		i := r.asked(th, "which")
		assert.Equal(r, thread.KindAgentQuestion, i.Kind)
		assert.Len(r, i.Choices, 2)
		r.next()
		r.done(r.say(i, `"b"`), `"b"`)
		assert.Equal(r, 1, r.did.of("search"))
		closed := r.interrupt(i.ID)
		assert.Equal(r, thread.InterruptAnswered, closed.State)
		assert.JSONEq(r, `{"current_plan":["a","b"],"completed_steps":1}`, string(closed.Context),
			"the plan goes out with the question, unchanged")
	})
}

func TestEscapeWhileAQuestionIsPending(t *testing.T) {
	scene(t, func(r *rig) {
		r.with(thread.TakesChanges(r.asker(thread.Question{Text: "Which?"})))
		th := r.start("asker", nil)
		old := r.asked(th, "which")
		r.next()
		ack, err := r.e.Escape(r.ctx, th.ID, thread.EscapeSafe, "ann", "wait")
		require.NoError(r, err)
		assert.Equal(r, thread.AckRequested, ack)
		th = r.load(th.ID)
		require.Len(r, th.Open, 1)
		escape := r.asked(th, thread.KindUserEscape)
		r.next()
		assert.Equal(r, thread.InterruptSuperseded, r.interrupt(old.ID).State)
		assert.Equal(r, escape.ID, r.interrupt(old.ID).SupersededBy)
		r.refused(runtime.CodeSuperseded, thread.Answer{Interrupt: old.ID, Value: value(`"late"`),
			By: "bob"})
		th = r.say(escape, `{"choice":"modify","text":"ask better"}`)
		r.next()
		anew := r.asked(th, "which")
		assert.NotEqual(r, old.ID, anew.ID)
		r.done(r.say(anew, `"b"`), `"b"`)
		var ids []string
		for _, e := range r.log(th.ID, thread.EntryAsked) {
			ids = append(ids, e.Interrupt)
		}
		assert.Equal(r, []string{old.ID, escape.ID, anew.ID}, ids, "all are in the history")
		assert.Equal(r, 1, r.did.of("before"))
	})
}

func TestQuestionRaisedAfterThePauseWasRequested(t *testing.T) {
	onBoth(t, func(r *rig) {
		reached, go1 := make(chan struct{}), make(chan struct{})
		first := sync.OnceFunc(func() { close(reached); <-go1 })
		r.with(thread.Func("asker", func(ctx context.Context, _ any) (string, error) {
			first()
			return thread.Ask[string](ctx, "which", thread.Question{Text: "Which?"})
		}))
		th, err := r.e.Start(r.ctx, thread.Begin{Machine: "asker", User: "ann"})
		require.NoError(r, err)
		<-reached
		ack, err := r.e.Escape(r.ctx, th.ID, thread.EscapeSafe, "ann", "")
		require.NoError(r, err)
		assert.Equal(r, thread.AckRequested, ack)
		assert.Empty(r, r.load(th.ID).Open, "acknowledged, and not yet paused: the step runs")
		close(go1)
		th = r.rest(th.ID)
		require.Len(r, th.Open, 1)
		escape := r.asked(th, thread.KindUserEscape)
		var question string
		for _, e := range r.log(th.ID, thread.EntryAsked) {
			if e.Name == "which" {
				question = e.Interrupt
			}
		}
		require.NotEmpty(r, question, "it is in the history")
		assert.Equal(r, thread.InterruptSuperseded, r.interrupt(question).State)
		assert.Equal(r, escape.ID, r.interrupt(question).SupersededBy, "with the clash")
		for _, e := range r.log(th.ID) {
			assert.False(r, e.Type == thread.EntryAsked && e.Name == "which" && e.End,
				"the question is never committed open on its own")
		}
		th = r.say(escape, `"continue"`)
		r.done(r.say(r.asked(th, "which"), `"a"`), `"a"`)
	})
}

func TestTwoTabsAnswerAtOnce(t *testing.T) {
	onBoth(t, func(r *rig) {
		r.cfg.CommitDelay = -1
		r.with(r.asker(thread.Question{Text: "Which?", Assignees: []string{"bob", "eve"}}))
		other := r.cfg
		other.Owner = "other"
		second := r.engine(r.store, other, r.machines...)
		th := r.start("asker", nil)
		i := r.asked(th, "which")
		r.refused(runtime.CodeForbidden, thread.Answer{Interrupt: i.ID, Value: value(`"mine"`),
			By: "mallory"})
		errs := make([]error, 2)
		var both sync.WaitGroup
		for n, e := range []*thread.Engine{r.e, second} {
			both.Go(func() {
				_, errs[n] = e.Answer(r.ctx, th.ID,
					thread.Answer{Interrupt: i.ID, Value: fmt.Appendf(nil, `"tab %d"`, n),
						By: []string{"bob", "eve"}[n]})
			})
		}
		both.Wait()
		won := 0
		if errs[0] != nil {
			won = 1
		}
		require.NoError(r, errs[won])
		assert.Equal(r, runtime.CodeAlreadyAnswered, runtime.CodeOf(errs[1-won]))
		var who *thread.AnsweredError
		require.ErrorAs(r, errs[1-won], &who)
		assert.Equal(r, []string{"bob", "eve"}[won], who.By)
		r.done(r.rest(th.ID), fmt.Sprintf(`"tab %d"`, won))
		assert.Equal(r, 1, r.did.of("after"), "the step went on once")
		again, err := r.e.Answer(r.ctx, th.ID,
			thread.Answer{Interrupt: i.ID, Value: fmt.Appendf(nil, ` "tab %d"`, won), By: who.By})
		require.NoError(r, err, "the same answer again gets the same result")
		assert.Equal(r, i.ID, again.ID)
	})
}

func TestReaderComesBackWithItsCursor(t *testing.T) {
	scene(t, func(r *rig) {
		r.with(thread.Func("asker", func(ctx context.Context, in string) (string, error) {
			if err := thread.Say(ctx, "hello", in); err != nil {
				return "", err
			}
			got, err := thread.Ask[string](ctx, "which", thread.Question{})
			if err != nil {
				return "", err
			}
			return got, thread.Say(ctx, "bye", got)
		}))
		th := r.start("asker", "hi")
		noise := r.start("asker", "noise")
		var seen []thread.Entry
		read := func(most int) {
			after := int64(0)
			if len(seen) > 0 {
				after = seen[len(seen)-1].Cursor
			}
			for e, err := range r.e.Subscribe(r.ctx, thread.Filter{Thread: th.ID}, after) {
				require.NoError(r, err)
				seen = append(seen, e)
				if most--; most == 0 || e.Type == thread.EntryOver {
					return
				}
			}
		}
		read(2) // and the socket drops
		r.reply(th.ID, "which", `"done"`)
		r.reply(noise.ID, "which", `"done"`)
		r.next()
		read(1)
		read(-1)
		for n, e := range seen {
			assert.Equal(r, th.ID, e.Thread, "only this thread's")
			assert.Equal(r, int64(n+1), e.Seq, "each once, in order")
		}
		last := seen[len(seen)-1]
		assert.Equal(r, thread.EntryOver, last.Type)
		assert.JSONEq(r, `"done"`, string(last.Value), "with the final answer")
	})
}

func TestRestartWhileWaiting(t *testing.T) {
	scene(t, func(r *rig) {
		r.with(r.asker(thread.Question{Text: "Which?", Payload: value(`{"a":1}`)}))
		th := r.start("asker", nil)
		r.next()
		inbox, err := r.e.Inbox(r.ctx, thread.InterruptQuery{})
		require.NoError(r, err)
		require.Len(r, inbox, 1)
		assert.JSONEq(r, `{"a":1}`, string(inbox[0].Payload))
		assert.Equal(r, thread.StatusWaiting, r.load(th.ID).Status())
		r.done(r.say(inbox[0], `"a"`), `"a"`)
		assert.Equal(r, 1, r.did.of("before"))
		assert.Equal(r, 1, r.did.of("after"))
	})
}

func TestExpiry(t *testing.T) {
	const limit = 300 * time.Second
	scene(t, func(r *rig) {
		expires := &runtime.Deadline{After: limit, Then: "expire"}
		defaults := &runtime.Deadline{After: limit, Then: "default", Answer: `"standard"`}
		r.with(thread.Func("asker", func(ctx context.Context, d *runtime.Deadline) (string, error) {
			return thread.Ask[string](ctx, "which", thread.Question{Deadline: d})
		}))
		lost, kept := r.start("asker", expires), r.start("asker", defaults)
		late := r.asked(lost, "which")
		r.next()
		r.pass(limit - time.Second)
		require.Equal(r, thread.StatusWaiting, r.load(lost.ID).Status())
		require.Equal(r, thread.StatusWaiting, r.load(kept.ID).Status())
		r.pass(2 * time.Second) // an engine that has just started looks within Config.Poll
		r.done(r.rest(kept.ID), `"standard"`)
		lost = r.rest(lost.ID)
		require.Equal(r, thread.StatusFailed, lost.Status())
		assert.Equal(r, runtime.CodeExpired, lost.Failure.Code)
		r.refused(runtime.CodeExpired, thread.Answer{Interrupt: late.ID, Value: value(`"late"`)})
	})
}

func TestSystemErrorOffersItsChoices(t *testing.T) {
	t.Parallel()
	choices := map[string]struct {
		order string
		check func(r *rig, t *thread.Thread)
	}{
		"retry": {`"retry"`, func(r *rig, t *thread.Thread) {
			r.Helper()
			r.done(t, `"good after 4"`)
			assert.Len(r, r.log(t.ID, thread.EntryFailed), 3)
		}},
		"edit": {`{"choice":"edit","input":"fine"}`, func(r *rig, t *thread.Thread) {
			r.Helper()
			r.done(t, `"fine after 4"`)
		}},
		"skip": {`{"choice":"skip","value":"nothing"}`, func(r *rig, t *thread.Thread) {
			r.Helper()
			assert.Equal(r, thread.StatusIdle, t.Status(),
				"the turn is over, with the value of the person")
			assert.JSONEq(r, `"nothing"`, string(t.Result))
			assert.Equal(r, "skipped", r.log(t.ID, thread.EntryReturned)[0].State)
		}},
		"abort": {`"abort"`, func(r *rig, t *thread.Thread) {
			r.Helper()
			assert.Equal(r, thread.StatusCancelled, t.Status())
			assert.Equal(r, 3, r.did.of("try"), "no further run")
		}},
	}
	for name, c := range choices {
		t.Run(name, func(t *testing.T) {
			scene(t, func(r *rig) {
				r.with(thread.Func("weak", func(_ context.Context, in string) (string, error) {
					r.did.add("try", "")
					if n := r.did.of("try"); n > 3 {
						return fmt.Sprintf("%s after %d", in, n), nil
					}
					return "", errors.New("the line is down")
				}))
				th := r.start("weak", "good")
				for th.Status() == thread.StatusWaiting && len(th.Open) == 0 {
					r.next()
					r.pass(time.Minute) // the pauses between the tries are stored times
					th = r.rest(th.ID)
				}
				i := r.asked(th, thread.KindSystemError)
				assert.Contains(r, string(i.Payload), `"recoverable":true`)
				assert.Contains(r, string(i.Payload), "the line is down")
				r.next()
				c.check(r, r.say(i, c.order))
			})
		})
	}
}

func TestTypedAnswers(t *testing.T) {
	scene(t, func(r *rig) {
		r.with(thread.Func("confirm", func(ctx context.Context, _ any) (bool, error) {
			return thread.Ask[bool](ctx, "sure", thread.Question{Plain: thread.PlainYesNo})
		}), r.asker(thread.Question{Plain: thread.PlainChoice, Choices: []thread.Choice{
			{Label: "Red wine", Value: value(`"red"`)}, {Label: "red", Value: value(`"colour"`)},
		}}), thread.Func("approve", func(ctx context.Context, _ any) (string, error) {
			return thread.Ask[string](ctx, "ok",
				thread.Question{Schema: value(`{"enum":["APPROVE","DENY"]}`)})
		}))
		for _, no := range []string{"no way", "not really", "deny", "don't"} {
			th := r.start("confirm", nil)
			r.next()
			th, err := r.e.Deliver(r.ctx, thread.Message{Thread: th.ID, Text: no, By: "bob"})
			require.NoError(r, err)
			r.done(r.rest(th.ID), "false")
		}
		th := r.start("confirm", nil)
		for left := 2; left >= 0; left-- {
			_, err := r.e.Deliver(r.ctx,
				thread.Message{Thread: th.ID, Text: "yes, but only if it rains", By: "bob"})
			var unclear *thread.UnclearError
			require.ErrorAs(r, err, &unclear)
			assert.Equal(r, left, unclear.Left)
			r.next()
		}
		assert.Equal(r, thread.StatusFailed, r.rest(th.ID).Status(),
			"three unclear answers, and no default")
		th = r.start("asker", nil)
		err := r.refused(runtime.CodeInvalid, thread.Answer{Interrupt: th.Open[0].ID, Text: "red",
			By: "bob"})
		require.ErrorContains(r, err, "names 2 choices",
			"ambiguous is asked again, with the reason")
		r.done(r.say(r.asked(r.load(th.ID), "which"), `"red"`), `"red"`)
		th = r.start("approve", nil)
		for _, bad := range []string{`"approve"`, `true`, `"MAYBE"`, `null`} {
			r.refused(runtime.CodeInvalid,
				thread.Answer{Interrupt: th.Open[0].ID, Value: value(bad)})
		}
		r.done(r.say(th.Open[0], `"DENY"`), `"DENY"`)
	})
}

func TestBadJSONAndUnknownIDs(t *testing.T) {
	scene(t, func(r *rig) {
		r.with(r.asker(thread.Question{}))
		th := r.start("asker", nil)
		i := r.asked(th, "which")
		before := r.load(th.ID)
		for _, bad := range []string{`{"a":`, `{"a":1}{`, `{"a":1,"a":2}`, ``, ` `, `"a" "b"`,
			strings.Repeat("[", 100_000)} {
			err := r.refused(runtime.CodeInvalid,
				thread.Answer{Interrupt: i.ID, Value: value(bad)})
			require.Error(r, err)
		}
		r.refused(runtime.CodeInvalid, thread.Answer{Interrupt: i.ID})
		r.refused(runtime.CodeNotFound, thread.Answer{Interrupt: "nobody", Value: value(`1`)})
		r.refused(runtime.CodeNotFound, thread.Answer{})
		_, err := r.e.Answer(r.ctx, "nobody", thread.Answer{Question: "which", Value: value(`1`)})
		assert.Equal(r, runtime.CodeNotFound, runtime.CodeOf(err))
		other := r.start("asker", nil)
		_, err = r.e.Answer(r.ctx, other.ID, thread.Answer{Interrupt: i.ID, Value: value(`"a"`)})
		assert.Equal(r, runtime.CodeNotFound, runtime.CodeOf(err), "an id of another thread")
		_, err = r.e.Thread(r.ctx, "nobody")
		assert.Equal(r, runtime.CodeNotFound, runtime.CodeOf(err))
		for _, id := range []string{"a/b", "a\x00b", strings.Repeat("x", 201), "\xff"} {
			_, err = r.e.Start(r.ctx, thread.Begin{ID: id, Machine: "asker"})
			assert.Equal(r, runtime.CodeInvalid, runtime.CodeOf(err), "%q", id)
		}
		_, err = r.e.Start(r.ctx, thread.Begin{Machine: "unknown"})
		assert.Equal(r, runtime.CodeInvalid, runtime.CodeOf(err))
		synctest.Wait()
		assert.Equal(r, before, r.load(th.ID), "nothing has changed")
		r.next()
		r.done(r.say(i, `"still works"`), `"still works"`)
	})
}
