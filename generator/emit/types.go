package emit

import (
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

// tag is the JSON name of a field. An optional value is left out when it is empty; of a time only
// omitzero can tell. One with a default is written whenever reading it gives it back.
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

func lits(values []string) []jen.Code {
	var out []jen.Code
	for _, v := range values {
		out = append(out, jen.Lit(v))
	}
	return out
}

// inlineBody is the body of a function that fits on the line of its head.
func inlineBody(statement jen.Code) *jen.Statement {
	return jen.Custom(jen.Options{Open: "{", Close: "}"}, statement)
}

// lines is a composite literal with one element a line.
func lines(rows []jen.Code) *jen.Statement {
	return jen.Custom(jen.Options{Open: "{", Close: "}", Separator: ",", Multi: true}, rows...)
}

// callLines is a call with one argument a line.
func callLines(args []jen.Code) *jen.Statement {
	return jen.Custom(jen.Options{Open: "(", Close: ")", Separator: ",", Multi: true}, args...)
}
