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

func firstBranch(v *routes.InterruptRouting) runtime.Branch {
	switch {
	case v.OrchestratorRequest != nil:
		return runtime.Branch{Name: "orchestratorRequest", Value: v.OrchestratorRequest}
	case v.DiscoveryOrchestratorRequest != nil:
		return runtime.Branch{Name: "discoveryOrchestratorRequest", Value: v.DiscoveryOrchestratorRequest}
	case v.PlanningOrchestratorRequest != nil:
		return runtime.Branch{Name: "planningOrchestratorRequest", Value: v.PlanningOrchestratorRequest}
	case v.TicketOrchestratorRequest != nil:
		return runtime.Branch{Name: "ticketOrchestratorRequest", Value: v.TicketOrchestratorRequest}
	case v.ReviewRequest != nil:
		return runtime.Branch{Name: "reviewRequest", Value: v.ReviewRequest}
	case v.MergerRequest != nil:
		return runtime.Branch{Name: "mergerRequest", Value: v.MergerRequest}
	case v.ContextManagerRequest != nil:
		return runtime.Branch{Name: "contextManagerRequest", Value: v.ContextManagerRequest}
	case v.OrchestratorCollectorRequest != nil:
		return runtime.Branch{Name: "orchestratorCollectorRequest", Value: v.OrchestratorCollectorRequest}
	case v.DiscoveryCollectorRequest != nil:
		return runtime.Branch{Name: "discoveryCollectorRequest", Value: v.DiscoveryCollectorRequest}
	case v.PlanningCollectorRequest != nil:
		return runtime.Branch{Name: "planningCollectorRequest", Value: v.PlanningCollectorRequest}
	case v.TicketCollectorRequest != nil:
		return runtime.Branch{Name: "ticketCollectorRequest", Value: v.TicketCollectorRequest}
	case v.DiscoveryAgentRequests != nil:
		return runtime.Branch{Name: "discoveryAgentRequests", Value: v.DiscoveryAgentRequests}
	case v.PlanningAgentRequests != nil:
		return runtime.Branch{Name: "planningAgentRequests", Value: v.PlanningAgentRequests}
	case v.TicketAgentRequests != nil:
		return runtime.Branch{Name: "ticketAgentRequests", Value: v.TicketAgentRequests}
	}
	return runtime.Branch{}
}

func lastBranch(v *routes.InterruptRouting) runtime.Branch {
	switch {
	case v.TicketAgentRequests != nil:
		return runtime.Branch{Name: "ticketAgentRequests", Value: v.TicketAgentRequests}
	case v.PlanningAgentRequests != nil:
		return runtime.Branch{Name: "planningAgentRequests", Value: v.PlanningAgentRequests}
	case v.DiscoveryAgentRequests != nil:
		return runtime.Branch{Name: "discoveryAgentRequests", Value: v.DiscoveryAgentRequests}
	case v.TicketCollectorRequest != nil:
		return runtime.Branch{Name: "ticketCollectorRequest", Value: v.TicketCollectorRequest}
	case v.PlanningCollectorRequest != nil:
		return runtime.Branch{Name: "planningCollectorRequest", Value: v.PlanningCollectorRequest}
	case v.DiscoveryCollectorRequest != nil:
		return runtime.Branch{Name: "discoveryCollectorRequest", Value: v.DiscoveryCollectorRequest}
	case v.OrchestratorCollectorRequest != nil:
		return runtime.Branch{Name: "orchestratorCollectorRequest", Value: v.OrchestratorCollectorRequest}
	case v.ContextManagerRequest != nil:
		return runtime.Branch{Name: "contextManagerRequest", Value: v.ContextManagerRequest}
	case v.MergerRequest != nil:
		return runtime.Branch{Name: "mergerRequest", Value: v.MergerRequest}
	case v.ReviewRequest != nil:
		return runtime.Branch{Name: "reviewRequest", Value: v.ReviewRequest}
	case v.TicketOrchestratorRequest != nil:
		return runtime.Branch{Name: "ticketOrchestratorRequest", Value: v.TicketOrchestratorRequest}
	case v.PlanningOrchestratorRequest != nil:
		return runtime.Branch{Name: "planningOrchestratorRequest", Value: v.PlanningOrchestratorRequest}
	case v.DiscoveryOrchestratorRequest != nil:
		return runtime.Branch{Name: "discoveryOrchestratorRequest", Value: v.DiscoveryOrchestratorRequest}
	case v.OrchestratorRequest != nil:
		return runtime.Branch{Name: "orchestratorRequest", Value: v.OrchestratorRequest}
	}
	return runtime.Branch{}
}

// BenchmarkSelectBesideOrder selects both ways in turns, and reports how many times the time of the
// older way the generated one takes: the median of all turns.
func BenchmarkSelectBesideOrder(b *testing.B) {
	routing :=
		&routes.InterruptRouting{TicketCollectorRequest: &routes.TicketCollectorRequest{Goal: "ship"}}
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
