package tui

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/web"
)

// plan is the plan of a thread as its messages, or the context of its interrupts, tell it.
type plan struct {
	Steps   []string `json:"plan_steps"`
	Skipped []string `json:"skipped_steps"`
	Done    int      `json:"completed_count"`
	Current []string `json:"current_plan"`    // Steps, in the context of an interrupt
	Past    int      `json:"completed_steps"` // Done, in the context of an interrupt

	running bool // the step after the done ones has begun
}

// task is what a message says of one step, and of a change.
type task struct {
	Task     string `json:"task_description"`
	Number   int    `json:"step_number"`
	Total    int    `json:"total_steps"`
	Done     int    `json:"completed_count"`
	Skipped  bool   `json:"skipped"`
	Result   string `json:"result"`
	Modified string `json:"modification_type"`
	Details  string `json:"details"`
}

// planIn reads the plan out of a row; nil when it tells of none.
func planIn(r *web.Row) *plan {
	var p struct {
		plan

		Past json.RawMessage `json:"completed_steps"` // names here, a number in a context
	}
	if r.Type != runtime.EntryMessage || json.Unmarshal(r.Value, &p) != nil || p.Steps == nil {
		return nil
	}
	p.running = r.Name == "task_started"
	return &p.plan
}

// planOf reads the plan out of the context of an interrupt; nil when there is none.
func planOf(i *web.Interrupt) *plan {
	p := new(plan)
	if json.Unmarshal(i.Context, p) != nil || p.Current == nil {
		return nil
	}
	p.Steps, p.Done = p.Current, p.Past
	return p
}

// lines are the steps with a mark each, for a width.
func (p *plan) lines(width int) []string {
	out := make([]string, len(p.Steps))
	skipped := slices.Clone(p.Skipped)
	for n, step := range p.Steps {
		mark := "[ ]"
		at := slices.Index(skipped, step)
		switch {
		case n < p.Done && at >= 0:
			mark, skipped = "[-]", slices.Delete(skipped, at, at+1)
		case n < p.Done:
			mark = "[x]"
		case n == p.Done && p.running:
			mark = "[>]"
		}
		out[n] = cut(fmt.Sprintf("%s %d %s", mark, n+1, line(step)), width)
	}
	return out
}
