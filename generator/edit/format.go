package edit

import (
	"bytes"
	"slices"

	"github.com/routegen/routegen/generator/report"
	"github.com/routegen/routegen/generator/spec"
)

// Format puts the keys of every mapping in the order of the language: version before go, type
// before doc. Comments directly above or behind a key move with it; blank lines, quotes and
// everything else stay. Where order has a meaning nothing moves: nodes, types, enums, fields,
// branches, values, kinds and lists. Left alone are brackets over several lines with comments
// between their keys, and mappings that begin behind a dash. Unknown keys come last, in their own
// order.
//
// Formatting twice changes nothing the second time. Format returns findings and no text if moving
// parts of the text could change what it says. Other errors, such as a reference to nothing, do not
// matter.
func Format(name string, src []byte) ([]byte, []report.Finding) {
	return single(Files{{Name: name, Text: src}}.change(func(e *change) {
		e.arrange(e.roots[0], spec.Language())
	}))
}

// arrange orders the keys of a mapping and of everything below it.
func (e *change) arrange(v *value, s *spec.Shape) {
	if s == nil || len(v.pairs) == 0 || s.Noun == "" {
		return
	}
	order := slices.Clone(v.pairs)
	slices.SortStableFunc(order, func(a, b *pair) int {
		ra, rb := rank(s, a.key.name()), rank(s, b.key.name())
		switch {
		case ra < 0 && rb < 0:
			return 0
		case ra < 0:
			return 1
		case rb < 0:
			return -1
		}
		return ra - rb
	})
	slots := e.slots(v)
	if slots == nil || slices.Equal(order, v.pairs) {
		for _, p := range v.pairs {
			e.arrangeBelow(p, s)
		}
		return
	}
	outer, content := e.splices, []*spec.YAMLNode(nil)
	for i, p := range order {
		content = append(content, p.key.n, p.value.n)
		e.splices = nil
		e.arrangeBelow(p, s)
		if p.index == i {
			outer = append(outer, e.splices...)
			continue
		}
		outer = append(outer, splice{slots[i].from, slots[i].to, e.render(slots[p.index])})
	}
	e.splices, v.n.Content = outer, content
}

func (e *change) arrangeBelow(p *pair, s *spec.Shape) {
	k := s.Key(p.key.name())
	switch {
	case k == nil || k.Of == nil:
	case k.List:
		for _, item := range p.value.items {
			e.arrange(item, k.Of)
		}
	case k.Form == spec.FormEntries && k.Of.Noun != "":
		for _, entry := range p.value.pairs {
			e.arrange(entry.value, k.Of)
		}
	case k.Form == spec.FormMapping:
		e.arrange(p.value, k.Of)
	}
}

// slots returns the stretches of text that the pairs of a mapping are written in, or nil if they
// cannot be told apart.
func (e *change) slots(v *value) []splice {
	var out []splice
	if !v.brackets {
		for _, p := range v.pairs {
			if v.inFlow || !e.ownLine(p) {
				return nil
			}
			out = append(out, splice{from: e.head(p), to: e.tail(p)})
		}
		return out
	}
	end := v.from
	for _, p := range v.pairs {
		out = append(out, splice{from: p.key.from, to: p.value.to})
		if bytes.IndexByte(e.src.Text[end:p.key.from], '#') >= 0 {
			return nil
		}
		end = p.value.to
	}
	if bytes.IndexByte(e.src.Text[end:v.to], '#') >= 0 {
		return nil
	}
	return out
}

// render returns the text of a stretch with the splices that are inside it.
func (e *change) render(at splice) string {
	slices.SortStableFunc(e.splices, func(a, b splice) int { return a.from - b.from })
	var out []byte
	for _, s := range e.splices {
		out = append(append(out, e.src.Text[at.from:s.from]...), s.text...)
		at.from = s.to
	}
	return string(append(out, e.src.Text[at.from:at.to]...))
}
