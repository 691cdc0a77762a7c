package runtime_test

import (
	"fmt"

	"github.com/routegen/routegen/generated/routes"
	"github.com/routegen/routegen/runtime"
)

// A model that answers an interrupt of the orchestrator is shown one route: the way back. The other
// thirteen, and the definitions only they need, are not in its schema.
func Example_narrowToOrigin() {
	origin := routes.AgentTypeOrchestrator
	fmt.Println(routes.InterruptRoutingSchema(origin.Routes(), runtime.OpenAI))
	// Output:
	// {"type":"object","properties":{"orchestratorRequest":{"$ref":"#/$defs/OrchestratorRequest"}},"required":["orchestratorRequest"],"additionalProperties":false,"$defs":{"OrchestratorRequest":{"type":"object","description":"Starts the workflow, or hands it back to its lead.","properties":{"goal":{"type":"string","description":"Objective to be worked on."},"phase":{"type":"string","description":"Phase the workflow is in: DISCOVERY, PLANNING, TICKETS or COMPLETE."},"feedback":{"description":"What a person answered to an interrupt, as notes to follow from now on.","anyOf":[{"type":"string"},{"type":"null"}]}},"required":["goal","phase","feedback"],"additionalProperties":false}}}
}

// Somebody outside sends the workflow elsewhere: the set is the target, and nothing else. Sets are
// values; filters only ever take routes away, so their order does not matter.
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
