package spec

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"
)

// plainSlips is the textbook's table: inserted, lost, changed and swapped letters, however many.
func plainSlips(a, b string) int {
	a, b = strings.ToLower(a), strings.ToLower(b)
	table := make([][]int, len(a)+1)
	for i := range table {
		table[i] = make([]int, len(b)+1)
		for j := range table[i] {
			switch {
			case i == 0 || j == 0:
				table[i][j] = i + j
			case a[i-1] == b[j-1]:
				table[i][j] = table[i-1][j-1]
			default:
				table[i][j] = 1 + min(table[i-1][j-1], table[i-1][j], table[i][j-1])
			}
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				table[i][j] = min(table[i][j], 1+table[i-2][j-2])
			}
		}
	}
	return table[len(a)][len(b)]
}

// TestSlipsAreThoseOfTheWholeTable: what is left out of the table never counts.
func TestSlipsAreThoseOfTheWholeTable(t *testing.T) {
	t.Parallel()
	near := 0
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringOfN(rapid.RuneFrom([]rune("abAB")), 1, maxWord, -1)
		a := word.Draw(t, "a")
		b := []byte(a)
		for range rapid.IntRange(0, 5).Draw(t, "slips") {
			at := rapid.IntRange(0, max(0, len(b)-1)).Draw(t, "at")
			switch rapid.SampledFrom([]string{"insert", "lose", "change", "swap"}).Draw(t, "slip") {
			case "insert":
				b = append(b[:at:at], append([]byte("B"), b[at:]...)...)
			case "lose":
				b = append(b[:at:at], b[min(at+1, len(b)):]...)
			case "change":
				b = append(b[:at:at], append([]byte("x"), b[min(at+1, len(b)):]...)...)
			case "swap":
				if at+1 < len(b) {
					b[at], b[at+1] = b[at+1], b[at]
				}
			}
		}
		limit := rapid.IntRange(1, 4).Draw(t, "limit")
		if d := len(a) - len(b); d >= limit || -d >= limit {
			return
		}
		want := min(limit, plainSlips(a, string(b)))
		got, letters := slips(a, string(b), limit)
		assert.Equal(t, want, got, "%q %q", a, b)
		assert.LessOrEqual(t, letters, len(a)*(2*limit-1))
		if want < limit && want > 0 {
			near++
		}
	})
	assert.Positive(t, near, "no pair was near, so nothing was shown")
}

// TestSuggestionsRunOut: a run that has spent its letters suggests no more, and goes on.
func TestSuggestionsRunOut(t *testing.T) {
	t.Parallel()
	r := &reader{}
	assert.Equal(t, "ticket", r.nearest("tikcet", []string{"tick", "ticket"}))
	assert.Positive(t, r.letters)
	r.letters = maxLetters
	assert.Empty(t, r.nearest("tikcet", []string{"tick", "ticket"}))
	assert.Equal(t, maxLetters, r.letters)
}

func TestSuggestionsCostNoMemory(t *testing.T) {
	candidates := []string{"DiscoveryOrchestratorRequest", "discoveryorchestratorresult", "Ticket"}
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		Nearest("DiscoveryOrchestratorReqeust", candidates)
	}))
}
