package spec_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/generator/report"
	"github.com/routegen/routegen/generator/spec"
)

func TestDocumentMistakes(t *testing.T) {
	siblings := "version: 1\nnodes:\n"
	var many strings.Builder
	for i := range 70_000 {
		fmt.Fprintf(&many, "  n%d: {}\n", i)
	}
	for name, c := range map[string]struct{ text, rule, says string }{
		"empty":         {"", spec.RuleEmpty, "empty"},
		"only comments": {"# nothing\n", spec.RuleEmpty, "no document"},
		"null":          {"~\n", spec.RuleEmpty, "empty"},
		"list":          {"§- a\n", spec.RuleRoot, "a list"},
		"scalar":        {"§hello\n", spec.RuleRoot, `"hello"`},
		"two documents": {base + "§---\nversion: 1\n", spec.RuleMultiDoc, "second"},
		"too large": {strings.Repeat("# filler\n", 4_000_000), spec.RuleTooLarge,
			"32 MiB"},
		"alias":     {base + "§reserved: *x\n", spec.RuleAlias, "*x"},
		"many keys": {siblings + many.String(), spec.RuleTooManyKeys, "65536"},
		"flow nesting": {"§version: " + strings.Repeat("[", 200_000), spec.RuleTooDeep,
			"64"},
		"compact nesting": {strings.Repeat("- ", 200_000), spec.RuleTooDeep, "64"},
		"tab": {"version: 1\ngo:\n§\tpackage: routes\n", spec.RuleSyntax,
			"only spaces"},
		"NUL": {"version: 1\n# a§\x00b\n" + base[len("version: 1\n"):],
			spec.RuleControlChar, "U+0000"},
		"C1": {"version: 1\n# §\u0085\n" + base[len("version: 1\n"):],
			spec.RuleControlChar, "U+0085"},
		"bidi": {"version: 1\n# é§\u202e\n" + base[len("version: 1\n"):],
			spec.RuleControlChar, "U+202E"},
		"zero width": {"version: 1\n# §\u200b\n" + base[len("version: 1\n"):],
			spec.RuleControlChar, "U+200B"},
		"lone CR": {"version: 1 §\r# x\n" + base[len("version: 1\n"):],
			spec.RuleControlChar, "U+000D"},
		"not UTF-8":       {"version: 1\n# §\xff\n", spec.RuleEncoding, "0xFF"},
		"UTF-16":          {"\xff\xfev\x00", spec.RuleEncoding, "UTF-16"},
		"byte order mark": {"\ufeffversion: 1\n", spec.RuleEncoding, "byte order mark"},
		"conflict": {"version: 1\n§<<<<<<< HEAD\ngo: {}\n=======\ngo: {package: " +
			"a}\n>>>>>>> b\n", spec.RuleSyntax, "merge conflict"},
		"unquoted list type": {"version: 1\ntypes:\n  A:\n    fields:\n      a: {type: " +
			"string}\n      b:\n        type: §[]string\n", spec.RuleSyntax,
			`write "[]string"`},
		"colon in value": {"version: 1\nnodes:\n  a:\n    doc: one§: two\n", spec.RuleSyntax,
			"inside a value"},
		"nothing to do": {"§version: 1\ngo: {package: a, out: b}\n", spec.RuleMissingKey,
			"neither nodes nor flows"},
		"colon in brackets": {"version: 1\nnodes:\n  a: {doc: one§: two}\n", spec.RuleSyntax,
			"quote the whole value"},
		"mark in brackets": {"version: 1\nnodes:\n  a: {doc: one§?}\n", spec.RuleSyntax,
			"quote the whole value"},
		"curly quote": {"version: 1\nnodes:\n  a: {doc: §“one?”}\n", spec.RuleSyntax,
			"write a plain one"},
		"quote open": {"version: 1\nnodes:\n  a:\n    doc: §\"one\n", spec.RuleSyntax,
			"never closed"},
		"bracket open":  {"version: 1\nnodes: §{a: {}\n", spec.RuleSyntax, "never closed"},
		"bracket wrong": {"version: 1\nnodes: {a: [x§}}\n", spec.RuleSyntax, "closes"},
		"no colon":      {"version: 1\n§nodes\nx: 1\n", spec.RuleSyntax, "without `:`"},
		"forbidden first": {"version: 1\nnodes:\n  a:\n    doc: §@x\n", spec.RuleSyntax,
			"cannot begin with @"},
		"bad dedent": {"version: 1\nnodes:\n    a: {}\n  §b: {}\n", spec.RuleSyntax,
			"indentation"},
		"alias before anchor": {"version: §*x\n", spec.RuleAlias, "*x"},
	} {
		t.Run(name, func(t *testing.T) {
			text, place := mark(c.text)
			if strings.Contains(name, "nesting") || name == "alias" {
				place = ""
			}
			_, findings := spec.Parse("routes.yaml", []byte(text))
			require.Len(t, findings, 1, list(findings))
			assert.Equal(t, c.rule, findings[0].Rule, list(findings))
			assert.Contains(t, findings[0].Message+" | "+findings[0].Hint, c.says)
			if place != "" {
				assert.Equal(t, place, fmt.Sprintf("%d:%d", findings[0].At.Start.Line,
					findings[0].At.Start.Column), list(findings))
			}
		})
	}
}

// TestHiddenCharactersAreAllReported has mistakes behind characters that nobody sees: each of these
// is where an editor shows it, and nothing else is checked before they are gone.
func TestHiddenCharactersAreAllReported(t *testing.T) {
	text := strings.Replace(base, "goal: {type: string, doc: The aim.}",
		"go\u200Bal: {ty\u202Epe: strin, do: \u00AD\u200BThe aim., doc: The aim.}", 1)
	_, findings := spec.Parse("routes.yaml", []byte(text))
	var got []string
	for _, f := range findings {
		got = append(got, fmt.Sprintf("%d %s", f.At.Start.Column, f.Rule))
	}
	assert.Equal(t, []string{
		"11 SPEC_CONTROL_CHAR", "19 SPEC_CONTROL_CHAR", "35 SPEC_CONTROL_CHAR",
		"36 SPEC_CONTROL_CHAR",
	}, got, list(findings))
}

func TestAnchorsTagsAndMergeKeysAreAllReported(t *testing.T) {
	_, findings := spec.Parse("routes.yaml",
		[]byte("version: !!int 1\ngo: &g {package: routes, out: o}\nconversation: *g\nnodes:\n  "+
			"<<: {}\n"))
	var rules []string
	for _, f := range findings {
		rules = append(rules, f.Rule)
	}
	for _, want := range []string{spec.RuleTag, spec.RuleAlias, spec.RuleMergeKey} {
		assert.Contains(t, rules, want)
	}
	assert.NotContains(t, rules, spec.RuleUnknownKey)
}

// TestBillionLaughs must not expand anything: the findings are as many as the anchors and aliases.
func TestBillionLaughs(t *testing.T) {
	var b strings.Builder
	b.WriteString("a: &a [" + strings.TrimSuffix(strings.Repeat("x, ", 9), ", ") + "]\n")
	for c := 'b'; c <= 'i'; c++ {
		fmt.Fprintf(&b, "%c: &%c [%s]\n", c, c,
			strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*%c, ", c-1), 9), ", "))
	}
	_, findings := spec.Parse("routes.yaml", []byte(b.String()))
	aliases := 0
	for _, f := range findings {
		if f.Rule == spec.RuleAlias {
			aliases++
		}
	}
	assert.Equal(t, 9+8*9, aliases)
}

func TestSevenMistakesSevenFindings(t *testing.T) {
	text := base
	for _, swap := range [][2]string{
		{"doc: Leads the work.", "doc: no"},
		{"min: 1, max: 9,", "min: 10, max: 9,"},
		{"clash: queue", "clash: quue"},
		{"vars: [goal]", "vars: [gaol]"},
		{"timeout: 15m", "timeuot: 15m"},
		{"STOP: end}", "STOP: nowhere}"},
		{"escalates: lead", "escalates: leed"},
	} {
		require.Equal(t, 1, strings.Count(text, swap[0]), swap[0])
		text = strings.Replace(text, swap[0], swap[1], 1)
	}
	text = strings.Replace(text, "default: 3, ", "", 1)
	s, findings := spec.Parse("routes.yaml", []byte(text))
	require.NotNil(t, s)
	require.Len(t, findings, 7, list(findings))
	rules := map[string]bool{}
	for i, f := range findings {
		rules[f.Rule] = true
		if i > 0 {
			assert.LessOrEqual(t, findings[i-1].At.Start.Line, f.At.Start.Line)
		}
	}
	assert.Len(t, rules, 7, "of different kinds")
	_, again := spec.Parse("routes.yaml", []byte(text))
	assert.Equal(t, findings, again)
}

func TestAllows(t *testing.T) {
	self := change(t, "leadRequest: LeadRequest}", "leadRequest: LeadRequest, again: Extra}")
	line := "    branches: {planResult: PlanResult"
	with := func(comment, tail string) string {
		return strings.Replace(strings.Replace(self, line, comment+line, 1), "again: Extra}",
			"again: Extra}"+tail, 1)
	}
	for name, c := range map[string]struct{ text, rules string }{
		"without":    {self, "SELF_ROUTE"},
		"line above": {with("    # routegen:allow SELF_ROUTE it ends by the limit\n", ""), ""},
		"comments above": {with("    # routegen:allow SELF_ROUTE it ends\n    # more words\n\n",
			""), ""},
		"same line": {with("", " # routegen:allow SELF_ROUTE it ends"), ""},
		"other rule": {with("    # routegen:allow DOC_MISSING why not\n", ""),
			"ALLOW_UNUSED SELF_ROUTE"},
		"too far": {with("    # routegen:allow SELF_ROUTE it ends\n    group: x\n", ""),
			"ALLOW_UNUSED SELF_ROUTE"},
		"no reason": {with("    # routegen:allow SELF_ROUTE\n", ""), "ALLOW_NO_REASON"},
		"unknown": {with("    # routegen:allow SELF_RUOTE x\n", ""),
			"ALLOW_UNKNOWN_RULE SELF_ROUTE"},
		"an error": {with("    # routegen:allow REF_NODE x\n", ""),
			"ALLOW_UNKNOWN_RULE SELF_ROUTE"},
		"inside quotes": {strings.Replace(self, "doc: Leads the work.",
			`doc: "# routegen:allow NOPE x"`, 1), "SELF_ROUTE"},
		"in block text": {strings.Replace(self, "doc: Leads the work.",
			"doc: |\n      # routegen:allow NOPE x", 1), "SELF_ROUTE"},
	} {
		t.Run(name, func(t *testing.T) {
			s, findings := spec.Parse("routes.yaml", []byte(c.text))
			var rules []string
			for _, f := range spec.Suppress(findings, s.Allows) {
				rules = append(rules, f.Rule)
			}
			assert.Equal(t, c.rules, strings.Join(rules, " "))
		})
	}
}

func TestImpliedInterruptAndDecodedValues(t *testing.T) {
	s, findings := spec.Parse("routes.yaml", []byte(base))
	require.Empty(t, findings)
	assert.Equal(t, "24h", s.Interrupts.Kinds[1].Deadline.After.Value)
	assert.True(t, s.Interrupts.Kinds[0].Deadline.None)
	assert.Equal(t, `{"go":true}`, s.Interrupts.Kinds[1].Auto.Answer.Value)
	question := s.Nodes[4]
	require.NotNil(t, question.Interrupt, "only: interrupt implies one")
	assert.Equal(t, "QuestionInterruptRequest", question.InterruptName())
	assert.False(t, question.HasRoute())
	assert.Equal(t, "LeadRequest", s.Nodes[0].RequestName())
	field := s.Types[1].Fields[1]
	assert.Equal(t, "3", field.Default.JSON())
	assert.InDelta(t, 9, field.Max.Value, 0)
	assert.Equal(t, report.Pos{Line: 12, Column: 7}, field.Key.At.Start)
	assert.Equal(t, "[]Ticket", s.Types[2].Fields[0].Type.String())
}

const twoMistakes = "version: 1\ngo: {package: routes, out: o}\nnodes:\n  planning:\n    " +
	"descripton: Plans.\n    entry: true\n    branches: {a: PlanningRequest, a: X}\n    # " +
	"routegen:allow SELF_ROUTE x\n"

func TestWindowsLineEndsAreTheSame(t *testing.T) {
	_, findings := spec.Parse("routes.yaml", []byte(strings.ReplaceAll(base, "\n", "\r\n")))
	assert.Empty(t, list(findings))
	_, unix := spec.Parse("routes.yaml", []byte(twoMistakes))
	_, windows := spec.Parse("routes.yaml", []byte(strings.ReplaceAll(twoMistakes, "\n", "\r\n")))
	assert.Equal(t, unix, windows)
}
