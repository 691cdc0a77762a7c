package main

import (
	"context"
	_ "embed"
	"errors"
	"time"

	"github.com/routegen/routegen/examples/internal/scripted"
	"github.com/routegen/routegen/examples/multiagent/agents"
	"github.com/routegen/routegen/generated/routes"
	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/llm"
	"github.com/routegen/routegen/runtime/planner"
	"github.com/routegen/routegen/runtime/prompt"
	"github.com/routegen/routegen/runtime/thread"
	"github.com/routegen/routegen/runtime/web"
	"github.com/routegen/routegen/runtime/web/control"
	"github.com/routegen/routegen/runtime/web/socket"
	"github.com/routegen/routegen/runtime/workflow"
	"github.com/routegen/routegen/templates"
)

//go:embed work.json
var workScript []byte

// openWork opens the workflow of multiagent, plans, and a form, in one engine.
func openWork(ctx context.Context, p *place, slow func(llm.Model) llm.Model) (web.Config, error) {
	model, err := scripted.Model("", workScript)
	if err != nil {
		return web.Config{}, err
	}
	program := agents.NewProgram()
	prompts, err1 := prompt.New(&program, templates.Prompts(nil))
	machine, err2 := workflow.New(program, workflow.Config{Model: slow(model), Prompts: prompts})
	plans, err3 := openPlans(slow)
	if err := errors.Join(err1, err2, err3); err != nil {
		return web.Config{}, err
	}
	kinds := append([]runtime.Kind(nil), program.Tables.Kinds...)
	for i := range kinds {
		if kinds[i].Retry != nil { // a failure that belongs to the demo is shown without a wait
			kinds[i].Retry = &runtime.Retry{Attempts: 3, Backoff: "constant",
				First: 50 * time.Millisecond}
		}
	}
	p.engine, err = thread.Open(ctx, p.store, thread.Config{Kinds: kinds, Owner: "demo"}, machine,
		plans, supplier())
	if err != nil {
		return web.Config{}, err
	}
	begin, err := workflow.Begin(
		&routes.OrchestratorRequest{Goal: "Add rate limiting to the public API",
			Phase: "DISCOVERY"})
	if err != nil {
		return web.Config{}, err
	}
	begin.ID = "rate-limits"
	p.seed(begin)
	begin.ID = "rate-limits-2"
	p.seed(begin,
		thread.Answer{Value: []byte(
			`{"selectedChoices":{"scope":"A","answer":"B"},"confirmations":{"store":true,"plan":true}}`)})
	plan := func(id, goal string) thread.Begin {
		return thread.Begin{ID: id, Machine: planner.Name, Input: goal}
	}
	p.seed(plan("offsite", "Prepare the offsite in May"))
	p.seed(plan("offsite-june", "Prepare the offsite in June"), thread.Answer{Text: "12"},
		thread.Answer{Text: "the lake"})
	p.seed(plan("kitchen", "A new kitchen for the second floor"))
	p.seed(thread.Begin{ID: "supplier", Machine: "supplier", Input: "Northwind Catering"})
	return web.Config{Doors: []web.Door{
		//nolint:contextcheck // calls have their own
		socket.Door(), control.Plans(), control.Reroutes(machine)},
		Programs: map[string]web.Program{
			workflow.Name: {Title: "Build a change", Generated: program,
				Prompt: atNode(program.Tables, prompts)},
			planner.Name: {Title: "Plan and execute", Prompt: atStep, Starts: []web.Start{{
				Title:   "A plan for a goal",
				Schema:  []byte(`{"type":"string","title":"Goal","minLength":1}`),
				Example: []byte(`"Prepare the offsite in May"`),
			}}},
			"supplier": {Title: "Terms of a supplier",
				Starts: []web.Start{{Title: "Ask for terms",
					Schema: []byte(`{"type":"string","title":"Supplier","minLength":1}`)}}},
		}}, nil
}
