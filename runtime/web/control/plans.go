package control

import (
	"context"
	"encoding/json"

	"github.com/routegen/routegen/runtime/planner"
	"github.com/routegen/routegen/runtime/thread"
	"github.com/routegen/routegen/runtime/web"
	"github.com/routegen/routegen/runtime/web/internal/input"
)

type previewForm struct {
	Modification string `json:"modification"`
	By           string `json:"by,omitempty"`
}

func threadIn(c *web.Call) string {
	_, r := c.HTTP()
	return r.PathValue("thread")
}

func previewPlan(c *web.Call, f *previewForm) (any, error) {
	if len(f.Modification) > web.MaxReason {
		return nil, input.Invalid("/modification", "is too long")
	}
	ctx, cancel := c.Patient()
	defer cancel()
	p, err := planner.Preview(ctx, c.Engine(), threadIn(c), f.Modification, f.By,
		c.Caller())
	if err != nil {
		return nil, err
	}
	for _, steps := range []*[]string{&p.Before, &p.After, &p.Added, &p.Removed} {
		*steps = append([]string{}, *steps...) // no steps are sent as an empty list
	}
	return p, nil
}

// applyForm names a preview, or brings steps of the caller's own.
type applyForm struct {
	Preview  string           `json:"preview,omitempty"`
	Proposal planner.Proposal `json:"proposal,omitzero"`
	By       string           `json:"by,omitempty"`
}

// maxSteps bounds a plan that comes from outside.
const maxSteps = 1000

func applyPlan(c *web.Call, f *applyForm) (any, error) {
	p, id := &f.Proposal, threadIn(c)
	var err error
	switch own := p.Thread != ""; {
	case (f.Preview == "") != own:
		return nil, web.BadRequest("send the preview's id, or a proposal of your own: one of them")
	case !own && !input.ValidID(f.Preview):
		return nil, input.Invalid("/preview", "is no id: "+input.IDRule)
	case !own:
		err = planner.ApplyPreview(c.Context(), c.Engine(), id, f.Preview, f.By, c.Caller())
	case p.Thread != id:
		return nil, input.Invalid("/proposal/thread", "is another thread than that of the path")
	case len(p.After) > maxSteps:
		return nil, input.Invalid("/proposal/after", "has too many steps")
	default:
		err = planner.Apply(c.Context(), c.Engine(), p, f.By)
	}
	if err != nil {
		return nil, err
	}
	return c.Thread(id)
}

type byForm struct {
	By string `json:"by,omitempty"`
}

// turnBack returns the operation of an undo or a redo.
func turnBack(do func(ctx context.Context, e *thread.Engine, id, by string) error) func(
	c *web.Call, f *byForm) (any, error) {
	return func(c *web.Call, f *byForm) (any, error) {
		id := threadIn(c)
		if err := do(c.Context(), c.Engine(), id, f.By); err != nil {
			return nil, err
		}
		return c.Thread(id)
	}
}

// PlanState is the plan of a plan thread in a [web.Moment].
type PlanState struct {
	Goal  string             `json:"goal"`
	Done  []planner.PastStep `json:"done"`
	Steps []string           `json:"steps"` // left to do
	Undo  int                `json:"undo"`  // how many changes can be taken back
	Redo  int                `json:"redo"`
}

// planOf returns the [PlanState] of a plan thread, nil for another thread.
func planOf(t *thread.Thread) any {
	root := t.Root()
	if root == nil || root.Machine != planner.Name || root.Name != "" || root.Locals == nil {
		return nil
	}
	var p planner.Plan
	if json.Unmarshal(root.Locals, &p) != nil {
		return nil
	}
	out := &PlanState{Goal: p.Goal, Done: p.Done, Steps: p.Steps, Undo: len(p.Undo),
		Redo: len(p.Redo)}
	if out.Done == nil {
		out.Done = []planner.PastStep{}
	}
	if out.Steps == nil {
		out.Steps = []string{}
	}
	return out
}
