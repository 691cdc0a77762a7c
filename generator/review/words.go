package review

import (
	"slices"
	"strings"
)

// maxWords bounds a comparison by words: it takes time with the product of both lengths.
const maxWords = 4_000_000

// wordDiff writes the change of a text by words, what stays shortened: [-gone-] {+new+}.
func wordDiff(before, after string) string {
	a, b := strings.Fields(before), strings.Fields(after)
	switch {
	case len(a) == 0:
		return "{+" + strings.Join(b, " ") + "+}"
	case len(b) == 0:
		return "[-" + strings.Join(a, " ") + "-]"
	case len(a)*len(b) > maxWords:
		return "[-" + strings.Join(a, " ") + "-] {+" + strings.Join(b, " ") + "+}"
	}
	longest := make([][]int, len(a)+1) // common words from there on
	for i := range longest {
		longest[i] = make([]int, len(b)+1)
	}
	for i, one := range slices.Backward(a) {
		for j, other := range slices.Backward(b) {
			if one == other {
				longest[i][j] = longest[i+1][j+1] + 1
			} else {
				longest[i][j] = max(longest[i+1][j], longest[i][j+1])
			}
		}
	}
	var parts, same, gone, come []string
	first := true
	flush := func(last bool) {
		if len(gone)+len(come) > 0 || last {
			parts = append(parts, around(same, first, last && len(gone)+len(come) == 0)...)
			if len(gone) > 0 {
				parts = append(parts, "[-"+strings.Join(gone, " ")+"-]")
			}
			if len(come) > 0 {
				parts = append(parts, "{+"+strings.Join(come, " ")+"+}")
			}
			same, gone, come, first = nil, nil, nil, false
		}
	}
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			flush(false)
			same = append(same, a[i])
			i, j = i+1, j+1
		case j == len(b) || i < len(a) && longest[i+1][j] >= longest[i][j+1]:
			gone = append(gone, a[i])
			i++
		default:
			come = append(come, b[j])
			j++
		}
	}
	flush(true)
	if !strings.ContainsAny(strings.Join(parts, ""), "[{") {
		return "spaces changed"
	}
	return strings.Join(parts, " ")
}

// around keeps the words next to a change.
func around(words []string, first, last bool) []string {
	const few = 4
	switch {
	case first && len(words) > few:
		return append([]string{"…"}, words[len(words)-few:]...)
	case last && len(words) > few:
		return append(words[:few:few], "…")
	case !first && !last && len(words) > 2*few:
		return append(append(words[:few:few], "…"), words[len(words)-few:]...)
	}
	return words
}
