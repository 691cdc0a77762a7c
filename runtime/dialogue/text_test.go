package dialogue

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/generator/report"
	"github.com/routegen/routegen/generator/spec"
)

// What the machine says by itself is what a spec may put into other words, with all the places of
// the shipped ones.
func TestResponsesAreThoseOfTheSpec(t *testing.T) {
	t.Parallel()
	var texts strings.Builder
	for name, shipped := range defaultResponses() {
		texts.WriteString("  " + name + ": \"" + shipped + "\"\n")
	}
	findings := responses(t, texts.String())
	for n := range findings {
		assert.NotContains(t, findings[n].Path, "/responses", findings[n].Message)
	}
	findings = responses(t, "  something_else_altogether: x\n")
	at := slices.IndexFunc(findings, func(f report.Finding) bool {
		return f.Rule == spec.RuleFlowResponse
	})
	require.NotEqual(t, -1, at)
	assert.Equal(t, slices.Sorted(maps.Keys(defaultResponses())),
		strings.Split(strings.TrimPrefix(findings[at].Hint, "there is "), ", "))
}

func responses(t *testing.T, texts string) []report.Finding {
	t.Helper()
	_, findings := spec.Parse("routes.yaml",
		[]byte("version: 1\ngo: {package: p, out: p}\nflows:\n  hello:\n    steps:\n      - {id: "+
			"hi, say: Hello.}\nresponses:\n"+texts))
	return findings
}
