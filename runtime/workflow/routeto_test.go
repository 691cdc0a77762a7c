package workflow_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/generated/routes"
	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
	"github.com/routegen/routegen/runtime/workflow"
)

// sendTo answers the one open question of a thread with a place and a note to it.
func (w *world) sendTo(id, target, note string) *thread.Thread {
	w.Helper()
	_, err := w.e.Answer(w.Context(), id, thread.Answer{RouteTo: target, Text: note, By: "bob"})
	require.NoError(w, err)
	return w.wait(id)
}

// TestPersonSendsToEveryNodeWithoutAModel: what the request of the place lacks, the person gives in
// a form.
func TestPersonSendsToEveryNodeWithoutAModel(t *testing.T) {
	onBoth(t, func(w *world) {
		forms := 0
		for _, route := range w.program.Tables.Routes {
			w := w.again()
			w.cfg = workflow.Config{}
			n := w.program.Tables.Nodes[route.Node-1]
			w.on("orchestrator", w.asks("orchestrator", "HUMAN_REVIEW", "which way?"))
			w.on(n.Key, w.stops(n.Key))
			w.always["discoveryAgent"], w.always["planningAgent"], w.always["ticketAgent"] =
				w.says("discoveryAgent", "agentResult"), w.says("planningAgent", "agentResult"),
				w.says("ticketAgent", "agentResult")
			w.open()
			th := w.start("OrchestratorRequest", "goal", "the goal of all")
			th = w.sendTo(th.ID, route.AgentType, "look at the gateway")
			if th.Status() == thread.StatusWaiting {
				forms++
				i := w.asked(th, thread.KindAgentQuestion)
				require.Empty(w, i.Targets)
				var schema, defs map[string]any
				require.NoError(w, json.Unmarshal(i.Schema, &schema))
				defs, _ = schema["$defs"].(map[string]any)
				require.NotContains(w, schema["properties"], "goal", "that is known")
				_, err := w.e.Answer(w.Context(), th.ID,
					thread.Answer{Value: json.RawMessage(`{"nonsense":1}`), By: "bob"})
				require.Equal(w, runtime.CodeInvalid, runtime.CodeOf(err))
				filled, err := runtime.Encode(smallest(schema, defs))
				require.NoError(w, err)
				_, err = w.e.Answer(w.Context(), th.ID, thread.Answer{Value: filled, By: "bob"})
				require.NoError(w, err)
				th = w.wait(th.ID)
			}
			require.Equal(w, thread.StatusCancelled, th.Status(), "%s %+v", n.Key, th.Open)
			require.Equal(w, n.Key, w.runs[len(w.runs)-1])
			answer := w.calls[n.Key][len(w.calls[n.Key])-1].Answer
			require.JSONEq(w, `{"route_to":"`+route.AgentType+`","note":"look at the gateway"}`,
				string(answer))
		}
		require.Len(w, w.program.Tables.Routes, 14)
		require.NotZero(w, forms)
	})
}

// TestNoteReachesThePlaceItIsSentTo: the request of the place has it, and the prompt of its model.
func TestNoteReachesThePlaceItIsSentTo(t *testing.T) {
	onBoth(t, func(w *world) {
		w.on("orchestrator", w.asks("orchestrator", "HUMAN_REVIEW", "which way?"))
		w.on("merger", chooses[routes.MergerRouting])
		w.open()
		th := w.start("OrchestratorRequest")
		_, err := w.e.Answer(w.Context(), th.ID,
			thread.Answer{RouteTo: "MERGER_AGENT", Value: json.RawMessage(`1`), By: "bob"})
		require.Equal(w, runtime.CodeInvalid, runtime.CodeOf(err),
			"a value is an answer of its own")
		a := thread.Answer{Interrupt: th.Open[0].ID, RouteTo: "MERGER_AGENT", Text: "NOTE-TEXT",
			By: "bob"}
		_, err = w.e.Answer(w.Context(), th.ID, a)
		require.NoError(w, err)
		th = w.wait(th.ID)
		again, err := w.e.Answer(w.Context(), th.ID, a)
		require.NoError(w, err, "the same answer is the same answer")
		assert.JSONEq(w, `"NOTE-TEXT"`, string(again.Answer))
		assert.Equal(w, "MERGER_AGENT", again.RouteTo)
		a.Text = "another"
		_, err = w.e.Answer(w.Context(), th.ID, a)
		require.Equal(w, runtime.CodeAlreadyAnswered, runtime.CodeOf(err))
		require.Len(w, w.model.told("NOTE-TEXT"), 2, "the handler's model, and that of the place")

		w = w.again() // the node names a field for what a person says
		w.cfg = workflow.Config{}
		w.on("merger", w.asks("merger", "HUMAN_REVIEW", "which way?"))
		w.on("orchestrator", w.stops("orchestrator"))
		w.open()
		th = w.sendTo(w.start("MergerRequest").ID, "ORCHESTRATOR", "NOTE-TEXT")
		if th.Status() == thread.StatusWaiting {
			_, err = w.e.Answer(w.Context(), th.ID,
				thread.Answer{Value: json.RawMessage(`{"goal":"g","phase":"p"}`), By: "bob"})
			require.NoError(w, err)
			w.wait(th.ID)
		}
		got, ok := w.took["orchestrator"][0].(*routes.OrchestratorRequest)
		require.True(w, ok)
		require.Equal(w, "NOTE-TEXT", got.Feedback)
		require.Equal(w, "g", got.Goal)
	})
}
