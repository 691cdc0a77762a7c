package planner

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
)

// Proposal is what a modification would make of a paused plan. Nothing of the plan's thread is
// changed until it is applied.
type Proposal struct {
	ID      string   `json:"id,omitempty"` // of the preview, for [ApplyPreview]
	Thread  string   `json:"thread"`
	Version int64    `json:"version"` // of the thread that it was made for
	Before  []string `json:"before"`  // steps left
	After   []string `json:"after"`   // none: the plan would end, with Answer
	Added   []string `json:"added"`
	Removed []string `json:"removed"`
	Answer  string   `json:"answer,omitempty"`
}

// Preview asks the replanner what it would make of a modification. It does so on a thread of
// its own, so that its effects are kept; the plan's thread is only read. That thread keeps the
// proposal for [ApplyPreview], and whose it is: caller is who may apply it. A thread that is no
// plan paused by a user escape is refused with CodeNotWaiting, a replanner that fails with
// CodeUnavailable and its failure.
func Preview(ctx context.Context, e *thread.Engine, threadID, modification, by, caller string) (
	*Proposal, error) {
	op := "preview plan of " + threadID
	t, err := e.Thread(ctx, threadID)
	if err != nil {
		return nil, err
	}
	plan, err := paused(op, t)
	if err != nil {
		return nil, err
	}
	input := previewed{Plan: plan, Modification: modification, Thread: threadID,
		Version: t.Version, Caller: caller}
	side, err := e.Start(ctx, thread.Begin{Machine: Name, Name: previewFrame, Input: input,
		User: by, Unchecked: true})
	if err != nil {
		return nil, err
	}
	f := &thread.Follower{Thread: side}
	for _, err := range e.Follow(ctx, f) {
		if err != nil {
			return nil, err
		}
	}
	side = f.Thread
	var decided Replanned
	if side.Status() != thread.StatusDone || json.Unmarshal(side.Result, &decided) != nil {
		why := "the replanner did not come to a decision"
		for _, i := range side.OpenInterrupts() {
			why = i.Text
		}
		if _, err := e.Cancel(ctx, side.ID, by, op); err != nil &&
			runtime.CodeOf(err) != runtime.CodeNotWaiting {
			return nil, err
		}
		return nil, runtime.Errorf(runtime.CodeUnavailable, op, "%s", why)
	}
	return input.proposal(side.ID, &decided), nil
}

// proposal is what a preview came to.
func (in *previewed) proposal(id string, decided *Replanned) *Proposal {
	out := &Proposal{ID: id, Thread: in.Thread, Version: in.Version, Before: in.Plan.Steps,
		After: decided.Steps, Answer: decided.Answer}
	if decided.Done {
		out.After = nil
	}
	out.Added, out.Removed = difference(out.After, out.Before), difference(out.Before, out.After)
	return out
}

// PreviewLife is how long after its preview a proposal can be applied by its id.
const PreviewLife = time.Hour

// ApplyPreview is [Apply] of the proposal that a preview came to, whatever a client says of it. It
// returns CodeNotFound for a preview of another thread or another caller, CodeExpired after
// [PreviewLife], and the errors of Apply. The preview is kept in the store: any process on it can
// apply it, after a restart too.
func ApplyPreview(ctx context.Context, e *thread.Engine, threadID, preview, by,
	caller string) error {
	op := "apply to plan of " + threadID
	side, err := e.Thread(ctx, preview)
	if err != nil {
		return err
	}
	rows, err := e.History(ctx, preview, 0, 10)
	if err != nil {
		return err
	}
	var in previewed
	var decided Replanned
	at := slices.IndexFunc(rows, func(r thread.Entry) bool { return r.Type == thread.EntryEntered })
	if at < 0 || rows[at].Machine != Name || rows[at].Name != previewFrame ||
		json.Unmarshal(rows[at].Value, &in) != nil || in.Plan == nil || in.Thread != threadID ||
		in.Caller != caller || side.Status() != thread.StatusDone ||
		json.Unmarshal(side.Result, &decided) != nil {
		return runtime.Errorf(runtime.CodeNotFound, op, "no such preview: make a new one")
	}
	return apply(ctx, e, in.proposal(preview, &decided), by, side.Created.Add(PreviewLife))
}

// previewed is the input of a preview's frame.
type previewed struct {
	Plan         *Plan  `json:"plan"`
	Modification string `json:"modification"`
	// what the plan is of, and who asked: absent in previews of older programs, which cannot be
	// applied by their ids
	Thread  string `json:"thread,omitempty"`
	Version int64  `json:"version,omitempty"`
	Caller  string `json:"caller,omitempty"`
}

func (s *planStep) preview(ctx context.Context) (thread.Transition, error) {
	var in previewed
	if err := json.Unmarshal(s.a.Frame.Input, &in); err != nil {
		return thread.Transition{}, err
	}
	if err := thread.SetContext(ctx, in.Plan.current()); err != nil {
		return thread.Transition{}, err
	}
	decided, err := s.Replan(ctx, in.Plan, in.Modification)
	if err != nil {
		return thread.Transition{}, err
	}
	return thread.Done(decided), nil
}

// Apply makes the plan of a proposal the thread's, and lets the thread go on with it; the
// replanner is not asked again. A thread that changed since is refused with CodeConflict, a
// proposal that ends the plan with CodeInvalid: cancel the thread instead.
func Apply(ctx context.Context, e *thread.Engine, p *Proposal, by string) error {
	return apply(ctx, e, p, by, time.Time{})
}

// apply is Apply until a time; zero: for ever.
func apply(ctx context.Context, e *thread.Engine, p *Proposal, by string, until time.Time) error {
	switch {
	case p == nil:
		return runtime.Errorf(runtime.CodeInvalid, "apply to plan",
			"there is no proposal: make one with Preview")
	case len(p.After) == 0:
		return runtime.Errorf(runtime.CodeInvalid, "apply to plan of "+p.Thread,
			"the proposal leaves no step: cancel the thread")
	}
	return changePlan(ctx, e, p.Thread, by, func(c *thread.Change, plan *Plan) (*planEvent,
		error) {
		if c.Before != p.Version {
			return nil, runtime.Errorf(runtime.CodeConflict, "apply to plan of "+p.Thread,
				"the thread has changed since: make a new proposal")
		}
		if !until.IsZero() && c.Now.After(until) {
			return nil, runtime.Errorf(runtime.CodeExpired, "apply to plan of "+p.Thread,
				"the preview is more than %s old: make a new one", PreviewLife)
		}
		kind := changeOf(plan.Steps, p.After)
		plan.Undo, plan.Redo = append(slices.Clip(plan.Undo), plan.version()), nil
		plan.Steps = p.After
		return &planEvent{Modified: kind}, nil
	})
}

// Undo puts back the steps that were left before the last modification, but for those that were
// executed since, and lets the thread go on. What was executed stays executed. With nothing to undo
// it refuses with CodeConflict, and a thread that is not paused with CodeNotWaiting.
func Undo(ctx context.Context, e *thread.Engine, threadID, by string) error {
	return changePlan(ctx, e, threadID, by, func(_ *thread.Change, p *Plan) (*planEvent, error) {
		return &planEvent{Modified: "undo"}, p.turnBack(&p.Undo, &p.Redo)
	})
}

// Redo takes back an [Undo], in the same way.
func Redo(ctx context.Context, e *thread.Engine, threadID, by string) error {
	return changePlan(ctx, e, threadID, by, func(_ *thread.Change, p *Plan) (*planEvent, error) {
		return &planEvent{Modified: "redo"}, p.turnBack(&p.Redo, &p.Undo)
	})
}

func (p *Plan) turnBack(from, to *[]Version) error {
	last := len(*from) - 1
	if last < 0 {
		return runtime.Errorf(runtime.CodeConflict, "change plan",
			"there is no other version of it")
	}
	v := (*from)[last]
	*from, *to = (*from)[:last], append(slices.Clip(*to), p.version())
	p.Steps = difference(v.Steps, p.past(false)[v.Done:])
	return nil
}

// changePlan changes a paused plan and ends the pause, in one commit. A step that stopped on its
// way begins again if the new plan has it.
func changePlan(ctx context.Context, e *thread.Engine, id, by string,
	change func(*thread.Change, *Plan) (*planEvent, error)) error {
	_, err := e.Change(ctx, id, func(c *thread.Change) error {
		p, err := paused("change plan of "+id, c.Thread)
		if err != nil {
			return err
		}
		event, err := change(c, p)
		if err != nil {
			return err
		}
		event.name = "plan_modified"
		root := *c.Thread.Root() // a copy: that of the thread is good until the first change
		locals, err1 := runtime.Encode(p)
		shows, err2 := runtime.Encode(p.current())
		if err := errors.Join(err1, err2); err != nil {
			return err
		}
		if _, err := c.Answer(thread.Answer{Interrupt: c.Thread.Control.Interrupt,
			Value: json.RawMessage(`"continue"`), By: by}); err != nil {
			return err
		}
		for _, child := range slices.Clone(root.Children) {
			c.Return(child.Frame, nil)
		}
		c.Add(p.row(root.ID, *event))
		c.Add(thread.Entry{Type: thread.EntryShows, Frame: root.ID, Value: shows})
		c.Add(thread.Entry{Type: thread.EntryStepped, Frame: root.ID, PC: pcNext, Value: locals,
			By: by})
		return nil
	})
	return err
}

// paused returns the plan of a thread that a person has paused, with the result of its last step,
// which the replanner may not have seen yet. It returns CodeNotWaiting for any other thread.
func paused(op string, t *thread.Thread) (*Plan, error) {
	root := t.Root()
	if !t.Paused() || root == nil || root.Machine != Name || root.Name != "" ||
		root.Locals == nil {
		return nil, runtime.Errorf(runtime.CodeNotWaiting, op,
			"it is not a plan that a person has paused")
	}
	p := new(Plan)
	if err := json.Unmarshal(root.Locals, p); err != nil {
		return nil, err
	}
	if root.PC == pcLook && len(p.Steps) > 0 && root.Children[0].Done {
		return p.take(&root.Children[0])
	}
	return p, nil
}
