package spec

import (
	"bytes"
	"unicode"
	"unicode/utf8"
)

// wide returns how many bytes of spaces other than the plain one stand at an offset. YAML takes them as text, and nobody sees that.
func (s *scanner) wide(at int) int {
	n := 0
	for at+n < len(s.text) && s.text[at+n] >= utf8.RuneSelf {
		c, size := utf8.DecodeRune(s.text[at+n:])
		if !unicode.Is(unicode.Zs, c) {
			break
		}
		n += size
	}
	return n
}

// space remembers wide spaces that stand where YAML wants plain ones, and returns how many bytes they are.
func (s *scanner) space(at int) int {
	n := s.wide(at)
	if n > 0 {
		s.spaces = append(s.spaces, at)
	}
	return n
}

// gap reports whether an indicator ends at an offset: a blank follows, or a wide space that was meant as one.
func (s *scanner) gap(at int, orWide bool) bool {
	return s.blank(at) || orWide && s.wide(at) > 0
}

// maxSpacePasses is how often wide spaces are replaced: each time more of the structure can be seen.
const maxSpacePasses = 4

// plainSpaces reports wide spaces where YAML wants plain ones, and reads them as such: the rest can be checked in the same run. The
// columns stay what they are. Keeping count of them here is quick on a long line, too.
func (r *reader) plainSpaces(s *scanner) *scanner {
	for pass := 0; pass < maxSpacePasses && len(s.spaces) > 0 && !r.full; pass++ {
		var plain []byte
		at, done := Pos{1, 1}, 0
		for _, from := range s.spaces {
			before := s.text[done:from]
			plain = append(plain, before...)
			if end := bytes.LastIndexByte(before, '\n'); end >= 0 {
				at = Pos{at.Line + bytes.Count(before, []byte{'\n'}), 1}
				before = before[end+1:]
			}
			at.Column += utf8.RuneCount(before)
			done = from + s.wide(from)
			width := utf8.RuneCount(s.text[from:done])
			first, _ := utf8.DecodeRune(s.text[from:])
			kind := "space"
			if first == 0x00A0 || first == 0x202F {
				kind = "no-break space"
			}
			r.reportAt(RuleControlChar, Span{at, Pos{at.Line, at.Column + width}}, "write a plain space, or quote the text", "%s U+%04X where YAML wants a plain one", kind, first)
			at.Column += width
			plain = append(plain, bytes.Repeat([]byte{' '}, width)...)
		}
		plain = append(plain, s.text[done:]...)
		r.src = newSource(r.src.name, plain)
		s = scan(plain)
	}
	return s
}
