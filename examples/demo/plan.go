package main

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/routegen/routegen/examples/internal/scripted"
	"github.com/routegen/routegen/examples/planexecute/routes"
	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/llm"
	"github.com/routegen/routegen/runtime/planner"
	"github.com/routegen/routegen/runtime/thread"
)

//go:embed plan.json
var planScript []byte

// openPlans is the machine of planexecute. One of its steps fails whenever it is tried.
func openPlans(slow func(llm.Model) llm.Model) (thread.Machine, error) {
	model, err := scripted.Model("", planScript)
	if err != nil {
		return nil, err
	}
	r := &roles{model: slow(editor{model}), program: routes.New(routes.UnimplementedHandlers{})}
	return planner.New(planner.Config{Plan: r.plan, Execute: r.execute, Replan: r.replan})
}

// roles lets a model plan, execute and replan.
type roles struct {
	model   llm.Model
	program runtime.Program
}

func (r *roles) plan(ctx context.Context, goal string) ([]string, error) {
	routing, err := says[*routes.PlannerRouting](ctx, r, "model", routes.NodePlanner,
		"Goal: "+goal+"\nMake a plan of a few steps.")
	if err != nil {
		return nil, err
	}
	return routing.ExecutorRequest.Steps, nil
}

func (r *roles) execute(ctx context.Context, p *planner.Plan, step string) (string, error) {
	if step == "call the plumber" {
		return "", &runtime.Error{Code: runtime.CodeUnavailable, Op: "call",
			Err: errors.New("the line of Waters & Sons is busy")}
	}
	prompt := stepPrompt(p, step)
	for n := 1; ; n++ {
		routing, err := says[*routes.ExecutorRouting](ctx, r, fmt.Sprint("model/", n),
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
	routing, err := says[*routes.ReplannerRouting](ctx, r, "model", routes.NodeReplanner, prompt)
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

func stepPrompt(p *planner.Plan, step string) string {
	return story(p) + "\nDo this step: " + step
}

func story(p *planner.Plan) string {
	var done strings.Builder
	for _, d := range p.Done {
		done.WriteString("\nDone: " + d.Step + ": " + d.Result)
	}
	return "Goal: " + p.Goal + done.String() + "\nLeft: " + cmp.Or(strings.Join(p.Steps, ", "),
		"nothing")
}

// editor is the model of the replanner. It understands the changes that the page suggests, and
// keeps the rest of the plan.
type editor struct{ llm.Model }

var (
	leftOver = regexp.MustCompile(`(?m)^Left: (.*)$`)
	wanted   = regexp.MustCompile(
		`(?m)^A person wants: (skip|leave out|do|add a step:|add a boat trip) ?“?([^”\n]*)”?( first)?$`)
)

// Generate edits the plan, or asks the script.
func (e editor) Generate(ctx context.Context, r llm.Request) (llm.Response, error) {
	left, want := leftOver.FindStringSubmatch(r.Prompt), wanted.FindStringSubmatch(r.Prompt)
	if left == nil || want == nil || left[1] == "nothing" {
		return e.Model.Generate(ctx, r)
	}
	if want[1] == "add a boat trip" {
		want[2] = "rent a boat"
	}
	steps := slices.DeleteFunc(strings.Split(left[1], ", "), func(s string) bool {
		return s == want[2]
	})
	switch want[1] {
	case "do":
		steps = append([]string{want[2]}, steps...)
	case "add a step:":
		steps = append(steps, want[2])
	case "add a boat trip":
		steps = slices.Insert(steps, max(0, len(steps)-1), want[2]) // the team is invited last
	}
	data, err := runtime.Encode(map[string]any{"executorRequest": map[string]any{"steps": steps}})
	return llm.Response{JSON: data}, err
}

// says asks the model for the reply of a role, once.
func says[R runtime.Routing](ctx context.Context, r *roles, name string, role routes.NodeName,
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
