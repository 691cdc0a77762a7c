package workflow_test

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/generated/routes"
	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
)

func TestLoopOfInterruptsEnds(t *testing.T) {
	onBoth(t, func(w *world) {
		w.node("orchestrator").LoopLimit = 4
		w.always["orchestrator"] = chooses[routes.OrchestratorRouting]
		w.open()
		th := w.start("OrchestratorRequest")
		for range 3 {
			w.asked(th, thread.KindAgentQuestion)
			th = w.answer(th.ID, "no")
		}
		i := w.asked(th, thread.KindSystemError)
		var payload struct {
			Code runtime.Code `json:"code"`
		}
		require.NoError(w, json.Unmarshal(i.Payload, &payload))
		require.Equal(w, runtime.CodeLoop, payload.Code)
		require.Contains(w, i.Text, "discoveryOrchestratorRequest or collectorRequest",
			"the way out")
		require.Contains(w, i.Text, "limit is 4")
		var warned []bool
		for _, q := range w.model.asked {
			if q.Name == "OrchestratorRouting" {
				warned = append(warned, strings.Contains(q.Prompt, "Loop warning"))
			}
		}
		require.Equal(w, []bool{false, false, true, true}, warned, "from the second interrupt on")
		require.Contains(w, w.model.last().Prompt,
			"Set discoveryOrchestratorRequest or collectorRequest instead.")

		w.model.says = []string{w.routing("orchestrator", "discoveryOrchestratorRequest")}
		w.on("discoveryOrchestrator", w.stops("discoveryOrchestrator"))
		th = w.order(th.ID, `{"choice":"edit","input":`+w.sample("OrchestratorRequest", "goal",
			"take the way out")+`}`)
		require.Equal(w, thread.StatusCancelled, th.Status(), "%+v", th.Open)
	})
}

// TestLoopOfVisitsEnds: self-routes count, the visits of helpers do not, and another node in
// between ends a row.
func TestLoopOfVisitsEnds(t *testing.T) {
	onBoth(t, func(w *world) {
		w.always["discoveryOrchestrator"] = w.says("discoveryOrchestrator", "orchestratorRequest")
		w.open()
		th := w.start("DiscoveryOrchestratorRequest")
		require.Contains(w, w.asked(th, thread.KindSystemError).Text, "entered 6 times in a row")
		require.Len(w, w.runs, 5)

		w = w.again() // with a helper in between
		w.always["discoveryOrchestrator"] = w.says("discoveryOrchestrator", "contextManagerRequest")
		w.always["contextManager"] = w.says("contextManager", "discoveryOrchestratorRequest")
		w.open()
		th = w.start("DiscoveryOrchestratorRequest")
		require.Contains(w, w.asked(th, thread.KindSystemError).Text, "entered 6 times in a row")
		require.Len(w, w.runs, 10)

		w = w.again()
		w.node("orchestrator").LoopLimit = 2
		w.on("orchestrator", w.asks("orchestrator", "PAUSE", "1"),
			w.says("orchestrator", "collectorRequest"),
			w.asks("orchestrator", "PAUSE", "2"), w.stops("orchestrator"))
		w.on("orchestratorCollector", w.says("orchestratorCollector", "orchestratorRequest"))
		w.open()
		th = w.answer(w.start("OrchestratorRequest").ID, "go")
		th = w.answer(th.ID, "go")
		require.Equal(w, thread.StatusCancelled, th.Status(), "%+v", th.Open)
	})
}

// TestOneChildOfAFanOutAsks: the model of the leaves does what their prompts say. That of the
// second asks until it has read an answer. What each leaf did before is done once.
func TestOneChildOfAFanOutAsks(t *testing.T) {
	onBoth(t, func(w *world) {
		var mu sync.Mutex
		effects, keys := map[string]int{}, map[string]bool{}
		w.model.reply = func(_ context.Context, q question) (string, error) {
			mu.Lock()
			keys[q.Key] = true
			mu.Unlock()
			focus := regexp.MustCompile(`focus-\w+`).FindString(q.Prompt)
			if focus == "focus-two" && !strings.Contains(q.Prompt, "## The answer") {
				return w.routing("discoveryAgent", "interruptRequest", "type", "HUMAN_REVIEW"), nil
			}
			return w.routing("discoveryAgent", "agentResult", "output", focus), nil
		}
		w.always["discoveryAgent"] = func(ctx context.Context, call runtime.Call,
			request runtime.Record) (string, error) {
			agent, ok := request.(*routes.DiscoveryAgentRequest)
			require.True(w, ok)
			_, err := thread.Once(ctx, "explore", func(context.Context, string) (string, error) {
				mu.Lock()
				defer mu.Unlock()
				effects[agent.SubdomainFocus]++
				return "", nil
			})
			if err != nil {
				return "", err
			}
			return chooses[routes.DiscoveryAgentRouting](ctx, call, request)
		}
		w.on("discoveryDispatch", w.stops("discoveryDispatch"))
		w.open()
		var requests []json.RawMessage
		for _, focus := range []string{"focus-one", "focus-two", "focus-three"} {
			requests = append(requests,
				json.RawMessage(w.sample("DiscoveryAgentRequest", "subdomainFocus", focus)))
		}
		th := w.start("DiscoveryAgentRequests", "requests", requests)
		w.asked(th, thread.KindAgentQuestion)
		require.Equal(w, []bool{true, false, true}, done(th.Root().Children), "the others finish")
		th = w.answer(th.ID, "go")
		require.Equal(w, thread.StatusCancelled, th.Status(), "%+v", th.Open)
		var got routes.DiscoveryAgentResults
		require.NoError(w, runtime.Unmarshal(w.calls["discoveryDispatch"][0].Results, &got))
		var order []string
		for _, r := range got.Result {
			order = append(order, r.Output)
		}
		require.Equal(w, []string{"focus-one", "focus-two", "focus-three"}, order)
		require.Equal(w, map[string]int{"focus-one": 1, "focus-two": 1, "focus-three": 1}, effects)
		require.Len(w, w.calls["discoveryAgent"], 4)
		require.Len(w, keys, 4, "the model is asked anew after the answer")
	})
}

func done(children []thread.Child) []bool {
	var out []bool
	for _, c := range children {
		out = append(out, c.Done)
	}
	return out
}

func TestWholeWorkflowWithAnInterruptOfEachNode(t *testing.T) {
	onBoth(t, func(w *world) {
		asks := func(node string) turn {
			return w.asks(node, "HUMAN_REVIEW", "may "+node+" go on?")
		}
		says := func(node string, branches ...string) {
			w.on(node, asks(node))
			for _, b := range branches {
				w.on(node, w.says(node, b))
			}
		}
		advance := func(node string) turn {
			return w.says(node, "collectorResult", "collectorDecision",
				map[string]string{"decisionType": "ADVANCE_PHASE", "rationale": "",
					"requestedPhase": ""})
		}
		says("orchestrator", "discoveryOrchestratorRequest")
		for phase, collect := range map[string]string{"discovery": "collectorRequest",
			"planning": "planningCollectorRequest", "ticket": "ticketCollectorRequest"} {
			agent := w.program.Tables.Requests[w.node(phase+"Agent").Request-1].Name
			one := json.RawMessage(w.sample(agent))
			w.on(phase+"Orchestrator", asks(phase+"Orchestrator"),
				w.says(phase+"Orchestrator", "agentRequests", "requests",
					[]json.RawMessage{one, one}))
			w.always[phase+"Agent"] = w.says(phase+"Agent", "agentResult")
			says(phase+"Dispatch", collect)
		}
		says("discoveryCollector", "reviewRequest", "mergerRequest", "contextManagerRequest")
		says("review", "discoveryCollectorRequest")
		says("merger", "discoveryCollectorRequest")
		says("contextManager", "discoveryCollectorRequest")
		w.on("discoveryCollector", advance("discoveryCollector"))
		for _, collector := range []string{"planningCollector", "ticketCollector",
			"orchestratorCollector"} {
			w.on(collector, asks(collector), advance(collector))
		}
		w.open()
		th := w.start("OrchestratorRequest")
		for n := 0; th.Status() == thread.StatusWaiting; n++ {
			i := w.asked(th, thread.KindAgentQuestion)
			th = w.answer(th.ID, fmt.Sprintf("answer %d for %s", n, i.Text))
		}
		require.Equal(w, thread.StatusDone, th.Status(), "%+v", th.Failure)
		require.Contains(w, string(th.Result), `{"OrchestratorCollectorResult":`)
		for node, left := range w.turns {
			require.Empty(w, left, node)
		}
		for _, leaf := range []string{"discoveryAgent", "planningAgent", "ticketAgent"} {
			require.Len(w, w.calls[leaf], 2, "no sub-agent runs twice")
		}
		asked, err := w.e.Inbox(w.Context(), thread.InterruptQuery{Thread: th.ID})
		require.NoError(w, err)
		require.Len(w, asked, 14)
		nodes := map[string]bool{}
		for _, i := range asked {
			require.Equal(w, thread.InterruptAnswered, i.State)
			require.Contains(w, string(i.Answer), i.Text)
			nodes[i.Name] = true
		}
		require.Len(w, nodes, 14, "one at each of the fourteen nodes")
		require.Equal(w, 11, w.model.count(), "a dispatch goes on with its stored requests")
	})
}
