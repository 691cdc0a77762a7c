package web

import (
	"context"
	"time"

	"github.com/routegen/routegen/runtime/thread"
	"github.com/routegen/routegen/runtime/workflow"
)

// proposal is a [workflow.Proposal] on the wire.
type proposal struct {
	Thread  string   `json:"thread"`
	Version int64    `json:"version"`
	Before  []string `json:"before"`
	After   []string `json:"after"` // empty: the plan would end, with Answer
	Added   []string `json:"added"`
	Removed []string `json:"removed"`
	Answer  string   `json:"answer,omitempty"`
}

func proposalOf(p *workflow.Proposal) proposal {
	filled := func(steps []string) []string { return append([]string{}, steps...) }
	return proposal{
		Thread: p.Thread, Version: p.Version, Before: filled(p.Before), After: filled(p.After), Added: filled(p.Added),
		Removed: filled(p.Removed), Answer: p.Answer,
	}
}

func (p *proposal) proposal() *workflow.Proposal {
	return &workflow.Proposal{
		Thread: p.Thread, Version: p.Version, Before: p.Before, After: p.After, Added: p.Added, Removed: p.Removed, Answer: p.Answer,
	}
}

type previewForm struct {
	Modification string `json:"modification"`
	By           string `json:"by,omitempty"`
}

func (c *call) previewPlan(f *previewForm) (any, error) {
	if len(f.Modification) > maxReason {
		return nil, wrong("/modification", "is too long")
	}
	ctx, cancel := c.patient()
	defer cancel()
	p, err := workflow.PreviewPlan(ctx, c.s.engine, c.r.PathValue("thread"), f.Modification, f.By)
	return sent(proposalOf, p, err)
}

// patient is a time for calls that wait for a model. Unlike the others they end with the caller: what they wait for goes on in the engine.
func (c *call) patient() (context.Context, context.CancelFunc) {
	return context.WithTimeout(c.came, c.s.cfg.Patience)
}

type applyForm struct {
	Proposal proposal `json:"proposal"`
	By       string   `json:"by,omitempty"`
}

// maxSteps bounds a plan that comes from outside.
const maxSteps = 1000

func (c *call) applyPlan(f *applyForm) (any, error) {
	id := c.r.PathValue("thread")
	switch {
	case f.Proposal.Thread != id:
		return nil, wrong("/proposal/thread", "is another thread than that of the path")
	case len(f.Proposal.After) > maxSteps:
		return nil, wrong("/proposal/after", "has too many steps")
	}
	return c.changed(id, workflow.ApplyPlan(c.ctx(), c.s.engine, f.Proposal.proposal(), f.By))
}

type byForm struct {
	By string `json:"by,omitempty"`
}

// turnBack makes the operation of an undo or a redo.
func turnBack(do func(ctx context.Context, e *thread.Engine, id, by string) error) func(c *call, f *byForm) (any, error) {
	return func(c *call, f *byForm) (any, error) {
		id := c.r.PathValue("thread")
		return c.changed(id, do(c.ctx(), c.s.engine, id, f.By))
	}
}

// changed returns a thread after a change of it.
func (c *call) changed(id string, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	t, err := c.s.engine.Thread(c.ctx(), id)
	return sent(threadOf, t, err)
}

// stat is a [thread.Stat] on the wire.
type stat struct {
	Kind       string `json:"kind"`
	Node       string `json:"node,omitempty"`
	Assignee   string `json:"assignee,omitempty"` // who answered, or else the first who was asked
	Count      int    `json:"count"`
	Answered   int    `json:"answered"`
	Expired    int    `json:"expired"`
	Superseded int    `json:"superseded"`
	Clashed    int    `json:"clashed"`
	Reasked    int    `json:"reasked"`
	Median     int64  `json:"median"`
	P95        int64  `json:"p95"`
}

func (c *call) stats() (any, error) {
	since, err := c.number("since", 1<<53)
	if err != nil {
		return nil, err
	}
	found, err := c.s.engine.Stats(c.ctx(), time.UnixMilli(since).UTC())
	if err != nil {
		return nil, err
	}
	out := list[stat]{Items: []stat{}}
	for _, s := range found {
		out.Items = append(out.Items, stat{
			Kind: s.Kind, Node: s.Node, Assignee: s.Assignee, Count: s.Count, Answered: s.Answered, Expired: s.Expired, Superseded: s.Superseded,
			Clashed: s.Clashed, Reasked: s.Reasked, Median: s.Median.Milliseconds(), P95: s.P95.Milliseconds(),
		})
	}
	return out, nil
}

func (s *stat) stat() thread.Stat {
	const ms = time.Millisecond
	return thread.Stat{
		Kind: s.Kind, Node: s.Node, Assignee: s.Assignee, Count: s.Count, Answered: s.Answered, Expired: s.Expired, Superseded: s.Superseded,
		Clashed: s.Clashed, Reasked: s.Reasked, Median: time.Duration(s.Median) * ms, P95: time.Duration(s.P95) * ms,
	}
}
