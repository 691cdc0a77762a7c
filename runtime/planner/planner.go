// Package planner is the machine of plans: it makes the steps for a goal, executes one after the
// other, each durably, and looks at the plan again after each. A person may pause the thread and
// change the plan, see what a change would make of it ([Preview]) and take changes back ([Undo],
// [Redo]).
//
// The functions of this package may be called by several goroutines at the same time. Errors are
// [*runtime.Error] with the codes that each function names.
package planner

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
)

// Name is the name of the machine of [New], which is stored with every frame of it. The input of a
// thread is the goal, a text.
const Name = "plan"

// Config is what a plan thread needs from its program. Each function runs in a step, so what it
// does to the world goes through [thread.Do].
type Config struct {
	// Plan makes the steps for a goal.
	Plan func(ctx context.Context, goal string) ([]string, error)
	// Execute does one step and returns its result. It may ask with [thread.Ask].
	Execute func(ctx context.Context, p *Plan, step string) (string, error)
	// Replan looks at what is done and returns the steps that are left, or that the goal is
	// reached. modification is what a person asked for; it is given until one call has come to a
	// decision, and is "" from then on.
	Replan func(ctx context.Context, p *Plan, modification string) (Replanned, error)

	// Premature says what happens when Replan ends the plan by itself while steps are left:
	// "continue" (default) goes on with them, "ask" asks a person. Where a person's modification
	// led to the end it is taken.
	Premature string
	// steps executed in one plan; default 100. A longer plan fails with CodeLoop
	Most int
}

// Replanned is what a replanner decides.
type Replanned struct {
	Steps  []string `json:"steps,omitempty"` // left to do
	Done   bool     `json:"done,omitempty"`  // the goal is reached
	Answer string   `json:"answer,omitempty"`
}

// Plan is the state of a plan thread, as it is stored.
type Plan struct {
	Goal  string     `json:"goal"`
	Done  []PastStep `json:"done,omitempty"`
	Steps []string   `json:"steps"` // left to do
	Undo  []Version  `json:"undo,omitempty"`
	Redo  []Version  `json:"redo,omitempty"`
}

// Version is what was left of a plan before a person changed it.
type Version struct {
	Steps []string `json:"steps"`
	Done  int      `json:"done"` // how many steps were executed by then
}

// PastStep is an executed step.
type PastStep struct {
	Step    string `json:"step"`
	Result  string `json:"result,omitempty"`
	Skipped bool   `json:"skipped,omitempty"` // a person skipped it
}

// New makes the machine that plans, executes and replans. Each step of the plan is a frame of
// its own, so what a person decides about a failed one, to edit or to skip it, is about that step;
// after each one the replanner looks at the plan. A person can pause the thread and change the
// plan: the change reaches the replanner before anything else is executed, and once. The result of
// the thread is the final answer.
//
// Every interrupt of the thread has current_plan, completed_steps and total_steps in its context.
// What happens goes to the outbox as plan_created, task_started, task_completed, task_stopped,
// plan_updated, plan_modified, completion_refused and completion_accepted.
//
// It returns CodeInvalid for a Config that lacks a function.
func New(p Config) (thread.Machine, error) {
	if p.Plan == nil || p.Execute == nil || p.Replan == nil {
		return nil, runtime.Errorf(runtime.CodeInvalid, "new plan",
			"Plan, Execute and Replan are all needed")
	}
	switch p.Premature {
	case "":
		p.Premature = "continue"
	case "continue", "ask":
	default:
		return nil, runtime.Errorf(runtime.CodeInvalid, "new plan",
			"Premature is %q: use continue or ask", p.Premature)
	}
	if p.Most == 0 {
		p.Most = 100
	}
	return &planMachine{p}, nil
}

type planMachine struct{ Config }

// Name returns [Name].
func (*planMachine) Name() string { return Name }

// CheckInput returns CodeInvalid for what is not a goal: a text, for a plan without another name.
// Steps and previews begin from inside alone.
func (*planMachine) CheckInput(name string, input json.RawMessage) error {
	var goal string
	if name != "" || json.Unmarshal(input, &goal) != nil {
		return runtime.Errorf(runtime.CodeInvalid, "begin plan",
			"the input is not a goal: it is a text, and the name is empty")
	}
	return nil
}

// Changeable returns true: a change goes to the replanner.
func (*planMachine) Changeable(*thread.Frame) bool { return true }

// The frames beside the root, and the steps.
const (
	taskFrame    = "step"    // executes one step of a plan
	previewFrame = "preview" // replans, and nothing is done with it

	pcNext = "next" // take the next step
	pcLook = "look" // at the result of a step
	pcTask = "task" // of a task's frame: execute
)

// Step runs one step of a frame.
func (m *planMachine) Step(ctx context.Context, a thread.Activation) (thread.Transition, error) {
	s := &planStep{planMachine: m, a: a}
	t, err := s.run(ctx)
	said := s.said
	// no effects of the step: the end of a step that is done must not be a safe point
	return t.First(func(c *thread.Change) {
		for _, row := range said {
			c.Add(row)
		}
	}), err
}

// planStep is one run of a step.
type planStep struct {
	*planMachine
	a    thread.Activation
	said []thread.Entry
}

func (s *planStep) run(ctx context.Context) (thread.Transition, error) {
	f := s.a.Frame
	switch {
	case f.Name == taskFrame:
		return s.task(ctx)
	case f.Name == previewFrame:
		return s.preview(ctx)
	case f.PC == "":
		return s.begin(ctx)
	}
	var p Plan
	if err := json.Unmarshal(f.Locals, &p); err != nil {
		return thread.Transition{}, err
	}
	switch {
	case f.PC == pcLook:
		return s.look(ctx, &p)
	case s.a.Modify != nil || len(p.Steps) == 0:
		return s.replan(ctx, &p)
	}
	return s.next(&p)
}

func (s *planStep) say(p *Plan, e planEvent) { s.said = append(s.said, p.row(s.a.Frame.ID, e)) }

func (s *planStep) begin(ctx context.Context) (thread.Transition, error) {
	p := &Plan{}
	if err := json.Unmarshal(s.a.Frame.Input, &p.Goal); err != nil {
		return thread.Transition{}, runtime.Errorf(runtime.CodeInvalid, "begin plan",
			"the input is not a goal: %v", err)
	}
	if err := thread.SetContext(ctx, p.current()); err != nil { // for what Plan asks
		return thread.Transition{}, err
	}
	var err error
	if p.Steps, err = s.Plan(ctx, p.Goal); err != nil {
		return thread.Transition{}, err
	}
	if s.say(p, planEvent{name: "plan_created"}); s.a.Modify != nil { // it was paused meanwhile
		return s.replan(ctx, p)
	}
	return s.advance(ctx, p)
}

// advance goes to the next step of the plan. Interrupts show the plan as it is now from here on.
func (*planStep) advance(ctx context.Context, p *Plan) (thread.Transition, error) {
	return thread.Advance(pcNext, p), thread.SetContext(ctx, p.current())
}

// next begins the next step of the plan, in a frame of its own.
func (s *planStep) next(p *Plan) (thread.Transition, error) {
	if len(p.Done) >= s.Most {
		return thread.Transition{}, thread.Permanent(runtime.Errorf(runtime.CodeLoop,
			"execute plan", "%d steps are executed, and there are more", len(p.Done)))
	}
	s.say(p, planEvent{name: "task_started", Task: p.Steps[0], Number: len(p.Done) + 1})
	return thread.Call(pcLook, p, thread.Spawned{Machine: Name, Name: taskFrame,
		Input: task{Step: p.Steps[0], Plan: p}}), nil
}

// task is the input of a step's frame.
type task struct {
	Step string `json:"step"`
	Plan *Plan  `json:"plan"`
}

// task executes a step. It ends without a result if a person has changed the plan meanwhile: then
// the replanner decides first.
func (s *planStep) task(ctx context.Context) (thread.Transition, error) {
	f, t := s.a.Frame, task{Plan: &Plan{}}
	if f.PC == "" { // the plan goes where an edited input does not replace it
		if err := json.Unmarshal(f.Input, &t); err != nil {
			return thread.Transition{}, err
		}
		return thread.Advance(pcTask, t.Plan), nil
	}
	if s.a.Modify != nil {
		return thread.Return(nil), nil
	}
	if err := json.Unmarshal(f.Locals, t.Plan); err != nil {
		return thread.Transition{}, err
	}
	if t.Step = stepIn(f.Input); t.Step == "" {
		return thread.Transition{}, runtime.Errorf(runtime.CodeInvalid, "execute step",
			`the input is not a step: give its text, or {"step": "..."}`)
	}
	result, err := s.Execute(ctx, t.Plan, t.Step)
	if err != nil {
		return thread.Transition{}, err
	}
	next := t.Plan.after(PastStep{Step: t.Step, Result: result})
	shows, err := runtime.Encode(next.current())
	if err != nil {
		return thread.Transition{}, err
	}
	s.say(next, next.completed())
	// so that an interrupt shows it too that opens before the replanner has looked at the result
	return thread.Return(next.last()).Also(func(c *thread.Change) {
		c.Add(thread.Entry{Type: thread.EntryShows, Frame: c.Thread.Root().ID, Value: shows})
	}), nil
}

// stepIn reads the step out of the input of its frame: a person who edits it may give the bare text
// too.
func stepIn(input json.RawMessage) string {
	var bare string
	var t task
	if json.Unmarshal(input, &bare) == nil {
		return bare
	}
	_ = json.Unmarshal(input, &t) // without a step it is refused
	return t.Step
}

// look takes the result of a step, and replans.
func (s *planStep) look(ctx context.Context, p *Plan) (thread.Transition, error) {
	child := &s.a.Frame.Children[0]
	// its question expired, say: the step is not done, and what is left may build on it
	if child.Failure != nil && !child.Skipped {
		return thread.Fail(runtime.Errorf(child.Failure.Code, "execute step "+p.Steps[0], "%s",
			child.Failure.Text)), nil
	}
	next, err := p.take(child)
	switch {
	case err != nil:
		return thread.Transition{}, err
	case child.Skipped:
		s.say(next, next.completed())
		if err := thread.SetContext(ctx, next.current()); err != nil {
			return thread.Transition{}, err
		}
	case next == p: // stopped, to be planned again
		s.say(p, planEvent{name: "task_stopped", Task: p.Steps[0], Number: len(p.Done) + 1})
	}
	return s.replan(ctx, next)
}

// replan asks the replanner. What it decides for a person's modification is a change that can be
// undone.
func (s *planStep) replan(ctx context.Context, p *Plan) (thread.Transition, error) {
	modification, ordered := "", s.a.Modify != nil
	if ordered {
		modification = *s.a.Modify
	}
	decided, err := s.Replan(ctx, p, modification)
	switch {
	case err != nil:
		return thread.Transition{}, err
	case decided.Done:
		return s.complete(ctx, p, decided.Answer, ordered)
	case len(decided.Steps) == 0:
		return thread.Transition{}, runtime.Errorf(runtime.CodeNoRoute, "replan",
			"no step is left, and the goal is not said to be reached")
	}
	next, e := *p, planEvent{name: "plan_updated"}
	next.Steps = decided.Steps
	if ordered {
		next.Undo, next.Redo = append(slices.Clip(p.Undo), p.version()), nil
		e = planEvent{name: "plan_modified", Modified: changeOf(p.Steps, next.Steps),
			Details: modification}
	}
	s.say(&next, e)
	return s.advance(ctx, &next)
}

// complete ends the plan. If the replanner ends it by itself while steps are left,
// Config.Premature says what happens.
func (s *planStep) complete(ctx context.Context, p *Plan, answer string, ordered bool) (
	thread.Transition, error) {
	if len(p.Steps) == 0 {
		s.say(p, planEvent{name: "plan_updated"})
		return thread.Done(answer), nil
	}
	end := ordered
	if !end && s.Premature == "ask" {
		var err error
		end, err = thread.Ask[bool](ctx, "premature", thread.Question{
			Text: fmt.Sprintf("%d steps are left, and the goal is said to be reached. Shall the "+
				"work end here?", len(p.Steps)), Plain: thread.PlainYesNo,
		})
		if err != nil {
			return thread.Transition{}, err
		}
	}
	if !end {
		s.say(p, planEvent{name: "completion_refused", Details: answer})
		return s.advance(ctx, p)
	}
	s.say(p, planEvent{name: "completion_accepted", Details: answer})
	return thread.Done(answer), nil
}
