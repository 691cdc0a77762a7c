package spec_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/generator/spec"
)

// written are texts that their scripts cannot write without an invisible character.
var written = map[string]string{
	"Persian, I want":            "می\u200Cخواهم",
	"Persian, with a vowel sign": "مِی\u200Cخواهم",
	"Hindi, half form":           "क्\u200Dष",
	"Hindi, no ligature":         "क्\u200Cष",
	"Sinhala":                    "ක්\u200Dෂ",
	"Malayalam, at the end":      "ന്\u200D",
	"Bengali":                    "র\u200D্য",
	"Arabic, initial form alone": "ه\u200D",
	"a family":                   "\U0001F468\u200D\U0001F469\u200D\U0001F467",
	"a picture with a skin":      "\U0001F469\U0001F3FD\u200D\U0001F4BB",
	"a flag with a rainbow":      "\U0001F3F3\uFE0F\u200D\U0001F308",
	"Hebrew with a number":       "מחיר\u200E +5",
	"Arabic with a product":      "منتج C++\u200F جديد",
	"Arabic with its own mark":   "٥\u061C-٣ كتب",
}

// unwritten are texts in which the same characters show nothing.
var unwritten = []string{"ad\u200Cmin", "ad\u200Dmin", "\u200Dx", "x\u200C", "می\u200C",
	"می\u200C\u200Cخ",
	"price\u200E 5", "\u200Fadmin", "क\u200Cष", "5\u200D6", "می\u200Bخ", "מחיר\u202E", "a\u2066b"}

// TestTextsAreWrittenInTheirScripts: in docs, in what flows say, in defaults and in comments, as
// the character and as an escape; never in names.
func TestTextsAreWrittenInTheirScripts(t *testing.T) {
	t.Parallel()
	const flows = `version: 1
go: {package: routes, out: generated/routes}
dialogue: {language: fa, languages: [hi]}
flows:
  f:
    doc: "TEXT"
    steps:
      - {step: a, type: say, message: "TEXT"}
      - {step: b, type: say, message: {fa: ["TEXT", x], hi: "TEXT"}}
`
	with := func(text string) string { return strings.ReplaceAll(flows, "TEXT", text) }
	escaped := func(text string) string {
		quoted := strconv.QuoteToASCII(text)
		return quoted[1 : len(quoted)-1]
	}
	for what, text := range written {
		for _, form := range []string{text, escaped(text)} {
			s, findings := spec.Parse("routes.yaml", []byte(with(form)+"# "+text+"\n"))
			require.Empty(t, list(findings), "%s, %s", what, form)
			assert.Equal(t, text, s.Flows[0].Doc.Value)
			name := strings.Replace(flows, "  f:\n", "  \"f"+form+"\":\n", 1)
			_, findings = spec.Parse("routes.yaml", []byte(name))
			require.NotEmpty(t, findings, "%s in a name", what)
			assert.Contains(t, []string{spec.RuleControlChar, spec.RuleNameCharset},
				findings[0].Rule)
		}
		for _, other := range []string{"{step: a,", "language: fa"} {
			word, comma := strings.CutSuffix(other, ",")
			word += text + map[bool]string{true: ","}[comma]
			_, findings := spec.Parse("routes.yaml",
				[]byte(strings.Replace(with("x"), other, word, 1)))
			assert.NotEmpty(t, findings, "%s in %s", what, other)
		}
	}
	for _, text := range unwritten {
		for _, form := range []string{text, escaped(text)} {
			_, findings := spec.Parse("routes.yaml", []byte(with(form)))
			require.NotEmpty(t, findings, "%+q", form)
			assert.Equal(t, spec.RuleControlChar, findings[0].Rule, "%+q", form)
		}
	}
}
