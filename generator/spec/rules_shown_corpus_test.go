package spec_test

import (
	"errors"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"gopkg.in/yaml.v3"

	"github.com/routegen/routegen/generator/spec"
)

// told are the examples that say in words what is done, of rules whose cases are written.
var told = map[string]string{
	spec.RuleAllowUnused: "(the comment removed)",
}

// TestExplainShowsWhatIsRun: what `explain RULE` shows as bad and good is part of the specs in
// testdata/rules, which are run. So no example can say what the program no longer does.
func TestExplainShowsWhatIsRun(t *testing.T) {
	t.Parallel()
	cases := writtenCases(t)
	for _, rule := range spec.Rules() {
		c, written := cases[rule.ID]
		if !written {
			assert.NotContains(t, told, rule.ID)
			continue
		}
		assert.True(t, shows(rule.Bad, c.bad), "%s: this is not in bad.yaml:\n%s", rule.ID,
			rule.Bad)
		if words, ok := told[rule.ID]; ok {
			assert.Equal(t, words, rule.Good)
			continue
		}
		assert.True(t, shows(rule.Good, c.good), "%s: this is not in good.yaml:\n%s", rule.ID,
			rule.Good)
	}
}

// shows reports whether an example is an excerpt of one side of a case: some of its lines, some of
// its values, or its command. A value may stand beside others that the example leaves out. An
// example ends with the name of the included file that it is from.
func shows(example string, s side) bool {
	if text, in, _ := strings.Cut(example, "   # in "); strings.HasSuffix(in, "includes") {
		name, _, _ := strings.Cut(in, ",")
		if s.beside[name] == nil {
			return false
		}
		example, s.text = text, string(s.beside[name].Data)
	}
	command := "routegen " + s.edit
	if _, ran, ok := strings.Cut(example, "# routegen "); ok && s.edit != "" &&
		"routegen "+ran != command {
		return false
	}
	if s.edit != "" && example == command || linesOf(example, s.text) {
		return true
	}
	parts, whole := documents(example), documents(s.text)
	if len(parts) == 0 || len(parts) > len(whole) {
		return false
	}
	for i, part := range parts {
		if !within(part, whole[i]) && !scattered(part, whole[i]) {
			return false
		}
	}
	return true
}

// linesOf reports whether a text has the lines of an example, indented as a whole; ... stands for
// any text on a line.
func linesOf(example, text string) bool {
	var b strings.Builder
	for i, line := range strings.Split(example, "\n") {
		if i > 0 {
			b.WriteString(`\n *`)
		}
		b.WriteString(strings.ReplaceAll(regexp.QuoteMeta(line), `\.\.\.`, `[^\n]*`))
	}
	return regexp.MustCompile(`(?:^|[ \n\[{])` + b.String() + `(?:$|[ \n\]},])`).MatchString(text)
}

// documents returns the roots of all documents of a text; none when it is not YAML.
func documents(text string) []*yaml.Node {
	var out []*yaml.Node
	for dec := yaml.NewDecoder(strings.NewReader(text)); ; {
		var doc yaml.Node
		switch err := dec.Decode(&doc); {
		case errors.Is(err, io.EOF):
			return out
		case err != nil:
			return nil
		}
		out = append(out, doc.Content[0])
	}
}

// within reports whether a value is an excerpt of another one, or of a value in it.
func within(part, whole *yaml.Node) bool {
	return excerpt(part, whole) || slices.ContainsFunc(whole.Content, func(inner *yaml.Node) bool {
		return within(part, inner)
	})
}

// scattered reports whether every key of a mapping is somewhere, each in a place of its own.
func scattered(part, whole *yaml.Node) bool {
	if part.Kind != yaml.MappingNode {
		return false
	}
	for i := 0; i < len(part.Content); i += 2 {
		if !within(&yaml.Node{Kind: yaml.MappingNode, Content: part.Content[i : i+2]}, whole) {
			return false
		}
	}
	return true
}

// excerpt reports whether a value is another one, of which keys of mappings may have been left out.
func excerpt(part, whole *yaml.Node) bool {
	if part.Kind != whole.Kind || (part.Style^whole.Style)&yaml.TaggedStyle != 0 {
		return false
	}
	switch part.Kind {
	case yaml.MappingNode:
		for i := 0; i < len(part.Content); i += 2 {
			found := false
			for j := 0; j < len(whole.Content) && !found; j += 2 {
				found = excerpt(part.Content[i], whole.Content[j]) &&
					excerpt(part.Content[i+1], whole.Content[j+1])
			}
			if !found {
				return false
			}
		}
		return true
	case yaml.SequenceNode:
		return slices.EqualFunc(part.Content, whole.Content, excerpt)
	default:
		return part.Value == whole.Value && part.ShortTag() == whole.ShortTag()
	}
}

// TestShowsCanSayNo: each example is of another text than the one beside it.
func TestShowsCanSayNo(t *testing.T) {
	t.Parallel()
	const text = "version: 1\nnodes:\n  a: {doc: A, was: [x, y]}\n  b:\n    doc: \"1\"\n    " +
		"entry: true\n"
	for example, want := range map[string]bool{
		"doc: A":                       true,
		"doc: B":                       false,
		"doc: \"A\"":                   true,
		"doc: 1":                       false,
		"do: A":                        false,
		"a: {was: [x, y]}":             true,
		"a: {was: [x]}":                false,
		"a: {doc: A, entry: true}":     false,
		"b: {entry: true, doc: \"1\"}": true,
		"version: 1\nb: {}":            true,
		"version: 1\nc: {}":            false,
		"b:\n  doc: \"1\"":             true,
		"b:\n  doc: \"2\"":             false,
		"entry: tru":                   false,
		"entry: tr...":                 true,
		"go: [":                        false,
		"version: 1\n---\nnodes: {}":   false,
	} {
		assert.Equal(t, want, shows(example, side{text: text}), example)
	}
	tried := side{text: text, edit: "remove node a"}
	assert.True(t, shows("doc: A   # routegen remove node a", tried))
	assert.False(t, shows("doc: A   # routegen remove node b", tried))
	assert.True(t, shows("routegen remove node a", tried))
	assert.False(t, shows("routegen remove node b", tried))
}
