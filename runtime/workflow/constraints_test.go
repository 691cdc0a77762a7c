package workflow_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/generated/routes"
	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
	"github.com/routegen/routegen/runtime/workflow"
)

// A record that breaks a pattern of its own fails the node that made it, and the repaired handler
// goes on: the node that would read it never meets it.
func TestRecordThatBreaksItsConstraintsIsRefusedWhereItIsReturned(t *testing.T) {
	onBoth(t, func(w *world) {
		one := json.RawMessage(w.sample("DiscoveryAgentRequest"))
		w.on("orchestrator", w.says("orchestrator", "discoveryOrchestratorRequest"))
		w.on("discoveryOrchestrator", w.says("discoveryOrchestrator", "agentRequests", "requests",
			[]json.RawMessage{one}))
		w.always["discoveryAgent"] = w.says("discoveryAgent", "agentResult")
		w.on("discoveryDispatch", w.stops("discoveryDispatch"))
		broken, invoke := true, w.program.Invoke
		w.program.Invoke = func(ctx context.Context, call runtime.Call, request runtime.Record) (
			runtime.Routing, error) {
			routing, err := invoke(ctx, call, request)
			if r, ok := routing.(*routes.DiscoveryAgentRouting); ok && broken {
				r.AgentResult.Report.ResultID = ""
			}
			return routing, err
		}
		w.open()
		th := w.start("OrchestratorRequest")
		i := w.asked(th, thread.KindSystemError)
		require.Equal(w, "discoveryAgent", i.Node)
		require.Contains(w, i.Text, "resultId")
		require.Contains(w, choices(i), "retry")
		broken = false
		w.order(th.ID, `"retry"`)
		require.Equal(w, []string{"discoveryAgent", "discoveryAgent", "discoveryDispatch"},
			w.runs[2:])
	})
}

func TestRaiseRefusesARequestThatBreaksItsConstraints(t *testing.T) {
	onBoth(t, func(w *world) {
		w.on("orchestrator", func(context.Context, runtime.Call, runtime.Record) (string, error) {
			return "", workflow.Raise(&routes.OrchestratorInterruptRequest{})
		})
		w.open()
		i := w.asked(w.start("OrchestratorRequest"), thread.KindSystemError)
		require.Equal(w, "orchestrator", i.Step)
		require.Contains(w, choices(i), "retry")
	})
}
