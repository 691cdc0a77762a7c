package tui

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestShown(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"plain é 漢 👩‍💻":           "plain é 漢 👩‍💻",
		"\x1b[2J\x07\x7f":         `\u001b[2J\u0007\u007f`,
		"\u009b31m":               `\u009b31m`,
		"a\u202eb\u2066c\ufeff":   `a\u202eb\u2066c\ufeff`,
		"\xff\xfe":                `\xff\xfe`,
		"one\ntwo\tthree\r":       `one two three\u000d`,
		"\u2028":                  `\u2028`,
		"\x1b]0;title\x07after":   `\u001b]0;title\u0007after`,
		"\x1b]8;;http://x\x1b\\y": `\u001b]8;;http://x\u001b\y`,
	} {
		assert.Equal(t, want, sanitize(text, false))
	}
	assert.Equal(t, "one\ntwo    three\\u000d", sanitize("one\ntwo\tthree\r", true))
}

func TestFieldKeys(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text  string
		keys  []string
		typed string
		want  string
	}{
		{"abc", []string{"left", "left"}, "X", "aXbc"},
		{"abc", []string{"home"}, "X", "Xabc"},
		{"abc", []string{"home", "end", "right"}, "X", "abcX"},
		{"abc", []string{"left", "left", "left", "left", "backspace"}, "X", "Xabc"},
		{"abc", []string{"left", "delete", "delete"}, "", "ab"},
		{"one two  three", []string{"ctrl+w"}, "", "one two  "},
		{"one two  ", []string{"ctrl+w"}, "", "one "},
		{"one\ntwo", []string{"ctrl+u"}, "", "one\n"},
		{"one\ntwo", []string{"up", "home", "ctrl+k"}, "", "\ntwo"},
		{"one\ntwo", []string{"up"}, "X", "oneX\ntwo"},
		{"a\nlong", []string{"up"}, "X", "aX\nlong"},
		{"long\na", []string{"up", "down"}, "X", "long\naX"},
		{"long\na", []string{"home", "up", "end", "down"}, "X", "long\naX"},
		{"ab", []string{"left", "alt+enter"}, "", "a\nb"},
		{"👩‍💻é", []string{"backspace"}, "", "👩‍💻"},
		{"👩‍💻é", []string{"backspace", "backspace"}, "", ""},
		{"", []string{"backspace", "delete", "ctrl+w", "ctrl+u", "up", "down", "left"},
			"a\tb\r\nc\x1b\u202e\xffd", "a b\ncd"},
	} {
		f := fieldOf(c.text)
		for _, key := range c.keys {
			require.True(t, f.key(key), key)
		}
		f.insert(c.typed)
		assert.Equal(t, c.want, f.content(), "%q %v", c.text, c.keys)
	}
	f := fieldOf("a")
	for _, other := range []string{"enter", "esc", "tab", "f1", "a"} {
		assert.False(t, f.key(other), other)
	}
}

func TestFieldBreaksAtBlanks(t *testing.T) {
	t.Parallel()
	f := fieldOf("a change that is longer than the line\n\nend")
	lines, row, column := f.draw(17, 99)
	assert.Equal(t, []string{"a change that ", "is longer than ", "the line", "", "end"}, lines)
	assert.Equal(t, []int{4, 3}, []int{row, column})
}

// Whatever is typed, nothing of it is lost, every line fits, and the cursor stands inside.
func TestFieldDraws(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		f := fieldOf(rapid.StringOf(rapid.RuneFrom([]rune("ab \n漢é👩\u0301"))).Draw(t, "text"))
		f.at = rapid.IntRange(0, len(f.parts)).Draw(t, "at")
		width := rapid.IntRange(5, 20).Draw(t, "width")
		lines, row, column := f.draw(width, 1000)
		if strings.ReplaceAll(strings.Join(lines, ""), "\n", "") != strings.ReplaceAll(f.content(),
			"\n", "") {
			t.Fatalf("%q is drawn as %q", f.content(), lines)
		}
		for _, l := range lines {
			if ansi.StringWidth(l) >= width {
				t.Fatalf("%q is wider than %d", l, width)
			}
		}
		if row < 0 || row >= len(lines) || column > ansi.StringWidth(lines[row]) ||
			column >= width {
			t.Fatalf("cursor at %d, %d of %q", row, column, lines)
		}
		few, row, _ := f.draw(width, 3)
		if len(few) > 3 || row >= len(few) {
			t.Fatalf("line %d of %q", row, few)
		}
	})
}
