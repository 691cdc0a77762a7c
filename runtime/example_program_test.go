package runtime_test

import (
	"context"
	"fmt"

	"github.com/routegen/routegen/generated/routes"
	"github.com/routegen/routegen/runtime"
)

// program handles one node; the embedded value refuses the rest. A real program writes every
// method, so that a new node stops it from compiling.
type program struct{ routes.UnimplementedHandlers }

func (program) Orchestrator(_ context.Context, call runtime.Call,
	request *routes.OrchestratorRequest) (*routes.OrchestratorRouting, error) {
	fmt.Println("visit", call.Visit, "of", call.Node, "with goal", request.Goal)
	next := &routes.DiscoveryOrchestratorRequest{Goal: request.Goal}
	return &routes.OrchestratorRouting{DiscoveryOrchestratorRequest: next}, nil
}

// New makes one value of a generated package and its handlers: an engine knows the package by
// nothing else.
func Example_program() {
	p := routes.New(program{})
	request, err := p.DecodeRequest("OrchestratorRequest",
		[]byte(`{"goal": "ship", "phase": "DISCOVERY"}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	call := runtime.Call{Node: routes.NodeOrchestrator.String(), Visit: 1}
	routing, err := p.Invoke(context.Background(), call, request)
	if err != nil {
		fmt.Println(err)
		return
	}
	branch, err := routing.Selected()
	fmt.Println(branch.Name, err)

	_, err = p.Invoke(context.Background(), call, &routes.ReviewRequest{})
	fmt.Println(runtime.CodeOf(err))
	// Output:
	// visit 1 of orchestrator with goal ship
	// discoveryOrchestratorRequest <nil>
	// unavailable
}

// labels names every interrupt request. A node added to the spec adds a method to the interface,
// and labels does not compile without it.
type labels struct{ routes.InterruptVisitor }

// VisitMergerInterruptRequest reads what only a merger asks.
func (labels) VisitMergerInterruptRequest(r *routes.MergerInterruptRequest) error {
	fmt.Println("conflicts in", r.ConflictFiles)
	return nil
}

// Every interrupt request carries the common fields; a visitor reaches the node's own.
func Example_visitInterrupt() {
	var request routes.InterruptRequest = &routes.MergerInterruptRequest{
		Type: routes.InterruptTypeHumanReview, Reason: "two sides changed one line",
		ConflictFiles: []string{"go.mod"},
	}
	fmt.Println(routes.DisplayName(request.Shape().Name), "-", request.Common().Reason)
	fmt.Println(routes.VisitInterrupt(request, labels{}))
	// Output:
	// Merger Interrupt - two sides changed one line
	// conflicts in [go.mod]
	// <nil>
}
