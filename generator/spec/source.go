package spec

import (
	"bytes"
	"unicode/utf8"

	"github.com/routegen/routegen/generator/report"
)

// maxBytes is the size of the largest file that is read.
const maxBytes = 32 << 20

// checkBytes reports what a YAML library should not see: too many bytes, bytes that are not UTF-8,
// invisible characters. It returns false if there is any of it; the file is not read on then.
func (r *reader) checkBytes(text []byte) bool {
	switch {
	case len(text) > maxBytes:
		r.reportAt(RuleTooLarge, report.Span{}, "", "the file is larger than %d bytes (32 MiB)",
			maxBytes)
		return false
	case bytes.HasPrefix(text, []byte{0xFE, 0xFF}) || bytes.HasPrefix(text, []byte{0xFF, 0xFE}):
		r.reportAt(RuleEncoding, report.Span{}, "save it as UTF-8 without a byte order mark",
			"the file is UTF-16")
		return false
	case bytes.HasPrefix(text, []byte("\xEF\xBB\xBF")):
		r.reportAt(RuleEncoding, report.Span{}, "save it as UTF-8 without a byte order mark",
			"the file begins with a byte order mark (U+FEFF)")
		return false
	}
	return r.checkRunes(text)
}

// checkRunes counts lines and columns itself: looking up each position would be slow on a long
// line.
func (r *reader) checkRunes(text []byte) bool {
	visible := true
	at := report.Pos{Line: 1, Column: 1}
	for i := 0; i < len(text) && !r.full; at.Column++ {
		b := text[i]
		if b == '\n' {
			at = report.Pos{Line: at.Line + 1, Column: 0}
		}
		if b >= ' ' && b < 0x7F || b == '\n' || b == '\t' || b == '\r' && i+1 < len(text) &&
			text[i+1] == '\n' {
			i++
			continue
		}
		here := report.Span{Start: at, End: report.Pos{Line: at.Line, Column: at.Column + 1}}
		c, size := utf8.DecodeRune(text[i:])
		if c == utf8.RuneError && size == 1 {
			r.reportAt(RuleEncoding, here, "save the file as UTF-8", "byte 0x%02X is not UTF-8", b)
			return false
		}
		if kind := hiddenKind(c); kind != "" && !isWrittenAt(text, i, c, size) {
			r.reportAt(RuleControlChar, here, "remove it", "%s U+%04X", kind, c)
			visible = false
		}
		i += size
	}
	return visible
}

// isWrittenAt is isWritten for a character of a file.
func isWrittenAt(text []byte, at int, c rune, size int) bool {
	from, end := lineAround(text, at)
	return isWritten(c, text[from:at], text[at+size:end])
}

// hiddenKind names a character that a reader of the file cannot see, or that changes the order of
// the text on screen. It returns "" for visible text.
func hiddenKind(c rune) string {
	switch {
	case c == '\r':
		return "carriage return without line feed,"
	case c < ' ' || c >= 0x7F && c < 0xA0 || c == 0xFFFE || c == 0xFFFF:
		return "control character"
	case c >= 0x202A && c <= 0x202E || c >= 0x2066 && c <= 0x2069 || c == 0x200E || c == 0x200F ||
		c == 0x061C:
		return "bidirectional control character"
	case c >= 0x200B && c <= 0x200D || c >= 0x2060 && c <= 0x2064 || c == 0xFEFF || c == 0x00AD ||
		c == 0x180E || c >= 0xE0000 && c <= 0xE007F:
		return "invisible character"
	case c == 0x2028 || c == 0x2029:
		return "line separator"
	}
	return ""
}

// reader collects findings while a document is read and checked.
type reader struct {
	src      *report.Source
	findings []report.Finding
	path     []string    // where the reader is, for Finding.Path
	keyAt    report.Span // the key that is being read
	allows   []*Allow
	letters  int  // compared for suggestions
	full     bool // maxFindings is reached
}

// maxFindings bounds the number of findings of a file.
const maxFindings = 10_000

// report records an error at the reader's path.
func (r *reader) report(rule string, at report.Span, hint, format string, args ...any) draft {
	f := r.reportAt(rule, at, hint, format, args...)
	for _, part := range r.path {
		f.Path += "/" + pointerEscape(part)
	}
	return f
}

// reportAt records an error that is not about a key. The result is good until the next call.
func (r *reader) reportAt(rule string, at report.Span, hint, format string, args ...any) draft {
	if at.Start.IsZero() {
		at = report.Span{Start: report.Pos{Line: 1, Column: 1}, End: report.Pos{Line: 1, Column: 2}}
	}
	f := report.Finding{Rule: rule, Severity: report.Error, File: r.src.Name, At: at, Hint: hint}
	if len(r.findings) >= maxFindings {
		r.full = true
		return draft{&f}
	}
	f.Message = sprintf(format, args)
	r.findings = append(r.findings, f)
	return draft{&r.findings[len(r.findings)-1]}
}

// draft is a finding that was just reported and is still being completed. It is good until the next
// report of its reader.
type draft struct{ *report.Finding }

// relatedf adds a second place that matters.
func (f draft) relatedf(at report.Span, format string, args ...any) {
	f.Related = append(f.Related, report.Related{At: at, Message: sprintf(format, args)})
}

// replace offers a text to replace the one at the finding's position.
func (f draft) replace(text string) {
	f.Fixes = append(f.Fixes,
		report.Fix{Title: "use " + quoted(text), Edits: []report.Edit{{At: f.At, Text: text}}})
}
