package schema_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/schema"
)

// foreign are patterns of Go with the piece that JavaScript refuses or takes for something else.
var foreign = map[string]string{
	`(?i)abc`: `(?i)`, `(?P<n>x)`: `(?P<n>x)`, `(?s:.)`: `(?s:`, `(?<1a>x)`: `(?<1`,
	`\Aabc\z`: `\A`, `abc\z`: `\z`, `\Qa.b\E`: `\Q`, `[[:alpha:]]+`: `[:alpha:]`,
	`\p{Greek}+`: `\p`, `\PL`: `\P`, `\x{10FFFF}`: `\x`, `\a`: `\a`, `\123`: `\1`,
	`\@`: `\@`, `a\-b`: `\-`, `a{,5}`: `{`, `a}`: `}`, `a]`: `]`, `[]a]`: `[]`, `[^]a]`: `[^]`,
	`[\w-.]`: `-`, `^*a`: `*`, `\b+`: `+`, "^\U0001F600+$": "+", "^[\U0001F600]$": "\U0001F600",
	`[\pL]`: `\p`,
}

// common are patterns that mean the same to both.
var common = []string{
	`^ak:[0-9A-HJKMNP-TV-Z]{26}(/[0-9A-HJKMNP-TV-Z]{26})*$`, `^[a-z]+$`, `^(?:a|b)?c{2,}$`, `a??b`,
	`^(?<year>\d{4})-\d\d$`, `^[^\s/]+\.[\w.-]+$`, `\\`, `^\x41\t\/$`, `[a-c-e]`, `[-a]`, `[\-a]`,
	`^\$\{x\}$`, `[[a]`, `(|a)*b`, `\bx\B`, `^-?([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$`, `(?:)`, "^\U0001F600$",
}

// TestPatternsThatOnlyGoReadsAreNamed holds the table; that it is right is for the engine below.
func TestPatternsThatOnlyGoReadsAreNamed(t *testing.T) {
	t.Parallel()
	for pattern, piece := range foreign {
		assert.Equal(t, piece, schema.GoPattern(pattern), pattern)
	}
	for _, pattern := range common {
		assert.Empty(t, schema.GoPattern(pattern), pattern)
	}
}

// TestNoSchemaCarriesAPatternThatOnlyGoReads: it is said in words in every dialect.
func TestNoSchemaCarriesAPatternThatOnlyGoReads(t *testing.T) {
	t.Parallel()
	def, err := schema.Parse([]byte(`{"type":"object","properties":{"a":{"type":"string",` +
		`"pattern":"(?i)^x$"},"b":{"type":"string","pattern":"^x$"}},"required":["a","b"],` +
		`"additionalProperties":false}`))
	require.NoError(t, err)
	for _, d := range runtime.Dialects() {
		out, missing := schema.Convert(d, def)
		require.Empty(t, missing)
		properties := out.Get("properties")
		assert.Nil(t, properties.Get("a").Get("pattern"), "%v", d)
		assert.Equal(t, "Matches the regular expression (?i)^x$.",
			properties.Get("a").Get("description").Text, "%v", d)
		assert.Equal(t, d != runtime.Gemini, properties.Get("b").Get("pattern") != nil, "%v", d)
	}
}

// question is a pattern and texts to try it on.
type question struct {
	Pattern string   `json:"p"`
	Texts   []string `json:"t"`
}

// engine compiles each pattern with the u flag, as validators do, and without, and tries both on
// the texts. null stands for a pattern that does not compile.
const engine = `const out = JSON.parse(require('fs').readFileSync(0, 'utf8')).map(q =>
  ['u', ''].map(flag => {
    try { const re = new RegExp(q.p, flag); return q.t.map(t => re.test(t)) }
    catch { return null }
  }));
console.log(JSON.stringify(out))`

// ask asks a real engine of JavaScript. Without one the test is skipped, or fails if
// ROUTEGEN_NODE=required, which .ci/run sets where there is one.
func ask(t *testing.T, questions []question) [][2][]bool {
	t.Helper()
	node, err := exec.LookPath("node")
	switch {
	case err != nil && os.Getenv("ROUTEGEN_NODE") == "required":
		t.Fatal("ROUTEGEN_NODE=required, but there is no node in PATH")
	case err != nil:
		t.Skip("SKIPPED: no node in PATH, so no engine of JavaScript has judged the patterns")
	}
	asked, err := json.Marshal(questions)
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), node, "-e", engine)
	cmd.Stdin = bytes.NewReader(asked)
	text, err := cmd.Output()
	require.NoError(t, err)
	var out [][2][]bool
	require.NoError(t, json.Unmarshal(text, &out))
	require.Len(t, out, len(questions))
	return out
}

// TestJavaScriptReadsThePatternsOfSchemas asks a real engine about the table and about patterns
// made of the pieces that matter: what a schema carries compiles there and matches what Go matches.
func TestJavaScriptReadsThePatternsOfSchemas(t *testing.T) {
	t.Parallel()
	texts := []string{"", "a", "b", "abc", "aab", "A", "1", "-", "]", "}", "{", "x-1", "a.b",
		"a\nb", "^", "$", "\\", "/", "\t", "a{,5}", "[:a]", "\U0001F600", "\U0001F600\U0001F600",
		"2024-01", "ccc", "_", "é", "ab1-"}
	questions := make([]question, 0, 3000)
	for pattern := range foreign {
		questions = append(questions, question{pattern, texts})
	}
	tabled := len(questions)
	for _, pattern := range common {
		questions = append(questions, question{pattern, texts})
	}
	piece := rapid.SampledFrom([]string{"a", "b", "1", ".", "-", "_", "(", ")", "(?:", "(?<n>", "|",
		"[", "[^", "]", "a-c", "{", "}", "{2}", "{1,2}", "{,2}", "*", "+", "?", "^", "$", `\d`, `\w`,
		`\W`, `\b`, `\B`, `\.`, `\-`, `\/`, `\\`, `\]`, `\[`, `\n`, `\x41`, `\z`, `\A`, `\p{L}`,
		"[:alpha:]", "é", ",", "/", "(?i)", `\_`, `\q`, "&&", "--"})
	pattern := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(piece, 1, 7).Draw(t, "pieces"), "")
	})
	for i := 0; len(questions) < cap(questions); i++ {
		p := pattern.Example(i)
		if _, err := regexp.Compile(p); err == nil && schema.GoPattern(p) == "" {
			questions = append(questions, question{p, texts})
		}
	}
	for i, byFlag := range ask(t, questions) {
		q := questions[i]
		ours := regexp.MustCompile(q.Pattern)
		want := make([]bool, len(q.Texts))
		for k, text := range q.Texts {
			want[k] = ours.MatchString(text)
		}
		if i < tabled {
			alike := assert.ObjectsAreEqual([2][]bool{want, want}, byFlag)
			assert.False(t, alike, "%s is no pattern that only Go reads", q.Pattern)
			continue
		}
		for k, flag := range []string{"u", ""} {
			if !assert.NotNil(t, byFlag[k], "%s does not compile, flag %q", q.Pattern, flag) {
				continue
			}
			for j, text := range q.Texts {
				if flag == "" && strings.ContainsRune(text, '\U0001F600') {
					continue // two characters to . and \W, whatever the schema says
				}
				assert.Equal(t, want[j], byFlag[k][j], "%s on %q, flag %q", q.Pattern, text, flag)
			}
		}
	}
}
