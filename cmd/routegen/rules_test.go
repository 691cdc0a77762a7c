package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"

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

// The workflow is what GitHub reads: YAML, with every action pinned to a major version, and no more
// rights than it needs.
func TestWorkflow(t *testing.T) {
	t.Parallel()
	text, err := render("github.yml.tmpl",
		workflow{Spec: "a/routes.yaml", Sub: "a", Mod: "a/go.mod"})
	require.NoError(t, err)
	var w struct {
		On   string            `yaml:"on"`
		May  map[string]string `yaml:"permissions"`
		Jobs map[string]struct {
			Defaults struct {
				Run map[string]string `yaml:"run"`
			} `yaml:"defaults"`
			Steps []struct {
				ID   string            `yaml:"id"`
				If   string            `yaml:"if"`
				Uses string            `yaml:"uses"`
				Run  string            `yaml:"run"`
				With map[string]string `yaml:"with"`
			} `yaml:"steps"`
		} `yaml:"jobs"`
	}
	require.NoError(t, yaml.Unmarshal(text, &w))
	assert.Equal(t, "pull_request", w.On,
		"nothing of a pull request runs with rights of the repository")
	assert.Equal(t, map[string]string{"contents": "read", "pull-requests": "write"}, w.May)
	job := w.Jobs["routegen"]
	assert.Equal(t, "a", job.Defaults.Run["working-directory"])
	require.Len(t, job.Steps, 7)
	for _, s := range job.Steps {
		if s.Uses != "" {
			assert.Regexp(t, `^actions/[a-z-]+@v[0-9]+$`, s.Uses)
		}
	}
	assert.Equal(t, "a/go.mod", job.Steps[1].With["go-version-file"])
	assert.Contains(t, job.Steps[4].Run,
		"go tool routegen diff --against FETCH_HEAD --format markdown")
	assert.Equal(t, "report", job.Steps[4].ID)
	assert.Contains(t, job.Steps[5].If, "steps.report.outcome == 'success'")
}
