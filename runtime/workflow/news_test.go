package workflow_test

import (
	"context"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/generated/routes"
	"github.com/routegen/routegen/runtime/thread"
	"github.com/routegen/routegen/runtime/workflow"
)

var (
	orderToInterrupt = regexp.MustCompile(`raise an interrupt request of type (\w+) next`)
	reasonGiven      = regexp.MustCompile(`(?m)^Reason: (.*)$`)
)

// ordered is what an obedient agent does with a prompt: it interrupts when it is told to, with the
// type and the reason it is told. Without an order kind is "".
func ordered(prompt string) (kind, reason string) {
	order := orderToInterrupt.FindStringSubmatch(prompt)
	if order == nil {
		return "", ""
	}
	if said := reasonGiven.FindStringSubmatch(prompt); said != nil {
		reason = said[1]
	}
	return order[1], reason
}

// obey makes the model of the orchestrator do what its prompt says: it interrupts when that orders
// it to, and otherwise goes on at the discovery. Asked for anything else it says the smallest
// thing.
func (m *model) obey() {
	m.reply = func(_ context.Context, q question) (string, error) { return m.obeys(q), nil }
}

func (m *model) obeys(q question) string {
	switch kind, reason := ordered(q.Prompt); {
	case q.Name != "OrchestratorRouting":
		return ""
	case kind == "":
		return m.routing("orchestrator", "discoveryOrchestratorRequest")
	default:
		return m.routing("orchestrator", "interruptRequest", "type", kind, "reason", reason)
	}
}

// launch starts a thread under an id, and does not wait for it.
func (w *world) launch(id, typeName string) {
	w.Helper()
	request, err := w.program.DecodeRequest(typeName, []byte(w.sample(typeName)))
	require.NoError(w, err)
	begin, err := workflow.Begin(request)
	require.NoError(w, err)
	begin.ID, begin.User = id, "ann"
	_, err = w.e.Start(w.Context(), begin)
	require.NoError(w, err)
}

// TestModelCallIsEndedForAnEvent: an event that comes while the model is asked ends that call only
// where the program wants it.
func TestModelCallIsEndedForAnEvent(t *testing.T) {
	onBoth(t, func(w *world) {
		for _, again := range []bool{true, false} {
			w := w.again()
			w.cfg.AskAgain = again
			asked, goOn := make(chan struct{}), make(chan struct{})
			w.model.reply = func(ctx context.Context, q question) (string, error) {
				if kind, _ := ordered(q.Prompt); q.Name == "OrchestratorRouting" && kind == "" {
					asked <- struct{}{}
					select {
					case <-ctx.Done():
						return "", context.Cause(ctx)
					case <-goOn:
					}
				}
				return w.model.obeys(q), nil
			}
			w.on("orchestrator", chooses[routes.OrchestratorRouting])
			w.on("discoveryOrchestrator", w.stops("discoveryOrchestrator"))
			w.on("merger", w.stops("merger"))
			w.open()
			id := "again"
			if !again {
				id = "once"
			}
			w.launch(id, "OrchestratorRequest")
			<-asked
			th, err := w.e.Thread(w.Context(), id)
			require.NoError(w, err)
			_, err = w.m.Reroute(w.Context(), w.e, id,
				event("e1", th.Root().ID, "ORCHESTRATOR", "MERGER_AGENT"))
			require.NoError(w, err)
			if !again {
				close(goOn)
				require.Equal(w, thread.StatusCancelled, w.wait(id).Status())
				require.Equal(w, []string{"orchestrator", "discoveryOrchestrator"}, w.runs,
					"the reply was on its way")
				continue
			}
			th = w.wait(id)
			require.Equal(w, "reason of e1", w.asked(th, thread.KindAgentQuestion).Text)
			require.Equal(w, 2, w.model.count())
			require.NotEqual(w, w.model.asked[0].Key, w.model.asked[1].Key,
				"it is another question")
			w.answer(id, "go")
			require.Equal(w, []string{"orchestrator", "merger"}, w.runs)
		}
	})
}

// TestEventDuringResolutionIsKept: an event that comes while the handler's model works is for the
// next interrupt, and not used up by the one that knew nothing of it.
func TestEventDuringResolutionIsKept(t *testing.T) {
	onBoth(t, func(w *world) {
		w.on("orchestrator", w.asks("orchestrator", "HUMAN_REVIEW", "first"),
			w.asks("orchestrator", "HUMAN_REVIEW", "second"))
		w.on("merger", w.stops("merger"))
		resolving, goOn := make(chan struct{}), make(chan struct{})
		first := true
		w.model.while = func(question) error {
			if first {
				first = false
				close(resolving)
				<-goOn
			}
			return nil
		}
		w.open()
		th := w.start("OrchestratorRequest")
		_, err := w.e.Answer(w.Context(), th.ID, thread.Answer{Text: "go", By: "bob"})
		require.NoError(w, err)
		<-resolving
		_, err = w.m.Reroute(w.Context(), w.e, th.ID,
			event("e1", th.Root().ID, "ORCHESTRATOR", "MERGER_AGENT"))
		require.NoError(w, err)
		close(goOn)
		th = w.wait(th.ID)
		require.Equal(w, "second", w.asked(th, thread.KindAgentQuestion).Text)
		require.NotNil(w, th.PendingReroute(th.Root().ID))
		th = w.answer(th.ID, "go")
		require.Equal(w, []string{"orchestrator", "orchestrator", "merger"}, w.runs)
		require.Equal(w, thread.StatusCancelled, th.Status())
	})
}

// TestHandlerModelReadsTheEvent: the model that writes the request which goes on knows why.
func TestHandlerModelReadsTheEvent(t *testing.T) {
	onBoth(t, func(w *world) {
		w.on("orchestrator", w.publishes(w.asks("orchestrator", "HUMAN_REVIEW", "which way?"),
			event("e1", "", "ORCHESTRATOR", "MERGER_AGENT")))
		w.on("merger", w.stops("merger"))
		w.open()
		th := w.start("OrchestratorRequest")
		w.answer(th.ID, "go")
		for _, part := range []string{"reason of e1", "context of e1", "Expand", "all modules",
			"Is it urgent?", "MERGER_AGENT"} {
			assert.Contains(w, w.model.last().Prompt, part)
		}
		require.NotContains(w, strings.ToLower(w.model.last().Prompt), "raise an interrupt request")
	})
}
