package edit

import (
	"bytes"
	"strings"

	"github.com/routegen/routegen/generator/report"
	"github.com/routegen/routegen/generator/spec"
)

// value is a value of the document and the bytes it is written in.
type value struct {
	n        *spec.YAMLNode
	from, to int
	inFlow   bool // inside brackets
	brackets bool // it has brackets of its own
	pairs    []*pair
	items    []*value
	holder   *pair // the pair it is the value of
}

// pair is one key of a mapping with its value.
type pair struct {
	key, value *value
	colon      int // the offset behind its colon
	in         *value
	index      int // in that mapping
}

// layout is a document with the bytes of every value.
type layout struct {
	src   *report.Source
	roots []*value // of the files, the main one first
	fault int      // offset of the first text that edits do not understand; -1 for none

	line, column, offset int // the last position that was looked up
}

// newLayout finds the bytes of every value. Anchors, aliases and tags must have been refused
// before.
func newLayout(src *report.Source, files Files) *layout {
	t := &layout{src: src, fault: -1}
	for _, f := range files {
		root := spec.ReadYAML(f.Text)
		first := src.Places.Joined(f.Name, report.Pos{Line: 1}).Line
		if root == nil {
			t.misplaced(src.LineStart(first))
			return t
		}
		moveDown(root, first-1)
		t.roots = append(t.roots, t.readValue(root, t.find(root), -1, false))
	}
	return t
}

// tops returns the sections of all files.
func (t *layout) tops() []*pair {
	var out []*pair
	for _, root := range t.roots {
		out = append(out, root.pairs...)
	}
	return out
}

// find returns the offset of a node. Nodes come in the order of the text, so a long line is walked
// once.
func (t *layout) find(n *spec.YAMLNode) int {
	if n.Line != t.line || n.Column < t.column {
		if n.Line < 1 || n.Line > t.src.LineCount() {
			return 0
		}
		t.line, t.column, t.offset = n.Line, 1, t.src.LineStart(n.Line)
	}
	t.offset += report.ByteOffset(t.src.Text[t.offset:], n.Column-t.column+1)
	t.column = n.Column
	return t.offset
}

// misplaced notes the first text that is not understood.
func (t *layout) misplaced(at int) {
	if t.fault < 0 {
		t.fault = at
	}
}

// skip returns the offset of the next byte that is neither white space nor part of a comment.
func (t *layout) skip(at int) int {
	text := t.src.Text
	for at < len(text) {
		switch c := text[at]; {
		case isSpace(rune(c)):
			at++
		case c == '#' && (at == 0 || isSpace(rune(text[at-1]))):
			at = t.lineEnd(at)
		default:
			return at
		}
	}
	return at
}

func isSpace(c rune) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

func (t *layout) is(at int, c byte) bool { return at < len(t.src.Text) && t.src.Text[at] == c }

// lineStart returns the offset of the first byte of the line.
func (t *layout) lineStart(at int) int { return 1 + bytes.LastIndexByte(t.src.Text[:at], '\n') }

// lineEnd returns the offset behind the last byte of the line, in front of its line end.
func (t *layout) lineEnd(at int) int {
	end := len(t.src.Text)
	if n := bytes.IndexByte(t.src.Text[at:], '\n'); n >= 0 {
		end = at + n
	}
	if end > at && t.src.Text[end-1] == '\r' {
		end--
	}
	return end
}

// nextLine returns the offset of the following line, or the length of the text.
func (t *layout) nextLine(at int) int {
	if n := bytes.IndexByte(t.src.Text[at:], '\n'); n >= 0 {
		return at + n + 1
	}
	return len(t.src.Text)
}

// fileEnd returns the offset behind the last line of the file that an offset is in.
func (t *layout) fileEnd(at int) int {
	if t.src.Places == nil {
		return len(t.src.Text)
	}
	return t.src.Places.End(at)
}

// indent returns the number of bytes in front of an offset on its line.
func (t *layout) indent(at int) int { return at - t.lineStart(at) }

// readValue lays out the value that begins behind an offset. The outer column is that of the key or
// dash it belongs to.
func (t *layout) readValue(n *spec.YAMLNode, after, outer int, inFlow bool) *value {
	v := &value{n: n, from: after, to: after, inFlow: inFlow}
	if n.Kind == spec.ScalarNode && n.Tag == spec.TagNull && n.Value == "" {
		return v
	}
	v.from = t.find(n)
	if t.skip(after) != v.from {
		t.misplaced(after)
	}
	// a collection begins where its first value begins, unless it has brackets
	inner := len(n.Content) > 0 && n.Content[0].Line == n.Line && n.Content[0].Column == n.Column
	switch n.Kind {
	case spec.MappingNode:
		v.brackets = t.is(v.from, '{') && !inner
		t.mapping(v, inFlow || v.brackets)
	case spec.SequenceNode:
		v.brackets = t.is(v.from, '[') && !inner
		t.readList(v, inFlow || v.brackets)
	default:
		v.to = t.scalarEnd(n, v.from, outer)
	}
	return v
}

func (t *layout) mapping(v *value, inFlow bool) {
	at := v.from
	if v.brackets {
		at++
	}
	for i := 0; i+1 < len(v.n.Content); i += 2 {
		if v.brackets && i > 0 {
			at = t.comma(at)
		}
		key := t.readValue(v.n.Content[i], at, -1, inFlow)
		p := &pair{key: key, colon: key.to, in: v, index: i / 2}
		if colon := t.skip(key.to); t.is(colon, ':') {
			p.colon = colon + 1
		} else if !inFlow {
			t.misplaced(key.from)
		}
		outer := -1
		if !inFlow { // between brackets there is no block text
			outer = t.indent(key.from)
		}
		p.value = t.readValue(v.n.Content[i+1], p.colon, outer, inFlow)
		p.value.holder = p
		v.pairs = append(v.pairs, p)
		at = p.value.to
	}
	v.to = at
	if v.brackets {
		v.to = t.bracket(at, '}')
	}
}

func (t *layout) readList(v *value, inFlow bool) {
	at := v.from
	if v.brackets {
		at++
	}
	for i, child := range v.n.Content {
		outer := -1
		switch {
		case !v.brackets:
			dash := t.skip(at)
			if !t.is(dash, '-') {
				t.misplaced(at)
			}
			outer, at = t.indent(dash), min(dash+1, len(t.src.Text))
		case i > 0:
			at = t.comma(at)
		}
		v.items = append(v.items, t.readValue(child, at, outer, inFlow))
		at = v.items[i].to
	}
	v.to = at
	if v.brackets {
		v.to = t.bracket(at, ']')
	}
}

// comma returns the offset behind the comma that follows.
func (t *layout) comma(at int) int {
	next := t.skip(at)
	if !t.is(next, ',') {
		t.misplaced(at)
		return at
	}
	return next + 1
}

// bracket returns the offset behind the closing bracket. One comma may precede it.
func (t *layout) bracket(at int, c byte) int {
	next := t.skip(at)
	if t.is(next, ',') {
		next = t.skip(next + 1)
	}
	if !t.is(next, c) {
		t.misplaced(at)
		return at
	}
	return next + 1
}

// scalarEnd returns the offset behind a scalar.
func (t *layout) scalarEnd(n *spec.YAMLNode, from, outer int) int {
	text := t.src.Text
	switch {
	case t.is(from, '"') || t.is(from, '\''):
		return t.quoteEnd(from)
	case t.isBlockText(from):
		return t.blockEnd(from, outer)
	}
	at := from // plain text has no escapes: its words follow each other
	for _, word := range strings.FieldsFunc(n.Value, isSpace) {
		for at < len(text) && isSpace(rune(text[at])) {
			at++
		}
		if !bytes.HasPrefix(text[at:], []byte(word)) {
			t.misplaced(from)
			return at
		}
		at += len(word)
	}
	return at
}

func (t *layout) isBlockText(at int) bool { return t.is(at, '|') || t.is(at, '>') }

// quoteEnd returns the offset behind the closing quote.
func (t *layout) quoteEnd(from int) int {
	text := t.src.Text
	for at := from + 1; at < len(text); at++ {
		switch {
		case text[at] == '\\' && text[from] == '"', t.is(at, '\'') && text[from] == '\'' &&
			t.is(at+1, '\''):
			at++
		case text[at] == text[from]:
			return at + 1
		}
	}
	t.misplaced(from)
	return len(text)
}

// blockEnd returns the end of `|` and `>` text: its last line that is not blank, or every line if
// the header keeps them.
func (t *layout) blockEnd(from, outer int) int {
	header, _, _ := strings.Cut(string(t.src.Text[from:t.lineEnd(from)]), "#")
	column := -1
	if digit := strings.IndexAny(header, "123456789"); digit >= 0 {
		column = max(outer, 0) + int(header[digit]-'0')
	}
	end, limit := t.lineEnd(from), t.fileEnd(from)
	for at := t.nextLine(from); at < limit; at = t.nextLine(at) {
		line := t.src.Text[at:t.lineEnd(at)]
		indent := len(line) - len(bytes.TrimLeft(line, " "))
		if indent == len(line) {
			if strings.Contains(header, "+") {
				end = at + len(line)
			}
			continue
		}
		if column < 0 {
			column = max(indent, outer+1)
		}
		if indent < column {
			break
		}
		end = at + len(line)
	}
	return end
}

// name returns the text of a scalar, or "".
func (v *value) name() string {
	if v == nil || v.n.Kind != spec.ScalarNode {
		return ""
	}
	return v.n.Value
}

// get returns the pair of a key, or nil.
func (v *value) get(name string) *pair {
	for _, p := range v.entries() {
		if p.key.name() == name && p.key.n.Kind == spec.ScalarNode {
			return p
		}
	}
	return nil
}

// entries returns the pairs of a mapping; v may be nil.
func (v *value) entries() []*pair {
	if v == nil {
		return nil
	}
	return v.pairs
}

// keys returns the names of the keys of a mapping.
func (v *value) keys() []string {
	var out []string
	for _, p := range v.entries() {
		out = append(out, p.key.name())
	}
	return out
}

// at follows keys down from a value and returns nil if one of them does not exist.
func (v *value) at(path ...string) *value {
	for _, name := range path {
		p := v.get(name)
		if p == nil {
			return nil
		}
		v = p.value
	}
	return v
}

// isVoid reports whether a value takes up no bytes, as that of a key alone.
func (v *value) isVoid() bool { return v.from == v.to }
