package report_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/generator/report"
	"github.com/routegen/routegen/generator/spec"
)

const twoMistakes = "version: 1\ngo: {package: routes, out: o}\nnodes:\n  planning:\n    " +
	"descripton: Plans.\n    entry: true\n    branches: {a: PlanningRequest, a: X}\n    # " +
	"routegen:allow SELF_ROUTE x\n"

func TestTextReport(t *testing.T) {
	_, findings := spec.Parse("routes.yaml", []byte(twoMistakes))
	findings = slicesOf(findings, spec.RuleUnknownKey, spec.RuleDuplicateKey)
	var b strings.Builder
	require.NoError(t, report.WriteText(&b, []byte(twoMistakes), findings))
	assert.Equal(t, `routes.yaml:5:5: error: unknown key "descripton" in node "planning"
    4 |   planning:
    5 |     descripton: Plans.
      |     ^^^^^^^^^^ known: doc
      = SPEC_UNKNOWN_KEY   why: routegen explain SPEC_UNKNOWN_KEY

routes.yaml:7:36: error: key "a" is written twice
    6 |     entry: true
    7 |     branches: {a: PlanningRequest, a: X}
      |                                    ^ keep one of them
      | routes.yaml:7:16: "a" is first written here
      = SPEC_DUPLICATE_KEY   why: routegen explain SPEC_DUPLICATE_KEY
`, strings.Replace(b.String(), findings[0].Hint, "known: doc", 1))
}

func slicesOf(findings []report.Finding, rules ...string) (out []report.Finding) {
	for _, f := range findings {
		for _, r := range rules {
			if f.Rule == r {
				out = append(out, f)
			}
		}
	}
	return out
}

func TestTextReportKeepsTheCaretInPlace(t *testing.T) {
	at := func(line, from, to int) report.Span {
		return report.Span{Start: report.Pos{Line: line, Column: from},
			End: report.Pos{Line: line, Column: to}}
	}
	long := strings.Repeat("x", 300) + "BAD" + strings.Repeat("y", 300)
	for name, c := range map[string]struct {
		src  string
		at   report.Span
		want []string
	}{
		"wide": {"日本: bad\n", at(1, 5, 8),
			[]string{"    1 | 日本: bad", "      |       ^^^ hint"}},
		"tab": {"a\tbad\n", at(1, 3, 6), []string{"    1 | a\tbad", "      |  \t^^^ hint"}},
		"mark": {"e\u0301 bad\n", at(1, 4, 7),
			[]string{"    1 | e\u0301 bad", "      |   ^^^ hint"}},
		"escape": {"\x1b[31m bad\n", at(1, 1, 2),
			[]string{"    1 | \ufffd[31m bad", "      | ^ hint"}},
		"long": {long, at(1, 301, 304),
			[]string{"      | " + strings.Repeat(" ", 67) + "^^^ hint"}},
		"past end": {"ab", at(1, 9, 10), []string{"      |   ^ hint"}},
		"no place": {"ab", report.Span{}, []string{"f: error: m", "      | hint"}},
		"no text":  {"", at(3, 1, 2), []string{"      | hint"}},
		"far line": {strings.Repeat("\n", 123455) + "bad", at(123456, 1, 4),
			[]string{"123456 | bad", "       | ^^^ hint", "       = R   why: routegen explain R"}},
	} {
		t.Run(name, func(t *testing.T) {
			var b strings.Builder
			require.NoError(t, report.WriteText(&b, []byte(c.src),
				[]report.Finding{{Rule: "R", Severity: report.Error, File: "f", At: c.at,
					Message: "m",
					Hint:    "hint"}}))
			lines := strings.Split(b.String(), "\n")
			for _, want := range c.want {
				assert.Contains(t, lines, want)
			}
			for _, line := range lines {
				assert.Less(t, len([]rune(line)), 230)
			}
		})
	}
}

func TestJSONReport(t *testing.T) {
	_, findings := spec.Parse("routes.yaml",
		[]byte(strings.Replace(twoMistakes, "descripton", "graup", 1)))
	findings = slicesOf(findings, spec.RuleUnknownKey, spec.RuleDuplicateKey)
	var b strings.Builder
	require.NoError(t, report.WriteJSON(&b, findings, report.Summary{Code: 1}))
	assert.Equal(t,
		`{"v":1,"kind":"finding","rule":"SPEC_UNKNOWN_KEY","severity":"error","file":"routes.yaml","start":[5,5],"end":[5,10],"path":"/nodes/planning","message":"unknown key \"graup\" in node \"planning\"","hint":"did you mean \"group\"?","fixes":[{"title":"use \"group\"","edits":[{"start":[5,5],"end":[5,10],"text":"group"}]}]}
{"v":1,"kind":"finding","rule":"SPEC_DUPLICATE_KEY","severity":"error","file":"routes.yaml","start":[7,36],"end":[7,37],"path":"/nodes/planning/branches","message":"key \"a\" is written twice","hint":"keep one of them","related":[{"start":[7,16],"message":"\"a\" is first written here"}]}
{"v":1,"kind":"summary","errors":2,"warnings":0,"wrote":0,"code":1}
`, b.String())
}

func TestGitHubReport(t *testing.T) {
	var b strings.Builder
	require.NoError(t, report.WriteGitHub(&b, []report.Finding{
		{Rule: "R", Severity: report.Warning, File: "a,b:c.yaml",
			At: report.Span{Start: report.Pos{Line: 2, Column: 3}}, Message: "50%\nmore: x",
			Hint: "h"},
		{Rule: "R", Severity: report.Error, File: "f", Message: "m"},
	}))
	assert.Equal(t, "::warning file=a%2Cb%3Ac.yaml,line=2,col=3,title=R::50%25%0Amore: x "+
		"(h)\n::error file=f,line=1,col=1,title=R::m\n", b.String())
}
