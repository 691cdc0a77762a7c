package emit

import (
	"regexp"

	"github.com/routegen/routegen/generator/plan"
)

// absentValue is the JSON text that stands in for a field that is left out; "" where nothing does.
func absentValue(f *plan.Field) string {
	if f.Required || f.Default == nil || *f.Default == "null" {
		return ""
	}
	return *f.Default
}

// absentDoc says in a field's comment what stands in for it.
func absentDoc(f *plan.Field) string {
	if text := absentValue(f); text != "" {
		return "Absent or null, it is read as " + text + "."
	}
	return ""
}

// zeroIsValue reports whether the zero value of the Go field is a value that the field takes from
// the wire. With a default such a value must be written: left out, it would come back as the
// default.
func zeroIsValue(p *plan.Plan, f *plan.Field) bool {
	if f.Pointer {
		return false
	}
	kind, bounds := f.Type.Kind, []plan.Constraints{f.Constraints}
	if kind == plan.ScalarOf {
		s := p.Scalar(f.Type.Name)
		kind, bounds = s.Type.Kind, append(bounds, s.Constraints)
	}
	switch kind {
	case plan.Bool, plan.Time, plan.Duration:
		return true
	case plan.Int, plan.Float, plan.String:
		for _, c := range bounds {
			if !takesZero(c) {
				return false
			}
		}
		return true
	case plan.JSON, plan.EnumOf, plan.ListOf, plan.MapOf, plan.ScalarOf, plan.RecordOf:
	}
	return false
}

// takesZero reports whether 0 and the empty text are within the bounds. No format has an empty
// text.
func takesZero(c plan.Constraints) bool {
	if c.Min != nil && *c.Min > 0 || c.Max != nil && *c.Max < 0 || c.MinLength != nil &&
		*c.MinLength > 0 || c.Format != "" {
		return false
	}
	if c.Pattern == "" {
		return true
	}
	found, err := regexp.MatchString(c.Pattern, "")
	return err == nil && found
}
