package tui

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// shown makes text of others safe to print: what would steer a terminal, reorder or hide letters is written as its escape instead. With
// newlines true line breaks stay; else they become spaces, as tabs do.
func shown(text string, newlines bool) string {
	var b strings.Builder
	for len(text) > 0 {
		r, size := utf8.DecodeRuneInString(text)
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, text[0])
		case r == '\n' && newlines:
			b.WriteByte('\n')
		case r == '\t' && newlines:
			b.WriteString("    ")
		case r == '\n', r == '\t':
			b.WriteByte(' ')
		case hidden(r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
		text = text[size:]
	}
	return b.String()
}

// joiner holds the parts of one emoji together.
const joiner = '\u200d'

// hidden reports whether a rune has no picture of its own.
func hidden(r rune) bool {
	return unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp) && r != joiner
}

// line is shown for one line.
func line(text string) string { return shown(strings.TrimSpace(text), false) }

// textOf returns a JSON text without its quotes, and any other value as it stands.
func textOf(value json.RawMessage) string {
	var text string
	if json.Unmarshal(value, &text) == nil {
		return text
	}
	return string(value)
}

// indented is JSON over several lines, and what is no JSON as it is.
func indented(value json.RawMessage) string {
	var b bytes.Buffer
	if json.Indent(&b, value, "", "  ") != nil {
		return string(value)
	}
	return b.String()
}

// wrap breaks safe text into lines of a width.
func wrap(text string, width int) []string {
	return strings.Split(ansi.Wrap(text, max(width, 1), ""), "\n")
}

// cut shortens a line to a width. It says that it did.
func cut(text string, width int) string { return ansi.Truncate(text, max(width, 0), "…") }

// clock is a time of the wire, in Unix milliseconds, as a person's clock shows it.
func clock(millis int64) string { return time.UnixMilli(millis).Local().Format("15:04:05") } //nolint:gosmopolitan // a person reads it

// window returns which part of n rows to show in so many lines, so that row at stands in it.
func window(n, at, lines int) (from, to int) {
	lines = max(lines, 1)
	from = max(0, min(at-lines/2, n-lines))
	return from, min(n, from+lines)
}

// plural is a number of things.
func plural(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
