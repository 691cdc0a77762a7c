package spec_test

import (
	"flag"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/generator/report"
	"github.com/routegen/routegen/generator/spec"
)

var update = flag.Bool("update", false, "write the golden findings")

// flowCorpus is the broken flow specs of testdata/flows, by name.
func flowCorpus(tb testing.TB) map[string]*txtar.Archive {
	tb.Helper()
	files, err := filepath.Glob("testdata/flows/*.txtar")
	require.NoError(tb, err)
	out := map[string]*txtar.Archive{}
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		require.NoError(tb, err)
		require.Len(tb, archive.Files, 2, file)
		out[file] = archive
	}
	return out
}

// TestBrokenFlows compares all findings of broken specs, with places, hints and paths, to the
// golden ones.
func TestBrokenFlows(t *testing.T) {
	t.Parallel()
	corpus := flowCorpus(t)
	assert.GreaterOrEqual(t, len(corpus), 20)
	for file, archive := range corpus {
		_, findings := spec.Parse("routes.yaml", archive.Files[0].Data)
		got := list(findings)
		if *update {
			archive.Files[1].Data = []byte(got)
			require.NoError(t, os.WriteFile(file, txtar.Format(archive), 0o644))
		}
		assert.Equal(t, string(archive.Files[1].Data), got, file)
		assert.NotEmpty(t, got, file)
	}
}

// TestFlowRulesAreInTheCorpus: each rule of flows is broken by a spec that shows it among others,
// too.
func TestFlowRulesAreInTheCorpus(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, archive := range flowCorpus(t) {
		_, findings := spec.Parse("routes.yaml", archive.Files[0].Data)
		for i := range findings {
			seen[findings[i].Rule] = true
		}
	}
	var missing []string
	for _, rule := range spec.Rules() {
		if strings.HasPrefix(rule.ID, "FLOW_") && !seen[rule.ID] {
			missing = append(missing, rule.ID)
		}
	}
	assert.Empty(t, missing)
}

// TestManyStepsStayLinear makes flows of thousands of steps that invite quadratic work.
func TestManyStepsStayLinear(t *testing.T) {
	const head = "version: 1\ngo: {package: a, out: b}\nflows:\n  f:\n    doc: x\n    slots:\n   " +
		"   n: {type: int, doc: y}\n    steps:\n"
	for _, step := range []string{
		`{step: s%[1]d, type: say, message: "{n} {nn}", next: s%[2]d, when: n > 1}`,
		`{step: s%[1]d, type: while, condition: n > 1, do: [{step: t%[1]d, type: say, message: x, next: q%[1]d}]}`,
		`{step: s%[1]d, type: confirm, slot: n, message: x, on_yes: s9}`,
		`{step: s%[1]d, type: set, values: {n: 1, m: "{x}"}}`,
		`{step: s, type: branch, cases: [{if: n == 1 and n == 2 or n == 3, then: x}]}`,
		`{step: s%[1]d, type: link, flow: f, inputs: {n: n, x: n, y: n}}`,
	} {
		var b strings.Builder
		b.WriteString(head)
		for i := range 4000 {
			line := strings.ReplaceAll(strings.ReplaceAll(step, "%[1]d", strconv.Itoa(i)), "%[2]d",
				strconv.Itoa(i/2))
			b.WriteString("      - " + line + "\n")
		}
		var findings []report.Finding
		took := worked(func() { _, findings = spec.Parse("x", []byte(b.String())) })
		assert.NotEmpty(t, findings, step)
		// the race detector needs a tenth of that; quadratic ones take a minute
		assert.Less(t, took, 8*time.Second, step)
	}
}
