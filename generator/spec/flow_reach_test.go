package spec_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/generator/spec"
)

// comparing is a flow of one step for each expression, over slots of a few types.
func comparing(expressions []string, count string) string {
	var b strings.Builder
	b.WriteString(`version: 1
go: {package: bank, out: generated/bank}
enums:
  Account: {doc: Kind of account., values: {checking: For every day., savings: For later.}}
types:
  Percent: {doc: A share., type: int, min: 0, max: 100}
  Code: {doc: A short code., type: string, pattern: "^[A-Z]+$", min_length: 1}
flows:
  f:
    doc: Compares.
    slots:
      count: {type: int, doc: How many.` + count + `}
      share: {type: Percent, doc: A share., max: 90}
      amount: {type: float, doc: How much., min: 0.5}
      code: {type: Code, doc: Which., max_length: 2}
      codes: {type: "[]Code", doc: Some., max_items: 1}
      account: {type: Account, doc: From where.}
      day: {type: time, doc: When.}
      free: {type: int, doc: Any number.}
    steps:
`)
	for i, e := range expressions {
		fmt.Fprintf(&b, "      - {step: s%d, type: say, message: Yes., when: %q}\n", i, e)
	}
	return b.String()
}

// TestComparisonsInReach: a literal that a value can be, or be on the asked side of, is fine, and
// so is what holds for every value there is.
func TestComparisonsInReach(t *testing.T) {
	t.Parallel()
	assert.Empty(t, list(errorsOf(comparing([]string{
		"count == 1 or count != 9 or 5 == count",
		"count > 0 or count >= 1 or count <= 9 or count < 2.5 or count > 8.5",
		"share == 0 or share == 90 or share <= 0 or 90 <= share",
		"share in [0, 90] or share not in [45]",
		"amount == 0.5 or amount <= 0.5 or amount > 1 or amount > 0 or amount == 1000000",
		"code == 'AB' or 'ABC' in codes or code in ['A', 'B']",
		"account == 'savings' or account in ['checking']", "day < '2027-01-01T00:00:00Z'",
		"free == 9223372036854774784 or free < -9223372036854775808 or free > 2.5",
		"count == share or amount > count or 'a' == 'b' or 1 == 2",
	}, ", min: 1, max: 9"))))
}

// TestReachIsThatOfAllValues tries each comparison on every value that small bounds leave. What is
// refused is what is never true, or asks for a value that there is not.
func TestReachIsThatOfAllValues(t *testing.T) {
	t.Parallel()
	holds := map[string]func(v, literal int) bool{
		"==": func(v, l int) bool { return v == l }, "<": func(v, l int) bool {
			return v < l
		}, "<=": func(v, l int) bool { return v <= l },
		">": func(v, l int) bool { return v > l }, ">=": func(v, l int) bool { return v >= l },
	}
	holds["!="] = holds["=="] // it is the same mistake
	mirror := map[string]string{"<": ">", ">": "<", "<=": ">=", ">=": "<=", "==": "==", "!=": "!="}
	refused, taken := 0, 0
	for low := range 3 {
		for high := low; high < 4; high++ {
			var expressions []string
			var wanted []string
			for op, is := range holds {
				for literal := -1; literal < 5; literal++ {
					possible := false
					for v := low; v <= high; v++ {
						possible = possible || is(v, literal)
					}
					for _, e := range []string{fmt.Sprintf("count %s %d", op, literal),
						fmt.Sprintf("%d %s count", literal, mirror[op])} {
						if !possible {
							wanted = append(wanted, fmt.Sprintf("/flows/f/steps/%d/when",
								len(expressions)))
						}
						expressions = append(expressions, e)
					}
				}
			}
			found := errorsOf(comparing(expressions, fmt.Sprintf(", min: %d, max: %d", low, high)))
			var got []string
			for _, f := range found {
				assert.Equal(t, spec.RuleFlowType, f.Rule)
				got = append(got, f.Path)
			}
			assert.ElementsMatch(t, wanted, got, "%d to %d: %s", low, high, list(found))
			refused, taken = refused+len(wanted), taken+len(expressions)-len(wanted)
			assert.Empty(t, errorsOf(comparing(expressions, "")),
				"without bounds each of them can be true")
		}
	}
	assert.Greater(t, refused, 100)
	assert.Greater(t, taken, 100)
}

// TestReachSaysWhichBound: a bound of a named scalar stands elsewhere, so the finding points to it.
func TestReachSaysWhichBound(t *testing.T) {
	t.Parallel()
	found := errorsOf(comparing([]string{"share < 0", "share > 90", "'a1' in codes"}, ""))
	require.Len(t, found, 3, list(found))
	assert.Contains(t, found[0].Message, "which no value is below")
	assert.Equal(t, "min of Percent is 0", found[0].Hint)
	require.Len(t, found[0].Related, 2)
	assert.Equal(t, `"share" is declared here`, found[0].Related[0].Message)
	assert.Equal(t, "min of Percent is here", found[0].Related[1].Message)
	assert.Equal(t, 6, found[0].Related[1].At.Start.Line)
	assert.Equal(t, "max is 90", found[1].Hint)
	assert.Len(t, found[1].Related, 1)
	assert.Contains(t, found[2].Message, "does not match the pattern of Code")
}
