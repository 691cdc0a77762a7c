package generator_test

import (
	"slices"
	"testing"
	"time"

	"github.com/routegen/routegen/generated/routes"
	"github.com/routegen/routegen/runtime"
)

// selectByOrder finds the one set branch in the way of generated code before each branch had one
// line: it is set if the first and the last that are set are the same. Selection is held to at most
// twice its time.
func selectByOrder(v *routes.InterruptRouting) (runtime.Branch, bool) {
	first := firstBranch(v)
	return first, first.Value != nil && first == lastBranch(v)
}

func branch(name string, value any) runtime.Branch {
	return runtime.Branch{Name: name, Value: value}
}

func firstBranch(v *routes.InterruptRouting) runtime.Branch {
	switch {
	case v.OrchestratorRequest != nil:
		return branch("orchestratorRequest", v.OrchestratorRequest)
	case v.DiscoveryOrchestratorRequest != nil:
		return branch("discoveryOrchestratorRequest", v.DiscoveryOrchestratorRequest)
	case v.PlanningOrchestratorRequest != nil:
		return branch("planningOrchestratorRequest", v.PlanningOrchestratorRequest)
	case v.TicketOrchestratorRequest != nil:
		return branch("ticketOrchestratorRequest", v.TicketOrchestratorRequest)
	case v.ReviewRequest != nil:
		return branch("reviewRequest", v.ReviewRequest)
	case v.MergerRequest != nil:
		return branch("mergerRequest", v.MergerRequest)
	case v.ContextManagerRequest != nil:
		return branch("contextManagerRequest", v.ContextManagerRequest)
	case v.OrchestratorCollectorRequest != nil:
		return branch("orchestratorCollectorRequest", v.OrchestratorCollectorRequest)
	case v.DiscoveryCollectorRequest != nil:
		return branch("discoveryCollectorRequest", v.DiscoveryCollectorRequest)
	case v.PlanningCollectorRequest != nil:
		return branch("planningCollectorRequest", v.PlanningCollectorRequest)
	case v.TicketCollectorRequest != nil:
		return branch("ticketCollectorRequest", v.TicketCollectorRequest)
	case v.DiscoveryAgentRequests != nil:
		return branch("discoveryAgentRequests", v.DiscoveryAgentRequests)
	case v.PlanningAgentRequests != nil:
		return branch("planningAgentRequests", v.PlanningAgentRequests)
	case v.TicketAgentRequests != nil:
		return branch("ticketAgentRequests", v.TicketAgentRequests)
	}
	return runtime.Branch{}
}

func lastBranch(v *routes.InterruptRouting) runtime.Branch {
	switch {
	case v.TicketAgentRequests != nil:
		return branch("ticketAgentRequests", v.TicketAgentRequests)
	case v.PlanningAgentRequests != nil:
		return branch("planningAgentRequests", v.PlanningAgentRequests)
	case v.DiscoveryAgentRequests != nil:
		return branch("discoveryAgentRequests", v.DiscoveryAgentRequests)
	case v.TicketCollectorRequest != nil:
		return branch("ticketCollectorRequest", v.TicketCollectorRequest)
	case v.PlanningCollectorRequest != nil:
		return branch("planningCollectorRequest", v.PlanningCollectorRequest)
	case v.DiscoveryCollectorRequest != nil:
		return branch("discoveryCollectorRequest", v.DiscoveryCollectorRequest)
	case v.OrchestratorCollectorRequest != nil:
		return branch("orchestratorCollectorRequest", v.OrchestratorCollectorRequest)
	case v.ContextManagerRequest != nil:
		return branch("contextManagerRequest", v.ContextManagerRequest)
	case v.MergerRequest != nil:
		return branch("mergerRequest", v.MergerRequest)
	case v.ReviewRequest != nil:
		return branch("reviewRequest", v.ReviewRequest)
	case v.TicketOrchestratorRequest != nil:
		return branch("ticketOrchestratorRequest", v.TicketOrchestratorRequest)
	case v.PlanningOrchestratorRequest != nil:
		return branch("planningOrchestratorRequest", v.PlanningOrchestratorRequest)
	case v.DiscoveryOrchestratorRequest != nil:
		return branch("discoveryOrchestratorRequest", v.DiscoveryOrchestratorRequest)
	case v.OrchestratorRequest != nil:
		return branch("orchestratorRequest", v.OrchestratorRequest)
	}
	return runtime.Branch{}
}

// BenchmarkSelectBesideOrder selects both ways in turns, and reports how many times the time of the
// older way the generated one takes: the median of all turns.
func BenchmarkSelectBesideOrder(b *testing.B) {
	request := &routes.TicketCollectorRequest{Goal: "ship"}
	routing := &routes.InterruptRouting{TicketCollectorRequest: request}
	const turn = 20_000
	var ratios []float64
	for b.Loop() {
		began := time.Now()
		for range turn {
			if branch, ok := selectByOrder(routing); !ok || branch.Value == nil {
				b.Fatal("nothing selected")
			}
		}
		between := time.Now()
		for range turn {
			if branch, err := routing.Selected(); err != nil || branch.Value == nil {
				b.Fatal(err)
			}
		}
		ratios = append(ratios, float64(time.Since(between))/float64(between.Sub(began)))
	}
	slices.Sort(ratios)
	b.ReportMetric(ratios[len(ratios)/2], "x")
}
