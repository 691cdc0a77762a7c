package spec

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/routegen/routegen/generator/report"
)

// maxCount is the greatest length or number of times that any Go program can hold in an int.
const maxCount = math.MaxInt32

func (n *Number) at() report.Span {
	if n == nil {
		return report.Span{}
	}
	return n.At
}

// checkBounds refuses bounds that are none by themselves, as fault says, and two that no value can
// meet.
func (c *checker) checkBounds(path, low, high string, least, most *Number,
	fault func(n *Number, up bool) (why, hint string)) {
	for i, n := range []*Number{least, most} {
		if n == nil {
			continue
		}
		name := [...]string{low, high}[i]
		if why, hint := fault(n, i == 0); why != "" {
			c.fail(RuleConstraintRange, path+"/"+name, n.At, hint, "%s %s", name, why)
			return
		}
	}
	if least.above(most) {
		c.fail(RuleConstraintRange, path+"/"+high, most.At, "swap them, or widen one",
			"no value can meet %s %s and %s %s", low, least, high, most).
			relatedf(least.At, "%s is here", low)
	}
}

// checkNamedBounds refuses bounds of a field that no value of its named scalar can meet: decoders
// check both. Of bounds that are wrong by themselves it says nothing more.
func (c *checker) checkNamedBounds(path string, named *Type, k *Constraints) {
	if named == nil {
		return
	}
	of := &named.Constraints
	for _, b := range []struct {
		low, high                  string
		least, most, from, through *Number
	}{
		{"min", "max", k.Min, k.Max, of.Min, of.Max},
		{"min_length", "max_length", k.MinLength, k.MaxLength, of.MinLength, of.MaxLength},
	} {
		name, mine, other, theirs, way := b.low, b.least, b.high, b.through, "less"
		switch {
		case b.least.above(b.most) || b.from.above(b.through):
			continue // reported by itself
		case b.least.above(b.through):
		case b.from.above(b.most):
			name, mine, other, theirs, way = b.high, b.most, b.low, b.from, "more"
		default:
			continue
		}
		c.fail(RuleConstraintRange, path+"/"+name, mine.At,
			fmt.Sprintf("write %s or %s, or widen %s", theirs, way, named.Key.Value),
			"no value can meet %s %s and %s %s of %s", name, mine, other, theirs, named.Key.Value).
			relatedf(theirs.At, "%s of %s is here", other, named.Key.Value)
	}
}

// above reports whether both bounds are given and this one is the greater.
func (n *Number) above(other *Number) bool {
	return n != nil && other != nil && n.Value > other.Value
}

// numberFault is what can be wrong with a bound of numbers: up is whether it is the lower one.
func numberFault(kind Kind) func(n *Number, up bool) (why, hint string) {
	return func(n *Number, up bool) (why, hint string) {
		if kind == Int && !n.isGreatest() {
			return intFault(n.written, up)
		}
		return "", ""
	}
}

// isGreatest reports whether a number is the greatest int, which no float64 holds.
func (n *Number) isGreatest() bool {
	return n != nil && strings.TrimPrefix(n.written, "+") == strconv.Itoa(math.MaxInt64)
}

// countFault is what can be wrong with a bound of lengths.
func countFault(n *Number, _ bool) (why, hint string) {
	switch {
	case n.Value < 0:
		return "is below zero", "write 0 or more"
	case n.Value > maxCount:
		return "is larger than anything that is counted", fmt.Sprintf("write %d or less", maxCount)
	}
	return "", ""
}

// intFault says why a number is not of type int, and what to write: the next one,
// up or down. An int has 64 bits, and of those JSON carries what a float64 holds exactly: another
// number would be one thing here and another one in a schema.
func intFault(text string, up bool) (why, hint string) {
	exact, _, err := big.ParseFloat(text, 10, 256, big.ToNearestEven)
	if err != nil {
		return "", "" // reported as no number
	}
	if whole, _ := exact.Int(nil); !exact.IsInt() { // towards zero
		if up == (exact.Sign() > 0) {
			whole.Add(whole, big.NewInt(int64(exact.Sign())))
		}
		return "is not a whole number", "write " + whole.String()
	}
	if _, fits := exact.Int64(); fits != big.Exact {
		return "does not fit into an int of 64 bits", "write one from -9223372036854775808 to " +
			"9223372036854775807, or leave it out"
	}
	near, rounded := exact.Float64()
	if rounded == big.Exact {
		return "", ""
	}
	if (rounded == big.Above) == (near > 0) { // towards zero, where every number fits
		near = math.Nextafter(near, 0)
	}
	return "is not exact as a number of JSON", "write " + strconv.FormatInt(int64(near), 10)
}
