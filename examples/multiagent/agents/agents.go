// Package agents has the nodes of examples/multiagent, one method each.
package agents

import (
	"context"
	"strings"

	"github.com/routegen/routegen/generated/routes"
	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/workflow"
)

// NewProgram returns the program whose nodes these are.
func NewProgram() runtime.Program { return routes.New(agents{}) }

// agents has one method for each node. In most of them the model chooses: it sees the schema of the
// node's routing and sets one branch of it. The three dispatch nodes need no model: what their
// agents returned goes to the collector.
type agents struct{}

func (agents) Orchestrator(ctx context.Context, c runtime.Call, r *routes.OrchestratorRequest) (
	*routes.OrchestratorRouting, error) {
	return workflow.Choose[routes.OrchestratorRouting](ctx, c, r)
}
func (agents) DiscoveryOrchestrator(ctx context.Context, c runtime.Call,
	r *routes.DiscoveryOrchestratorRequest) (*routes.DiscoveryOrchestratorRouting, error) {
	return workflow.Choose[routes.DiscoveryOrchestratorRouting](ctx, c, r)
}
func (agents) PlanningOrchestrator(ctx context.Context, c runtime.Call,
	r *routes.PlanningOrchestratorRequest) (*routes.PlanningOrchestratorRouting, error) {
	return workflow.Choose[routes.PlanningOrchestratorRouting](ctx, c, r)
}
func (agents) TicketOrchestrator(ctx context.Context, c runtime.Call,
	r *routes.TicketOrchestratorRequest) (*routes.TicketOrchestratorRouting, error) {
	return workflow.Choose[routes.TicketOrchestratorRouting](ctx, c, r)
}
func (agents) Review(ctx context.Context, c runtime.Call, r *routes.ReviewRequest) (
	*routes.ReviewRouting, error) {
	return workflow.Choose[routes.ReviewRouting](ctx, c, r)
}
func (agents) Merger(ctx context.Context, c runtime.Call, r *routes.MergerRequest) (
	*routes.MergerRouting, error) {
	return workflow.Choose[routes.MergerRouting](ctx, c, r)
}
func (agents) ContextManager(ctx context.Context, c runtime.Call, r *routes.ContextManagerRequest) (
	*routes.ContextManagerResultRouting, error) {
	return workflow.Choose[routes.ContextManagerResultRouting](ctx, c, r)
}
func (agents) OrchestratorCollector(ctx context.Context, c runtime.Call,
	r *routes.OrchestratorCollectorRequest) (*routes.OrchestratorCollectorRouting, error) {
	return workflow.Choose[routes.OrchestratorCollectorRouting](ctx, c, r)
}
func (agents) DiscoveryCollector(ctx context.Context, c runtime.Call,
	r *routes.DiscoveryCollectorRequest) (*routes.DiscoveryCollectorRouting, error) {
	return workflow.Choose[routes.DiscoveryCollectorRouting](ctx, c, r)
}
func (agents) PlanningCollector(ctx context.Context, c runtime.Call,
	r *routes.PlanningCollectorRequest) (*routes.PlanningCollectorRouting, error) {
	return workflow.Choose[routes.PlanningCollectorRouting](ctx, c, r)
}
func (agents) TicketCollector(ctx context.Context, c runtime.Call,
	r *routes.TicketCollectorRequest) (*routes.TicketCollectorRouting, error) {
	return workflow.Choose[routes.TicketCollectorRouting](ctx, c, r)
}
func (agents) DiscoveryAgent(ctx context.Context, c runtime.Call, r *routes.DiscoveryAgentRequest) (
	*routes.DiscoveryAgentRouting, error) {
	return workflow.Choose[routes.DiscoveryAgentRouting](ctx, c, r)
}
func (agents) PlanningAgent(ctx context.Context, c runtime.Call, r *routes.PlanningAgentRequest) (
	*routes.PlanningAgentRouting, error) {
	return workflow.Choose[routes.PlanningAgentRouting](ctx, c, r)
}
func (agents) TicketAgent(ctx context.Context, c runtime.Call, r *routes.TicketAgentRequest) (
	*routes.TicketAgentRouting, error) {
	return workflow.Choose[routes.TicketAgentRouting](ctx, c, r)
}
func (agents) DiscoveryDispatch(_ context.Context, c runtime.Call,
	r *routes.DiscoveryAgentRequests) (*routes.DiscoveryAgentDispatchRouting, error) {
	next := &routes.DiscoveryCollectorRequest{Goal: r.Goal, DiscoveryResults: string(c.Results)}
	return &routes.DiscoveryAgentDispatchRouting{CollectorRequest: next}, nil
}
func (agents) PlanningDispatch(_ context.Context, c runtime.Call, r *routes.PlanningAgentRequests) (
	*routes.PlanningAgentDispatchRouting, error) {
	next := &routes.PlanningCollectorRequest{Goal: r.Goal, PlanningResults: string(c.Results)}
	return &routes.PlanningAgentDispatchRouting{PlanningCollectorRequest: next}, nil
}
func (agents) TicketDispatch(_ context.Context, c runtime.Call, r *routes.TicketAgentRequests) (
	*routes.TicketAgentDispatchRouting, error) {
	next := &routes.TicketCollectorRequest{Goal: r.Goal, TicketResults: string(c.Results)}
	return &routes.TicketAgentDispatchRouting{TicketCollectorRequest: next}, nil
}

// AdaptContextManager tells the context manager what is missing, and who waits for it: one of its
// returnTo fields has that agent's last request.
func (agents) AdaptContextManager(ctx context.Context, _ runtime.Call,
	r *routes.ContextManagerRoutingRequest) (*routes.ContextManagerRequest, error) {
	fields := map[string]any{"type": r.Type, "reason": r.Reason,
		"goal": r.MissingContextDescription, "additionalContext": r.SuggestedSources}
	if waits := workflow.Before(ctx); waits != nil {
		fields["returnTo"+strings.TrimSuffix(waits.Shape().Name, "Request")] = waits
	}
	data, err := runtime.Encode(fields)
	if err != nil {
		return nil, err
	}
	out := new(routes.ContextManagerRequest)
	return out, runtime.Unmarshal(data, out)
}
