package tui

import (
	"encoding/json"
	"regexp"
	"strings"

	"github.com/routegen/routegen/runtime/web/inspector"
)

// wordTable is the table of words that the page and the terminal share.
type wordTable struct {
	People map[string]string   `json:"people"` // by the name on the wire
	Orders map[string]string   `json:"orders"` // by the choice
	Lines  map[string][]string `json:"lines"`  // by type, or type.variant
}

var table = readWords()

// readWords parses the table of the page. The table is part of the program: one that cannot be
// parsed is empty, which the tests find.
func readWords() (w wordTable) {
	_ = json.Unmarshal(inspector.Words(), &w)
	return w
}

// slot is a fact, or a part in brackets, in a line of the table.
var slot = regexp.MustCompile(`\[[^\]]*\]|\{\??[\w.]+\}`)

// fillLine writes a line of the table. {name} is a fact. The line fails if a fact is empty; {?name}
// is only looked at, and a part in [brackets] is left out if it fails.
func fillLine(line string, fact func(name string) string) (text string, ok bool) {
	ok = true
	text = slot.ReplaceAllStringFunc(line, func(m string) string {
		if m[0] == '[' {
			if part, ok := fillLine(m[1:len(m)-1], fact); ok {
				return part
			}
			return ""
		}
		value := fact(strings.Trim(m, "{?}"))
		ok = ok && value != ""
		if m[1] == '?' {
			return ""
		}
		return value
	})
	return text, ok
}

// firstLine returns the first line of the table, under one of some keys, whose facts are all there.
func firstLine(fact func(name string) string, keys ...string) string {
	for _, key := range keys {
		for _, l := range table.Lines[key] {
			if text, ok := fillLine(l, fact); ok {
				return text
			}
		}
	}
	return ""
}
