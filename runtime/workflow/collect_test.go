package workflow_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/generated/routes"
	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/internal/threadtest"
	"github.com/routegen/routegen/runtime/thread"
	"github.com/routegen/routegen/runtime/workflow"
)

func TestCollectorDecisions(t *testing.T) {
	onBoth(t, func(w *world) {
		for collector, arms := range map[string]map[string]string{
			"discoveryCollector": {"ROUTE_BACK": "discoveryOrchestrator",
				"ADVANCE_PHASE": "planningOrchestrator", "STOP": "orchestrator",
				"": "planningOrchestrator"},
			"planningCollector": {"ROUTE_BACK": "planningOrchestrator",
				"ADVANCE_PHASE": "ticketOrchestrator", "STOP": "orchestratorCollector",
				"": "ticketOrchestrator"},
			"ticketCollector": {"ROUTE_BACK": "ticketOrchestrator",
				"ADVANCE_PHASE": "orchestratorCollector", "STOP": "orchestratorCollector",
				"": "orchestratorCollector"},
			"orchestratorCollector": {"ROUTE_BACK": "orchestrator", "ADVANCE_PHASE": "end",
				"STOP": "end", "": "end"},
		} {
			for decision, to := range arms {
				w := w.again()
				w.undecided(decision == "")
				with := map[string]string{"decisionType": decision, "rationale": "",
					"requestedPhase": ""}
				if decision == "" {
					with["decisionType"] = "STOP"
				}
				w.on(collector, w.says(collector, "collectorResult", "consolidatedOutput",
					"all of it", "collectorDecision", with))
				if to != "end" {
					w.on(to, w.stops(to))
				}
				w.open()
				th := w.start(w.program.Tables.Requests[w.node(collector).Request-1].Name, "goal",
					"old")
				if to == "end" {
					require.Equal(w, thread.StatusDone, th.Status(), "%s %s", collector, decision)
					require.Contains(w, string(th.Result), "all of it")
					require.NotContains(w, string(th.Result), `"decisionType":""}`)
					result, err := runtime.DecodeTagged(th.Result, w.program.Result)
					require.NoError(w, err)
					require.Equal(w, "OrchestratorCollectorResult", result.Shape().Name)
					continue
				}
				require.Equal(w, []string{collector, to}, w.runs, "%s %q %+v", collector, decision,
					th.Open)
				data, err := runtime.Encode(w.took[to][0])
				require.NoError(w, err)
				require.Contains(w, string(data), `"goal":"all of it"`)
			}
		}
	})
}

// undecided makes the handlers return results without a decision, as Go code may.
func (w *world) undecided(yes bool) {
	if !yes {
		return
	}
	w.program.Invoke = func(ctx context.Context, call runtime.Call, request runtime.Record) (
		runtime.Routing, error) {
		routing, err := w.invoke(ctx, call, request)
		switch r := routing.(type) {
		case *routes.DiscoveryCollectorRouting:
			r.CollectorResult.CollectorDecision.DecisionType = ""
		case *routes.PlanningCollectorRouting:
			r.CollectorResult.CollectorDecision.DecisionType = ""
		case *routes.TicketCollectorRouting:
			r.CollectorResult.CollectorDecision.DecisionType = ""
		case *routes.OrchestratorCollectorRouting:
			r.CollectorResult.CollectorDecision.DecisionType = ""
		}
		return routing, err
	}
}

// TestCollectorFillsTheNextRequest: an arm goes on with the last request its node had, hidden
// fields included.
func TestCollectorFillsTheNextRequest(t *testing.T) {
	onBoth(t, func(w *world) {
		w.on("orchestrator", w.says("orchestrator", "discoveryOrchestratorRequest"),
			w.stops("orchestrator"))
		w.on("discoveryOrchestrator", w.says("discoveryOrchestrator", "collectorRequest"))
		w.on("discoveryCollector", w.says("discoveryCollector", "collectorResult",
			"consolidatedOutput", "new goal",
			"collectorDecision", map[string]string{"decisionType": "STOP", "rationale": "",
				"requestedPhase": ""}))
		w.open()
		w.start("OrchestratorRequest", "phase", "DISCOVERY", "contextId", rootKey)
		got, ok := w.took["orchestrator"][1].(*routes.OrchestratorRequest)
		require.True(w, ok)
		require.Equal(w, "new goal", got.Goal)
		require.Equal(w, "DISCOVERY", got.Phase)
		require.Equal(w, rootKey, string(got.ContextID))
	})
}

const rootKey = "ak:01ARZ3NDEKTSV4RRFFQ69G5FAV"

func TestPromptsMarkTheNode(t *testing.T) {
	onBoth(t, func(w *world) {
		for i := range w.program.Tables.Nodes {
			n := w.program.Tables.Nodes[i]
			if n.Routing == 0 {
				continue
			}
			w := w.again()
			row := w.program.Tables.Routings[n.Routing-1]
			allowed := []string{row.Branches[1].Name, row.Branches[2].Name}
			w.model.says = []string{w.routing(n.Key, "interruptRequest", "type", "HUMAN_REVIEW"),
				w.routing(n.Key, row.Branches[1].Name)}
			play := func(ctx context.Context, call runtime.Call, request runtime.Record) (string,
				error) {
				if call.Answer != nil {
					call.Allowed = allowed
				}
				out, err := w.choose(ctx, call, request)
				if call.Answer != nil && err == nil {
					out = w.routing(n.Key, "interruptRequest", "type", "STOP")
				}
				return out, err
			}
			w.on(n.Key, play, play)
			w.cfg.Model = w.model
			w.node(n.Key).Reuse = false
			if n.Escalates != 0 {
				w.program.Tables.Nodes[n.Escalates-1].Reuse = false
			}
			w.open()
			th := w.start(w.program.Tables.Requests[n.Request-1].Name)
			mark := ">>> [" + n.DisplayName + "] <<< YOU ARE HERE"
			first := w.model.asked[0]
			require.Equal(w, 1, strings.Count(first.Prompt, mark), n.Key)
			require.Equal(w, 1, strings.Count(first.Prompt, "YOU ARE HERE"))
			require.Equal(w, names(row.Branches), offered(first.Prompt), n.Key)
			if n.Route == 0 {
				continue // outside of a fan-out it cannot go on
			}
			w.model.says = append([]string{""}, w.model.says...)
			w.answer(th.ID, "go")
			handler := w.model.asked[1]
			require.Equal(w, 1, strings.Count(handler.Prompt, "YOU ARE HERE"))
			require.Equal(w, 1, strings.Count(handler.Prompt,
				">>> ["+w.program.Tables.Handler.DisplayName+"] <<< YOU ARE HERE"))
			require.Equal(w, []string{w.program.Tables.Routes[n.Route-1].Field},
				offered(handler.Prompt))
			require.Equal(w, allowed, offered(w.model.asked[2].Prompt), n.Key)
		}
	})
}

// choose lets the model choose for any node.
func (w *world) choose(ctx context.Context, call runtime.Call, request runtime.Record) (string,
	error) {
	for _, try := range []turn{
		chooses[routes.OrchestratorRouting], chooses[routes.DiscoveryOrchestratorRouting],
		chooses[routes.PlanningOrchestratorRouting],
		chooses[routes.TicketOrchestratorRouting], chooses[routes.ReviewRouting],
		chooses[routes.MergerRouting],
		chooses[routes.ContextManagerResultRouting], chooses[routes.OrchestratorCollectorRouting],
		chooses[routes.DiscoveryCollectorRouting],
		chooses[routes.PlanningCollectorRouting], chooses[routes.TicketCollectorRouting],
		chooses[routes.DiscoveryAgentDispatchRouting],
		chooses[routes.PlanningAgentDispatchRouting], chooses[routes.TicketAgentDispatchRouting],
		chooses[routes.DiscoveryAgentRouting],
		chooses[routes.PlanningAgentRouting], chooses[routes.TicketAgentRouting],
	}[w.row(call.Node)-1:] {
		return try(ctx, call, request)
	}
	return "", nil
}

func names(branches []runtime.BranchRow) []string {
	var out []string
	for _, b := range branches {
		out = append(out, b.Name)
	}
	return out
}

// offered lists the branches under the routing options of a prompt.
func offered(text string) []string {
	_, text, _ = strings.Cut(text, "### Available routing options")
	var out []string
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "#") {
			break
		}
		if rest, ok := strings.CutPrefix(line, "- **"); ok {
			name, _, _ := strings.Cut(rest, "**")
			out = append(out, name)
		}
	}
	return out
}

// TestRepeatedlyFailingNodeAsksAPerson: a node that fails again and again ends with a question that
// can send the work elsewhere.
func TestRepeatedlyFailingNodeAsksAPerson(t *testing.T) {
	onBoth(t, func(w *world) {
		c := threadtest.NewClock(time.Date(2026, 2, 15, 12, 0, 0, 0, time.UTC))
		w.clock = c
		w.on("orchestrator", w.says("orchestrator", "discoveryOrchestratorRequest"),
			w.stops("orchestrator"))
		w.always["discoveryOrchestrator"] = fails("no tokens left")
		w.open()
		th := w.start("OrchestratorRequest", "goal", "kept")
		for range 2 {
			require.Empty(w, th.Open)
			c.Move(time.Hour)
			require.NoError(w, w.e.RunDue(w.Context()))
			th = w.wait(th.ID)
		}
		i := w.asked(th, thread.KindSystemError)
		require.Len(w, w.calls["discoveryOrchestrator"], 3)
		require.Equal(w, []string{"retry", "edit", "skip", "reroute", "abort"}, choices(i))
		require.Equal(w, []string{"ORCHESTRATOR", "DISCOVERY_ORCHESTRATOR"}, i.Targets)
		_, err := w.e.Answer(w.Context(), th.ID,
			thread.Answer{Value: json.RawMessage(`{"choice":"reroute","target":"MERGER_AGENT"}`)})
		require.Equal(w, runtime.CodeNoRoute, runtime.CodeOf(err))
		th = w.order(th.ID, `{"choice":"reroute","target":"ORCHESTRATOR"}`)
		require.Equal(w, thread.StatusCancelled, th.Status(), "%+v", th.Open)
		got, ok := w.took["orchestrator"][1].(*routes.OrchestratorRequest)
		require.True(w, ok)
		require.Equal(w, "kept", got.Goal)
	})
}

// TestChoicesOfARepeatedlyFailingNode: edit, skip and wrong input.
func TestChoicesOfARepeatedlyFailingNode(t *testing.T) {
	onBoth(t, func(w *world) {
		broken := func(context.Context, runtime.Call, runtime.Record) (string, error) {
			return `{}`, nil
		}
		wrong := func(context.Context, runtime.Call, runtime.Record) (string, error) {
			return "", thread.Permanent(errors.New("cannot"))
		}
		w.on("orchestrator", wrong, broken, w.says("orchestrator", "discoveryOrchestratorRequest"))
		w.on("discoveryOrchestrator", wrong)
		w.open()
		th := w.start("OrchestratorRequest", "goal", "old", "contextId", rootKey)
		require.Contains(w, choices(w.asked(th, thread.KindSystemError)), "retry")
		th = w.order(th.ID, `{"choice":"edit","input":{"goal":7}}`)
		require.Contains(w, w.asked(th, thread.KindSystemError).Text, "/goal")
		th = w.order(th.ID, `{"choice":"edit","input": {"goal": "new", "phase": "p"}}`)
		// no branch was set: it is tried again
		for th.Status() == thread.StatusWaiting && len(th.Open) == 0 {
			require.NoError(w, w.next(th))
			th = w.wait(th.ID)
		}
		w.asked(th, thread.KindSystemError)
		for _, request := range w.took["orchestrator"][1:] {
			got, ok := request.(*routes.OrchestratorRequest)
			require.True(w, ok)
			require.Equal(w, "new", got.Goal)
			require.Equal(w, rootKey, string(got.ContextID), "what is hidden stays")
		}
		th = w.order(th.ID, `{"choice":"skip","value":{"done":true}}`)
		require.Equal(w, thread.StatusIdle, th.Status())
		require.JSONEq(w, `{"done":true}`, string(th.Result))
	})
}

func TestSubscribersMissNothing(t *testing.T) {
	onBoth(t, func(w *world) {
		w.on("orchestrator", w.publishes(w.asks("orchestrator", "HUMAN_REVIEW", "?"),
			event("e1", "", "ORCHESTRATOR", "MERGER_AGENT")))
		w.on("merger", w.asks("merger", "PAUSE", "?"), w.stops("merger"))
		w.open()
		var early []int64
		follow := func(into *[]int64, id string, wait <-chan struct{}) {
			for row, err := range w.e.Subscribe(w.Context(), thread.Filter{Thread: id}, 0) {
				if !assert.NoError(w, err) {
					return
				}
				*into = append(*into, row.Seq)
				if wait != nil {
					<-wait // slow: nothing is read while the work goes on
				}
				if row.Type == thread.EntryOver {
					return
				}
			}
		}
		th := w.start("OrchestratorRequest")
		id, slow := th.ID, make(chan struct{})
		var readers sync.WaitGroup
		readers.Go(func() { follow(&early, id, slow) })
		th = w.answer(th.ID, "go")
		th = w.answer(th.ID, "go")
		close(slow)
		readers.Wait()
		var late []int64
		follow(&late, id, nil)
		want := make([]int64, th.Seq)
		for i := range want {
			want[i] = int64(i) + 1
		}
		require.Equal(w, want, early)
		require.Equal(w, want, late)

		var stored workflow.Event
		for _, row := range w.log(th.ID) {
			if row.Type == thread.EntryReroute && row.State == thread.ReroutePending {
				require.Equal(w, "orchestrator", row.By)
				require.NoError(w, json.Unmarshal(row.Value, &stored))
			}
		}
		require.Equal(w, "orchestrator", stored.RequestedBy)
		require.False(w, stored.Timestamp.IsZero())
		require.True(w, slices.Contains(w.runs, "merger"))
	})
}
