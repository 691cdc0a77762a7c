package spec

import (
	"bytes"
	"cmp"
	"strconv"
	"strings"

	"github.com/routegen/routegen/generator/report"
)

// bareType returns the offset behind a type that begins with [] at an offset and has no quotes, or
// 0. An empty list is none.
func (s *scanner) bareType(at int) int {
	end := s.typeEnd(at)
	if !bytes.HasPrefix(s.text[at:], []byte("[]")) || len(bytes.Trim(s.text[at:end], "[]")) == 0 {
		return 0
	}
	return end
}

// flowType returns the place of a type without quotes whose bracket stands at an offset between
// other brackets; plain says whether the bracket follows a word. End is 0 where there is none.
func (s *scanner) flowType(at int, plain bool) (from, end int) {
	if s.text[at] != '[' || !plain {
		return at, s.bareType(at)
	}
	for from = at; within(rune(s.text[from-1]), alnum+"__"); from-- {
	}
	before := bytes.TrimRight(s.text[:from], " \t\r\n")
	end = s.typeEnd(from)
	word := string(s.text[from:end])
	if strings.IndexByte(":,[{", before[len(before)-1]) < 0 ||
		word[:at-from] != "map" && formOfOtherLanguage(word) == "" {
		return from, 0
	}
	return from, end
}

// typeEnd returns the offset behind the letters and pairs of brackets that begin at an offset.
func (s *scanner) typeEnd(at int) int {
	for open := 0; at < len(s.text); at++ {
		switch c := s.text[at]; {
		case c == '[':
			open++
		case c == ']' && open > 0:
			open--
		case !within(rune(c), alnum+"__"):
			return at
		}
	}
	return at
}

// suspectType notes a type that needs quotes.
func (s *scanner) suspectType(from, end int) {
	word := string(s.text[from:end])
	cure := strconv.Quote(cmp.Or(formOfOtherLanguage(word), word))
	if len(s.suspects) < maxSuspects {
		s.suspects = append(s.suspects, suspect{rule: RuleSyntax, at: from, end: end, quoted: cure,
			message: "a type with brackets needs quotes", hint: "write " + cure})
	}
}

// bareTypes reports the types that have no quotes, all of them, and whether there are any: each is
// a mistake, whatever else the library may have stumbled over.
func (r *reader) bareTypes(s *scanner) bool {
	found := false
	for _, x := range s.suspects {
		if x.quoted == "" {
			continue
		}
		found = true
		f := r.reportAt(x.rule, r.src.Span(x.at, x.end), x.hint, "this is not YAML: %s", x.message)
		f.Fixes = []report.Fix{{Title: "use " + x.quoted,
			Edits: []report.Edit{{At: f.At, Text: x.quoted}}}}
		f.Repairable = true
	}
	return found
}
