package spec_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/generator/spec"
)

// TestDefaultKindsAsWritten reads the lines that write the default kinds out.
func TestDefaultKindsAsWritten(t *testing.T) {
	lines := "  kinds:\n    " + strings.Join(spec.DefaultKindLines(), "\n    ") + "\n"
	s, findings := spec.Parse("routes.yaml", []byte("version: 1\ninterrupts:\n"+lines))
	require.NotNil(t, s, list(findings))
	values := func(texts []spec.Text) (out []string) {
		for _, text := range texts {
			out = append(out, text.Value)
		}
		return out
	}
	for i, want := range spec.DefaultKinds() {
		got := s.Interrupts.Kinds[i]
		assert.Equal(t, want.Key.Value, got.Key.Value)
		assert.Equal(t, want.Doc.Value, got.Doc.Value)
		assert.Equal(t, want.Clash.Value, got.Clash.Value)
		assert.Equal(t, want.RouteTo, got.RouteTo)
		assert.Equal(t, values(want.Choices), values(got.Choices))
		assert.Equal(t, want.Deadline != nil && want.Deadline.None,
			got.Deadline != nil && got.Deadline.None)
		if assert.Equal(t, want.Retry == nil, got.Retry == nil); want.Retry != nil {
			assert.InDelta(t, want.Retry.Attempts.Value, got.Retry.Attempts.Value, 0)
			assert.Equal(t, []string{want.Retry.Backoff.Value, want.Retry.First.Value,
				want.Retry.Max.Value}, values([]spec.Text{got.Retry.Backoff, got.Retry.First,
				got.Retry.Max}))
		}
	}
}
