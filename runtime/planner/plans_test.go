package planner_test

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime/internal/threadtest"
	"github.com/routegen/routegen/runtime/planner"
	"github.com/routegen/routegen/runtime/thread"
)

// plans is a stage with plan threads. The plan is "a", "b", "c" unless a test says otherwise; a
// step's effect is counted under its text.
type plans struct {
	*threadtest.Stage
	// before the effect of a step
	execute func(ctx context.Context, p *planner.Plan, step string) error
	finish  func(ctx context.Context, step string) error // after it
	replan  func(p *planner.Plan, modification string) planner.Replanned

	broken        atomic.Bool // the replanner fails
	mu            sync.Mutex
	modifications []string // that the replanner was given
}

// planning makes plan threads possible. Planner's functions may be set before.
func planning(s *threadtest.Stage, premature string) *plans {
	s.Helper()
	p := &plans{Stage: s}
	m, err := planner.New(planner.Config{
		Premature: premature,
		Plan: func(_ context.Context, goal string) ([]string, error) {
			return strings.Split(goal, ","), nil
		},
		Execute: func(ctx context.Context, plan *planner.Plan, step string) (string, error) {
			if p.execute != nil {
				if err := p.execute(ctx, plan, step); err != nil {
					return "", err
				}
			}
			result, err := thread.Do(ctx, "do", func(context.Context, string) (string, error) {
				return step + " done " + strconv.Itoa(s.Do(step)), nil
			})
			if err == nil && p.finish != nil {
				err = p.finish(ctx, step)
			}
			return result, err
		},
		Replan: func(ctx context.Context, plan *planner.Plan, modification string) (
			planner.Replanned, error) {
			return thread.Do(ctx, "replan", func(context.Context, string) (planner.Replanned,
				error) {
				if p.broken.Load() {
					return planner.Replanned{}, errBroken
				}
				p.mu.Lock()
				p.modifications = append(p.modifications, modification)
				p.mu.Unlock()
				if p.replan != nil {
					return p.replan(plan, modification), nil
				}
				return goOn(plan), nil
			})
		},
	})
	require.NoError(s, err)
	s.With(m)
	return p
}

// goOn replans as one does who has nothing to change.
func goOn(p *planner.Plan) planner.Replanned {
	if len(p.Steps) > 0 {
		return planner.Replanned{Steps: p.Steps}
	}
	results := make([]string, len(p.Done))
	for i, d := range p.Done {
		results[i] = d.Result
	}
	return planner.Replanned{Done: true, Answer: strings.Join(results, ", ")}
}

// asked are the modifications that the replanner was given, without the calls that had none.
func (p *plans) asked() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []string
	for _, m := range p.modifications {
		if m != "" {
			out = append(out, m)
		}
	}
	return out
}

func (p *plans) start(goal string) string {
	p.Helper()
	t, err := p.Engine.Start(p.Context(), thread.Begin{Machine: planner.Name, Input: goal,
		User: "ann"})
	require.NoError(p, err)
	return t.ID
}

// planRow is a plan event of the outbox.
type planRow struct {
	Name      string   `json:"-"`
	Plan      []string `json:"plan_steps"`
	Completed int      `json:"completed_count"`
	Total     int      `json:"total_steps"`
	Task      string   `json:"task_description"`
	Number    int      `json:"step_number"`
	Success   *bool    `json:"success"`
	Skipped   bool     `json:"skipped"`
	Result    string   `json:"result"`
	Modified  string   `json:"modification_type"`
	Details   string   `json:"details"`
}

func (p *plans) events(id string) []planRow {
	p.Helper()
	var out []planRow
	for _, row := range p.Log(id, thread.EntryMessage) {
		e := planRow{Name: row.Name}
		require.NoError(p, json.Unmarshal(row.Value, &e))
		out = append(out, e)
	}
	return out
}

// names are the names of the events, those of tasks with their number.
func (p *plans) names(id string) []string {
	p.Helper()
	var out []string
	for _, e := range p.events(id) {
		name := e.Name
		if e.Number > 0 {
			name += " " + strconv.Itoa(e.Number)
		}
		out = append(out, name)
	}
	return out
}

// shows expects what every interrupt of a plan thread has in its context.
func (p *plans) shows(i *thread.Interrupt, want string) {
	p.Helper()
	require.JSONEq(p, want, string(i.Context), "context of %s", i.Kind)
}

// answered expects the end of a plan.
func (p *plans) answered(id, want string) {
	p.Helper()
	t := p.Rest(id)
	require.Equal(p, thread.StatusDone, t.Status(), "%v %v", t.Failure, t.Open)
	var got string
	require.NoError(p, json.Unmarshal(t.Result, &got))
	require.Equal(p, want, got)
}

var errBroken = errors.New("it is broken")
