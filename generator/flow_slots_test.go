package generator_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestASlotOfANamedTypeKeepsBothRules: the bounds of the slot stand beside those of its type, and
// where it is a list its type's are of the items.
func TestASlotOfANamedTypeKeepsBothRules(t *testing.T) {
	t.Parallel()
	src := put(t, flowSpec(t), "\ntypes:\n",
		"\ntypes:\n  Percent: {doc: A share., type: int, min: 0, max: 150}\n")
	const wait = "      wait: {type: duration,"
	src = put(t, src, wait, "      share: {type: Percent, min: 10, doc: How much.}\n      "+
		"shares: {type: \"[]Percent\", min_items: 1, doc: How much each.}\n"+wait)
	files := generated(t, src)
	_, err := newCompiler(t).check(consumed, files)
	require.NoError(t, err)
	var tables string
	for name, text := range files {
		if strings.HasSuffix(name, "flows_gen.go") {
			tables = string(text)
		}
	}
	assert.Contains(t, tables, "Rule: &runtime.Rule{Min: new(10.0)}, Of: &rulePercent")
	assert.Contains(t, tables, "Rule: &runtime.Rule{MinItems: new(1)}, Of: &rulePercent")
}
