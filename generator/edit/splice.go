package edit

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"github.com/routegen/routegen/generator/report"
	"github.com/routegen/routegen/generator/spec"
)

// locate returns the scalar that an offset is in, or nil, and the path to it.
func (v *value) locate(at int) (scalar *value, path string) {
	if v == nil || at < v.from || at > v.to {
		return nil, ""
	}
	for _, p := range v.pairs {
		for _, part := range []*value{p.key, p.value} {
			if found, below := part.locate(at); found != nil {
				return found, "/" + p.key.name() + below
			}
		}
	}
	for i, item := range v.items {
		if found, below := item.locate(at); found != nil {
			return found, "/" + strconv.Itoa(i) + below
		}
	}
	if v.n.Kind != spec.ScalarNode || v.isVoid() {
		return nil, ""
	}
	return v, ""
}

// replace writes another name over the name that begins at a position, behind a quote or not. It
// refuses a name that is not written there as it is.
func (e *change) replace(at report.Span, name, to string) {
	from := e.src.Offset(at.Start)
	v, _ := e.rootAt(from).locate(from)
	if (e.is(from, '"') || e.is(from, '\'')) && name[0] != e.src.Text[from] {
		from++
	}
	if v == nil || !bytes.HasPrefix(e.src.Text[max(from, 0):], []byte(name)) {
		e.refuse(spec.RuleEditLayout, at, "write it in one piece, or edit it by hand",
			"%q is written here with escapes or over several lines", name)
		return
	}
	e.renamed[v.n] = true
	if from == v.from && from+len(name) == v.to {
		to = spec.Quote(to, v.inFlow)
	}
	e.splice(from, from+len(name), to)
}

// tail returns the end of the last line of a pair in a block mapping: with the comment behind it,
// and with comments below it that are indented deeper than its key.
func (e *change) tail(p *pair) int {
	end := e.lineEnd(p.value.to)
	column, limit := e.indent(p.key.from), e.fileEnd(p.key.from)
	for at := e.nextLine(end); at < limit; at = e.nextLine(at) {
		line := e.src.Text[at:e.lineEnd(at)]
		text := bytes.TrimLeft(line, " \t")
		if len(text) == 0 {
			continue
		}
		if text[0] != '#' || len(line)-len(text) <= column {
			break
		}
		end = at + len(line)
	}
	return end
}

// head returns the offset of the first line of a pair in a block mapping, with the comments
// directly above it.
func (e *change) head(p *pair) int {
	start := e.lineStart(p.key.from)
	limit := start // at the top of the file, comments are about the file
	if p.index > 0 {
		limit = e.nextLine(e.tail(p.in.pairs[p.index-1]))
	} else if p.in.holder != nil {
		limit = e.nextLine(p.in.holder.colon)
	}
	for start > limit {
		above := e.lineStart(start - 1)
		line := bytes.TrimLeft(e.src.Text[above:start], " \t")
		if above < limit || len(line) == 0 || line[0] != '#' {
			break
		}
		start = above
	}
	return start
}

// ownLine reports whether only blanks precede a pair on its line.
func (e *change) ownLine(p *pair) bool {
	return len(bytes.TrimLeft(e.src.Text[e.lineStart(p.key.from):p.key.from], " ")) == 0
}

// isBlank reports whether the line that holds an offset exists and is empty.
func (e *change) isBlank(at int) bool {
	return at >= 0 && at < len(e.src.Text) &&
		len(bytes.TrimSpace(e.src.Text[e.lineStart(at):e.lineEnd(at)])) == 0
}

// isSpaced reports whether blank lines separate the pairs of a block mapping. At the top of the
// document it looks at the neighbour of an index only: version and go may be close together.
func (e *change) isSpaced(v *value, index int) bool {
	first, last := 1, len(v.pairs)-1
	if e.isRoot(v) {
		first = max(1, min(index, last))
		last = min(first, last)
	}
	for i := first; i <= last; i++ {
		if !e.isBlank(e.head(v.pairs[i]) - 1) {
			return false
		}
	}
	return first <= last
}

// insert puts a pair into a mapping, in front of the pair with that index or at the end.
func (e *change) insert(v *value, index int, key string, n *spec.YAMLNode) {
	if v.n.Kind != spec.MappingNode && v.n.Tag != spec.TagNull {
		e.misplaced(v.from)
		return
	}
	at := len(v.n.Content)
	if index < len(v.pairs) {
		at = slices.Index(v.n.Content, v.pairs[index].key.n)
	}
	v.n.Kind, v.n.Value, v.n.Tag = spec.MappingNode, "", ""
	v.n.Content = slices.Insert(v.n.Content, at, textNode(key), n)
	switch {
	case len(v.pairs) == 0:
		e.fill(v, key, n)
	case !v.brackets && v.inFlow || v.brackets && e.lineEnd(v.from) < v.to:
		e.misplaced(v.from)
	case v.brackets && index == 0:
		e.splice(v.pairs[0].key.from, v.pairs[0].key.from, flowPair(key, n)+", ")
	case v.brackets:
		at := v.pairs[index-1].value.to
		e.splice(at, at, ", "+flowPair(key, n))
	default:
		e.insertBlock(v, index, key, n)
	}
}

// fill writes the first pair of a mapping that is empty or not written.
func (e *change) fill(v *value, key string, n *spec.YAMLNode) {
	if !v.inFlow && v.holder != nil {
		e.splice(v.holder.colon, v.to, "") // {} or null
		column, end := e.indent(v.holder.key.from)+e.step, e.lineEnd(v.to)
		e.splice(end, end, e.eol+strings.Repeat(" ", column)+e.block(key, n, column, e.step))
		return
	}
	text := "{" + flowPair(key, n) + "}"
	switch {
	case v.isVoid() && v.holder != nil && v.holder.colon == v.holder.key.to:
		text = ": " + text // a key alone, between brackets
	case v.isVoid():
		text = " " + text
	}
	e.splice(v.from, v.to, text)
}

func (e *change) insertBlock(v *value, index int, key string, n *spec.YAMLNode) {
	column, step := e.indent(v.pairs[0].key.from), e.step
	for _, p := range v.pairs {
		if len(p.value.pairs) > 0 && !p.value.brackets {
			step = e.indent(p.value.from) - column
			break
		}
	}
	margin, gap := strings.Repeat(" ", column), ""
	text := e.block(key, n, column, max(step, 1))
	if e.isSpaced(v, index) {
		gap = e.eol
	}
	if first := v.pairs[0]; index == 0 && !e.ownLine(first) {
		e.splice(first.key.from, first.key.from, text+e.eol+margin)
		return
	} else if index == 0 {
		at := e.head(first)
		e.splice(at, at, margin+text+e.eol+gap)
		return
	}
	end := e.tail(v.pairs[index-1])
	// at the start of a line, so that the same edit can remove the line above
	if at := e.nextLine(end); at > end {
		e.splice(at, at, gap+margin+text+e.eol)
	} else {
		e.splice(end, end, e.eol+gap+margin+text)
	}
}

// remove takes a pair out of its mapping, with the comments that belong to it.
func (e *change) remove(p *pair) {
	v := p.in
	at := slices.Index(v.n.Content, p.key.n)
	v.n.Content = slices.Delete(v.n.Content, at, at+2)
	switch {
	case !v.brackets && !v.inFlow && e.ownLine(p):
		e.removeBlock(p)
	case !v.brackets || e.lineEnd(v.from) < v.to:
		e.misplaced(p.key.from)
	case p.index > 0:
		e.splice(v.pairs[p.index-1].value.to, p.value.to, "")
	case len(v.pairs) > 1:
		e.splice(p.key.from, v.pairs[1].key.from, "")
	default:
		e.splice(p.key.from, p.value.to, "")
	}
}

func (e *change) removeBlock(p *pair) {
	from, end := e.head(p), e.tail(p)
	to := e.nextLine(end)
	first, last := p.index == 0, p.index == len(p.in.pairs)-1
	above, below := from > 0 && e.isBlank(from-1), e.isBlank(to)
	switch {
	case first && last && p.in.holder == nil:
		e.misplaced(p.key.from)
	case first && last:
		e.splice(p.in.holder.colon, p.in.holder.colon, " {}")
	case above && to >= len(e.src.Text):
		for from > 0 && e.isBlank(from-1) {
			from = e.lineStart(from - 1)
		}
	case above && (below || last):
		from = e.lineStart(from - 1)
	case first && below:
		to = e.nextLine(to)
	}
	if to >= len(e.src.Text) && end == len(e.src.Text) && from > 0 {
		// the last line has no end: take that of the line above
		from = e.lineEnd(e.lineStart(from - 1))
	}
	e.splice(from, to, "")
}

// listName appends a name to a list, which is made if it does not exist.
func (e *change) listName(l nameList, name string) {
	p := l.in.get(l.key)
	if p == nil {
		e.insert(l.in, spot(l.shape, l.in, l.key), l.key, textsNode(name))
		return
	}
	v := p.value
	if slices.ContainsFunc(v.items, func(item *value) bool { return item.name() == name }) {
		return
	}
	switch n := len(v.items); {
	case v.n.Kind != spec.SequenceNode:
		text := "[" + spec.Quote(name, true) + "]"
		if v.isVoid() {
			text = " " + text
		}
		e.splice(v.from, v.to, text)
		v.n.Kind, v.n.Value, v.n.Tag = spec.SequenceNode, "", ""
	case n == 0:
		e.splice(v.from+1, v.from+1, spec.Quote(name, true))
	case v.brackets:
		e.splice(v.items[n-1].to, v.items[n-1].to, ", "+spec.Quote(name, true))
	default:
		dash := bytes.LastIndexByte(e.src.Text[:v.items[n-1].from], '-')
		end := e.lineEnd(v.to)
		e.splice(end, end, e.eol+strings.Repeat(" ", e.indent(dash))+"- "+spec.Quote(name, false))
	}
	v.n.Content = append(v.n.Content, textNode(name))
}

// spot returns the index at which a key belongs in a mapping: behind the last key that the language
// has before it.
func spot(s *spec.Shape, v *value, key string) int {
	own, at := rank(s, key), 0
	for i, p := range v.pairs {
		if r := rank(s, p.key.name()); r >= 0 && r < own {
			at = i + 1
		}
	}
	return at
}

// rank returns the place of a key in the language, or -1.
func rank(s *spec.Shape, key string) int {
	return slices.IndexFunc(s.Keys, func(k spec.Key) bool { return k.Name == key })
}

// lengthen turns the short form of a mapping into the long one, with a list of one name more.
func (e *change) lengthen(v *value, short, key, name string) {
	raw := string(e.src.Text[v.from:v.to])
	if quoted := e.is(v.from, '"') || e.is(v.from, '\''); !quoted &&
		(e.isBlockText(v.from) || spec.Quote(v.n.Value, true) != raw) {
		raw = spec.Quote(v.n.Value, true)
	}
	e.splice(v.from, v.to, "{"+short+": "+raw+", "+key+": ["+spec.Quote(name, true)+"]}")
	old := *v.n
	*v.n = spec.YAMLNode{Kind: spec.MappingNode, Content: []*spec.YAMLNode{
		textNode(short), &old, textNode(key), textsNode(name)}}
}
