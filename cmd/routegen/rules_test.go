package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/generator/report"
)

// Rules come from three places; an id stands for one of them, and each can be explained.
func TestRulesAreDistinctAndExplained(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, r := range allRules() {
		assert.False(t, seen[r.ID], "%s is there twice", r.ID)
		seen[r.ID] = true
		assert.NotEmpty(t, r.Severity, r.ID)
		assert.NotEmpty(t, r.Category, r.ID)
		assert.NotEmpty(t, r.Summary, r.ID)
		assert.NotEmpty(t, r.Why, r.ID)
	}
}

func TestChosenCategories(t *testing.T) {
	t.Parallel()
	all, err := parseCategories(nil, lintCategories)
	require.NoError(t, err)
	assert.Equal(t, lintCategories, all)
	some, err := parseCategories([]string{"basic", " LLM"}, lintCategories)
	require.NoError(t, err)
	assert.Equal(t, []report.Category{report.CategoryMinimal, report.CategoryBasic,
		report.CategoryLLM},
		some)
	_, err = parseCategories([]string{"DOC"}, lintCategories)
	require.ErrorContains(t, err, `--category is "DOC", did you mean "DOCS"?`)
}
