// Package roles lets a model plan, execute and replan, for examples/planexecute.
package roles

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/routegen/routegen/examples/planexecute/routes"
	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/llm"
	"github.com/routegen/routegen/runtime/planner"
	"github.com/routegen/routegen/runtime/thread"
)

// NewConfig returns the functions of a plan whose roles are the nodes of a program.
func NewConfig(program runtime.Program, model llm.Model) planner.Config {
	r := &roles{model: model, program: program}
	return planner.Config{Plan: r.plan, Execute: r.execute, Replan: r.replan}
}

type roles struct {
	model   llm.Model
	program runtime.Program
}

func (r *roles) plan(ctx context.Context, goal string) ([]string, error) {
	routing, err := choose[*routes.PlannerRouting](ctx, r, "model", routes.NodePlanner,
		"Goal: "+goal+"\nMake a plan of a few steps.")
	if err != nil {
		return nil, err
	}
	return routing.ExecutorRequest.Steps, nil
}

// execute does a step. The model may ask before it does, as often as it needs; an answer is checked
// against its type.
func (r *roles) execute(ctx context.Context, p *planner.Plan, step string) (string, error) {
	prompt := StepPrompt(p, step)
	for n := 1; ; n++ {
		routing, err := choose[*routes.ExecutorRouting](ctx, r, fmt.Sprint("model/", n),
			routes.NodeExecutor, prompt)
		if err != nil {
			return "", err
		}
		asked := routing.InterruptRequest
		if asked == nil {
			return routing.ReplannerRequest.Result, nil
		}
		var answer any
		if asked.Form == routes.AnswerFormYesNo {
			answer, err = thread.Ask[bool](ctx, fmt.Sprint("ask/", n),
				thread.Question{Text: asked.Reason, Plain: thread.PlainYesNo})
		} else {
			answer, err = thread.Ask[string](ctx, fmt.Sprint("ask/", n),
				thread.Question{Text: asked.Reason, Plain: thread.PlainText})
		}
		if err != nil {
			return "", err
		}
		prompt += fmt.Sprintf("\n%s %v", asked.Reason, answer)
	}
}

func (r *roles) replan(ctx context.Context, p *planner.Plan, modification string) (
	planner.Replanned, error) {
	prompt := story(p) + "\nA person wants: " + modification + "\nWhat is left to do?"
	routing, err := choose[*routes.ReplannerRouting](ctx, r, "model", routes.NodeReplanner, prompt)
	switch {
	case err != nil:
		return planner.Replanned{}, err
	case routing.Finished != nil:
		return planner.Replanned{Done: true, Answer: routing.Finished.Answer}, nil
	case len(routing.ExecutorRequest.Steps) == 0:
		return planner.Replanned{Steps: p.Steps}, nil
	}
	return planner.Replanned{Steps: routing.ExecutorRequest.Steps}, nil
}

// StepPrompt returns what the model reads before it does a step.
func StepPrompt(p *planner.Plan, step string) string {
	return story(p) + "\nDo this step: " + step
}

// story returns the beginning of a prompt.
func story(p *planner.Plan) string {
	var done strings.Builder
	for _, d := range p.Done {
		done.WriteString("\nDone: " + d.Step + ": " + d.Result)
	}
	return "Goal: " + p.Goal + done.String() + "\nLeft: " + cmp.Or(strings.Join(p.Steps, ", "),
		"nothing")
}

// choose asks the model for the reply of a role, once: the accepted reply is stored. The schema
// offers the branches of the role's routing, and a reply that does not set exactly one of them is
// refused.
func choose[R runtime.Routing](ctx context.Context, r *roles, name string, role routes.NodeName,
	prompt string) (R, error) {
	return thread.Do(ctx, name, func(ctx context.Context, key string) (out R, err error) {
		reply, err := r.model.Generate(ctx, llm.Request{
			Key: key, Prompt: prompt, SchemaName: out.Shape().Name,
			Schema: func(d runtime.Dialect) string { return r.program.RoutingSchema(int(role), d) },
		})
		if err != nil {
			return out, err
		}
		routing, err := r.program.DecodeReply(int(role), reply.Body(), nil)
		out, _ = routing.(R)
		return out, err
	})
}
