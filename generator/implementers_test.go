package generator_test

import (
	"context"

	"github.com/routegen/routegen/generated/routes"
	"github.com/routegen/routegen/runtime"
)

func (c requestCalls) VisitOrchestratorRequest(v *routes.OrchestratorRequest) error {
	return c.note(v)
}
func (c requestCalls) VisitDiscoveryOrchestratorRequest(
	v *routes.DiscoveryOrchestratorRequest) error {
	return c.note(v)
}
func (c requestCalls) VisitPlanningOrchestratorRequest(
	v *routes.PlanningOrchestratorRequest) error {
	return c.note(v)
}
func (c requestCalls) VisitTicketOrchestratorRequest(v *routes.TicketOrchestratorRequest) error {
	return c.note(v)
}
func (c requestCalls) VisitReviewRequest(v *routes.ReviewRequest) error { return c.note(v) }
func (c requestCalls) VisitMergerRequest(v *routes.MergerRequest) error { return c.note(v) }
func (c requestCalls) VisitContextManagerRequest(v *routes.ContextManagerRequest) error {
	return c.note(v)
}
func (c requestCalls) VisitContextManagerRoutingRequest(
	v *routes.ContextManagerRoutingRequest) error {
	return c.note(v)
}
func (c requestCalls) VisitOrchestratorCollectorRequest(
	v *routes.OrchestratorCollectorRequest) error {
	return c.note(v)
}
func (c requestCalls) VisitDiscoveryCollectorRequest(v *routes.DiscoveryCollectorRequest) error {
	return c.note(v)
}
func (c requestCalls) VisitPlanningCollectorRequest(v *routes.PlanningCollectorRequest) error {
	return c.note(v)
}
func (c requestCalls) VisitTicketCollectorRequest(v *routes.TicketCollectorRequest) error {
	return c.note(v)
}
func (c requestCalls) VisitDiscoveryAgentRequests(v *routes.DiscoveryAgentRequests) error {
	return c.note(v)
}
func (c requestCalls) VisitDiscoveryAgentResults(v *routes.DiscoveryAgentResults) error {
	return c.note(v)
}
func (c requestCalls) VisitPlanningAgentRequests(v *routes.PlanningAgentRequests) error {
	return c.note(v)
}
func (c requestCalls) VisitPlanningAgentResults(v *routes.PlanningAgentResults) error {
	return c.note(v)
}
func (c requestCalls) VisitTicketAgentRequests(v *routes.TicketAgentRequests) error {
	return c.note(v)
}
func (c requestCalls) VisitTicketAgentResults(v *routes.TicketAgentResults) error {
	return c.note(v)
}
func (c requestCalls) VisitDiscoveryAgentRequest(v *routes.DiscoveryAgentRequest) error {
	return c.note(v)
}
func (c requestCalls) VisitPlanningAgentRequest(v *routes.PlanningAgentRequest) error {
	return c.note(v)
}
func (c requestCalls) VisitTicketAgentRequest(v *routes.TicketAgentRequest) error {
	return c.note(v)
}
func (c interruptCalls) VisitOrchestratorInterruptRequest(
	v *routes.OrchestratorInterruptRequest) error {
	return c.note(v)
}
func (c interruptCalls) VisitDiscoveryOrchestratorInterruptRequest(
	v *routes.DiscoveryOrchestratorInterruptRequest) error {
	return c.note(v)
}
func (c interruptCalls) VisitPlanningOrchestratorInterruptRequest(
	v *routes.PlanningOrchestratorInterruptRequest) error {
	return c.note(v)
}
func (c interruptCalls) VisitTicketOrchestratorInterruptRequest(
	v *routes.TicketOrchestratorInterruptRequest) error {
	return c.note(v)
}
func (c interruptCalls) VisitReviewInterruptRequest(v *routes.ReviewInterruptRequest) error {
	return c.note(v)
}
func (c interruptCalls) VisitMergerInterruptRequest(v *routes.MergerInterruptRequest) error {
	return c.note(v)
}
func (c interruptCalls) VisitContextManagerInterruptRequest(
	v *routes.ContextManagerInterruptRequest) error {
	return c.note(v)
}
func (c interruptCalls) VisitOrchestratorCollectorInterruptRequest(
	v *routes.OrchestratorCollectorInterruptRequest) error {
	return c.note(v)
}
func (c interruptCalls) VisitDiscoveryCollectorInterruptRequest(
	v *routes.DiscoveryCollectorInterruptRequest) error {
	return c.note(v)
}
func (c interruptCalls) VisitPlanningCollectorInterruptRequest(
	v *routes.PlanningCollectorInterruptRequest) error {
	return c.note(v)
}
func (c interruptCalls) VisitTicketCollectorInterruptRequest(
	v *routes.TicketCollectorInterruptRequest) error {
	return c.note(v)
}
func (c interruptCalls) VisitDiscoveryAgentDispatchInterruptRequest(
	v *routes.DiscoveryAgentDispatchInterruptRequest) error {
	return c.note(v)
}
func (c interruptCalls) VisitPlanningAgentDispatchInterruptRequest(
	v *routes.PlanningAgentDispatchInterruptRequest) error {
	return c.note(v)
}
func (c interruptCalls) VisitTicketAgentDispatchInterruptRequest(
	v *routes.TicketAgentDispatchInterruptRequest) error {
	return c.note(v)
}
func (c interruptCalls) VisitDiscoveryAgentInterruptRequest(
	v *routes.DiscoveryAgentInterruptRequest) error {
	return c.note(v)
}
func (c interruptCalls) VisitPlanningAgentInterruptRequest(
	v *routes.PlanningAgentInterruptRequest) error {
	return c.note(v)
}
func (c interruptCalls) VisitTicketAgentInterruptRequest(
	v *routes.TicketAgentInterruptRequest) error {
	return c.note(v)
}
func (c interruptCalls) VisitQuestionAnswerInterruptRequest(
	v *routes.QuestionAnswerInterruptRequest) error {
	return c.note(v)
}

// noting is a program that notes as which node it was called, and answers with an empty routing;
// silent, it answers with neither a routing nor an error.
type noting struct {
	called []string
	silent bool
}

// noted returns an empty routing of the right type, nil when h is silent.
func noted[T any](h *noting, call runtime.Call) *T {
	if h.silent {
		return nil
	}
	h.called = append(h.called, call.Node)
	return new(T)
}

func (h *noting) Orchestrator(_ context.Context, call runtime.Call, _ *routes.OrchestratorRequest) (
	*routes.OrchestratorRouting, error) {
	return noted[routes.OrchestratorRouting](h, call), nil
}

func (h *noting) DiscoveryOrchestrator(_ context.Context, call runtime.Call,
	_ *routes.DiscoveryOrchestratorRequest) (*routes.DiscoveryOrchestratorRouting, error) {
	return noted[routes.DiscoveryOrchestratorRouting](h, call), nil
}

func (h *noting) PlanningOrchestrator(_ context.Context, call runtime.Call,
	_ *routes.PlanningOrchestratorRequest) (*routes.PlanningOrchestratorRouting, error) {
	return noted[routes.PlanningOrchestratorRouting](h, call), nil
}

func (h *noting) TicketOrchestrator(_ context.Context, call runtime.Call,
	_ *routes.TicketOrchestratorRequest) (*routes.TicketOrchestratorRouting, error) {
	return noted[routes.TicketOrchestratorRouting](h, call), nil
}

func (h *noting) Review(_ context.Context, call runtime.Call, _ *routes.ReviewRequest) (
	*routes.ReviewRouting, error) {
	return noted[routes.ReviewRouting](h, call), nil
}

func (h *noting) Merger(_ context.Context, call runtime.Call, _ *routes.MergerRequest) (
	*routes.MergerRouting, error) {
	return noted[routes.MergerRouting](h, call), nil
}

func (h *noting) ContextManager(_ context.Context, call runtime.Call,
	_ *routes.ContextManagerRequest) (*routes.ContextManagerResultRouting, error) {
	return noted[routes.ContextManagerResultRouting](h, call), nil
}

func (h *noting) AdaptContextManager(_ context.Context, call runtime.Call,
	r *routes.ContextManagerRoutingRequest) (*routes.ContextManagerRequest, error) {
	if h.silent {
		return nil, nil
	}
	h.called = append(h.called, call.Node)
	return &routes.ContextManagerRequest{Reason: r.Reason}, nil
}

func (h *noting) OrchestratorCollector(_ context.Context, call runtime.Call,
	_ *routes.OrchestratorCollectorRequest) (*routes.OrchestratorCollectorRouting, error) {
	return noted[routes.OrchestratorCollectorRouting](h, call), nil
}

func (h *noting) DiscoveryCollector(_ context.Context, call runtime.Call,
	_ *routes.DiscoveryCollectorRequest) (*routes.DiscoveryCollectorRouting, error) {
	return noted[routes.DiscoveryCollectorRouting](h, call), nil
}

func (h *noting) PlanningCollector(_ context.Context, call runtime.Call,
	_ *routes.PlanningCollectorRequest) (*routes.PlanningCollectorRouting, error) {
	return noted[routes.PlanningCollectorRouting](h, call), nil
}

func (h *noting) TicketCollector(_ context.Context, call runtime.Call,
	_ *routes.TicketCollectorRequest) (*routes.TicketCollectorRouting, error) {
	return noted[routes.TicketCollectorRouting](h, call), nil
}

func (h *noting) DiscoveryDispatch(_ context.Context, call runtime.Call,
	_ *routes.DiscoveryAgentRequests) (*routes.DiscoveryAgentDispatchRouting, error) {
	return noted[routes.DiscoveryAgentDispatchRouting](h, call), nil
}

func (h *noting) PlanningDispatch(_ context.Context, call runtime.Call,
	_ *routes.PlanningAgentRequests) (*routes.PlanningAgentDispatchRouting, error) {
	return noted[routes.PlanningAgentDispatchRouting](h, call), nil
}

func (h *noting) TicketDispatch(_ context.Context, call runtime.Call,
	_ *routes.TicketAgentRequests) (*routes.TicketAgentDispatchRouting, error) {
	return noted[routes.TicketAgentDispatchRouting](h, call), nil
}

func (h *noting) DiscoveryAgent(_ context.Context, call runtime.Call,
	_ *routes.DiscoveryAgentRequest) (*routes.DiscoveryAgentRouting, error) {
	return noted[routes.DiscoveryAgentRouting](h, call), nil
}

func (h *noting) PlanningAgent(_ context.Context, call runtime.Call,
	_ *routes.PlanningAgentRequest) (*routes.PlanningAgentRouting, error) {
	return noted[routes.PlanningAgentRouting](h, call), nil
}

func (h *noting) TicketAgent(_ context.Context, call runtime.Call, _ *routes.TicketAgentRequest) (
	*routes.TicketAgentRouting, error) {
	return noted[routes.TicketAgentRouting](h, call), nil
}
