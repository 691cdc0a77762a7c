package runtime

import (
	"fmt"
	"reflect"
	"regexp"
	"sync"
	"unicode/utf8"

	"github.com/routegen/routegen/runtime/internal/brief"
	"github.com/routegen/routegen/runtime/internal/format"
)

// Rule bounds the values of a field or a named scalar. A nil bound means none; bounds are
// inclusive.
type Rule struct {
	Min, Max             *float64 // of numbers
	MinLength, MaxLength *int     // of strings, in characters (runes)
	MinItems, MaxItems   *int     // of lists and maps
	// in Go's syntax, found anywhere in the string; "" means none
	Pattern string
	// date-time, date, time, email, hostname, ipv4, ipv6, uuid or uri; "" means none
	Format string
}

// Bound returns a pointer to v, to write a [Rule] as one literal.
func Bound[T any](v T) *T { return &v }

// patterns are the compiled patterns of rules. A pattern is compiled at its first use, so that a
// package with thousands of them starts at once.
var patterns sync.Map // of string: *regexp.Regexp

// compiled returns the compiled pattern of the rule. It panics if the pattern is invalid; the
// generator has checked it.
func (r *Rule) compiled() *regexp.Regexp {
	expr, ok := patterns.Load(r.Pattern)
	if !ok {
		expr, _ = patterns.LoadOrStore(r.Pattern, regexp.MustCompile(r.Pattern))
	}
	return expr.(*regexp.Regexp) //nolint:forcetypeassert // nothing else is stored
}

// Texts writes the rule as routes.yaml does, one bound each.
func (r *Rule) Texts() []string {
	if r == nil {
		return nil
	}
	var out []string
	add := func(name string, bound any) {
		if v := reflect.ValueOf(bound); !v.IsZero() {
			out = append(out, fmt.Sprintf("%s=%v", name, reflect.Indirect(v)))
		}
	}
	add("min", r.Min)
	add("max", r.Max)
	add("min_length", r.MinLength)
	add("max_length", r.MaxLength)
	add("min_items", r.MinItems)
	add("max_items", r.MaxItems)
	add("pattern", r.Pattern)
	add("format", r.Format)
	return out
}

func (r *Rule) checkText(d *Decoder, s string) {
	if r == nil {
		return
	}
	if r.MinLength != nil || r.MaxLength != nil {
		n := utf8.RuneCountInString(s)
		if r.MinLength != nil && n < *r.MinLength {
			d.scan.AddProblem(fmt.Sprintf("has %d characters: at least %d are needed", n,
				*r.MinLength))
		}
		if r.MaxLength != nil && n > *r.MaxLength {
			d.scan.AddProblem(fmt.Sprintf("has %d characters: at most %d are allowed", n,
				*r.MaxLength))
		}
	}
	if r.Pattern != "" && !r.compiled().MatchString(s) {
		d.scan.AddProblem("does not match the pattern " + r.Pattern)
	}
	if r.Format != "" && !format.Matches(r.Format, s) {
		d.scan.AddProblem(fmt.Sprintf("%q is not of the format %s", brief.Shorten(s), r.Format))
	}
}

func (r *Rule) checkNumber(d *Decoder, n float64) {
	if r == nil {
		return
	}
	if r.Min != nil && n < *r.Min {
		d.scan.AddProblem(fmt.Sprintf("is %v: at least %v is needed", n, *r.Min))
	}
	if r.Max != nil && n > *r.Max {
		d.scan.AddProblem(fmt.Sprintf("is %v: at most %v is allowed", n, *r.Max))
	}
}
