package planner_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/planner"
	"github.com/routegen/routegen/runtime/thread"
)

// changing replans to d and e when a person asks.
func changing(p *planner.Plan, modification string) planner.Replanned {
	if modification != "" {
		return planner.Replanned{Steps: []string{"c", "d", "e"}}
	}
	return goOn(p)
}

func TestPlanPreview(t *testing.T) {
	playAll(t, func(s *stage) {
		p, id := pausedAt2(s)
		p.replan = changing
		before := s.rest(id)
		proposal, err := planner.Preview(s.Context(), s.e, id, "also d and e", "ann", "")
		require.NoError(s, err)
		assert.Equal(s, before, s.rest(id), "nothing is committed")
		assert.Equal(s, []string{"c"}, proposal.Before,
			"the step that has ended is done, though nobody has looked at it")
		assert.Equal(s, []string{"c", "d", "e"}, proposal.After)
		assert.Equal(s, []string{"d", "e"}, proposal.Added)
		assert.Empty(s, proposal.Removed)
		s.next()
		require.NoError(s, planner.Apply(s.Context(), s.e, proposal, "ann"))
		s.next()
		p.answered(id, "a done 1, b done 1, c done 1, d done 1, e done 1")
		assert.Equal(s, []string{"also d and e"}, p.asked(), "the replanner is not asked again")
		modified := p.events(id)[6]
		assert.Equal(s, "plan_modified", modified.Name)
		assert.Equal(s, "add", modified.Modified)
		s.code(runtime.CodeNotWaiting, planner.Apply(s.Context(), s.e, proposal, "ann"))
	})
}

func TestPlanPreviewIsDiscarded(t *testing.T) {
	playAll(t, func(s *stage) {
		p, id := pausedAt2(s)
		p.replan = changing
		_, err := planner.Preview(s.Context(), s.e, id, "also d and e", "ann", "")
		require.NoError(s, err)
		s.answer(s.asks(id, thread.KindUserEscape), `"continue"`)
		p.answered(id, "a done 1, b done 1, c done 1")
	})
}

func TestPlanApplyOnAChangedThread(t *testing.T) {
	playAll(t, func(s *stage) {
		p, id := pausedAt2(s)
		p.replan = changing
		proposal, err := planner.Preview(s.Context(), s.e, id, "also d and e", "ann", "")
		require.NoError(s, err)
		s.answer(s.asks(id, thread.KindUserEscape), `"status"`)
		s.next()
		s.code(runtime.CodeConflict, planner.Apply(s.Context(), s.e, proposal, "ann"))
		assert.NotContains(s, p.names(id), "plan_modified")
		s.code(runtime.CodeInvalid,
			planner.Apply(s.Context(), s.e, &planner.Proposal{Thread: id}, "ann"))
	})
}

func TestPlanPreviewNeedsAPausedPlan(t *testing.T) {
	playAll(t, func(s *stage) {
		p := planning(s, "")
		id := p.start("a")
		p.answered(id, "a done 1")
		_, err := planner.Preview(s.Context(), s.e, id, "x", "ann", "")
		s.code(runtime.CodeNotWaiting, err)
		s.code(runtime.CodeNotWaiting, planner.Undo(s.Context(), s.e, id, "ann"))
		_, err = planner.Preview(s.Context(), s.e, "nobody", "x", "ann", "")
		s.code(runtime.CodeNotFound, err)
	})
}

func TestPlanPreviewThatFails(t *testing.T) {
	playAll(t, func(s *stage) {
		p, id := pausedAt2(s)
		p.broken.Store(true)
		before := s.rest(id)
		_, err := planner.Preview(s.Context(), s.e, id, "x", "ann", "")
		s.code(runtime.CodeUnavailable, err)
		require.ErrorContains(s, err, errBroken.Error())
		assert.Equal(s, before, s.rest(id))
		inbox, err := s.e.Inbox(s.Context(), thread.InterruptQuery{})
		require.NoError(s, err)
		assert.Len(s, inbox, 1, "nothing is left over but the pause")
		p.broken.Store(false)
		s.answer(inbox[0], `"continue"`)
		p.answered(id, "a done 1, b done 1, c done 1")
	})
}

func TestAPlannerNeedsAllItsFunctions(t *testing.T) {
	t.Parallel()
	for _, p := range []planner.Config{{}, {Premature: "guess"}} {
		if p.Premature != "" {
			p.Plan = func(context.Context, string) ([]string, error) { return nil, nil }
			p.Execute = func(context.Context, *planner.Plan, string) (string, error) {
				return "", nil
			}
			p.Replan = func(context.Context, *planner.Plan, string) (planner.Replanned, error) {
				return planner.Replanned{}, nil
			}
		}
		_, err := planner.New(p)
		assert.Equal(t, runtime.CodeInvalid, runtime.CodeOf(err))
	}
}

func TestPlanUndo(t *testing.T) {
	playAll(t, func(s *stage) {
		p, id := pausedAt2(s)
		p.replan = changing
		s.code(runtime.CodeConflict, planner.Undo(s.Context(), s.e, id, "ann"))
		pauseAt := func(step string) *held {
			h := hold()
			p.finish = func(ctx context.Context, at string) error {
				if at == step {
					return h.here(ctx)
				}
				return nil
			}
			return h
		}
		pause := func(h *held) {
			<-h.reached
			_, err := s.e.Escape(s.Context(), id, thread.EscapeSafe, "ann", "")
			require.NoError(s, err)
			close(h.release)
			s.asks(id, thread.KindUserEscape)
			s.next()
		}
		h := pauseAt("c")
		s.answer(s.asks(id, thread.KindUserEscape), `{"choice":"modify","text":"also d and e"}`)
		pause(h)
		require.NoError(s, planner.Undo(s.Context(), s.e, id, "ann"))
		p.answered(id, "a done 1, b done 1, c done 1")
		assert.Zero(s, s.done("d"), "undone")
		assert.Equal(s, 1, s.done("c"), "what was executed stays executed")
	})
}

func TestPlanUndoKeepsAStepThatWasExecutedBefore(t *testing.T) {
	playAll(t, func(s *stage) {
		p, h := planning(s, ""), hold()
		p.replan = func(plan *planner.Plan, modification string) planner.Replanned {
			if modification != "" {
				return planner.Replanned{Steps: []string{"d", "c"}}
			}
			return goOn(plan)
		}
		p.finish = func(ctx context.Context, step string) error {
			if step == "b" {
				return h.here(ctx)
			}
			return nil
		}
		pause := func(id string) {
			<-h.reached
			_, err := s.e.Escape(s.Context(), id, thread.EscapeSafe, "ann", "")
			require.NoError(s, err)
			close(h.release)
			s.asks(id, thread.KindUserEscape)
			s.next()
		}
		id := p.start("c,b,c")
		pause(id)
		h = hold()
		p.finish = func(ctx context.Context, step string) error {
			if step == "d" {
				return h.here(ctx)
			}
			return nil
		}
		s.answer(s.asks(id, thread.KindUserEscape), `{"choice":"modify","text":"d first"}`)
		pause(id)
		require.NoError(s, planner.Undo(s.Context(), s.e, id, "ann"))
		p.answered(id, "c done 1, b done 1, d done 1, c done 2")
	})
}

func TestPlanRedo(t *testing.T) {
	playAll(t, func(s *stage) {
		p := planning(s, "")
		p.question(thread.Question{Name: "which", Text: "Which?"})
		p.replan = func(plan *planner.Plan, modification string) planner.Replanned {
			if modification != "" {
				return planner.Replanned{Steps: []string{"b", "d"}}
			}
			return goOn(plan)
		}
		id := p.start("a,b,c")
		pause := func() {
			s.asks(id, thread.KindAgentQuestion)
			_, err := s.e.Escape(s.Context(), id, thread.EscapeSafe, "ann", "")
			require.NoError(s, err)
			s.asks(id, thread.KindUserEscape)
			s.next()
		}
		plan := func() []string {
			var out struct {
				Plan []string `json:"current_plan"`
			}
			require.NoError(s, json.Unmarshal(s.asks(id, thread.KindUserEscape).Context, &out))
			return out.Plan
		}
		pause()
		s.code(runtime.CodeConflict, planner.Redo(s.Context(), s.e, id, "ann"))
		s.answer(s.asks(id, thread.KindUserEscape), `{"choice":"modify","text":"d for c"}`)
		pause()
		assert.Equal(s, []string{"a", "b", "d"}, plan())
		require.NoError(s, planner.Undo(s.Context(), s.e, id, "ann"))
		pause()
		assert.Equal(s, []string{"a", "b", "c"}, plan())
		require.NoError(s, planner.Redo(s.Context(), s.e, id, "ann"))
		i := s.asks(id, thread.KindAgentQuestion)
		p.shows(i, `{"current_plan":["a","b","d"],"completed_steps":1,"total_steps":3}`)
		s.answer(i, `1`)
		p.answered(id, "a done 1, b done 1, d done 1")
		assert.Equal(s, 1, s.done("a"))
	})
}
