package thread_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
)

// A request id stands for one thing: the same thing again gets what it got, and nothing else passes for it.
func TestARequestIdIsNotUsedForTwoThings(t *testing.T) {
	scene(t, func(r *rig) {
		r.cfg.HoldEarly = true
		r.with(thread.Turns("talk", func(ctx context.Context, in string) (string, error) {
			if in == "hi" {
				return "", nil
			}
			replies, err := thread.AskAll(ctx, runtime.Question{Name: "sure", Plain: runtime.PlainYesNo}, runtime.Question{Name: "why"})
			if err != nil {
				return "", err
			}
			return string(replies[0].Value) + string(replies[1].Value), nil
		}))
		begin := thread.Begin{ID: "t", Machine: "talk", Input: "hi", User: "ann", Request: "start"}
		_, err := r.e.Start(r.ctx, begin)
		require.NoError(r, err)
		r.rest("t")

		answer := func(want runtime.Code, a runtime.Answer) *runtime.Interrupt {
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
		answer(runtime.CodeConflict, runtime.Answer{Question: "why", Value: value(`1`), By: "ann", Request: "start"})
		deliver(runtime.CodeConflict, thread.Message{Text: "go", By: "ann", Request: "start"})
		deliver("", thread.Message{Text: "hi", By: "ann", Request: "start"})

		answer("", runtime.Answer{Question: "why", Value: value(`"early"`), By: "ann", Request: "early"})
		r.next()
		answer("", runtime.Answer{Question: "why", Value: value(`"early"`), By: "ann", Request: "early"})
		answer(runtime.CodeConflict, runtime.Answer{Question: "sure", Value: value(`true`), By: "ann", Request: "early"})
		deliver(runtime.CodeConflict, thread.Message{Text: "go", By: "ann", Request: "early"})
		require.Len(r, r.load("t").Mailbox, 1)

		deliver("", thread.Message{Text: "go", By: "ann", Request: "go"})
		r.next()
		deliver("", thread.Message{Text: "go", By: "ann", Request: "go"})
		deliver(runtime.CodeConflict, thread.Message{Text: "stop", By: "ann", Request: "go"})
		deliver(runtime.CodeConflict, thread.Message{Text: "go", By: "bob", Request: "go"})
		sure := r.asked(r.rest("t"), "sure")
		answer(runtime.CodeConflict, runtime.Answer{Interrupt: sure.ID, Value: value(`true`), By: "ann", Request: "go"})
		answer(runtime.CodeConflict, runtime.Answer{Question: "sure", Value: value(`true`), By: "ann", Request: "early"})

		for range 2 { // what was not understood is told again, and not counted again
			deliver(runtime.CodeInvalid, thread.Message{Text: "perhaps", By: "ann", Request: "unclear"})
			r.next()
		}
		assert.Equal(r, 1, r.interrupt(sure.ID).Asks)
		deliver(runtime.CodeConflict, thread.Message{Text: "yes", By: "ann", Request: "unclear"})
		for range 2 {
			deliver("", thread.Message{Text: "yes", By: "ann", Request: "yes"})
			r.next()
		}
		deliver(runtime.CodeConflict, thread.Message{Text: "no", By: "ann", Request: "yes"})
		assert.Equal(r, sure.ID, answer("", runtime.Answer{Question: "sure", Value: value(`true`), By: "ann", Request: "yes"}).ID)
		answer(runtime.CodeConflict, runtime.Answer{Question: "why", Value: value(`true`), By: "ann", Request: "yes"})

		assert.JSONEq(r, `"true\"early\""`, string(r.rest("t").Result))
		again()
		begin.Request = "yes"
		_, err = r.e.Start(r.ctx, begin)
		require.ErrorIs(r, err, thread.ErrRequestUsed)
	})
}

// One of several needed answers, given as plain text, is the same vote when it comes again.
func TestADeliveredVoteComesAgain(t *testing.T) {
	scene(t, func(r *rig) {
		r.with(r.asker(runtime.Question{Plain: runtime.PlainText, Quorum: 2, Assignees: []string{"bob", "eve"}}))
		th := r.start("asker", nil)
		vote := func(by, text, request string, want runtime.Code) {
			r.Helper()
			_, err := r.e.Deliver(r.ctx, thread.Message{Thread: th.ID, Text: text, By: by, Request: request})
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
