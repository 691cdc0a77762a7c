package spec

import (
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/routegen/routegen/generator/report"
)

// YAMLNode is a value of a document as it is written, with its position.
type YAMLNode = yaml.Node

// ReadYAML returns the root of the only document of a text. It returns nil if the text is not one
// document of plain YAML: on a syntax error, a control character, an anchor, an alias or a tag.
func ReadYAML(text []byte) *YAMLNode {
	r := &reader{src: report.NewSource("", text)}
	if !r.checkBytes(text) {
		return nil
	}
	root := r.decode(text)
	if slices.ContainsFunc(r.findings, func(f report.Finding) bool {
		return !strings.HasPrefix(f.Rule, "ALLOW_")
	}) {
		return nil
	}
	return root
}

// Language returns the shape of a whole routes.yaml.
func Language() *Shape { return language() }

// Key returns the row of a key, or nil if the shape has no such key.
func (s *Shape) Key(name string) *Key {
	for i := range s.Keys {
		if s.Keys[i].Name == name {
			return &s.Keys[i]
		}
	}
	return nil
}

// Follow returns the shape behind a path of keys. It stops at the last key that exists.
func (s *Shape) Follow(path ...string) *Shape {
	for _, name := range path {
		k := s.Key(name)
		if k == nil {
			return s
		}
		s = k.Of
	}
	return s
}

// ShortKey returns the key that the short form of a mapping sets: the type of a field, and
// the doc of anything else.
func (s *Shape) ShortKey() string {
	if slices.Contains([]string{"branch", "field", "slot", "parameter"}, s.Noun) {
		return "type"
	}
	return "doc"
}

// Quote writes a text as a YAML scalar: without quotes if every reader takes that for the text, and
// in double quotes otherwise. A scalar between brackets needs quotes more often.
func Quote(value string, inFlow bool) string {
	if value == "" || strings.ContainsAny(value, "\n\t") || strings.HasSuffix(value, ":") ||
		inFlow && strings.ContainsAny(value, ",[]{}") {
		return quoteJSON(value)
	}
	before, after := "k: ", ""
	if inFlow {
		before, after = "{k: ", "}"
	}
	doc, err := decodeNext(newDecoder([]byte(before + value + after)))
	if err != nil || len(doc.Content) != 1 || len(doc.Content[0].Content) != 2 {
		return quoteJSON(value)
	}
	n := doc.Content[0].Content[1]
	if doc.Content[0].Kind != MappingNode || n.Kind != ScalarNode || n.Value != value ||
		misread(n) != "" {
		return quoteJSON(value)
	}
	return value
}

// DidYouMean returns the hint `did you mean "x"?` for the candidate nearest to a word, or "" if
// none is near.
func DidYouMean(word string, candidates []string) string {
	return didYouMean(Nearest(word, candidates))
}

// DecisionEnum returns the name of the enum whose values a decision table lists, or "".
func (s *Spec) DecisionEnum(k *Collect) string {
	c := newChecker(&reader{src: report.NewSource("", nil)}, s)
	c.indexTypes()
	if d := c.byName[k.Result.Value]; d != nil {
		if enum := c.decisionEnum(k, d); enum != nil {
			return enum.Key.Value
		}
	}
	return ""
}
