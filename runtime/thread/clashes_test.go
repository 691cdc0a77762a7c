package thread_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
)

// A question that was queued by a pause has lost a clash, whatever became of it, and one whose step
// failed has not.
func TestStatsTellClashesFromFailures(t *testing.T) {
	scene(t, func(r *rig) {
		r.cfg.Kinds = thread.DefaultKinds()
		r.cfg.Kinds[0].Clash = "queue"
		r.cfg.Kinds[2].Retry = nil
		r.with(r.asker(thread.Question{}),
			thread.Func("careless", func(ctx context.Context, _ any) (string, error) {
				if _, err := thread.Ask[string](ctx, "which", thread.Question{}); err == nil {
					return "", nil
				}
				panic("it broke after it had asked")
			}))
		queued, answered := r.start("asker", nil), r.start("asker", nil)
		question := queued.Open[0]
		for range 2 {
			_, err := r.e.Escape(r.ctx, queued.ID, thread.EscapeSafe, "ann", "")
			require.NoError(r, err)
			r.next()
			r.say(r.asked(r.rest(queued.ID), thread.KindUserEscape), `"continue"`)
		}
		r.next()
		r.done(r.say(question, `"a"`), `"a"`)
		r.done(r.say(answered.Open[0], `"b"`), `"b"`)
		r.start("careless", nil)
		stats, err := r.e.Stats(r.ctx, time.Time{})
		require.NoError(r, err)
		at := func(kind, who string) thread.Stat {
			n := slices.IndexFunc(stats, func(s thread.Stat) bool {
				return s.Kind == kind && s.Assignee == who
			})
			require.GreaterOrEqual(r, n, 0)
			return stats[n]
		}
		had := at(thread.KindAgentQuestion, "bob")
		assert.Equal(r, [4]int{2, 2, 0, 1}, [4]int{had.Count, had.Answered, had.Superseded,
			had.Clashed}, "one of two, though it clashed twice")
		lost := at(thread.KindAgentQuestion, "")
		assert.Equal(r, [4]int{1, 0, 1, 0}, [4]int{lost.Count, lost.Answered, lost.Superseded,
			lost.Clashed}, "nobody has answered it: a row apart")
		assert.Zero(r, at(thread.KindUserEscape, "bob").Clashed, "who wins has lost nothing")
	})
}

// A fork may be made long after its question was open: it waits as long as a new one would, and its
// source stays over.
func TestAForkOfAnOldQuestionWaits(t *testing.T) {
	scene(t, func(r *rig) {
		r.with(r.asker(thread.Question{Deadline: &runtime.Deadline{After: time.Minute,
			Then: "expire"}}))
		th := r.start("asker", nil)
		at := th.Seq
		r.pass(10 * time.Minute)
		require.Equal(r, thread.StatusFailed, r.rest(th.ID).Status())
		forked, err := r.e.Fork(r.ctx, th.ID, at, "again", "eve")
		require.NoError(r, err)
		question := r.asked(forked.Thread, "which")
		assert.Equal(r, time.Now().Add(time.Minute).UTC(), question.Due)
		r.next()
		r.pass(59 * time.Second)
		assert.Equal(r, thread.StatusWaiting, r.rest("again").Status())
		r.pass(2 * time.Second)
		assert.Equal(r, thread.StatusFailed, r.rest("again").Status(), "but no longer")

		_, err = r.e.Fork(r.ctx, th.ID, at, "third", "eve")
		require.NoError(r, err)
		r.next()
		r.done(r.reply("third", "which", `"a"`), `"a"`)
		assert.Equal(r, thread.StatusFailed, r.load(th.ID).Status())
	})
}

// Words that mean nothing end no pause and give up no step, however often they come.
func TestUnclearWordsSettleNothing(t *testing.T) {
	scene(t, func(r *rig) {
		broken := true
		r.with(r.asker(thread.Question{}),
			thread.Func("breaks", func(context.Context, any) (string, error) {
				if broken {
					return "", thread.Permanent(errors.New("it broke"))
				}
				return "whole", nil
			}))
		mumble := func(id string) *thread.Interrupt {
			r.Helper()
			i := r.load(id).Open[0]
			for range 5 {
				err := r.refused(runtime.CodeInvalid, thread.Answer{Interrupt: i.ID, Text: "hm",
					By: "bob"})
				unclear, ok := errors.AsType[*thread.UnclearError](err)
				require.True(r, ok)
				assert.Equal(r, -1, unclear.Left)
				r.next()
				require.Equal(r, thread.StatusWaiting, r.rest(id).Status())
			}
			return i
		}
		paused := r.start("asker", nil)
		_, err := r.e.Escape(r.ctx, paused.ID, thread.EscapeSafe, "ann", "")
		require.NoError(r, err)
		r.rest(paused.ID)
		paused = r.say(mumble(paused.ID), `"continue"`)
		r.done(r.reply(paused.ID, "which", `"a"`), `"a"`)

		failed := mumble(r.start("breaks", nil).ID)
		broken = false
		edited := r.say(failed, `{"choice":"edit","input":1}`)
		r.done(edited, `"whole"`)
	})
}
