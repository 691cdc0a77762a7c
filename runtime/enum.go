package runtime

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Name is the text of one value of an enum whose values are rows of a table, and the other texts that are accepted for it.
type Name struct {
	Text    string
	Aliases []string // accepted on input, never written
}

// EnumText returns the text of v: names[v-1]. 0 and values without a row are refused with [CodeInvalid]; typeName says what v is, as a
// message would: "agent type".
func EnumText[T ~uint16 | ~uint32](names []Name, typeName string, v T) ([]byte, error) {
	if v == 0 || int(v) > len(names) {
		return nil, invalid("write "+typeName, "%s %d has no name: use one of the declared constants", typeName, v)
	}
	return []byte(names[v-1].Text), nil
}

// ParseEnum returns the value whose text, or one of whose aliases, is exactly the given text. Letter case counts. Anything else is refused
// with [CodeInvalid] and the nearest name.
func ParseEnum[T ~uint16 | ~uint32](names []Name, typeName string, text []byte) (T, error) {
	for i := range names {
		if names[i].Text == string(text) {
			return T(i + 1), nil
		}
	}
	for i := range names {
		if slices.Contains(names[i].Aliases, string(text)) {
			return T(i + 1), nil
		}
	}
	known := make([]string, len(names))
	for i := range names {
		known[i] = names[i].Text
	}
	hint := didYouMean(nearest(string(text), known))
	if hint == "" {
		hint = ": use one of " + listed(known)
	}
	return 0, invalid("parse "+typeName, "unknown %s %q%s", typeName, shortened(string(text)), hint)
}

// At returns the row of value i, rows[i-1], and the zero row for 0 and values without a row.
func At[T any, I ~uint16 | ~uint32](rows []T, i I) T {
	if j := uint(i) - 1; j < uint(len(rows)) {
		return rows[j]
	}
	var zero T
	return zero
}

func didYouMean(name string) string {
	if name == "" {
		return ""
	}
	return ": did you mean \"" + name + "\"?"
}

// nearest returns the name closest to text, or "" when none is close. A name equal but for letter case is closest of all.
func nearest(text string, names []string) string {
	const longest = 80 // bounds the work on hostile input
	if len(text) > longest {
		return ""
	}
	best, bestAt := 1+max(1, utf8.RuneCountInString(text)/3), ""
	lower := strings.ToLower(text)
	for _, name := range names {
		if strings.EqualFold(name, text) {
			return name
		}
		if len(name) > len(text)+best || len(text) > len(name)+best {
			continue
		}
		if d := distance(lower, strings.ToLower(name)); d < best {
			best, bestAt = d, name
		}
	}
	return bestAt
}

// distance counts the single-letter edits that turn a into b.
func distance(a, b string) int {
	from, to := []rune(a), []rune(b)
	row := make([]int, len(to)+1)
	for j := range row {
		row[j] = j
	}
	for i := range from {
		diagonal := row[0]
		row[0] = i + 1
		for j := range to {
			cost := diagonal
			if from[i] != to[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, diagonal+1)
		}
	}
	return row[len(to)]
}

// shortened keeps a hostile text from filling a message.
func shortened(text string) string {
	const most = 64
	if len(text) <= most {
		return text
	}
	cut := most
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + "..."
}
