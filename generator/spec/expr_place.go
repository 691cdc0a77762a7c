package spec

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/routegen/routegen/generator/report"
)

// placer maps the bytes of a scalar's value to their positions in the file, across quotes, escapes
// and line breaks.
type placer struct {
	r     *reader
	whole report.Span
	value string
	start report.Pos // of the first byte, if the value is written in the file as it is
	at    []int      // offset in the file of each byte otherwise
}

func (r *reader) placerOf(t Text, n *node) *placer {
	p := &placer{r: r, whole: t.At, value: t.Value,
		start: report.Pos{Line: n.Line, Column: n.Column}}
	if !isPlain(n) {
		p.start.Column++
	}
	line := r.src.Line(n.Line)
	if len(line) > longLine {
		return p // an estimate, so that one huge line stays cheap
	}
	from := report.ByteOffset(line, n.Column)
	quote := byte(0)
	if !isPlain(n) && from < len(line) {
		quote = line[from]
		from++
	}
	if from <= len(line) && bytes.HasPrefix(line[from:], []byte(t.Value)) && quote != '|' &&
		quote != '>' {
		return p
	}
	p.align(r.src.LineStart(n.Line)+from, quote)
	return p
}

// align walks the value and its text in the file side by side. Folded white space counts as one
// blank; other characters are written as they are or as an escape. If the two differ, the parts of
// the value have no positions of their own.
func (p *placer) align(from int, quote byte) {
	text := p.r.src.Text
	if quote == '|' || quote == '>' {
		for from < len(text) && text[from] != '\n' {
			from++
		}
	}
	for _, c := range p.value {
		if c != ' ' && c != '\n' && c != '\t' {
			for from < len(text) {
				got, size := unit(text[from:], quote)
				if got != ' ' || size == 0 {
					break
				}
				from += size
			}
		}
		got, size := unit(text[from:], quote)
		if c == ' ' || c == '\n' || c == '\t' {
			if got != ' ' {
				size = 0
			}
		} else if got != c || size == 0 {
			p.at = nil
			p.start = report.Pos{}
			return
		}
		for range utf8.RuneLen(c) {
			p.at = append(p.at, from)
		}
		from += size
	}
	p.at = append(p.at, from)
}

// unit returns the first character of quoted, plain or block text, and how many bytes write it. All
// white space is a blank, and so is a line break that is escaped.
func unit(text []byte, quote byte) (rune, int) {
	if len(text) == 0 {
		return 0, 0
	}
	switch c := text[0]; {
	case isSpace(rune(c)):
		return ' ', 1
	case quote == '\'' && c == '\'' && len(text) > 1 && text[1] == '\'':
		return '\'', 2
	case quote == '"' && c == '\\' && len(text) > 1:
		return escaped(text)
	}
	return utf8.DecodeRune(text)
}

func isSpace(c rune) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

// escaped reads an escape of double-quoted text.
func escaped(text []byte) (rune, int) {
	const short = `0abtnvfre"/\N_LP`
	const means = "\x00\a\b\t\n\v\f\r\x1b\"/\\\u0085\u00a0\u2028\u2029"
	size := map[byte]int{'x': 4, 'u': 6, 'U': 10}[text[1]]
	switch at := strings.IndexByte(short, text[1]); {
	case isSpace(rune(text[1])):
		return ' ', 2
	case size > 0 && len(text) >= size:
		code, err := strconv.ParseUint(string(text[2:size]), 16, 32)
		if err != nil {
			return 0, 0
		}
		if isSpace(rune(code)) {
			return ' ', size
		}
		return rune(code), size
	case at >= 0:
		c := []rune(means)[at]
		if isSpace(c) {
			return ' ', 2
		}
		return c, 2
	}
	return 0, 0
}

// stretch returns the span of a part of the value; of several lines, the first.
func (p *placer) stretch(from, to int) report.Span {
	if p.start.IsZero() {
		return p.whole
	}
	if p.at == nil {
		column := p.start.Column + utf8.RuneCountInString(p.value[:from])
		return report.Span{Start: report.Pos{Line: p.start.Line, Column: column},
			End: report.Pos{Line: p.start.Line,
				Column: column + max(1, utf8.RuneCountInString(p.value[from:to]))}}
	}
	src := p.r.src
	first, last := p.at[from], p.at[to]
	if end := bytes.IndexByte(src.Text[first:last], '\n'); end > 0 {
		last = first + end
	}
	return src.Span(first, max(first, last))
}
