package spec

import (
	"strings"
)

// fresh is a value that an edit writes.
type fresh struct {
	kind   formKind
	text   string // of scalars
	tag    string // of scalars: what the text is read as
	keys   []string
	values []*fresh // of mappings beside keys, of lists alone
	lines  bool     // a mapping that is written with a line for each key where it may
}

// formKind is what a fresh value is.
type formKind uint8

const (
	freshScalar formKind = iota
	freshList
	freshMapping
)

func freshText(s string) *fresh { return &fresh{text: s, tag: tagText} }

func freshTexts(list ...string) *fresh {
	f := &fresh{kind: freshList}
	for _, s := range list {
		f.values = append(f.values, freshText(s))
	}
	return f
}

func freshPair(key string, value *fresh) *fresh {
	return &fresh{kind: freshMapping, keys: []string{key}, values: []*fresh{value}}
}

// freshFrom copies a value of a document.
func freshFrom(n *node) *fresh {
	switch n.Kind {
	case mappingNode:
		f := &fresh{kind: freshMapping}
		for i := 0; i+1 < len(n.Content); i += 2 {
			f.keys = append(f.keys, n.Content[i].Value)
			f.values = append(f.values, freshFrom(n.Content[i+1]))
		}
		return f
	case sequenceNode:
		f := &fresh{kind: freshList}
		for _, child := range n.Content {
			f.values = append(f.values, freshFrom(child))
		}
		return f
	default:
		return &fresh{text: n.Value, tag: n.Tag}
	}
}

// get returns the value of a key; nil when there is none.
func (f *fresh) get(key string) *fresh {
	for i, k := range f.keys {
		if k == key {
			return f.values[i]
		}
	}
	return nil
}

// node is the value as a document says it.
func (f *fresh) node() *node {
	switch f.kind {
	case freshList:
		n := &node{Kind: sequenceNode}
		for _, v := range f.values {
			n.Content = append(n.Content, v.node())
		}
		return n
	case freshMapping:
		n := &node{Kind: mappingNode}
		for i, v := range f.values {
			n.Content = append(n.Content, freshText(f.keys[i]).node(), v.node())
		}
		return n
	default:
		return &node{Kind: scalarNode, Tag: f.tag, Value: f.text}
	}
}

// flow writes the value on one line.
func (f *fresh) flow(inFlow bool) string {
	var parts []string
	switch f.kind {
	case freshList:
		for _, v := range f.values {
			parts = append(parts, v.flow(true))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case freshMapping:
		for i, v := range f.values {
			parts = append(parts, flowPair(f.keys[i], v))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	default:
		if f.tag == tagText {
			return scalarText(f.text, inFlow)
		}
		return f.text
	}
}

func flowPair(key string, v *fresh) string { return scalarText(key, true) + ": " + v.flow(true) }

// block writes a key and its value in the lines of a block mapping. The first line has no indentation and the last no end.
func (f *fresh) block(key string, column, step int, eol string) string {
	head := scalarText(key, false) + ":"
	if f.kind != freshMapping || !f.lines || len(f.keys) == 0 {
		if value := f.flow(false); value != "" {
			return head + " " + value
		}
		return head
	}
	var out strings.Builder
	out.WriteString(head)
	for i, v := range f.values {
		out.WriteString(eol + strings.Repeat(" ", column+step) + v.block(f.keys[i], column+step, step, eol))
	}
	return out.String()
}

// scalarText writes a text without quotes where every reader takes it for that text, and with them elsewhere.
func scalarText(value string, inFlow bool) string {
	quoted := quoteJSON(value)
	if value == "" || strings.ContainsAny(value, "\n\t") || strings.HasSuffix(value, ":") || inFlow && strings.ContainsAny(value, ",[]{}") {
		return quoted
	}
	around := [2]string{"k: ", ""}
	if inFlow {
		around = [2]string{"{k: ", "}"}
	}
	doc, err := decodeNext(newDecoder([]byte(around[0] + value + around[1])))
	if err != nil || len(doc.Content) != 1 || doc.Content[0].Kind != mappingNode || len(doc.Content[0].Content) != 2 {
		return quoted
	}
	if n := doc.Content[0].Content[1]; n.Kind != scalarNode || n.Value != value || misread(n) != "" {
		return quoted
	}
	return value
}

// parseValue reads one value as YAML. It reports false for what is no single value, or has anchors, aliases or tags.
func parseValue(text string) (*fresh, bool) {
	r := &reader{src: newSource("", []byte(text))}
	clean := r.checkBytes([]byte(text))
	if clean == nil {
		return nil, false
	}
	n := r.decode(clean)
	if n == nil || len(r.findings) > 0 {
		return nil, false
	}
	return freshFrom(n), true
}
