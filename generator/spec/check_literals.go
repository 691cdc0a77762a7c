package spec

import (
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/routegen/routegen/generator/report"
	"github.com/routegen/routegen/runtime"
)

// fault says why a literal is no value of a type, and what to write. The zero fault means that it
// is one.
type fault struct {
	why, hint string
	rule      string      // what refuses it, if that is declared elsewhere: max of Percent
	at        report.Span // of the rule
}

// because relates a finding to the rule behind it.
func (f draft) because(x fault) {
	if x.rule != "" {
		f.relatedf(x.at, "%s is here", x.rule)
	}
}

// checkLiteral checks a default or an example against its type and constraints.
func (c *checker) checkLiteral(what, path string, t *TypeExpr, s *Scalar, k *Constraints) {
	if x := c.literalFault(t, s, k); x.why != "" {
		c.fail(RuleDefaultType, path, s.At, x.hint, "%s %q %s", what, s.Value, x.why).because(x)
	}
}

// literalFault says why a literal is no value of a type within the constraints of its field. Those
// of a named scalar hold beside them, as they do in decoders.
func (c *checker) literalFault(t *TypeExpr, s *Scalar, k *Constraints) fault {
	kind, enum := c.base(t)
	number, text := kind == Int || kind == Float, kind == String && enum == nil
	var x fault
	switch kind {
	case Int, Float:
		x = numberFaultOf(kind, t, s)
	case Bool:
		if s.Kind != "bool" {
			x.why = "is not true or false"
		}
	case String, Time, Duration:
		x = c.textFault(kind, enum, s)
	case "", JSON:
	default:
		x = fault{why: "cannot be written for the type " + t.String(), hint: "leave it out"}
	}
	if x.why != "" || !number && !text {
		return x
	}
	for _, h := range c.held(t, k) {
		if number {
			x = h.number(s)
		} else {
			x = c.checkText(h, s)
		}
		if x.why != "" {
			return x
		}
	}
	if kind == Int {
		x.why, x.hint = intFault(s.Value, true)
	}
	return x
}

// held are constraints that hold for a value, and the named scalar that they are of.
type held struct {
	*Constraints

	of *Type // nil: of the field itself
}

// held returns all constraints that values of a field meet.
func (c *checker) held(t *TypeExpr, k *Constraints) []held {
	all := []held{{Constraints: k}}
	if named := c.scalar(t); named != nil {
		all = append(all, held{&named.Constraints, named})
	}
	return all
}

// fault says that a literal does not meet the rule of that name.
func (h held) fault(rule string, at report.Span, why, hint string) fault {
	if h.of == nil {
		return fault{why: why, hint: hint}
	}
	return fault{why: why + " of " + h.of.Key.Value, hint: hint, rule: h.label(rule), at: at}
}

// label names a rule of a named scalar.
func (h held) label(rule string) string { return rule + " of " + h.of.Key.Value }

func (h held) number(s *Scalar) fault {
	const why = "is outside min and max"
	v, err := strconv.ParseFloat(s.Value, 64)
	switch {
	case err != nil:
		return fault{} // reported as no number
	case h.Min != nil && v < h.Min.Value:
		return h.fault("min", h.Min.At, why, "write "+h.Min.String()+" or more")
	case h.Max != nil && v > h.Max.Value:
		return h.fault("max", h.Max.At, why, "write "+h.Max.String()+" or less")
	}
	return fault{}
}

// checkText says which constraint a text does not meet.
func (c *checker) checkText(h held, s *Scalar) fault {
	const why = "has a length outside min_length and max_length"
	switch length := float64(utf8.RuneCountInString(s.Value)); {
	case h.MinLength != nil && length < h.MinLength.Value:
		return h.fault("min_length", h.MinLength.At, why,
			"write "+h.MinLength.String()+" characters or more")
	case h.MaxLength != nil && length > h.MaxLength.Value:
		return h.fault("max_length", h.MaxLength.At, why,
			"write "+h.MaxLength.String()+" characters or less")
	case h.Pattern.Set() && len(s.Value) <= maxPattern && !c.pattern(h.Pattern.Value).
		MatchString(s.Value):
		return h.fault("pattern", h.Pattern.At, "does not match the pattern",
			"it is "+shortened(h.Pattern.Value, maxQuoted))
	case h.Format.Set() && !isFormatted(h.Format.Value, s.Value):
		return h.fault("format", h.Format.At, "is not of the format",
			"it is "+shortened(h.Format.Value, maxQuoted))
	}
	return fault{}
}

// maxNamed is how many legal values a hint lists; of more of them a reader looks into the file.
const maxNamed = 12

// numberFaultOf says why a literal is not a number of a type, apart from its constraints.
func numberFaultOf(kind Kind, t *TypeExpr, s *Scalar) fault {
	_, err := strconv.ParseFloat(s.Value, 64)
	digits := strings.Trim(s.Value, "+-0123456789") == "" // YAML reads too many of them as a float
	if err != nil || s.Kind != "int" && (s.Kind != "float" || kind == Int && !digits) {
		return fault{why: "is not of type " + t.String(),
			hint: map[Kind]string{Int: "write a whole number", Float: "write a number"}[kind]}
	}
	return fault{}
}

// textFault says why a literal is not a text of a kind, apart from its constraints.
func (c *checker) textFault(kind Kind, enum *Enum, s *Scalar) fault {
	switch {
	case s.Kind != "string":
		return fault{why: "is not text", hint: "quote it: " + quoted(s.Value)}
	case enum != nil:
		if find(c, enum.Values, s.Value) == nil {
			hint := didYouMean(nearestOf(c, enum.Values, s.Value))
			if hint == "" && len(enum.Values) > 0 && len(enum.Values) <= maxNamed {
				hint = "write one of " + strings.Join(names(enum.Values), ", ")
			}
			return fault{why: "is not a value of " + enum.Key.Value, hint: hint}
		}
	case kind == Time:
		if !isFormatted("date-time", s.Value) {
			return fault{why: "is not a time",
				hint: "write it like 2006-01-02T15:04:05Z, in quotes"}
		}
	case kind == Duration:
		if _, err := time.ParseDuration(s.Value); err != nil {
			return fault{why: "is not a duration", hint: "write it like 90s, 15m or 24h"}
		}
	}
	return fault{}
}

// pattern compiles an expression once. One that does not compile was reported while reading; it
// matches everything here.
func (c *checker) pattern(expr string) *regexp.Regexp {
	re := c.patterns[expr]
	if re == nil {
		var err error
		if re, err = regexp.Compile(expr); err != nil || len(expr) > maxPattern {
			re = regexp.MustCompile("")
		}
		c.patterns[expr] = re
	}
	return re
}

// formatted is a record of one text that has a format.
type formatted struct {
	V     string `json:"v"`
	shape *runtime.Shape
}

// Shape implements runtime.Record.
func (r *formatted) Shape() *runtime.Shape { return r.shape }

// isFormatted asks the decoder of all programs, so that a format means here what it means there.
func isFormatted(format, text string) bool {
	shape := &runtime.Shape{Name: "literal",
		Fields: []runtime.Field{{Name: "v", Required: true, Rule: &runtime.Rule{Format: format}}}}
	return runtime.Unmarshal([]byte(`{"v":`+quoteJSON(text)+`}`), &formatted{shape: shape}) == nil
}
