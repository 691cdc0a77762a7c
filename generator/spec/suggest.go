package spec

import "strings"

// Suggestions look at so many candidates each, and make so many comparisons in one run.
const (
	maxCandidates = 2_000
	maxGuesses    = 400_000
)

// candidates is how many names the next suggestion may look at.
func (r *reader) candidates() int { return max(0, min(maxCandidates, maxGuesses-r.guesses)) }

// nearest returns the candidate that was most likely meant, or "".
func (r *reader) nearest(word string, candidates []string) string {
	candidates = candidates[:min(len(candidates), r.candidates())]
	r.guesses += len(candidates)
	return nearest(word, candidates)
}

// nearest returns the candidate with the fewest typing slips, the earlier one of two equals; "" when none is near.
func nearest(word string, candidates []string) string {
	if len(word) > 80 || word == "" {
		return ""
	}
	best, limit := "", min(3, (len(word)+3)/4)+1
	lower := strings.ToLower(word)
	for _, c := range candidates {
		if d := len(c) - len(word); c == word || d >= limit || -d >= limit {
			continue
		}
		if d := slips(lower, strings.ToLower(c)); d < limit {
			best, limit = c, d
		}
	}
	if best == "" && len(lower) >= 3 {
		for _, c := range candidates {
			if c != word && len(c) >= 3 && (strings.HasPrefix(strings.ToLower(c), lower) || strings.HasPrefix(lower, strings.ToLower(c))) {
				return c
			}
		}
	}
	return best
}

// slips counts inserted, lost, changed and swapped letters.
func slips(a, b string) int {
	before, above, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range above {
		above[j] = j
	}
	for i := range len(a) {
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(above[j]+cost, above[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, above, row = above, row, before
	}
	return above[len(b)]
}

// didYouMean is the hint for a near candidate, or "".
func didYouMean(candidate string) string {
	if candidate == "" {
		return ""
	}
	return `did you mean "` + candidate + `"?`
}
