package spec_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/generator/spec"
)

// TestSeveritiesOfComparisons: what is expected and what is only noticed is counted apart, and never as an error.
func TestSeveritiesOfComparisons(t *testing.T) {
	findings := []spec.Finding{
		{Rule: "A", Severity: spec.Expected, File: "f", Message: "m"}, {Rule: "B", Severity: spec.Notice, File: "f", Message: "m"},
		{Rule: "C", Severity: spec.Notice, File: "f", Message: "m"},
	}
	var b strings.Builder
	require.NoError(t, spec.WriteJSON(&b, findings, spec.Summary{}))
	assert.Contains(t, b.String(), `"errors":0,"warnings":0,"expected":1,"notices":2,`)
	b.Reset()
	require.NoError(t, spec.WriteGitHub(&b, findings))
	assert.Equal(t, 3, strings.Count(b.String(), "::notice "), b.String())
	b.Reset()
	require.NoError(t, spec.WriteText(&b, nil, findings))
	assert.Contains(t, b.String(), "f: expected: m")
}
