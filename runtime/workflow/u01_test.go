package workflow_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/generated/routes"
	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/workflow"
)

// TestU1_EveryOriginGoesBackToItself: a dispatch goes on with its stored request and no model, as its spec says; without that it is narrowed
// like the others.
func TestU1_EveryOriginGoesBackToItself(t *testing.T) {
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
				i := w.asked(th, runtime.KindAgentQuestion)
				require.Equal(w, "which way?", i.Text)
				require.Equal(w, 0, w.model.count())
				th = w.answer(th.ID, "left")
				require.Equal(w, runtime.StatusCancelled, th.Status(), "%+v", th.Open)
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

func TestU2_LeavesEscalate(t *testing.T) {
	onBoth(t, func(w *world) {
		for dispatch, result := range map[string]string{"discoveryDispatch": "result", "planningDispatch": "planningAgentResults", "ticketDispatch": "ticketAgentResults"} {
			for _, reuse := range []bool{true, false} {
				w := w.again()
				d := w.node(dispatch)
				d.Reuse = reuse
				leaf := w.program.Tables.Nodes[d.Dispatch.To-1].Key
				w.on(leaf, w.asks(leaf, "HUMAN_REVIEW", "whose file?"), w.says(leaf, "agentResult"))
				w.on(dispatch, w.stops(dispatch))
				request := w.program.Tables.Requests[w.node(leaf).Request-1].Name
				w.model.says = []string{w.routeTo(dispatch, "requests", []json.RawMessage{json.RawMessage(w.sample(request))})}
				w.open()
				th := w.start(w.program.Tables.Requests[d.Request-1].Name, "requests", []json.RawMessage{json.RawMessage(w.sample(request))})
				i := w.asked(th, runtime.KindAgentQuestion)
				require.Equal(w, leaf, i.Node)
				th = w.answer(th.ID, "ours")
				require.Equal(w, runtime.StatusCancelled, th.Status(), "%+v", th.Open)
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
	return `{"` + route.Field + `":` + w.sample(w.program.Tables.Requests[route.Request-1].Name, with...) + `}`
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

// TestU2_QuestionAnswer: a type of no node goes back to the node that ran last, or else to its declared fallback.
func TestU2_QuestionAnswer(t *testing.T) {
	onBoth(t, func(w *world) {
		w.on("discoveryOrchestrator", w.raises(), w.stops("discoveryOrchestrator"))
		w.open()
		th := w.answer(w.start("DiscoveryOrchestratorRequest").ID, "yes")
		require.Equal(w, runtime.StatusCancelled, th.Status())
		w.narrowed(w.model.last().Schema, "discoveryOrchestratorRequest")

		w = w.again() // a leaf outside of a fan-out has no route
		w.on("orchestrator", w.says("orchestrator", "contextManagerRequest"), w.stops("orchestrator"))
		w.on("contextManager", w.says("contextManager", "discoveryAgentRequest"))
		w.on("discoveryAgent", w.raises())
		w.open()
		th = w.answer(w.start("OrchestratorRequest").ID, "yes")
		require.Equal(w, runtime.StatusCancelled, th.Status())
		w.narrowed(w.model.last().Schema, "orchestratorRequest")

		w = w.again() // a helper asks for the node that it works for
		w.on("orchestrator", w.says("orchestrator", "contextManagerRequest"), w.stops("orchestrator"))
		w.on("contextManager", w.raises())
		w.open()
		w.answer(w.start("OrchestratorRequest").ID, "yes")
		w.narrowed(w.model.last().Schema, "orchestratorRequest")

		w = w.again() // in a fan-out the leaf itself goes on
		w.on("discoveryAgent", w.raises(), w.says("discoveryAgent", "agentResult"))
		w.on("discoveryDispatch", w.stops("discoveryDispatch"))
		w.open()
		th = w.start("DiscoveryAgentRequests", "requests", []json.RawMessage{json.RawMessage(w.sample("DiscoveryAgentRequest"))})
		w.answer(th.ID, "yes")
		require.Equal(w, []string{"discoveryAgent", "discoveryAgent", "discoveryDispatch"}, w.runs)
	})
}

// TestU3_EventReroutes sends an event from outside while the orchestrator runs. Its model does what the prompt says, and knows nothing else.
func TestU3_EventReroutes(t *testing.T) {
	onBoth(t, func(w *world) {
		running, goOn := make(chan string), make(chan struct{})
		w.model.obey()
		w.on("orchestrator", func(ctx context.Context, call runtime.Call, request runtime.Record) (string, error) {
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
			assert.NotNil(w, th.PendingReroute(frame), "it must be stored before anybody hears of it")
			sent = append(sent, message)
		}
		w.open()
		request, err := w.program.DecodeRequest("OrchestratorRequest", []byte(w.sample("OrchestratorRequest")))
		require.NoError(w, err)
		begin, err := workflow.Begin(request)
		require.NoError(w, err)
		begin.ID = "u3"
		_, err = w.e.Start(w.Context(), begin)
		require.NoError(w, err)
		e := event("e1", <-running, "ORCHESTRATOR", "DISCOVERY_ORCHESTRATOR")
		e.RequestedBy = "carl"
		status, err := w.m.Reroute(w.Context(), w.e, "u3", e)
		require.NoError(w, err)
		require.Equal(w, workflow.Requested, status)
		status, err = w.m.Reroute(w.Context(), w.e, "u3", e)
		require.NoError(w, err)
		require.Equal(w, workflow.Requested, status, "the same event is the same event")
		require.Len(w, sent, 1)
		for _, part := range []string{"reason of e1", "context of e1", "Expand", "expand", "all modules", "Is it urgent?", "HUMAN_REVIEW", "DISCOVERY_ORCHESTRATOR"} {
			require.Contains(w, sent[0], part)
		}
		close(goOn)
		th := w.wait("u3")
		require.Contains(w, w.asked(th, runtime.KindAgentQuestion).Text, "reason of e1")
		require.NotNil(w, th.PendingReroute(e.NodeID), "it is used up by the commit that resolves, not before")
		th = w.answer("u3", "go")
		w.narrowed(w.model.asked[1].Schema, "discoveryOrchestratorRequest")
		require.Equal(w, []string{"orchestrator", "discoveryOrchestrator", "discoveryCollector", "orchestrator"}, w.runs)
		require.Empty(w, th.Reroutes)
		require.Equal(w, "again", w.asked(th, runtime.KindAgentQuestion).Text)
		w.answer("u3", "go")
		w.narrowed(w.model.last().Schema, "orchestratorRequest")
		w.inOrder("u3", "e1")
	})
}

// inOrder requires that an event was stored, told and announced, in this order and in one commit, and then used once.
func (w *world) inOrder(id, eventID string) {
	w.Helper()
	var states []string
	for _, row := range w.log(id) {
		switch {
		case row.Type == runtime.EntryReroute && row.Name == eventID:
			states = append(states, row.State)
		case row.Type == runtime.EntryMessage && row.Name == "interrupt_message" && strings.Contains(string(row.Value), "reason of "+eventID):
			states = append(states, "told")
		case row.Type == runtime.EntryMessage && row.Name == "interrupt_status" && row.Text == eventID:
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

// TestU4_AllPairs runs every origin with every other route as the target of an event: 182 pairs.
func TestU4_AllPairs(t *testing.T) {
	onBoth(t, func(w *world) {
		pairs := 0
		for _, from := range w.program.Tables.Routes {
			for _, to := range w.program.Tables.Routes {
				if from.Tag == to.Tag {
					continue
				}
				pairs++
				w := w.again()
				origin, target := w.program.Tables.Nodes[from.Node-1], w.program.Tables.Nodes[to.Node-1]
				w.on(origin.Key, w.publishes(w.asks(origin.Key, "HUMAN_REVIEW", "first"), event("e1", "", from.AgentType, to.AgentType)))
				w.on(target.Key, w.asks(target.Key, "HUMAN_REVIEW", "second"), w.stops(target.Key))
				w.open()
				th := w.start(w.program.Tables.Requests[origin.Request-1].Name)
				require.Equal(w, "first", w.asked(th, runtime.KindAgentQuestion).Text)
				th = w.answer(th.ID, "go")
				w.narrowed(w.model.last().Schema, to.Field)
				require.Equal(w, []string{origin.Key, target.Key}, w.runs)
				require.Empty(w, th.Reroutes)
				w.inOrder(th.ID, "e1")
				require.Equal(w, "second", w.asked(th, runtime.KindAgentQuestion).Text)
				th = w.answer(th.ID, "go")
				require.Equal(w, []string{origin.Key, target.Key, target.Key}, w.runs, "its own interrupt goes back to itself")
				require.Equal(w, runtime.StatusCancelled, th.Status())
				if !target.Reuse {
					w.narrowed(w.model.last().Schema, to.Field)
				}
				require.NoError(w, w.e.Close(w.Context()))
			}
		}
		require.Equal(w, 182, pairs)
	})
}

func TestU5_WhatAnEventMayNotBe(t *testing.T) {
	onBoth(t, func(w *world) {
		w.on("orchestrator", w.says("orchestrator", "discoveryOrchestratorRequest"))
		w.on("discoveryOrchestrator", w.asks("discoveryOrchestrator", "PAUSE", "wait"), w.stops("discoveryOrchestrator"))
		w.open()
		th := w.start("OrchestratorRequest")
		before := len(w.log(th.ID))
		frame := th.Root().ID
		for name, c := range map[string]struct {
			code runtime.Code
			e    workflow.Event
		}{
			"leaf target":      {runtime.CodeNoRoute, event("e", frame, "DISCOVERY_ORCHESTRATOR", "DISCOVERY_AGENT")},
			"unknown target":   {runtime.CodeNoRoute, event("e", frame, "DISCOVERY_ORCHESTRATOR", "NOBODY")},
			"unknown source":   {runtime.CodeInvalid, event("e", frame, "NOBODY", "")},
			"no source":        {runtime.CodeInvalid, event("e", frame, "", "")},
			"no id":            {runtime.CodeInvalid, event("", frame, "DISCOVERY_ORCHESTRATOR", "")},
			"another source":   {runtime.CodeConflict, event("e", frame, "TICKET_ORCHESTRATOR", "")},
			"hidden interrupt": {runtime.CodeInvalid, with(event("e", frame, "DISCOVERY_ORCHESTRATOR", ""), func(e *workflow.Event) { e.InterruptType = "BRANCH" })},
			"unknown type":     {runtime.CodeInvalid, with(event("e", frame, "DISCOVERY_ORCHESTRATOR", ""), func(e *workflow.Event) { e.InterruptType = "SHOUT" })},
			"no thread":        {runtime.CodeNotFound, event("e", frame, "DISCOVERY_ORCHESTRATOR", "")},
		} {
			id := th.ID
			if name == "no thread" {
				id = "nobody"
			}
			_, err := w.m.Reroute(w.Context(), w.e, id, c.e)
			assert.Equal(w, c.code, runtime.CodeOf(err), "%s: %v", name, err)
		}
		require.Len(w, w.log(th.ID), before, "nothing is stored and nobody is told")

		for name, e := range map[string]workflow.Event{
			"it ran before": event("e1", frame, "ORCHESTRATOR", "PLANNING_ORCHESTRATOR"), "no such frame": event("e2", "f99", "DISCOVERY_ORCHESTRATOR", ""),
		} {
			status, err := w.m.Reroute(w.Context(), w.e, th.ID, e)
			require.NoError(w, err, name)
			require.Equal(w, workflow.IgnoredTargetNotActive, status, name)
		}
		th = w.wait(th.ID)
		require.Empty(w, th.Reroutes)
		rows := w.log(th.ID)[before:]
		require.Len(w, rows, 2, "the two informational events")
		for _, row := range rows {
			require.Equal(w, "interrupt_status", row.Name)
			require.Equal(w, workflow.IgnoredTargetNotActive, row.State)
		}

		status, err := w.m.Reroute(w.Context(), w.e, th.ID, event("e3", frame, "DISCOVERY_ORCHESTRATOR", "")) // without a target
		require.NoError(w, err)
		require.Equal(w, workflow.Requested, status)
		th = w.answer(th.ID, "go")
		w.narrowed(w.model.last().Schema, "discoveryOrchestratorRequest")
		require.Equal(w, runtime.StatusCancelled, th.Status())
		w.inOrder(th.ID, "e3")
		status, err = w.m.Reroute(w.Context(), w.e, th.ID, event("e4", frame, "DISCOVERY_ORCHESTRATOR", ""))
		require.NoError(w, err)
		require.Equal(w, workflow.IgnoredTargetNotActive, status, "the thread is over")
	})
}

func with(e workflow.Event, change func(e *workflow.Event)) workflow.Event {
	change(&e)
	return e
}

func TestU6_TwoEventsForOneNode(t *testing.T) {
	onBoth(t, func(w *world) {
		w.on("planningOrchestrator",
			w.publishes(w.asks("planningOrchestrator", "HUMAN_REVIEW", "first"), event("e1", "", "PLANNING_ORCHESTRATOR", ""), event("e2", "", "PLANNING_ORCHESTRATOR", "MERGER_AGENT")),
			w.asks("planningOrchestrator", "HUMAN_REVIEW", "second"))
		w.on("merger", w.stops("merger"))
		w.open()
		th := w.start("PlanningOrchestratorRequest")
		require.Len(w, th.Reroutes, 2)
		var told []string
		for _, row := range w.log(th.ID) {
			if row.Name == "interrupt_status" {
				told = append(told, row.Text+" "+row.State)
			}
		}
		require.Equal(w, []string{"e1 " + workflow.Requested, "e2 " + workflow.Queued}, told)
		status, err := w.m.Reroute(w.Context(), w.e, th.ID, event("e2", th.Root().ID, "PLANNING_ORCHESTRATOR", "MERGER_AGENT"))
		require.NoError(w, err)
		require.Equal(w, workflow.Queued, status, "the same event again")
		th = w.answer(th.ID, "go")
		w.narrowed(w.model.last().Schema, "planningOrchestratorRequest")
		require.Len(w, th.Reroutes, 1)
		require.Equal(w, "e2", th.PendingReroute(th.Root().ID).ID)
		th = w.answer(th.ID, "go")
		w.narrowed(w.model.last().Schema, "mergerRequest")
		require.Equal(w, []string{"planningOrchestrator", "planningOrchestrator", "merger"}, w.runs)
		require.Equal(w, runtime.StatusCancelled, th.Status())
	})
}

// TestU6_OneEventManyTimes: the same event at the same time is stored and told once.
func TestU6_OneEventManyTimes(t *testing.T) {
	onBoth(t, func(w *world) {
		w.on("orchestrator", w.asks("orchestrator", "HUMAN_REVIEW", "?"))
		var sent atomic.Int64
		w.cfg.Send = func(context.Context, string, string, string) { sent.Add(1) }
		w.open()
		th := w.start("OrchestratorRequest")
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				status, err := w.m.Reroute(w.Context(), w.e, th.ID, event("e1", th.Root().ID, "ORCHESTRATOR", ""))
				assert.NoError(w, err)
				assert.Equal(w, workflow.Requested, status)
			})
		}
		all.Wait()
		told := 0
		for _, row := range w.log(th.ID) {
			if row.Name == "interrupt_message" {
				told++
			}
		}
		require.Equal(w, 1, told)
		require.Equal(w, int64(1), sent.Load())
		require.Len(w, w.wait(th.ID).Reroutes, 1)
	})
}

// TestU6_QueuedEventExpires: the first event takes the work elsewhere, so the node that the second one is for has ended.
func TestU6_QueuedEventExpires(t *testing.T) {
	onBoth(t, func(w *world) {
		w.on("planningOrchestrator", w.publishes(w.asks("planningOrchestrator", "HUMAN_REVIEW", "first"),
			event("e1", "", "PLANNING_ORCHESTRATOR", "MERGER_AGENT"), event("e2", "", "PLANNING_ORCHESTRATOR", "REVIEW_AGENT")))
		w.on("merger", w.asks("merger", "HUMAN_REVIEW", "second"), w.stops("merger"))
		w.open()
		th := w.answer(w.start("PlanningOrchestratorRequest").ID, "go")
		w.asked(th, runtime.KindAgentQuestion)
		require.Empty(w, th.Reroutes)
		var states []string
		for _, row := range w.log(th.ID) {
			if row.Type == runtime.EntryReroute {
				states = append(states, row.Name+" "+row.State)
			}
		}
		require.Equal(w, []string{"e1 pending", "e2 queued", "e1 used", "e2 pending", "e2 expired"}, states)
		w.answer(th.ID, "go")
		w.narrowed(w.model.last().Schema, "mergerRequest")
	})
}

// TestU6_EventOfAnotherFrame: neither a sibling nor the parent takes an event.
func TestU6_EventOfAnotherFrame(t *testing.T) {
	onBoth(t, func(w *world) {
		n := w.node("discoveryDispatch")
		n.Reuse = false
		w.always["discoveryAgent"] = func(ctx context.Context, call runtime.Call, request runtime.Record) (string, error) {
			if call.Answer == nil {
				return w.routing("discoveryAgent", "interruptRequest", "reason", call.Frame), nil
			}
			return w.routing("discoveryAgent", "agentResult"), nil
		}
		w.on("discoveryDispatch", w.asks("discoveryDispatch", "HUMAN_REVIEW", "done?"), w.stops("discoveryDispatch"))
		one := json.RawMessage(w.sample("DiscoveryAgentRequest"))
		w.model.says = []string{w.routeTo("discoveryDispatch", "requests", []json.RawMessage{one, one})}
		w.open()
		th := w.start("DiscoveryAgentRequests", "requests", []json.RawMessage{one, one})
		require.Len(w, th.Open, 2)
		sibling, other := th.Open[0], th.Open[1]
		status, err := w.m.Reroute(w.Context(), w.e, th.ID, event("e1", other.Frame, "DISCOVERY_AGENT", "DISCOVERY_DISPATCH"))
		require.NoError(w, err)
		require.Equal(w, workflow.Requested, status)
		_, err = w.e.Answer(w.Context(), th.ID, runtime.Answer{Interrupt: sibling.ID, Text: "go"})
		require.NoError(w, err)
		th = w.wait(th.ID)
		require.NotNil(w, th.PendingReroute(other.Frame))
		_, err = w.e.Answer(w.Context(), th.ID, runtime.Answer{Interrupt: other.ID, Text: "go"})
		require.NoError(w, err)
		th = w.wait(th.ID)
		require.Empty(w, th.Reroutes)
		require.Equal(w, "done?", w.asked(th, runtime.KindAgentQuestion).Text)
		require.Len(w, w.calls["discoveryAgent"], 4)
		require.True(w, slices.Contains(w.runs, "discoveryDispatch"))
	})
}

func TestU7_UnusedEventExpires(t *testing.T) {
	onBoth(t, func(w *world) {
		w.on("orchestrator", w.publishes(w.says("orchestrator", "discoveryOrchestratorRequest"), event("e1", "", "ORCHESTRATOR", "MERGER_AGENT")),
			w.asks("orchestrator", "PAUSE", "later"), w.stops("orchestrator"))
		w.on("discoveryOrchestrator", w.says("discoveryOrchestrator", "collectorRequest"))
		w.on("discoveryCollector", w.says("discoveryCollector", "orchestratorRequest"))
		w.open()
		th := w.start("OrchestratorRequest")
		require.Equal(w, "later", w.asked(th, runtime.KindAgentQuestion).Text)
		require.Empty(w, th.Reroutes)
		var states []string
		for _, row := range w.log(th.ID) {
			if row.Type == runtime.EntryReroute {
				states = append(states, row.State)
			}
		}
		require.Equal(w, []string{runtime.ReroutePending, runtime.RerouteExpired}, states)
		w.answer(th.ID, "go")
		w.narrowed(w.model.last().Schema, "orchestratorRequest")
	})
}
