package spec

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/width"
)

// window is how many characters of a long line are shown.
const window = 200

// WriteText prints findings for people: place and message, the line with its predecessor, a caret run with the hint, the related
// places, and the rule with the way to its explanation, and to its repair where ApplyFixes has one. The findings are printed as
// they come; src is the text they speak of, and may be nil. One without a place shows no line. Characters that would change the
// terminal are shown as U+FFFD. It returns the first write error.
func WriteText(w io.Writer, src []byte, findings []Finding) error {
	out := bufio.NewWriter(w)
	text := newSource("", src)
	for i := range findings {
		if i > 0 {
			fmt.Fprintln(out)
		}
		writeFinding(out, text, &findings[i])
	}
	return out.Flush()
}

func writeFinding(out *bufio.Writer, src *source, f *Finding) {
	at := f.At // one without a place speaks of the whole, or of what was asked for, and shows no line
	where := f.File
	if !at.Start.IsZero() {
		where = fmt.Sprintf("%s:%d:%d", f.File, at.Start.Line, at.Start.Column)
	}
	fmt.Fprintf(out, "%s: %s: %s\n", where, f.Severity, visible(f.Message))
	gutter := max(5, len(strconv.Itoa(at.Start.Line)))
	margin := strings.Repeat(" ", gutter+1)
	hint := visible(f.Hint)
	if line := src.line(at.Start.Line); line != nil && len(src.text) > 0 {
		shown, pad, run := excerpt(line, at)
		if before := src.line(at.Start.Line - 1); before != nil {
			above, _, _ := excerpt(before, Span{Pos{1, 1}, Pos{1, 2}})
			fmt.Fprintln(out, strings.TrimRight(fmt.Sprintf("%*d | %s", gutter, at.Start.Line-1, above), " "))
		}
		fmt.Fprintln(out, strings.TrimRight(fmt.Sprintf("%*d | %s", gutter, at.Start.Line, shown), " "))
		fmt.Fprintln(out, strings.TrimRight(fmt.Sprintf("%s| %s%s %s", margin, pad, run, hint), " "))
	} else if hint != "" {
		fmt.Fprintf(out, "%s| %s\n", margin, hint)
	}
	for _, r := range f.Related {
		fmt.Fprintf(out, "%s| %s:%d:%d: %s\n", margin, f.File, r.At.Start.Line, r.At.Start.Column, visible(r.Message))
	}
	fix := ""
	if f.mechanical() {
		fix = "fix: routegen lint --fix   "
	}
	fmt.Fprintf(out, "%s= %s   %swhy: routegen explain %s\n", margin, f.Rule, fix, f.Rule)
}

// place is where the finding is; the first character of the file when it speaks of no place.
func (f *Finding) place() Span {
	if f.At.Start.IsZero() {
		return Span{Pos{1, 1}, Pos{1, 2}}
	}
	return f.At
}

// visible replaces what a terminal would act upon or not show.
func visible(text string) string {
	return strings.Map(func(c rune) rune {
		if c == '\n' || c == '\t' {
			return ' '
		}
		if hiddenKind(c) != "" {
			return utf8.RuneError
		}
		return c
	}, text)
}

// excerpt cuts a line around a span and returns what to show, the blanks under what stands before the span, and the carets.
func excerpt(line []byte, at Span) (shown, pad, run string) {
	const before = window / 3
	column, end := at.Start.Column, max(at.End.Column, at.Start.Column+1)
	if at.End.Line != at.Start.Line {
		end = column + 1
	}
	first := 1 // the first column that is shown
	text := line
	if len(line) > window && column > before {
		first = column - before
		text = line[byteOffset(line, first):]
	}
	var s, p, r strings.Builder
	if first > 1 {
		s.WriteString("…")
		p.WriteByte(' ')
	}
	c := first
	for ; len(text) > 0; c++ {
		char, size := utf8.DecodeRune(text)
		if c-first >= window {
			s.WriteString("…")
			break
		}
		text = text[size:]
		if hiddenKind(char) != "" && char != '\t' {
			char = utf8.RuneError
		}
		s.WriteRune(char)
		switch {
		case c < column && char == '\t':
			p.WriteByte('\t')
		case c < column:
			p.WriteString(strings.Repeat(" ", columns(char)))
		case c < end:
			r.WriteString(strings.Repeat("^", max(1, columns(char))))
		}
	}
	if r.Len() == 0 {
		r.WriteByte('^')
	}
	return s.String(), p.String(), r.String()
}

// columns is how many columns of a terminal a character takes.
func columns(c rune) int {
	switch kind := width.LookupRune(c).Kind(); {
	case unicode.In(c, unicode.Mn, unicode.Me):
		return 0
	case kind == width.EastAsianWide || kind == width.EastAsianFullwidth:
		return 2
	}
	return 1
}
