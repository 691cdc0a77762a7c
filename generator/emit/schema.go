package emit

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/invopop/jsonschema"

	"github.com/routegen/routegen/generator/plan"
	"github.com/routegen/routegen/generator/spec"
	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/schema"
)

// ruleNoStrictForm is the finding about a visible field that may hold any JSON.
const ruleNoStrictForm = spec.RuleSchemaNoStrictForm

// noForm stands in a Definition for a dialect in which the record cannot be written.
const noForm = "-"

// durationPattern is what runtime.Duration reads: "1h30m". It means the same in RE2 and in ECMA-262.
const durationPattern = `^-?([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$`

// Definition is one record as an entry of $defs, in every dialect. A dialect's text is empty where it equals Plain, and "-"
// where the record has no form in it. Refs are the records that it names directly, sorted.
type Definition struct {
	Name                             string
	Refs                             []string
	Plain, OpenAI, Anthropic, Gemini string
}

// buildDefinitions returns the definitions of all records that some schema needs, sorted by name. The findings name the
// fields without a form in a strict dialect, in the same order; they are errors only for who asks for that dialect.
func buildDefinitions(p *plan.Plan) ([]Definition, []spec.Finding) {
	var defs []Definition
	var findings []spec.Finding
	for _, i := range byName(p) {
		if p.Records[i].Schema {
			def, found := define(p, &p.Records[i])
			defs = append(defs, def)
			findings = append(findings, found...)
		}
	}
	return defs, findings
}

// byName returns the indexes of the plan's records, sorted by name.
func byName(p *plan.Plan) []int {
	order := make([]int, len(p.Records))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return strings.Compare(p.Records[a].Name, p.Records[b].Name) })
	return order
}

// define builds the definition of one record, and a finding for each field that keeps it out of a strict dialect. A type
// nested too deeply for a schema leaves Plain empty; schemaFiles refuses that.
func define(p *plan.Plan, r *plan.Record) (Definition, []spec.Finding) {
	plain, err := recordSchema(p, r)
	if err != nil {
		return Definition{Name: r.Name, Refs: r.Refs}, []spec.Finding{{Rule: spec.RuleTooDeep, Severity: spec.Error, File: p.Source,
			Message: fmt.Sprintf("the schema of %s cannot be written: %v", r.Name, err)}}
	}
	def := Definition{Name: r.Name, Refs: r.Refs, Plain: plain.String()}
	missing := map[string][]string{} // dialects without a form, by the pointer of the field
	in := func(d runtime.Dialect) string {
		v, found := schema.Convert(d, plain)
		for _, f := range found {
			missing[f.Pointer] = append(missing[f.Pointer], d.String())
		}
		if len(found) > 0 {
			return noForm
		}
		if text := v.String(); text != def.Plain {
			return text
		}
		return ""
	}
	def.OpenAI, def.Anthropic, def.Gemini = in(runtime.OpenAI), in(runtime.Anthropic), in(runtime.Gemini)
	if len(missing) == 0 {
		return def, nil
	}
	var findings []spec.Finding
	for i := range r.Fields {
		f := &r.Fields[i]
		if dialects := missing["/properties/"+f.JSON]; !f.Hidden && dialects != nil {
			findings = append(findings, noStrictForm(p, r, f, dialects))
		}
	}
	return def, findings
}

func noStrictForm(p *plan.Plan, r *plan.Record, f *plan.Field, dialects []string) spec.Finding {
	start := spec.Pos{Line: f.Line, Column: f.Column}
	return spec.Finding{
		Rule: ruleNoStrictForm, Severity: spec.Error, File: p.Source,
		At: spec.Span{Start: start, End: spec.Pos{Line: f.Line, Column: f.Column + len(f.Key)}},
		Message: fmt.Sprintf("field %q of %s may hold any JSON, which has no form in %s: hide it or give it a type",
			f.Key, r.Name, strings.Join(slices.Compact(dialects), " and ")),
		Hint: "add `hidden: true` or name a type",
	}
}

// recordSchema returns the plain schema of a record, keys in reading order. The library's own order and its HTML escapes
// end here.
func recordSchema(p *plan.Plan, r *plan.Record) (*schema.Value, error) {
	s := &jsonschema.Schema{Type: "object", Description: r.Doc, Properties: jsonschema.NewProperties(),
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

// fieldSchema returns a new schema for a field. A reference stays bare: draft 7 ignores what stands beside it, and Gemini
// refuses it.
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

// tighter joins the bounds of a named scalar with those of a field of it. A pattern or format of the field wins: a schema
// has room for one, and the decoder checks both.
func tighter(scalar, field plan.Constraints) plan.Constraints {
	out := field
	out.Min, out.Max = larger(scalar.Min, field.Min), smaller(scalar.Max, field.Max)
	out.MinLength, out.MaxLength = larger(scalar.MinLength, field.MinLength), smaller(scalar.MaxLength, field.MaxLength)
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

// literal returns JSON text as a value. A number in a form that only YAML knows is kept as a string.
func literal(text string) any {
	if json.Valid([]byte(text)) {
		return json.RawMessage(text)
	}
	return text
}
