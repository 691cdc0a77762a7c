package main

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"
)

// jobOfCI is one job of a workflow, as far as who may do what is concerned.
type jobOfCI struct {
	Permissions map[string]string
	Needs       string
	Steps       []struct {
		Uses, Run string
		With      map[string]string
	}
}

// faultsOfCI are what is wrong with a workflow that judges what strangers bring.
func faultsOfCI(tb testing.TB, text []byte) []string {
	tb.Helper()
	var w struct {
		Permissions map[string]string
		Jobs        map[string]jobOfCI
	}
	//nolint:musttag // names match but for letter case
	require.NoError(tb, yaml.Unmarshal(text, &w))
	var faults []string
	commit := regexp.MustCompile(`^actions/[a-z-]+@[0-9a-f]{40}$`)
	for name, job := range w.Jobs {
		may := job.Permissions
		if may == nil {
			may = w.Permissions
		}
		for _, s := range job.Steps {
			if s.Uses != "" && !commit.MatchString(s.Uses) {
				faults = append(faults, name+": "+s.Uses+" is no commit")
			}
			if strings.HasPrefix(s.Uses, "actions/checkout@") &&
				s.With["persist-credentials"] != "false" {
				faults = append(faults, name+": the token stays in .git/config")
			}
			if strings.Contains(s.Run, "go ") || strings.HasPrefix(s.Uses, "actions/checkout@") {
				for scope, level := range may {
					if level == "write" {
						faults = append(faults, name+": runs what is brought, and may write "+scope)
					}
				}
			}
			if strings.Contains(s.Run, "startswith(") &&
				!strings.Contains(s.Run, `.user.login == "github-actions[bot]"`) {
				faults = append(faults, name+": takes anybody's comment for its own")
			}
			if strings.Contains(s.Run, "${{") {
				faults = append(faults, name+": an expression stands in a script")
			}
		}
	}
	return faults
}

// TestWorkflowGivesStrangersNothing: what runs code of a pull request holds no right to write, and
// what writes runs none of it.
func TestWorkflowGivesStrangersNothing(t *testing.T) {
	t.Parallel()
	text, err := render("github.yml.tmpl", workflow{Spec: "routes.yaml", Mod: "go.mod"})
	require.NoError(t, err)
	assert.Empty(t, faultsOfCI(t, text))
	var w struct{ Jobs map[string]jobOfCI }
	//nolint:musttag // as above
	require.NoError(t, yaml.Unmarshal(text, &w))
	require.Len(t, w.Jobs, 2)
	assert.Equal(t, map[string]string{"contents": "read"}, w.Jobs["review"].Permissions)
	assert.Equal(t, map[string]string{"pull-requests": "write"}, w.Jobs["comment"].Permissions)
	assert.Equal(t, "review", w.Jobs["comment"].Needs)

	const careless = `
permissions: {contents: read, pull-requests: write}
jobs:
  all:
    steps:
      - uses: actions/checkout@v5
      - run: go tool routegen check ${{ github.head_ref }}
      - run: gh api x --jq 'select(.body | startswith("mark"))'
`
	faults := faultsOfCI(t, []byte(careless))
	for _, want := range []string{"is no commit", "stays in .git/config", "may write",
		"anybody's comment", "an expression stands"} {
		assert.Contains(t, strings.Join(faults, "\n"), want, "the control")
	}
}
