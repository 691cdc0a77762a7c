package emit

import (
	"time"

	"github.com/dave/jennifer/jen"

	"github.com/routegen/routegen/generator/plan"
)

// rt refers to a name of package runtime.
func rt(name string) *jen.Statement { return jen.Qual(runtimePath, name) }

// goType is a plan type as Go writes it.
func goType(t plan.Type) *jen.Statement {
	switch t.Kind {
	case plan.String:
		return jen.String()
	case plan.Bool:
		return jen.Bool()
	case plan.Int:
		return jen.Int64()
	case plan.Float:
		return jen.Float64()
	case plan.Time:
		return jen.Qual("time", "Time")
	case plan.Duration:
		return rt("Duration")
	case plan.JSON:
		return jen.Qual("encoding/json", "RawMessage")
	case plan.ListOf:
		return jen.Index().Add(goType(*t.Elem))
	case plan.MapOf:
		return jen.Map(jen.String()).Add(goType(*t.Elem))
	case plan.EnumOf, plan.ScalarOf, plan.RecordOf:
	}
	return jen.Id(t.Name)
}

// decoders are the runtime functions of the plain kinds. Those of the first group are generic over the Go type.
var decoders = map[plan.Kind]struct {
	name    string
	generic bool
}{
	plan.String:   {"DecodeString", true},
	plan.Bool:     {"DecodeBool", true},
	plan.Int:      {"DecodeInt", true},
	plan.Float:    {"DecodeFloat", true},
	plan.Time:     {"DecodeTime", false},
	plan.Duration: {"DecodeDuration", false},
	plan.JSON:     {"DecodeJSON", false},
}

// decoder is an expression: the function that decodes one value of the type.
func decoder(t plan.Type) *jen.Statement {
	switch t.Kind {
	case plan.EnumOf, plan.ScalarOf:
		return jen.Id("decode" + t.Name)
	case plan.RecordOf:
		return rt("DecodeRecord").Types(goType(t))
	case plan.ListOf, plan.MapOf:
		return jen.Func().Params(jen.Id("d").Op("*").Add(rt("Decoder")), jen.Id("v").Op("*").Add(goType(t))).Block(
			rt(collection(t)).Call(jen.Id("d"), jen.Id("v"), decoder(*t.Elem)),
		)
	case plan.String, plan.Bool, plan.Int, plan.Float, plan.Time, plan.Duration, plan.JSON:
	}
	d := decoders[t.Kind]
	if d.generic {
		return rt(d.name).Types(goType(t))
	}
	return rt(d.name)
}

func collection(t plan.Type) string {
	if t.Kind == plan.ListOf {
		return "DecodeList"
	}
	return "DecodeMap"
}

// decodeField is the statement that decodes into v.Name.
func decodeField(name string, t plan.Type, pointer bool) *jen.Statement {
	target := jen.Op("&").Id("v").Dot(name)
	if pointer && t.Kind == plan.RecordOf {
		return rt("DecodeNew").Call(jen.Id("d"), target)
	}
	if pointer {
		return rt("DecodePointer").Call(jen.Id("d"), target, decoder(t))
	}
	switch t.Kind {
	case plan.EnumOf, plan.ScalarOf:
		return jen.Id("decode"+t.Name).Call(jen.Id("d"), target)
	case plan.RecordOf:
		return rt("DecodeRecord").Call(jen.Id("d"), target)
	case plan.ListOf, plan.MapOf:
		return rt(collection(t)).Call(jen.Id("d"), target, decoder(*t.Elem))
	case plan.String, plan.Bool, plan.Int, plan.Float, plan.Time, plan.Duration, plan.JSON:
	}
	return rt(decoders[t.Kind].name).Call(jen.Id("d"), target)
}

// tag is the JSON name of a field. An optional value is left out when it is empty; of a time only omitzero can tell. One with a default
// is written whenever reading it gives it back.
func tag(p *plan.Plan, f *plan.Field) map[string]string {
	text := f.JSON
	switch {
	case f.Required, absentValue(f) != "" && zeroIsValue(p, f):
	case f.Type.Kind == plan.Time && !f.Pointer:
		text += ",omitzero"
	default:
		text += ",omitempty"
	}
	return map[string]string{"json": text}
}

// rule is the composite literal of a field's bounds.
func rule(c plan.Constraints) *jen.Statement {
	var rows []jen.Code
	add := func(name string, value jen.Code) { rows = append(rows, jen.Id(name).Op(":").Add(value)) }
	bound := func(name string, v *int) {
		if v != nil {
			add(name, rt("Bound").Call(jen.Lit(*v)))
		}
	}
	if c.Min != nil {
		add("Min", rt("Bound").Call(jen.Lit(*c.Min)))
	}
	if c.Max != nil {
		add("Max", rt("Bound").Call(jen.Lit(*c.Max)))
	}
	bound("MinLength", c.MinLength)
	bound("MaxLength", c.MaxLength)
	bound("MinItems", c.MinItems)
	bound("MaxItems", c.MaxItems)
	if c.Pattern != "" {
		add("Pattern", rt("MustPattern").Call(jen.Lit(c.Pattern)))
	}
	if c.Format != "" {
		add("Format", jen.Lit(c.Format))
	}
	return rt("Rule").Values(rows...)
}

// row is a keyed composite literal on one line, without its empty members.
type row struct{ cells []jen.Code }

func (r *row) code(name string, value jen.Code) *row {
	r.cells = append(r.cells, jen.Id(name).Op(":").Add(value))
	return r
}

func (r *row) text(name, value string) *row {
	if value == "" {
		return r
	}
	return r.code(name, jen.Lit(value))
}

func (r *row) flag(name string, set bool) *row {
	if !set {
		return r
	}
	return r.code(name, jen.True())
}

func (r *row) number(name string, value int) *row {
	if value == 0 {
		return r
	}
	return r.code(name, jen.Lit(value))
}

// index refers to a constant of the generated package as a table index.
func (r *row) index(name, constant string) *row {
	if constant == "" {
		return r
	}
	return r.code(name, jen.Int().Call(jen.Id(constant)))
}

func (r *row) texts(name string, values []string) *row {
	if len(values) == 0 {
		return r
	}
	return r.code(name, jen.Index().String().Values(lits(values)...))
}

func (r *row) duration(name, text string) *row {
	d, err := time.ParseDuration(text)
	if err != nil || d == 0 {
		return r // the spec has been checked: only an absent text does not parse
	}
	for _, unit := range []struct {
		name string
		size time.Duration
	}{{"Hour", time.Hour}, {"Minute", time.Minute}, {"Second", time.Second}, {"Millisecond", time.Millisecond}} {
		if d%unit.size == 0 {
			return r.code(name, jen.Lit(int(d/unit.size)).Op("*").Qual("time", unit.name))
		}
	}
	return r.code(name, jen.Lit(int(d)))
}

func (r *row) values() *jen.Statement { return jen.Values(r.cells...) }

func lits(values []string) []jen.Code {
	var out []jen.Code
	for _, v := range values {
		out = append(out, jen.Lit(v))
	}
	return out
}

// lines is a composite literal with one element a line.
func lines(rows []jen.Code) *jen.Statement {
	return jen.Custom(jen.Options{Open: "{", Close: "}", Separator: ",", Multi: true}, rows...)
}
