package spec

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"

	"github.com/routegen/routegen/generator/report"
)

// TestCapsHoldBeforeTheLibrary measures work, not time: the scanner stops at the cap and the
// library never sees the text.
func TestCapsHoldBeforeTheLibrary(t *testing.T) {
	for name, c := range map[string]struct {
		text  string
		nodes int
	}{
		"brackets": {strings.Repeat("[", 200_000), maxDepth + 1},
		"braces":   {"a: " + strings.Repeat("{x: ", 200_000), 2*maxDepth + 2},
		"dashes":   {strings.Repeat("- ", 200_000), maxDepth + 1},
		"siblings": {strings.Repeat("k:\n", 200_000), maxKeys + 1},
		"flow":     {"{" + strings.Repeat("k: v, ", 200_000), 2*maxKeys + 4},
		"values":   {"[" + strings.Repeat("a,", maxNodes+10), maxNodes + 1},
	} {
		t.Run(name, func(t *testing.T) {
			s := scan([]byte(c.text))
			require.NotNil(t, s.over)
			assert.LessOrEqual(t, s.nodes, c.nodes)
			r := &reader{src: report.NewSource("x", []byte(c.text))}
			assert.Nil(t, r.decode([]byte(c.text)))
			assert.Len(t, r.findings, 1)
		})
	}
}

// TestScannerLeavesLegalYAMLAlone: what the library accepts and the caps allow, the scanner must
// not stop.
func TestScannerLeavesLegalYAMLAlone(t *testing.T) {
	for name, text := range map[string]string{
		"brackets in plain text":  "a: x" + strings.Repeat("[", 100) + "\nb: 1\n",
		"brackets in quotes":      "a: '" + strings.Repeat("[", 100) + "'\nb: 1\n",
		"brackets in block text":  "a: |\n  " + strings.Repeat("[", 100) + "\nb: 1\n",
		"brackets in comments":    "a: 1 # " + strings.Repeat("[", 100) + "\nb: 1\n",
		"brackets in long text":   "a: x\n  '" + strings.Repeat("[", 100) + "\nb: 1\n",
		"apostrophes":             "a: it's {\nb: {c: it's}\n",
		"long lists":              "a: [" + strings.Repeat("x, ", 70_000) + "]\n",
		"lists beside their keys": strings.Repeat("a:\n- b\n- c\n", 1) + "b: 1\n",
	} {
		t.Run(name, func(t *testing.T) {
			r := &reader{src: report.NewSource("x", []byte(text))}
			assert.NotNil(t, r.decode([]byte(text)))
			assert.Empty(t, r.findings)
		})
	}
}

func TestEditorSchemaAgreesWithTheReader(t *testing.T) {
	first := EditorSchema()
	assert.Equal(t, first, EditorSchema())
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(first))
	require.NoError(t, err)
	compiler := jsonschema.NewCompiler()
	require.NoError(t, compiler.AddResource("routes.schema.json", doc))
	schema, err := compiler.Compile("routes.schema.json")
	require.NoError(t, err)
	value := func(text string) any {
		r := &reader{src: report.NewSource("x", []byte(text))}
		root := r.decode([]byte(text))
		require.NotNil(t, root)
		var v any
		require.NoError(t, json.Unmarshal([]byte(r.jsonOf(&Key{Form: FormAny}, root).Value),
			&v))
		return v
	}
	good := "version: 1\ngo: {package: routes, out: o}\nenums: {E: {values: {A: , B: b, C: " +
		"{hidden: true}}}}\nnodes:\n  a: {doc: A, route: none, tools: [x, {mcp: y}], branches: " +
		"{b: interrupt, c: {type: T}}}\n"
	require.NoError(t, schema.Validate(value(good)))
	for _, bad := range [][2]string{{"doc: A", "dok: A"}, {"version: 1", "version: 2"},
		{"route: none", "route: [x]"}, {"  a:", "  A:"}, {"{type: T}", "{doc: T}"},
		{"hidden: true", "hidden: x"}} {
		assert.Error(t, schema.Validate(value(strings.Replace(good, bad[0], bad[1], 1))), bad[1])
	}
}

// TestExampleSpecsFitTheEditorSchema: what an editor is told and what the reader takes must be the
// same on every spec that people start from.
func TestExampleSpecsFitTheEditorSchema(t *testing.T) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(EditorSchema()))
	require.NoError(t, err)
	compiler := jsonschema.NewCompiler()
	require.NoError(t, compiler.AddResource("routes.schema.json", doc))
	schema, err := compiler.Compile("routes.schema.json")
	require.NoError(t, err)
	for _, name := range []string{"../../routes.yaml",
		"../../cmd/routegen/skeleton/routes.yaml.tmpl"} {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		var v any
		require.NoError(t, yaml.Unmarshal(bytes.ReplaceAll(text, []byte("{{.Package}}"),
			[]byte("routes")), &v), name)
		assert.NoError(t, schema.Validate(v), name)
	}
}

// TestGrammarIsDocumented: one table feeds messages, suggestions and the editor, so no row may be
// bare.
func TestGrammarIsDocumented(t *testing.T) {
	seen := map[*Shape]bool{}
	var walk func(s *Shape)
	walk = func(s *Shape) {
		if seen[s] {
			return
		}
		seen[s] = true
		assert.LessOrEqual(t, len(s.Keys), 64, "%s: the reader marks seen keys in 64 bits", s.Noun)
		for _, k := range s.Keys {
			assert.True(t, strings.HasSuffix(k.doc, "."), "%s.%s: %q", s.Noun, k.Name, k.doc)
			assert.Equal(t, k.Name, strings.ToLower(k.Name))
			assert.True(t, k.read != nil || len(k.index) > 0 || k.field == sameStruct,
				"%s.%s: %s has no field for it", s.Noun, k.Name, s.into)
			if k.Of != nil {
				walk(k.Of)
			}
		}
	}
	walk(language())
	assert.Greater(t, len(seen), 20)
}
