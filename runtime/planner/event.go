package planner

import (
	"encoding/json"
	"slices"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
)

// current is the part of the plan that every interrupt has in its context.
type current struct {
	Plan      []string `json:"current_plan"`
	Completed int      `json:"completed_steps"`
	Total     int      `json:"total_steps"`
}

func (p *Plan) current() current {
	all := append(p.past(false), p.Steps...)
	return current{Plan: all, Completed: len(p.Done), Total: len(all)}
}

// after returns the plan after its next step.
func (p *Plan) after(past PastStep) *Plan {
	next := *p
	next.Done, next.Steps = append(slices.Clip(p.Done), past), p.Steps[1:]
	return &next
}

func (p *Plan) version() Version { return Version{Steps: p.Steps, Done: len(p.Done)} }

func (p *Plan) last() *PastStep { return &p.Done[len(p.Done)-1] }

// take returns the plan after the result of its next step, or p itself if that step was stopped.
func (p *Plan) take(child *thread.Child) (*Plan, error) {
	past := PastStep{Step: p.Steps[0], Skipped: child.Skipped}
	switch {
	case child.Skipped:
		past.Result = textOf(child.Value)
	case child.Value == nil:
		return p, nil
	default:
		if err := json.Unmarshal(child.Value, &past); err != nil {
			return nil, err
		}
	}
	return p.after(past), nil
}

// textOf returns a JSON text without its quotes, and any other value as it stands.
func textOf(value json.RawMessage) string {
	var text string
	if json.Unmarshal(value, &text) == nil {
		return text
	}
	return string(value)
}

// past returns the steps that are over, or only those that a person skipped.
func (p *Plan) past(skipped bool) []string {
	out := []string{}
	for _, d := range p.Done {
		if d.Skipped || !skipped {
			out = append(out, d.Step)
		}
	}
	return out
}

// planEvent is a message of the outbox. Steps of a plan are counted from 1.
type planEvent struct {
	name string

	PlanSteps      []string `json:"plan_steps"`
	CompletedSteps []string `json:"completed_steps"`
	SkippedSteps   []string `json:"skipped_steps"`
	CurrentStep    string   `json:"current_step,omitempty"`
	CompletedCount int      `json:"completed_count"`
	TotalSteps     int      `json:"total_steps"`

	Task    string `json:"task_description,omitempty"` // of the task events
	Number  int    `json:"step_number,omitempty"`
	Success *bool  `json:"success,omitempty"`
	Skipped bool   `json:"skipped,omitempty"`
	Result  string `json:"result,omitempty"`
	// add, remove, replace, reorder, unchanged; undo and redo
	Modified string `json:"modification_type,omitempty"`
	Details  string `json:"details,omitempty"`
}

// row is the event as a row of the outbox, with the plan as it is.
func (p *Plan) row(frame string, e planEvent) thread.Entry {
	now := p.current()
	e.PlanSteps, e.CompletedCount, e.TotalSteps = now.Plan, now.Completed, now.Total
	e.CompletedSteps, e.SkippedSteps = p.past(false), p.past(true)
	if len(p.Steps) > 0 {
		e.CurrentStep = p.Steps[0]
	}
	value, _ := runtime.Encode(e) // cannot fail: strings and numbers
	return thread.Entry{Type: thread.EntryMessage, Frame: frame, Name: e.name, Value: value}
}

// completed says that the last step is over.
func (p *Plan) completed() planEvent {
	past := p.last()
	done := !past.Skipped
	return planEvent{name: "task_completed", Task: past.Step, Number: len(p.Done), Success: &done,
		Skipped: past.Skipped, Result: past.Result}
}

// changeOf names what was done to the steps that are left.
func changeOf(before, after []string) string {
	added, removed := difference(after, before), difference(before, after)
	switch {
	case slices.Equal(before, after):
		return "unchanged"
	case len(added) > 0 && len(removed) > 0:
		return "replace"
	case len(added) > 0:
		return "add"
	case len(removed) > 0:
		return "remove"
	default:
		return "reorder"
	}
}

// difference returns the steps of a that b lacks, each as often as it is missing there.
func difference(a, b []string) []string {
	left := slices.Clone(b)
	var out []string
	for _, s := range a {
		if i := slices.Index(left, s); i >= 0 {
			left = slices.Delete(left, i, i+1)
			continue
		}
		out = append(out, s)
	}
	return out
}
