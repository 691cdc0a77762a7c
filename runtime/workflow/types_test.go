package workflow_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/generator/spec"
	"github.com/routegen/routegen/runtime/thread"
)

// The handler knows what the generator lets a spec declare, every value that init writes among it.
func TestEveryDeclaredInterruptTypeIsHandled(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("../../cmd/routegen/skeleton/routes.yaml.tmpl")
	require.NoError(t, err)
	s, findings := spec.Parse("routes.yaml",
		[]byte(strings.ReplaceAll(string(data), "{{.Package}}", "agents")))
	require.Empty(t, findings)
	types := spec.InterruptTypes()
	at := slices.IndexFunc(s.Enums, func(e *spec.Enum) bool {
		return e.Key.Value == "InterruptType"
	})
	require.GreaterOrEqual(t, at, 0)
	for _, v := range s.Enums[at].Values {
		types = append(types, v.Key.Value)
	}
	for _, name := range types {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(w *world) {
				w.on("orchestrator", w.asks("orchestrator", name, "why"), w.stops("orchestrator"))
				w.open()
				th := w.start("OrchestratorRequest")
				if name == "HUMAN_REVIEW" || name == "PAUSE" {
					assert.Equal(w, name, w.asked(th, thread.KindAgentQuestion).Type)
					th = w.answer(th.ID, "go on")
				}
				assert.Empty(w, th.Open, "no step fails on it")
				assert.NotEmpty(w, th.Over)
			})
		})
	}
}
