package tui

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/routegen/routegen/runtime/thread"
	"github.com/routegen/routegen/runtime/web"
)

// planView is the plan of a thread, from its messages or from the context of its questions.
type planView struct {
	Steps   []string `json:"plan_steps"`
	Skipped []string `json:"skipped_steps"`
	Done    int      `json:"completed_count"`
	Current []string `json:"current_plan"`    // Steps, in the context of an interrupt
	Past    int      `json:"completed_steps"` // Done, in the context of an interrupt

	running bool // the step after the done ones has begun
}

// planIn returns the plan in a row, or nil.
func planIn(r *web.Row) *planView {
	var p struct {
		planView

		Past json.RawMessage `json:"completed_steps"` // names here, a number in a context
	}
	if r.Type != thread.EntryMessage || json.Unmarshal(r.Value, &p) != nil || p.Steps == nil {
		return nil
	}
	p.running = r.Name == "task_started"
	return &p.planView
}

// planOf returns the plan in the context of a question, or nil.
func planOf(context json.RawMessage) *planView {
	p := new(planView)
	if json.Unmarshal(context, p) != nil || p.Current == nil {
		return nil
	}
	p.Steps, p.Done = p.Current, p.Past
	return p
}

// lines are the steps with a mark each, for a width.
func (p *planView) lines(width int) []string {
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
		out[n] = truncate(fmt.Sprintf("%s %d %s", mark, n+1, oneLine(step)), width)
	}
	return out
}
