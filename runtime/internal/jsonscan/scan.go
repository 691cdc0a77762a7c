// Package jsonscan reads JSON token by token for the decoder of package runtime. It reports every
// problem with a JSON pointer and goes on, so that one pass finds all; only a syntax error ends it.
package jsonscan

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/routegen/routegen/runtime/internal/brief"
)

// Scanner reads one document. The caller keeps Path up to date, for the pointers of problems.
type Scanner struct {
	Data      []byte
	Pos       int
	Depth     int
	Broken    bool // a syntax error: the rest cannot be read
	Malformed bool // the keys are wrong: reported before the number of branches
	Problems  []Problem
	Path      []PathStep

	text []byte // the last string with escapes
}

// Problem is one fault of a document.
type Problem struct {
	Pointer string // JSON pointer
	Reason  string
}

// PathStep is one token of a JSON pointer: a name, or an index if that is not negative.
type PathStep struct {
	name  string
	index int
}

// What the decoder shares with the scanner.
const (
	MaxProblems = 20                         // more are not reported
	TwiceReason = "is there twice: keep one" // the reason of a repeated key
)

// Reset clears the scanner for another document and keeps its memory. It returns false if the
// document was so large that the memory should be dropped.
func (s *Scanner) Reset() bool {
	const usual = 1 << 16
	if cap(s.text) > usual {
		return false
	}
	*s = Scanner{Path: s.Path[:0], text: s.text[:0]}
	return true
}

// PushName adds a key to Path.
func (s *Scanner) PushName(name string) { s.Path = append(s.Path, PathStep{name, -1}) }

// PushIndex adds an index to Path.
func (s *Scanner) PushIndex(i int) { s.Path = append(s.Path, PathStep{index: i}) }

// Pop removes the last step of Path.
func (s *Scanner) Pop() { s.Path = s.Path[:len(s.Path)-1] }

// AddProblem reports the value at the path.
func (s *Scanner) AddProblem(reason string) {
	if !s.Broken && len(s.Problems) < MaxProblems {
		s.Problems = append(s.Problems, Problem{Pointer: s.pointer(), Reason: reason})
	}
}

// AddKeyProblem reports a key of the object at the path; the document is malformed then.
func (s *Scanner) AddKeyProblem(name, reason string) {
	s.Malformed = true
	s.PushName(brief.Shorten(name))
	s.AddProblem(reason)
	s.Pop()
}

// StopAt reports a problem and ends the pass.
func (s *Scanner) StopAt(reason string) {
	s.AddProblem(reason)
	s.Broken, s.Malformed, s.Pos = true, true, len(s.Data)
}

// expectedHere ends the pass with what was expected at this byte.
func (s *Scanner) expectedHere(want string) {
	if s.Pos >= len(s.Data) {
		s.StopAt("ends too early: expected " + want)
		return
	}
	s.StopAt(fmt.Sprintf("expected %s at byte %d, found %q", want, s.Pos, s.Data[s.Pos]))
}

// WrongType reports a value of the wrong type and skips it.
func (s *Scanner) WrongType(want string) {
	var found string
	switch c := s.Peek(); c {
	case '"':
		found = "a string"
	case '{':
		found = "an object"
	case '[':
		found = "an array"
	case 't', 'f':
		found = "a boolean"
	case 'n':
		s.AddProblem("is required, found null: give " + want)
		s.SkipValue()
		return
	default:
		if found = "a number"; c != '-' && (c < '0' || c > '9') {
			s.expectedHere(want)
			return
		}
	}
	s.AddProblem("expected " + want + ", found " + found)
	s.SkipValue()
}

var escapeToken = strings.NewReplacer("~", "~0", "/", "~1")

// pointer returns the path as a JSON pointer.
func (s *Scanner) pointer() string {
	var b strings.Builder
	for _, step := range s.Path {
		b.WriteByte('/')
		if step.index >= 0 {
			b.WriteString(strconv.Itoa(step.index))
		} else {
			b.WriteString(escapeToken.Replace(step.name))
		}
	}
	return b.String()
}

const maxDepth = 64 // objects and arrays inside each other

// CheckStart checks what holds for the whole input. It returns false if there is nothing to read.
func (s *Scanner) CheckStart() bool {
	switch {
	case bytes.HasPrefix(s.Data, []byte("\xef\xbb\xbf")):
		s.StopAt("starts with a byte order mark: remove it")
	case !utf8.Valid(s.Data):
		s.StopAt("is not UTF-8: encode the text as UTF-8")
	case s.Peek() == 0 && s.Pos >= len(s.Data):
		s.StopAt("is empty: expected an object")
	}
	return !s.Broken
}

// CheckEnd checks that nothing follows the value.
func (s *Scanner) CheckEnd() {
	if !s.Broken && (s.Peek() != 0 || s.Pos < len(s.Data)) {
		s.expectedHere("nothing more after the value")
	}
}

// Peek skips white space and returns the next byte without consuming it, 0 at the end.
func (s *Scanner) Peek() byte {
	for s.Pos < len(s.Data) {
		c := s.Data[s.Pos]
		if c > ' ' || c != ' ' && c != '\n' && c != '\t' && c != '\r' {
			return c
		}
		s.Pos++
	}
	return 0
}

// EnterBracket consumes the bracket that opens a value. Any other value is reported and skipped.
func (s *Scanner) EnterBracket(open byte, want string) bool {
	if s.Peek() != open {
		s.WrongType(want)
		return false
	}
	if s.Depth++; s.Depth > maxDepth {
		s.StopAt(fmt.Sprintf("is nested deeper than %d", maxDepth))
		return false
	}
	s.Pos++
	return true
}

// NextElement reports whether another element follows, and consumes the comma before it or the
// closing bracket.
func (s *Scanner) NextElement(closing byte, first bool) bool {
	c := s.Peek()
	switch {
	case s.Broken:
		return false
	case c == closing:
		s.Pos++
		return false
	case first:
		return true
	case c != ',':
		s.expectedHere("a comma or '" + string(closing) + "'")
		return false
	}
	s.Pos++
	return true
}

// ReadKey consumes a key and its colon. The bytes are good until the next string is read.
func (s *Scanner) ReadKey() ([]byte, bool) {
	if s.Peek() != '"' {
		s.expectedHere("a key in quotes")
		return nil, false
	}
	at := s.Pos
	key, reason := s.ReadString()
	if s.Broken {
		return nil, false
	}
	if reason != "" {
		s.Pos = at
		s.StopAt("has a key that " + reason)
		return nil, false
	}
	if s.Peek() != ':' {
		s.expectedHere("a colon after the key")
		return nil, false
	}
	s.Pos++
	return key, true
}

// ReadString consumes a string and returns its text, good until the next string is read. A reason
// means that the text is refused and the string skipped.
func (s *Scanner) ReadString() (text []byte, reason string) {
	data, start := s.Data, s.Pos+1
	for i := start; i < len(data); i++ {
		switch c := data[i]; {
		case c == '"':
			s.Pos = i + 1
			return data[start:i], ""
		case c == '\\':
			return s.readEscaped(start, i)
		case c < ' ':
			s.Pos = i
			s.StopAt(fmt.Sprintf("has the control character U+%04X in a string at byte %d: "+
				"escape it",
				c, i))
			return nil, ""
		}
	}
	s.StopAt(fmt.Sprintf("has a string that is not closed, from byte %d on", start-1))
	return nil, ""
}

// readEscaped is ReadString for a string with a backslash at i. The text is built in the memory of
// the scanner.
func (s *Scanner) readEscaped(start, i int) (text []byte, reason string) {
	data := s.Data
	s.text = append(s.text[:0], data[start:i]...)
	for i < len(data) {
		c := data[i]
		switch {
		case c == '"':
			s.Pos = i + 1
			return s.text, reason
		case c < ' ':
			s.Pos = i
			s.StopAt(fmt.Sprintf("has the control character U+%04X in a string at byte %d: "+
				"escape it",
				c, i))
			return nil, ""
		case c != '\\':
			s.text = append(s.text, c)
			i++
			continue
		}
		size, bad, ok := s.appendEscape(data[i:])
		if !ok {
			s.Pos = i
			s.StopAt(fmt.Sprintf("has an unknown escape at byte %d", i))
			return nil, ""
		}
		if reason == "" {
			reason = bad
		}
		i += size
	}
	s.StopAt(fmt.Sprintf("has a string that is not closed, from byte %d on", start-1))
	return nil, ""
}

// appendEscape appends what the escape at the start of in stands for, and returns its length.
func (s *Scanner) appendEscape(in []byte) (size int, reason string, ok bool) {
	if len(in) < 2 {
		return 0, "", false
	}
	const plain, meaning = `"\/bfnrt`, "\"\\/\b\f\n\r\t"
	for i := range len(plain) {
		if in[1] == plain[i] {
			s.text = append(s.text, meaning[i])
			return 2, "", true
		}
	}
	r, ok := parseUnicode(in)
	if !ok {
		return 0, "", false
	}
	size = 6
	if utf16.IsSurrogate(r) {
		low, _ := parseUnicode(in[size:])
		if r = utf16.DecodeRune(r, low); r == utf8.RuneError {
			return size, "holds a lone surrogate, half a character: remove it", true
		}
		size = 12
	}
	if r == 0 {
		reason = `holds the character \u0000: remove it`
	}
	s.text = utf8.AppendRune(s.text, r)
	return size, reason, true
}

// parseUnicode reads \uXXXX at the start of in.
func parseUnicode(in []byte) (rune, bool) {
	if len(in) < 6 || in[0] != '\\' || in[1] != 'u' {
		return 0, false
	}
	var r rune
	for _, c := range in[2:6] {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}

// ReadNumber consumes a number and returns its text; nil after a syntax error.
func (s *Scanner) ReadNumber() []byte {
	data, start := s.Data, s.Pos
	i := start
	if i < len(data) && data[i] == '-' {
		i++
	}
	switch digits := countDigits(data, i); {
	case digits == 0:
		s.expectedHere("a value")
		return nil
	case data[i] == '0' && digits > 1:
		s.expectedHere("a number without leading zeros")
		return nil
	default:
		i += digits
	}
	if i < len(data) && data[i] == '.' {
		digits := countDigits(data, i+1)
		if digits == 0 {
			s.expectedHere("a number with digits after the point")
			return nil
		}
		i += 1 + digits
	}
	if i < len(data) && data[i]|0x20 == 'e' {
		if i++; i < len(data) && (data[i] == '+' || data[i] == '-') {
			i++
		}
		digits := countDigits(data, i)
		if digits == 0 {
			s.expectedHere("a number with digits in its exponent")
			return nil
		}
		i += digits
	}
	s.Pos = i
	return data[start:i]
}

// countDigits returns how many digits stand at i.
func countDigits(data []byte, i int) int {
	n := 0
	for i+n < len(data) && data[i+n]-'0' <= 9 {
		n++
	}
	return n
}

// ReadLiteral consumes true, false or null.
func (s *Scanner) ReadLiteral(word string) bool {
	if end := s.Pos + len(word); end <= len(s.Data) && string(s.Data[s.Pos:end]) == word {
		s.Pos = end
		return true
	}
	s.expectedHere("a value")
	return false
}

// SkipValue consumes any value. Its keys and strings are checked like all others.
func (s *Scanner) SkipValue() {
	switch s.Peek() {
	case '{':
		s.skipObject()
	case '[':
		if !s.EnterBracket('[', "an array") {
			return
		}
		for n := 0; s.NextElement(']', n == 0); n++ {
			s.PushIndex(n)
			s.SkipValue()
			s.Pop()
		}
		s.Depth--
	case '"':
		if _, reason := s.ReadString(); reason != "" {
			s.AddProblem(reason)
		}
	case 't':
		s.ReadLiteral("true")
	case 'f':
		s.ReadLiteral("false")
	case 'n':
		s.ReadLiteral("null")
	default:
		s.ReadNumber()
	}
}

func (s *Scanner) skipObject() {
	if !s.EnterBracket('{', "an object") {
		return
	}
	seen := map[string]struct{}{}
	for first := true; s.NextElement('}', first); first = false {
		key, ok := s.ReadKey()
		if !ok {
			break
		}
		name := string(key)
		if _, twice := seen[name]; twice {
			s.AddKeyProblem(name, TwiceReason)
		}
		seen[name] = struct{}{}
		s.PushName(name)
		s.SkipValue()
		s.Pop()
	}
	s.Depth--
}
