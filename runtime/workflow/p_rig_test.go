package workflow_test

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
	"github.com/routegen/routegen/runtime/workflow"
)

// plans is a stage with plan threads. The plan is "a", "b", "c" unless a test says otherwise; a step's effect is counted under its text.
type plans struct {
	*stage
	execute func(ctx context.Context, p *workflow.Plan, step string) error // before the effect of a step
	finish  func(ctx context.Context, step string) error                   // after it
	replan  func(p *workflow.Plan, modification string) workflow.Replanned

	broken        atomic.Bool // the replanner fails
	mu            sync.Mutex
	modifications []string // that the replanner was given
}

// planning makes plan threads possible. Planner's functions may be set before.
func planning(s *stage, premature string) *plans {
	s.Helper()
	p := &plans{stage: s}
	m, err := workflow.NewPlan(workflow.Planner{
		Premature: premature,
		Plan:      func(_ context.Context, goal string) ([]string, error) { return strings.Split(goal, ","), nil },
		Execute: func(ctx context.Context, plan *workflow.Plan, step string) (string, error) {
			if p.execute != nil {
				if err := p.execute(ctx, plan, step); err != nil {
					return "", err
				}
			}
			result, err := thread.Do(ctx, "do", func(context.Context, string) (string, error) {
				return step + " done " + strconv.Itoa(s.do(step)), nil
			})
			if err == nil && p.finish != nil {
				err = p.finish(ctx, step)
			}
			return result, err
		},
		Replan: func(ctx context.Context, plan *workflow.Plan, modification string) (workflow.Replanned, error) {
			return thread.Do(ctx, "replan", func(context.Context, string) (workflow.Replanned, error) {
				if p.broken.Load() {
					return workflow.Replanned{}, errBroken
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
	s.with(m)
	return p
}

// goOn replans as one does who has nothing to change.
func goOn(p *workflow.Plan) workflow.Replanned {
	if len(p.Steps) > 0 {
		return workflow.Replanned{Steps: p.Steps}
	}
	results := make([]string, len(p.Done))
	for i, d := range p.Done {
		results[i] = d.Result
	}
	return workflow.Replanned{Done: true, Answer: strings.Join(results, ", ")}
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
	t, err := p.e.Start(p.Context(), thread.Begin{Machine: workflow.PlanName, Input: goal, User: "ann"})
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
	for _, row := range p.log(id, runtime.EntryMessage) {
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
func (p *plans) shows(i *runtime.Interrupt, want string) {
	p.Helper()
	require.JSONEq(p, want, string(i.Context), "context of %s", i.Kind)
}

// answered expects the end of a plan.
func (p *plans) answered(id, want string) {
	p.Helper()
	t := p.rest(id)
	require.Equal(p, runtime.StatusDone, t.Status(), "%v %v", t.Failure, t.Open)
	var got string
	require.NoError(p, json.Unmarshal(t.Result, &got))
	require.Equal(p, want, got)
}

// held lets a test hold a step on its way.
type held struct {
	reached, release chan struct{}
}

func hold() *held { return &held{make(chan struct{}), make(chan struct{})} }

// here waits until the test releases it, the first time.
func (h *held) here(ctx context.Context) error {
	select {
	case <-h.release:
		return nil
	default:
	}
	select {
	case h.reached <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case <-h.release:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

var errBroken = errors.New("it is broken")
