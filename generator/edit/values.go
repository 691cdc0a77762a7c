package edit

import (
	"slices"
	"strings"

	"github.com/routegen/routegen/generator/spec"
)

// textNode returns the node of a text.
func textNode(text string) *spec.YAMLNode {
	return &spec.YAMLNode{Kind: spec.ScalarNode, Tag: spec.TagText, Value: text}
}

// textsNode returns the node of a list of texts.
func textsNode(texts ...string) *spec.YAMLNode {
	n := &spec.YAMLNode{Kind: spec.SequenceNode}
	for _, text := range texts {
		n.Content = append(n.Content, textNode(text))
	}
	return n
}

// mappingNode returns a mapping with one pair, or with none for an empty key.
func mappingNode(key string, value *spec.YAMLNode) *spec.YAMLNode {
	n := &spec.YAMLNode{Kind: spec.MappingNode}
	if key != "" {
		setMember(n, key, value)
	}
	return n
}

func setMember(n *spec.YAMLNode, key string, value *spec.YAMLNode) {
	n.Content = append(n.Content, textNode(key), value)
}

// member returns the value of a key, or nil.
func member(n *spec.YAMLNode, key string) *spec.YAMLNode {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	return nil
}

// submapping returns the mapping below a key, which is made if it does not exist.
func submapping(n *spec.YAMLNode, key string) *spec.YAMLNode {
	if n.Kind != spec.MappingNode {
		return n
	}
	if inner := member(n, key); inner != nil {
		return inner
	}
	inner := mappingNode("", nil)
	setMember(n, key, inner)
	return inner
}

// flowText writes a value on one line.
func flowText(n *spec.YAMLNode, inFlow bool) string {
	var parts []string
	switch {
	case n.Kind == spec.SequenceNode:
		for _, v := range n.Content {
			parts = append(parts, flowText(v, true))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case n.Kind == spec.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			parts = append(parts, flowPair(n.Content[i].Value, n.Content[i+1]))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case n.Tag == spec.TagText:
		return spec.Quote(n.Value, inFlow)
	}
	return n.Value
}

func flowPair(key string, n *spec.YAMLNode) string {
	return spec.Quote(key, true) + ": " + flowText(n, true)
}

// block writes a pair of a block mapping. The first line has no indentation and the last no line
// end.
func (e *change) block(key string, n *spec.YAMLNode, column, step int) string {
	head := spec.Quote(key, false) + ":"
	if !e.inLines[n] || len(n.Content) == 0 {
		if text := flowText(n, false); text != "" {
			return head + " " + text
		}
		return head
	}
	var out strings.Builder
	out.WriteString(head)
	for i := 0; i+1 < len(n.Content); i += 2 {
		out.WriteString(e.eol + strings.Repeat(" ", column+step) +
			e.block(n.Content[i].Value, n.Content[i+1], column+step, step))
	}
	return out.String()
}

// arrangeNew sorts the keys of a new mapping as the language has them, decides which mappings are
// written in lines, and uses short forms where they say all.
func (e *change) arrangeNew(n *spec.YAMLNode, s *spec.Shape) {
	if n.Kind != spec.MappingNode {
		return
	}
	e.inLines[n] = slices.Contains([]string{"node", "type", "enum", "request", "interrupt",
		"interrupts", "prompt", "flow", "action"}, s.Noun)
	var pairs [][2]*spec.YAMLNode
	for i := 0; i+1 < len(n.Content); i += 2 {
		pairs = append(pairs, [2]*spec.YAMLNode{n.Content[i], n.Content[i+1]})
	}
	slices.SortStableFunc(pairs, func(a, b [2]*spec.YAMLNode) int {
		return rank(s, a[0].Value) - rank(s, b[0].Value)
	})
	n.Content = nil
	for _, p := range pairs {
		n.Content = append(n.Content, p[0], p[1])
		k := s.Key(p[0].Value)
		switch v := p[1]; {
		case k == nil || k.List || k.Of == nil || v.Kind != spec.MappingNode:
		case k.Form == spec.FormMapping:
			e.arrangeNew(v, k.Of)
		case k.Form == spec.FormEntries:
			e.inLines[v] = true
			for i := 1; i < len(v.Content); i += 2 {
				e.arrangeNew(v.Content[i], k.Of)
				v.Content[i] = shortForm(v.Content[i], k.Of)
			}
		}
	}
}

// shortForm returns the short form of a mapping that holds nothing else, or the mapping itself.
func shortForm(n *spec.YAMLNode, s *spec.Shape) *spec.YAMLNode {
	if n.Kind == spec.MappingNode && len(n.Content) == 2 && s.Short.Name != "" &&
		n.Content[0].Value == s.ShortKey() {
		return n.Content[1]
	}
	return n
}
