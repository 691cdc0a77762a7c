package spec_test

import (
	"bytes"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"

	"github.com/routegen/routegen/generator/report"
	"github.com/routegen/routegen/generator/spec"
)

// editorSchema is the schema that editors use, as they compile it.
func editorSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(spec.EditorSchema()))
	require.NoError(t, err)
	compiler := jsonschema.NewCompiler()
	require.NoError(t, compiler.AddResource("routes.schema.json", doc))
	schema, err := compiler.Compile("routes.schema.json")
	require.NoError(t, err)
	return schema
}

// accepts reports whether an editor would leave a text alone.
func accepts(schema *jsonschema.Schema, text []byte) bool {
	var v any
	return yaml.Unmarshal(text, &v) == nil && schema.Validate(v) == nil
}

// TestSoundSpecsFitTheEditorSchema: an editor that underlines what the program takes is soon turned
// off. The corpus is every sound spec of the repository, whatever file it stands in.
func TestSoundSpecsFitTheEditorSchema(t *testing.T) {
	t.Parallel()
	schema := editorSchema(t)
	specs := soundSpecs(t)
	from := map[string]int{}
	for name, text := range specs {
		assert.True(t, accepts(schema, text), "%s is sound, and the editor schema refuses it", name)
		from[strings.SplitN(name, "/", 2)[0]]++
	}
	assert.Contains(t, specs, "routes.yaml")
	assert.Contains(t, specs, "cmd/routegen/skeleton/routes.yaml.tmpl")
	assert.Contains(t, specs, "generator/spec/base_test.go")
	assert.GreaterOrEqual(t, from["cmd"], 15, "%v", slices.Sorted(maps.Keys(specs)))
	for id, c := range writtenCases(t) {
		for name, file := range c.good.beside {
			assert.True(t, accepts(schema, file.Data), "%s of %s", name, id)
		}
		if len(c.good.beside) > 0 {
			assert.True(t, accepts(schema, []byte(c.good.text)), id)
			continue
		}
		assert.Contains(t, specs, "generator/spec/testdata/rules/"+id+".txtar:good.yaml",
			"the good spec is not sound")
	}
	compiler := jsonschema.NewCompiler()
	require.NoError(t, compiler.AddResource("none.json", false))
	none, err := compiler.Compile("none.json")
	require.NoError(t, err)
	assert.False(t, accepts(none, specs["routes.yaml"]),
		"a schema that refuses everything is noticed")
}

// soundSpecs are the specs of the repository without errors, by file and section.
func soundSpecs(t *testing.T) map[string][]byte {
	t.Helper()
	out := map[string][]byte{}
	keep := func(name string, text []byte) {
		text = bytes.ReplaceAll(text, []byte("{{.Package}}"), []byte("routes"))
		parsed, findings := spec.Parse(name, text)
		if parsed != nil && !slices.ContainsFunc(findings, func(f report.Finding) bool {
			return f.Severity == report.Error
		}) {
			out[name] = text
		}
	}
	const root = "../.."
	keep("generator/spec/base_test.go", []byte(base))
	fence := regexp.MustCompile("(?s)```ya?ml\n(.*?)```")
	require.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			if err == nil && path != root && strings.HasPrefix(d.Name(), ".") {
				return fs.SkipDir
			}
			return err
		}
		name := filepath.ToSlash(strings.TrimPrefix(path, root+string(filepath.Separator)))
		plain := strings.TrimSuffix(name, ".tmpl")
		kind := filepath.Ext(plain)
		if !slices.Contains([]string{".yaml", ".yml", ".txtar", ".md"}, kind) {
			return nil
		}
		text, err := os.ReadFile(path)
		switch {
		case err != nil:
			return err
		case kind == ".txtar":
			for _, file := range txtar.Parse(text).Files {
				keep(name+":"+file.Name, file.Data)
			}
		case kind == ".md":
			for _, found := range fence.FindAllSubmatch(text, -1) {
				keep(name, found[1])
			}
		default:
			keep(name, text)
		}
		return nil
	}))
	return out
}

// TestEditorSchemaSeesBrokenRules: which rules an editor shows broken while one types. A schema
// sees one key at a time, and neither names nor what spans two keys; the list says what it does
// see, and gets no shorter by accident.
func TestEditorSchemaSeesBrokenRules(t *testing.T) {
	t.Parallel()
	schema := editorSchema(t)
	seen := map[string]bool{}
	for id, c := range writtenCases(t) {
		if c.bad.edit == "" && !accepts(schema, []byte(c.bad.text)) {
			seen[id] = true
		}
	}
	assert.Equal(t, []string{
		spec.RuleNameCharset, spec.RuleNameJSON, spec.RuleDuplicateKey, spec.RuleEmpty,
		spec.RuleMissingKey, spec.RuleRoot,
		spec.RuleScalarKind, spec.RuleSyntax, spec.RuleUnknownKey, spec.RuleValue, spec.RuleVersion,
		spec.RuleWrongKind,
	}, slices.Sorted(maps.Keys(seen)))
}
