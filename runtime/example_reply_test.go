package runtime_test

import (
	"errors"
	"fmt"

	"github.com/routegen/routegen/generated/routes"
	"github.com/routegen/routegen/runtime"
)

// What a model answers is decoded strictly, and held against the routes it was allowed. The
// selected branch is a typed request.
func Example_decodeReply() {
	reply := []byte(`{"route": {"orchestratorRequest": {"goal": "ship", "phase": "PLANNING"}}}`)
	var routing routes.InterruptRouting
	if err := routing.DecodeReply(reply,
		routes.AgentTypeOrchestrator.Routes()); err != nil {
		fmt.Println(err)
		return
	}
	branch, err := routing.Selected()
	if err != nil {
		fmt.Println(err)
		return
	}
	switch request := branch.Value.(type) {
	case *routes.OrchestratorRequest:
		fmt.Println(branch.Name, "goes on with phase", request.Phase)
	default:
		fmt.Println("not an orchestrator request")
	}
	// Output: orchestratorRequest goes on with phase PLANNING
}

// A refusal has a code, and its data in fields: the allowed routes, or every problem with a pointer
// to it. Both go back to the model as they are.
func Example_refusedReply() {
	allowed := routes.AgentTypeReview.Routes()
	for _, reply := range []string{
		`{"orchestratorRequest": {"goal": "ship", "phase": "PLANNING"}}`,
		`{"reviewRequest": {"content": 7, "contextId": "ak:1"}}`,
		`{}`,
		`{"reviewRequest": {"content": "c", "criteria": "c", "extra": 1}}`,
	} {
		var routing routes.InterruptRouting
		err := routing.DecodeReply([]byte(reply), allowed)
		if selection, ok := errors.AsType[*runtime.SelectionError](err); ok {
			fmt.Println(runtime.CodeOf(err), "allowed:", selection.Allowed)
		}
		if invalid, ok := errors.AsType[*runtime.InvalidError](err); ok {
			for _, p := range invalid.Problems {
				fmt.Println(runtime.CodeOf(err), p.Pointer)
			}
		}
	}
	// Output:
	// no_route allowed: [reviewRequest]
	// invalid /reviewRequest/content
	// invalid /reviewRequest/contextId
	// invalid /reviewRequest/criteria
	// no_route allowed: [reviewRequest]
	// invalid /reviewRequest/extra
}

// The wire form keeps what models never see. Decoding it is strict too: an unknown member is an
// error, not a loss.
func Example_unmarshal() {
	sent, err := runtime.Encode(
		&routes.DiscoveryOrchestratorRequest{ContextID: "ak:01ARZ3NDEKTSV4RRFFQ69G5FAV",
			Goal: "a < b"})
	fmt.Println(string(sent), err)
	var received routes.DiscoveryOrchestratorRequest
	fmt.Println(runtime.Unmarshal(sent, &received), received.ContextID)
	err = runtime.Unmarshal([]byte(`{"goal": "a", "goall": "b"}`), &received)
	if invalid, ok := errors.AsType[*runtime.InvalidError](err); ok {
		fmt.Println(invalid.Problems[0].Pointer, invalid.Problems[0].Reason)
	}
	// Output:
	// {"contextId":"ak:01ARZ3NDEKTSV4RRFFQ69G5FAV","goal":"a < b"} <nil>
	// <nil> ak:01ARZ3NDEKTSV4RRFFQ69G5FAV
	// /goall unknown key of DiscoveryOrchestratorRequest: did you mean "goal"?
}
