package generator_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
)

// routingTable is the branch graph of the system: every routing record with its branches in order,
// and what each carries.
const routingTable = `
InterruptRouting
  orchestratorRequest OrchestratorRequest
  discoveryOrchestratorRequest DiscoveryOrchestratorRequest
  planningOrchestratorRequest PlanningOrchestratorRequest
  ticketOrchestratorRequest TicketOrchestratorRequest
  reviewRequest ReviewRequest
  mergerRequest MergerRequest
  contextManagerRequest ContextManagerRoutingRequest
  orchestratorCollectorRequest OrchestratorCollectorRequest
  discoveryCollectorRequest DiscoveryCollectorRequest
  planningCollectorRequest PlanningCollectorRequest
  ticketCollectorRequest TicketCollectorRequest
  discoveryAgentRequests DiscoveryAgentRequests
  planningAgentRequests PlanningAgentRequests
  ticketAgentRequests TicketAgentRequests
OrchestratorRouting
  interruptRequest OrchestratorInterruptRequest
  collectorRequest OrchestratorCollectorRequest
  discoveryOrchestratorRequest DiscoveryOrchestratorRequest
  contextManagerRequest ContextManagerRoutingRequest
OrchestratorCollectorRouting
  interruptRequest OrchestratorCollectorInterruptRequest
  collectorResult OrchestratorCollectorResult
  orchestratorRequest OrchestratorRequest
  discoveryRequest DiscoveryOrchestratorRequest
  planningRequest PlanningOrchestratorRequest
  ticketRequest TicketOrchestratorRequest
  reviewRequest ReviewRequest
  mergerRequest MergerRequest
  contextManagerRequest ContextManagerRoutingRequest
DiscoveryOrchestratorRouting
  interruptRequest DiscoveryOrchestratorInterruptRequest
  agentRequests DiscoveryAgentRequests
  collectorRequest DiscoveryCollectorRequest
  orchestratorRequest DiscoveryOrchestratorRequest
  contextManagerRequest ContextManagerRoutingRequest
DiscoveryAgentRouting
  interruptRequest DiscoveryAgentInterruptRequest
  agentResult DiscoveryAgentResult
  planningOrchestratorRequest PlanningOrchestratorRequest
  contextManagerRequest ContextManagerRoutingRequest
DiscoveryCollectorRouting
  interruptRequest DiscoveryCollectorInterruptRequest
  collectorResult DiscoveryCollectorResult
  orchestratorRequest OrchestratorRequest
  discoveryRequest DiscoveryOrchestratorRequest
  planningRequest PlanningOrchestratorRequest
  ticketRequest TicketOrchestratorRequest
  reviewRequest ReviewRequest
  mergerRequest MergerRequest
  contextManagerRequest ContextManagerRoutingRequest
DiscoveryAgentDispatchRouting
  interruptRequest DiscoveryAgentDispatchInterruptRequest
  collectorRequest DiscoveryCollectorRequest
  contextManagerRequest ContextManagerRoutingRequest
PlanningOrchestratorRouting
  interruptRequest PlanningOrchestratorInterruptRequest
  agentRequests PlanningAgentRequests
  collectorRequest PlanningCollectorRequest
  contextManagerRequest ContextManagerRoutingRequest
PlanningAgentRouting
  interruptRequest PlanningAgentInterruptRequest
  agentResult PlanningAgentResult
  contextManagerRequest ContextManagerRoutingRequest
PlanningCollectorRouting
  interruptRequest PlanningCollectorInterruptRequest
  collectorResult PlanningCollectorResult
  planningRequest PlanningOrchestratorRequest
  discoveryOrchestratorRequest DiscoveryOrchestratorRequest
  reviewRequest ReviewRequest
  mergerRequest MergerRequest
  ticketOrchestratorRequest TicketOrchestratorRequest
  orchestratorCollectorRequest OrchestratorCollectorRequest
  contextManagerRequest ContextManagerRoutingRequest
PlanningAgentDispatchRouting
  interruptRequest PlanningAgentDispatchInterruptRequest
  planningCollectorRequest PlanningCollectorRequest
  contextManagerRequest ContextManagerRoutingRequest
TicketOrchestratorRouting
  interruptRequest TicketOrchestratorInterruptRequest
  agentRequests TicketAgentRequests
  collectorRequest TicketCollectorRequest
  contextManagerRequest ContextManagerRoutingRequest
TicketAgentRouting
  interruptRequest TicketAgentInterruptRequest
  agentResult TicketAgentResult
  contextManagerRequest ContextManagerRoutingRequest
TicketCollectorRouting
  interruptRequest TicketCollectorInterruptRequest
  collectorResult TicketCollectorResult
  ticketRequest TicketOrchestratorRequest
  orchestratorCollectorRequest OrchestratorCollectorRequest
  reviewRequest ReviewRequest
  mergerRequest MergerRequest
  contextManagerRequest ContextManagerRoutingRequest
TicketAgentDispatchRouting
  interruptRequest TicketAgentDispatchInterruptRequest
  ticketCollectorRequest TicketCollectorRequest
  contextManagerRequest ContextManagerRoutingRequest
ReviewRouting
  interruptRequest ReviewInterruptRequest
  reviewResult ReviewAgentResult
  orchestratorCollectorRequest OrchestratorCollectorRequest
  discoveryCollectorRequest DiscoveryCollectorRequest
  planningCollectorRequest PlanningCollectorRequest
  ticketCollectorRequest TicketCollectorRequest
  contextManagerRequest ContextManagerRoutingRequest
MergerRouting
  interruptRequest MergerInterruptRequest
  mergerResult MergerAgentResult
  orchestratorCollectorRequest OrchestratorCollectorRequest
  discoveryCollectorRequest DiscoveryCollectorRequest
  planningCollectorRequest PlanningCollectorRequest
  ticketCollectorRequest TicketCollectorRequest
  contextManagerRequest ContextManagerRoutingRequest
ContextManagerResultRouting
  interruptRequest ContextManagerInterruptRequest
  orchestratorRequest OrchestratorRequest
  orchestratorCollectorRequest OrchestratorCollectorRequest
  discoveryOrchestratorRequest DiscoveryOrchestratorRequest
  discoveryCollectorRequest DiscoveryCollectorRequest
  planningOrchestratorRequest PlanningOrchestratorRequest
  planningCollectorRequest PlanningCollectorRequest
  ticketOrchestratorRequest TicketOrchestratorRequest
  ticketCollectorRequest TicketCollectorRequest
  reviewRequest ReviewRequest
  mergerRequest MergerRequest
  planningAgentRequest PlanningAgentRequest
  planningAgentRequests PlanningAgentRequests
  planningAgentResults PlanningAgentResults
  ticketAgentRequest TicketAgentRequest
  ticketAgentRequests TicketAgentRequests
  ticketAgentResults TicketAgentResults
  discoveryAgentRequest DiscoveryAgentRequest
  discoveryAgentRequests DiscoveryAgentRequests
  discoveryAgentResults DiscoveryAgentResults
  contextOrchestratorRequest ContextManagerRoutingRequest
`

// contractRoutings parses routingTable: names in order, and the branches of each.
func contractRoutings() (names []string, branches map[string][][2]string) {
	branches = map[string][][2]string{}
	for line := range strings.Lines(strings.TrimSpace(routingTable)) {
		words := strings.Fields(line)
		if len(words) == 1 {
			names = append(names, words[0])
			continue
		}
		last := names[len(names)-1]
		branches[last] = append(branches[last], [2]string{words[0], words[1]})
	}
	return names, branches
}

// TestRoutingsAreTheContracts compares all routings, in tables, shapes and structs, with the branch
// graph.
func TestRoutingsAreTheContracts(t *testing.T) {
	t.Parallel()
	names, branches := contractRoutings()
	var generated []string
	for _, row := range program.Tables.Routings {
		generated = append(generated, row.Name)
		var inTable, inStruct [][2]string
		for _, b := range row.Branches {
			inTable = append(inTable, [2]string{b.Name, b.Type})
		}
		of := recordTypes()[row.Name]
		shape := fresh(of).Shape()
		require.Len(t, shape.Fields, of.NumField())
		assert.Equal(t, runtime.ShapeUnion, shape.Kind)
		for i, f := range shape.Fields {
			inStruct = append(inStruct, [2]string{f.Name, of.Field(i).Type.Elem().Name()})
		}
		assert.Equal(t, branches[row.Name], inTable, "%s", row.Name)
		assert.Equal(t, branches[row.Name], inStruct, "%s", row.Name)
	}
	assert.ElementsMatch(t, names, generated)
	assert.Equal(t, "InterruptRouting", generated[0])
	assert.Len(t, generated, 18)
}

// TestBranchKindsSayWhatHappens derives the kind of each branch from the name of what it carries.
func TestBranchKindsSayWhatHappens(t *testing.T) {
	t.Parallel()
	collectors := 0
	for _, row := range program.Tables.Routings {
		for _, b := range row.Branches {
			want, node := runtime.ToNode, ""
			switch {
			case strings.HasSuffix(b.Type, "InterruptRequest"):
				want = runtime.ToInterrupt
			case strings.HasSuffix(b.Type, "AgentResults"):
				want, node = runtime.ToResume, strings.ToLower(b.Type[:1])+strings.TrimSuffix(
					b.Type[1:], "AgentResults")+"Dispatch"
			case strings.HasSuffix(b.Type, "CollectorResult"):
				want = runtime.ToCollect
				collectors++
			case strings.HasSuffix(b.Type, "Result"):
				want = runtime.ToEnd
			default:
				node = program.Tables.Nodes[requestRow(t, b.Type).Node-1].Key
			}
			assert.Equal(t, want, b.Kind, "%s.%s", row.Name, b.Name)
			if node == "" {
				assert.Zero(t, b.Node, "%s.%s", row.Name, b.Name)
			} else {
				assert.Equal(t, node, program.Tables.Nodes[b.Node-1].Key, "%s.%s", row.Name, b.Name)
			}
			assert.NotEmpty(t, program.Schemas.Def(b.Type, runtime.Plain), b.Type)
		}
	}
	assert.Equal(t, 4, collectors)
}

func requestRow(t *testing.T, name string) runtime.RequestRow {
	t.Helper()
	for _, row := range program.Tables.Requests {
		if row.Name == name {
			return row
		}
	}
	require.Fail(t, "no such request", name)
	return runtime.RequestRow{}
}

// TestCollectorTables holds the four decision tables, the field they read, and what they carry on.
func TestCollectorTables(t *testing.T) {
	t.Parallel()
	want := map[string][3]string{ // ROUTE_BACK, ADVANCE_PHASE, STOP
		"discoveryCollector": {"discoveryRequest", "planningRequest", "orchestratorRequest"},
		"planningCollector": {"planningRequest", "ticketOrchestratorRequest",
			"orchestratorCollectorRequest"},
		"ticketCollector": {"ticketRequest", "orchestratorCollectorRequest",
			"orchestratorCollectorRequest"},
		"orchestratorCollector": {"orchestratorRequest", "end", "end"},
	}
	for _, n := range program.Tables.Nodes {
		arms, is := want[n.Key]
		if !is {
			assert.Nil(t, n.Collect, "%s", n.Key)
			continue
		}
		require.NotNil(t, n.Collect, "%s", n.Key)
		assert.Equal(t, []runtime.Arm{{Decision: "ROUTE_BACK", To: arms[0]},
			{Decision: "ADVANCE_PHASE", To: arms[1]}, {Decision: "STOP", To: arms[2]}},
			n.Collect.Arms)
		assert.Equal(t, "ADVANCE_PHASE", n.Collect.Default)
		assert.Equal(t, "collectorDecision.decisionType", n.Collect.Field)
		assert.Equal(t, []runtime.Carry{{Field: "goal", From: "consolidatedOutput"}},
			n.Collect.Carry)
		routing := program.Tables.Routings[n.Routing-1]
		for _, arm := range n.Collect.Arms {
			legal := arm.To == "end"
			for _, b := range routing.Branches {
				legal = legal || b.Name == arm.To && b.Kind == runtime.ToNode
			}
			assert.True(t, legal, "%s: %s leads to no branch", n.Key, arm.Decision)
		}
	}
}

// TestSelectedFindsTheOneBranch sets no branch, each one, and each pair, of every routing.
func TestSelectedFindsTheOneBranch(t *testing.T) {
	t.Parallel()
	for _, row := range program.Tables.Routings {
		for i, first := range row.Branches {
			for j, second := range row.Branches {
				routing := program.Routing(row.Name)
				v := reflect.ValueOf(routing).Elem()
				v.Field(i).Set(reflect.New(v.Field(i).Type().Elem()))
				v.Field(j).Set(reflect.New(v.Field(j).Type().Elem()))
				got, err := routing.Selected()
				if i != j {
					assert.Equal(t, runtime.CodeManyRoutes, runtime.CodeOf(err), "%s: %s and %s",
						row.Name, first.Name, second.Name)
					assert.Zero(t, got)
					continue
				}
				require.NoError(t, err)
				assert.Equal(t, first.Name, got.Name)
				assert.Same(t, v.Field(i).Interface(), got.Value)
			}
		}
		_, err := program.Routing(row.Name).Selected()
		assert.Equal(t, runtime.CodeNoRoute, runtime.CodeOf(err), "%s", row.Name)
	}
}
