package workflow_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"

	"github.com/routegen/routegen/generated/routes"
	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/llm/llmtest"
	"github.com/routegen/routegen/runtime/prompt"
	"github.com/routegen/routegen/runtime/store/mem"
	"github.com/routegen/routegen/runtime/thread"
	"github.com/routegen/routegen/runtime/workflow"
	"github.com/routegen/routegen/templates"
)

// critic judges texts. It asks a person before it approves. The embedded value refuses the other
// nodes; a real program writes them all.
type critic struct{ routes.UnimplementedHandlers }

// Review runs twice: first without an answer, then with it.
func (critic) Review(_ context.Context, call runtime.Call, r *routes.ReviewRequest) (
	*routes.ReviewRouting, error) {
	if call.Answer == nil {
		return &routes.ReviewRouting{InterruptRequest: &routes.ReviewInterruptRequest{
			Type: routes.InterruptTypeHumanReview, Reason: "Is this good enough? " + r.Content,
			ReviewCriteria: r.Criteria,
		}}, nil
	}
	// plain text is a JSON string; runtime.Unmarshal reads a record that the spec declares
	var said string
	if err := json.Unmarshal(call.Answer, &said); err != nil {
		return nil, err
	}
	return &routes.ReviewRouting{ReviewResult: &routes.ReviewAgentResult{
		AssessmentStatus: "APPROVED", Output: "The editor said: " + said}}, nil
}

// A node asks a person in the middle of its work, and ends with a result. The thread waits in the
// store; an engine with store/sqlite in place of store/mem goes on with it after a restart.
func Example() {
	ctx := context.Background()
	machine, err := workflow.New(routes.New(critic{}), workflow.Config{})
	if err != nil {
		log.Fatal(err)
	}
	engine, err := thread.Open(ctx, mem.Open(), thread.Config{}, machine)
	if err != nil {
		log.Fatal(err)
	}
	begin, err := workflow.Begin(&routes.ReviewRequest{Content: "Hello world.",
		Criteria: "No mistakes."})
	if err != nil {
		log.Fatal(err)
	}
	begin.User = "ann"
	t, err := engine.Start(ctx, begin)
	if err != nil {
		log.Fatal(err)
	}
	if t, err = engine.Wait(ctx, t.ID); err != nil {
		log.Fatal(err)
	}
	fmt.Println(t.Status(), "-", t.Open[0].Text)

	if _, err = engine.Answer(ctx, t.ID, thread.Answer{Text: "print it", By: "bob"}); err != nil {
		log.Fatal(err)
	}
	if t, err = engine.Wait(ctx, t.ID); err != nil {
		log.Fatal(err)
	}
	verdict, err := workflow.Result[routes.ReviewAgentResult](t)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(t.Status(), "-", verdict.AssessmentStatus, "-", verdict.Output)
	if err := engine.Close(ctx); err != nil {
		log.Fatal(err)
	}
	// Output:
	// waiting - Is this good enough? Hello world.
	// done - APPROVED - The editor said: print it
}

// chooser lets the model choose where to go on. What the model may not know it sets itself, after
// the choice.
type chooser struct{ routes.UnimplementedHandlers }

// Review asks the model.
func (chooser) Review(ctx context.Context, call runtime.Call, r *routes.ReviewRequest) (
	*routes.ReviewRouting, error) {
	routing, err := workflow.Choose[routes.ReviewRouting](ctx, call, r)
	if err != nil {
		return nil, err
	}
	if routing.ReviewResult != nil {
		routing.ReviewResult.ContextID = r.ContextID
	}
	return routing, nil
}

// A table tests handlers with their prompts and schemas: a scripted model stands in for the real
// one. A handler that calls Choose, thread.Do or thread.Ask needs the context of a node, so it runs
// on an engine, over a store in memory. One that does not is an ordinary method: call it.
func ExampleChoose() {
	ctx := context.Background()
	program := routes.New(chooser{})
	prompts, err := prompt.New(&program, templates.Prompts(nil))
	if err != nil {
		log.Fatal(err)
	}
	for _, row := range []struct{ name, reply string }{
		{"approved",
			`{"reviewResult": {"assessmentStatus": "GOOD", "suggestions": [], "contentLinks": [], "output": "Fine."}}`},
		{"asks",
			`{"interruptRequest": {"type": "HUMAN_REVIEW", "reason": "Irony?", "reviewCriteria": "c", "assessmentFindings": [], "approvalRecommendation": "yes"}}`},
		{"wrong twice", `{"reviewResult": {"assessmentStatus": "GOOD"}}`},
	} {
		model := llmtest.NewModel(llmtest.JSON(row.reply), llmtest.JSON(row.reply))
		t, err := run(ctx, program, workflow.Config{Model: model, Prompts: prompts},
			&routes.ReviewRequest{Content: "Hello.", Criteria: "None."})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Print(row.name, ": ", t.Status())
		for _, open := range t.Open {
			fmt.Print(", ", open.Kind)
		}
		fmt.Println()
	}
	// Output:
	// approved: done
	// asks: waiting, agent_question
	// wrong twice: waiting, system_error
}

// run starts a workflow with a request, and returns its thread when it waits or is over.
func run(ctx context.Context, p runtime.Program, cfg workflow.Config, request runtime.Record) (
	t *thread.Thread, err error) {
	machine, err := workflow.New(p, cfg)
	if err != nil {
		return nil, err
	}
	engine, err := thread.Open(ctx, mem.Open(), thread.Config{}, machine)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, engine.Close(ctx)) }()
	begin, err := workflow.Begin(request)
	if err != nil {
		return nil, err
	}
	if t, err = engine.Start(ctx, begin); err != nil {
		return nil, err
	}
	return engine.Wait(ctx, t.ID)
}

// merging sends what it is asked to the critic, who asks a person.
type merging struct{ critic }

// Merger ends with what there is.
func (merging) Merger(_ context.Context, _ runtime.Call, r *routes.MergerRequest) (
	*routes.MergerRouting, error) {
	return &routes.MergerRouting{MergerResult: &routes.MergerAgentResult{Acceptability: "ACCEPTED",
		Output: r.MergeSummary}}, nil
}

// An order from outside: the next interrupt of the running node continues at another one. A model
// writes the request for that node, held to the schema of its one route.
func ExampleMachine_Reroute() {
	ctx := context.Background()
	program := routes.New(merging{})
	prompts, err := prompt.New(&program, templates.Prompts(nil))
	if err != nil {
		log.Fatal(err)
	}
	model := llmtest.NewModel(
		llmtest.JSON(
			`{"mergerRequest": {"mergeContext": "review", "mergeSummary": "one change", "conflictFiles": ""}}`))
	machine, err := workflow.New(program, workflow.Config{Model: model, Prompts: prompts})
	if err != nil {
		log.Fatal(err)
	}
	engine, err := thread.Open(ctx, mem.Open(), thread.Config{}, machine)
	if err != nil {
		log.Fatal(err)
	}
	begin, err := workflow.Begin(&routes.ReviewRequest{Content: "Hello.", Criteria: "None."})
	if err != nil {
		log.Fatal(err)
	}
	t, err := engine.Start(ctx, begin)
	if err != nil {
		log.Fatal(err)
	}
	if t, err = engine.Wait(ctx, t.ID); err != nil {
		log.Fatal(err)
	}
	status, err := machine.Reroute(ctx, engine, t.ID, workflow.Event{
		EventID: "e1", NodeID: t.Open[0].Frame, SourceAgentType: routes.AgentTypeReview.String(),
		RerouteToAgentType: routes.AgentTypeMerger.String(),
		InterruptType:      string(routes.InterruptTypeHumanReview), Reason: "merge first",
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(status)
	if _, err = engine.Answer(ctx, t.ID, thread.Answer{Text: "yes", By: "bob"}); err != nil {
		log.Fatal(err)
	}
	if t, err = engine.Wait(ctx, t.ID); err != nil {
		log.Fatal(err)
	}
	merged, err := workflow.Result[routes.MergerAgentResult](t)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(merged.Acceptability, merged.Output)
	if err := engine.Close(ctx); err != nil {
		log.Fatal(err)
	}
	// Output:
	// REQUESTED
	// ACCEPTED one change
}
