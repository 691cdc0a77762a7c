package tui

import (
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// field is a text input. The cursor moves over whole grapheme clusters.
type field struct {
	parts []string // letters; "\n" is one
	at    int      // the cursor stands before this one
}

func fieldOf(text string) field {
	var f field
	f.insert(text)
	return f
}

func (f *field) content() string { return strings.Join(f.parts, "") }

// insert puts text at the cursor. It leaves out invisible runes, which would be sent without having
// been seen.
func (f *field) insert(text string) {
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\t", " ").
		Replace(strings.ToValidUTF8(text, ""))
	text = strings.Map(func(r rune) rune {
		if r != '\n' && isInvisible(r) {
			return -1
		}
		return r
	}, text)
	before := strings.Join(f.parts[:f.at], "") + text
	f.parts = letters(before + strings.Join(f.parts[f.at:], ""))
	f.at = min(len(letters(before)), len(f.parts)) // an accent joins the letter before it
}

func letters(text string) []string {
	var out []string
	for text != "" {
		letter, _ := ansi.FirstGraphemeCluster(text, ansi.GraphemeWidth)
		out, text = append(out, letter), text[len(letter):]
	}
	return out
}

// key applies a key to the text, and reports whether the text uses that key.
func (f *field) key(key string) bool {
	start, end := f.lineStart(), f.lineEnd()
	switch key {
	case "left", "ctrl+b":
		f.at = max(f.at-1, 0)
	case "right", "ctrl+f":
		f.at = min(f.at+1, len(f.parts))
	case "home", "ctrl+a":
		f.at = start
	case "end", "ctrl+e":
		f.at = end
	case "up":
		if start > 0 {
			f.at, start = start-1, f.at-start
			f.at = min(f.lineStart()+start, f.at)
		}
	case "down":
		if end < len(f.parts) {
			f.at, start = end+1, f.at-start
			f.at = min(f.at+start, f.lineEnd())
		}
	case "backspace", "ctrl+h":
		f.remove(max(f.at-1, 0), f.at)
	case "delete", "ctrl+d":
		f.remove(f.at, min(f.at+1, len(f.parts)))
	case "ctrl+u":
		f.remove(start, f.at)
	case "ctrl+k":
		f.remove(f.at, end)
	case "ctrl+w", "alt+backspace":
		from := f.at
		for from > 0 && strings.TrimSpace(f.parts[from-1]) == "" {
			from--
		}
		for from > 0 && strings.TrimSpace(f.parts[from-1]) != "" {
			from--
		}
		f.remove(from, f.at)
	case "alt+enter", "shift+enter", "ctrl+j":
		f.insert("\n")
	default:
		return false
	}
	return true
}

func (f *field) remove(from, to int) { f.parts, f.at = slices.Delete(f.parts, from, to), from }

func (f *field) lineStart() int {
	at := f.at
	for at > 0 && f.parts[at-1] != "\n" {
		at--
	}
	return at
}

func (f *field) lineEnd() int {
	if n := slices.Index(f.parts[f.at:], "\n"); n >= 0 {
		return f.at + n
	}
	return len(f.parts)
}

// draw returns at most that many lines around the cursor, and the row and column of the cursor in
// them.
func (f *field) draw(width, most int) (lines []string, row, column int) {
	starts := f.starts(max(width-2, 1)) // the last columns are for a blank and the cursor
	for n, start := range starts {
		end := len(f.parts)
		if n+1 < len(starts) {
			end = starts[n+1]
		}
		if f.at >= start {
			row, column = n, ansi.StringWidth(strings.Join(f.parts[start:f.at], ""))
		}
		lines = append(lines, strings.TrimSuffix(strings.Join(f.parts[start:end], ""), "\n"))
	}
	from, to := visibleRange(len(lines), row, most)
	return lines[from:to], row - from, column
}

// starts returns where lines begin. Lines break at a blank if there is one.
func (f *field) starts(width int) []int {
	out := []int{0}
	used, blank := 0, -1
	for n, part := range f.parts {
		wide := ansi.StringWidth(part)
		switch start := out[len(out)-1]; {
		case part == "\n":
			out, used, blank = append(out, n+1), 0, -1
			continue
		case used+wide > width && n > start && (part != " " || used > width):
			next := n
			if blank >= start {
				next = blank + 1
			}
			out, used, blank = append(out, next),
				ansi.StringWidth(strings.Join(f.parts[next:n], "")), -1
		case part == " ":
			blank = n
		}
		used += wide
	}
	return out
}
