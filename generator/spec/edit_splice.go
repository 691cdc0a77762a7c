package spec

import (
	"bytes"
	"slices"
	"strings"
)

// setText writes another text over a part of a scalar: width bytes at an offset of its value. Quotes stay as they are.
func (e *edition) setText(p *place, at, width int, text string) {
	e.setTexts(p, []int{at}, width, text)
}

// setTexts writes another text over parts of a scalar that have one width, the first of them first.
func (e *edition) setTexts(p *place, at []int, width int, text string) {
	old := p.n.Value
	slices.Sort(at)
	var b strings.Builder
	kept := 0
	for _, from := range at {
		b.WriteString(old[kept:from] + text)
		kept = from + width
	}
	b.WriteString(old[kept:])
	value := b.String()
	raw := string(e.src.text[p.from:p.to])
	places := e.refs.placerOf(Text{Value: old, At: e.spanOf(p)}, p.n)
	p.n.Value, p.n.Tag = value, tagText
	first := p.from
	switch {
	case isPlain(p.n) && raw == old && scalarText(value, p.inFlow) == value:
	case !isPlain(p.n) && len(raw) == len(old)+2 && raw[1:len(raw)-1] == old && !strings.ContainsAny(text, "\"'\\\n"):
		first++
	case !isPlain(p.n) && places.holds(at, width) && isSlotName(text):
		for _, from := range at {
			e.splice(places.at[from], places.at[from]+width, text)
		}
		return
	default:
		e.splice(p.from, p.to, quoteJSON(value))
		return
	}
	for _, from := range at {
		e.splice(first+from, first+from+width, text)
	}
}

// tail returns the end of the last line of a pair in a block mapping: with the comment behind it, and with comments below it
// that are indented deeper than its key.
func (e *edition) tail(m *member) int {
	end := e.lineEnd(m.value.to)
	column := e.indent(m.key.from)
	for at := e.nextLine(end); at < len(e.src.text); at = e.nextLine(at) {
		line := e.src.text[at:e.lineEnd(at)]
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

// head returns the offset of the first line of a pair in a block mapping: the comments directly above belong to it, down to an
// offset that belongs to something else.
func (e *edition) head(m *member, floor int) int {
	start := e.lineStart(m.key.from)
	for start > floor {
		above := e.lineStart(start - 1)
		line := bytes.TrimLeft(e.src.text[above:start], " \t")
		if above < floor || len(line) == 0 || line[0] != '#' {
			break
		}
		start = above
	}
	return start
}

// floor returns the offset down to which comments above a pair may belong to it.
func (e *edition) floor(m *member) int {
	if i := m.index; i > 0 {
		return e.nextLine(e.tail(m.in.pairs[i-1]))
	}
	if m.in.holder != nil {
		return e.nextLine(m.in.holder.colon)
	}
	return e.lineStart(m.key.from) // what stands at the top of the file speaks of the file
}

// alone reports whether nothing but blanks stands in front on the line of a pair.
func (e *edition) alone(m *member) bool {
	return len(bytes.TrimLeft(e.src.text[e.lineStart(m.key.from):m.key.from], " ")) == 0
}

// isBlank reports whether the line that holds an offset is there and empty.
func (e *edition) isBlank(at int) bool {
	return at >= 0 && at < len(e.src.text) && len(bytes.TrimSpace(e.src.text[e.lineStart(at):e.lineEnd(at)])) == 0
}

// spaced reports whether the pairs of a block mapping are kept apart by blank lines: all of them, or at the top of the document
// those at an index, where version and go may stand close together.
func (e *edition) spaced(p *place, index int) bool {
	from, to := 1, len(p.pairs)-1
	if p == e.root {
		from = max(1, min(index, to))
		to = min(from, to)
	}
	for i := from; i <= to; i++ {
		if !e.isBlank(e.head(p.pairs[i], e.floor(p.pairs[i])) - 1) {
			return false
		}
	}
	return from <= to
}

// insert puts a new pair into a mapping in front of the pair with that index, or at the end.
func (e *edition) insert(p *place, index int, key string, value *fresh) {
	if p.n.Kind != mappingNode && p.n.Tag != tagNull {
		e.fault = p.from
		return
	}
	e.insertNode(p, index, key, value)
	switch {
	case len(p.pairs) == 0:
		e.fill(p, key, value)
	case p.braces:
		e.insertFlow(p, index, flowPair(key, value))
	case p.inFlow:
		e.fault = p.from // a pair without brackets in a list
	default:
		e.insertBlock(p, index, key, value)
	}
}

func (e *edition) insertNode(p *place, index int, key string, value *fresh) {
	if p.n.Kind != mappingNode {
		p.n.Kind, p.n.Value, p.n.Tag = mappingNode, "", ""
	}
	if p.added == nil {
		p.added = map[int]int{}
	}
	at := 2 * p.added[index]
	if index > 0 {
		at += 2 + slices.Index(p.n.Content, p.pairs[index-1].key.n)
	} else if len(p.pairs) > 0 {
		at = slices.Index(p.n.Content, p.pairs[0].key.n)
	}
	p.added[index]++
	p.n.Content = slices.Insert(p.n.Content, at, freshText(key).node(), value.node())
}

// fill writes the first pair of a mapping that is empty or not written at all.
func (e *edition) fill(p *place, key string, value *fresh) {
	if p.inFlow || p.holder == nil || p.braces && e.lineEnd(p.from) < p.to {
		text := flowPair(key, value)
		switch {
		case p.braces:
			e.splice(p.from+1, p.from+1, text)
		case p.isVoid() && p.holder != nil && p.holder.colon == p.holder.key.to: // a key alone, between brackets
			e.splice(p.from, p.from, ": {"+text+"}")
		case p.isVoid():
			e.splice(p.from, p.from, " {"+text+"}")
		default: // null, written out
			e.splice(p.from, p.to, "{"+text+"}")
		}
		return
	}
	if p.braces {
		e.splice(p.holder.colon, p.to, "")
	} else if !p.isVoid() {
		e.splice(p.holder.colon, p.to, "") // null, written out
	}
	column := e.indent(p.holder.key.from) + e.step
	end := e.lineEnd(p.to)
	e.splice(end, end, e.eol+strings.Repeat(" ", column)+value.block(key, column, e.step, e.eol))
}

func (e *edition) insertBlock(p *place, index int, key string, value *fresh) {
	column := e.indent(p.pairs[0].key.from)
	step := e.step
	for _, m := range p.pairs {
		if v := m.value; len(v.pairs) > 0 && !v.braces {
			step = e.indent(v.from) - column
			break
		}
	}
	margin := strings.Repeat(" ", column)
	text := value.block(key, column, max(step, 1), e.eol)
	gap := ""
	if e.spaced(p, index) {
		gap = e.eol
	}
	if index > 0 {
		end := e.tail(p.pairs[index-1])
		if at := e.nextLine(end); at > end { // at the start of a line, so that the one above can be removed by the same edit
			e.splice(at, at, gap+margin+text+e.eol)
		} else {
			e.splice(end, end, e.eol+gap+margin+text)
		}
		return
	}
	first := p.pairs[0]
	if !e.alone(first) {
		e.splice(first.key.from, first.key.from, text+e.eol+margin)
		return
	}
	at := e.head(first, e.floor(first))
	e.splice(at, at, margin+text+e.eol+gap)
}

// insertFlow puts a pair between brackets: on a line of its own where its neighbour has one.
func (e *edition) insertFlow(p *place, index int, text string) {
	if index == 0 {
		at := p.pairs[0].key.from
		if e.alone(p.pairs[0]) {
			e.splice(at, at, text+","+e.eol+strings.Repeat(" ", e.indent(at)))
		} else {
			e.splice(at, at, text+", ")
		}
		return
	}
	before := p.pairs[index-1]
	at := before.value.to
	if !e.alone(before) {
		e.splice(at, at, ", "+text)
		return
	}
	line := e.eol + strings.Repeat(" ", e.indent(before.key.from)) + text
	end := e.lineEnd(at)
	switch next := e.skip(at); {
	case e.is(next, ',') && next < end && e.skip(next+1) >= end: // the comma ends the line, a comment may follow
		e.splice(end, end, line+",")
	case e.is(next, ',') || next < end:
		e.splice(at, at, ","+line)
	default:
		e.splice(at, at, ",")
		e.splice(end, end, line)
	}
}

// remove takes a pair out of its mapping, with the comments that belong to it.
func (e *edition) remove(m *member) {
	p := m.in
	at := slices.Index(p.n.Content, m.key.n)
	p.n.Content = slices.Delete(p.n.Content, at, at+2)
	switch {
	case p.braces:
		e.removeFlow(m)
	case p.inFlow || !e.alone(m):
		e.fault = m.key.from
	default:
		e.removeBlock(m)
	}
}

func (e *edition) removeBlock(m *member) {
	from, end := e.head(m, e.floor(m)), e.tail(m)
	to := e.nextLine(end)
	first, last := m.index == 0, m.index == len(m.in.pairs)-1
	above, below := from > 0 && e.isBlank(from-1), e.isBlank(to)
	switch {
	case first && last:
		if m.in.holder == nil {
			e.fault = m.key.from
			return
		}
		e.splice(m.in.holder.colon, m.in.holder.colon, " {}")
	case above && to >= len(e.src.text):
		for from > 0 && e.isBlank(from-1) {
			from = e.lineStart(from - 1)
		}
	case above && (below || last):
		from = e.lineStart(from - 1)
	case first && below:
		to = e.nextLine(to)
	}
	if to >= len(e.src.text) && end == len(e.src.text) && from > 0 && !e.several { // the last line has no end, so the one above gives its own
		from = e.lineEnd(e.lineStart(from - 1))
	}
	e.splice(from, to, "")
}

func (e *edition) removeFlow(m *member) {
	p, i := m.in, m.index
	from, to := m.key.from, m.value.to
	comma := e.skip(to)
	own := e.is(comma, ',')
	if own {
		to = comma + 1
	}
	end := e.lineEnd(to)
	if e.alone(m) && e.skip(to) >= end { // its own lines
		floor := e.nextLine(p.from)
		if i > 0 {
			floor = e.nextLine(p.pairs[i-1].value.to)
		}
		from, to = e.head(m, floor), e.nextLine(end)
		if !own && i > 0 {
			before := e.skip(p.pairs[i-1].value.to)
			e.splice(before, before+1, "")
		}
		e.splice(from, to, "")
		return
	}
	switch {
	case i > 0:
		e.splice(p.pairs[i-1].value.to, m.value.to, "")
	case len(p.pairs) > 1:
		e.splice(from, p.pairs[1].key.from, "")
	default:
		e.splice(from, m.value.to, "")
	}
}

// push appends a text to a list.
func (e *edition) push(list *place, text string) {
	value := freshText(text)
	switch n := len(list.items); {
	case list.n.Kind != sequenceNode:
		text := "[" + value.flow(true) + "]"
		if list.isVoid() {
			text = " " + text
		}
		e.splice(list.from, list.to, text)
		list.n.Kind, list.n.Value, list.n.Tag = sequenceNode, "", ""
	case n == 0:
		e.splice(list.from+1, list.from+1, value.flow(true))
	case list.braces:
		e.splice(list.items[n-1].to, list.items[n-1].to, ", "+value.flow(true))
	default:
		dash := bytes.LastIndexByte(e.src.text[:list.items[n-1].from], '-')
		end := e.lineEnd(list.to)
		e.splice(end, end, e.eol+strings.Repeat(" ", e.indent(dash))+"- "+value.flow(false))
	}
	list.n.Content = append(list.n.Content, value.node())
}

// wrap turns the short form of a mapping into the long one, with one key more.
func (e *edition) wrap(p *place, short, key string, value *fresh) {
	old := freshFrom(p.n)
	long := freshPair(short, old)
	long.keys, long.values = append(long.keys, key), append(long.values, value)
	content := long.node().Content
	raw := string(e.src.text[p.from:p.to])
	if !isPlain(p.n) && (raw[0] == '|' || raw[0] == '>') || isPlain(p.n) && scalarText(p.n.Value, true) != raw {
		e.splice(p.from, p.to, long.flow(p.inFlow))
	} else {
		e.splice(p.from, p.from, "{"+short+": ")
		e.splice(p.to, p.to, ", "+flowPair(key, value)+"}")
	}
	p.n.Kind, p.n.Value, p.n.Tag, p.n.Content = mappingNode, "", "", content
}
