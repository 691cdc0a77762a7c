package review_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/generator/emit"
	"github.com/routegen/routegen/generator/plan"
	"github.com/routegen/routegen/generator/report"
	"github.com/routegen/routegen/generator/review"
	"github.com/routegen/routegen/generator/spec"
)

var update = flag.Bool("update", false, "write the golden files anew")

// planOf builds the plan of a spec, which must hold no error.
func planOf(tb testing.TB, src string) *plan.Plan {
	tb.Helper()
	sp, findings := spec.Parse("routes.yaml", []byte(src))
	require.NotNil(tb, sp)
	p, more := plan.Build(sp)
	var errs []string
	for _, f := range append(findings, more...) {
		if f.Severity == report.Error {
			errs = append(errs, fmt.Sprintf("line %d: %s %s", f.At.Start.Line, f.Rule, f.Message))
		}
	}
	require.Empty(tb, errs)
	return p
}

// edited replaces texts pairwise. A text that is not there once is a fault of the test.
func edited(tb testing.TB, src string, pairs ...string) string {
	tb.Helper()
	for i := 0; i < len(pairs); i += 2 {
		require.Equal(tb, 1, strings.Count(src, pairs[i]), "%q", pairs[i])
		src = strings.Replace(src, pairs[i], pairs[i+1], 1)
	}
	return src
}

// reviewed is the change that every reviewer has to understand from the report alone: a node added,
// a field renamed, a constraint tightened, a route dropped, a prompt changed.
func reviewed(tb testing.TB) (old, now *plan.Plan) {
	tb.Helper()
	src, err := os.ReadFile(filepath.Join("..", "..", "routes.yaml"))
	require.NoError(tb, err)
	text := string(src)
	return planOf(tb, text), planOf(tb, edited(tb, text,
		"\n  merger:\n    doc:", `
  security:
    doc: Looks for weaknesses in a change and says which of them have to be repaired.
    group: side
    request:
      fields:
        change: {type: string, doc: The change to look at.}
        depth: {type: int, min: 1, max: 5, optional: true, doc: How deep to look.}
    interrupt:
      fields:
        finding: {type: string, doc: The weakness that a person has to judge.}
    branches:
      interruptRequest: interrupt
      orchestratorRequest: OrchestratorRequest
    prompt: {template: workflow/security, vars: [change], guidance: Set orchestratorRequest when nothing is left to find.}

  merger:
    doc:`,
		"      discoveryOrchestratorRequest: DiscoveryOrchestratorRequest\n      "+
			"contextManagerRequest: ContextManagerRoutingRequest\n    prompt:\n      template: "+
			"workflow/orchestrator\n",
		"      discoveryOrchestratorRequest: DiscoveryOrchestratorRequest\n      "+
			"contextManagerRequest: ContextManagerRoutingRequest\n      securityRequest: "+
			"SecurityRequest\n    prompt:\n      template: workflow/orchestrator\n",
		"      impactIfNo: {type: string, doc: What follows when the answer is no.}",
		"      consequence: {type: string, was: [impactIfNo], doc: What follows when the answer "+
			"is no.}",
		"      question: {type: string, doc: What has to be decided.}",
		"      question: {type: string, max_length: 200, doc: What has to be decided.}",
		"    unstick: [mergerResult]\n",
		"    route: none\n    escalates: orchestrator\n    unstick: [mergerResult]\n",
		"guidance: Start with discoveryOrchestratorRequest. Set collectorRequest",
		"guidance: Start with securityRequest, then discoveryOrchestratorRequest. Set "+
			"collectorRequest",
	))
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o600))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, string(want), got, "run with -update when the change is meant")
}

func TestReviewedChange(t *testing.T) {
	old, now := reviewed(t)
	r := review.Compare(old, now)
	r.Base = "origin/main"
	r.Measure(emit.NewComposer(old), emit.NewComposer(now))
	golden(t, "reviewed.md",
		r.Markdown())
	golden(t, "reviewed.txt", r.Text())
	text, err := r.JSON()
	require.NoError(t, err)
	golden(t, "reviewed.json", string(text))
	var b strings.Builder
	require.NoError(t, report.WriteText(&b, nil, review.Breaking(old, now)))
	golden(t, "reviewed.breaking.txt", b.String())
}
