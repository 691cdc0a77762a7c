package report_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/generator/report"
)

// TestSeveritiesOfComparisons: what is expected and what is only noticed is counted apart, and
// never as an error.
func TestSeveritiesOfComparisons(t *testing.T) {
	findings := []report.Finding{
		{Rule: "A", Severity: report.Expected, File: "f", Message: "m"},
		{Rule: "B", Severity: report.Notice, File: "f", Message: "m"},
		{Rule: "C", Severity: report.Notice, File: "f", Message: "m"},
	}
	var b strings.Builder
	require.NoError(t, report.WriteJSON(&b, findings, report.Summary{}))
	assert.Contains(t, b.String(), `"errors":0,"warnings":0,"expected":1,"notices":2,`)
	b.Reset()
	require.NoError(t, report.WriteGitHub(&b, findings))
	assert.Equal(t, 3, strings.Count(b.String(), "::notice "), b.String())
	b.Reset()
	require.NoError(t, report.WriteText(&b, nil, findings))
	assert.Contains(t, b.String(), "f: expected: m")
}
