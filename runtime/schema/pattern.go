package schema

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// GoPattern returns the first piece of a pattern of Go that JavaScript, whose patterns JSON Schema
// has, does not read with that meaning, or "" if schemas can carry the pattern. The piece is the
// rest of the pattern at most. A text that Go does not compile is no pattern of Go. What . and \s
// match beyond ASCII is passed over: both differ a little.
func GoPattern(pattern string) string {
	if _, err := regexp.Compile(pattern); err != nil {
		return ""
	}
	after := atom // what a quantifier would repeat
	for rest := pattern; rest != ""; {
		n := 1
		switch rest[0] {
		case '[':
			end, foreign := classEnd(rest)
			if foreign != "" {
				return foreign
			}
			n, after = end, atom
		case '\\':
			if n = escapeEnd(rest, "dDwWsSbB"); n == 0 {
				return firstPiece(rest)
			}
			after = atom
			if rest[1] == 'b' || rest[1] == 'B' {
				after = assertion
			}
		case '(':
			if group := foreignGroup.FindString(rest); group != "" {
				return group
			}
			n, after = len(groupStart.FindString(rest)), assertion
		case '^', '$', '|':
			after = assertion
		case '*', '+', '?', '{':
			if n = len(quantifier.FindString(rest)); n == 0 || after == assertion {
				return firstPiece(rest)
			}
			after = assertion // Go refuses a second one
		case ']', '}':
			return firstPiece(rest)
		default:
			after = atom
			if _, n = utf8.DecodeRuneInString(rest); n == 4 { // two characters to many readers
				after = assertion
			}
		}
		rest = rest[n:]
	}
	return ""
}

// What stands in front of a quantifier.
const (
	atom      = iota // something that can be repeated
	assertion        // a place, the beginning, or what some readers repeat a part of
)

var (
	quantifier   = regexp.MustCompile(`^(?:[*+?]|\{[0-9]+(?:,[0-9]*)?\})\??`)
	groupStart   = regexp.MustCompile(`^\((?:\?:|\?<[A-Za-z_][A-Za-z0-9_]*>)?`)
	foreignGroup = regexp.MustCompile(`^\(\?(?:[^:<][^):]*[):]|<[^A-Za-z_])`)
	escape       = regexp.MustCompile(`^\\(?:[tnrfv]|x[0-9a-fA-F]{2}|[\^$\\.*+?()\[\]{}|/])`)
)

// firstPiece returns the escape, or else the character, that a text begins with.
func firstPiece(text string) string {
	_, n := utf8.DecodeRuneInString(text)
	if text[0] == '\\' && len(text) > 1 {
		_, size := utf8.DecodeRuneInString(text[1:])
		n += size
	}
	return text[:n]
}

// escapeEnd returns the length of the escape that a text begins with, 0 for one that is not legal
// everywhere. The letters are those of sets and places.
func escapeEnd(text, letters string) int {
	if len(text) > 1 && strings.IndexByte(letters, text[1]) >= 0 {
		return 2
	}
	return len(escape.FindString(text))
}

// classEnd returns the length of the bracket expression that a text begins with, or its first piece
// that is not legal everywhere.
func classEnd(text string) (end int, foreign string) {
	i := len("[")
	if strings.HasPrefix(text[i:], "^") {
		i++
	}
	if strings.HasPrefix(text[i:], "]") { // an empty one in JavaScript
		return 0, text[:i+1]
	}
	set := false // the last member is an escape for many characters
	for first := i; i < len(text); {
		n := 1
		switch c := text[i]; {
		case c == ']':
			return i + 1, ""
		case strings.HasPrefix(text[i:], "[:"):
			name, _, _ := strings.Cut(text[i:], ":]")
			return 0, name + ":]"
		case c == '-' && i > first && !strings.HasPrefix(text[i+1:], "]"):
			if set { // Go refuses one in front of a set
				return 0, "-"
			}
			set = false
		case c == '\\' && strings.HasPrefix(text[i:], `\-`):
			n, set = 2, false
		case c == '\\':
			if n = escapeEnd(text[i:], "dDwWsS"); n == 0 {
				return 0, firstPiece(text[i:])
			}
			set = strings.IndexByte("dDwWsS", text[i+1]) >= 0
		default:
			if _, n = utf8.DecodeRuneInString(text[i:]); n == 4 {
				return 0, text[i : i+n]
			}
			set = false
		}
		i += n
	}
	return 0, text
}
