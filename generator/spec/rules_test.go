package spec_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/generator/report"
	"github.com/routegen/routegen/generator/spec"
)

// TestCatalogueIsComplete reads the constants of this package: an id without an entry could not be
// explained.
func TestCatalogueIsComplete(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "rule_ids.go", nil, 0)
	require.NoError(t, err)
	ids := 0
	ast.Inspect(file, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			id, err := strconv.Unquote(lit.Value)
			require.NoError(t, err)
			rule, found := spec.FindRule(id)
			assert.True(t, found, id)
			assert.Equal(t, id, rule.ID)
			ids++
		}
		return true
	})
	assert.Len(t, spec.Rules(), ids, "an entry of the catalogue has no constant")
	assert.Greater(t, ids, 60)
}

func TestCatalogueExplains(t *testing.T) {
	seen := map[string]bool{}
	for _, rule := range spec.Rules() {
		assert.False(t, seen[rule.ID], "%s twice", rule.ID)
		seen[rule.ID] = true
		assert.NotEmpty(t, rule.Summary, rule.ID)
		assert.NotEmpty(t, rule.Why, rule.ID)
		assert.NotEmpty(t, rule.Bad, rule.ID)
		assert.NotEmpty(t, rule.Good, rule.ID)
		assert.NotEqual(t, rule.Bad, rule.Good, rule.ID)
		assert.Equal(t, rule.Severity == report.Error, rule.Category == report.CategoryError,
			rule.ID)
		assert.Regexp(t, `^[A-Z]+(_[A-Z]+)+$`, rule.ID)
		assert.True(t, strings.HasSuffix(rule.Summary, "."), rule.ID)
	}
}

func TestFindRuleNamesTheNearest(t *testing.T) {
	rule, found := spec.FindRule("SELF_RUOTE")
	assert.False(t, found)
	assert.Equal(t, spec.RuleSelfRoute, rule.ID)
	rule, found = spec.FindRule("xyzzy")
	assert.False(t, found)
	assert.Empty(t, rule.ID)
}
