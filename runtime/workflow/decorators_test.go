package workflow_test

import (
	"context"
	"encoding/json"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/generated/routes"
	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
	"github.com/routegen/routegen/runtime/workflow"
)

const secret = "/secret/worktree"

// hiddenIn is an orchestrator request with every hidden field set.
func hiddenIn() *routes.OrchestratorRequest {
	curation := "curated by hand"
	return &routes.OrchestratorRequest{
		ContextID: rootKey,
		WorktreeContext: &routes.WorktreeSandboxContext{
			MainWorktree: routes.MainWorktreeContext{WorktreePath: secret}},
		Goal: "visible goal", Phase: "DISCOVERY",
		DiscoveryCuration: &routes.DiscoveryCollectorContext{SelectionRationale: curation},
		PlanningCuration:  &routes.PlanningCollectorContext{SelectionRationale: curation},
		TicketCuration:    &routes.TicketCollectorContext{SelectionRationale: curation},
		PreviousContext:   &routes.OrchestratorPreviousContext{PreviousContextID: rootKey},
	}
}

// begin starts a thread with a request.
func (w *world) begin(request runtime.Record) *thread.Thread {
	w.Helper()
	b, err := workflow.Begin(request)
	require.NoError(w, err)
	th, err := w.e.Start(w.Context(), b)
	require.NoError(w, err)
	return w.wait(th.ID)
}

// TestHiddenFieldsAreKept: the model sees none of them, and they are all there afterwards.
func TestHiddenFieldsAreKept(t *testing.T) {
	onBoth(t, func(w *world) {
		w.on("orchestrator", chooses[routes.OrchestratorRouting], w.stops("orchestrator"))
		w.model.says = []string{"", w.routeTo("orchestrator", "goal", "mended goal")}
		w.open()
		th := w.begin(hiddenIn())
		require.NotContains(w, string(w.asked(th, thread.KindAgentQuestion).Payload), secret)
		w.answer(th.ID, "go")
		require.Equal(w, 2, w.model.count())
		for _, q := range w.model.asked {
			for _, hidden := range []string{secret, "worktreeContext", "curated by hand",
				"contextId", rootKey, "previousContext"} {
				//nolint:testifylint // the prompt is too long to be printed
				require.False(w, strings.Contains(q.Prompt+q.Schema, hidden), hidden)
			}
		}
		got, ok := w.took["orchestrator"][1].(*routes.OrchestratorRequest)
		require.True(w, ok)
		w.kept(got, "mended goal", "go")
		require.Regexp(w, `^`+rootKey+`/[0-9A-HJKMNP-TV-Z]{26}$`, string(got.ContextID),
			"a new child")
	})
}

// kept requires that all but the key is as it was in [hiddenIn].
func (w *world) kept(got *routes.OrchestratorRequest, goal, feedback string) {
	w.Helper()
	want := hiddenIn()
	want.Goal, want.Feedback, want.ContextID = goal, feedback, got.ContextID
	want.Phase = got.Phase
	one, err := runtime.Encode(want)
	require.NoError(w, err)
	two, err := runtime.Encode(got)
	require.NoError(w, err)
	require.JSONEq(w, string(one), string(two))
}

// TestRerouteKeepsHiddenFields: the fields are those of the target's own last request, not of the
// node that was interrupted.
func TestRerouteKeepsHiddenFields(t *testing.T) {
	onBoth(t, func(w *world) {
		w.on("orchestrator", w.says("orchestrator", "discoveryOrchestratorRequest"),
			w.stops("orchestrator"))
		w.on("discoveryOrchestrator",
			w.publishes(w.asks("discoveryOrchestrator", "HUMAN_REVIEW", "?"),
				event("e1", "", "DISCOVERY_ORCHESTRATOR", "ORCHESTRATOR")))
		w.model.says = []string{w.routeTo("orchestrator", "goal", "mended goal")}
		w.open()
		w.answer(w.begin(hiddenIn()).ID, "go")
		got, ok := w.took["orchestrator"][1].(*routes.OrchestratorRequest)
		require.True(w, ok)
		w.kept(got, "mended goal", "go")
	})
}

// TestHiddenFieldSetByAModelIsRefused: see also TestInvalidReplyGoesBackToTheModelOnce.
func TestHiddenFieldSetByAModelIsRefused(t *testing.T) {
	onBoth(t, func(w *world) {
		bad := w.routeTo("orchestrator", "worktreeContext",
			map[string]any{"mainWorktree": map[string]any{"worktreePath": "/evil"}})
		w.on("orchestrator", w.asks("orchestrator", "HUMAN_REVIEW", "?"), w.stops("orchestrator"))
		w.model.says = []string{bad, bad}
		w.open()
		th := w.answer(w.begin(hiddenIn()).ID, "go")
		require.Contains(w, w.asked(th, thread.KindSystemError).Text,
			"/orchestratorRequest/worktreeContext")
		require.Contains(w, w.model.last().Prompt, "/orchestratorRequest/worktreeContext")
	})
}

// TestDecoratorsSetHiddenFields: Prepare runs before every node and before the handler, once for an
// interrupt; Finish after them, in their order; what they return is stored.
func TestDecoratorsSetHiddenFields(t *testing.T) {
	onBoth(t, func(w *world) {
		var order []string
		note := func(what string, v workflow.View, name string) {
			if v.Handler {
				what += " handler"
			}
			order = append(order, what+" "+v.Node+" "+name)
		}
		for _, which := range []string{"first", "second"} {
			w.cfg.Prepare = append(w.cfg.Prepare,
				func(_ context.Context, v workflow.View, request runtime.Record) (runtime.Record,
					error) {
					note("prepare "+which, v, request.Shape().Name)
					switch r := request.(type) {
					case *routes.DiscoveryOrchestratorRequest:
						// a node that never ran has its hidden fields from here
						r.ContextID = rootKey
					case *routes.OrchestratorInterruptRequest:
						r.ContextID = rootKey
					}
					return request, nil
				})
			w.cfg.Finish = append(w.cfg.Finish,
				func(_ context.Context, v workflow.View, routing runtime.Routing) (runtime.Routing,
					error) {
					note("finish "+which, v, routing.Shape().Name)
					return routing, nil
				})
		}
		w.on("orchestrator", w.publishes(w.asks("orchestrator", "HUMAN_REVIEW", "?"),
			event("e1", "", "ORCHESTRATOR", "DISCOVERY_ORCHESTRATOR")))
		w.on("discoveryOrchestrator", w.stops("discoveryOrchestrator"))
		w.open()
		th := w.begin(hiddenIn())
		w.answer(th.ID, "go")
		require.Equal(w, []string{
			"prepare first orchestrator OrchestratorRequest",
			"prepare second orchestrator OrchestratorRequest",
			"finish first orchestrator OrchestratorRouting",
			"finish second orchestrator OrchestratorRouting",
			"prepare first handler orchestrator OrchestratorInterruptRequest",
			"prepare second handler orchestrator OrchestratorInterruptRequest",
			"finish first handler discoveryOrchestrator InterruptRouting",
			"finish second handler discoveryOrchestrator InterruptRouting",
			"prepare first discoveryOrchestrator DiscoveryOrchestratorRequest",
			"prepare second discoveryOrchestrator DiscoveryOrchestratorRequest",
			"finish first discoveryOrchestrator DiscoveryOrchestratorRouting",
			"finish second discoveryOrchestrator DiscoveryOrchestratorRouting",
		}, order[:12])
		got, ok := w.took["discoveryOrchestrator"][0].(*routes.DiscoveryOrchestratorRequest)
		require.True(w, ok)
		require.Equal(w, rootKey, string(got.ContextID))

		w = w.again()
		w.cfg.Prepare = append(w.cfg.Prepare, func(context.Context, workflow.View, runtime.Record) (
			runtime.Record, error) {
			return hiddenIn(), nil
		})
		w.on("planningOrchestrator")
		w.open()
		require.Contains(w, w.asked(w.start("PlanningOrchestratorRequest"),
			thread.KindSystemError).Text, "another type")
	})
}

// TestContextManagerReturn: a helper knows who waits for it, adapts the request, and hands the work
// back.
func TestContextManagerReturn(t *testing.T) {
	onBoth(t, func(w *world) {
		w.on("orchestrator", w.says("orchestrator", "contextManagerRequest", "reason",
			"what did we decide?"), w.stops("orchestrator"))
		w.program.Adapt = func(ctx context.Context, _ runtime.Call, request runtime.Record) (
			runtime.Record, error) {
			asked, ok := request.(*routes.ContextManagerRoutingRequest)
			require.True(w, ok)
			out := &routes.ContextManagerRequest{Type: asked.Type, Reason: asked.Reason}
			if waiting, ok := workflow.Before(ctx).(*routes.OrchestratorRequest); ok {
				out.ReturnToOrchestrator, out.Goal = waiting, waiting.Goal
			}
			return out, nil
		}
		w.on("contextManager", w.says("contextManager", "orchestratorRequest"))
		w.open()
		th := w.begin(hiddenIn())
		require.Equal(w, thread.StatusCancelled, th.Status(), "%+v", th.Open)
		require.Equal(w, []string{"orchestrator", "contextManager", "orchestrator"}, w.runs)
		got, ok := w.took["contextManager"][0].(*routes.ContextManagerRequest)
		require.True(w, ok)
		require.Equal(w, "what did we decide?", got.Reason)
		require.Equal(w, "visible goal", got.ReturnToOrchestrator.Goal)
		require.Equal(w, rootKey, string(got.ReturnToOrchestrator.ContextID))
		require.Nil(w, workflow.Before(w.Context()))
		require.Nil(w, workflow.Lost(w.Context()))
	})
}

// TestEventIsTheContracts: the example of the contract goes through unchanged.
func TestEventIsTheContracts(t *testing.T) {
	t.Parallel()
	const example = `{
  "eventId": "uuid",
  "timestamp": "2026-02-15T12:00:00Z",
  "nodeId": "target-node-id",
  "sourceAgentType": "ORCHESTRATOR",
  "rerouteToAgentType": "DISCOVERY_ORCHESTRATOR",
  "interruptType": "HUMAN_REVIEW",
  "reason": "Need clarification on discovery scope",
  "choices": [
    { "label": "Expand scope", "value": "expand", "description": "Include all modules" },
    { "label": "Keep narrow", "value": "narrow", "description": "Only core modules" }
  ],
  "confirmationItems": [],
  "contextForDecision": "Discovery found 15 modules but only 3 were specified in the goal."
}`
	var e workflow.Event
	d := json.NewDecoder(strings.NewReader(example))
	d.DisallowUnknownFields()
	require.NoError(t, d.Decode(&e))
	data, err := json.MarshalIndent(e, "", "  ")
	require.NoError(t, err)
	flat := strings.NewReplacer("{ ", "{", " }", "}", "\n      ", "", "\n    }", "}", ",\n", ", ")
	require.Equal(t, strings.Join(strings.Fields(flat.Replace(example)), " "),
		strings.Join(strings.Fields(flat.Replace(string(data))), " "))
}

// TestPackageNamesNoNode: nothing in this package names a node, a type or a field of the shipped
// system; adding a node adds no line here.
func TestPackageNamesNoNode(t *testing.T) {
	t.Parallel()
	tables := routes.New(routes.UnimplementedHandlers{}).Tables
	var words []string
	for i := range tables.Nodes {
		words = append(words, tables.Nodes[i].Key, tables.Nodes[i].AgentType)
	}
	for i := range tables.Requests {
		words = append(words, tables.Requests[i].Name)
	}
	for i := range tables.Interrupts {
		words = append(words, tables.Interrupts[i].Name)
	}
	for i := range tables.Routes {
		words = append(words, tables.Routes[i].Field, tables.Routes[i].Tag)
	}
	count := func(text string) (found []string) {
		for literal := range strings.SplitSeq(text, `"`) {
			for _, word := range words {
				if literal == word {
					found = append(found, word)
				}
			}
		}
		return found
	}
	require.Equal(t, []string{"orchestrator"}, count(`if key == "orchestrator" {`),
		"the control that loses")
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	read := 0
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		read++
		data, err := os.ReadFile(name)
		require.NoError(t, err)
		require.Empty(t, count(string(data)), name)
		file, err := parser.ParseFile(token.NewFileSet(), name, data, parser.ImportsOnly)
		require.NoError(t, err)
		for _, imported := range file.Imports {
			require.NotContains(t, imported.Path.Value, "/generated/", name)
		}
	}
	require.Greater(t, read, 5)
}
