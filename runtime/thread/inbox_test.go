package thread_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
)

func TestBatchOfAnswersIsAllOrNothing(t *testing.T) {
	scene(t, func(r *rig) {
		r.with(r.three(), r.asker(thread.Question{}))
		three, one := r.start("three", nil), r.start("asker", nil)
		var answers []thread.Answer
		for _, i := range append(three.Open, one.Open...) {
			answers = append(answers, thread.Answer{Interrupt: i.ID, Value: value(`"x"`),
				By: "bob"})
		}
		answers[3].Value = value(`7`)
		_, err := r.e.AnswerAll(r.ctx, answers...)
		var which *thread.BatchError
		require.ErrorAs(r, err, &which)
		assert.Equal(r, 3, which.Index)
		assert.Equal(r, runtime.CodeInvalid, runtime.CodeOf(err))
		assert.Len(r, r.load(three.ID).Open, 3, "none of them counts")
		_, err = r.e.AnswerAll(r.ctx,
			append(answers[:3:3], thread.Answer{Interrupt: "nobody", Value: value(`1`)})...)
		assert.Equal(r, runtime.CodeNotFound, runtime.CodeOf(err))
		answers[3].Value = value(`"x"`)
		r.next()
		answered, err := r.e.AnswerAll(r.ctx, answers...)
		require.NoError(r, err)
		require.Len(r, answered, 4)
		for n, i := range answered {
			assert.Equal(r, answers[n].Interrupt, i.ID)
			assert.Equal(r, thread.InterruptAnswered, i.State)
		}
		r.done(r.rest(three.ID), `["a\"x\"","b\"x\"","c\"x\""]`)
		r.done(r.rest(one.ID), `"x"`)
		assert.Equal(r, 1, r.did.of("resumed"), "a step with several questions runs once")
		_, err = r.e.AnswerAll(r.ctx, answers...)
		require.NoError(r, err, "the same again finds the same")
		_, err = r.e.AnswerAll(r.ctx,
			append(answers, thread.Answer{Interrupt: three.Open[0].ID, Value: value(`"y"`),
				By: "eve"})...)
		assert.Equal(r, runtime.CodeAlreadyAnswered, runtime.CodeOf(err))
	})
}

func TestBatchMeetsStepsThatRun(t *testing.T) {
	onBoth(t, func(r *rig) {
		const children = 6
		var inputs []any
		for n := range children {
			inputs = append(inputs, n)
		}
		r.with(family("child", inputs...),
			thread.Turns("child", func(ctx context.Context, n int) (int, error) {
				// its commits get in the way of the batch, and the batch in theirs
				for round := range 5 {
					if _, err := thread.Once(ctx, fmt.Sprint("round ", round),
						r.did.effect(fmt.Sprint("child ", n, " round ", round))); err != nil {
						return 0, err
					}
					if n%2 == 0 && round == 0 {
						if _, err := thread.Ask[bool](ctx, "go on",
							thread.Question{}); err != nil {
							return 0, err
						}
					}
				}
				return n, nil
			}))
		th, err := r.e.Start(r.ctx, thread.Begin{Machine: "family"})
		require.NoError(r, err)
		th = r.rest(th.ID)
		var all sync.WaitGroup
		for _, i := range th.Open {
			all.Go(func() {
				_, err := r.e.AnswerAll(r.ctx,
					thread.Answer{Interrupt: i.ID, Value: value(`true`)})
				assert.NoError(r, err)
			})
		}
		all.Wait()
		r.done(r.rest(th.ID),
			`["child 0: 0","child 1: 1","child 2: 2","child 3: 3","child 4: 4","child 5: 5"]`)
		for n := range children {
			for round := range 5 {
				assert.Equal(r, 1, r.did.of(fmt.Sprint("child ", n, " round ", round)))
			}
		}
	})
}

func TestInboxIsReadPageByPage(t *testing.T) {
	scene(t, func(r *rig) {
		r.with(thread.Func("asker", func(ctx context.Context, to []string) (string, error) {
			return thread.Ask[string](ctx, "which", thread.Question{Assignees: to})
		}), thread.Func("broken", func(context.Context, any) (string, error) {
			return "", thread.Permanent(errCut)
		}))
		var want []string
		for n := range 7 {
			to := [][]string{nil, {"bob"}, {"eve"}}[n%3]
			want = append(want, r.start("asker", to).Open[0].ID)
			r.pass(time.Second)
		}
		failed := r.start("broken", nil).Open[0].ID
		paused := r.start("asker", nil)
		_, err := r.e.Escape(r.ctx, paused.ID, thread.EscapeSafe, "ann", "")
		require.NoError(r, err)
		// by priority, then by age
		want = append([]string{r.load(paused.ID).Open[0].ID}, append(want, failed)...)
		r.next()
		var got []string
		q := thread.InterruptQuery{Limit: 2}
		for {
			page, err := r.e.Inbox(r.ctx, q)
			require.NoError(r, err)
			if len(page) == 0 {
				break
			}
			for _, i := range page {
				got = append(got, i.ID)
				q.After = &thread.InterruptMark{Priority: i.Priority, Created: i.Created, ID: i.ID}
			}
		}
		assert.Equal(r, want, got, "each once, the most urgent first")
		count := func(q thread.InterruptQuery) int {
			found, err := r.e.Inbox(r.ctx, q)
			require.NoError(r, err)
			return len(found)
		}
		assert.Equal(r, 7, count(thread.InterruptQuery{Assignees: []string{"bob"}}),
			"his, and everybody's")
		assert.Equal(r, 1, count(thread.InterruptQuery{Kinds: []string{thread.KindSystemError}}))
		assert.Equal(r, 4, count(thread.InterruptQuery{Before: r.interrupt(want[5]).Created}),
			"those that are older")
		assert.Equal(r, 1, count(
			thread.InterruptQuery{States: []thread.InterruptState{thread.InterruptSuperseded}}))
	})
}

func TestStats(t *testing.T) {
	scene(t, func(r *rig) {
		r.with(thread.Func("asker", func(ctx context.Context, _ any) (bool, error) {
			return thread.Ask[bool](ctx, "which", thread.Question{
				Plain: thread.PlainYesNo, Assignees: []string{"bob"},
				Deadline: &runtime.Deadline{After: time.Hour, Then: "expire"},
			})
		}))
		before := r.start("asker", nil)
		r.pass(2 * time.Hour)
		since := time.Now()
		for n := range 20 {
			th := r.start("asker", nil)
			r.pass(time.Duration(n+1) * time.Second)
			r.say(th.Open[0], "true")
		}
		unclear := r.start("asker", nil)
		_, err := r.e.Deliver(r.ctx, thread.Message{Thread: unclear.ID, Text: "perhaps", By: "bob"})
		require.Error(r, err)
		_, err = r.e.Escape(r.ctx, r.start("asker", nil).ID, thread.EscapeSafe, "ann", "")
		require.NoError(r, err)
		r.next()
		r.pass(2 * time.Hour)
		assert.Equal(r, thread.StatusFailed, r.rest(before.ID).Status())
		stats, err := r.e.Stats(r.ctx, since)
		require.NoError(r, err)
		require.Len(r, stats, 2)
		assert.Equal(r, thread.Stat{
			Kind: thread.KindAgentQuestion, Assignee: "bob", Count: 22, Answered: 20, Expired: 1,
			Superseded: 1, Clashed: 1, Reasked: 1,
			Median: 10 * time.Second, P95: 19 * time.Second,
		}, stats[0])
		assert.Equal(r, thread.Stat{Kind: thread.KindUserEscape, Count: 1}, stats[1])
	})
}

func TestForkGoesItsOwnWay(t *testing.T) {
	scene(t, func(r *rig) {
		r.with(thread.Func("worker", func(ctx context.Context, _ any) (string, error) {
			if _, err := thread.Do(ctx, "before", r.did.effect("before")); err != nil {
				return "", err
			}
			got, err := thread.Ask[string](ctx, "which", thread.Question{})
			if err != nil {
				return "", err
			}
			if _, err := thread.Do(ctx, "after", r.did.effect("after")); err != nil {
				return "", err
			}
			return got, nil
		}))
		th := r.start("worker", nil)
		at := th.Seq
		r.done(r.reply(th.ID, "which", `"original"`), `"original"`)
		original := r.log(th.ID)
		r.next()
		for _, seq := range []int64{0, 1, int64(len(original)) + 1, -1} {
			_, err := r.e.Fork(r.ctx, th.ID, seq, "", "ann")
			assert.Equal(r, runtime.CodeInvalid, runtime.CodeOf(err),
				"the thread was not at rest after %d", seq)
		}
		_, err := r.e.Fork(r.ctx, "nobody", at, "", "ann")
		assert.Equal(r, runtime.CodeNotFound, runtime.CodeOf(err))
		_, err = r.e.Fork(r.ctx, th.ID, at, th.ID, "ann")
		assert.Equal(r, runtime.CodeConflict, runtime.CodeOf(err), "an id that exists")
		forked, err := r.e.Fork(r.ctx, th.ID, at, "fork", "ann")
		require.NoError(r, err)
		require.Len(r, forked.After, 1, "what the source did later")
		assert.Equal(r, "after", forked.After[0].Name)
		assert.Equal(r, &thread.Fork{Thread: th.ID, Seq: at}, forked.Thread.ForkedFrom)
		r.next()
		r.done(r.reply("fork", "which", `"other"`), `"other"`)
		assert.Equal(r, 1, r.did.of("before"), "what was done before the fork is done")
		require.Equal(r, 2, r.did.of("after"))
		assert.NotEqual(r, r.did.keys["after"][0], r.did.keys["after"][1], "under keys of its own")
		assert.Equal(r, original, r.log(th.ID), "the source stays as it is")
		again, err := r.e.Fork(r.ctx, "fork", at, "", "ann")
		require.NoError(r, err, "a fork can be forked")
		r.asked(r.rest(again.Thread.ID), "which")
	})
}

func TestForkOfARunningPointIsDriven(t *testing.T) {
	onBoth(t, func(r *rig) {
		r.cfg.CommitDelay = -1
		r.with(thread.Func("worker", func(context.Context, any) (string, error) {
			return "done", nil
		}))
		th := r.start("worker", nil)
		first := int64(0)
		for _, e := range r.log(th.ID) {
			if e.End && first == 0 {
				first = e.Seq // the start alone
			}
		}
		forked, err := r.e.Fork(r.ctx, th.ID, first, "", "ann")
		require.NoError(r, err)
		assert.Equal(r, thread.StatusRunning, forked.Thread.Status())
		r.done(r.rest(forked.Thread.ID), `"done"`)
	})
}

func TestSubscribersMissNothing(t *testing.T) {
	onBoth(t, func(r *rig) {
		r.with(thread.Func("talker", func(ctx context.Context, n int) (int, error) {
			for k := range 60 {
				if err := thread.Say(ctx, fmt.Sprint("line ", k), k); err != nil {
					return 0, err
				}
			}
			return n, nil
		}))
		ctx, stop := context.WithCancel(r.ctx)
		defer stop()
		read := func(f thread.Filter, after int64, gate <-chan struct{}) func() []int64 {
			var got []int64
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				for e, err := range r.e.Subscribe(ctx, f, after) {
					if !assert.NoError(r, err) {
						return
					}
					if gate != nil {
						<-gate // a reader that is slow
						gate = nil
					}
					got = append(got, e.Cursor)
				}
			}()
			return func() []int64 { <-ended; return got }
		}
		slow := make(chan struct{})
		readers := []func() []int64{read(thread.Filter{}, 0, nil), read(thread.Filter{}, 0, slow)}
		var first string
		for n := range 5 {
			first = r.start("talker", n).ID
		}
		synctest.Wait()
		close(slow)
		readers = append(readers, read(thread.Filter{}, 0, nil)) // one that is late
		messages := read(thread.Filter{Thread: first,
			Types: []thread.EntryType{thread.EntryMessage}}, 0, nil)
		r.pass(2 * time.Second)
		stop()
		all, err := r.store.Log(r.ctx, thread.LogQuery{Limit: 10_000})
		require.NoError(r, err)
		var want []int64
		for _, e := range all {
			want = append(want, e.Cursor)
		}
		assert.Greater(r, len(want), 300, "more than a page")
		for _, got := range readers {
			assert.Equal(r, want, got(), "all of it, once, in order")
		}
		assert.Len(r, messages(), 60)
	})
}

func TestWhoWaitsIsToldOfTheEnd(t *testing.T) {
	onBoth(t, func(r *rig) {
		free := make(chan struct{})
		r.with(thread.Func("worker", func(ctx context.Context, _ any) (string, error) {
			select {
			case <-free:
				return "done", nil
			case <-ctx.Done():
				return "", ctx.Err()
			}
		}))
		th, err := r.e.Start(r.ctx, thread.Begin{Machine: "worker"})
		require.NoError(r, err)
		ctx, cancel := context.WithTimeout(r.ctx, time.Minute)
		defer cancel()
		_, err = r.e.Wait(ctx, th.ID)
		assert.Equal(r, runtime.CodeUnavailable, runtime.CodeOf(err),
			"it does not wait longer than it may")
		_, err = r.e.Wait(r.ctx, "nobody")
		assert.Equal(r, runtime.CodeNotFound, runtime.CodeOf(err))
		errs := make(chan error, 2)
		go func() { _, err := r.e.Wait(r.ctx, th.ID); errs <- err }()
		go func() {
			for _, err := range r.e.Subscribe(r.ctx, thread.Filter{}, 1000_000_000) {
				errs <- err
			}
		}()
		synctest.Wait()
		ctx, cancel = context.WithTimeout(r.ctx, time.Second)
		defer cancel()
		require.NoError(r, r.e.Close(ctx))
		for range 2 {
			assert.Equal(r, runtime.CodeUnavailable, runtime.CodeOf(<-errs),
				"nobody waits on an engine that is closed")
		}
		close(free)
	})
}
