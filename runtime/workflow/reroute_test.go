package workflow_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/generated/routes"
	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
	"github.com/routegen/routegen/runtime/workflow"
)

// TestEveryInterruptGoesBackToItsOrigin: a dispatch goes on with its stored request and no model,
// as its spec says; without that it is narrowed like the others.
func TestEveryInterruptGoesBackToItsOrigin(t *testing.T) {
	onBoth(t, func(w *world) {
		reused := 0
		for _, route := range w.program.Tables.Routes {
			for _, reuse := range []bool{true, false} {
				w := w.again()
				n := w.node(w.program.Tables.Nodes[route.Node-1].Key)
				if !n.Reuse && reuse {
					continue
				}
				n.Reuse = reuse
				w.on(n.Key, w.asks(n.Key, "HUMAN_REVIEW", "which way?"), w.stops(n.Key))
				w.open()
				th := w.start(w.program.Tables.Requests[n.Request-1].Name)
				i := w.asked(th, thread.KindAgentQuestion)
				require.Equal(w, "which way?", i.Text)
				require.Equal(w, 0, w.model.count())
				th = w.answer(th.ID, "left")
				require.Equal(w, thread.StatusCancelled, th.Status(), "%+v", th.Open)
				require.Equal(w, []string{n.Key, n.Key}, w.runs)
				require.JSONEq(w, `"left"`, string(w.calls[n.Key][1].Answer))
				if reuse {
					require.Equal(w, 0, w.model.count())
					reused++
					continue
				}
				require.Equal(w, 1, w.model.count())
				w.narrowed(w.model.last().Schema, route.Field)
			}
		}
		require.Len(w, w.program.Tables.Routes, 14)
		require.Equal(w, 3, reused)
	})
}

// again is a world of its own on the same store.
func (w *world) again() *world {
	w.Helper()
	next := bareWorld(w.T)
	next.store = w.store
	return next
}

func TestNodesWithoutARouteEscalate(t *testing.T) {
	onBoth(t, func(w *world) {
		for dispatch, result := range map[string]string{"discoveryDispatch": "result",
			"planningDispatch": "planningAgentResults", "ticketDispatch": "ticketAgentResults"} {
			for _, reuse := range []bool{true, false} {
				w := w.again()
				d := w.node(dispatch)
				d.Reuse = reuse
				leaf := w.program.Tables.Nodes[d.Dispatch.To-1].Key
				w.on(leaf, w.asks(leaf, "HUMAN_REVIEW", "whose file?"), w.says(leaf, "agentResult"))
				w.on(dispatch, w.stops(dispatch))
				request := w.program.Tables.Requests[w.node(leaf).Request-1].Name
				w.model.says = []string{w.routeTo(dispatch, "requests",
					[]json.RawMessage{json.RawMessage(w.sample(request))})}
				w.open()
				th := w.start(w.program.Tables.Requests[d.Request-1].Name, "requests",
					[]json.RawMessage{json.RawMessage(w.sample(request))})
				i := w.asked(th, thread.KindAgentQuestion)
				require.Equal(w, leaf, i.Node)
				th = w.answer(th.ID, "ours")
				require.Equal(w, thread.StatusCancelled, th.Status(), "%+v", th.Open)
				require.Equal(w, []string{leaf, leaf, dispatch}, w.runs)
				require.JSONEq(w, `"ours"`, string(w.calls[leaf][1].Answer))
				var got map[string][]json.RawMessage
				_ = json.Unmarshal(w.calls[dispatch][0].Results, &got)
				require.Len(w, got[result], 1)
				if reuse {
					require.Equal(w, 0, w.model.count())
				} else {
					w.narrowed(w.model.last().Schema, w.program.Tables.Routes[d.Route-1].Field)
				}
			}
		}
	})
}

// routeTo is what a model says that continues at a node.
func (w *world) routeTo(node string, with ...any) string {
	w.Helper()
	route := w.program.Tables.Routes[w.node(node).Route-1]
	return `{"` + route.Field + `":` + w.sample(w.program.Tables.Requests[route.Request-1].Name,
		with...) + `}`
}

// raises returns a turn that raises the interrupt which no routing carries.
func (w *world) raises() turn {
	const typeName = "QuestionAnswerInterruptRequest"
	return func(context.Context, runtime.Call, runtime.Record) (string, error) {
		request, err := w.program.DecodeInterrupt(typeName, []byte(w.sample(typeName)))
		if err != nil {
			return "", err
		}
		return "", workflow.Raise(request)
	}
}

// TestQuestionOfALeafIsAnswered: a type of no node goes back to the node that ran last, or else to
// its declared fallback.
func TestQuestionOfALeafIsAnswered(t *testing.T) {
	onBoth(t, func(w *world) {
		w.on("discoveryOrchestrator", w.raises(), w.stops("discoveryOrchestrator"))
		w.open()
		th := w.answer(w.start("DiscoveryOrchestratorRequest").ID, "yes")
		require.Equal(w, thread.StatusCancelled, th.Status())
		w.narrowed(w.model.last().Schema, "discoveryOrchestratorRequest")

		w = w.again() // a leaf outside of a fan-out has no route
		w.on("orchestrator", w.says("orchestrator", "contextManagerRequest"),
			w.stops("orchestrator"))
		w.on("contextManager", w.says("contextManager", "discoveryAgentRequest"))
		w.on("discoveryAgent", w.raises())
		w.open()
		th = w.answer(w.start("OrchestratorRequest").ID, "yes")
		require.Equal(w, thread.StatusCancelled, th.Status())
		w.narrowed(w.model.last().Schema, "orchestratorRequest")

		w = w.again() // a helper asks for the node that it works for
		w.on("orchestrator", w.says("orchestrator", "contextManagerRequest"),
			w.stops("orchestrator"))
		w.on("contextManager", w.raises())
		w.open()
		w.answer(w.start("OrchestratorRequest").ID, "yes")
		w.narrowed(w.model.last().Schema, "orchestratorRequest")

		w = w.again() // in a fan-out the leaf itself goes on
		w.on("discoveryAgent", w.raises(), w.says("discoveryAgent", "agentResult"))
		w.on("discoveryDispatch", w.stops("discoveryDispatch"))
		w.open()
		th = w.start("DiscoveryAgentRequests", "requests",
			[]json.RawMessage{json.RawMessage(w.sample("DiscoveryAgentRequest"))})
		w.answer(th.ID, "yes")
		require.Equal(w, []string{"discoveryAgent", "discoveryAgent", "discoveryDispatch"}, w.runs)
	})
}

// TestEventReroutesTheNextInterrupt sends an event from outside while the orchestrator runs. Its
// model does what the prompt says, and knows nothing else.
func TestEventReroutesTheNextInterrupt(t *testing.T) {
	onBoth(t, func(w *world) {
		running, goOn := make(chan string), make(chan struct{})
		w.model.obey()
		w.on("orchestrator", func(ctx context.Context, call runtime.Call, request runtime.Record) (
			string, error) {
			running <- call.Frame
			<-goOn
			return chooses[routes.OrchestratorRouting](ctx, call, request)
		}, w.asks("orchestrator", "PAUSE", "again"), w.stops("orchestrator"))
		w.on("discoveryOrchestrator", w.says("discoveryOrchestrator", "collectorRequest"))
		w.on("discoveryCollector", w.says("discoveryCollector", "orchestratorRequest"))
		var sent []string
		w.cfg.Send = func(ctx context.Context, id, frame, message string) {
			th, err := w.store.Load(ctx, id)
			assert.NoError(w, err)
			assert.NotNil(w, th.PendingReroute(frame),
				"it must be stored before anybody hears of it")
			sent = append(sent, message)
		}
		w.open()
		request, err := w.program.DecodeRequest("OrchestratorRequest",
			[]byte(w.sample("OrchestratorRequest")))
		require.NoError(w, err)
		begin, err := workflow.Begin(request)
		require.NoError(w, err)
		begin.ID = "rerouted"
		_, err = w.e.Start(w.Context(), begin)
		require.NoError(w, err)
		e := event("e1", <-running, "ORCHESTRATOR", "DISCOVERY_ORCHESTRATOR")
		e.RequestedBy = "carl"
		status, err := w.m.Reroute(w.Context(), w.e, "rerouted", e)
		require.NoError(w, err)
		require.Equal(w, workflow.Requested, status)
		status, err = w.m.Reroute(w.Context(), w.e, "rerouted", e)
		require.NoError(w, err)
		require.Equal(w, workflow.Requested, status, "the same event is the same event")
		require.Len(w, sent, 1)
		for _, part := range []string{"reason of e1", "context of e1", "Expand", "expand",
			"all modules", "Is it urgent?", "HUMAN_REVIEW", "DISCOVERY_ORCHESTRATOR"} {
			require.Contains(w, sent[0], part)
		}
		close(goOn)
		th := w.wait("rerouted")
		require.Contains(w, w.asked(th, thread.KindAgentQuestion).Text, "reason of e1")
		require.NotNil(w, th.PendingReroute(e.NodeID),
			"it is used up by the commit that resolves, not before")
		th = w.answer("rerouted", "go")
		w.narrowed(w.model.asked[1].Schema, "discoveryOrchestratorRequest")
		require.Equal(w, []string{"orchestrator", "discoveryOrchestrator", "discoveryCollector",
			"orchestrator"}, w.runs)
		require.Empty(w, th.Reroutes)
		require.Equal(w, "again", w.asked(th, thread.KindAgentQuestion).Text)
		w.answer("rerouted", "go")
		w.narrowed(w.model.last().Schema, "orchestratorRequest")
		w.inOrder("rerouted", "e1")
	})
}

// inOrder requires that an event was stored, told and announced, in this order and in one commit,
// and then used once.
func (w *world) inOrder(id, eventID string) {
	w.Helper()
	var states []string
	for _, row := range w.log(id) {
		switch {
		case row.Type == thread.EntryReroute && row.Name == eventID:
			states = append(states, row.State)
		case row.Type == thread.EntryMessage && row.Name == "interrupt_message" &&
			strings.Contains(string(row.Value), "reason of "+eventID):
			states = append(states, "told")
		case row.Type == thread.EntryMessage && row.Name == "interrupt_status" &&
			row.Text == eventID:
			states = append(states, row.State)
		default:
			continue
		}
		if row.End && len(states) < 3 {
			states = append(states, "END OF COMMIT")
		}
	}
	require.Equal(w, []string{"pending", "told", workflow.Requested, "used"}, states)
}

// TestRerouteBetweenAllPairsOfNodes runs every origin with every other route as the target of an
// event: 182 pairs.
func TestRerouteBetweenAllPairsOfNodes(t *testing.T) {
	onBoth(t, func(w *world) {
		pairs := 0
		for _, from := range w.program.Tables.Routes {
			for _, to := range w.program.Tables.Routes {
				if from.Tag == to.Tag {
					continue
				}
				pairs++
				w := w.again()
				origin, target :=
					w.program.Tables.Nodes[from.Node-1], w.program.Tables.Nodes[to.Node-1]
				w.on(origin.Key, w.publishes(w.asks(origin.Key, "HUMAN_REVIEW", "first"),
					event("e1", "", from.AgentType, to.AgentType)))
				w.on(target.Key, w.asks(target.Key, "HUMAN_REVIEW", "second"), w.stops(target.Key))
				w.open()
				th := w.start(w.program.Tables.Requests[origin.Request-1].Name)
				require.Equal(w, "first", w.asked(th, thread.KindAgentQuestion).Text)
				th = w.answer(th.ID, "go")
				w.narrowed(w.model.last().Schema, to.Field)
				require.Equal(w, []string{origin.Key, target.Key}, w.runs)
				require.Empty(w, th.Reroutes)
				w.inOrder(th.ID, "e1")
				require.Equal(w, "second", w.asked(th, thread.KindAgentQuestion).Text)
				th = w.answer(th.ID, "go")
				require.Equal(w, []string{origin.Key, target.Key, target.Key}, w.runs,
					"its own interrupt goes back to itself")
				require.Equal(w, thread.StatusCancelled, th.Status())
				if !target.Reuse {
					w.narrowed(w.model.last().Schema, to.Field)
				}
				require.NoError(w, w.e.Close(w.Context()))
			}
		}
		require.Equal(w, 182, pairs)
	})
}
