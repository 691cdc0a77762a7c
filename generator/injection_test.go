package generator_test

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/generator"
	"github.com/routegen/routegen/generator/report"
	"github.com/routegen/routegen/generator/spec"
)

// payloads are what hostile specs have tried on generators of code.
var payloads = map[string]string{
	"newline and code":           "x\nfunc init() { panic(1) }",
	"newline and build tag":      "x\n//go:build ignore\n",
	"newline and go:generate":    "x\n//go:generate sh -c id",
	"newline and line directive": "x\n//line /etc/passwd:1",
	"build tag alone":            "//go:build ignore",
	"old build tag":              "+build ignore",
	"cgo":                        "#cgo LDFLAGS: -lm",
	"carriage return":            "x\r//go:build ignore",
	"line separator":             "x\u2028//go:build ignore",
	"bidi":                       "x\u202e// }",
	"NUL":                        "x\x00y",
	"end of comment":             "*/ func init() {} /*",
	"backtick":                   "`; func Evil() {}; var _ = `",
	"backtick in a tag":          "a`; type Evil struct{}; var _ = `",
	"quote in a tag":             `a" xml:"evil`,
	"option in a tag":            "a,omitempty",
	"dash":                       "-",
	"two declarations":           "Planner struct{}; type X",
	"predeclared":                "string",
	"keyword":                    "type",
	"blank":                      "_",
	"cyrillic":                   "\u0430gent",
	"path":                       "../../etc/passwd",
	"template":                   "{{.Env}}<script>alert(1)</script>",
	"end of a fence":             "```\n# Heading",
}

// slots are the places of the small spec that a text can stand at. Those that make names take
// nothing but names.
var slots = []struct {
	name, old, wrong string // wrong has PAYLOAD
	isName           bool
}{
	{"doc of a type", "doc: One piece of work.", "doc: PAYLOAD", false},
	{"doc of a field", "doc: How heavy it is.", "doc: PAYLOAD", false},
	{"doc of a node", "doc: Builds one piece after the other.", "doc: PAYLOAD", false},
	{"doc of a request", "doc: Asks for a plan.", "doc: PAYLOAD", false},
	{"doc of an interrupt", "doc: Asks about one piece.", "doc: PAYLOAD", false},
	{"display name", "agent_type: PLANNER", "display_name: PAYLOAD", false},
	{"group", "agent_type: PLANNER", "group: PAYLOAD", false},
	{"guidance", "vars: [goal]}", "vars: [goal], guidance: PAYLOAD}", false},
	{"template", "template: workflow/planner", "template: PAYLOAD", false},
	{"deprecation", "doc: How heavy it is.", "doc: Weight., deprecated: PAYLOAD", false},
	{"default", "name: {type: string,", "name: {type: string, optional: true, default: PAYLOAD,",
		false},
	{"example", "name: {type: string,", "name: {type: string, examples: [PAYLOAD],", false},
	{"pattern", "name: {type: string,", "name: {type: string, pattern: PAYLOAD,", false},
	{"alias", "agent_type: PLANNER", "aliases: [PAYLOAD]", true},
	{"agent type", "agent_type: PLANNER", "agent_type: PAYLOAD", true},
	{"action", "agent_type: PLANNER", "action: PAYLOAD", true},
	{"tag of a route", "agent_type: PLANNER", "route: {tag: PAYLOAD}", true},
	{"field of a route", "agent_type: PLANNER", "route: {field: PAYLOAD}", true},
	{"JSON name", "name: {type: string,", "name: {type: string, json: PAYLOAD,", true},
	{"Go name", "name: {type: string,", "name: {type: string, go_name: PAYLOAD,", true},
	{"name of a field", "weight: {", "PAYLOAD: {", true},
	{"name of a type", "  Item:\n",
		"  PAYLOAD: {doc: Other., fields: {a: {type: string, doc: Text.}}}\n  Item:\n", true},
	{"name of a routing", "agent_type: PLANNER", "routing: PAYLOAD", true},
	{"name of a branch", "builderRequest: BuilderRequest", "PAYLOAD: BuilderRequest", true},
	{"package", "package: routes", "package: PAYLOAD", true},
	{"bound type", "request: {doc: Asks for a plan.,",
		"request: {doc: Asks for a plan., go_type: PAYLOAD,", true},
}

// legalNames are the payloads that are nothing but a name where they stand.
var legalNames = map[string][]string{
	"predeclared": {"field of a route", "JSON name", "name of a field", "name of a branch",
		"action", "tag of a route"},
	"blank": {"JSON name"},
	"keyword": {"field of a route", "JSON name", "name of a field", "name of a branch",
		"action", "tag of a route"},
}

// contents is what the Go files of an output declare, and the comments in it that a tool would
// obey.
func contents(t *testing.T, files map[string][]byte) (declared, directives []string) {
	t.Helper()
	for name, text := range files {
		switch path.Ext(name) {
		case ".json":
			assert.True(t, json.Valid(text), "%s", name)
			continue
		case ".go":
		default:
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, text,
			parser.ParseComments|parser.SkipObjectResolution)
		require.NoError(t, err)
		assert.True(t, ast.IsGenerated(file), "%s", name)
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				declared = append(declared, "func "+n.Name.Name)
				return false
			case *ast.TypeSpec:
				declared = append(declared, "type "+n.Name.Name)
			case *ast.ValueSpec:
				for _, id := range n.Names {
					declared = append(declared, "value "+id.Name)
				}
			case *ast.ImportSpec:
				declared = append(declared, name+" import "+n.Path.Value)
			}
			return true
		})
		for line := range strings.Lines(string(text)) {
			line = strings.TrimSpace(line)
			if rest, comment := strings.CutPrefix(line, "//"); comment && rest != "" &&
				rest[0] != ' ' || strings.HasPrefix(line, "/*") ||
				strings.HasPrefix(rest, " +build") || strings.HasPrefix(rest, " #cgo") {
				directives = append(directives, line)
			}
		}
	}
	slices.Sort(declared)
	slices.Sort(directives)
	return declared, directives
}

// TestInjectionIsRefusedOrInert puts each payload at each place. It is refused with a finding, or
// it stays text: the output parses, declares what it declared before, and no comment became an
// order.
func TestInjectionIsRefusedOrInert(t *testing.T) {
	t.Parallel()
	for _, slot := range slots {
		require.Contains(t, smallSpec, slot.old, "%s", slot.name)
		text := strings.Replace(smallSpec, slot.old, slot.wrong, 1)
		with := func(value string) *generator.Result {
			return generator.Generate("routes.yaml",
				[]byte(strings.Replace(text, "PAYLOAD", value, 1)))
		}
		t.Run(slot.name, func(t *testing.T) {
			t.Parallel()
			var declared, directives []string
			if !slot.isName {
				declared, directives = contents(t, with("harmless").Files)
				require.NotEmpty(t, declared, "%+v", with("harmless").Findings)
			}
			inert := 0
			for name, payload := range payloads {
				quoted, err := json.Marshal(payload)
				require.NoError(t, err)
				r := with(string(quoted))
				if r.Files == nil {
					assertRefused(t, name, r)
					continue
				}
				inert++
				if slot.isName {
					assert.Contains(t, legalNames[name], slot.name, "%s must be refused", name)
					continue
				}
				nowDeclared, nowDirectives := contents(t, r.Files)
				assert.Equal(t, declared, nowDeclared, "%s", name)
				assert.Equal(t, directives, nowDirectives, "%s", name)
			}
			assert.True(t, slot.isName || inert > 3,
				"some texts are legal here, so some must have been rendered")
		})
	}
}

// assertRefused checks that the refusal has a place, and came before anything was rendered.
func assertRefused(t *testing.T, payload string, r *generator.Result) {
	t.Helper()
	isError := func(f report.Finding) bool {
		return f.Severity == report.Error && f.At.Start.Line > 0
	}
	assert.True(t, slices.ContainsFunc(r.Findings, isError), "%s", payload)
	for _, f := range r.Findings {
		assert.NotEqual(t, spec.RuleOutputBroken, f.Rule, "%s came as far as the rendering: %s",
			payload, f.Message)
	}
}

// TestContentsSeesInjection is the control: code and orders that did get in are seen.
func TestContentsSeesInjection(t *testing.T) {
	t.Parallel()
	head := "// Code generated by routegen from routes.yaml; DO NOT EDIT.\n\npackage p\n"
	_, none := contents(t, map[string][]byte{"a.go": []byte(head + "// x\nvar A int\n")})
	assert.Empty(t, none)
	declared, orders := contents(t,
		map[string][]byte{"a.go": []byte(
			head + "//go:generate sh\n\n// +build x\nfunc init() {}\n")})
	assert.Equal(t, []string{"func init"}, declared)
	assert.Equal(t, []string{"// +build x", "//go:generate sh"}, orders)
}
