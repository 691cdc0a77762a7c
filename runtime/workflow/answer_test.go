package workflow_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
)

// offers is an interrupt with a choice between A and B and one confirmation.
func (w *world) offers() turn {
	return w.asks("orchestrator", "HUMAN_REVIEW", "How far?",
		"choices", []any{map[string]any{
			"choiceId": "scope", "question": "Which scope?", "context": "c",
			"options": map[string]string{"A": "all", "B": "one"}, "recommended": "A",
		}},
		"confirmationItems", []any{map[string]any{"confirmationId": "sure", "statement": "Sure?",
			"context": "c", "impactIfNo": "none"}})
}

func TestAnswerIsHeldToTheDeclaredTypeAndTheOfferedOptions(t *testing.T) {
	onBoth(t, func(w *world) {
		w.on("orchestrator", w.offers(), w.stops("orchestrator"))
		w.open()
		i := w.asked(w.start("OrchestratorRequest"), thread.KindAgentQuestion)
		require.NotNil(w, i.Schema)
		for value, pointer := range map[string]string{
			`{"selectedChoices":{"scope":"Z"},"confirmations":{"sure":true}}`:                  "/selectedChoices/scope",
			`{"selectedChoices":{"other":"A"},"confirmations":{"sure":true}}`:                  "other",
			`{"selectedChoices":{"scope":"A"},"confirmations":{"sure":"yes"}}`:                 "/confirmations/sure",
			`{"selectedChoices":{"scope":"A"},"confirmations":{"else":true}}`:                  "else",
			`{"selectedChoices":{"scope":"A"},"confirmations":{"sure":true},"nonsense":1}`:     "nonsense",
			`{"selectedChoices":{"scope":"A"}}`:                                                "confirmations",
			`{"selectedChoices":{"scope":"A"},"confirmations":{"sure":true},"customInputs":7}`: "/customInputs",
			`7`: "",
		} {
			_, err := w.e.Answer(w.Context(), "",
				thread.Answer{Interrupt: i.ID, Value: json.RawMessage(value), By: "bob"})
			require.Equal(w, runtime.CodeInvalid, runtime.CodeOf(err), value)
			require.ErrorContains(w, err, pointer)
		}
		value := `{"selectedChoices":{"scope":"B"},"confirmations":{"sure":true}}`
		w.order(i.Thread, value)
		require.Len(w, w.calls["orchestrator"], 2)
		assert.JSONEq(w, value, string(w.calls["orchestrator"][1].Answer))
	})
}

func TestTextAnswersAQuestionWithChoices(t *testing.T) {
	t.Parallel()
	for name, a := range map[string]thread.Answer{
		"as text":          {Text: "B, but only the gateway"},
		"as a JSON string": {Value: json.RawMessage(`"B, but only the gateway"`)},
		"skipped":          {Value: json.RawMessage(`null`)},
	} {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(w *world) {
				w.on("orchestrator", w.offers(), w.stops("orchestrator"))
				w.open()
				a := a // each store has its own
				a.Interrupt, a.By = w.asked(w.start("OrchestratorRequest"),
					thread.KindAgentQuestion).ID, "bob"
				i, err := w.e.Answer(w.Context(), "", a)
				require.NoError(w, err)
				w.wait(i.Thread)
				assert.Len(w, w.calls["orchestrator"], 2)
			})
		})
	}
}

// A question that offers nothing takes no picks.
func TestAnswerPicksNothingWhereNothingIsOffered(t *testing.T) {
	onBoth(t, func(w *world) {
		w.on("orchestrator", w.asks("orchestrator", "HUMAN_REVIEW", "How far?"),
			w.stops("orchestrator"))
		w.open()
		i := w.asked(w.start("OrchestratorRequest"), thread.KindAgentQuestion)
		_, err := w.e.Answer(w.Context(), "",
			thread.Answer{Interrupt: i.ID,
				Value: json.RawMessage(`{"selectedChoices":{"scope":"A"},"confirmations":{}}`)})
		require.Equal(w, runtime.CodeInvalid, runtime.CodeOf(err))
		w.order(i.Thread, `{"selectedChoices":{},"confirmations":{}}`)
	})
}
