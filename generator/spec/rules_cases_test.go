package spec_test

import (
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/generator/edit"
	"github.com/routegen/routegen/generator/report"
	"github.com/routegen/routegen/generator/spec"
)

// ruleCase shows one rule at work: a spec that breaks it, and the same spec put right.
type ruleCase struct {
	bad, good side
	// where the bad side breaks the rule, as line:column; and others, as line:column RULE
	want  []string
	among bool // both sides break so many others that nobody would list them
}

// side is one spec of a case, the files beside it, and for the rules of edits the command that is
// tried on it.
type side struct {
	text, edit string
	beside     fstest.MapFS
}

// findings are what the rule is looked for in: those of the spec, or the refusals of the edit.
func (s side) findings() []report.Finding {
	if s.edit == "" {
		included, refused := spec.ReadIncluded("routes.yaml", []byte(s.text), s.beside.ReadFile)
		if len(refused) > 0 {
			return refused
		}
		parsed, findings := spec.Parse("routes.yaml", []byte(s.text), included...)
		if parsed == nil {
			return findings
		}
		findings = spec.Suppress(findings, parsed.Allows)
		parsed.Places.Resolve("routes.yaml", findings)
		return findings
	}
	words := strings.Fields(s.edit)
	var refused []report.Finding
	switch text := []byte(s.text); words[0] {
	case "add":
		what := edit.Addition{Kind: words[1], Name: words[2]}
		for _, pair := range words[3:] {
			key, value, _ := strings.Cut(pair, "=")
			what.Set = append(what.Set, edit.KeyValue{Key: key, Value: value})
		}
		_, refused = edit.Add("routes.yaml", text, what)
	case "rename":
		_, refused = edit.Rename("routes.yaml", text, words[1], words[2], words[3])
	case "remove":
		_, refused = edit.Remove("routes.yaml", text, words[1], words[2])
	}
	return refused
}

// TestEveryRuleHasBothCases: a rule that no spec breaks may never fire, and one that the repaired
// spec still breaks is wrong. The cases are testdata/rules/RULE.txtar, made for the few rules whose
// files nobody could read, and named where only a program with files around it can break the rule.
func TestEveryRuleHasBothCases(t *testing.T) {
	t.Parallel()
	assert.Empty(t, complaints(t, spec.Rules(), allCases(t)))
}

// complaints says what is missing or wrong in a table of cases; nothing when every rule of the
// catalogue has both.
func complaints(t *testing.T, rules []report.Rule, cases map[string]ruleCase) []string {
	t.Helper()
	var out []string
	known := map[string]bool{}
	for _, rule := range rules {
		known[rule.ID] = true
		c, here := cases[rule.ID]
		_, there := elsewhere[rule.ID]
		switch {
		case here && there:
			out = append(out, rule.ID+": has a case, and is listed as having it elsewhere")
		case here:
			out = append(out, c.complaints(rule)...)
		case !there:
			out = append(out, rule.ID+": has no case")
		}
	}
	for _, id := range slices.Sorted(maps.Keys(cases)) {
		if !known[id] {
			out = append(out, id+": is no rule")
		}
	}
	return out
}

func (c ruleCase) complaints(rule report.Rule) []string {
	var out []string
	say := func(format string, args ...any) {
		out = append(out, rule.ID+": "+fmt.Sprintf(format, args...))
	}
	broken := false
	var places []string
	for _, f := range c.bad.findings() {
		switch {
		case f.Rule == rule.ID && f.Severity != rule.Severity:
			say("it is %s in the catalogue and %s at %s", rule.Severity, f.Severity, place(f))
		case f.Rule == rule.ID:
			broken = true
			places = append(places, place(f))
		case !c.among:
			places = append(places, place(f)+" "+f.Rule)
		}
	}
	if !broken {
		say("the bad spec does not break it")
	} else if !slices.Equal(places, c.want) {
		say("the bad spec breaks it at %q, not at %q", places, c.want)
	}
	for _, f := range c.good.findings() {
		if f.Rule == rule.ID || !c.among {
			say("the good spec breaks %s at %s: %s", f.Rule, place(f), f.Message)
		}
	}
	return out
}

func place(f report.Finding) string {
	at := fmt.Sprintf("%d:%d", f.At.Start.Line, f.At.Start.Column)
	if f.File != "routes.yaml" {
		at = f.File + ":" + at
	}
	return at
}

func allCases(t *testing.T) map[string]ruleCase {
	t.Helper()
	cases := writtenCases(t)
	for id, c := range madeCases() {
		require.NotContains(t, cases, id)
		cases[id] = c
	}
	return cases
}

// writtenCases reads testdata/rules.
func writtenCases(t *testing.T) map[string]ruleCase {
	t.Helper()
	names, err := filepath.Glob("testdata/rules/*")
	require.NoError(t, err)
	cases := map[string]ruleCase{}
	for _, name := range names {
		id, isArchive := strings.CutSuffix(filepath.Base(name), ".txtar")
		require.True(t, isArchive, name)
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		cases[id] = readCase(t, id, text)
	}
	return cases
}

func readCase(t *testing.T, id string, text []byte) ruleCase {
	t.Helper()
	archive := txtar.Parse(text)
	require.NotEmpty(t, archive.Comment, "%s: say in the first line what is wrong", id)
	var c ruleCase
	c.bad.beside, c.good.beside = fstest.MapFS{}, fstest.MapFS{}
	for _, file := range archive.Files {
		body := string(file.Data)
		switch file.Name {
		case "bad.yaml":
			c.bad.text = body
		case "good.yaml":
			c.good.text = body
		case "bad.edit":
			c.bad.edit = strings.TrimSpace(body)
		case "good.edit":
			c.good.edit = strings.TrimSpace(body)
		case "want":
			c.want = strings.Split(strings.TrimSuffix(body, "\n"), "\n")
		case "bad/agents.yaml", "good/agents.yaml", "agents.yaml":
			in, name := path.Split(file.Name)
			if in != "good/" {
				c.bad.beside[name] = &fstest.MapFile{Data: file.Data}
			}
			if in != "bad/" {
				c.good.beside[name] = &fstest.MapFile{Data: file.Data}
			}
		default:
			require.Fail(t, "a section that nobody reads", "%s: %s", id, file.Name)
		}
	}
	require.NotEqual(t, c.bad, c.good, id)
	return c
}

// TestCasesDifferInLittle: the smaller the difference, the surer it is what the rule is about.
func TestCasesDifferInLittle(t *testing.T) {
	t.Parallel()
	for id, c := range writtenCases(t) {
		bad, good := strings.Split(c.bad.text, "\n"), strings.Split(c.good.text, "\n")
		assert.LessOrEqual(t, len(without(bad, good)), 2, "%s: lines that only the bad spec has",
			id)
		if len(bad) > 2 { // one line cannot be nearly a whole spec
			assert.LessOrEqual(t, len(without(good, bad)), 2,
				"%s: lines that only the good spec has", id)
		}
	}
}

// without returns the lines that are not among the others.
func without(lines, others []string) []string {
	return slices.DeleteFunc(slices.Clone(lines), func(line string) bool {
		return slices.Contains(others, line)
	})
}

// TestDemandForCasesCanLose breaks the table in every way that the demand has to notice.
func TestDemandForCasesCanLose(t *testing.T) {
	t.Parallel()
	const id = spec.RuleRefNode
	whole := writtenCases(t)[id]
	rule, _ := spec.FindRule(id)
	for want, table := range map[string]map[string]ruleCase{
		"REF_NODE: has no case": {},
		"REF_NOD: is no rule": {id: whole,
			"REF_NOD": whole},
		"REF_NODE: the bad spec does not break it": {id: {bad: whole.good,
			good: whole.good, want: whole.want}},
		`REF_NODE: the bad spec breaks it at ["21:16"], not at ["21:17"]`: {id: {bad: whole.bad,
			good: whole.good, want: []string{"21:17"}}},
		`REF_NODE: the bad spec breaks it at ["1:1 SPEC_UNKNOWN_KEY" "22:16"], not at ["22:16"]`: {id: {bad: side{text: "x: 1\n" + whole.bad.text}, good: whole.good, want: []string{"22:16"}}},
		`REF_NODE: the good spec breaks REF_NODE at 21:16: node "disp`:                           {id: {bad: whole.bad, good: whole.bad, want: whole.want}},
	} {
		got := complaints(t, []report.Rule{rule}, table)
		require.Len(t, got, 1, want)
		assert.True(t, strings.HasPrefix(got[0], want), "%q instead of %q", got[0], want)
	}
	assert.Empty(t, complaints(t, []report.Rule{rule}, map[string]ruleCase{id: whole}))
	rule.Severity = report.Warning
	assert.Equal(t, []string{"REF_NODE: it is warning in the catalogue and error at 21:16",
		"REF_NODE: the bad spec does not break it"},
		complaints(t, []report.Rule{rule}, map[string]ruleCase{id: whole}))
}
