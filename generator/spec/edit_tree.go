package spec

import (
	"bytes"
	"strings"
)

// place is a value of the document and the bytes it stands in.
type place struct {
	n        *node
	from, to int
	inFlow   bool // it stands between brackets
	braces   bool // it has brackets of its own
	pairs    []*member
	items    []*place
	holder   *member     // the key it is the value of
	added    map[int]int // how many pairs an edit has put in at an index
}

// member is one key of a mapping with its value.
type member struct {
	key, value *place
	colon      int // the offset behind its colon
	in         *place
	index      int // where it stands in that mapping
}

// tree lays a document over its bytes. A tree with a fault is laid out in a way that edits do not understand.
type tree struct {
	src   *source
	root  *place
	fault int // offset of what is not understood; -1 for nothing

	line, column, offset int // the last place that was looked up
}

// layOut finds the bytes of every value. Anchors, aliases and tags must have been refused before.
func layOut(src *source, root *node) *tree {
	t := &tree{src: src, fault: -1}
	t.root = t.value(root, t.find(root), -1, false)
	return t
}

// find turns the position of a node into an offset. Nodes come in the order of the text, so a long line is walked once.
func (t *tree) find(n *node) int {
	if n.Line != t.line || n.Column < t.column {
		if n.Line < 1 || n.Line > len(t.src.lines) {
			return 0
		}
		t.line, t.column, t.offset = n.Line, 1, int(t.src.lines[n.Line-1])
	}
	t.offset += byteOffset(t.src.text[t.offset:], n.Column-t.column+1)
	t.column = n.Column
	return t.offset
}

// skip returns the offset of the next byte that is neither blank nor part of a comment.
func (t *tree) skip(at int) int {
	text := t.src.text
	for at < len(text) {
		switch c := text[at]; {
		case c == ' ' || c == '\t' || c == '\r' || c == '\n':
			at++
		case c == '#' && (at == 0 || text[at-1] == ' ' || text[at-1] == '\t' || text[at-1] == '\n'):
			at = t.lineEnd(at)
		default:
			return at
		}
	}
	return at
}

func (t *tree) is(at int, c byte) bool { return at < len(t.src.text) && t.src.text[at] == c }

// lineStart returns the offset of the first byte of the line.
func (t *tree) lineStart(at int) int { return 1 + bytes.LastIndexByte(t.src.text[:at], '\n') }

// lineEnd returns the offset behind the last byte of the line, in front of its end.
func (t *tree) lineEnd(at int) int {
	end := len(t.src.text)
	if n := bytes.IndexByte(t.src.text[at:], '\n'); n >= 0 {
		end = at + n
	}
	if end > at && t.src.text[end-1] == '\r' {
		end--
	}
	return end
}

// nextLine returns the offset of the line that follows, or the length of the text.
func (t *tree) nextLine(at int) int {
	if n := bytes.IndexByte(t.src.text[at:], '\n'); n >= 0 {
		return at + n + 1
	}
	return len(t.src.text)
}

// indent is how many bytes stand in front on the line: the column of block keys, which only blanks and dashes precede.
func (t *tree) indent(at int) int { return at - t.lineStart(at) }

// value lays out the value that begins behind an offset. The outer column is that of the key or dash it belongs to.
func (t *tree) value(n *node, after, outer int, inFlow bool) *place {
	p := &place{n: n, from: after, to: after, inFlow: inFlow}
	if n.Kind == scalarNode && n.Tag == tagNull && n.Value == "" && isPlain(n) {
		return p
	}
	p.from = t.find(n)
	if t.fault < 0 && t.skip(after) != p.from {
		t.fault = after
	}
	switch n.Kind {
	case mappingNode:
		inner := len(n.Content) > 0 && n.Content[0].Line == n.Line && n.Content[0].Column == n.Column
		p.braces = t.is(p.from, '{') && !inner
		t.mapping(p, inFlow || p.braces)
	case sequenceNode:
		inner := len(n.Content) > 0 && n.Content[0].Line == n.Line && n.Content[0].Column == n.Column
		p.braces = t.is(p.from, '[') && !inner
		t.list(p, inFlow || p.braces)
	default:
		p.to = t.scalarEnd(n, p.from, outer)
	}
	return p
}

func (t *tree) mapping(p *place, inFlow bool) {
	at := p.from
	if p.braces {
		at++
	}
	for i := 0; i+1 < len(p.n.Content); i += 2 {
		if p.braces && i > 0 {
			at = t.comma(at)
		}
		key := t.value(p.n.Content[i], at, -1, inFlow)
		entry := &member{key: key, colon: key.to, in: p, index: i / 2}
		if colon := t.skip(key.to); t.is(colon, ':') {
			entry.colon = colon + 1
		} else if !inFlow && t.fault < 0 {
			t.fault = key.from
		}
		outer := -1
		if !inFlow { // between brackets no block text can stand
			outer = t.indent(key.from)
		}
		entry.value = t.value(p.n.Content[i+1], entry.colon, outer, inFlow)
		entry.value.holder = entry
		p.pairs = append(p.pairs, entry)
		at = entry.value.to
	}
	p.to = at
	if p.braces {
		p.to = t.bracket(at, '}')
	}
}

func (t *tree) list(p *place, inFlow bool) {
	at := p.from
	if p.braces {
		at++
	}
	for i, child := range p.n.Content {
		outer := -1
		switch {
		case !p.braces:
			dash := t.skip(at)
			if !t.is(dash, '-') && t.fault < 0 {
				t.fault = at
			}
			outer, at = t.indent(dash), min(dash+1, len(t.src.text))
		case i > 0:
			at = t.comma(at)
		}
		p.items = append(p.items, t.value(child, at, outer, inFlow))
		at = p.items[i].to
	}
	p.to = at
	if p.braces {
		p.to = t.bracket(at, ']')
	}
}

// comma returns the offset behind the comma that follows.
func (t *tree) comma(at int) int {
	next := t.skip(at)
	if !t.is(next, ',') {
		if t.fault < 0 {
			t.fault = at
		}
		return at
	}
	return next + 1
}

// bracket returns the offset behind the closing bracket; one comma may stand in front of it.
func (t *tree) bracket(at int, c byte) int {
	next := t.skip(at)
	if t.is(next, ',') {
		next = t.skip(next + 1)
	}
	if !t.is(next, c) {
		if t.fault < 0 {
			t.fault = at
		}
		return at
	}
	return next + 1
}

// scalarEnd returns the offset behind a scalar.
func (t *tree) scalarEnd(n *node, from, outer int) int {
	text := t.src.text
	switch {
	case isPlain(n): // no escapes: the words stand there one after the other
		at := from
		for _, word := range strings.FieldsFunc(n.Value, isFold) {
			for at < len(text) && isFold(rune(text[at])) {
				at++
			}
			if !bytes.HasPrefix(text[at:], []byte(word)) {
				if t.fault < 0 {
					t.fault = from
				}
				return at
			}
			at += len(word)
		}
		return at
	case t.is(from, '"') || t.is(from, '\''):
		return (&scanner{text: text}).quoted(from)
	}
	return t.blockEnd(from, outer)
}

func isFold(c rune) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

// blockEnd returns the end of `|` and `>` text: its last line that is not blank, or every line where the header keeps them.
func (t *tree) blockEnd(from, outer int) int {
	header, _, _ := strings.Cut(string(t.src.text[from:t.lineEnd(from)]), "#")
	column := -1
	if digit := strings.IndexAny(header, "123456789"); digit >= 0 {
		column = max(outer, 0) + int(header[digit]-'0')
	}
	end := t.lineEnd(from)
	for at := t.nextLine(from); at < len(t.src.text); at = t.nextLine(at) {
		line := t.src.text[at:t.lineEnd(at)]
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

// name is the text of a scalar, or "".
func (p *place) name() string {
	if p == nil || p.n.Kind != scalarNode {
		return ""
	}
	return p.n.Value
}

// get returns the pair of a key; nil when there is none.
func (p *place) get(name string) *member {
	if p == nil {
		return nil
	}
	for _, entry := range p.pairs {
		if entry.key.n.Kind == scalarNode && entry.key.n.Value == name {
			return entry
		}
	}
	return nil
}

// members returns the pairs of a mapping; none of what is not there.
func (p *place) members() []*member {
	if p == nil {
		return nil
	}
	return p.pairs
}

// list returns the items of a list; none of what is not there.
func (p *place) list() []*place {
	if p == nil {
		return nil
	}
	return p.items
}

// at follows keys down from a value; nil when one of them is not there.
func (p *place) at(path ...string) *place {
	if p == nil {
		return nil
	}
	for _, name := range path {
		entry := p.get(name)
		if entry == nil {
			return nil
		}
		p = entry.value
	}
	return p
}

// isVoid reports whether nothing is written for a value.
func (p *place) isVoid() bool { return p.from == p.to }
