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

// sanitize makes text safe to print. It escapes invisible runes, which could steer the terminal,
// reorder letters or hide them. It keeps line breaks if newlines is set; otherwise they become
// spaces, as tabs do.
func sanitize(text string, newlines bool) string {
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
		case isInvisible(r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
		text = text[size:]
	}
	return b.String()
}

// joiner connects the parts of one emoji.
const joiner = '\u200d'

// isInvisible reports whether a rune has no glyph of its own.
func isInvisible(r rune) bool {
	return unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp) && r != joiner
}

// oneLine is sanitize for one line.
func oneLine(text string) string { return sanitize(strings.TrimSpace(text), false) }

// unquote returns a JSON text without its quotes, and any other value as it stands.
func unquote(value json.RawMessage) string {
	var text string
	if json.Unmarshal(value, &text) == nil {
		return text
	}
	return string(value)
}

// indentJSON indents JSON, and returns other text unchanged.
func indentJSON(value json.RawMessage) string {
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

// truncate shortens a line to a width and marks the cut.
func truncate(text string, width int) string { return ansi.Truncate(text, max(width, 0), "…") }

// formatClock formats a time in Unix milliseconds as hours, minutes and seconds.
//
//nolint:gosmopolitan // a person reads it
func formatClock(millis int64) string { return time.UnixMilli(millis).Local().Format("15:04:05") }

// visibleRange returns which of n rows to show in that many lines so that row at is visible.
func visibleRange(n, at, lines int) (from, to int) {
	lines = max(lines, 1)
	from = max(0, min(at-lines/2, n-lines))
	return from, min(n, from+lines)
}

// plural returns a number with its noun.
func plural(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
