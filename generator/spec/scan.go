package spec

import (
	"bytes"
	"fmt"
	"strings"
)

// The caps of a document. They hold before the YAML library builds anything.
const (
	maxDepth = 64
	maxKeys  = 65_536
	maxNodes = 4_000_000
)

// scanner reads the raw text once. It knows enough of YAML to tell structure from text: it enforces
// the caps, finds comments, and notes places that look like mistakes, because the library reports a
// line at best.
type scanner struct {
	text   []byte
	at     int     // the next byte
	levels []level // open block collections
	flow   []level // open flow collections
	nodes  int
	// column of the key or dash whose plain text may continue on the next line; -1 for none
	plain    int
	comments []comment
	suspects []suspect
	markers  []int // offsets of `---` after the first content
	spaces   []int // offsets of runs of wide spaces where there should be plain ones
	over     *suspect
}

// level is one open collection: where it opened, its column and how many keys it has.
type level struct {
	at, column, keys int
	value            bool // of flow mappings: the colon of the key was there
}

// comment is a `#` comment. It is alone if it is the first text on its line.
type comment struct {
	at, end int
	alone   bool
}

// suspect is a place that looks like a mistake.
type suspect struct {
	rule, message, hint string
	at, end             int
	quoted              string // a type that needs quotes, in them: no YAML has it without
}

// maxSuspects bounds the places that are noted of one file.
const maxSuspects = 64

func (s *scanner) suspect(from, to int, message, hint string) {
	if len(s.suspects) < maxSuspects {
		s.suspects = append(s.suspects, suspect{rule: RuleSyntax, message: message, hint: hint,
			at: from, end: max(to, from+1)})
	}
}

func (s *scanner) exceed(rule string, at int, format string, limit int) {
	if s.over == nil {
		s.over = &suspect{rule: rule, message: fmt.Sprintf(format, limit), at: at, end: at + 1}
	}
}

// scan runs to the end of the text or to the first cap.
func scan(text []byte) *scanner {
	s := &scanner{text: text, plain: -1}
	for s.at < len(s.text) && s.over == nil {
		s.blockLine()
	}
	return s
}

func (s *scanner) lineEnd(from int) int {
	if n := bytes.IndexByte(s.text[from:], '\n'); n >= 0 {
		return from + n
	}
	return len(s.text)
}

func (s *scanner) blank(at int) bool {
	return at < 0 || at >= len(s.text) || s.text[at] == ' ' || s.text[at] == '\t' ||
		s.text[at] == '\n' || s.text[at] == '\r'
}

// blockLine reads one line outside quotes and brackets, and the lines over which its last value
// continues.
func (s *scanner) blockLine() {
	start, end := s.at, s.lineEnd(s.at)
	at := start
	for at < end && s.text[at] == ' ' {
		at++
	}
	indent := at - start
	if at < end && s.text[at] == '\t' {
		tab := at
		for at < end && (s.text[at] == ' ' || s.text[at] == '\t') {
			at++
		}
		if !s.blank(at) && s.text[at] != '#' && s.plain < 0 {
			s.suspect(tab, at, "tab in the indentation", "YAML allows only spaces there")
		}
	}
	s.at = end + 1
	switch {
	case s.blank(at):
	case s.text[at] == '#':
		s.comment(at, end, true)
	case at == start && s.marker(at, end):
	case s.plain >= 0 && indent > s.plain:
		s.plainTail(at, end)
	default:
		s.plain = -1
		s.tokens(start, at, end)
	}
}

func (s *scanner) comment(at, end int, alone bool) {
	if bytes.Contains(s.text[at:end], []byte("routegen:allow")) {
		s.comments = append(s.comments, comment{at, end, alone})
	}
}

// marker handles lines that mean something at column 1 only.
func (s *scanner) marker(at, end int) bool {
	line := s.text[at:end]
	for _, sign := range []string{"<<<<<<<", "=======", ">>>>>>>", "|||||||"} {
		if bytes.HasPrefix(line, []byte(sign)) && s.blank(at+7) {
			s.suspect(at, at+7, "merge conflict marker",
				"settle the conflict and remove the marker lines")
			return true
		}
	}
	switch {
	case line[0] == '%':
		return true
	case bytes.HasPrefix(line, []byte("---")) && s.blank(at+3):
		if s.nodes > 0 {
			s.markers = append(s.markers, at)
		}
		s.levels, s.plain = s.levels[:0], -1
		s.tokens(at, at+3, end)
		return true
	}
	return false
}

// plainTail skips a line that continues plain text.
func (s *scanner) plainTail(at, end int) {
	from := at
	for ; at < end; at++ {
		if s.text[at] == '#' && s.blank(at-1) {
			s.comment(at, end, false)
			s.plain = -1
			return
		}
		if s.text[at] == ':' && s.blank(at+1) {
			s.space(from)
			s.suspect(at, at+1, "`:` inside text that began on a line above",
				"indent this line like its siblings, or quote the text")
		}
	}
}

// enter opens, continues or returns to the block collection at a column.
func (s *scanner) enter(at, column int, key bool) {
	n := len(s.levels)
	for n > 0 && s.levels[n-1].column > column {
		n--
	}
	fell := n < len(s.levels)
	s.levels = s.levels[:n]
	if n == 0 || s.levels[n-1].column < column {
		if fell {
			s.suspect(at, at+1, "the indentation matches no line above", "")
		}
		s.levels = append(s.levels, level{at: at, column: column})
		if len(s.levels) > maxDepth {
			s.exceed(RuleTooDeep, at, "nesting is deeper than %d levels", maxDepth)
		}
	}
	if key {
		s.key(&s.levels[len(s.levels)-1], at)
	}
}

func (s *scanner) key(l *level, at int) {
	if l.keys++; l.keys > maxKeys {
		s.exceed(RuleTooManyKeys, at, "one mapping has more than %d keys", maxKeys)
	}
}

func (s *scanner) count(at int) {
	if s.nodes++; s.nodes > maxNodes {
		s.exceed(RuleTooManyNodes, at, "the document has more than %d values", maxNodes)
	}
}

// tokens reads the rest of a line from at; start is the first byte of the line.
func (s *scanner) tokens(start, at, end int) {
	afterKey, afterDash := false, false
	for s.over == nil {
		for at < end && (s.text[at] == ' ' || s.text[at] == '\t' || s.text[at] == '\r') {
			at++
		}
		if at >= end {
			return
		}
		if width := s.space(at); width > 0 {
			at += width
			continue
		}
		from := at
		switch c := s.text[at]; {
		case c == '#' && s.blank(at-1):
			s.comment(at, end, false)
			return
		case (c == '-' || c == '?') && s.gap(at+1, !afterKey):
			s.item(start, at, afterKey)
			afterDash, at = true, at+1
			continue
		case c == '&' || c == '*' || c == '!':
			for at < end && !s.blank(at) {
				at++
			}
			continue
		case c == '|' || c == '>':
			s.count(at)
			s.blockScalar(end)
			return
		case c == '"' || c == '\'':
			s.count(at)
			at = s.quoted(at)
		case c == '[' && s.bareType(at) > 0:
			at = s.bareType(at)
			s.suspectType(from, at)
			continue
		case c == '[' || c == '{':
			at = s.flowCollection(at)
		default:
			at = s.plainText(at, end, !afterKey)
		}
		if at > end { // it went on over more lines
			start, end = -1, s.lineEnd(min(at, len(s.text)))
			s.at = end + 1
		}
		if at < end && s.text[at] == ':' && s.gap(at+1, !afterKey) {
			s.keyEnd(start, from, at, afterKey)
			afterKey, at = true, at+1
			continue
		}
		s.valueEnd(from, at, end, afterKey || afterDash)
		return
	}
}

// item reads the sign in front of a list item. AfterKey says whether a key stands on its line.
func (s *scanner) item(start, at int, afterKey bool) {
	if afterKey {
		s.suspect(at, at+1, "a list item follows its key on one line", "put it on its own line")
	}
	s.enter(at, at-start, false)
	s.count(at)
}

// keyEnd reads the colon behind a key. Start is negative where the key has more than one line.
func (s *scanner) keyEnd(start, from, at int, afterKey bool) {
	if afterKey {
		s.suspect(at, at+1, "`: ` inside a value", "quote the whole value")
	} else if start >= 0 {
		s.enter(from, from-start, true)
	}
}

// valueEnd checks the text behind the last value of a line.
func (s *scanner) valueEnd(from, at, end int, placed bool) {
	rest := at
	for rest < end && (s.text[rest] == ' ' || s.text[rest] == '\t' || s.text[rest] == '\r') {
		rest++
	}
	structured := s.text[from] == '"' || s.text[from] == '\'' || s.text[from] == '[' ||
		s.text[from] == '{'
	switch {
	case rest < end && s.text[rest] == '#' && s.blank(rest-1):
		s.comment(rest, end, false)
	case rest < end && structured && bytes.IndexByte(s.text[from:at], '\n') >= 0 &&
		s.text[from] != '[' && s.text[from] != '{':
		s.suspect(from, from+1, "the quote that opens here closes in front of other text",
			"is its closing quote missing?")
	case rest < end && structured:
		s.suspect(rest, end, fmt.Sprintf("text after a closing %c", s.text[at-1]),
			"quote the whole value")
	case !placed && len(s.levels) > 0:
		s.suspect(from, at, "a key without `:`", "write a colon and a space after the key")
	case !structured && len(s.levels) > 0:
		s.plain = s.levels[len(s.levels)-1].column
	}
}

// plainText returns the end of unquoted text on its line. Key says whether it can be a key.
func (s *scanner) plainText(at, end int, key bool) int {
	s.count(at)
	switch s.text[at] {
	case '@', '`', '%', ']', '}', ',':
		s.suspect(at, at+1, fmt.Sprintf("a value cannot begin with %c", s.text[at]), "quote it")
	}
	for i := at; i < end; i++ {
		// a key is one word; with more words this is prose, which may have wide spaces
		key = key && s.text[i] != ' '
		if s.text[i] == ':' && s.gap(i+1, key) || s.text[i] == '#' && i > at && s.blank(i-1) {
			return i
		}
	}
	return end
}

// quoted returns the offset behind the closing quote, or the length of the text.
func (s *scanner) quoted(at int) int {
	quote := s.text[at]
	for i := at + 1; i < len(s.text); i++ {
		switch {
		case s.text[i] == '\\' && quote == '"':
			i++
		case s.text[i] == quote && quote == '\'' && i+1 < len(s.text) && s.text[i+1] == quote:
			i++
		case s.text[i] == quote:
			return i + 1
		}
	}
	s.suspect(at, at+1, "this quote is never closed", "")
	return len(s.text)
}

// blockScalar skips the lines of `|` and `>` text.
func (s *scanner) blockScalar(end int) {
	parent := -1
	if len(s.levels) > 0 {
		parent = s.levels[len(s.levels)-1].column
	}
	for s.at = end + 1; s.at < len(s.text); s.at = s.lineEnd(s.at) + 1 {
		at := s.at
		for at < len(s.text) && s.text[at] == ' ' {
			at++
		}
		if !s.blank(at) && at-s.at <= parent {
			return
		}
	}
}

// flowCollection returns the offset behind the bracket that closes the one at at.
func (s *scanner) flowCollection(at int) int {
	s.flow = s.flow[:0]
	plain := false
	for i := at; i < len(s.text) && s.over == nil; i++ {
		switch c := s.text[i]; c {
		case ' ', '\t', '\r', '\n':
		case '[', '{':
			if from, end := s.flowType(i, plain); end > 0 {
				s.suspectType(from, end)
				i, plain = end-1, true
				continue
			}
			s.count(i)
			s.flow = append(s.flow, level{at: i})
			plain = false
			if len(s.levels)+len(s.flow) > maxDepth {
				s.exceed(RuleTooDeep, i, "nesting is deeper than %d levels", maxDepth)
			}
		case ']', '}':
			if open := s.text[s.flow[len(s.flow)-1].at]; open+2 != c {
				s.suspect(i, i+1, fmt.Sprintf("%c closes what %c opened", c, open), "")
			}
			plain = false
			if s.flow = s.flow[:len(s.flow)-1]; len(s.flow) == 0 {
				return i + 1
			}
		case ',':
			plain = false
			if open := &s.flow[len(s.flow)-1]; s.text[open.at] == '{' {
				s.key(open, i)
				open.value = false
			}
		case ':':
			plain = plain && !s.flowColon(i)
			s.flowValue(i, plain)
		case '#':
			if s.blank(i - 1) {
				end := s.lineEnd(i)
				s.comment(i, end, false)
				i = end
				continue
			}
			plain = true
		case '"', '\'':
			if !plain {
				s.count(i)
				i = s.quoted(i) - 1
			}
		default:
			i, plain = s.flowWord(i, plain)
		}
	}
	if len(s.flow) > 0 && s.over == nil {
		open := s.flow[len(s.flow)-1].at
		s.suspect(open, open+1, fmt.Sprintf("this %c is never closed", s.text[open]), "")
	}
	return len(s.text)
}

// flowValue notes that a colon in brackets ends a key, unless it is inside plain text.
func (s *scanner) flowValue(at int, plain bool) {
	open := &s.flow[len(s.flow)-1]
	if !plain && open.value && s.text[open.at] == '{' {
		s.suspect(at, at+1, "`: ` inside a value", "quote the whole value")
	}
	open.value = open.value || !plain
}

// flowWord begins or continues unquoted text in brackets, or passes over wide spaces in front of
// it. It returns the last byte that it consumed.
func (s *scanner) flowWord(at int, inside bool) (last int, plain bool) {
	if inside {
		if s.text[at] == '?' {
			s.suspect(at, at+1, "`?` inside unquoted text between brackets",
				"quote the whole value")
		}
		return at, true
	}
	if width := s.space(at); width > 0 {
		return at + width - 1, false
	}
	s.count(at)
	for _, quote := range []string{"\u201c", "\u201d", "\u201e", "\u2018", "\u2019"} {
		if bytes.HasPrefix(s.text[at:], []byte(quote)) {
			s.suspect(at, at+len(quote), quote+" is not a YAML quote", `write a plain one: "`)
		}
	}
	return at, true
}

// flowColon reports whether a colon behind unquoted text in brackets ends a key.
func (s *scanner) flowColon(at int) bool {
	open := &s.flow[len(s.flow)-1]
	return s.gap(at+1, s.text[open.at] == '{' && !open.value) ||
		strings.IndexByte(",[]{}", s.text[at+1]) >= 0
}
