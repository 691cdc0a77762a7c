package workflow_test

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
	"github.com/routegen/routegen/runtime/workflow"
)

func TestInvalidEventsAreRefused(t *testing.T) {
	onBoth(t, func(w *world) {
		w.on("orchestrator", w.says("orchestrator", "discoveryOrchestratorRequest"))
		w.on("discoveryOrchestrator", w.asks("discoveryOrchestrator", "PAUSE", "wait"),
			w.stops("discoveryOrchestrator"))
		w.open()
		th := w.start("OrchestratorRequest")
		before := len(w.log(th.ID))
		frame := th.Root().ID
		for name, c := range map[string]struct {
			code runtime.Code
			e    workflow.Event
		}{
			"leaf target": {runtime.CodeNoRoute,
				event("e", frame, "DISCOVERY_ORCHESTRATOR", "DISCOVERY_AGENT")},
			"unknown target": {runtime.CodeNoRoute,
				event("e", frame, "DISCOVERY_ORCHESTRATOR", "NOBODY")},
			"unknown source": {runtime.CodeInvalid, event("e", frame, "NOBODY", "")},
			"no source":      {runtime.CodeInvalid, event("e", frame, "", "")},
			"no id": {runtime.CodeInvalid,
				event("", frame, "DISCOVERY_ORCHESTRATOR", "")},
			"another source": {runtime.CodeConflict,
				event("e", frame, "TICKET_ORCHESTRATOR", "")},
			"hidden interrupt": {runtime.CodeInvalid,
				setKey(event("e", frame, "DISCOVERY_ORCHESTRATOR", ""), func(e *workflow.Event) {
					e.InterruptType = "BRANCH"
				})},
			"unknown type": {runtime.CodeInvalid,
				setKey(event("e", frame, "DISCOVERY_ORCHESTRATOR", ""), func(e *workflow.Event) {
					e.InterruptType = "SHOUT"
				})},
			"no thread": {runtime.CodeNotFound,
				event("e", frame, "DISCOVERY_ORCHESTRATOR", "")},
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
			"it ran before": event("e1", frame, "ORCHESTRATOR", "PLANNING_ORCHESTRATOR"),
			"no such frame": event("e2", "f99", "DISCOVERY_ORCHESTRATOR", ""),
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

		// without a target
		status, err := w.m.Reroute(w.Context(), w.e, th.ID,
			event("e3", frame, "DISCOVERY_ORCHESTRATOR", ""))
		require.NoError(w, err)
		require.Equal(w, workflow.Requested, status)
		th = w.answer(th.ID, "go")
		w.narrowed(w.model.last().Schema, "discoveryOrchestratorRequest")
		require.Equal(w, thread.StatusCancelled, th.Status())
		w.inOrder(th.ID, "e3")
		status, err = w.m.Reroute(w.Context(), w.e, th.ID,
			event("e4", frame, "DISCOVERY_ORCHESTRATOR", ""))
		require.NoError(w, err)
		require.Equal(w, workflow.IgnoredTargetNotActive, status, "the thread is over")
	})
}

func setKey(e workflow.Event, change func(e *workflow.Event)) workflow.Event {
	change(&e)
	return e
}

func TestSecondEventIsQueued(t *testing.T) {
	onBoth(t, func(w *world) {
		w.on("planningOrchestrator",
			w.publishes(w.asks("planningOrchestrator", "HUMAN_REVIEW", "first"),
				event("e1", "", "PLANNING_ORCHESTRATOR", ""),
				event("e2", "", "PLANNING_ORCHESTRATOR", "MERGER_AGENT")),
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
		status, err := w.m.Reroute(w.Context(), w.e, th.ID,
			event("e2", th.Root().ID, "PLANNING_ORCHESTRATOR", "MERGER_AGENT"))
		require.NoError(w, err)
		require.Equal(w, workflow.Queued, status, "the same event again")
		th = w.answer(th.ID, "go")
		w.narrowed(w.model.last().Schema, "planningOrchestratorRequest")
		require.Len(w, th.Reroutes, 1)
		require.Equal(w, "e2", th.PendingReroute(th.Root().ID).ID)
		th = w.answer(th.ID, "go")
		w.narrowed(w.model.last().Schema, "mergerRequest")
		require.Equal(w, []string{"planningOrchestrator", "planningOrchestrator", "merger"}, w.runs)
		require.Equal(w, thread.StatusCancelled, th.Status())
	})
}

// TestDuplicateEventIsStoredOnce: the same event at the same time is stored and told once.
func TestDuplicateEventIsStoredOnce(t *testing.T) {
	onBoth(t, func(w *world) {
		w.on("orchestrator", w.asks("orchestrator", "HUMAN_REVIEW", "?"))
		var sent atomic.Int64
		w.cfg.Send = func(context.Context, string, string, string) { sent.Add(1) }
		w.open()
		th := w.start("OrchestratorRequest")
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				status, err := w.m.Reroute(w.Context(), w.e, th.ID,
					event("e1", th.Root().ID, "ORCHESTRATOR", ""))
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

// TestQueuedEventExpires: the first event takes the work elsewhere, so the node that the second
// one is for has ended.
func TestQueuedEventExpires(t *testing.T) {
	onBoth(t, func(w *world) {
		w.on("planningOrchestrator",
			w.publishes(w.asks("planningOrchestrator", "HUMAN_REVIEW", "first"),
				event("e1", "", "PLANNING_ORCHESTRATOR", "MERGER_AGENT"),
				event("e2", "", "PLANNING_ORCHESTRATOR", "REVIEW_AGENT")))
		w.on("merger", w.asks("merger", "HUMAN_REVIEW", "second"), w.stops("merger"))
		w.open()
		th := w.answer(w.start("PlanningOrchestratorRequest").ID, "go")
		w.asked(th, thread.KindAgentQuestion)
		require.Empty(w, th.Reroutes)
		var states []string
		for _, row := range w.log(th.ID) {
			if row.Type == thread.EntryReroute {
				states = append(states, row.Name+" "+row.State)
			}
		}
		require.Equal(w, []string{"e1 pending", "e2 queued", "e1 used", "e2 pending", "e2 expired"},
			states)
		w.answer(th.ID, "go")
		w.narrowed(w.model.last().Schema, "mergerRequest")
	})
}

// TestEventOfAnotherFrameIsLeftAlone: neither a sibling nor the parent takes an event.
func TestEventOfAnotherFrameIsLeftAlone(t *testing.T) {
	onBoth(t, func(w *world) {
		n := w.node("discoveryDispatch")
		n.Reuse = false
		w.always["discoveryAgent"] = func(ctx context.Context, call runtime.Call,
			request runtime.Record) (string, error) {
			if call.Answer == nil {
				return w.routing("discoveryAgent", "interruptRequest", "reason", call.Frame), nil
			}
			return w.routing("discoveryAgent", "agentResult"), nil
		}
		w.on("discoveryDispatch", w.asks("discoveryDispatch", "HUMAN_REVIEW", "done?"),
			w.stops("discoveryDispatch"))
		one := json.RawMessage(w.sample("DiscoveryAgentRequest"))
		w.model.says = []string{w.routeTo("discoveryDispatch", "requests",
			[]json.RawMessage{one, one})}
		w.open()
		th := w.start("DiscoveryAgentRequests", "requests", []json.RawMessage{one, one})
		require.Len(w, th.Open, 2)
		sibling, other := th.Open[0], th.Open[1]
		status, err := w.m.Reroute(w.Context(), w.e, th.ID,
			event("e1", other.Frame, "DISCOVERY_AGENT", "DISCOVERY_DISPATCH"))
		require.NoError(w, err)
		require.Equal(w, workflow.Requested, status)
		_, err = w.e.Answer(w.Context(), th.ID, thread.Answer{Interrupt: sibling.ID, Text: "go"})
		require.NoError(w, err)
		th = w.wait(th.ID)
		require.NotNil(w, th.PendingReroute(other.Frame))
		_, err = w.e.Answer(w.Context(), th.ID, thread.Answer{Interrupt: other.ID, Text: "go"})
		require.NoError(w, err)
		th = w.wait(th.ID)
		require.Empty(w, th.Reroutes)
		require.Equal(w, "done?", w.asked(th, thread.KindAgentQuestion).Text)
		require.Len(w, w.calls["discoveryAgent"], 4)
		require.True(w, slices.Contains(w.runs, "discoveryDispatch"))
	})
}

func TestUnusedEventExpires(t *testing.T) {
	onBoth(t, func(w *world) {
		w.on("orchestrator", w.publishes(w.says("orchestrator", "discoveryOrchestratorRequest"),
			event("e1", "", "ORCHESTRATOR", "MERGER_AGENT")),
			w.asks("orchestrator", "PAUSE", "later"), w.stops("orchestrator"))
		w.on("discoveryOrchestrator", w.says("discoveryOrchestrator", "collectorRequest"))
		w.on("discoveryCollector", w.says("discoveryCollector", "orchestratorRequest"))
		w.open()
		th := w.start("OrchestratorRequest")
		require.Equal(w, "later", w.asked(th, thread.KindAgentQuestion).Text)
		require.Empty(w, th.Reroutes)
		var states []string
		for _, row := range w.log(th.ID) {
			if row.Type == thread.EntryReroute {
				states = append(states, row.State)
			}
		}
		require.Equal(w, []string{thread.ReroutePending, thread.RerouteExpired}, states)
		w.answer(th.ID, "go")
		w.narrowed(w.model.last().Schema, "orchestratorRequest")
	})
}
