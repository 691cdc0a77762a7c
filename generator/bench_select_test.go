package generator_test

import (
	"slices"
	"testing"
	"time"

	"github.com/routegen/routegen/generated/routes"
	"github.com/routegen/routegen/runtime"
)

// selectByOrder finds the one set branch as generated code did before each branch had one line: it
// is set if the first and the last route that are set are the same. Selection is measured against
// it.
func selectByOrder(v *routes.InterruptRouting) (b runtime.Branch, ok bool) {
	route := firstRoute(v)
	if route != lastRoute(v) {
		return b, false
	}
	switch route {
	case routes.RouteOrchestrator:
		b.Name, b.Value = "orchestratorRequest", v.OrchestratorRequest
	case routes.RouteDiscoveryOrchestrator:
		b.Name, b.Value = "discoveryOrchestratorRequest", v.DiscoveryOrchestratorRequest
	case routes.RoutePlanningOrchestrator:
		b.Name, b.Value = "planningOrchestratorRequest", v.PlanningOrchestratorRequest
	case routes.RouteTicketOrchestrator:
		b.Name, b.Value = "ticketOrchestratorRequest", v.TicketOrchestratorRequest
	case routes.RouteReview:
		b.Name, b.Value = "reviewRequest", v.ReviewRequest
	case routes.RouteMerger:
		b.Name, b.Value = "mergerRequest", v.MergerRequest
	case routes.RouteContextManager:
		b.Name, b.Value = "contextManagerRequest", v.ContextManagerRequest
	case routes.RouteOrchestratorCollector:
		b.Name, b.Value = "orchestratorCollectorRequest", v.OrchestratorCollectorRequest
	case routes.RouteDiscoveryCollector:
		b.Name, b.Value = "discoveryCollectorRequest", v.DiscoveryCollectorRequest
	case routes.RoutePlanningCollector:
		b.Name, b.Value = "planningCollectorRequest", v.PlanningCollectorRequest
	case routes.RouteTicketCollector:
		b.Name, b.Value = "ticketCollectorRequest", v.TicketCollectorRequest
	case routes.RouteDiscoveryDispatch:
		b.Name, b.Value = "discoveryAgentRequests", v.DiscoveryAgentRequests
	case routes.RoutePlanningDispatch:
		b.Name, b.Value = "planningAgentRequests", v.PlanningAgentRequests
	case routes.RouteTicketDispatch:
		b.Name, b.Value = "ticketAgentRequests", v.TicketAgentRequests
	default:
		return b, false
	}
	return b, true
}

func firstRoute(v *routes.InterruptRouting) routes.Route {
	switch {
	case v.OrchestratorRequest != nil:
		return routes.RouteOrchestrator
	case v.DiscoveryOrchestratorRequest != nil:
		return routes.RouteDiscoveryOrchestrator
	case v.PlanningOrchestratorRequest != nil:
		return routes.RoutePlanningOrchestrator
	case v.TicketOrchestratorRequest != nil:
		return routes.RouteTicketOrchestrator
	case v.ReviewRequest != nil:
		return routes.RouteReview
	case v.MergerRequest != nil:
		return routes.RouteMerger
	case v.ContextManagerRequest != nil:
		return routes.RouteContextManager
	case v.OrchestratorCollectorRequest != nil:
		return routes.RouteOrchestratorCollector
	case v.DiscoveryCollectorRequest != nil:
		return routes.RouteDiscoveryCollector
	case v.PlanningCollectorRequest != nil:
		return routes.RoutePlanningCollector
	case v.TicketCollectorRequest != nil:
		return routes.RouteTicketCollector
	case v.DiscoveryAgentRequests != nil:
		return routes.RouteDiscoveryDispatch
	case v.PlanningAgentRequests != nil:
		return routes.RoutePlanningDispatch
	case v.TicketAgentRequests != nil:
		return routes.RouteTicketDispatch
	}
	return 0
}

func lastRoute(v *routes.InterruptRouting) routes.Route {
	switch {
	case v.TicketAgentRequests != nil:
		return routes.RouteTicketDispatch
	case v.PlanningAgentRequests != nil:
		return routes.RoutePlanningDispatch
	case v.DiscoveryAgentRequests != nil:
		return routes.RouteDiscoveryDispatch
	case v.TicketCollectorRequest != nil:
		return routes.RouteTicketCollector
	case v.PlanningCollectorRequest != nil:
		return routes.RoutePlanningCollector
	case v.DiscoveryCollectorRequest != nil:
		return routes.RouteDiscoveryCollector
	case v.OrchestratorCollectorRequest != nil:
		return routes.RouteOrchestratorCollector
	case v.ContextManagerRequest != nil:
		return routes.RouteContextManager
	case v.MergerRequest != nil:
		return routes.RouteMerger
	case v.ReviewRequest != nil:
		return routes.RouteReview
	case v.TicketOrchestratorRequest != nil:
		return routes.RouteTicketOrchestrator
	case v.PlanningOrchestratorRequest != nil:
		return routes.RoutePlanningOrchestrator
	case v.DiscoveryOrchestratorRequest != nil:
		return routes.RouteDiscoveryOrchestrator
	case v.OrchestratorRequest != nil:
		return routes.RouteOrchestrator
	}
	return 0
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
