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

// answerInWords answers in plain words.
func answerInWords(s *threadtest.Stage, i *thread.Interrupt, text string) error {
	_, err := s.Engine.Answer(s.Context(), i.Thread,
		thread.Answer{Interrupt: i.ID, Text: text, By: "ann"})
	return err
}

func TestAnswersToAStepAreTyped(t *testing.T) {
	t.Run("yes or no", func(t *testing.T) {
		for text, want := range map[string]string{"no way": "false", "not really": "false",
			"deny": "false", "Yes.": "true"} {
			t.Run(text, func(t *testing.T) {
				threadtest.PlayAll(t, func(s *threadtest.Stage) {
					p := planning(s, "")
					p.question(thread.Question{Name: "sure", Text: "Sure?",
						Plain: thread.PlainYesNo})
					id := p.start("a,b")
					i := s.Asks(id, thread.KindAgentQuestion)
					s.Next()
					require.NoError(s, answerInWords(s, i, text))
					p.answered(id, "a done 1, b done 1")
					assert.Equal(s, 1, s.Done("answer "+want))
				})
			})
		}
	})
	t.Run("unclear three times", func(t *testing.T) {
		for name, deadline := range map[string]*runtime.Deadline{
			"then the default": {After: time.Hour, Then: "default", Answer: `"right"`},
			"then failure":     {After: time.Hour, Then: "expire"},
		} {
			t.Run(name, func(t *testing.T) {
				threadtest.PlayAll(t, func(s *threadtest.Stage) {
					p := planning(s, "")
					q := which()
					q.Deadline = deadline
					p.question(q)
					id := p.start("a,b")
					i := s.Asks(id, thread.KindAgentQuestion)
					for left := 2; left >= 0; left-- {
						s.Next()
						err := answerInWords(s, i, "the other one")
						s.Code(runtime.CodeInvalid, err)
						var unclear *thread.UnclearError
						require.ErrorAs(s, err, &unclear)
						assert.Equal(s, left, unclear.Left)
						assert.Contains(s, unclear.Reason, "left, right")
					}
					if deadline.Then == "default" {
						p.answered(id, "a done 1, b done 1")
						assert.Equal(s, 1, s.Done(`answer "right"`))
						return
					}
					assert.Equal(s, thread.StatusFailed, s.Rest(id).Status())
					assert.Zero(s, s.Done("b"))
				})
			})
		}
	})
	t.Run("approval takes its two words only", func(t *testing.T) {
		threadtest.PlayAll(t, func(s *threadtest.Stage) {
			p := planning(s, "")
			p.question(thread.Question{Name: "may",
				Schema: json.RawMessage(`{"enum":["APPROVE","DENY"]}`)})
			id := p.start("a,b")
			i := s.Asks(id, thread.KindAgentQuestion)
			for _, value := range []string{`"approve"`, `"yes"`, `true`, `{"answer":"APPROVE"}`} {
				s.Next()
				_, err := s.Engine.Answer(s.Context(), id,
					thread.Answer{Interrupt: i.ID, Value: json.RawMessage(value), By: "ann"})
				s.Code(runtime.CodeInvalid, err)
			}
			s.Code(runtime.CodeInvalid, answerInWords(s, i, "APPROVE"))
			s.Answer(i, `"DENY"`)
			p.answered(id, "a done 1, b done 1")
			assert.Equal(s, 1, s.Done(`answer "DENY"`))
		})
	})
}

func TestAPersonDecidesAboutAFailedStep(t *testing.T) {
	for answer, want := range map[string]string{
		`"retry"`:                             "a done 1, b done 1, c done 1",
		`{"choice":"edit","input":"B"}`:       "a done 1, B done 1, c done 1",
		`{"choice":"skip","value":"by hand"}`: "a done 1, by hand, c done 1",
		`"abort"`:                             "",
	} {
		t.Run(answer, func(t *testing.T) {
			threadtest.PlayAll(t, func(s *threadtest.Stage) {
				p := planning(s, "")
				failing := true
				p.execute = func(_ context.Context, plan *planner.Plan, step string) error {
					if step != "b" || !failing {
						return nil
					}
					assert.Len(s, plan.Done, 1)
					s.Do("tries of b")
					return errBroken
				}
				id := p.start("a,b,c")
				s.Pass(time.Minute) // the tries of the retry policy
				i := s.Asks(id, thread.KindSystemError)
				p.shows(i, `{"current_plan":["a","b","c"],"completed_steps":1,"total_steps":3}`)
				var payload struct {
					Recoverable bool             `json:"recoverable"`
					Attempts    []thread.Attempt `json:"attempts"`
				}
				require.NoError(s, json.Unmarshal(i.Payload, &payload))
				assert.True(s, payload.Recoverable)
				assert.Len(s, payload.Attempts, 3)
				var offered []string
				for _, c := range i.Choices {
					offered = append(offered, c.Label)
				}
				assert.Equal(s, []string{"retry", "edit", "skip", "abort"}, offered)
				s.Next()
				failing = false
				s.Answer(i, answer)
				if answer == `"abort"` {
					assert.Equal(s, thread.StatusCancelled, s.Rest(id).Status())
					assert.Zero(s, s.Done("b")+s.Done("c"), "no further steps")
					return
				}
				p.answered(id, want)
				assert.Equal(s, 3, s.Done("tries of b"))
				assert.Equal(s, 1, s.Done("a"), "what was done is not done again")
				completed := p.events(id)[5]
				require.Equal(s, "task_completed", completed.Name)
				assert.Equal(s, 2, completed.Number)
				skipped := answer == `{"choice":"skip","value":"by hand"}`
				assert.Equal(s, skipped, completed.Skipped, "marked")
				assert.Equal(s, !skipped, *completed.Success)
				assert.Equal(s, 3, completed.Total)
			})
		})
	}
}

func TestARetryIsAnotherAttemptOfTheStep(t *testing.T) {
	threadtest.PlayAll(t, func(s *threadtest.Stage) {
		p := planning(s, "")
		p.execute = func(_ context.Context, _ *planner.Plan, step string) error {
			if step == "b" {
				return errBroken
			}
			return nil
		}
		id := p.start("a,b")
		for attempts := 3; attempts <= 9; attempts += 3 {
			s.Pass(time.Minute)
			i := s.Asks(id, thread.KindSystemError)
			var payload struct {
				Attempts []thread.Attempt `json:"attempts"`
			}
			require.NoError(s, json.Unmarshal(i.Payload, &payload))
			assert.Len(s, payload.Attempts, attempts)
			s.Next()
			s.Answer(i, `"retry"`)
		}
		assert.Equal(s, []string{"plan_created", "task_started 1", "task_completed 1",
			"plan_updated", "task_started 2"}, p.names(id), "it is begun once")
	})
}

func TestBadInputsAreRefused(t *testing.T) {
	threadtest.PlayAll(t, func(s *threadtest.Stage) {
		p := planning(s, "")
		p.question(which())
		id := p.start("a,b")
		i := s.Asks(id, thread.KindAgentQuestion)
		s.Next()
		before := s.Rest(id)
		for want, a := range map[runtime.Code]thread.Answer{
			runtime.CodeInvalid: {Interrupt: i.ID, Value: json.RawMessage(`{"cut`), By: "ann"},
			runtime.CodeNotFound: {Interrupt: "nobody knows it", Value: json.RawMessage(`1`),
				By: "ann"},
			runtime.CodeNoRoute: {Interrupt: i.ID, RouteTo: "NOWHERE", By: "ann"},
		} {
			_, err := s.Engine.Answer(s.Context(), id, a)
			s.Code(want, err)
		}
		_, err := s.Engine.Escape(s.Context(), id, "later", "ann", "")
		s.Code(runtime.CodeInvalid, err)
		_, err = s.Engine.Escape(s.Context(), "orchestrator-1", thread.EscapeSafe, "ann", "")
		s.Code(runtime.CodeNotFound, err)
		_, err = s.Engine.Start(s.Context(), thread.Begin{ID: "bad/id", Machine: planner.Name,
			Input: "a"})
		s.Code(runtime.CodeInvalid, err)
		_, err = s.Engine.Start(s.Context(), thread.Begin{Machine: "unknown", Input: "a"})
		s.Code(runtime.CodeInvalid, err)
		assert.Equal(s, before, s.Rest(id), "nothing has changed")
		s.Answer(i, `"left"`)
		p.answered(id, "a done 1, b done 1")
	})
}

func TestAGoalThatIsNoTextIsRefused(t *testing.T) {
	threadtest.PlayAll(t, func(s *threadtest.Stage) {
		planning(s, "")
		for _, b := range []thread.Begin{{Input: 7}, {Name: "step", Input: "a"},
			{Name: "step", Input: map[string]any{"step": "a", "plan": planner.Plan{}}},
			{Name: "preview", Input: map[string]any{"thread": "t"}}} {
			b.Machine = planner.Name
			_, err := s.Engine.Start(s.Context(), b)
			s.Code(runtime.CodeInvalid, err)
		}
	})
}

func TestAPlanWithStepsLeftEndsOnlyAsConfigured(t *testing.T) {
	early := func(p *planner.Plan, _ string) planner.Replanned {
		if len(p.Done) == 2 || len(p.Steps) == 0 {
			return planner.Replanned{Done: true, Answer: "enough"}
		}
		return goOn(p)
	}
	t.Run("the plan goes on", func(t *testing.T) {
		threadtest.PlayAll(t, func(s *threadtest.Stage) {
			p := planning(s, "")
			p.replan = early
			id := p.start("a,b,c,d")
			p.answered(id, "enough")
			assert.Equal(s, 1, s.Done("c"))
			assert.Equal(s, 1, s.Done("d"))
			refused := p.events(id)[6]
			assert.Equal(s, "completion_refused", refused.Name)
			assert.Equal(s, 2, refused.Completed)
			assert.Equal(s, 4, refused.Total)
			assert.Equal(s, "enough", refused.Details)
		})
	})
	for answer, last := range map[string]string{"yes": "completion_accepted",
		"no": "plan_updated"} {
		t.Run("a person says "+answer, func(t *testing.T) {
			threadtest.PlayAll(t, func(s *threadtest.Stage) {
				p := planning(s, "ask")
				p.replan = early
				id := p.start("a,b,c,d")
				i := s.Asks(id, thread.KindAgentQuestion)
				p.shows(i, `{"current_plan":["a","b","c","d"],"completed_steps":2,"total_steps":4}`)
				s.Next()
				require.NoError(s, answerInWords(s, i, answer))
				p.answered(id, "enough")
				assert.Equal(s, map[string]int{"yes": 0, "no": 1}[answer], s.Done("d"))
				names := p.names(id)
				assert.Equal(s, last, names[len(names)-1])
			})
		})
	}
	t.Run("a person asked for it", func(t *testing.T) {
		threadtest.PlayAll(t, func(s *threadtest.Stage) {
			p, id := pausedAt2(s)
			p.replan = func(*planner.Plan, string) planner.Replanned {
				return planner.Replanned{Done: true, Answer: "stopped early"}
			}
			s.Answer(s.Asks(id, thread.KindUserEscape),
				`{"choice":"modify","text":"that is enough"}`)
			p.answered(id, "stopped early")
			names := p.names(id)
			assert.Equal(s, "completion_accepted", names[len(names)-1])
		})
	})
}

// pausedAt2 is a plan of a, b, c that was paused while b ran, which is then done.
func pausedAt2(s *threadtest.Stage) (*plans, string) {
	s.Helper()
	p, h := planning(s, ""), threadtest.NewHold()
	p.finish = func(ctx context.Context, step string) error {
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
	s.Asks(id, thread.KindUserEscape)
	s.Next()
	return p, id
}

func TestAReplannerMustDecide(t *testing.T) {
	threadtest.PlayAll(t, func(s *threadtest.Stage) {
		p := planning(s, "")
		p.replan = func(*planner.Plan, string) planner.Replanned { return planner.Replanned{} }
		id := p.start("a")
		s.Pass(time.Minute)
		i := s.Asks(id, thread.KindSystemError)
		p.shows(i, `{"current_plan":["a"],"completed_steps":1,"total_steps":1}`)
		assert.Contains(s, i.Text, "no step is left")
	})
}

func TestPlanWithoutAnEnd(t *testing.T) {
	threadtest.PlayAll(t, func(s *threadtest.Stage) {
		p := planning(s, "")
		p.replan = func(*planner.Plan, string) planner.Replanned {
			return planner.Replanned{Steps: []string{"more"}}
		}
		id := p.start("a")
		i := s.Asks(id, thread.KindSystemError)
		assert.Contains(s, i.Text, string(runtime.CodeLoop))
		assert.Equal(s, 99, s.Done("more"))
	})
}
