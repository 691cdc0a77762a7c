package prompt

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxData is how many characters of one value are shown; the rest is cut, and the text says so.
const MaxData = 50_000

const none = "(none)"

// escapes matches the control sequences of terminals.
var escapes = regexp.MustCompile(
	`(?:\x1b\[|\x{9b})[0-?]*[ -/]*[@-~]|\x1b[\]PX^_][^\x07\x1b\n]*(?:\x07|\x1b\\)?|\x1b[ -/]*[0-~]`)

// Data returns text as a fenced block that the text cannot end: the fence is longer than any run of
// backticks inside. Terminal escapes, control and direction characters, and all other invisible
// characters are removed, and text beyond [MaxData] characters is cut. If nothing is left, Data
// returns "(none)". kind follows the opening fence: "text" or "json".
func Data(kind, text string) string {
	text = cleanText(text)
	if strings.TrimSpace(text) == "" {
		return none
	}
	longest, run := 2, 0
	for i := range len(text) {
		if run++; text[i] != '`' {
			run = 0
		}
		longest = max(longest, run)
	}
	fence := strings.Repeat("`", longest+1)
	return fence + kind + "\n" + text + "\n" + fence
}

// Line returns text as a part of one line: cleaned and cut as [Data] does, with single spaces and
// no line break.
func Line(text string) string { return strings.Join(strings.Fields(cleanText(text)), " ") }

func cleanText(text string) string {
	if isPlainText(text) {
		return cutText(text)
	}
	if strings.ContainsAny(text, "\x1b\u009b") {
		text = escapes.ReplaceAllString(text, "")
	}
	text = strings.ReplaceAll(text, "\r\n", "\n")
	return cutText(strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case r == '\r' || r == '\u0085' || r == '\u2028' || r == '\u2029':
			return '\n'
		case unicode.Is(unicode.Prepended_Concatenation_Mark, r):
			return r // a format character that is seen
		case unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Variation_Selector,
			unicode.Other_Default_Ignorable_Code_Point) || r == '\u2800':
			return -1
		}
		return r
	}, text))
}

// isPlainText reports whether text has only printable ASCII, newlines and tabs.
func isPlainText(text string) bool {
	for i := range len(text) {
		if c := text[i]; c >= 0x7f || c < ' ' && c != '\n' && c != '\t' {
			return false
		}
	}
	return true
}

func cutText(text string) string {
	if len(text) <= MaxData {
		return text
	}
	at := 0
	for range MaxData {
		_, size := utf8.DecodeRuneInString(text[at:])
		if at += size; at == len(text) {
			return text
		}
	}
	return fmt.Sprintf("%s\n[cut here: %d more characters]", text[:at],
		utf8.RuneCountInString(text[at:]))
}
