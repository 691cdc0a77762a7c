package spec

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/generator/report"
)

// parsed reads an expression as it stands in a file alone.
func parsed(text string) (*Expr, []report.Finding) {
	r := &reader{src: report.NewSource("x", []byte(text))}
	at := report.Pos{Line: 1, Column: 1}
	return r.parseExpr(Text{Value: text, At: report.Span{Start: at, End: at}},
		&node{Kind: ScalarNode, Tag: TagText, Value: text, Line: 1, Column: 1}), r.findings
}

// print writes an expression with all its brackets.
func (e *Expr) print() string {
	args := make([]string, len(e.Args))
	for i, a := range e.Args {
		args[i] = a.print()
	}
	switch e.Op {
	case "value":
		if e.Value.Kind != "string" {
			return e.Value.Value
		}
		if strings.Contains(e.Value.Value, "'") {
			return `"` + e.Value.Value + `"`
		}
		return "'" + e.Value.Value + "'"
	case "slot":
		return e.Slot.Value
	case "filled":
		return "filled(" + e.Slot.Value + ")"
	case "not":
		return "(not " + args[0] + ")"
	case "list":
		return "[" + strings.Join(args, ", ") + "]"
	}
	return "(" + strings.Join(args, " "+e.Op+" ") + ")"
}

// TestExpressionsBind: what binds tighter stands in the inner brackets.
func TestExpressionsBind(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"a":                               "a",
		"a or b and c":                    "(a or (b and c))",
		"a and b or c":                    "((a and b) or c)",
		"(a or b) and c":                  "((a or b) and c)",
		"not a and b":                     "((not a) and b)",
		"not a == b":                      "(not (a == b))",
		"not (not a)":                     "(not (not a))",
		"a or b or c":                     "(a or b or c)",
		"a and (b and c)":                 "(a and (b and c))",
		"a < 5 and b >= -1.50":            "((a < 5) and (b >= -1.50))",
		"a in ['x', \"it's\"]":            `(a in ['x', "it's"])`,
		"a not in [1,2 ]":                 "(not (a in [1, 2]))",
		"not filled( a )":                 "(not filled(a))",
		"(((a)))":                         "a",
		"a==true or b!=false":             "((a == true) or (b != false))",
		"amount>10000 and not vip":        "((amount > 10000) and (not vip))",
		"a == ''":                         "(a == '')",
		"not a in tags or a not in other": "((not (a in tags)) or (not (a in other)))",
	} {
		e, findings := parsed(text)
		require.NotNil(t, e, "%s: %v", text, findings)
		assert.Equal(t, want, e.print(), text)
		again, _ := parsed(want)
		require.NotNil(t, again, want)
		assert.Equal(t, want, again.print())
	}
}

// TestExpressionsKnowTheirPlace: every part knows the stretch of text that it was read from.
func TestExpressionsKnowTheirPlace(t *testing.T) {
	t.Parallel()
	const text = "e == 'é'  or not (amount >= 2.50 and name not in ['a', 'b']) or filled( x )"
	e, findings := parsed(text)
	require.NotNil(t, e, findings)
	var got []string
	e.each(func(e *Expr) {
		from, to := e.At.Start.Column-1, e.At.End.Column-1
		got = append(got, e.Op+" "+string([]rune(text)[from:to]))
	})
	assert.Equal(t, []string{
		"or " + text,
		"== e == 'é'", "slot e", "value 'é'",
		"not " + "not (amount >= 2.50 and name not in ['a', 'b'])",
		"and amount >= 2.50 and name not in ['a', 'b']",
		">= amount >= 2.50", "slot amount", "value 2.50",
		"not name not in ['a', 'b']", "in name not in ['a', 'b']", "slot name", "list ['a', 'b']",
		"value 'a'", "value 'b'",
		"filled filled( x )",
	}, got)
}

// TestExpressionsAreBounded: nesting and length have ends, and the ends are the ones that are
// documented.
func TestExpressionsAreBounded(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		ok   bool
	}{
		{strings.Repeat("(", maxExprDepth) + "a" + strings.Repeat(")", maxExprDepth), true},
		{strings.Repeat("(", maxExprDepth+1) + "a" + strings.Repeat(")", maxExprDepth+1), false},
		{strings.Repeat("not ", maxExprDepth) + "a", true},
		{strings.Repeat("not ", maxExprDepth+1) + "a", false},
		{"a" + strings.Repeat(" and a", 166), true},
		{"a" + strings.Repeat(" and a", 167), false},
	} {
		e, findings := parsed(c.text)
		assert.Equal(t, c.ok, e != nil, "%.40s: %v", c.text, findings)
		assert.Equal(t, c.ok, len(findings) == 0)
	}
}

// FuzzExpr: whatever the text, there is an expression or one finding that points into it; and an
// expression that is written with all its brackets is read as the same one.
func FuzzExpr(f *testing.F) {
	for _, seed := range []string{
		"a", "a or b and not c", "a in ['x', 1]", "a not in b", "filled(a)", "((a", "a == 'it",
		"1 < a < 2", "a && b", "a - 1", "-5 > a",
		"not (a == \"b\" or c)", "[]", "a.b", "{a}", "é", "a\nand b", "null", "\x00", "5.", "05",
		"AND",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if strings.ToValidUTF8(text, "") != text {
			return // no such text comes out of a document
		}
		e, findings := parsed(text)
		if e == nil {
			if len(findings) != 1 || findings[0].Rule != RuleFlowExpr {
				t.Fatalf("%q: %v", text, findings)
			}
			if at := findings[0].At; at.Start.Line < 1 || at.Start.Line > strings.Count(text, "\n")+
				1 || at.Start.Column < 1 {
				t.Fatalf("%q: %v", text, at)
			}
			return
		}
		if len(findings) > 0 {
			t.Fatalf("%q: %v", text, findings)
		}
		written := e.print()
		if len(written) > maxExprText || strings.Count(written, "(") > maxExprDepth {
			return
		}
		again, findings := parsed(written)
		if again == nil || again.print() != written {
			t.Fatalf("%q becomes %q: %v", text, written, findings)
		}
	})
}

// TestTemplatesHaveParts: texts and places, braces undone.
func TestTemplatesHaveParts(t *testing.T) {
	t.Parallel()
	read := func(text string) (parts []string, findings []report.Finding) {
		r := &reader{src: report.NewSource("x", []byte(text))}
		at := report.Pos{Line: 1, Column: 1}
		template := r.parseTemplate(Text{Value: text, At: report.Span{Start: at, End: at}},
			&node{Kind: ScalarNode, Tag: TagText, Value: text, Line: 1, Column: 1})
		for _, p := range template.Parts {
			if p.Name.Set() {
				parts = append(parts, "{"+p.Name.Value+strings.Repeat(".", p.Decimals)+"}")
			} else {
				parts = append(parts, p.Text)
			}
		}
		return parts, r.findings
	}
	for text, want := range map[string][]string{
		"Hello.":                 {"Hello."},
		"{a}":                    {"{a}"},
		"x {a}{b_2} y":           {"x ", "{a}", "{b_2}", " y"},
		"{a:0} {a:2}":            {"{a.}", " ", "{a...}"},
		"{{a}} is {{{a}}} {{{{":  {"{a} is {", "{a}", "} {{"},
		"é {a} — {{":             {"é ", "{a}", " — {"},
		"two\nlines {a}\nand on": {"two\nlines ", "{a}", "\nand on"},
	} {
		parts, findings := read(text)
		assert.Empty(t, findings, text)
		assert.Equal(t, want, parts, text)
	}
	for _, text := range []string{"", " ", "{", "}", "{a", "a}", "{}", "{a b}", "{a:}", "{a:x}",
		"{A}", "{a\n}", "{not}", "{a:-1}", "{a:+1}", "{a:01}"} {
		_, findings := read(text)
		assert.NotEmpty(t, findings, "%q", text)
		for _, f := range findings {
			assert.Equal(t, RuleFlowTemplate, f.Rule)
		}
	}
}
