package spec

import (
	"bytes"
	"unicode"
	"unicode/utf8"

	"github.com/routegen/routegen/generator/report"
)

// wide returns the number of bytes of spaces other than U+0020 at an offset. YAML takes them as
// text, and a reader does not see that.
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

// space notes wide spaces where YAML expects plain ones, and returns their number of bytes.
func (s *scanner) space(at int) int {
	n := s.wide(at)
	if n > 0 {
		s.spaces = append(s.spaces, at)
	}
	return n
}

// gap reports whether an indicator ends at an offset: a blank follows, or a wide space that was
// meant as one.
func (s *scanner) gap(at int, orWide bool) bool {
	return s.blank(at) || orWide && s.wide(at) > 0
}

// refuseWideSpaces reports wide spaces where YAML expects plain ones, and whether there are any:
// what the text means is not known then. Keeping count of lines and columns here is quick on a long
// line, too.
func (r *reader) refuseWideSpaces(s *scanner) bool {
	at, done := report.Pos{Line: 1, Column: 1}, 0
	for _, from := range s.spaces {
		before := s.text[done:from]
		if end := bytes.LastIndexByte(before, '\n'); end >= 0 {
			at = report.Pos{Line: at.Line + bytes.Count(before, []byte{'\n'}), Column: 1}
			before = before[end+1:]
		}
		at.Column += utf8.RuneCount(before)
		done = from + s.wide(from)
		end := report.Pos{Line: at.Line, Column: at.Column + utf8.RuneCount(s.text[from:done])}
		first, _ := utf8.DecodeRune(s.text[from:])
		kind := "space"
		if first == 0x00A0 || first == 0x202F {
			kind = "no-break space"
		}
		r.reportAt(RuleControlChar, report.Span{Start: at, End: end},
			"write a plain space, or quote the text", "%s U+%04X where YAML wants a plain one",
			kind, first)
		at = end
	}
	return len(s.spaces) > 0
}
