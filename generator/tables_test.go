package generator_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/routegen/routegen/generated/routes"
	"github.com/routegen/routegen/runtime"
)

// contract is the table both sides agreed on: field, agent type, the request that is returned, and
// the tag.
var contract = [][4]string{
	{"orchestratorRequest", "ORCHESTRATOR", "OrchestratorRequest", "OrchestratorRoute"},
	{"discoveryOrchestratorRequest", "DISCOVERY_ORCHESTRATOR", "DiscoveryOrchestratorRequest",
		"DiscoveryRoute"},
	{"planningOrchestratorRequest", "PLANNING_ORCHESTRATOR", "PlanningOrchestratorRequest",
		"PlanningRoute"},
	{"ticketOrchestratorRequest", "TICKET_ORCHESTRATOR", "TicketOrchestratorRequest",
		"TicketRoute"},
	{"reviewRequest", "REVIEW_AGENT", "ReviewRequest", "ReviewRoute"},
	{"mergerRequest", "MERGER_AGENT", "MergerRequest", "MergerRoute"},
	{"contextManagerRequest", "CONTEXT_MANAGER", "ContextManagerRoutingRequest",
		"ContextManagerRoute"},
	{"orchestratorCollectorRequest", "ORCHESTRATOR_COLLECTOR", "OrchestratorCollectorRequest",
		"OrchestratorCollectorRoute"},
	{"discoveryCollectorRequest", "DISCOVERY_COLLECTOR", "DiscoveryCollectorRequest",
		"DiscoveryCollectorRoute"},
	{"planningCollectorRequest", "PLANNING_COLLECTOR", "PlanningCollectorRequest",
		"PlanningCollectorRoute"},
	{"ticketCollectorRequest", "TICKET_COLLECTOR", "TicketCollectorRequest",
		"TicketCollectorRoute"},
	{"discoveryAgentRequests", "DISCOVERY_DISPATCH", "DiscoveryAgentRequests",
		"DiscoveryDispatchRoute"},
	{"planningAgentRequests", "PLANNING_DISPATCH", "PlanningAgentRequests",
		"PlanningDispatchRoute"},
	{"ticketAgentRequests", "TICKET_DISPATCH", "TicketAgentRequests", "TicketDispatchRoute"},
}

// activation is one row per node: agent type, the request that reaches it, the routing it answers
// with, the interrupt it raises, and the agent type of the route its interrupts go back to.
var activation = [][5]string{
	{"ORCHESTRATOR", "OrchestratorRequest", "OrchestratorRouting", "OrchestratorInterruptRequest",
		"ORCHESTRATOR"},
	{"DISCOVERY_ORCHESTRATOR", "DiscoveryOrchestratorRequest", "DiscoveryOrchestratorRouting",
		"DiscoveryOrchestratorInterruptRequest", "DISCOVERY_ORCHESTRATOR"},
	{"PLANNING_ORCHESTRATOR", "PlanningOrchestratorRequest", "PlanningOrchestratorRouting",
		"PlanningOrchestratorInterruptRequest", "PLANNING_ORCHESTRATOR"},
	{"TICKET_ORCHESTRATOR", "TicketOrchestratorRequest", "TicketOrchestratorRouting",
		"TicketOrchestratorInterruptRequest", "TICKET_ORCHESTRATOR"},
	{"REVIEW_AGENT", "ReviewRequest", "ReviewRouting", "ReviewInterruptRequest", "REVIEW_AGENT"},
	{"MERGER_AGENT", "MergerRequest", "MergerRouting", "MergerInterruptRequest", "MERGER_AGENT"},
	{"CONTEXT_MANAGER", "ContextManagerRequest", "ContextManagerResultRouting",
		"ContextManagerInterruptRequest", "CONTEXT_MANAGER"},
	{"ORCHESTRATOR_COLLECTOR", "OrchestratorCollectorRequest", "OrchestratorCollectorRouting",
		"OrchestratorCollectorInterruptRequest", "ORCHESTRATOR_COLLECTOR"},
	{"DISCOVERY_COLLECTOR", "DiscoveryCollectorRequest", "DiscoveryCollectorRouting",
		"DiscoveryCollectorInterruptRequest", "DISCOVERY_COLLECTOR"},
	{"PLANNING_COLLECTOR", "PlanningCollectorRequest", "PlanningCollectorRouting",
		"PlanningCollectorInterruptRequest", "PLANNING_COLLECTOR"},
	{"TICKET_COLLECTOR", "TicketCollectorRequest", "TicketCollectorRouting",
		"TicketCollectorInterruptRequest", "TICKET_COLLECTOR"},
	{"DISCOVERY_DISPATCH", "DiscoveryAgentRequests", "DiscoveryAgentDispatchRouting",
		"DiscoveryAgentDispatchInterruptRequest", "DISCOVERY_DISPATCH"},
	{"PLANNING_DISPATCH", "PlanningAgentRequests", "PlanningAgentDispatchRouting",
		"PlanningAgentDispatchInterruptRequest", "PLANNING_DISPATCH"},
	{"TICKET_DISPATCH", "TicketAgentRequests", "TicketAgentDispatchRouting",
		"TicketAgentDispatchInterruptRequest", "TICKET_DISPATCH"},
	{"DISCOVERY_AGENT", "DiscoveryAgentRequest", "DiscoveryAgentRouting",
		"DiscoveryAgentInterruptRequest", "DISCOVERY_DISPATCH"},
	{"PLANNING_AGENT", "PlanningAgentRequest", "PlanningAgentRouting",
		"PlanningAgentInterruptRequest", "PLANNING_DISPATCH"},
	{"TICKET_AGENT", "TicketAgentRequest", "TicketAgentRouting", "TicketAgentInterruptRequest",
		"TICKET_DISPATCH"},
	{"QUESTION_ANSWER", "", "", "QuestionAnswerInterruptRequest", "ORCHESTRATOR"},
}

// TestContractTable compares the generated routes with the contract, row by row, both ways.
func TestContractTable(t *testing.T) {
	t.Parallel()
	var got [][4]string
	for r := range routes.AllRoutes().All() {
		got = append(got, [4]string{r.Field(), r.AgentType().String(), r.Request(),
			r.Tag()})
		back, err := routes.ParseRoute(r.Field())
		require.NoError(t, err)
		assert.Equal(t, r, back)
		assert.Equal(t, r, r.AgentType().Route(), "agent type to route")
		assert.Equal(t, r, r.Node().Route())
		assert.Equal(t, r, r.AgentType().Origin())
		assert.NotEmpty(t, r.DisplayName())
	}
	assert.Equal(t, contract, got)
	var rows [][4]string
	for _, row := range program.Tables.Routes {
		rows = append(rows, [4]string{row.Field, row.AgentType,
			program.Tables.Requests[row.Request-1].Name, row.Tag})
	}
	assert.Equal(t, contract, rows, "the engine's table says the same")
	assert.Zero(t, routes.Route(0).AgentType())
	assert.Empty(t, routes.Route(15).Field())
}

// byText finds a value of a generated enum by its text.
func byText[T ~uint32, P interface {
	*T
	UnmarshalText(text []byte) error
}](t *testing.T, text string) T {
	t.Helper()
	var v T
	require.NoError(t, P(&v).UnmarshalText([]byte(text)))
	return v
}

// TestMappingsAreTotal walks each mapping over its whole enum and compares with the table of nodes.
func TestMappingsAreTotal(t *testing.T) {
	t.Parallel()
	for i, row := range activation {
		agent := byText[routes.AgentType](t, row[0])
		node := agent.Node()
		assert.Equal(t, routes.NodeName(i+1), node, "agent type to node, in the order of the spec")
		assert.Equal(t, agent, node.AgentType())
		interrupt := program.Interrupt(row[3]).(routes.InterruptRequest)
		assert.Equal(t, node, interrupt.InterruptNode())
		tables := program.Tables
		assert.Equal(t, row[3], tables.Interrupts[tables.Nodes[i].Interrupt-1].Name)
		origin := byText[routes.AgentType](t, row[4]).Route()
		require.NotZero(t, origin)
		assert.Equal(t, origin, agent.Origin())
		assert.Equal(t, setOf(origin), agent.Routes(),
			"the filter of an origin keeps its own route and hides the others")
		if row[1] == "" {
			assert.Zero(t, agent.Route())
			continue
		}
		assert.Equal(t, node, program.Request(row[1]).(routes.Request).RequestNode())
		request := requestRow(t, row[1])
		assert.Equal(t, row[3], tables.Interrupts[request.Interrupt-1].Name)
		assert.Equal(t, row[2], tables.Routings[request.Routing-1].Name)
	}
	second := map[string]routes.NodeName{ // requests that reach a node beside its own
		"ContextManagerRoutingRequest": routes.NodeContextManager,
		"DiscoveryAgentResults":        routes.NodeDiscoveryDispatch,
		"PlanningAgentResults":         routes.NodePlanningDispatch,
		"TicketAgentResults":           routes.NodeTicketDispatch,
	}
	for name, node := range second {
		assert.Equal(t, node, program.Request(name).(routes.Request).RequestNode())
		request := requestRow(t, name)
		assert.Equal(t, activation[node-1][3],
			program.Tables.Interrupts[request.Interrupt-1].Name)
		assert.Equal(t, activation[node-1][2], program.Tables.Routings[request.Routing-1].Name)
	}
	assert.Len(t, program.Tables.Requests, len(activation)-1+len(second),
		"21 requests: all are checked")
	assert.Len(t, program.Tables.Interrupts, 18)
	assert.Len(t, program.Tables.Nodes, len(activation))
	for _, leaf := range []routes.AgentType{routes.AgentTypeDiscoveryAgent,
		routes.AgentTypePlanningAgent, routes.AgentTypeTicketAgent} {
		assert.Zero(t, leaf.Route(), "nobody is routed back to a leaf")
		assert.Equal(t, 1, leaf.Routes().Len(), "its interrupts go back to its dispatch")
	}
}

// TestEngineTablesAgree checks that the rows an engine reads say what the methods say.
func TestEngineTablesAgree(t *testing.T) {
	t.Parallel()
	for i, row := range program.Tables.Requests {
		assert.Equal(t, row.Shape.Name, row.Name, "row %d", i)
		assert.Equal(t, program.Request(row.Name).(routes.Request).RequestNode(),
			routes.NodeName(row.Node))
		assert.Equal(t, routes.DisplayName(row.Name), row.DisplayName)
		assert.NotEmpty(t, program.Schemas.Def(row.Name, runtime.Plain), row.Name)
	}
	for i, row := range program.Tables.Interrupts {
		node := program.Interrupt(row.Name).(routes.InterruptRequest).InterruptNode()
		assert.Equal(t, row.Shape.Name, row.Name, "row %d", i)
		assert.Equal(t, node, routes.NodeName(row.Node))
		assert.Equal(t, node.AgentType().Origin(), routes.Route(row.Origin))
		assert.Equal(t, node.AgentType().String(), row.AgentType)
		assert.Equal(t, routes.DisplayName(row.Name), row.DisplayName)
		assert.NotEmpty(t, program.Schemas.Def(row.Name, runtime.Plain), row.Name)
	}
	for i, row := range program.Tables.Nodes {
		node := routes.NodeName(i + 1)
		assert.Equal(t, node.String(), row.Key)
		assert.Equal(t, node.AgentType().String(), row.AgentType)
		assert.Equal(t, node.Route(), routes.Route(row.Route))
		assert.Equal(t, node.AgentType().Origin(), routes.Route(row.Origin))
		assert.Equal(t, node.DisplayName(), row.DisplayName)
		assert.Equal(t, node.Vars(), row.Vars)
		assert.Equal(t, node.Unstick(), row.Unstick)
	}
}

// TestAgentTypesOnTheWire writes the declared text, reads it and its aliases, and refuses
// everything else.
func TestAgentTypesOnTheWire(t *testing.T) {
	t.Parallel()
	for _, row := range activation {
		v := byText[routes.AgentType](t, row[0])
		text, err := json.Marshal(v)
		require.NoError(t, err)
		assert.Equal(t, `"`+row[0]+`"`, string(text))
	}
	for alias, want := range map[string]string{
		"DISCOVERY_AGENT_DISPATCH": "DISCOVERY_DISPATCH",
		"PLANNING_AGENT_DISPATCH":  "PLANNING_DISPATCH",
		"TICKET_AGENT_DISPATCH":    "TICKET_DISPATCH",
		"REVIEW_RESOLUTION_AGENT":  "REVIEW_AGENT",
	} {
		var v routes.AgentType
		require.NoError(t, json.Unmarshal([]byte(`"`+alias+`"`), &v))
		text, err := v.MarshalText()
		require.NoError(t, err)
		assert.Equal(t, want, string(text), "an alias is read and never written")
	}
	for _, text := range []string{"", "orchestrator", "ORCHESTRATOR ", "ALL", "Orchestrator",
		"ORCHESTRATOR\x00"} {
		_, err := routes.ParseAgentType(text)
		assert.Equal(t, runtime.CodeInvalid, runtime.CodeOf(err), "%q", text)
	}
	_, err := routes.ParseAgentType("ORCHESTRATR")
	assert.ErrorContains(t, err, `"ORCHESTRATOR"`, "the nearest name is offered")
	for _, v := range []interface{ MarshalText() ([]byte, error) }{
		routes.AgentType(0), routes.AgentType(99), routes.Route(0), routes.NodeName(0),
		routes.InterruptKind(0),
	} {
		_, err := v.MarshalText()
		assert.Equal(t, runtime.CodeInvalid, runtime.CodeOf(err), "%T", v)
	}
}

// TestRouteSets holds the operations of sets to a plain map.
func TestRouteSets(t *testing.T) {
	t.Parallel()
	all := everyRoute()
	var zero routes.InterruptRouteSet
	assert.Equal(t, zero, setOf(), "the zero value is the empty set")
	assert.Zero(t, zero.Len())
	assert.Equal(t, len(contract), routes.AllRoutes().Len())
	many := rapid.SliceOf(rapid.SampledFrom(append([]routes.Route{0, 65, 1 << 20}, all...)))
	rapid.Check(t, func(t *rapid.T) {
		a, b := many.Draw(t, "a"), many.Draw(t, "b")
		inA := func(r routes.Route) bool { return slices.Contains(a, r) }
		inB := func(r routes.Route) bool { return slices.Contains(b, r) }
		set := setOf(a...)
		for op, check := range map[string]struct {
			set  routes.InterruptRouteSet
			want func(routes.Route) bool
		}{
			"With": {set.With(b...), func(r routes.Route) bool {
				return inA(r) || inB(r)
			}},
			"Without": {set.Without(b...), func(r routes.Route) bool {
				return inA(r) && !inB(r)
			}},
			"Only": {set.Only(b...), func(r routes.Route) bool {
				return inA(r) && inB(r)
			}},
			"hiding is a set difference": {set.Without(
				slices.Collect(routes.AllRoutes().Without(b...).All())...), func(
				r routes.Route) bool {
				return inA(r) && inB(r)
			}},
			"none of it changes the set": {set, inA},
		} {
			var want []routes.Route
			for _, r := range all {
				if check.want(r) {
					want = append(want, r)
				}
				require.Equal(t, check.want(r), check.set.Has(r), "%s: %s", op, r)
			}
			require.Equal(t, want, slices.Collect(check.set.All()), "%s", op)
			require.Equal(t, len(want), check.set.Len(), "%s", op)
			require.Equal(t, check.set, setOf(want...), "%s: equal sets compare equal", op)
			one, ok := check.set.One()
			require.Equal(t, len(want) == 1, ok, "%s", op)
			if ok {
				require.Equal(t, want[0], one)
			}
		}
	})
	assert.False(t, routes.AllRoutes().Has(0))
	assert.False(t, routes.AllRoutes().Has(routes.Route(len(contract)+1)))
}
