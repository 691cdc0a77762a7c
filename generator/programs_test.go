package generator_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/generated/routes"
	"github.com/routegen/routegen/runtime"
)

// displayNames are the registered display names: every request, the interface of interrupts, and
// every interrupt. The original has one more, for an interface of results that has no counterpart
// here: results are told apart by type.
const displayNames = `
OrchestratorRequest = Orchestrator
OrchestratorCollectorRequest = Orchestrator Collector
DiscoveryOrchestratorRequest = Discovery Orchestrator
DiscoveryAgentRequests = Discovery Agent Dispatch
DiscoveryAgentRequest = Discovery Agents
DiscoveryCollectorRequest = Discovery Collector
DiscoveryAgentResults = Discovery Agent Results Dispatch
PlanningOrchestratorRequest = Planning Orchestrator
PlanningAgentRequests = Planning Agent Dispatch
PlanningAgentRequest = Planning Agents
PlanningCollectorRequest = Planning Collector
PlanningAgentResults = Planning Agent Results Dispatch
TicketOrchestratorRequest = Ticket Orchestrator
TicketAgentRequests = Ticket Agent Dispatch
TicketAgentRequest = Ticket Agents
TicketCollectorRequest = Ticket Collector
TicketAgentResults = Ticket Agent Results Dispatch
ReviewRequest = Review Agent
MergerRequest = Merger Agent
ContextManagerRequest = Context Manager
ContextManagerRoutingRequest = Context Manager Routing Request
InterruptRequest = Interrupt Request
OrchestratorInterruptRequest = Orchestrator Interrupt
OrchestratorCollectorInterruptRequest = Orchestrator Collector Interrupt
DiscoveryOrchestratorInterruptRequest = Discovery Orchestrator Interrupt
DiscoveryAgentDispatchInterruptRequest = Discovery Agent Dispatch Interrupt
DiscoveryAgentInterruptRequest = Discovery Agent Interrupt
DiscoveryCollectorInterruptRequest = Discovery Collector Interrupt
PlanningOrchestratorInterruptRequest = Planning Orchestrator Interrupt
PlanningAgentDispatchInterruptRequest = Planning Agent Dispatch Interrupt
PlanningAgentInterruptRequest = Planning Agent Interrupt
PlanningCollectorInterruptRequest = Planning Collector Interrupt
TicketOrchestratorInterruptRequest = Ticket Orchestrator Interrupt
TicketAgentDispatchInterruptRequest = Ticket Agent Dispatch Interrupt
TicketAgentInterruptRequest = Ticket Agent Interrupt
TicketCollectorInterruptRequest = Ticket Collector Interrupt
ReviewInterruptRequest = Review Interrupt
MergerInterruptRequest = Merger Interrupt
ContextManagerInterruptRequest = Context Manager Interrupt
QuestionAnswerInterruptRequest = Question Answer Interrupt
`

// TestDisplayNames compares the one function and the methods with the registry.
func TestDisplayNames(t *testing.T) {
	t.Parallel()
	known := map[string]string{}
	for line := range strings.Lines(strings.TrimSpace(displayNames)) {
		name, words, _ := strings.Cut(strings.TrimSpace(line), " = ")
		known[name] = words
		assert.Equal(t, words, routes.DisplayName(name))
	}
	assert.Len(t, known, 40)
	for _, row := range program.Tables.Requests {
		assert.Equal(t, known[row.Name], row.DisplayName, "%s", row.Name)
	}
	for _, row := range program.Tables.Interrupts {
		assert.Equal(t, known[row.Name], row.DisplayName, "%s", row.Name)
	}
	assert.Equal(t, "Unified Interrupt Handler", routes.DisplayName(program.Tables.Handler.Name))
	assert.Equal(t, "Nobody", routes.DisplayName("Nobody"), "an unknown name comes back")
}

// calls is a visitor of both sets: each method notes the type it was called with.
type calls struct{ got []string }

func (c *calls) note(v runtime.Record) error {
	c.got = append(c.got, v.Shape().Name)
	return nil
}

// TestVisitorsMeetEveryMember sends each member of both sealed sets through its visitor.
func TestVisitorsMeetEveryMember(t *testing.T) {
	t.Parallel()
	c := &calls{}
	var want []string
	for _, row := range program.Tables.Requests {
		require.NoError(t, routes.VisitRequest(program.Request(row.Name).(routes.Request),
			requestCalls{c}))
		want = append(want, row.Name)
	}
	for _, row := range program.Tables.Interrupts {
		interrupt := program.Interrupt(row.Name).(routes.InterruptRequest)
		require.NoError(t, routes.VisitInterrupt(interrupt, interruptCalls{c}))
		want = append(want, row.Name)
	}
	assert.Equal(t, want, c.got)
	assert.Equal(t, 21, reflect.TypeFor[routes.RequestVisitor]().NumMethod())
	assert.Equal(t, 18, reflect.TypeFor[routes.InterruptVisitor]().NumMethod())
	assert.Len(t, want, 21+18)
	for _, err := range []error{
		routes.VisitRequest(nil, requestCalls{c}),
		routes.VisitInterrupt(nil, interruptCalls{c}),
		routes.VisitRequest(smuggled{new(routes.ReviewRequest)}, requestCalls{c}),
	} {
		assert.Equal(t, runtime.CodeNotFound, runtime.CodeOf(err))
	}
	assert.Len(t, c.got, len(want), "nothing was called for what is no member")
}

type (
	requestCalls   struct{ *calls }
	interruptCalls struct{ *calls }
)

// smuggled gets into the sealed set by embedding, which Go cannot forbid.
type smuggled struct{ *routes.ReviewRequest }

// TestUnimplementedHandlersRefuse sends every request to a program that handles none.
func TestUnimplementedHandlersRefuse(t *testing.T) {
	t.Parallel()
	invoked, adapted := 0, 0
	for _, n := range program.Tables.Nodes {
		if n.Request != 0 {
			got, err := program.Invoke(t.Context(), runtime.Call{},
				program.Request(program.Tables.Requests[n.Request-1].Name))
			assert.Equal(t, runtime.CodeUnavailable, runtime.CodeOf(err), "%s", n.Key)
			assert.Nil(t, got)
			invoked++
		}
		if n.Adapt != 0 {
			got, err := program.Adapt(t.Context(), runtime.Call{},
				program.Request(program.Tables.Requests[n.Adapt-1].Name))
			assert.Equal(t, runtime.CodeUnavailable, runtime.CodeOf(err), "%s", n.Key)
			assert.Nil(t, got)
			adapted++
		}
	}
	assert.Equal(t, 17, invoked)
	assert.Equal(t, 1, adapted)
	for _, r := range []runtime.Record{nil, new(routes.DiscoveryAgentResults),
		new(routes.ContextManagerRoutingRequest), new(routes.MergeResult)} {
		_, err := program.Invoke(t.Context(), runtime.Call{}, r)
		assert.Equal(t, runtime.CodeNotFound, runtime.CodeOf(err), "%T", r)
	}
	_, err := program.Adapt(t.Context(), runtime.Call{}, new(routes.ReviewRequest))
	assert.Equal(t, runtime.CodeNotFound, runtime.CodeOf(err))
}

// TestProgramInvokesTheRightMethod runs a program whose every method answers with its own routing.
func TestProgramInvokesTheRightMethod(t *testing.T) {
	t.Parallel()
	h := &noting{}
	p := routes.New(h)
	methods := reflect.TypeFor[routes.Handlers]()
	for _, n := range program.Tables.Nodes {
		if n.Request == 0 {
			continue
		}
		method, ok := methods.MethodByName(strings.ToUpper(n.Key[:1]) + n.Key[1:])
		require.True(t, ok, "%s", n.Key)
		request := p.Request(p.Tables.Requests[n.Request-1].Name)
		assert.Equal(t, reflect.TypeOf(request), method.Type.In(2), "%s takes its request", n.Key)
		assert.Equal(t, p.Tables.Routings[n.Routing-1].Name, method.Type.Out(0).Elem().Name(),
			"%s answers with its routing", n.Key)
		h.called = nil
		got, err := p.Invoke(t.Context(), runtime.Call{Node: n.Key, Visit: 3}, request)
		require.NoError(t, err)
		assert.Equal(t, []string{n.Key}, h.called)
		assert.Equal(t, p.Tables.Routings[n.Routing-1].Name, got.Shape().Name)
	}
	h.called = nil
	request, err := p.Adapt(t.Context(), runtime.Call{Node: "adapt"},
		&routes.ContextManagerRoutingRequest{Reason: "why"})
	require.NoError(t, err)
	assert.Equal(t, []string{"adapt"}, h.called)
	assert.Equal(t, &routes.ContextManagerRequest{Reason: "why"}, request)

	h.silent = true
	_, err = p.Invoke(t.Context(), runtime.Call{}, new(routes.ReviewRequest))
	assert.Equal(t, runtime.CodeNoRoute, runtime.CodeOf(err),
		"no routing and no error is no answer")
	_, err = p.Adapt(t.Context(), runtime.Call{}, new(routes.ContextManagerRoutingRequest))
	assert.Equal(t, runtime.CodeInternal, runtime.CodeOf(err))
}

// TestProgramDecodes checks the decoders an engine calls by index and name.
func TestProgramDecodes(t *testing.T) {
	t.Parallel()
	text := []byte(`{"reviewRequest":{"content":"c","criteria":"k","contextId":"` + key + `"}}`)
	stored, err := program.DecodeRouting(0, text)
	require.NoError(t, err)
	assert.IsType(t, new(routes.InterruptRouting), stored)
	_, err = program.DecodeReply(0, text, nil)
	assert.Equal(t, []string{"/reviewRequest/contextId"}, pointers(t, err))
	assert.Equal(t, schemaOf(t, routes.AllRoutes(), runtime.Gemini),
		program.RoutingSchema(0, runtime.Gemini))
	_, err = program.DecodeRouting(int(routes.NodeQuestionAnswer), text)
	assert.Equal(t, runtime.CodeNotFound, runtime.CodeOf(err),
		"the node that only raises interrupts has no routing")
	assert.Empty(t, program.RoutingSchema(int(routes.NodeQuestionAnswer), runtime.Plain))
	_, err = program.DecodeRequest("QuestionAnswerInterruptRequest", []byte(`{}`))
	assert.Equal(t, runtime.CodeNotFound, runtime.CodeOf(err), "an interrupt is no request")
	result := program.Result("MergerAgentResult")
	require.NoError(t, runtime.Unmarshal([]byte(
		`{"acceptability":"yes","conflictDetails":[],"resolutionGuidance":null,"output":"o"}`),
		result))
	assert.Equal(t, &routes.MergerAgentResult{Acceptability: "yes", ConflictDetails: []string{},
		Output: "o"}, result)
}
