package report

import (
	"bytes"
	"sort"
	"unicode/utf8"
)

// Pos is a position in a spec file. Line and Column count from 1; a column is a character, not a
// byte.
type Pos struct{ Line, Column int }

// IsZero reports whether the position is not set.
func (p Pos) IsZero() bool { return p.Line == 0 }

// Span is a stretch of text on one line. End is the first position after it.
type Span struct{ Start, End Pos }

// Source is the text of a file with an index of its lines.
type Source struct {
	Name   string
	Text   []byte
	Places Places  // of the files that the text is joined of
	lines  []int32 // offset of the first byte of each line
}

// NewSource indexes the lines of a text.
func NewSource(name string, text []byte) *Source {
	s := &Source{Name: name, Text: text, lines: make([]int32, 1, 1+bytes.Count(text, []byte{'\n'}))}
	for at := 0; ; {
		next := bytes.IndexByte(text[at:], '\n')
		if next < 0 {
			return s
		}
		at += next + 1
		s.lines = append(s.lines, int32(at)) // texts are capped at 32 MiB
	}
}

// Line returns the text of line n, counted from 1, without its line end, or nil if there is no such
// line.
func (s *Source) Line(n int) []byte {
	if n < 1 || n > len(s.lines) {
		return nil
	}
	text := s.Text[s.lines[n-1]:]
	if n < len(s.lines) {
		text = s.Text[s.lines[n-1] : s.lines[n]-1]
	}
	return bytes.TrimSuffix(text, []byte{'\r'})
}

// Pos returns the position of an offset.
func (s *Source) Pos(offset int) Pos {
	n := sort.Search(len(s.lines), func(i int) bool { return int(s.lines[i]) > offset })
	return Pos{Line: n, Column: 1 + utf8.RuneCount(s.Text[s.lines[n-1]:offset])}
}

// Span returns the span of the bytes between two offsets of one line.
func (s *Source) Span(from, to int) Span {
	start := s.Pos(from)
	return Span{Start: start,
		End: Pos{start.Line, start.Column + max(1, utf8.RuneCount(s.Text[from:to]))}}
}

// LineStart returns the offset of the first byte of a line, which must be one of the text.
func (s *Source) LineStart(line int) int { return int(s.lines[line-1]) }

// LineCount returns the number of lines: one more than the text has line feeds.
func (s *Source) LineCount() int { return len(s.lines) }

// Offset returns the offset of a position, or -1 if the text has no such line.
func (s *Source) Offset(p Pos) int {
	if p.Line < 1 || p.Line > len(s.lines) || p.Column < 1 {
		return -1
	}
	from, end := int(s.lines[p.Line-1]), len(s.Text)
	if p.Line < len(s.lines) {
		end = int(s.lines[p.Line])
	}
	return from + ByteOffset(s.Text[from:end], p.Column)
}

// ByteOffset returns the offset at which a column begins in its line.
func ByteOffset(line []byte, column int) int {
	at := 0
	for c := 1; c < column && at < len(line); c++ {
		_, size := utf8.DecodeRune(line[at:])
		at += size
	}
	return at
}
