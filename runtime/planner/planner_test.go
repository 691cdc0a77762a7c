package planner_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/internal/threadtest"
	"github.com/routegen/routegen/runtime/planner"
	"github.com/routegen/routegen/runtime/thread"
)

func TestAPlanRunsItsStepsInOrder(t *testing.T) {
	threadtest.PlayAll(t, func(s *threadtest.Stage) {
		p := planning(s, "")
		id := p.start("a,b,c")
		s.Next()
		p.answered(id, "a done 1, b done 1, c done 1")
		assert.Equal(s, []string{
			"plan_created", "task_started 1", "task_completed 1", "plan_updated", "task_started 2",
			"task_completed 2", "plan_updated",
			"task_started 3", "task_completed 3", "plan_updated",
		}, p.names(id))
		for n, e := range p.events(id) {
			assert.Equal(s, []string{"a", "b", "c"}, e.Plan)
			assert.Equal(s, 3, e.Total)
			assert.Equal(s, []int{0, 0, 1, 1, 1, 2, 2, 2, 3, 3}[n], e.Completed, "%d %s", n, e.Name)
			if e.Name == "task_completed" {
				assert.True(s, *e.Success)
				assert.Equal(s, e.Task+" done 1", e.Result)
			}
		}
	})
}

func TestAnEscapePausesThePlanDuringAStep(t *testing.T) {
	const context1, context2 = `{"current_plan":["a","b","c"],"completed_steps":1,"total_steps":3}`,
		`{"current_plan":["a","b","c"],"completed_steps":2,"total_steps":3}`
	for name, c := range map[string]struct {
		after bool // the step is held after its effect: it ends
		shows string
		did   int
	}{
		"stopped at its safe point": {false, context1, 0},
		"the step ends":             {true, context2, 1},
	} {
		t.Run(name, func(t *testing.T) {
			threadtest.PlayAll(t, func(s *threadtest.Stage) {
				p, h := planning(s, ""), threadtest.NewHold()
				there := func(ctx context.Context, step string) error {
					if step == "b" {
						return h.Here(ctx)
					}
					return nil
				}
				if c.after {
					p.finish = there
				} else {
					p.execute = func(ctx context.Context, _ *planner.Plan, step string) error {
						return there(ctx, step)
					}
				}
				id := p.start("a,b,c")
				<-h.Reached
				ack, err := s.Engine.Escape(s.Context(), id, thread.EscapeSafe, "ann", "wait")
				require.NoError(s, err)
				assert.Equal(s, thread.AckRequested, ack, "requested, not yet paused")
				running, err := s.Engine.Thread(s.Context(), id)
				require.NoError(s, err)
				assert.Equal(s, thread.StatusRunning, running.Status())
				close(h.Release)
				i := s.Asks(id, thread.KindUserEscape)
				s.Next()
				p.shows(i, c.shows)
				assert.Equal(s, c.did, s.Done("b"))
				assert.Zero(s, s.Done("c"))
				ack, err = s.Engine.Escape(s.Context(), id, thread.EscapeSafe, "ann", "again")
				require.NoError(s, err)
				assert.Equal(s, thread.AckPending, ack)
				s.Answer(i, `"continue"`)
				p.answered(id, "a done 1, b done 1, c done 1")
			})
		})
	}
}

func TestAChangeGoesToTheReplannerOnce(t *testing.T) {
	threadtest.PlayAll(t, func(s *threadtest.Stage) {
		p, h := planning(s, ""), threadtest.NewHold()
		p.execute = func(ctx context.Context, _ *planner.Plan, step string) error {
			if step == "b" {
				return h.Here(ctx)
			}
			return nil
		}
		p.replan = func(plan *planner.Plan, modification string) planner.Replanned {
			if modification != "" {
				return planner.Replanned{Steps: []string{"notify Ann", "d"}}
			}
			return goOn(plan)
		}
		id := p.start("a,b,c")
		<-h.Reached
		_, err := s.Engine.Escape(s.Context(), id, thread.EscapeSafe, "ann", "")
		require.NoError(s, err)
		close(h.Release)
		i := s.Asks(id, thread.KindUserEscape)
		s.Next()
		s.Answer(i, `{"choice":"modify","text":"skip step 3, notify Ann"}`)
		p.answered(id, "a done 1, notify Ann done 1, d done 1")
		assert.Equal(s, []string{"skip step 3, notify Ann"}, p.asked(), "the replanner saw it once")
		assert.Zero(s, s.Done("b"), "the step that was stopped is not what the person wanted")
		assert.Zero(s, s.Done("c"))
		assert.Equal(s, []string{
			"plan_created", "task_started 1", "task_completed 1", "plan_updated", "task_started 2",
			"task_stopped 2", "plan_modified",
			"task_started 2", "task_completed 2", "plan_updated", "task_started 3",
			"task_completed 3", "plan_updated",
		}, p.names(id))
		modified := p.events(id)[6]
		assert.Equal(s, "replace", modified.Modified)
		assert.Equal(s, "skip step 3, notify Ann", modified.Details)
		assert.Equal(s, []string{"a", "notify Ann", "d"}, modified.Plan)
	})
}

func TestAChangeWhileThePlanIsMadeReachesTheReplanner(t *testing.T) {
	threadtest.PlayAll(t, func(s *threadtest.Stage) {
		h := threadtest.NewHold()
		var seen []string
		m, err := planner.New(planner.Config{
			Plan: func(ctx context.Context, _ string) ([]string, error) {
				if err := h.Here(ctx); err != nil {
					return nil, err
				}
				return thread.Do(ctx, "plan", func(context.Context, string) ([]string, error) {
					return []string{"a"}, nil
				})
			},
			Execute: func(_ context.Context, _ *planner.Plan, step string) (string, error) {
				return step, nil
			},
			Replan: func(_ context.Context, p *planner.Plan, modification string) (
				planner.Replanned, error) {
				if modification != "" {
					seen = append(seen, modification)
					return planner.Replanned{Steps: []string{"z"}}, nil
				}
				return goOn(p), nil
			},
		})
		require.NoError(s, err)
		s.With(m)
		p := &plans{Stage: s}
		id := p.start("goal")
		<-h.Reached
		_, err = s.Engine.Escape(s.Context(), id, thread.EscapeSafe, "ann", "")
		require.NoError(s, err)
		close(h.Release)
		i := s.Asks(id, thread.KindUserEscape)
		p.shows(i, `{"current_plan":[],"completed_steps":0,"total_steps":0}`)
		s.Next()
		s.Answer(i, `{"choice":"modify","text":"do z"}`)
		p.answered(id, "z")
		assert.Equal(s, []string{"do z"}, seen)
	})
}

func TestAPauseWithoutAChangeLeavesThePlanAsItIs(t *testing.T) {
	for _, answer := range []string{`"continue"`, `{"choice":"continue"}`, `{"choice":"modify"}`,
		`{"choice":"modify","text":"  "}`} {
		t.Run(answer, func(t *testing.T) {
			threadtest.PlayAll(t, func(s *threadtest.Stage) {
				p, h := planning(s, ""), threadtest.NewHold()
				p.execute = func(ctx context.Context, _ *planner.Plan, step string) error {
					if step == "b" {
						return h.Here(ctx)
					}
					return nil
				}
				id := p.start("a,b,c")
				<-h.Reached
				_, err := s.Engine.Escape(s.Context(), id, thread.EscapeSafe, "ann", "")
				require.NoError(s, err)
				close(h.Release)
				i := s.Asks(id, thread.KindUserEscape)
				s.Next()
				s.Answer(i, answer)
				p.answered(id, "a done 1, b done 1, c done 1")
				assert.Empty(s, p.asked())
				assert.NotContains(s, p.names(id), "plan_modified")
				resumed := s.Log(id, thread.EntryResumed)
				require.Len(s, resumed, 1)
				assert.Nil(s, resumed[0].Value, "it was not modified")
			})
		})
	}
}

func TestAnEscapeIsRefusedWhenNothingRuns(t *testing.T) {
	threadtest.PlayAll(t, func(s *threadtest.Stage) {
		p := planning(s, "")
		id := p.start("a")
		p.answered(id, "a done 1")
		s.Next()
		before := s.Rest(id)
		_, err := s.Engine.Escape(s.Context(), id, thread.EscapeSafe, "ann", "")
		s.Code(runtime.CodeNotWaiting, err)
		require.ErrorContains(s, err, "not_running")
		assert.Equal(s, before, s.Rest(id), "nothing has changed")
	})
}

// question makes step b ask.
func (p *plans) question(q thread.Question) {
	p.execute = func(ctx context.Context, _ *planner.Plan, step string) error {
		if step != "b" {
			return nil
		}
		if _, err := thread.Do(ctx, "search", func(context.Context, string) (int, error) {
			return p.Do("search"), nil
		}); err != nil {
			return err
		}
		answer, err := thread.AskAll(ctx, q)
		if err != nil {
			return err
		}
		p.Do("answer " + string(answer[0].Value))
		return nil
	}
}

func which() thread.Question {
	return thread.Question{Name: "which", Text: "Which?", Plain: thread.PlainChoice,
		Choices: []thread.Choice{
			{Label: "left", Value: json.RawMessage(`"left"`)},
			{Label: "right", Value: json.RawMessage(`"right"`)},
		}}
}

func TestAnAnswerToAStepIsNoChangeOfThePlan(t *testing.T) {
	threadtest.PlayAll(t, func(s *threadtest.Stage) {
		p := planning(s, "")
		p.question(which())
		id := p.start("a,b,c")
		i := s.Asks(id, thread.KindAgentQuestion)
		assert.Equal(s, "Which?", i.Text)
		assert.Len(s, i.Choices, 2)
		p.shows(i, `{"current_plan":["a","b","c"],"completed_steps":1,"total_steps":3}`)
		s.Next()
		s.Answer(i, `"left"`)
		p.answered(id, "a done 1, b done 1, c done 1")
		assert.Equal(s, 1, s.Done(`answer "left"`), "the very step got it")
		assert.Equal(s, 1, s.Done("search"), "what it did before the question is done once")
		assert.NotContains(s, p.names(id), "plan_modified")
	})
}

func TestAnEscapeComesBeforeAnOpenQuestion(t *testing.T) {
	threadtest.PlayAll(t, func(s *threadtest.Stage) {
		p := planning(s, "")
		p.question(which())
		p.replan = func(plan *planner.Plan, modification string) planner.Replanned {
			if modification != "" {
				return planner.Replanned{Steps: []string{"x", "b"}}
			}
			return goOn(plan)
		}
		id := p.start("a,b,c")
		old := s.Asks(id, thread.KindAgentQuestion)
		s.Next()
		_, err := s.Engine.Escape(s.Context(), id, thread.EscapeSafe, "ann", "")
		require.NoError(s, err)
		escape := s.Asks(id, thread.KindUserEscape)
		p.shows(escape, `{"current_plan":["a","b","c"],"completed_steps":1,"total_steps":3}`)
		assert.Equal(s, escape.ID, s.LoadInterrupt(old.ID).SupersededBy)
		_, err = s.Engine.Answer(s.Context(), id,
			thread.Answer{Interrupt: old.ID, Value: json.RawMessage(`"left"`), By: "ann"})
		s.Code(runtime.CodeSuperseded, err)
		s.Next()
		s.Answer(escape, `{"choice":"modify","text":"x first"}`)
		anew := s.Asks(id, thread.KindAgentQuestion)
		assert.NotEqual(s, old.ID, anew.ID)
		p.shows(anew, `{"current_plan":["a","x","b"],"completed_steps":2,"total_steps":3}`)
		s.Next()
		s.Answer(anew, `"right"`)
		p.answered(id, "a done 1, x done 1, b done 1")
		assert.Len(s, s.Log(id, thread.EntryAsked), 3, "all are in the history")
		assert.Equal(s, []string{"x first"}, p.asked())
	})
}

func TestAQuestionAskedDuringAPauseIsAskedAgainAfterIt(t *testing.T) {
	threadtest.PlayAll(t, func(s *threadtest.Stage) {
		p, h := planning(s, ""), threadtest.NewHold()
		p.execute = func(ctx context.Context, _ *planner.Plan, step string) error {
			if step != "b" {
				return nil
			}
			if err := h.Here(ctx); err != nil {
				return err
			}
			_, err := thread.Ask[string](ctx, "which", which())
			return err
		}
		id := p.start("a,b,c")
		<-h.Reached
		_, err := s.Engine.Escape(s.Context(), id, thread.EscapeSafe, "ann", "")
		require.NoError(s, err)
		close(h.Release)
		escape := s.Asks(id, thread.KindUserEscape)
		s.Next()
		asked := s.Log(id, thread.EntryAsked)
		require.Len(s, asked, 2, "the log has both")
		lost := s.LoadInterrupt(asked[0].Interrupt)
		assert.Equal(s, thread.InterruptSuperseded, lost.State)
		assert.Equal(s, escape.ID, lost.SupersededBy, "with the clash")
		s.Answer(escape, `"continue"`)
		s.Next()
		s.Answer(s.Asks(id, thread.KindAgentQuestion), `"left"`)
		p.answered(id, "a done 1, b done 1, c done 1")
	})
}

func TestAQuestionOfAStepIsAnsweredOnce(t *testing.T) {
	threadtest.PlayAll(t, func(s *threadtest.Stage) {
		p := planning(s, "")
		q := which()
		q.Assignees = []string{"ann"}
		p.question(q)
		id := p.start("a,b,c")
		i := s.Asks(id, thread.KindAgentQuestion)
		s.Next()
		_, err := s.Engine.Answer(s.Context(), id,
			thread.Answer{Interrupt: i.ID, Value: json.RawMessage(`"left"`), By: "mallory"})
		s.Code(runtime.CodeForbidden, err)
		errs := make(chan error, 2)
		for _, value := range []string{`"left"`, `"right"`} {
			go func() {
				_, err := s.Engine.Answer(s.Context(), id,
					thread.Answer{Interrupt: i.ID, Value: json.RawMessage(value), By: "ann"})
				errs <- err
			}()
		}
		one, two := <-errs, <-errs
		if one != nil {
			one, two = two, one
		}
		require.NoError(s, one)
		s.Code(runtime.CodeAlreadyAnswered, two)
		p.answered(id, "a done 1, b done 1, c done 1")
		assert.Equal(s, 1, s.Done(`answer "left"`)+s.Done(`answer "right"`),
			"the step went on once")
	})
}

func TestAReaderThatComesBackMissesNoEvent(t *testing.T) {
	threadtest.PlayAll(t, func(s *threadtest.Stage) {
		p := planning(s, "")
		p.question(which())
		id, other := p.start("a,b,c"), p.start("x,y")
		i := s.Asks(id, thread.KindAgentQuestion)
		var seen []thread.Entry
		for row, err := range s.Engine.Subscribe(s.Context(), thread.Filter{Thread: id}, 0) {
			require.NoError(s, err)
			if seen = append(seen, row); len(seen) == 3 {
				break // the socket drops
			}
		}
		s.Answer(i, `"left"`)
		s.Next()
		p.answered(other, "x done 1, y done 1")
		for row, err := range s.Engine.Subscribe(s.Context(), thread.Filter{Thread: id},
			seen[2].Cursor) {
			require.NoError(s, err)
			if seen = append(seen, row); row.Type == thread.EntryOver {
				break
			}
		}
		for n, row := range seen {
			require.Equal(s, int64(n+1), row.Seq, "each once, in order")
			require.Equal(s, id, row.Thread, "only this thread's")
		}
		assert.JSONEq(s, `"a done 1, b done 1, c done 1"`, string(seen[len(seen)-1].Value))
	})
}

func TestAPlanGoesOnAfterARestart(t *testing.T) {
	threadtest.PlayAll(t, func(s *threadtest.Stage) {
		p := planning(s, "")
		q := which()
		q.Payload = json.RawMessage(`{"about":"b"}`)
		p.question(q)
		id := p.start("a,b,c")
		s.Asks(id, thread.KindAgentQuestion)
		s.Restart()
		inbox, err := s.Engine.Inbox(s.Context(), thread.InterruptQuery{})
		require.NoError(s, err)
		require.Len(s, inbox, 1)
		assert.JSONEq(s, `{"about":"b"}`, string(inbox[0].Payload))
		p.shows(inbox[0], `{"current_plan":["a","b","c"],"completed_steps":1,"total_steps":3}`)
		s.Answer(inbox[0], `"left"`)
		p.answered(id, "a done 1, b done 1, c done 1")
		assert.Equal(s, 1, s.Done("search"))
	})
}

func TestAStepGoesByTheDeadlineOfItsQuestion(t *testing.T) {
	const limit = 300 * time.Second
	t.Run("default", func(t *testing.T) {
		threadtest.PlayAll(t, func(s *threadtest.Stage) {
			p := planning(s, "")
			q := which()
			q.Deadline = &runtime.Deadline{After: limit, Then: "default", Answer: `"right"`}
			p.question(q)
			id := p.start("a,b,c")
			i := s.Asks(id, thread.KindAgentQuestion)
			s.Next()
			s.Pass(limit + time.Second)
			p.answered(id, "a done 1, b done 1, c done 1")
			assert.Equal(s, 1, s.Done(`answer "right"`))
			assert.Equal(s, "deadline", s.LoadInterrupt(i.ID).AnsweredBy)
		})
	})
	t.Run("expire", func(t *testing.T) {
		threadtest.PlayAll(t, func(s *threadtest.Stage) {
			p := planning(s, "")
			q := which()
			q.Deadline = &runtime.Deadline{After: limit, Then: "expire"}
			p.question(q)
			id := p.start("a,b,c")
			i := s.Asks(id, thread.KindAgentQuestion)
			s.Next()
			s.Pass(limit + time.Second)
			end := s.Rest(id)
			assert.Equal(s, thread.StatusFailed, end.Status())
			require.NotNil(s, end.Failure)
			assert.Equal(s, runtime.CodeExpired, end.Failure.Code)
			_, err := s.Engine.Answer(s.Context(), id,
				thread.Answer{Interrupt: i.ID, Value: json.RawMessage(`"left"`), By: "ann"})
			s.Code(runtime.CodeExpired, err)
			assert.Zero(s, s.Done("b")+s.Done("c"), "nothing builds on a step that was not done")
		})
	})
}
