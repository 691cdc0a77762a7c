package thread_test

import (
	"context"
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
)

// urgent has the rig a kind that comes before all others, and lets what loses to it wait.
func (r *rig) urgent() {
	r.Helper()
	r.cfg.Kinds = append([]runtime.Kind{{Name: "alarm", Clash: "queue"}}, thread.DefaultKinds()...)
}

// both asks two questions at once, the first of which is the more urgent one.
func both() thread.Machine {
	return thread.Turns("both", func(ctx context.Context, in string) (string, error) {
		if in == "hi" {
			return "", nil
		}
		replies, err := thread.AskAll(ctx, thread.Question{Name: "alarm", Kind: "alarm"},
			thread.Question{Name: "which", Type: in})
		if err != nil {
			return "", err
		}
		return string(replies[0].Value) + string(replies[1].Value) + " by " + replies[1].By, nil
	})
}

// What is known already answers a question that was queued from its start, when its turn comes.
func TestAQueuedQuestionIsAnsweredWhenItsTurnComes(t *testing.T) {
	scene(t, func(r *rig) {
		r.cfg.HoldEarly = true
		r.urgent()
		r.cfg.Kinds[2].AutoAnswer, r.cfg.Kinds[2].AutoWhen = "7", []string{"small"}
		r.with(both())
		for input, want := range map[string]string{"large": "18 by eve", "small": "17 by policy"} {
			th := r.start("both", "hi")
			_, err := r.e.Answer(r.ctx, th.ID, thread.Answer{Question: "which", Value: value("8"),
				By: "eve"})
			require.NoError(r, err)
			_, err = r.e.Deliver(r.ctx, thread.Message{Thread: th.ID, Machine: "both", Input: input,
				By: "ann"})
			require.NoError(r, err)
			th = r.rest(th.ID)
			require.Len(r, th.Open, 2)
			assert.Equal(r, thread.InterruptQueued, th.Open[1].State)
			r.next()
			th = r.reply(th.ID, "alarm", "1")
			require.Equal(r, thread.StatusIdle, th.Status(), "nobody has to answer it")
			assert.JSONEq(r, fmt.Sprintf("%q", want), string(th.Result))
			assert.Empty(r, th.EarlyAnswers, "what was not needed is gone with its turn")
			inbox, err := r.e.Inbox(r.ctx, thread.InterruptQuery{})
			require.NoError(r, err)
			assert.Empty(r, inbox)
		}
	})
}

// A thread takes no more early answers than it can hold, and is empty when the turn is over.
func TestOneEarlyAnswerTooManyIsRefused(t *testing.T) {
	scene(t, func(r *rig) {
		r.cfg.HoldEarly = true
		r.with(both())
		th := r.start("both", "hi")
		early := func(n int, request string) error {
			_, err := r.e.Answer(r.ctx, th.ID, thread.Answer{Question: fmt.Sprint("later ", n),
				Value: value("1"), Request: request})
			return err
		}
		for n := range 64 {
			require.NoError(r, early(n, strconv.Itoa(n)))
		}
		r.next()
		seq := r.load(th.ID).Seq
		for range 2 {
			err := early(64, "one too many")
			require.Equal(r, runtime.CodeConflict, runtime.CodeOf(err))
			require.ErrorContains(r, err,
				`a thread keeps 64 early answers at most, and 65536 bytes of them: answer "later 64" when it is asked`)
		}
		require.NoError(r, early(0, "0"), "a request that was taken is found again")
		assert.Equal(r, seq, r.load(th.ID).Seq)
		_, err := r.e.Deliver(r.ctx, thread.Message{Thread: th.ID, Machine: "both", Text: "hi",
			By: "ann"})
		require.NoError(r, err)
		assert.Empty(r, r.rest(th.ID).EarlyAnswers)
		r.next()
		require.NoError(r, early(64, "one too many"), "a refused request is not used up")
		assert.Len(r, r.load(th.ID).EarlyAnswers, 1)
	})
}

// A deadline that a person set by hand, and that came while it could not be answered, expires
// nothing.
func TestAQueuedQuestionDoesNotExpireUnseen(t *testing.T) {
	scene(t, func(r *rig) {
		r.cfg.Kinds = thread.DefaultKinds()
		r.cfg.Kinds[0].Clash, r.cfg.Kinds[1].Deadline = "queue", nil
		r.with(r.asker(thread.Question{}))
		th := r.start("asker", nil)
		i := r.asked(th, "which")
		_, err := r.e.Extend(r.ctx, i.ID, time.Now().Add(time.Hour), "bob")
		require.NoError(r, err)
		_, err = r.e.Escape(r.ctx, th.ID, thread.EscapeSafe, "ann", "")
		require.NoError(r, err)
		require.True(r, r.rest(th.ID).Paused())
		r.next()
		r.pass(2 * time.Hour)
		r.reply(th.ID, thread.KindUserEscape, `"continue"`)
		r.next()
		r.pass(2 * time.Hour)
		require.Equal(r, thread.InterruptOpen, r.interrupt(i.ID).State)
		assert.Zero(r, r.interrupt(i.ID).Due)
		moved, err := r.e.Extend(r.ctx, i.ID, time.Now().Add(time.Hour), "bob")
		require.NoError(r, err, "who wants one again sets it")
		assert.False(r, moved.Due.IsZero())
		r.done(r.say(i, `"a"`), `"a"`)
	})
}
