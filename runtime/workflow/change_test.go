package workflow_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/generated/routes"
	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/agent"
	"github.com/routegen/routegen/runtime/llm"
	"github.com/routegen/routegen/runtime/thread"
	"github.com/routegen/routegen/runtime/workflow"
)

// change pauses a thread and answers the pause with a change of the work.
func (w *world) change(id, text string) *thread.Thread {
	w.Helper()
	_, err := w.e.Escape(w.Context(), id, thread.EscapeSafe, "ann", "")
	require.NoError(w, err)
	w.asked(w.wait(id), thread.KindUserEscape)
	order, err := runtime.Encode(map[string]string{"choice": "modify", "text": text})
	require.NoError(w, err)
	return w.order(id, string(order))
}

// told lists which of the model's prompts had a text, by the names of their schemas.
func (m *model) told(text string) []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []string
	for _, q := range m.asked {
		if strings.Contains(q.Prompt, text) {
			out = append(out, q.Name)
		}
	}
	return out
}

// TestChangeReachesTheNextPrompt: what a person changes at a pause is told to the model of the node
// that goes on, and to no later one.
func TestChangeReachesTheNextPrompt(t *testing.T) {
	onBoth(t, func(w *world) {
		w.on("orchestrator", w.asks("orchestrator", "HUMAN_REVIEW", "which way?"),
			chooses[routes.OrchestratorRouting])
		w.model.says = []string{"", w.routing("orchestrator", "discoveryOrchestratorRequest"), ""}
		w.on("discoveryOrchestrator", chooses[routes.DiscoveryOrchestratorRouting])
		w.open()
		th := w.change(w.start("OrchestratorRequest").ID, "MOD-TEXT look at the gateway")
		require.Equal(w, "which way?", w.asked(th, thread.KindAgentQuestion).Text)
		w.answer(th.ID, "go")
		require.Equal(w, 3, w.model.count())
		require.Equal(w, []string{w.model.asked[0].Name, "OrchestratorRouting"},
			w.model.told("MOD-TEXT look at the gateway"))
		require.Equal(w, []string{"orchestrator", "orchestrator", "discoveryOrchestrator"}, w.runs)
	})
}

// TestChangeWaitsForAPrompt: nodes that ask no model do not use the change up.
func TestChangeWaitsForAPrompt(t *testing.T) {
	onBoth(t, func(w *world) {
		w.on("orchestrator", w.asks("orchestrator", "HUMAN_REVIEW", "which way?"),
			w.says("orchestrator", "discoveryOrchestratorRequest"))
		w.on("discoveryOrchestrator", w.says("discoveryOrchestrator", "collectorRequest"))
		w.on("discoveryCollector", chooses[routes.DiscoveryCollectorRouting])
		w.open()
		th := w.change(w.start("OrchestratorRequest").ID, "MOD-TEXT")
		w.answer(th.ID, "go")
		require.Equal(w, []string{"orchestrator", "orchestrator", "discoveryOrchestrator",
			"discoveryCollector"}, w.runs)
		require.Equal(w, "DiscoveryCollectorRouting", w.model.last().Name)
		require.Equal(w, []string{w.model.asked[0].Name, "DiscoveryCollectorRouting"},
			w.model.told("MOD-TEXT"))
	})
}

// TestChangeOutlivesAFailedRun: it is told again by the run that takes the place of one that
// failed, and once a model was told, not by the node after it, also when another engine goes on.
func TestChangeOutlivesAFailedRun(t *testing.T) {
	onBoth(t, func(w *world) {
		w.program.Tables.Kinds = slices.Clone(w.program.Tables.Kinds)
		for i := range w.program.Tables.Kinds {
			w.program.Tables.Kinds[i].Retry = nil
		}
		broken := true
		w.model.while = func(q question) error {
			if q.Name == "OrchestratorRouting" && broken {
				broken = false
				return errors.New("broken")
			}
			return nil
		}
		w.model.says = []string{"", "", w.routing("orchestrator", "discoveryOrchestratorRequest"),
			""}
		w.on("orchestrator", w.asks("orchestrator", "HUMAN_REVIEW", "which way?"))
		w.always["orchestrator"] = func(ctx context.Context, call runtime.Call,
			request runtime.Record) (string, error) {
			out, err := chooses[routes.OrchestratorRouting](ctx, call, request)
			if err == nil {
				_, err = thread.Ask[string](ctx, "sure",
					thread.Question{Text: "sure?", Plain: thread.PlainText})
			}
			return out, err
		}
		w.on("discoveryOrchestrator", chooses[routes.DiscoveryOrchestratorRouting])
		w.open()
		th := w.change(w.start("OrchestratorRequest").ID, "MOD-TEXT")
		th = w.answer(th.ID, "go")
		w.asked(th, thread.KindSystemError)
		th = w.order(th.ID, `"retry"`)
		require.Equal(w, "sure?", w.asked(th, thread.KindAgentQuestion).Text)
		require.Equal(w, []string{"OrchestratorRouting", "OrchestratorRouting"},
			w.model.told("MOD-TEXT")[1:])
		require.NoError(w, w.e.Close(w.Context()))
		w.open()
		w.answer(th.ID, "yes")
		require.Equal(w, "discoveryOrchestrator", w.runs[len(w.runs)-1])
		require.Len(w, w.model.told("MOD-TEXT"), 3, "the stored call had told it")
	})
}

// TestAWorkflowWithoutAModelTakesNoChange: there would be no prompt to put it into.
func TestAWorkflowWithoutAModelTakesNoChange(t *testing.T) {
	onBoth(t, func(w *world) {
		w.cfg = workflow.Config{}
		for i := range w.program.Tables.Nodes {
			w.program.Tables.Nodes[i].Tools = nil
		}
		w.on("orchestrator", w.asks("orchestrator", "HUMAN_REVIEW", "which way?"))
		w.open()
		th := w.start("OrchestratorRequest")
		_, err := w.e.Escape(w.Context(), th.ID, thread.EscapeSafe, "ann", "")
		require.NoError(w, err)
		i := w.asked(w.wait(th.ID), thread.KindUserEscape)
		require.False(w, slices.ContainsFunc(i.Choices, func(c thread.Choice) bool {
			return c.Label == "modify"
		}))
		_, err = w.e.Answer(w.Context(), th.ID,
			thread.Answer{Value: json.RawMessage(`{"choice":"modify","text":"x"}`), By: "ann"})
		require.Equal(w, runtime.CodeInvalid, runtime.CodeOf(err))
	})
}

// talker is a model that leads a talk.
type talker func(r *llm.Request) llm.Response

func (f talker) Generate(_ context.Context, r llm.Request) (llm.Response, error) {
	if err := r.Check(); err != nil {
		return llm.Response{}, err
	}
	return f(&r), nil
}

// lastTurn is what the user of a request says last.
func lastTurn(r *llm.Request) string {
	turns := r.Turns()
	return turns[len(turns)-1].Text
}

// TestTalkReadsTheEventBeforeEachRound: an event that comes while a tool runs is in the next prompt
// of the talk. The model does what that prompt says, and knows nothing else.
func TestTalkReadsTheEventBeforeEachRound(t *testing.T) {
	onBoth(t, func(w *world) {
		inTool, goOn := make(chan string), make(chan struct{})
		var turns []string
		model := talker(func(r *llm.Request) llm.Response {
			turns = append(turns, lastTurn(r))
			switch kind, reason := ordered(lastTurn(r)); {
			case kind != "":
				return llm.Response{Text: kind + ": " + reason}
			case len(turns) == 1:
				return llm.Response{Calls: []llm.ToolCall{{ID: "1", Name: "look",
					Args: json.RawMessage(`{}`)}}}
			default:
				return llm.Response{Text: "looked"}
			}
		})
		w.on("orchestrator", func(ctx context.Context, call runtime.Call, _ runtime.Record) (string,
			error) {
			look := llm.Tool{Name: "look",
				Call: func(context.Context, json.RawMessage) (json.RawMessage, error) {
					inTool <- call.Frame
					<-goOn
					return json.RawMessage(`"nothing"`), nil
				}}
			said, err := workflow.RunTalk(ctx, agent.Talk{Model: model, Text: "look around",
				Tools: []llm.Tool{look}})
			if err != nil {
				return "", err
			}
			if kind, reason, asks := strings.Cut(said.Reply, ": "); asks {
				return w.routing("orchestrator", "interruptRequest", "type", kind, "reason",
					reason), nil
			}
			return w.routing("orchestrator", "discoveryOrchestratorRequest"), nil
		})
		w.on("merger", w.stops("merger"))
		w.open()
		w.launch("talk", "OrchestratorRequest")
		_, err := w.m.Reroute(w.Context(), w.e, "talk",
			event("e1", <-inTool, "ORCHESTRATOR", "MERGER_AGENT"))
		require.NoError(w, err)
		close(goOn)
		th := w.wait("talk")
		require.Equal(w, "reason of e1", w.asked(th, thread.KindAgentQuestion).Text)
		require.Len(w, turns, 2)
		assert.Equal(w, "look around", turns[0])
		w.answer("talk", "go")
		require.Equal(w, []string{"orchestrator", "merger"}, w.runs)
	})
}

// TestTalkReadsTheChange: the rounds after a pause know what a person has changed.
func TestTalkReadsTheChange(t *testing.T) {
	onBoth(t, func(w *world) {
		var turns []string
		model := talker(func(r *llm.Request) llm.Response {
			if turns = append(turns, lastTurn(r)); len(turns) == 1 {
				return llm.Response{Calls: []llm.ToolCall{{ID: "1", Name: "request_clarification",
					Args: json.RawMessage(`{"questions":["where?"]}`)}}}
			}
			return llm.Response{Text: "looked"}
		})
		w.node("orchestrator").Tools = []runtime.Tool{{Name: "request_clarification"}}
		w.on("discoveryOrchestrator", w.stops("discoveryOrchestrator"))
		w.always["orchestrator"] = func(ctx context.Context, _ runtime.Call, _ runtime.Record) (
			string, error) {
			_, err := workflow.RunTalk(ctx, agent.Talk{Model: model, Text: "look around"})
			if err != nil {
				return "", err
			}
			return w.routing("orchestrator", "discoveryOrchestratorRequest"), nil
		}
		w.open()
		th := w.change(w.start("OrchestratorRequest").ID, "MOD-TEXT")
		require.Contains(w, w.asked(th, thread.KindAgentQuestion).Text, "where?")
		_, err := w.e.Answer(w.Context(), th.ID, thread.Answer{Text: "here", By: "ann"})
		require.NoError(w, err)
		w.wait(th.ID)
		require.Len(w, turns, 2)
		require.Contains(w, turns[1], "MOD-TEXT")
		require.Equal(w, []string{"orchestrator", "orchestrator", "orchestrator",
			"discoveryOrchestrator"}, w.runs)
	})
}
