package spec_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/generator/edit"
	"github.com/routegen/routegen/generator/report"
	"github.com/routegen/routegen/generator/spec"
)

// places lists findings as line:column RULE.
func places(findings []report.Finding) []string {
	var out []string
	for _, f := range findings {
		out = append(out, place(f)+" "+f.Rule)
	}
	return out
}

// TestTypesWithBracketsAreNamedWithTheirCure: the first mistake of newcomers, in each form in which
// it is no YAML, at its own place and with what to write; all of a file at once.
func TestTypesWithBracketsAreNamedWithTheirCure(t *testing.T) {
	t.Parallel()
	const before = "goal: {type: string, doc: The aim.}"
	for wrong, cure := range map[string]string{
		"tags: {type: []string, doc: Tags.}":           "[]string",
		"tags: {doc: Tags., type: []Ticket}":           "[]Ticket",
		"tags: {type: map[string]int, doc: Tags.}":     "map[string]int",
		"tags: {type: [][]string, doc: Tags.}":         "[][]string",
		"tags: {type: []map[string]int, doc: Tags.}":   "[]map[string]int",
		"tags: {type: map[string][]string, doc: T.}":   "map[string][]string",
		"tags: {type: string[], doc: Tags.}":           "[]string",
		"tags: {type: list[str], doc: Tags.}":          "[]string",
		"tags:\n          type: []string\n          x": "[]string",
	} {
		require.Equal(t, 1, strings.Count(base, before))
		text := strings.Replace(base, before, before+"\n        "+wrong, 1)
		if strings.Contains(wrong, "\n") {
			text = strings.Replace(base, "title: {type: string,", "title: {type: []string,", 1)
		}
		_, findings := spec.Parse("routes.yaml", []byte(text))
		require.Len(t, findings, 1, "%s: %s", wrong, list(findings))
		f := findings[0]
		assert.Equal(t, spec.RuleSyntax, f.Rule)
		assert.Equal(t, `write "`+cure+`"`, f.Hint, wrong)
		line := strings.Split(text, "\n")[f.At.Start.Line-1]
		bare := line[f.At.Start.Column-1 : f.At.End.Column-1]
		assert.Contains(t, wrong+" []string", bare)
		fixed, n := edit.Fix("routes.yaml", []byte(text), findings)
		assert.Equal(t, 1, n, wrong)
		assert.Equal(t, strings.Replace(text, " "+bare, ` "`+cure+`"`, 1), string(fixed))
	}
	two := strings.Replace(base, before, "goal: {type: []string, doc: A.}\n"+
		"        b: {type: map[string]int}", 1)
	_, findings := spec.Parse("routes.yaml", []byte(two))
	assert.Len(t, findings, 2, list(findings))
	legal := strings.Replace(base, "[collectRequest]", "[ collectRequest]", 1)
	_, findings = spec.Parse("routes.yaml", []byte(legal))
	assert.Empty(t, list(findings), "the control: brackets of YAML")
}

// TestAMisspelledKeyIsOneFinding: what stands under it is read as that of the key which was meant.
func TestAMisspelledKeyIsOneFinding(t *testing.T) {
	t.Parallel()
	for key, wrong := range map[string]string{
		"\nnodes:": "\nndoes:", "\ntypes:": "\ntpyes:", "\nresults:": "\nresluts:",
		"\nversion:": "\nvesrion:", "\nenums:": "\nunheard:",
		"\n    branches: {collectRequest:": "\n    edges: {collectRequest:",
		"{type: Ticket,":                   "{kind: Ticket,",
		"{type: string, doc: The aim.}":    "{type: string, description: The aim.}",
	} {
		text := strings.Replace("\n"+base, key, wrong, 1)[1:]
		require.NotEqual(t, base, text, key)
		_, findings := spec.Parse("routes.yaml", []byte(text))
		findings = slices.DeleteFunc(findings, func(f report.Finding) bool {
			return wrong == "\nunheard:" && f.Rule != spec.RuleUnknownKey
		})
		require.Len(t, findings, 1, "%s: %s", wrong, list(findings))
		assert.Equal(t, spec.RuleUnknownKey, findings[0].Rule, wrong)
	}
	text := strings.Replace("\n"+base, "\nnodes:", "\nndoes:", 1)[1:]
	text = strings.Replace(text, "doc: Leads the work.", "doc: no", 1)
	_, findings := spec.Parse("routes.yaml", []byte(text))
	assert.Len(t, findings, 2, "what is wrong inside is found in the same run: %s", list(findings))
}

// TestAnUnreadableValueIsNotMissingAsWell: one mistake is one finding.
func TestAnUnreadableValueIsNotMissingAsWell(t *testing.T) {
	t.Parallel()
	text := strings.Replace(base, "entry: true", "entry: tru", 1)
	_, findings := spec.Parse("routes.yaml", []byte(text))
	require.Len(t, findings, 1, list(findings))
	assert.Equal(t, spec.RuleScalarKind, findings[0].Rule)
	for _, key := range []string{"true", "false", "1e3", "~", "yes", "<<"} {
		text := strings.NewReplacer("  helper:\n", "  "+key+":\n", "HelperRequest",
			spec.GoName(key)+"Request").Replace(small)
		require.Contains(t, text, "\n  "+key+":\n")
		_, findings := spec.Parse("routes.yaml", []byte(text))
		require.Len(t, findings, 1, "%s: %s", key, list(findings))
		assert.Contains(t, []string{spec.RuleScalarKind, spec.RuleMergeKey}, findings[0].Rule)
	}
}

// small has a node that another one leads to.
const small = `version: 1
go: {package: routes, out: generated/routes}
results:
  Done: {doc: The end., fields: {text: {type: string, doc: In words.}}}
nodes:
  lead:
    doc: Leads the work.
    entry: true
    branches: {help: HelperRequest}
  helper:
    doc: Helps.
    request: {fields: {a: {type: int, doc: A.}}}
    branches: {done: Done}
`

// TestErrorsComeBeforeWarnings: with twenty findings shown, warnings must not hide an error.
func TestErrorsComeBeforeWarnings(t *testing.T) {
	t.Parallel()
	text := strings.Replace(small, "    doc: Leads the work.\n", "", 1)
	text = strings.Replace(text, "{done: Done}", "{done: Gone}", 1)
	_, findings := spec.Parse("routes.yaml", []byte(text))
	var got []string
	for _, f := range findings {
		got = append(got, fmt.Sprint(f.Severity, " ", f.At.Start.Line))
	}
	assert.Equal(t, []string{"error 12", "warning 6"}, got, list(findings))
}

// TestASecondDispatchByItsOwnResultsIsSelfRoute: what a node's dispatch brings back leads to the
// node itself.
func TestASecondDispatchByItsOwnResultsIsSelfRoute(t *testing.T) {
	t.Parallel()
	const text = `version: 1
go: {package: routes, out: generated/routes}
types:
  Summaries: {doc: All., fields: {all: {type: "[]string", doc: Each.}}}
results:
  Done: {doc: The end., fields: {text: {type: string, doc: In words.}}}
nodes:
  lead:
    doc: Spreads the work.
    entry: true
    request: {fields: {items: {type: "[]HelperRequest", doc: Pieces.}}}
    dispatch: {each: items, to: helper, results: Summaries}
    branches: {again: Summaries, done: Done}
  helper:
    doc: Helps.
    request: {fields: {a: {type: int, doc: A.}}}
    branches: {summaries: Summaries}
`
	_, findings := spec.Parse("routes.yaml", []byte(text))
	require.Equal(t, []string{"13:16 SELF_ROUTE"}, places(findings), list(findings))
	assert.Contains(t, findings[0].Hint, "Call.Results")
}

// TestAnEarlierPatternIsVouchedForByAnother refuses one that is the present pattern.
func TestAnEarlierPatternIsVouchedForByAnother(t *testing.T) {
	t.Parallel()
	for pattern, refused := range map[string]bool{"^a": true, "^b?a": false} {
		text := strings.Replace(small, "{type: int, doc: A.}", `{type: string, pattern: "`+
			pattern+`", accepts_old: ["^a"], doc: A.}`, 1)
		require.NotEqual(t, small, text)
		_, findings := spec.Parse("routes.yaml", []byte(text))
		assert.Equal(t, refused, strings.Contains(list(findings), "it is the present pattern"),
			list(findings))
	}
}

// TestHiddenFieldsThatMustNotBeEmpty lists what no model can fill, and what it need not.
func TestHiddenFieldsThatMustNotBeEmpty(t *testing.T) {
	t.Parallel()
	for field, warned := range map[string]bool{
		"{type: Mode, hidden: true}":                                 true,
		"{type: string, hidden: true, min_length: 1}":                true,
		"{type: string, hidden: true, format: uuid}":                 true,
		`{type: string, hidden: true, pattern: "^x"}`:                true,
		"{type: int, hidden: true, min: 1}":                          true,
		`{type: "[]int", hidden: true, min_items: 1}`:                true,
		"{type: Wrap, hidden: true}":                                 true,
		"{type: Code, hidden: true}":                                 true,
		"{type: string, hidden: true}":                               false,
		"{type: time, hidden: true}":                                 false,
		"{type: duration, hidden: true}":                             false,
		"{type: int, hidden: true, max: 5}":                          false,
		"{type: Mode, hidden: true, optional: true}":                 false,
		"{type: Mode, doc: M.}":                                      false,
		`{type: "[]Mode", hidden: true}`:                             false,
		"{type: string, optional: true, hidden: true, format: uuid}": false,
	} {
		text := strings.NewReplacer("{type: int, doc: A.}", field, "results:\n", `enums:
  Mode: {doc: How., values: {A: x}}
types:
  Wrap: {doc: W., fields: {mode: {type: Mode, doc: M.}}}
  Code: {doc: C., type: string, min_length: 2}
results:
`, "text: {type: string", "m: {type: Mode, doc: M.}, w: {type: Wrap, doc: W.}, "+
			"c: {type: Code, doc: C.}, text: {type: string").Replace(small)
		_, findings := spec.Parse("routes.yaml", []byte(text))
		if !warned {
			assert.Empty(t, list(findings), field)
			continue
		}
		require.Len(t, findings, 1, "%s: %s", field, list(findings))
		assert.Equal(t, spec.RuleHiddenZero, findings[0].Rule, field)
	}
}
