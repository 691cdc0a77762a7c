package runtime_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/routegen/routegen/generated/routes"
	"github.com/routegen/routegen/runtime"
)

// A model that answers an interrupt of the orchestrator is shown one route: the way back. The other
// thirteen, and the definitions only they need, are not in its schema.
func Example_narrowToOrigin() {
	origin := routes.AgentTypeOrchestrator
	text := routes.InterruptRoutingSchema(origin.Routes(), runtime.OpenAI)
	var schema struct {
		Properties  map[string]any `json:"properties"`
		Definitions map[string]any `json:"$defs"`
	}
	if err := json.Unmarshal([]byte(text), &schema); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("routes:", slices.Sorted(maps.Keys(schema.Properties)))
	fmt.Println("definitions:", slices.Sorted(maps.Keys(schema.Definitions)))
	// Output:
	// routes: [orchestratorRequest]
	// definitions: [OrchestratorRequest]
}

// An order from outside sends the workflow elsewhere: the set is the target, and nothing else. Sets
// are values; filters only ever take routes away, so their order does not matter.
func Example_narrowToTarget() {
	target, err := routes.ParseAgentType("DISCOVERY_AGENT_DISPATCH") // an alias
	if err != nil {
		fmt.Println(err)
		return
	}
	set := routes.AllRoutes().Only(target.Route())
	for route := range set.All() {
		fmt.Println(route, route.Tag(), route.AgentType(), route.Request())
	}
	fmt.Println(set == routes.InterruptRouteSet{}.With(routes.RouteDiscoveryDispatch))
	// Output:
	// discoveryAgentRequests DiscoveryDispatchRoute DISCOVERY_DISPATCH DiscoveryAgentRequests
	// true
}
