package runtime

import (
	"fmt"
	"net/mail"
	"net/netip"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// Rule narrows the values of a field or a named scalar. A nil bound means none; both ends are included.
type Rule struct {
	Min, Max             *float64 // of numbers
	MinLength, MaxLength *int     // of strings, in characters (runes)
	MinItems, MaxItems   *int     // of lists and maps
	Pattern              *Pattern // found anywhere in the string
	Format               string   // date-time, date, time, email, hostname, ipv4, ipv6, uuid or uri; "" means none
}

// Bound returns a pointer to v, to write a [Rule] as one literal.
func Bound[T any](v T) *T { return &v }

// Pattern is a regular expression, compiled when it is first needed: a package with thousands of patterns starts at once.
type Pattern struct {
	text    string
	compile func() *regexp.Regexp
}

// MustPattern returns the pattern of a regular expression in Go's syntax. The generator has checked that it compiles; its first use panics
// if it does not.
func MustPattern(expr string) *Pattern {
	return &Pattern{text: expr, compile: sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })}
}

func (r *Rule) checkText(d *Decoder, s string) {
	if r.MinLength != nil || r.MaxLength != nil {
		n := utf8.RuneCountInString(s)
		if r.MinLength != nil && n < *r.MinLength {
			d.problem(fmt.Sprintf("has %d characters: at least %d are needed", n, *r.MinLength))
		}
		if r.MaxLength != nil && n > *r.MaxLength {
			d.problem(fmt.Sprintf("has %d characters: at most %d are allowed", n, *r.MaxLength))
		}
	}
	if r.Pattern != nil && !r.Pattern.compile().MatchString(s) {
		d.problem("does not match the pattern " + r.Pattern.text)
	}
	if r.Format != "" && !formatted(r.Format, s) {
		d.problem(fmt.Sprintf("%q is not of the format %s", shortened(s), r.Format))
	}
}

func (r *Rule) checkNumber(d *Decoder, n float64) {
	if r.Min != nil && n < *r.Min {
		d.problem(fmt.Sprintf("is %v: at least %v is needed", n, *r.Min))
	}
	if r.Max != nil && n > *r.Max {
		d.problem(fmt.Sprintf("is %v: at most %v is allowed", n, *r.Max))
	}
}

// formatted reports whether s is of the format. A format that is not known holds for every string, as JSON Schema says.
func formatted(format, s string) bool {
	switch format {
	case "date-time":
		return isTime(s)
	case "date":
		_, err := time.Parse(time.DateOnly, s)
		return err == nil
	case "time":
		return isTime("2006-01-02T" + s)
	case "email":
		a, err := mail.ParseAddress(s)
		return err == nil && a.Address == s
	case "hostname":
		return isHostname(s)
	case "ipv4":
		a, err := netip.ParseAddr(s)
		return err == nil && a.Is4()
	case "ipv6":
		a, err := netip.ParseAddr(s)
		return err == nil && a.Is6() && a.Zone() == ""
	case "uuid":
		return isUUID(s)
	case "uri":
		u, err := url.Parse(s)
		return err == nil && u.IsAbs()
	}
	return true
}

func isTime(s string) bool {
	var t time.Time
	return t.UnmarshalText([]byte(strings.ToUpper(s))) == nil
}

// isHostname holds s to RFC 1123: labels of letters, digits and inner hyphens.
func isHostname(s string) bool {
	if len(s) > 253 {
		return false
	}
	for label := range strings.SplitSeq(s, ".") {
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
		for _, c := range []byte(label) {
			if c != '-' && (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'z') {
				return false
			}
		}
	}
	return true
}

func isUUID(s string) bool {
	if len(s) != 36 {
		return false
	}
	for i, c := range []byte(s) {
		switch i {
		case 8, 13, 18, 23:
			if c != '-' {
				return false
			}
		default:
			if (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'f') {
				return false
			}
		}
	}
	return true
}

// integer returns the value of a JSON number that is a whole number, also one written as 1.0 or 1e2, or the reason why it is none. The
// exponent is never expanded: 1e999999999 costs nothing.
func integer(text []byte) (int64, string) {
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
		return 0, fmt.Sprintf("expected an integer, found %s", shortened(string(text)))
	case len(significant)+zeros > 19:
		return 0, large
	}
	n, err = strconv.ParseInt(sign+significant+strings.Repeat("0", zeros), 10, 64)
	if err != nil {
		return 0, large
	}
	return n, ""
}
