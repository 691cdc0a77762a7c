package thread_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
)

// asFinance is a context for calls of a member of the group.
func (r *rig) asFinance(person string) context.Context {
	return thread.InGroups(r.ctx, person, "staff", "finance")
}

// ofKind gives a kind assignees.
func (r *rig) ofKind(name string, who ...string) {
	r.cfg.Kinds = slices.Clone(thread.DefaultKinds())
	for n := range r.cfg.Kinds {
		if r.cfg.Kinds[n].Name == name {
			r.cfg.Kinds[n].Assignees = who
		}
	}
}

// TestMembersOfAGroupAnswer: one who is in none of the groups changes nothing, whatever they are
// called, in an answer, a claim, an extension and a batch.
func TestMembersOfAGroupAnswer(t *testing.T) {
	onBoth(t, func(r *rig) {
		r.ofKind(thread.KindAgentQuestion, "group:finance", "ann")
		r.with(r.asker(thread.Question{}))
		th := r.start("asker", nil)
		i := r.asked(th, "which")
		require.Equal(r, []string{"group:finance", "ann"}, i.Answerers(), "those of the kind")
		before := r.load(th.ID).Version
		later := time.Now().Add(time.Hour)
		for by, ctx := range map[string]context.Context{
			"eve":           r.ctx,
			"mia":           thread.InGroups(r.ctx, "mia", "Finance", "finance ", "group:finance"),
			"bob":           r.asFinance("mia"), // in another's name
			"group:finance": r.ctx,
			"finance":       r.ctx,
			"":              r.asFinance(""),
		} {
			a := thread.Answer{Interrupt: i.ID, Value: value(`"x"`), By: by}
			_, err := r.e.Answer(ctx, th.ID, a)
			require.Equal(r, runtime.CodeForbidden, runtime.CodeOf(err), "%q: %v", by, err)
			_, err = r.e.AnswerAll(ctx, a)
			require.Equal(r, runtime.CodeForbidden, runtime.CodeOf(err), "%q: %v", by, err)
			_, err = r.e.Extend(ctx, i.ID, later, by)
			require.Equal(r, runtime.CodeForbidden, runtime.CodeOf(err), "%q: %v", by, err)
			if by != "" {
				_, err = r.e.Claim(ctx, i.ID, by, false)
				require.Equal(r, runtime.CodeForbidden, runtime.CodeOf(err), "%q: %v", by, err)
			}
		}
		r.next()
		require.Equal(r, before, r.load(th.ID).Version, "nothing was written")

		_, err := r.e.Claim(r.asFinance("bob"), i.ID, "bob", false)
		require.NoError(r, err)
		_, err = r.e.Answer(r.asFinance("mia"), th.ID, thread.Answer{Interrupt: i.ID,
			Value: value(`"x"`), By: "mia"})
		require.ErrorContains(r, err, "claimed by bob")
		_, err = r.e.AnswerAll(r.asFinance("bob"), thread.Answer{Interrupt: i.ID,
			Value: value(`"x"`), By: "bob"})
		require.NoError(r, err)
		r.done(r.rest(th.ID), `"x"`)

		i = r.asked(r.start("asker", nil), "which")
		_, err = r.e.Answer(r.ctx, "", thread.Answer{Interrupt: i.ID, Value: value(`"x"`), By: "ann"})
		require.NoError(r, err, "named herself")
	})
}

// TestWhoActsForAPersonVouchesForTheirGroups: and for that person's alone. The history says both.
func TestWhoActsForAPersonVouchesForTheirGroups(t *testing.T) {
	onBoth(t, func(r *rig) {
		r.with(r.asker(thread.Question{Assignees: []string{"group:finance"}}))
		th := r.start("asker", nil)
		i := r.asked(th, "which")
		ctx := thread.ActFor(r.ctx, "operator", "mia")
		_, err := r.e.Answer(ctx, "", thread.Answer{Interrupt: i.ID, Value: value(`"x"`), By: "bob"})
		require.Equal(r, runtime.CodeForbidden, runtime.CodeOf(err))
		_, err = r.e.Answer(ctx, "", thread.Answer{Interrupt: i.ID, Value: value(`"x"`), By: "mia"})
		require.NoError(r, err)
		answered := r.log(th.ID, thread.EntryAnswered)
		require.Len(r, answered, 1)
		assert.Equal(r, "mia", answered[0].By)
		assert.Equal(r, "operator", answered[0].Via)
	})
}

// TestAssigneesOfAQuestionStandInPlaceOfThoseOfItsKind: whole, and a quorum counts the people who
// are named, unless a group is among them, whose members nobody counts.
func TestAssigneesOfAQuestionStandInPlaceOfThoseOfItsKind(t *testing.T) {
	onBoth(t, func(r *rig) {
		r.ofKind(thread.KindAgentQuestion, "bob", "cid")
		rules := &thread.Rules{Kinds: r.cfg.Kinds}
		for _, c := range []struct {
			q    thread.Question
			says string // "" when it is legal
		}{
			{thread.Question{Quorum: 2}, ""},
			{thread.Question{Quorum: 3}, "3 must answer and 2 of its Assignees may"},
			{thread.Question{Quorum: 2, Assignees: []string{"ann"}}, "1 of its Assignees may"},
			{thread.Question{Quorum: 9, Assignees: []string{"ann", "group:finance"}}, ""},
		} {
			c.q.Name = "q"
			err := c.q.Check(rules, "ann")
			if c.says == "" {
				assert.NoError(r, err, "%+v", c.q)
			} else {
				assert.ErrorContains(r, err, c.says)
			}
		}

		r.with(r.asker(thread.Question{Assignees: []string{"group:finance"}, Quorum: 2,
			NotOwn: true}))
		th := r.start("asker", nil) // ann's
		i := r.asked(th, "which")
		vote := func(by, v string) error {
			_, err := r.e.Answer(r.asFinance(by), "", thread.Answer{Interrupt: i.ID,
				Value: value(v), By: by})
			return err
		}
		require.Equal(r, runtime.CodeForbidden, runtime.CodeOf(vote("ann", `"x"`)), "her own")
		require.NoError(r, vote("bob", `"x"`))
		require.NoError(r, vote("cid", `"y"`), "they disagree, and others can still decide")
		require.Equal(r, thread.InterruptOpen, r.interrupt(i.ID).State)
		require.NoError(r, vote("dan", `"x"`))
		r.done(r.rest(th.ID), `"x"`)
	})
}

// TestGroupIsAskedInThePlaceOfOthers: after a deadline, and by the kind of failed steps. What waits
// keeps whom it was asked with.
func TestGroupIsAskedInThePlaceOfOthers(t *testing.T) {
	onBoth(t, func(r *rig) {
		r.cfg.Poll = time.Minute
		r.ofKind(thread.KindSystemError, "group:ops")
		r.with(r.asker(thread.Question{Assignees: []string{"bob"}, Deadline: &runtime.Deadline{
			After: time.Hour, Then: "escalate", Assignee: "group:finance"}}),
			thread.Func("fails", func(context.Context, any) (string, error) {
				return "", thread.Permanent(assert.AnError)
			}))
		i := r.asked(r.start("asker", nil), "which")
		failed := r.asked(r.start("fails", nil), thread.KindSystemError)
		require.Equal(r, []string{"group:ops"}, failed.Answerers())
		r.pass(time.Hour + time.Second)
		require.Equal(r, []string{"group:finance"}, r.interrupt(i.ID).Answerers())
		for _, who := range []string{"bob", "mia"} {
			_, err := r.e.Answer(r.ctx, "", thread.Answer{Interrupt: i.ID, Value: value(`"x"`),
				By: who})
			require.Equal(r, runtime.CodeForbidden, runtime.CodeOf(err), who)
		}
		_, err := r.e.Answer(r.asFinance("mia"), "", thread.Answer{Interrupt: i.ID,
			Value: value(`"x"`), By: "mia"})
		require.NoError(r, err)

		r.ofKind(thread.KindSystemError) // a later program asks anybody
		r.next()
		abort := thread.Answer{Interrupt: failed.ID, Value: value(`"abort"`), By: "mia"}
		r.refused(runtime.CodeForbidden, abort)
		_, err = r.e.Answer(thread.InGroups(r.ctx, "mia", "ops"), "", abort)
		require.NoError(r, err)
	})
}

// TestEarlyAnswerOfAMember is not taken: who is in a group is known while they call.
func TestEarlyAnswerOfAMember(t *testing.T) {
	onBoth(t, func(r *rig) {
		r.cfg.HoldEarly = true
		r.with(thread.Func("two", func(ctx context.Context, _ any) (string, error) {
			if _, err := thread.Ask[string](ctx, "first", thread.Question{}); err != nil {
				return "", err
			}
			return thread.Ask[string](ctx, "second",
				thread.Question{Assignees: []string{"group:finance"}})
		}))
		th := r.start("two", nil)
		_, err := r.e.Answer(r.asFinance("mia"), th.ID, thread.Answer{Question: "second",
			Value: value(`"x"`), By: "mia"})
		require.NoError(r, err)
		_, err = r.e.Answer(r.asFinance("mia"), th.ID, thread.Answer{Question: "first",
			Value: value(`"x"`), By: "bob"})
		require.NoError(r, err)
		r.asked(r.rest(th.ID), "second")
	})
}
