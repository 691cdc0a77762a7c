package spec_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/generator/spec"
)

// smallest is a spec without findings, in which the made cases put what they need.
const smallest = `version: 1
go: {package: routes, out: generated/routes}
results:
  PlanResult: {doc: The plan., fields: {text: {type: string, doc: In words.}}}
nodes:
  planner:
    doc: Plans the work.
    entry: true
    request: {fields: {mode: {type: string, doc: How to work.}}}
    branches: {done: PlanResult}
`

// at returns the place of the last mark in a text.
func at(s side, mark string) []string {
	before := s.text[:strings.LastIndex(s.text, mark)]
	line := strings.Count(before, "\n") + 1
	return []string{fmt.Sprintf("%d:%d", line, len(before)-strings.LastIndex(before, "\n"))}
}

// madeCases are those whose files are too large to be read, or hold what nobody can see. The bad
// ones are over a limit by one; the good ones at it, or far below where the YAML library would be
// at work for many seconds.
func madeCases() map[string]ruleCase {
	change := func(from, to string) side {
		return side{text: strings.Replace(smallest, from, to, 1)}
	}
	filled := func(size int) side {
		return side{text: smallest + "#" + strings.Repeat("-", size-len(smallest)-1)}
	}
	values := func(n int) side { // of one enum
		var b strings.Builder
		b.WriteString("enums:\n  Mode:\n    doc: How to work.\n    values:\n")
		for i := range n {
			fmt.Fprintf(&b, "      V%d: x\n", i)
		}
		s := change("results:\n", b.String()+"results:\n")
		s.text = strings.Replace(s.text, "type: string, doc: How", "type: Mode, doc: How", 1)
		return s
	}
	examples := func(n int) side {
		return change("type: string, doc: How", "type: string, examples: ["+strings.Repeat("x,", n)+
			"], doc: How")
	}
	unknown := func(n int) side {
		var b strings.Builder
		b.WriteString(smallest)
		for i := range n {
			fmt.Fprintf(&b, "unknown%d: 1\n", i)
		}
		return side{text: b.String()}
	}
	chain := func(key string) side { // of 65 records, and where they are used
		var b strings.Builder
		fmt.Fprintf(&b, "types:\n  R1: {doc: D., fields: {next: {type: R2, doc: N.%s}}}\n", key)
		for i := 2; i < 65; i++ {
			fmt.Fprintf(&b, "  R%d: {doc: D., fields: {next: {type: R%d, doc: N.}}}\n", i, i+1)
		}
		b.WriteString("  R65: {doc: D., fields: {a: {type: int, doc: N.}}}\n")
		s := change("results:\n", b.String()+"results:\n")
		s.text = strings.Replace(s.text, "type: string, doc: How", "type: \"[]R1\", doc: How", 1)
		return s
	}
	including := func(n int) side { // that many files
		s := side{beside: fstest.MapFS{}}
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "  - f%d.yaml\n", i)
			s.beside[fmt.Sprintf("f%d.yaml", i)] = &fstest.MapFile{
				Data: fmt.Appendf(nil, "reserved: [Old%d]\n", i)}
		}
		s.text = strings.Replace(smallest, "results:\n", "include:\n"+b.String()+"results:\n", 1)
		return s
	}
	tooManyFiles := including(256)
	tooManyKeys, tooManyNodes := values(65_537), examples(maxList+1)
	return map[string]ruleCase{
		spec.RuleEncoding: {bad: side{text: "\ufeff" + smallest}, good: side{text: smallest},
			want: []string{"1:1"}},
		spec.RuleControlChar: {bad: change("doc: Plans the work.", "doc: \"first\u202etsrif\""),
			good: change("doc: Plans the work.", "doc: first"), want: []string{"7:16"}},
		spec.RuleTooLarge: {bad: filled(32<<20 + 1), good: filled(1 << 20),
			want: []string{"1:1"}},
		spec.RuleTooManyKeys: {bad: tooManyKeys, good: values(65_536),
			want: at(tooManyKeys, "V65536")},
		spec.RuleTooManyNodes: {bad: tooManyNodes, good: examples(maxList / 100),
			want: at(tooManyNodes, "x,")},
		spec.RuleTooManyFiles: {bad: tooManyFiles, good: including(255),
			want: at(tooManyFiles, "f255.yaml")},
		spec.RuleTypeTooDeep: {bad: chain(""), good: chain(", optional: true"),
			want: []string{"4:3"}},
		spec.RuleTooManyFindings: {bad: unknown(10_001), good: unknown(10_000),
			want: []string{"1:1"}, among: true},
	}
}

// maxList is the longest list that a document of 4 million values can have where the examples
// stand.
const maxList = 4_000_000 - 37

// distant says where a rule has its cases that only a program with files around it can break:
// passages of two scripts, one that sees it broken and one that sees it kept.
type distant struct {
	why          string
	broken, kept passage
}

// passage is a text of a script, and the folder of the script says which test runs it.
type passage struct{ folder, file, text string }

var elsewhere = map[string]distant{
	spec.RuleBindingCycle: {
		"needs a Go package that imports the output",
		passage{"script", "binding", "\nstdout '= BINDING_CYCLE'\n"},
		passage{"script", "binding", "\nexec go build ./...\nexits 0 routegen check\n"},
	},
	spec.RuleOutForeign: {
		"needs a file in the way",
		passage{"bad", "g37", "= OUT_FOREIGN "},
		passage{"bad", "g37", "\nmv generated/routes/routes_gen.go generated/routes/mine.go\nrm " +
			"generated/docs/ROUTES.md\nexec routegen generate\n"},
	},
	spec.RuleOutChanged:  {"needs generated files", drift("OUT_CHANGED"), fresh},
	spec.RuleOutMissing:  {"needs generated files", drift("OUT_MISSING"), fresh},
	spec.RuleOutLeftover: {"needs generated files", drift("OUT_LEFTOVER"), fresh},
	spec.RuleOutputBroken: {
		"needs a generator with a defect",
		passage{"script", "broken_output", "\nstdout 'OUTPUT_BROKEN'\n"},
		passage{"script", "generate", "\nexec routegen generate\n! stdout .\n"},
	},
	spec.RulePromptTemplate: {
		"needs a folder of templates",
		passage{"script", "prompts", "\nstdout '= PROMPT_TEMPLATE '\n"},
		passage{"script", "prompts",
			"\ncp right.tmpl prompts/planner.tmpl\nexec routegen generate --no-verify\n"},
	},
	spec.RuleSchemaLimit: {"is found in the schemas, after this package",
		passage{"bad", "g30", "= SCHEMA_LIMIT "}, fresh},
	spec.RuleSchemaNoStrictForm: {
		"is found in the schemas, after this package",
		passage{"script", "schema", "\nstdout 'SCHEMA_NO_STRICT_FORM'\n"},
		passage{"script", "schema", "\nexec routegen schema --origin HELPER --dialect openai\n"},
	},
}

// fresh is a check that has nothing to say.
var fresh = passage{"scenario", "drift",
	"\nexec routegen generate\nexits 0 routegen check\n! stdout .\n"}

func drift(rule string) passage {
	return passage{"scenario", "drift", "\nstdout '\"rule\":\"" + rule + "\"'\n"}
}

// TestDistantCasesAreThere: a pointer to a case is worth nothing when the case has moved.
func TestDistantCasesAreThere(t *testing.T) {
	t.Parallel()
	const program = "../../cmd/routegen/"
	runs := map[string]passage{
		"script": {file: "program_test.go", text: "func TestScripts(t *testing.T) {"},
		"bad":    {file: "bad_test.go", text: "func TestBadInputsAreRefused(t *testing.T) {"},
		"scenario": {file: "scenario_test.go",
			text: "func TestDriftIsFoundAndRepaired(t *testing.T) {"},
	}
	has := func(name, text, id string) {
		got, err := os.ReadFile(program + name)
		require.NoError(t, err)
		assert.Contains(t, string(got), text, "%s: %s", id, name)
	}
	assert.LessOrEqual(t, len(elsewhere), 9,
		"a rule that a spec alone can break has its case in testdata/rules")
	for id, d := range elsewhere {
		rule, known := spec.FindRule(id)
		require.True(t, known, id)
		assert.NotEmpty(t, d.why, id)
		assert.Contains(t, d.broken.text, rule.ID)
		for _, p := range []passage{d.broken, d.kept} {
			has("testdata/"+p.folder+"/"+p.file+".txtar", p.text, id)
			has(runs[p.folder].file, runs[p.folder].text, id)
		}
	}
}
