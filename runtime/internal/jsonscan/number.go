package jsonscan

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/routegen/routegen/runtime/internal/brief"
)

// ParseInteger returns the value of a JSON number that is a whole number, also one written as 1.0
// or 1e2, or the reason why it is not. The exponent is never expanded: 1e999999999 costs nothing.
func ParseInteger(text []byte) (int64, string) {
	const large = "does not fit into an integer of 64 bits"
	n, err := strconv.ParseInt(string(text), 10, 64)
	if err == nil {
		return n, ""
	}
	mantissa, exponent, _ := strings.Cut(strings.ToLower(string(text)), "e")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	sign := strings.TrimRight(whole, "0123456789")
	digits := strings.TrimLeft(whole[len(sign):]+fraction, "0")
	if digits == "" {
		return 0, ""
	}
	significant := strings.TrimRight(digits, "0")
	zeros := len(digits) - len(significant) - len(fraction)
	if exponent != "" {
		e, err := strconv.Atoi(exponent)
		if err != nil && exponent[0] != '-' || e > 1<<20 {
			return 0, large
		}
		if err != nil || e < -(1<<20) {
			e = -len(text) - 1 // small enough that no digit stays whole
		}
		zeros += e
	}
	switch {
	case zeros < 0:
		return 0, fmt.Sprintf("expected an integer, found %s", brief.Shorten(string(text)))
	case len(significant)+zeros > 19:
		return 0, large
	}
	n, err = strconv.ParseInt(sign+significant+strings.Repeat("0", zeros), 10, 64)
	if err != nil {
		return 0, large
	}
	return n, ""
}
