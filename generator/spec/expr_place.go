package spec

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"
)

// placer knows where the bytes of a scalar's value stand in the file, whatever its quotes, escapes and line breaks.
type placer struct {
	r     *reader
	whole Span
	value string
	start Pos   // of the first byte, where the value stands in the file as it is
	at    []int // offset in the file of each byte otherwise
}

func (r *reader) placerOf(t Text, n *node) *placer {
	p := &placer{r: r, whole: t.At, value: t.Value, start: Pos{n.Line, n.Column}}
	if !isPlain(n) {
		p.start.Column++
	}
	line := r.src.line(n.Line)
	if len(line) > longLine {
		return p // an estimate, so that one huge line stays cheap
	}
	from := byteOffset(line, n.Column)
	quote := byte(0)
	if !isPlain(n) && from < len(line) {
		quote = line[from]
		from++
	}
	if from <= len(line) && bytes.HasPrefix(line[from:], []byte(t.Value)) && quote != '|' && quote != '>' {
		return p
	}
	p.align(int(r.src.lines[n.Line-1])+from, quote)
	return p
}

// align walks the value and its text in the file side by side. White space is what YAML makes of it, all else stands there as it
// is or as an escape. Where the two do not meet the value has no places of its own.
func (p *placer) align(from int, quote byte) {
	text := p.r.src.text
	if quote == '|' || quote == '>' {
		for from < len(text) && text[from] != '\n' {
			from++
		}
	}
	for i, c := range p.value {
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
			p.start = Pos{}
			return
		}
		for range utf8.RuneLen(c) {
			p.at = append(p.at, from)
		}
		_ = i
		from += size
	}
	p.at = append(p.at, from)
}

// unit returns the first character of quoted, plain or block text, and how many bytes write it. All white space is a blank, and so is
// a line break that is escaped.
func unit(text []byte, quote byte) (rune, int) {
	if len(text) == 0 {
		return 0, 0
	}
	switch c := text[0]; {
	case isFold(rune(c)):
		return ' ', 1
	case quote == '\'' && c == '\'' && len(text) > 1 && text[1] == '\'':
		return '\'', 2
	case quote == '"' && c == '\\' && len(text) > 1:
		return escaped(text)
	}
	return utf8.DecodeRune(text)
}

// escaped reads an escape of double-quoted text.
func escaped(text []byte) (rune, int) {
	const short = `0abtnvfre"/\N_LP`
	const means = "\x00\a\b\t\n\v\f\r\x1b\"/\\\u0085\u00a0\u2028\u2029"
	size := map[byte]int{'x': 4, 'u': 6, 'U': 10}[text[1]]
	switch at := strings.IndexByte(short, text[1]); {
	case isFold(rune(text[1])):
		return ' ', 2
	case size > 0 && len(text) >= size:
		code, err := strconv.ParseUint(string(text[2:size]), 16, 32)
		if err != nil {
			return 0, 0
		}
		if isFold(rune(code)) {
			return ' ', size
		}
		return rune(code), size
	case at >= 0:
		c := []rune(means)[at]
		if isFold(c) {
			return ' ', 2
		}
		return c, 2
	}
	return 0, 0
}

// stretch is where a part of the value stands; of one that goes over lines, its part on the first.
func (p *placer) stretch(from, to int) Span {
	if p.start.IsZero() {
		return p.whole
	}
	if p.at == nil {
		column := p.start.Column + utf8.RuneCountInString(p.value[:from])
		return Span{Pos{p.start.Line, column}, Pos{p.start.Line, column + max(1, utf8.RuneCountInString(p.value[from:to]))}}
	}
	src := p.r.src
	first, last := p.at[from], p.at[to]
	if end := bytes.IndexByte(src.text[first:last], '\n'); end > 0 {
		last = first + end
	}
	return src.span(first, max(first, last))
}

// holds reports whether parts of the value stand in the file as they are, though the whole does not.
func (p *placer) holds(at []int, width int) bool {
	for _, from := range at {
		if p.at == nil || string(p.r.src.text[p.at[from]:min(p.at[from]+width, len(p.r.src.text))]) != p.value[from:from+width] {
			return false
		}
	}
	return true
}
