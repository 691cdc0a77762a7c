package spec

import (
	"bytes"
	"sort"
	"unicode/utf8"
)

// maxBytes is the largest file that is read at all.
const maxBytes = 32 << 20

// source is the text of a file and where its lines begin.
type source struct {
	name  string
	text  []byte
	lines []int32 // offset of the first byte of each line
}

func newSource(name string, text []byte) *source {
	s := &source{name: name, text: text, lines: make([]int32, 1, 1+bytes.Count(text, []byte{'\n'}))}
	for at := 0; ; {
		next := bytes.IndexByte(text[at:], '\n')
		if next < 0 {
			return s
		}
		at += next + 1
		s.lines = append(s.lines, int32(at)) // texts are capped at 32 MiB
	}
}

// line returns the text of a line that counts from 1, without its end; nil when there is no such line.
func (s *source) line(n int) []byte {
	if n < 1 || n > len(s.lines) {
		return nil
	}
	text := s.text[s.lines[n-1]:]
	if n < len(s.lines) {
		text = s.text[s.lines[n-1] : s.lines[n]-1]
	}
	return bytes.TrimSuffix(text, []byte{'\r'})
}

// pos turns an offset into a line and a column of characters.
func (s *source) pos(offset int) Pos {
	n := sort.Search(len(s.lines), func(i int) bool { return int(s.lines[i]) > offset })
	return Pos{Line: n, Column: 1 + utf8.RuneCount(s.text[s.lines[n-1]:offset])}
}

// span is a stretch of bytes of one line.
func (s *source) span(from, to int) Span {
	start := s.pos(from)
	return Span{Start: start, End: Pos{start.Line, start.Column + max(1, utf8.RuneCount(s.text[from:to]))}}
}

// checkBytes finds what no YAML library should see: too much, not UTF-8, invisible characters. The text it returns lacks each
// such character, so that the rest of the file can be checked in the same run; it is nil when nothing can go on.
func (r *reader) checkBytes(text []byte) []byte {
	switch {
	case len(text) > maxBytes:
		r.reportAt(RuleTooLarge, Span{}, "", "the file is larger than %d bytes (32 MiB)", maxBytes)
		return nil
	case bytes.HasPrefix(text, []byte{0xFE, 0xFF}) || bytes.HasPrefix(text, []byte{0xFF, 0xFE}):
		r.reportAt(RuleEncoding, Span{}, "save it as UTF-8 without a byte order mark", "the file is UTF-16")
		return nil
	case bytes.HasPrefix(text, []byte("\xEF\xBB\xBF")):
		r.reportAt(RuleEncoding, Span{}, "save it as UTF-8 without a byte order mark", "the file begins with a byte order mark (U+FEFF)")
		return nil
	}
	return r.checkRunes(text)
}

// checkRunes keeps count of lines and columns itself: asking for each place would be slow on a long line.
func (r *reader) checkRunes(text []byte) []byte {
	var clean []byte
	kept := 0 // text up to here is in clean, or was hidden
	at := Pos{1, 1}
	for i := 0; i < len(text) && !r.full; at.Column++ {
		b := text[i]
		if b == '\n' {
			at = Pos{at.Line + 1, 0}
		}
		if b >= ' ' && b < 0x7F || b == '\n' || b == '\t' || b == '\r' && i+1 < len(text) && text[i+1] == '\n' {
			i++
			continue
		}
		here := Span{at, Pos{at.Line, at.Column + 1}}
		c, size := utf8.DecodeRune(text[i:])
		if c == utf8.RuneError && size == 1 {
			r.reportAt(RuleEncoding, here, "save the file as UTF-8", "byte 0x%02X is not UTF-8", b)
			return nil
		}
		if kind := hiddenKind(c); kind != "" {
			r.reportAt(RuleControlChar, here, "remove it", "%s U+%04X", kind, c)
			r.hidden = append(r.hidden, at)
			clean, kept = append(clean, text[kept:i]...), i+size
		}
		i += size
	}
	if r.full {
		return nil
	}
	if kept == 0 {
		return text
	}
	return append(clean, text[kept:]...)
}

// restore moves places in the text without hidden characters to where they are in the file.
func (r *reader) restore(findings []Finding) {
	for i := range findings {
		f := &findings[i]
		r.restoreSpan(&f.At)
		for k := range f.Related {
			r.restoreSpan(&f.Related[k].At)
		}
		for k := range f.Fixes {
			for e := range f.Fixes[k].Edits {
				r.restoreSpan(&f.Fixes[k].Edits[e].At)
			}
		}
	}
}

func (r *reader) restoreSpan(at *Span) {
	for _, p := range []*Pos{&at.Start, &at.End} {
		first := sort.Search(len(r.hidden), func(i int) bool { return r.hidden[i].Line >= p.Line })
		for _, gone := range r.hidden[first:] {
			if gone.Line != p.Line || gone.Column > p.Column {
				break
			}
			p.Column++
		}
	}
}

// hiddenKind names what a reader of the file cannot see or what changes the order of what is seen; "" for visible text.
func hiddenKind(c rune) string {
	switch {
	case c == '\r':
		return "carriage return without line feed,"
	case c < ' ' || c >= 0x7F && c < 0xA0 || c == 0xFFFE || c == 0xFFFF:
		return "control character"
	case c >= 0x202A && c <= 0x202E || c >= 0x2066 && c <= 0x2069 || c == 0x200E || c == 0x200F || c == 0x061C:
		return "bidirectional control character"
	case c >= 0x200B && c <= 0x200D || c >= 0x2060 && c <= 0x2064 || c == 0xFEFF || c == 0x00AD || c == 0x180E || c >= 0xE0000 && c <= 0xE007F:
		return "invisible character"
	case c == 0x2028 || c == 0x2029:
		return "line separator"
	}
	return ""
}

// reader collects findings while a document is read and checked.
type reader struct {
	src      *source
	findings []Finding
	path     []string // where the reader is, for Finding.Path
	keyAt    Span     // the key that is being read
	hidden   []Pos    // characters that were left out of the text, in order
	allows   []*Allow
	letters  int  // compared for suggestions
	full     bool // maxFindings is reached
}

// maxFindings bounds the work that a hopeless file can cause.
const maxFindings = 10_000

// report records an error at the reader's path.
func (r *reader) report(rule string, at Span, hint, format string, args ...any) *Finding {
	f := r.reportAt(rule, at, hint, format, args...)
	for _, part := range r.path {
		f.Path += "/" + pointerEscape(part)
	}
	return f
}

// reportAt records an error that speaks of no key. The result is good until the next call, for adding related places.
func (r *reader) reportAt(rule string, at Span, hint, format string, args ...any) *Finding {
	if at.Start.IsZero() {
		at = Span{Pos{1, 1}, Pos{1, 2}}
	}
	f := Finding{Rule: rule, Severity: Error, File: r.src.name, At: at, Hint: hint}
	if len(r.findings) >= maxFindings {
		r.full = true
		return &f
	}
	f.Message = sprintf(format, args)
	r.findings = append(r.findings, f)
	return &r.findings[len(r.findings)-1]
}

func (f *Finding) relatedf(at Span, format string, args ...any) {
	f.Related = append(f.Related, Related{At: at, Message: sprintf(format, args)})
}

// replace offers a text instead of what stands at the finding's place.
func (f *Finding) replace(text string) {
	f.Fixes = append(f.Fixes, Fix{Title: "use " + quoted(text), Edits: []Edit{{At: f.At, Text: text}}})
}
