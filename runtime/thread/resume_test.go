package thread_test

import (
	"context"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
)

// The rows are what went wrong in other systems; each test is the scenario that must not go wrong
// here.

// three asks three questions at once and gives the answers back in their order.
func (r *rig) three() thread.Machine {
	return thread.Func("three", func(ctx context.Context, _ any) ([]string, error) {
		if _, err := thread.Do(ctx, "before", r.did.effect("before")); err != nil {
			return nil, err
		}
		replies, err := thread.AskAll(ctx, thread.Question{Name: "a"}, thread.Question{Name: "b"},
			thread.Question{Name: "c"})
		if err != nil {
			return nil, err
		}
		r.did.add("resumed", "")
		var out []string
		for _, reply := range replies {
			out = append(out, reply.Name+string(reply.Value))
		}
		return out, nil
	})
}

func TestParallelInterruptsHaveTheirOwnAnswers(t *testing.T) {
	t.Parallel()
	for _, order := range []string{"abc", "acb", "bac", "bca", "cab", "cba"} {
		t.Run(order, func(t *testing.T) {
			scene(t, func(r *rig) {
				r.with(r.three())
				th := r.start("three", nil)
				require.Len(r, th.Open, 3)
				ids := map[string]bool{}
				for _, i := range th.Open {
					ids[i.ID] = true
				}
				assert.Len(r, ids, 3, "each has an id of its own")
				for _, name := range order {
					r.next()
					th = r.reply(th.ID, string(name), strconv.Itoa(int(name-'a')+1))
				}
				r.done(th, `["a1","b2","c3"]`)
				assert.Equal(r, 1, r.did.of("resumed"))
			})
		})
	}
}

func TestAnswerWithoutAnIDIsAmbiguous(t *testing.T) {
	scene(t, func(r *rig) {
		r.with(r.three())
		th := r.start("three", nil)
		r.reply(th.ID, "a", `1`)
		r.next()
		before := r.load(th.ID)
		_, err := r.e.Answer(r.ctx, th.ID, thread.Answer{Value: value(`1`)})
		assert.Equal(r, runtime.CodeAmbiguous, runtime.CodeOf(err))
		var which *thread.AmbiguousError
		require.ErrorAs(r, err, &which)
		assert.Equal(r, []string{r.asked(before, "b").ID, r.asked(before, "c").ID}, which.Open,
			"with the list")
		assert.Equal(r, before, r.load(th.ID), "nothing is consumed")
	})
}

func TestLoopOfFiveQuestionsNeedsFiveAnswers(t *testing.T) {
	scene(t, func(r *rig) {
		r.with(thread.Func("loop", func(ctx context.Context, _ any) (out []int, err error) {
			for n := range 5 {
				if _, err := thread.Do(ctx, "before "+strconv.Itoa(n),
					r.did.effect("before")); err != nil {
					return nil, err
				}
				got, err := thread.Ask[int](ctx, "round "+strconv.Itoa(n), thread.Question{})
				if err != nil {
					return nil, err
				}
				out = append(out, got)
			}
			return out, nil
		}))
		th := r.start("loop", nil)
		for n := range 5 {
			require.Len(r, th.Open, 1)
			assert.Equal(r, n+1, r.did.of("before"),
				"what came before a question is not done again")
			r.next()
			th = r.reply(th.ID, "round "+strconv.Itoa(n), strconv.Itoa(n))
		}
		r.done(th, `[0,1,2,3,4]`)
		assert.Equal(r, 5, r.did.of("before"))
	})
}

func TestAnsweredInterruptNeverComesBack(t *testing.T) {
	scene(t, func(r *rig) {
		r.with(r.three())
		th := r.start("three", nil)
		gone := r.asked(th, "b")
		r.say(gone, `2`)
		for range 2 {
			r.next()
			for _, i := range r.load(th.ID).Open {
				assert.NotEqual(r, gone.ID, i.ID)
			}
			inbox, err := r.e.Inbox(r.ctx, thread.InterruptQuery{})
			require.NoError(r, err)
			require.Len(r, inbox, 2)
			for _, i := range inbox {
				assert.NotEqual(r, gone.ID, i.ID)
			}
		}
		assert.Equal(r, thread.InterruptAnswered, r.interrupt(gone.ID).State,
			"it is kept, as what it is")
	})
}

func TestWorkBeforeTwoQuestionsIsNotDoneAgain(t *testing.T) {
	scene(t, func(r *rig) {
		r.with(r.three())
		th := r.start("three", nil)
		for n, name := range []string{"c", "a"} {
			th = r.reply(th.ID, name, `0`)
			r.next()
			assert.Len(r, th.Open, 2-n)
			assert.Zero(r, r.did.of("resumed"), "the step runs again only when all are answered")
		}
		r.done(r.reply(th.ID, "b", `0`), `["a0","b0","c0"]`)
		assert.Equal(r, 1, r.did.of("before"))
		assert.Equal(r, 1, r.did.of("resumed"))
	})
}

func TestWaitingAfterTheSecondQuestion(t *testing.T) {
	scene(t, func(r *rig) {
		r.with(thread.Func("twice", func(ctx context.Context, _ any) (string, error) {
			if _, err := thread.Ask[string](ctx, "first", thread.Question{}); err != nil {
				return "", err
			}
			return thread.Ask[string](ctx, "second", thread.Question{})
		}))
		th := r.start("twice", nil)
		r.next()
		th = r.reply(th.ID, "first", `"1"`)
		require.Equal(r, thread.StatusWaiting, th.Status())
		r.next()
		th = r.load(th.ID)
		assert.Equal(r, thread.StatusWaiting, th.Status())
		rows, err := r.e.Threads(r.ctx,
			thread.Query{Statuses: []thread.Status{thread.StatusWaiting}})
		require.NoError(r, err)
		require.Len(r, rows, 1)
		r.done(r.reply(th.ID, "second", `"2"`), `"2"`)
	})
}

// nested calls itself down to a depth, asks there, and gives the answer up with a mark of every
// level.
func (r *rig) nested() thread.Machine {
	return &staged{name: "nested", steps: map[string]func(context.Context, thread.Activation) (
		thread.Transition, error){
		"": func(ctx context.Context, a thread.Activation) (thread.Transition, error) {
			level, err := strconv.Atoi(string(a.Frame.Input))
			if err != nil {
				return thread.Transition{}, err
			}
			if _, err := thread.Do(ctx, "enter",
				r.did.effect("enter "+strconv.Itoa(level))); err != nil {
				return thread.Transition{}, err
			}
			if level > 0 {
				return thread.Call("up", level, thread.Spawned{Machine: "nested", Name: "child",
					Input: level - 1}), nil
			}
			got, err := thread.Ask[string](ctx, "deep", thread.Question{})
			if err != nil {
				return thread.Transition{}, err
			}
			return thread.Return(got), nil
		},
		"up": func(_ context.Context, a thread.Activation) (thread.Transition, error) {
			level := string(a.Frame.Locals)
			r.did.add("up "+level, "")
			return thread.Return(string(a.Frame.Children[0].Value) + level), nil
		},
	}}
}

func TestNestedWorkResumesInsideTheChild(t *testing.T) {
	scene(t, func(r *rig) {
		r.with(r.nested())
		th := r.start("nested", 1)
		require.Len(r, th.Frames, 2)
		assert.Equal(r, th.Frames[1].ID, r.asked(th, "deep").Frame)
		r.next()
		th = r.reply(th.ID, "deep", `"x"`)
		assert.Equal(r, thread.StatusIdle, th.Status())
		assert.JSONEq(r, `"\"x\"1"`, string(th.Result))
		for _, what := range []string{"enter 1", "enter 0", "up 1"} {
			assert.Equal(r, 1, r.did.of(what), what)
		}
	})
}

func TestChangeGivenWithAnAnswerSurvivesTheNextQuestion(t *testing.T) {
	scene(t, func(r *rig) {
		r.with(&staged{name: "form", steps: map[string]func(context.Context, thread.Activation) (
			thread.Transition, error){
			"": func(context.Context, thread.Activation) (thread.Transition, error) {
				return thread.Asks("fill", map[string]int{}, thread.Question{Name: "a"}), nil
			},
			"fill": func(_ context.Context, a thread.Activation) (thread.Transition, error) {
				return thread.Asks("end", map[string]string{"a": string(a.Frame.Replies[0].Value)},
					thread.Question{Name: "b"}), nil
			},
			"end": func(_ context.Context, a thread.Activation) (thread.Transition, error) {
				return thread.Done(string(a.Frame.Locals) + string(a.Frame.Replies[0].Value)), nil
			},
		}})
		th := r.start("form", nil)
		th = r.reply(th.ID, "a", `1`)
		r.next()
		th = r.load(th.ID)
		assert.JSONEq(r, `{"a":"1"}`, string(th.Frames[0].Locals),
			"what the answer changed is stored with the next question")
		r.done(r.reply(th.ID, "b", `2`), `"{\"a\":\"1\"}2"`)
	})
}

func TestAnswerSurvivesACrashBeforeItsStepRuns(t *testing.T) {
	onBoth(t, func(r *rig) {
		r.cfg.CommitDelay = -1
		running, dead := make(chan struct{}), make(chan struct{})
		crash := true
		r.with(thread.Func("asker", func(ctx context.Context, _ any) (string, error) {
			got, err := thread.Ask[string](ctx, "which", thread.Question{})
			if err == nil && crash {
				close(running)
				<-dead
			}
			return got, err
		}))
		th := r.start("asker", nil)
		_, err := r.e.Answer(r.ctx, th.ID,
			thread.Answer{Question: "which", Value: value(`"kept"`)})
		require.NoError(r, err)
		<-running
		crash = false
		r.restart()
		close(dead)
		r.done(r.rest(th.ID), `"kept"`)
		assert.Len(r, r.log(th.ID, thread.EntryAnswered), 1)
	})
}

func TestForkIsNotHandedTheAnswersOfItsSource(t *testing.T) {
	scene(t, func(r *rig) {
		r.with(r.asker(thread.Question{}))
		th := r.start("asker", nil)
		at := th.Seq
		source := r.asked(th, "which")
		r.done(r.say(source, `"original"`), `"original"`)
		r.next()
		forked, err := r.e.Fork(r.ctx, th.ID, at, "", "ann")
		require.NoError(r, err)
		r.next()
		fork := r.rest(forked.Thread.ID)
		require.Equal(r, thread.StatusWaiting, fork.Status(), "it asks")
		assert.NotEqual(r, source.ID, r.asked(fork, "which").ID, "by an interrupt of its own")
		r.done(r.reply(fork.ID, "which", `"other"`), `"other"`)
		r.done(r.load(th.ID), `"original"`)
	})
}
