package generator_test

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/generator"
	"github.com/routegen/routegen/generator/report"
	"github.com/routegen/routegen/generator/spec"
)

// smallSpec has two nodes and no mistake.
const smallSpec = `version: 1
go: {package: routes, out: generated/routes}
types:
  Item:
    doc: One piece of work.
    fields:
      name: {type: string, doc: What it is called.}
      weight: {type: int, min: 1, max: 5, doc: How heavy it is.}
interrupts:
  fields:
    reason: {type: string, doc: Why a decision is needed.}
nodes:
  planner:
    doc: Cuts the goal into pieces.
    entry: true
    agent_type: PLANNER
    request: {doc: Asks for a plan., fields: {goal: {type: string, doc: What is wanted.}, items: {type: "[]Item", doc: Pieces known already.}}}
    interrupt: {doc: Asks how to cut., fields: {options: {type: "[]string", doc: Ways to cut.}}}
    branches: {interruptRequest: interrupt, builderRequest: BuilderRequest}
    prompt: {template: workflow/planner, vars: [goal]}
  builder:
    doc: Builds one piece after the other.
    request: {doc: Asks for the pieces to be built., fields: {items: {type: "[]Item", doc: Pieces to build.}}}
    interrupt: {doc: Asks about one piece., fields: {item: {type: Item, doc: The piece in question.}}}
    branches: {interruptRequest: interrupt, plannerRequest: PlannerRequest}
`

// TestSevenMistakes is scenario G5: seven mistakes of different kinds in one spec are seven
// findings, errors first and in order of position, and nothing is rendered. One of them, two types
// of one Go name, is only seen once every name is decided.
func TestSevenMistakes(t *testing.T) {
	t.Parallel()
	require.NotNil(t, generator.Generate("routes.yaml", []byte(smallSpec)).Files,
		"the control: without a mistake there is output")
	text := smallSpec
	want := []string{}
	for _, m := range []struct{ rule, old, wrong string }{
		{spec.RuleNameCollision, "  Item:\n",
			"  PlannerRouting:\n    doc: A second thing of that name.\n    fields: {a: {type: " +
				"string, doc: Something.}}\n  Item:\n"},
		{spec.RuleConstraintRange, "min: 1, max: 5", "min: 6, max: 5"},
		{spec.RuleUnknownKey, "    doc: Cuts the goal", "    descripton: Cuts the goal"},
		{spec.RuleScalarKind, "agent_type: PLANNER", "agent_type: 1e3"},
		{spec.RulePromptVar, "vars: [goal]", "vars: [gaol]"},
		{spec.RuleRefType, `{items: {type: "[]Item", doc: Pieces to build.}}`,
			`{items: {type: "[]Itm", doc: Pieces to build.}}`},
		{spec.RuleInterruptNoBranch,
			"branches: {interruptRequest: interrupt, plannerRequest: PlannerRequest}",
			"branches: {plannerRequest: PlannerRequest}"},
	} {
		require.Equal(t, 1, strings.Count(text, m.old), "%s", m.old)
		text = strings.Replace(text, m.old, m.wrong, 1)
		want = append(want, m.rule)
	}
	r := generator.Generate("specs/routes.yaml", []byte(text))
	assert.Nil(t, r.Files)
	assert.Nil(t, r.Plan)
	var got []string
	for _, f := range r.Findings {
		if f.Severity == report.Error {
			got = append(got, f.Rule)
		}
		assert.Equal(t, "specs/routes.yaml", f.File)
		assert.NotEmpty(t, f.Message)
		assert.Positive(t, f.At.Start.Line, "%+v", f)
		assert.Positive(t, f.At.Start.Column, "%+v", f)
	}
	assert.ElementsMatch(t, want, got, "%+v", r.Findings)
	assert.True(t, slices.IsSortedFunc(r.Findings, func(a, b report.Finding) int {
		return cmp.Or(strings.Compare(string(a.Severity), string(b.Severity)),
			cmp.Compare(a.At.Start.Line, b.At.Start.Line),
			cmp.Compare(a.At.Start.Column, b.At.Start.Column))
	}), "%+v", r.Findings)
	assert.Equal(t, []byte(text), r.Source)
}
