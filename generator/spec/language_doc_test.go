package spec_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"

	"github.com/routegen/routegen/generator/spec"
)

// keysBegin stands above the part of docs/language.md that is made here; what is above it is
// written by hand.
const keysBegin = "<!-- From here on: go test ./generator/spec -run TestLanguageIsDescribed " +
	"-update -->\n"

// TestLanguageIsDescribed: docs/language.md lists every key of the language as the editor's schema
// has it.
func TestLanguageIsDescribed(t *testing.T) {
	t.Parallel()
	file := filepath.Join("..", "..", "docs", "language.md")
	have, err := os.ReadFile(file)
	require.NoError(t, err)
	prose, keys, found := strings.Cut(string(have), keysBegin)
	require.True(t, found, "the line %q is gone", keysBegin)
	want := describe(t, spec.EditorSchema())
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(prose+keysBegin+want), 0o644))
		keys = want
	}
	assert.Equal(t, want, keys, "run it with -update")
	assert.Contains(t, want, "| `branches` | map of [branch](#branch)")
	assert.Contains(t, want, "| `doc` |")
}

// TestSpecsOfTheDocumentAreRight: what docs/language.md shows as a whole spec is one.
func TestSpecsOfTheDocumentAreRight(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "language.md"))
	require.NoError(t, err)
	shown := 0
	for _, block := range strings.Split(string(text), "```yaml\n")[1:] {
		block, _, _ = strings.Cut(block, "```")
		if strings.HasPrefix(block, "version:") {
			shown++
			_, findings := spec.Parse("routes.yaml", []byte(block))
			assert.Empty(t, list(findings))
		}
	}
	assert.Positive(t, shown)
}

// describer writes the tables of a schema, each block once, in the order in which they are met.
type describer struct {
	t     *testing.T
	defs  map[string]*yaml.Node
	queue []string
	seen  map[string]bool
	out   strings.Builder
}

func describe(t *testing.T, schema []byte) string {
	t.Helper()
	var doc yaml.Node
	// JSON is YAML, and this reader keeps the order of keys
	require.NoError(t, yaml.Unmarshal(schema, &doc))
	root := doc.Content[0]
	d := &describer{t: t, defs: map[string]*yaml.Node{}, seen: map[string]bool{}}
	each(keyOf(root, "$defs"), func(name string, def *yaml.Node) { d.defs[name] = def })
	d.block("the document", root)
	for len(d.queue) > 0 {
		name := d.queue[0]
		d.queue = d.queue[1:]
		d.block(name, d.defs[name])
	}
	return d.out.String()
}

// keyOf returns the value of a key, an empty node for none.
func keyOf(n *yaml.Node, key string) *yaml.Node {
	found := &yaml.Node{}
	each(n, func(name string, value *yaml.Node) {
		if name == key {
			found = value
		}
	})
	return found
}

func each(n *yaml.Node, visit func(name string, value *yaml.Node)) {
	for i := 0; i+1 < len(n.Content) && n.Kind == yaml.MappingNode; i += 2 {
		visit(n.Content[i].Value, n.Content[i+1])
	}
}

// block writes the table of one mapping. A short form stands above it.
func (d *describer) block(name string, def *yaml.Node) {
	fmt.Fprintf(&d.out, "\n### %s\n", name)
	short, full := "", def
	if forms := keyOf(def, "anyOf"); name != "the document" && len(forms.Content) == 2 {
		short, full = d.holds(forms.Content[0]), forms.Content[1]
	}
	rows := keyOf(full, "properties")
	if len(rows.Content) == 0 {
		fmt.Fprintf(&d.out, "\nIt is %s.\n", d.holds(def))
		return
	}
	if short != "" {
		fmt.Fprintf(&d.out, "\nEither %s, or a mapping:\n", short)
	}
	required := map[string]bool{}
	for _, in := range []*yaml.Node{full, keyOf(full, "then")} { // then: of a main file
		for _, key := range keyOf(in, "required").Content {
			required[key.Value] = true
		}
	}
	d.out.WriteString("\n| key | holds | about |\n|---|---|---|\n")
	each(rows, func(key string, value *yaml.Node) {
		must := ""
		if required[key] {
			must = ", required"
		}
		about := strings.ReplaceAll(keyOf(value, "description").Value, "|", "\\|")
		fmt.Fprintf(&d.out, "| `%s` | %s%s | %s |\n", key, d.holds(value), must, about)
	})
}

// holds says what a value is.
func (d *describer) holds(n *yaml.Node) string {
	if ref, ok := strings.CutPrefix(keyOf(n, "$ref").Value, "#/$defs/"); ok {
		if !d.seen[ref] {
			d.seen[ref] = true
			d.queue = append(d.queue, ref)
		}
		return "[" + ref + "](#" + strings.ReplaceAll(ref, " ", "-") + ")"
	}
	if forms := keyOf(n, "anyOf").Content; len(forms) > 0 {
		all := make([]string, len(forms))
		for i, form := range forms {
			all[i] = d.holds(form)
		}
		return strings.Join(all, " or ")
	}
	inner := func(part *yaml.Node) string {
		held := d.holds(part)
		if strings.Contains(held, " or ") && held != "true or false" {
			held = "(" + held + ")"
		}
		return held
	}
	if values := keyOf(n, "enum").Content; len(values) > 0 {
		all := make([]string, len(values))
		for i, v := range values {
			all[i] = "`" + v.Value + "`"
		}
		return strings.Join(all, ", ")
	}
	switch kind := keyOf(n, "type").Value; kind {
	case "array":
		return "list of " + inner(keyOf(n, "items"))
	case "object":
		return "map of " + inner(keyOf(n, "additionalProperties"))
	case "string":
		return "text"
	case "boolean":
		return "true or false"
	case "integer":
		return "whole number"
	case "null":
		return "nothing"
	case "":
		return "any value"
	default:
		return kind
	}
}
