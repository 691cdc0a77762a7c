package spec

import (
	"bytes"
	"slices"
)

// Format puts the keys of every mapping in the order of the language: version before go, type before doc. Comments directly
// above or behind a key move with it; blank lines, quotes and everything else stay. Where order has a meaning nothing moves:
// nodes, types, enums, fields, branches, values, kinds and lists. Brackets over several lines with comments between their keys
// are left alone, and so are mappings that begin behind a dash, and what the language does not know: unknown keys come last, in
// their own order.
//
// Formatting twice changes nothing the second time; a result without Edits means that all is in order. Findings and no result
// mean that the text does not say clearly what it says, so that moving parts of it could change it. Errors of other kinds, such
// as a reference to nothing, are no hindrance.
func Format(name string, src []byte) (*EditResult, []Finding) {
	e, bad := open(name, src)
	if e == nil {
		return nil, bad
	}
	e.arrange(e.root, language().shape)
	return e.finish(true)
}

// arrange orders the keys of a mapping and of everything below it.
func (e *edition) arrange(p *place, s *shape) {
	if s == nil || len(p.pairs) == 0 || s.noun == "" {
		return
	}
	order := make([]int, len(p.pairs))
	for i := range order {
		order[i] = i
	}
	rank := func(i int) int {
		r := slices.IndexFunc(s.keys, func(k keyInfo) bool { return k.name == p.pairs[i].key.name() })
		if r < 0 {
			return len(s.keys)
		}
		return r
	}
	slices.SortStableFunc(order, func(a, b int) int { return rank(a) - rank(b) })
	slots := e.slots(p)
	if slots == nil || slices.IsSorted(order) {
		for _, m := range p.pairs {
			e.arrangeBelow(m, s)
		}
		return
	}
	outer, content := e.splices, []*node(nil)
	for at, i := range order {
		m := p.pairs[i]
		content = append(content, m.key.n, m.value.n)
		e.splices = nil
		e.arrangeBelow(m, s)
		if at == i {
			outer = append(outer, e.splices...)
			continue
		}
		outer = append(outer, splice{slots[at].from, slots[at].to, e.render(slots[i])})
	}
	e.splices, p.n.Content = outer, content
}

func (e *edition) arrangeBelow(m *member, s *shape) {
	info := s.keyed(m.key.name())
	switch {
	case info == nil || info.of == nil:
	case info.list:
		for _, item := range m.value.items {
			e.arrange(item, info.of)
		}
	case info.form == formEntries && info.of.noun != "":
		for _, entry := range m.value.pairs {
			e.arrange(entry.value, info.of)
		}
	case info.form == formMapping:
		e.arrange(m.value, info.of)
	}
}

// slots returns the stretches of text that the pairs of a mapping stand in; nil when they cannot be told from each other.
func (e *edition) slots(p *place) []splice {
	var out []splice
	if !p.braces {
		for _, m := range p.pairs {
			if p.inFlow || !e.alone(m) {
				return nil
			}
			out = append(out, splice{from: e.head(m, e.floor(m)), to: e.tail(m)})
		}
		return out
	}
	end := p.from
	for _, m := range p.pairs {
		if bytes.IndexByte(e.src.text[end:m.key.from], '#') >= 0 {
			return nil
		}
		out = append(out, splice{from: m.key.from, to: m.value.to})
		end = m.value.to
	}
	if bytes.IndexByte(e.src.text[end:p.to], '#') >= 0 {
		return nil
	}
	return out
}

// render is the text of a stretch with the splices that were made in it.
func (e *edition) render(at splice) string {
	slices.SortStableFunc(e.splices, func(a, b splice) int { return a.from - b.from })
	var out []byte
	for _, s := range e.splices {
		out = append(append(out, e.src.text[at.from:s.from]...), s.text...)
		at.from = s.to
	}
	return string(append(out, e.src.text[at.from:at.to]...))
}
