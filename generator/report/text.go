package report

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

// window is the number of characters shown of a long line.
const window = 200

// WriteText writes findings for people: position and message, the source line with the line above
// it, a caret under the place with the hint, the related places, and the rule with the commands
// that explain and repair it. It keeps the order of the findings. src is the text that they refer
// to and may be nil; a finding without a position shows no line. Characters that could change the
// terminal are replaced by U+FFFD. It returns the first write error.
func WriteText(w io.Writer, src []byte, findings []Finding) error {
	out := bufio.NewWriter(w)
	text := NewSource("", src)
	for i := range findings {
		if i > 0 {
			fmt.Fprintln(out)
		}
		writeFinding(out, text, &findings[i])
	}
	return out.Flush()
}

func writeFinding(out *bufio.Writer, src *Source, f *Finding) {
	at := f.At
	where := f.File
	if !at.Start.IsZero() {
		where = fmt.Sprintf("%s:%d:%d", f.File, at.Start.Line, at.Start.Column)
	}
	fmt.Fprintf(out, "%s: %s: %s\n", where, f.Severity, visible(f.Message))
	gutter := max(5, len(strconv.Itoa(at.Start.Line)))
	margin := strings.Repeat(" ", gutter+1)
	hint := visible(f.Hint)
	if line := src.Line(at.Start.Line); line != nil && len(src.Text) > 0 {
		shown, pad, run := excerpt(line, at)
		if before := src.Line(at.Start.Line - 1); before != nil {
			above, _, _ := excerpt(before, Span{Pos{1, 1}, Pos{1, 2}})
			fmt.Fprintln(out, strings.TrimRight(fmt.Sprintf("%*d | %s", gutter, at.Start.Line-1,
				above), " "))
		}
		fmt.Fprintln(out, strings.TrimRight(fmt.Sprintf("%*d | %s", gutter, at.Start.Line, shown),
			" "))
		fmt.Fprintln(out, strings.TrimRight(fmt.Sprintf("%s| %s%s %s", margin, pad, run, hint),
			" "))
	} else if hint != "" {
		fmt.Fprintf(out, "%s| %s\n", margin, hint)
	}
	for _, r := range f.Related {
		fmt.Fprintf(out, "%s| %s:%d:%d: %s\n", margin, f.fileOf(r), r.At.Start.Line,
			r.At.Start.Column, visible(r.Message))
	}
	fix := ""
	if f.Repairable {
		fix = "fix: routegen lint --fix   "
	}
	fmt.Fprintf(out, "%s= %s   %swhy: routegen explain %s\n", margin, f.Rule, fix, f.Rule)
}

// visible replaces characters that a terminal would act upon or not show.
func visible(text string) string {
	return strings.Map(func(c rune) rune {
		if c == '\n' || c == '\t' {
			return ' '
		}
		if !unicode.IsGraphic(c) {
			return utf8.RuneError
		}
		return c
	}, text)
}

// excerpt cuts a line around a span. It returns the text to show, the blanks under the text before
// the span, and the carets.
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
		text = line[ByteOffset(line, first):]
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
		if !unicode.IsGraphic(char) && char != '\t' {
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

// columns returns how many columns of a terminal a character takes.
func columns(c rune) int {
	switch kind := width.LookupRune(c).Kind(); {
	case unicode.In(c, unicode.Mn, unicode.Me):
		return 0
	case kind == width.EastAsianWide || kind == width.EastAsianFullwidth:
		return 2
	}
	return 1
}
