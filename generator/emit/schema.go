package emit

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/invopop/jsonschema"

	"github.com/routegen/routegen/generator/plan"
	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/schema"
)

// durationPattern is what runtime.Duration reads: "1h30m". It means the same in RE2 and in
// ECMA-262.
const durationPattern = `^[-+]?(0|(([0-9]+\.?[0-9]*|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+)$`

// definition is one record as an entry of $defs, by dialect: "" where it has no form.
type definition struct {
	name  string
	texts [4]string
}

// shownRecords returns the names of the records that stand in the schema files: those that a model
// or a person sees, and what they lead to. Records of hidden fields alone are left out.
func shownRecords(p *plan.Plan) map[string]bool {
	shown := map[string]bool{}
	var show func(name string)
	show = func(name string) {
		if !shown[name] {
			shown[name] = true
			for _, ref := range p.Record(name).Refs {
				show(ref)
			}
		}
	}
	for i := range p.Records {
		if p.Records[i].Role != plan.RoleNested || p.Records[i].Schema {
			show(p.Records[i].Name)
		}
	}
	return shown
}

// buildDefinitions returns the definitions of these records, nil being all, sorted by name.
func buildDefinitions(p *plan.Plan, only map[string]bool) ([]definition, error) {
	defs := make([]definition, 0, len(p.Records))
	for i := range p.Records {
		if only != nil && !only[p.Records[i].Name] {
			continue
		}
		def := definition{name: p.Records[i].Name}
		plain, err := recordSchema(p, &p.Records[i])
		if err != nil { // the checks of the spec bound the depth of a type
			return nil, fmt.Errorf("the schema of %s cannot be written: %w", def.name, err)
		}
		for _, d := range runtime.Dialects() {
			if v, missing := schema.Convert(d, plain); len(missing) == 0 {
				def.texts[d] = v.String()
			}
		}
		defs = append(defs, def)
	}
	slices.SortFunc(defs, func(a, b definition) int { return strings.Compare(a.name, b.name) })
	return defs, nil
}

// recordSchema returns the plain schema of a record, keys in reading order. The library's own order
// and its HTML escapes end here.
func recordSchema(p *plan.Plan, r *plan.Record) (*schema.Value, error) {
	s := &jsonschema.Schema{Type: "object", Description: r.Doc,
		Properties:           jsonschema.NewProperties(),
		AdditionalProperties: jsonschema.FalseSchema}
	for i := range r.Fields {
		f := &r.Fields[i]
		if f.Hidden {
			continue
		}
		s.Properties.Set(f.JSON, fieldSchema(p, f))
		if f.Required {
			s.Required = append(s.Required, f.JSON)
		}
	}
	raw, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	v, err := schema.Parse(raw)
	if err != nil {
		return nil, err
	}
	return inReadingOrder(v), nil
}

// fieldSchema returns a new schema for a field. A reference stays bare: draft 7 ignores what stands
// beside it, and Gemini refuses it.
func fieldSchema(p *plan.Plan, f *plan.Field) *jsonschema.Schema {
	s := typeSchema(p, f.Type, f.Doc, f.Constraints)
	if s.Ref != "" {
		return s
	}
	if f.Default != nil {
		s.Default = literal(*f.Default)
	}
	for _, text := range f.Examples {
		s.Examples = append(s.Examples, literal(text))
	}
	return s
}

// typeSchema returns a new schema for a type. doc is empty inside lists and maps.
func typeSchema(p *plan.Plan, t plan.Type, doc string, c plan.Constraints) *jsonschema.Schema {
	s := &jsonschema.Schema{Description: doc}
	switch t.Kind {
	case plan.String:
		s.Type = "string"
	case plan.Bool:
		s.Type = "boolean"
	case plan.Int:
		s.Type = "integer"
	case plan.Float:
		s.Type = "number"
	case plan.Time:
		s.Type, s.Format = "string", "date-time"
	case plan.Duration:
		s.Type, s.Pattern = "string", durationPattern
	case plan.JSON:
	case plan.EnumOf:
		describeEnum(s, p.Enum(t.Name))
	case plan.ScalarOf:
		named := p.Scalar(t.Name)
		if doc == "" {
			doc = named.Doc
		}
		return typeSchema(p, named.Type, doc, tighter(named.Constraints, c))
	case plan.RecordOf:
		return &jsonschema.Schema{Ref: "#/$defs/" + t.Name}
	case plan.ListOf:
		s.Type, s.Items = "array", typeSchema(p, *t.Elem, "", plan.Constraints{})
		s.MinItems, s.MaxItems = size(c.MinItems), size(c.MaxItems)
	case plan.MapOf:
		s.Type, s.AdditionalProperties = "object", typeSchema(p, *t.Elem, "", plan.Constraints{})
		s.MinProperties, s.MaxProperties = size(c.MinItems), size(c.MaxItems)
	}
	s.Minimum, s.Maximum = number(c.Min), number(c.Max)
	s.MinLength, s.MaxLength = size(c.MinLength), size(c.MaxLength)
	if c.Pattern != "" {
		s.Pattern = c.Pattern
	}
	if c.Format != "" {
		s.Format = c.Format
	}
	return s
}

// describeEnum lists the values that a model may use, and what they mean, one a line.
func describeEnum(s *jsonschema.Schema, e *plan.Enum) {
	s.Type = "string"
	var lines []string
	if s.Description == "" {
		s.Description = e.Doc
	}
	if s.Description != "" {
		lines = append(lines, s.Description)
	}
	for _, v := range e.Values {
		if v.Hidden {
			continue
		}
		s.Enum = append(s.Enum, v.Wire)
		if v.Doc != "" {
			lines = append(lines, v.Wire+": "+v.Doc)
		}
	}
	s.Description = strings.Join(lines, "\n")
}

// tighter joins the bounds of a named scalar with those of a field of it. A pattern or format of
// the field wins: a schema has room for one, and the decoder checks both.
func tighter(scalar, field plan.Constraints) plan.Constraints {
	out := field
	out.Min, out.Max = larger(scalar.Min, field.Min), smaller(scalar.Max, field.Max)
	out.MinLength, out.MaxLength = larger(scalar.MinLength, field.MinLength),
		smaller(scalar.MaxLength, field.MaxLength)
	if out.Pattern == "" {
		out.Pattern = scalar.Pattern
	}
	if out.Format == "" {
		out.Format = scalar.Format
	}
	return out
}

func larger[T int | float64](a, b *T) *T {
	if a == nil || b != nil && *b > *a {
		return b
	}
	return a
}

func smaller[T int | float64](a, b *T) *T {
	if a == nil || b != nil && *b < *a {
		return b
	}
	return a
}

func number(f *float64) json.Number {
	if f == nil {
		return ""
	}
	text, err := json.Marshal(*f)
	if err != nil {
		return "" // infinite: no bound
	}
	return json.Number(text)
}

func size(n *int) *uint64 {
	if n == nil || *n < 0 {
		return nil
	}
	u := uint64(*n)
	return &u
}

// literal returns JSON text as a value. A number in a form that only YAML knows is kept as a
// string.
func literal(text string) any {
	if json.Valid([]byte(text)) {
		return json.RawMessage(text)
	}
	return text
}
