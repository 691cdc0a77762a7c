package brief

import (
	"strings"
	"unicode/utf8"
)

// Suggest returns the end of an error text about an unknown name: the nearest of names, or all.
func Suggest(text string, names []string) string {
	if near := Nearest(text, names); near != "" {
		return ": did you mean \"" + near + "\"?"
	}
	return ": use one of " + JoinNames(names)
}

// Nearest returns the name closest to text, or "" when none is close. A name equal but for
// letter case is closest of all.
func Nearest(text string, names []string) string {
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
		if d := editDistance(lower, strings.ToLower(name)); d < best {
			best, bestAt = d, name
		}
	}
	return bestAt
}

// editDistance counts the single-letter edits that turn a into b.
func editDistance(a, b string) int {
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
