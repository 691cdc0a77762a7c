package main

import (
	"context"
	_ "embed"
	"regexp"
	"slices"
	"strings"

	"github.com/routegen/routegen/examples/internal/scripted"
	"github.com/routegen/routegen/examples/planexecute/roles"
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
	cfg := roles.NewConfig(routes.New(routes.UnimplementedHandlers{}), slow(editor{model}))
	execute := cfg.Execute
	cfg.Execute = func(ctx context.Context, p *planner.Plan, step string) (string, error) {
		if step == "call the plumber" {
			return "", runtime.Errorf(runtime.CodeUnavailable, "call",
				"the line of Waters & Sons is busy")
		}
		return execute(ctx, p, step)
	}
	return planner.New(cfg)
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
