package spec_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/generator/spec"
)

// TestEveryRuleHasBothCases: a rule that no test has seen fire may never fire, and one that a sound spec meets is wrong. The
// firing case stands in a table of this package by the rule's constant, or in a script of the program by its id, as the text
// report ends a finding; the silent case is the sound spec that all tables start from.
func TestEveryRuleHasBothCases(t *testing.T) {
	constants := ruleConstants(t)
	tables := read(t, "*_test.go")
	scripts := read(t, "../../cmd/routegen/testdata/*/*.txtar") + read(t, "../../cmd/routegen/*_test.go")
	_, sound := spec.Parse("routes.yaml", []byte(base))
	fired := map[string]bool{}
	for _, f := range sound {
		fired[f.Rule] = true
	}
	for _, rule := range spec.Rules() {
		inTable := regexp.MustCompile(`\b`+constants[rule.ID]+`\b`).MatchString(tables) ||
			regexp.MustCompile(`\b`+rule.ID+`\b`).MatchString(tables)
		assert.True(t, inTable || strings.Contains(scripts, rule.ID), "no test shows %s firing", rule.ID)
		assert.False(t, fired[rule.ID], "%s fires on a sound spec", rule.ID)
	}
}

// ruleConstants maps rule ids to the names of their constants.
func ruleConstants(t *testing.T) map[string]string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "rule_ids.go", nil, 0)
	require.NoError(t, err)
	out := map[string]string{}
	ast.Inspect(file, func(n ast.Node) bool {
		if v, ok := n.(*ast.ValueSpec); ok && len(v.Values) == 1 {
			if lit, ok := v.Values[0].(*ast.BasicLit); ok {
				id, err := strconv.Unquote(lit.Value)
				require.NoError(t, err)
				out[id] = v.Names[0].Name
			}
		}
		return true
	})
	return out
}

func read(t *testing.T, pattern string) string {
	t.Helper()
	names, err := filepath.Glob(pattern)
	require.NoError(t, err)
	require.NotEmpty(t, names, pattern)
	var b strings.Builder
	for _, name := range names {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		b.Write(text)
	}
	return b.String()
}

// The last two limits, met by texts that only a script writes.
func TestLimitsOfHopelessFiles(t *testing.T) {
	has := func(text, rule string) {
		t.Helper()
		_, findings := spec.Parse("routes.yaml", []byte(text))
		for _, f := range findings {
			if f.Rule == rule {
				return
			}
		}
		assert.Fail(t, "the rule does not fire", rule)
	}
	has("version: 1\na: ["+strings.Repeat("x,", 4_000_001)+"]\n", spec.RuleTooManyNodes)
	var keys strings.Builder
	for i := range 10_100 {
		keys.WriteString("unknown" + strconv.Itoa(i) + ": 1\n")
	}
	has(keys.String(), spec.RuleTooManyFindings)
}
