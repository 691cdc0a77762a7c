package workflow

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
)

// PlanName is the machine of [NewPlan]; it stands in every stored frame.
const PlanName = "plan"

// Planner is what a plan thread needs from its program. Each function runs in a step, so what it does to the world goes through [thread.Do].
type Planner struct {
	// Plan makes the steps for a goal.
	Plan func(ctx context.Context, goal string) ([]string, error)
	// Execute does one step and returns its result.
	Execute func(ctx context.Context, p *Plan, step string) (string, error)
	// Replan looks at what is done and returns the steps that are left, or that the goal is reached. modification is what a person asked for; it
	// is given once, and "" otherwise.
	Replan func(ctx context.Context, p *Plan, modification string) (Replanned, error)

	// Premature says what happens when Replan ends the plan while steps are left: "continue" (default) goes on with them, "ask" asks a person.
	Premature string
}

// Replanned is what a replanner decides.
type Replanned struct {
	Steps  []string // left to do
	Done   bool     // the goal is reached
	Answer string   // with Done: the final answer
}

// Plan is the state of a plan thread, as it is stored. Every interrupt of the thread carries it in its context.
type Plan struct {
	Goal      string     `json:"goal"`
	Done      []PastStep `json:"done,omitempty"`
	Steps     []string   `json:"steps"` // left to do
	Undo      [][]string `json:"undo,omitempty"`
	Redo      [][]string `json:"redo,omitempty"`
	Requested string     `json:"requested,omitempty"` // a modification that the replanner has still to see
	Answer    string     `json:"answer,omitempty"`    // that Replan gave too early
}

// PastStep is an executed step.
type PastStep struct {
	Step    string `json:"step"`
	Result  string `json:"result,omitempty"`
	Skipped bool   `json:"skipped,omitempty"`
}

// current is what interrupts show of the plan.
type current struct {
	Plan      []string `json:"current_plan"`
	Completed int      `json:"completed_steps"`
	Total     int      `json:"total_steps"`
}

func (p *Plan) current() current {
	var all []string
	for _, d := range p.Done {
		all = append(all, d.Step)
	}
	all = append(all, p.Steps...)
	return current{Plan: all, Completed: len(p.Done), Total: len(all)}
}

// NewPlan makes the machine that plans, executes and replans: one step of the plan for each visit of a frame, with a look at the plan after each.
// A person can pause the thread between any two steps and change the plan; the change reaches the replanner once. A Planner that lacks a
// function is refused with CodeInvalid.
func NewPlan(p Planner) (thread.Machine, error) {
	if p.Plan == nil || p.Execute == nil || p.Replan == nil {
		return nil, invalid("new plan", "Plan, Execute and Replan are all needed")
	}
	switch p.Premature {
	case "":
		p.Premature = "continue"
	case "continue", "ask":
	default:
		return nil, invalid("new plan", "Premature is %q: use continue or ask", p.Premature)
	}
	return &planMachine{p}, nil
}

type planMachine struct{ Planner }

// Name returns [PlanName].
func (*planMachine) Name() string { return PlanName }

// The steps of the machine.
const (
	pcExecute = "execute"
	pcReplan  = "replan"
)

// Step runs one of them.
func (m *planMachine) Step(ctx context.Context, a thread.Activation) (thread.Transition, error) {
	if a.Frame.PC == "" {
		return m.begin(ctx, a)
	}
	var p Plan
	if err := json.Unmarshal(a.Frame.Locals, &p); err != nil {
		return thread.Transition{}, err
	}
	if a.Modify != nil { // kept until the replanner has seen it
		p.Requested = *a.Modify
		return m.to(ctx, pcReplan, &p)
	}
	if a.Frame.PC == pcExecute {
		return m.execute(ctx, &p)
	}
	return m.replan(ctx, &p)
}

func (m *planMachine) begin(ctx context.Context, a thread.Activation) (thread.Transition, error) {
	var goal string
	if err := json.Unmarshal(a.Frame.Input, &goal); err != nil {
		return thread.Transition{}, invalid("begin plan", "the input is not a goal: %v", err)
	}
	steps, err := m.Plan(ctx, goal)
	if err != nil {
		return thread.Transition{}, err
	}
	p := &Plan{Goal: goal, Steps: steps}
	if err := event(ctx, "plan_created", p, nil); err != nil {
		return thread.Transition{}, err
	}
	return m.to(ctx, pcExecute, p)
}

// to goes to a step, with the plan that interrupts show from now on.
func (*planMachine) to(ctx context.Context, pc string, p *Plan) (thread.Transition, error) {
	if err := thread.Show(ctx, p.current()); err != nil {
		return thread.Transition{}, err
	}
	return thread.Advance(pc, p), nil
}

func (m *planMachine) execute(ctx context.Context, p *Plan) (thread.Transition, error) {
	if len(p.Steps) == 0 {
		return m.to(ctx, pcReplan, p)
	}
	step := p.Steps[0]
	if err := event(ctx, "task_started", p, map[string]any{"task_description": step, "step_number": len(p.Done) + 1}); err != nil {
		return thread.Transition{}, err
	}
	result, err := m.Execute(ctx, p, step)
	if err != nil {
		return thread.Transition{}, err
	}
	next := *p
	next.Done = append(slices.Clip(p.Done), PastStep{Step: step, Result: result})
	next.Steps = p.Steps[1:]
	if err := event(ctx, "task_completed", &next, map[string]any{"task_description": step, "step_number": len(next.Done), "result": result}); err != nil {
		return thread.Transition{}, err
	}
	return m.to(ctx, pcReplan, &next)
}

func (m *planMachine) replan(ctx context.Context, p *Plan) (thread.Transition, error) {
	next := *p
	next.Requested = ""
	if changed, ok := directly(&next, p.Requested); ok {
		if err := event(ctx, "plan_modified", &next, map[string]any{"modification_type": changed}); err != nil {
			return thread.Transition{}, err
		}
		return m.to(ctx, pcExecute, &next)
	}
	decided, err := m.Replan(ctx, p, p.Requested)
	if err != nil {
		return thread.Transition{}, err
	}
	if decided.Done && len(p.Steps) > 0 && p.Requested == "" {
		return m.premature(ctx, &next, decided)
	}
	if decided.Done {
		return thread.Done(decided.Answer), nil
	}
	name := "plan_updated"
	if p.Requested != "" {
		name = "plan_modified"
		next.Undo, next.Redo = append(slices.Clip(p.Undo), p.Steps), nil
	}
	next.Steps = decided.Steps
	if err := event(ctx, name, &next, nil); err != nil {
		return thread.Transition{}, err
	}
	if len(next.Steps) == 0 {
		return thread.Transition{}, refuse(runtime.CodeInvalid, "replan", "no step is left, and the goal is not said to be reached")
	}
	return m.to(ctx, pcExecute, &next)
}

// premature deals with a replanner that ends while steps are left: it is never taken without a word.
func (m *planMachine) premature(ctx context.Context, p *Plan, decided Replanned) (thread.Transition, error) {
	if m.Premature == "ask" {
		end, err := thread.Ask[bool](ctx, "premature", runtime.Question{
			Text: fmt.Sprintf("%d steps are left, and the goal is said to be reached. Shall the work end here?", len(p.Steps)), Plain: runtime.PlainYesNo,
		})
		if err != nil {
			return thread.Transition{}, err
		}
		if end {
			return thread.Done(decided.Answer), nil
		}
	}
	if err := event(ctx, "completion_refused", p, map[string]any{"remaining": p.Steps}); err != nil {
		return thread.Transition{}, err
	}
	return m.to(ctx, pcExecute, p)
}

// event puts a plan event into the outbox.
func event(ctx context.Context, name string, p *Plan, fields map[string]any) error {
	body := map[string]any{"plan_steps": p.current().Plan, "completed_count": len(p.Done), "total_steps": p.current().Total}
	for _, key := range []string{"task_description", "step_number", "result", "modification_type", "remaining"} {
		if v, ok := fields[key]; ok {
			body[key] = v
		}
	}
	return thread.Say(ctx, name, body)
}

// A modification that begins with this is carried out as it stands: no replanner is asked.
const directPrefix = "!plan "

// direct is such a modification.
type direct struct {
	Steps []string `json:"steps,omitempty"`
	Undo  bool     `json:"undo,omitempty"`
	Redo  bool     `json:"redo,omitempty"`
}

func directly(p *Plan, modification string) (kind string, ok bool) {
	rest, ok := strings.CutPrefix(modification, directPrefix)
	var d direct
	if !ok || json.Unmarshal([]byte(rest), &d) != nil {
		return "", false
	}
	take := func(from, to *[][]string) {
		*to = append(slices.Clip(*to), p.Steps)
		p.Steps = (*from)[len(*from)-1]
		*from = (*from)[:len(*from)-1]
	}
	switch {
	case d.Undo && len(p.Undo) > 0:
		take(&p.Undo, &p.Redo)
		return "undo", true
	case d.Redo && len(p.Redo) > 0:
		take(&p.Redo, &p.Undo)
		return "redo", true
	case len(d.Steps) > 0:
		p.Undo, p.Redo = append(slices.Clip(p.Undo), p.Steps), nil
		p.Steps = d.Steps
		return "replace", true
	}
	return "", false
}

// Proposal is what a modification would make of a plan. Nothing is committed until it is applied.
type Proposal struct {
	Thread  string
	Version int64    // of the thread it was made for
	Before  []string // steps left
	After   []string
	Added   []string
	Removed []string
}

// Preview asks the replanner what it would make of a modification, and commits nothing. The thread must be paused by a user escape:
// CodeNotWaiting otherwise. Replan gets a context without a step: it must not call [thread.Do].
func (p Planner) Preview(ctx context.Context, e *thread.Engine, threadID, modification string) (*Proposal, error) {
	t, plan, err := paused(ctx, e, threadID)
	if err != nil {
		return nil, err
	}
	decided, err := p.Replan(ctx, plan, modification)
	if err != nil {
		return nil, err
	}
	out := &Proposal{Thread: threadID, Version: t.Version, Before: plan.Steps, After: decided.Steps}
	for _, s := range decided.Steps {
		if !slices.Contains(plan.Steps, s) {
			out.Added = append(out.Added, s)
		}
	}
	for _, s := range plan.Steps {
		if !slices.Contains(decided.Steps, s) {
			out.Removed = append(out.Removed, s)
		}
	}
	return out, nil
}

// Apply makes the plan of a proposal the thread's, and lets it go on. A thread that changed since is refused with CodeConflict.
func Apply(ctx context.Context, e *thread.Engine, p *Proposal, by string) error {
	return order(ctx, e, p.Thread, p.Version, direct{Steps: p.After}, by)
}

// UndoPlan puts back the steps that were left before the last modification; RedoPlan takes that back. What was executed stays executed. With
// nothing to undo or redo they refuse with CodeConflict.
func UndoPlan(ctx context.Context, e *thread.Engine, threadID, by string) error {
	return turnBack(ctx, e, threadID, direct{Undo: true}, by)
}

// RedoPlan is the reverse of [UndoPlan].
func RedoPlan(ctx context.Context, e *thread.Engine, threadID, by string) error {
	return turnBack(ctx, e, threadID, direct{Redo: true}, by)
}

func turnBack(ctx context.Context, e *thread.Engine, threadID string, d direct, by string) error {
	t, plan, err := paused(ctx, e, threadID)
	if err != nil {
		return err
	}
	if d.Undo && len(plan.Undo) == 0 || d.Redo && len(plan.Redo) == 0 {
		return refuse(runtime.CodeConflict, "change plan of "+threadID, "there is nothing to undo or redo")
	}
	return order(ctx, e, threadID, t.Version, d, by)
}

// order answers the pause with a modification that is carried out as it stands.
func order(ctx context.Context, e *thread.Engine, threadID string, version int64, d direct, by string) error {
	text, err := runtime.Encode(d)
	if err != nil {
		return err
	}
	value, err := runtime.Encode(map[string]string{"choice": "modify", "text": directPrefix + string(text)})
	if err != nil {
		return err
	}
	_, err = e.Change(ctx, threadID, func(c *runtime.Change) error {
		if c.Before != version || c.Thread.Control == nil {
			return refuse(runtime.CodeConflict, "change plan of "+threadID, "the thread has changed since: make a new proposal")
		}
		_, err := c.Answer(runtime.Answer{Interrupt: c.Thread.Control.Interrupt, Value: value, By: by})
		return err
	})
	return err
}

func paused(ctx context.Context, e *thread.Engine, threadID string) (*runtime.Thread, *Plan, error) {
	t, err := e.Thread(ctx, threadID)
	if err != nil {
		return nil, nil, err
	}
	root := t.Root()
	if !t.Paused() || root == nil || root.Machine != PlanName {
		return nil, nil, &runtime.Error{
			Code: runtime.CodeNotWaiting, Op: "change plan of " + threadID, Err: errors.New("it is no plan that a person has paused"),
		}
	}
	var p Plan
	if err := json.Unmarshal(root.Locals, &p); err != nil {
		return nil, nil, err
	}
	return t, &p, nil
}
