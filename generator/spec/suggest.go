package spec

import "strings"

// The limits of suggestions: candidates of each, and letters compared in one run. They bound the
// work for any number and length of names.
const (
	maxCandidates = 2_000
	maxLetters    = 12_000_000
	// the longest word that is looked for
	maxWord = 80
)

// candidates returns how many names the next suggestion may look at.
func (r *reader) candidates() int {
	if r.letters >= maxLetters {
		return 0
	}
	return maxCandidates
}

// nearest returns the candidate that was most likely meant, or "".
func (r *reader) nearest(word string, candidates []string) string {
	found, letters := closest(word, candidates[:min(len(candidates), r.candidates())])
	r.letters += letters
	return found
}

// Nearest returns the candidate that was most likely meant, or "". It is for short lists.
func Nearest(word string, candidates []string) string {
	found, _ := closest(word, candidates)
	return found
}

// closest returns the candidate with the fewest typing slips, the earlier one of two equals; ""
// when none is near. Letters is what the search has cost: the letters that were compared, and one
// for each look at a candidate. Case does not count.
func closest(word string, candidates []string) (best string, letters int) {
	if len(word) > maxWord || word == "" {
		return "", 0
	}
	limit := min(3, (len(word)+3)/4) + 1
	for _, c := range candidates {
		letters++
		if d := len(c) - len(word); c == word || d >= limit || -d >= limit {
			continue
		}
		d, compared := slips(word, c, limit)
		if letters += compared; d < limit {
			best, limit = c, d
		}
	}
	if best == "" && len(word) >= 3 {
		for _, c := range candidates {
			letters++
			if c != word && len(c) >= 3 && (beginsWith(c, word) || beginsWith(word, c)) {
				return c, letters
			}
		}
	}
	return best, letters
}

// beginsWith reports whether a text begins with another one, ignoring case.
func beginsWith(text, start string) bool {
	if len(text) < len(start) {
		return false
	}
	for i := range len(start) {
		if folded(text[i]) != folded(start[i]) {
			return false
		}
	}
	return true
}

func folded(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c + ('a' - 'A')
	}
	return c
}

// slips counts inserted, lost, changed and swapped letters, up to limit: the result is at most
// limit. Lengths differ by less than that. What is further from the diagonal than limit letters
// could only count more, and is not looked at.
func slips(a, b string, limit int) (count, letters int) {
	var rows [3][maxWord + 8]int // b is at most three letters longer than a word
	before, above, row := &rows[0], &rows[1], &rows[2]
	for j := range min(len(b), limit) + 1 {
		above[j] = j
	}
	for i := range len(a) {
		from, to := max(0, i-limit+1), min(len(b), i+limit)
		row[from] = limit
		if from == 0 {
			row[0] = i + 1
		}
		least := row[from]
		letters += to - from
		for j := from; j < to; j++ {
			n := above[j]
			if folded(a[i]) != folded(b[j]) {
				n++
			}
			n = min(n, row[j]+1)
			if j-i < limit-1 { // the letter above was looked at
				n = min(n, above[j+1]+1)
			}
			if i > 0 && j > 0 && folded(a[i]) == folded(b[j-1]) && folded(a[i-1]) == folded(b[j]) {
				n = min(n, before[j-1]+1)
			}
			row[j+1] = n
			least = min(least, n)
		}
		if least >= limit {
			return limit, letters
		}
		before, above, row = above, row, before
	}
	return min(limit, above[len(b)]), letters
}

// didYouMean is the hint for a near candidate, or "".
func didYouMean(candidate string) string {
	if candidate == "" {
		return ""
	}
	return `did you mean "` + candidate + `"?`
}

// joined writes the words of a name as its class does: customer_name as customerName, customerName
// as customer_name; "" where that is no name either.
func joined(set charset, name string) string {
	words := words(name)
	snake, small, great := within('_', set.rest), within('a', set.rest), within('A', set.rest)
	for i, word := range words {
		if word == strings.ToUpper(word) && !snake {
			word = strings.ToLower(word)
		}
		first := word[:1]
		switch {
		case snake && !great:
			words[i] = strings.ToLower(word)
		case snake && !small:
			words[i] = strings.ToUpper(word)
		case snake && i > 0:
		case i == 0 && !within('A', set.first):
			words[i] = strings.ToLower(first) + word[1:]
		default:
			words[i] = strings.ToUpper(first) + word[1:]
		}
	}
	like := strings.Join(words, map[bool]string{true: "_"}[snake])
	for i, char := range like {
		if !within(char, set.first) && (i == 0 || !within(char, set.rest)) {
			return ""
		}
	}
	if like == name || len(like) > set.most {
		return ""
	}
	return like
}
