package thread_test

import (
	"context"
	"encoding/json"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
)

// A request id stands for one thing: the same thing again gets what it got, and nothing else passes
// for it.
func TestARequestIdIsNotUsedForTwoThings(t *testing.T) {
	scene(t, func(r *rig) {
		r.cfg.HoldEarly = true
		r.with(thread.Turns("talk", func(ctx context.Context, in string) (string, error) {
			if in == "hi" {
				return "", nil
			}
			replies, err := thread.AskAll(ctx,
				thread.Question{Name: "sure", Plain: thread.PlainYesNo},
				thread.Question{Name: "why"})
			if err != nil {
				return "", err
			}
			return string(replies[0].Value) + string(replies[1].Value), nil
		}))
		begin := thread.Begin{ID: "t", Machine: "talk", Input: "hi", User: "ann", Request: "start"}
		_, err := r.e.Start(r.ctx, begin)
		require.NoError(r, err)
		r.rest("t")

		answer := func(want runtime.Code, a thread.Answer) *thread.Interrupt {
			r.Helper()
			seq := r.load("t").Seq
			i, err := r.e.Answer(r.ctx, "t", a)
			require.Equal(r, want, runtime.CodeOf(err), "%v", err)
			if want == runtime.CodeConflict {
				require.ErrorIs(r, err, thread.ErrRequestUsed)
				assert.Equal(r, seq, r.load("t").Seq, "nothing happened")
			}
			return i
		}
		deliver := func(want runtime.Code, m thread.Message) {
			r.Helper()
			m.Thread, m.Machine = "t", "talk"
			_, err := r.e.Deliver(r.ctx, m)
			require.Equal(r, want, runtime.CodeOf(err), "%v", err)
		}
		again := func() {
			r.Helper()
			_, err := r.e.Start(r.ctx, begin)
			require.NoError(r, err)
		}
		again()
		answer(runtime.CodeConflict, thread.Answer{Question: "why", Value: value(`1`), By: "ann",
			Request: "start"})
		deliver(runtime.CodeConflict, thread.Message{Text: "go", By: "ann", Request: "start"})
		deliver("", thread.Message{Text: "hi", By: "ann", Request: "start"})

		answer("", thread.Answer{Question: "why", Value: value(`"early"`), By: "ann",
			Request: "early"})
		r.next()
		answer("", thread.Answer{Question: "why", Value: value(`"early"`), By: "ann",
			Request: "early"})
		answer(runtime.CodeConflict, thread.Answer{Question: "sure", Value: value(`true`),
			By: "ann", Request: "early"})
		deliver(runtime.CodeConflict, thread.Message{Text: "go", By: "ann", Request: "early"})
		require.Len(r, r.load("t").EarlyAnswers, 1)

		deliver("", thread.Message{Text: "go", By: "ann", Request: "go"})
		r.next()
		deliver("", thread.Message{Text: "go", By: "ann", Request: "go"})
		deliver(runtime.CodeConflict, thread.Message{Text: "stop", By: "ann", Request: "go"})
		deliver(runtime.CodeConflict, thread.Message{Text: "go", By: "bob", Request: "go"})
		sure := r.asked(r.rest("t"), "sure")
		answer(runtime.CodeConflict, thread.Answer{Interrupt: sure.ID, Value: value(`true`),
			By: "ann", Request: "go"})
		answer(runtime.CodeConflict, thread.Answer{Question: "sure", Value: value(`true`),
			By: "ann", Request: "early"})

		for range 2 { // what was not understood is told again, and not counted again
			deliver(runtime.CodeInvalid,
				thread.Message{Text: "perhaps", By: "ann", Request: "unclear"})
			r.next()
		}
		assert.Equal(r, 1, r.interrupt(sure.ID).Asks)
		deliver(runtime.CodeConflict, thread.Message{Text: "yes", By: "ann", Request: "unclear"})
		for range 2 {
			deliver("", thread.Message{Text: "yes", By: "ann", Request: "yes"})
			r.next()
		}
		deliver(runtime.CodeConflict, thread.Message{Text: "no", By: "ann", Request: "yes"})
		assert.Equal(r, sure.ID,
			answer("", thread.Answer{Question: "sure", Value: value(`true`), By: "ann",
				Request: "yes"}).ID)
		answer(runtime.CodeConflict, thread.Answer{Question: "why", Value: value(`true`),
			By: "ann", Request: "yes"})

		assert.JSONEq(r, `"true\"early\""`, string(r.rest("t").Result))
		again()
		begin.Request = "yes"
		_, err = r.e.Start(r.ctx, begin)
		require.ErrorIs(r, err, thread.ErrRequestUsed)
	})
}

// The same request starts the same thread, however far that has come. Another input, or another
// person, is another request.
func TestStartAgain(t *testing.T) {
	scene(t, func(r *rig) {
		r.with(thread.Turns("talk", func(_ context.Context, in any) (any, error) {
			return in, nil
		}))
		start := func(b thread.Begin, want string) {
			r.Helper()
			th, err := r.e.Start(r.ctx, b)
			if want == "" {
				require.ErrorIs(r, err, thread.ErrRequestUsed)
				require.Equal(r, runtime.CodeConflict, runtime.CodeOf(err))
				require.ErrorContains(r, err, "take a new one")
				return
			}
			require.NoError(r, err)
			assert.Equal(r, want, th.ID)
			r.rest(th.ID)
		}
		first := thread.Begin{Machine: "talk", Name: "n", Input: value(`{"a":1,"b":[null]}`),
			User: "ann", Request: "r"}
		th, err := r.e.Start(r.ctx, first)
		require.NoError(r, err)
		r.rest(th.ID)
		none := thread.Begin{ID: "none", Machine: "talk", User: "ann", Request: "r"}
		start(none, "none")

		again := func() {
			r.Helper()
			start(first, th.ID)
			start(none, "none")
			for _, change := range []func(b *thread.Begin){
				func(b *thread.Begin) { b.Input = value(` {"b" : [ null ], "a":1} `) },
				func(b *thread.Begin) { b.Input = map[string]any{"a": 1, "b": []any{nil}} },
				func(b *thread.Begin) { b.Metadata = value(`{"trace":2}`) },
				func(b *thread.Begin) { b.ID = th.ID },
			} {
				same := first
				change(&same)
				start(same, th.ID)
			}
			for _, change := range []func(b *thread.Begin){
				func(b *thread.Begin) { b.Input = value(`{"a":1,"b":[]}`) },
				func(b *thread.Begin) { b.Input = nil },
				func(b *thread.Begin) { b.User = "bob" },
				func(b *thread.Begin) { b.Name = "m" },
				func(b *thread.Begin) { *b = none; b.Input = value("null") },
			} {
				other := first
				change(&other)
				start(other, "")
			}
		}
		again()
		r.next()
		for n := range 120 { // more than a page of the log
			_, err := r.e.Deliver(r.ctx, thread.Message{Thread: th.ID, Machine: "talk", Input: n,
				By: "bob"})
			require.NoError(r, err)
			r.rest(th.ID)
		}
		again()
		fork, err := r.e.Fork(r.ctx, th.ID, th.Seq, "fork", "eve")
		require.NoError(r, err)
		again()
		_, err = r.e.Cancel(r.ctx, th.ID, "ann", "")
		require.NoError(r, err)
		r.next()
		again()
		of := first
		of.ID = fork.Thread.ID
		_, err = r.e.Start(r.ctx, of)
		require.Equal(r, runtime.CodeConflict, runtime.CodeOf(err),
			"the requests of a source are not those of its fork")
		require.NotErrorIs(r, err, thread.ErrRequestUsed)
	})
}

// One of several needed answers, given as plain text, is the same vote when it comes again.
func TestADeliveredVoteComesAgain(t *testing.T) {
	scene(t, func(r *rig) {
		r.with(r.asker(thread.Question{Plain: thread.PlainText, Quorum: 2,
			Assignees: []string{"bob", "eve"}}))
		th := r.start("asker", nil)
		vote := func(by, text, request string, want runtime.Code) {
			r.Helper()
			_, err := r.e.Deliver(r.ctx, thread.Message{Thread: th.ID, Text: text, By: by,
				Request: request})
			require.Equal(r, want, runtime.CodeOf(err), "%v", err)
		}
		vote("bob", "a", "1", "")
		r.next()
		vote("bob", "a", "1", "")
		vote("bob", "b", "1", runtime.CodeConflict)
		vote("eve", "a", "1", runtime.CodeConflict)
		assert.Len(r, r.asked(r.load(th.ID), "which").Votes, 1)
		vote("eve", "a", "2", "")
		r.next()
		r.done(r.rest(th.ID), `"a"`)
		vote("eve", "a", "2", "")
		vote("bob", "a", "1", "")
	})
}

// A message to a thread that cannot take it is told why, and what to do.
func TestAMessageThatIsNotTaken(t *testing.T) {
	scene(t, func(r *rig) {
		var up atomic.Bool
		r.with(thread.Turns("talk", func(context.Context, string) (string, error) {
			if !up.Load() {
				return "", errCut
			}
			return "ok", nil
		}))
		refused := func(id, machine string, code runtime.Code, why string) {
			r.Helper()
			_, err := r.e.Deliver(r.ctx, thread.Message{Thread: id, Machine: machine, Text: "hi",
				By: "ann"})
			require.Equal(r, code, runtime.CodeOf(err))
			require.ErrorContains(r, err, why)
		}
		th := r.tried("talk", "hi")
		require.Equal(r, thread.StatusWaiting, th.Status())
		require.Empty(r, th.Open)
		refused(th.ID, "talk", runtime.CodeConflict, "wait until it rests")
		up.Store(true)
		r.next()
		r.pass(5 * time.Second)
		require.Equal(r, thread.StatusIdle, r.load(th.ID).Status())
		refused(th.ID, "", runtime.CodeInvalid, "no machine is named: say which one runs the turn")
		refused(th.ID, "nobody", runtime.CodeInvalid,
			`there is no machine "nobody": give it to Open`)
		refused("nowhere", "talk", runtime.CodeNotFound, "nowhere")
		_, err := r.e.Cancel(r.ctx, th.ID, "ann", "")
		require.NoError(r, err)
		r.next()
		refused(th.ID, "talk", runtime.CodeNotWaiting, "it is cancelled: start another")
	})
}

// An effect that starts another thread, under a request made of its key, starts it once, whatever
// happens to the process.
func TestAnEffectStartsAnotherThread(t *testing.T) {
	scene(t, func(r *rig) {
		r.with(r.asker(thread.Question{}),
			thread.Func("parent", func(ctx context.Context, _ any) (string, error) {
				made, err := thread.Do(ctx, "other", func(ctx context.Context, key string) (string,
					error) {
					if _, err := thread.Do(ctx, "inner",
						func(context.Context, string) (int, error) {
							return 1, nil
						}); runtime.CodeOf(err) != runtime.CodeInvalid {
						return "", errors.New("an effect may not hold another one")
					}
					e, err := thread.EngineOf(ctx)
					if err != nil {
						return "", err
					}
					other, err := e.Start(ctx, thread.Begin{Machine: "asker", Request: key,
						User: "ann"})
					if err != nil {
						return "", err
					}
					return other.ID, nil
				})
				if err != nil {
					return "", err
				}
				_, err = thread.Ask[bool](ctx, "go on", thread.Question{Plain: thread.PlainYesNo})
				return made, err
			}))
		parent := r.start("parent", nil)
		r.asked(parent, "go on")
		parent = r.reply(parent.ID, "go on", `true`)
		var other string
		require.NoError(r, json.Unmarshal(parent.Result, &other))
		r.done(parent, string(parent.Result))
		r.asked(r.rest(other), "which")
		rows, err := r.e.Threads(r.ctx, thread.Query{})
		require.NoError(r, err)
		assert.Len(r, rows, 2)
		_, err = thread.EngineOf(r.ctx)
		require.Equal(r, runtime.CodeInvalid, runtime.CodeOf(err), "%v", err)
	})
}
