package planner_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/internal/threadtest"
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
	threadtest.PlayAll(t, func(s *threadtest.Stage) {
		p, id := pausedAt2(s)
		p.replan = changing
		before := s.Rest(id)
		proposal, err := planner.Preview(s.Context(), s.Engine, id, "also d and e", "ann", "")
		require.NoError(s, err)
		assert.Equal(s, before, s.Rest(id), "nothing is committed")
		assert.Equal(s, []string{"c"}, proposal.Before,
			"the step that has ended is done, though nobody has looked at it")
		assert.Equal(s, []string{"c", "d", "e"}, proposal.After)
		assert.Equal(s, []string{"d", "e"}, proposal.Added)
		assert.Empty(s, proposal.Removed)
		s.Next()
		require.NoError(s, planner.Apply(s.Context(), s.Engine, proposal, "ann"))
		s.Next()
		p.answered(id, "a done 1, b done 1, c done 1, d done 1, e done 1")
		assert.Equal(s, []string{"also d and e"}, p.asked(), "the replanner is not asked again")
		modified := p.events(id)[6]
		assert.Equal(s, "plan_modified", modified.Name)
		assert.Equal(s, "add", modified.Modified)
		s.Code(runtime.CodeNotWaiting, planner.Apply(s.Context(), s.Engine, proposal, "ann"))
	})
}

func TestPlanPreviewIsDiscarded(t *testing.T) {
	threadtest.PlayAll(t, func(s *threadtest.Stage) {
		p, id := pausedAt2(s)
		p.replan = changing
		_, err := planner.Preview(s.Context(), s.Engine, id, "also d and e", "ann", "")
		require.NoError(s, err)
		s.Answer(s.Asks(id, thread.KindUserEscape), `"continue"`)
		p.answered(id, "a done 1, b done 1, c done 1")
	})
}

func TestPlanApplyOnAChangedThread(t *testing.T) {
	threadtest.PlayAll(t, func(s *threadtest.Stage) {
		p, id := pausedAt2(s)
		p.replan = changing
		proposal, err := planner.Preview(s.Context(), s.Engine, id, "also d and e", "ann", "")
		require.NoError(s, err)
		s.Answer(s.Asks(id, thread.KindUserEscape), `"status"`)
		s.Next()
		s.Code(runtime.CodeConflict, planner.Apply(s.Context(), s.Engine, proposal, "ann"))
		assert.NotContains(s, p.names(id), "plan_modified")
		s.Code(runtime.CodeInvalid,
			planner.Apply(s.Context(), s.Engine, &planner.Proposal{Thread: id}, "ann"))
	})
}

func TestPlanPreviewNeedsAPausedPlan(t *testing.T) {
	threadtest.PlayAll(t, func(s *threadtest.Stage) {
		p := planning(s, "")
		id := p.start("a")
		p.answered(id, "a done 1")
		_, err := planner.Preview(s.Context(), s.Engine, id, "x", "ann", "")
		s.Code(runtime.CodeNotWaiting, err)
		s.Code(runtime.CodeNotWaiting, planner.Undo(s.Context(), s.Engine, id, "ann"))
		_, err = planner.Preview(s.Context(), s.Engine, "nobody", "x", "ann", "")
		s.Code(runtime.CodeNotFound, err)
	})
}

func TestPlanPreviewThatFails(t *testing.T) {
	threadtest.PlayAll(t, func(s *threadtest.Stage) {
		p, id := pausedAt2(s)
		p.broken.Store(true)
		before := s.Rest(id)
		_, err := planner.Preview(s.Context(), s.Engine, id, "x", "ann", "")
		s.Code(runtime.CodeUnavailable, err)
		require.ErrorContains(s, err, errBroken.Error())
		assert.Equal(s, before, s.Rest(id))
		inbox, err := s.Engine.Inbox(s.Context(), thread.InterruptQuery{})
		require.NoError(s, err)
		assert.Len(s, inbox, 1, "nothing is left over but the pause")
		p.broken.Store(false)
		s.Answer(inbox[0], `"continue"`)
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
	threadtest.PlayAll(t, func(s *threadtest.Stage) {
		p, id := pausedAt2(s)
		p.replan = changing
		s.Code(runtime.CodeConflict, planner.Undo(s.Context(), s.Engine, id, "ann"))
		pauseAt := func(step string) *threadtest.Hold {
			h := threadtest.NewHold()
			p.finish = func(ctx context.Context, at string) error {
				if at == step {
					return h.Here(ctx)
				}
				return nil
			}
			return h
		}
		pause := func(h *threadtest.Hold) {
			<-h.Reached
			_, err := s.Engine.Escape(s.Context(), id, thread.EscapeSafe, "ann", "")
			require.NoError(s, err)
			close(h.Release)
			s.Asks(id, thread.KindUserEscape)
			s.Next()
		}
		h := pauseAt("c")
		s.Answer(s.Asks(id, thread.KindUserEscape), `{"choice":"modify","text":"also d and e"}`)
		pause(h)
		require.NoError(s, planner.Undo(s.Context(), s.Engine, id, "ann"))
		p.answered(id, "a done 1, b done 1, c done 1")
		assert.Zero(s, s.Done("d"), "undone")
		assert.Equal(s, 1, s.Done("c"), "what was executed stays executed")
	})
}

func TestPlanUndoKeepsAStepThatWasExecutedBefore(t *testing.T) {
	threadtest.PlayAll(t, func(s *threadtest.Stage) {
		p, h := planning(s, ""), threadtest.NewHold()
		p.replan = func(plan *planner.Plan, modification string) planner.Replanned {
			if modification != "" {
				return planner.Replanned{Steps: []string{"d", "c"}}
			}
			return goOn(plan)
		}
		p.finish = func(ctx context.Context, step string) error {
			if step == "b" {
				return h.Here(ctx)
			}
			return nil
		}
		pause := func(id string) {
			<-h.Reached
			_, err := s.Engine.Escape(s.Context(), id, thread.EscapeSafe, "ann", "")
			require.NoError(s, err)
			close(h.Release)
			s.Asks(id, thread.KindUserEscape)
			s.Next()
		}
		id := p.start("c,b,c")
		pause(id)
		h = threadtest.NewHold()
		p.finish = func(ctx context.Context, step string) error {
			if step == "d" {
				return h.Here(ctx)
			}
			return nil
		}
		s.Answer(s.Asks(id, thread.KindUserEscape), `{"choice":"modify","text":"d first"}`)
		pause(id)
		require.NoError(s, planner.Undo(s.Context(), s.Engine, id, "ann"))
		p.answered(id, "c done 1, b done 1, d done 1, c done 2")
	})
}

func TestPlanRedo(t *testing.T) {
	threadtest.PlayAll(t, func(s *threadtest.Stage) {
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
			s.Asks(id, thread.KindAgentQuestion)
			_, err := s.Engine.Escape(s.Context(), id, thread.EscapeSafe, "ann", "")
			require.NoError(s, err)
			s.Asks(id, thread.KindUserEscape)
			s.Next()
		}
		plan := func() []string {
			var out struct {
				Plan []string `json:"current_plan"`
			}
			require.NoError(s, json.Unmarshal(s.Asks(id, thread.KindUserEscape).Context, &out))
			return out.Plan
		}
		pause()
		s.Code(runtime.CodeConflict, planner.Redo(s.Context(), s.Engine, id, "ann"))
		s.Answer(s.Asks(id, thread.KindUserEscape), `{"choice":"modify","text":"d for c"}`)
		pause()
		assert.Equal(s, []string{"a", "b", "d"}, plan())
		require.NoError(s, planner.Undo(s.Context(), s.Engine, id, "ann"))
		pause()
		assert.Equal(s, []string{"a", "b", "c"}, plan())
		require.NoError(s, planner.Redo(s.Context(), s.Engine, id, "ann"))
		i := s.Asks(id, thread.KindAgentQuestion)
		p.shows(i, `{"current_plan":["a","b","d"],"completed_steps":1,"total_steps":3}`)
		s.Answer(i, `1`)
		p.answered(id, "a done 1, b done 1, d done 1")
		assert.Equal(s, 1, s.Done("a"))
	})
}
