package emit

import (
	"slices"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/routegen/routegen/generator/plan"
	"github.com/routegen/routegen/runtime"
)

// record writes one struct and its shape. What belongs to a record beside its fields are its rows:
// everything else is found by them and by the types of the fields. more are methods beside those
// that every record has.
func (g *goFile) record(r plan.Record, about string, more ...jen.Code) {
	var fields []jen.Code
	for i := range r.Fields {
		f := &r.Fields[i]
		field := jen.Id(f.Go).Add(memberType(*f)).Tag(tag(g.p, f))
		switch about := fieldDoc(f); {
		case r.Role == plan.RoleInterrupt && f.Common && i == 0:
			field = doc("The fields of InterruptCommon.").Add(field)
		case r.Role == plan.RoleInterrupt && f.Common:
		case len(*about) > 0:
			field = about.Add(field)
		case i > 0: // so that it is not aligned with the field before
			field = jen.Line().Add(field)
		}
		fields = append(fields, field)
	}
	if n := g.p.Node(r.Node); n != nil && n.Doc == r.Doc { // it stands at the node's constant
		r.Doc = ""
	}
	g.decl(doc(about, r.Doc), jen.Type().Id(r.Name).
		Struct(fields...).Line())
	g.binding(r)
	rows := make([]jen.Code, 0, len(r.Fields))
	for i := range r.Fields {
		f := &r.Fields[i]
		rows = append(rows, rowWriter{p: g.p}.line(runtime.Field{Name: f.JSON, Required: f.Required,
			Hidden: f.Hidden, Default: absentValue(f), OldDefault: f.DefaultOld,
			AcceptsOld: f.AcceptsOld, Was: f.Earlier(), Rule: plan.RuleOf(f.Constraints)}, nil))
	}
	g.shape(plan.ShapeKinds[r.Role], r.Name, slices.Concat(g.formerly[r.Name], r.Was), rows)
	g.methods(r.Name, jen.Op("&").Id("shape"+r.Name), more...)
}

// fieldDoc is the comment of a field.
func fieldDoc(f *plan.Field) *jen.Statement {
	hidden := ""
	if f.Hidden {
		hidden = "Hidden from models."
	}
	return doc(f.Doc, hidden, absentDoc(f), deprecated(f.Deprecated))
}

// binding asserts that a record and the Go type it is bound to have the same fields: when they
// drift apart, the build stops at this line.
func (g *goFile) binding(r plan.Record) {
	at := strings.LastIndex(r.GoType, ".")
	if at < 0 {
		return
	}
	path, name := r.GoType[:at], r.GoType[at+1:]
	g.decl(doc("This line does not compile when "+r.GoType+" and the field list of "+r.Name+" in "+
		g.p.Source+" differ in a name, a type or the order."),
		jen.Var().Id("_").Op("=").Qual(path, name).Call(jen.Id(r.Name).Values()).Line())
}

// shape writes the shape of a type.
func (g *goFile) shape(kind, name string, was []string, fields []jen.Code) {
	values := []jen.Code{
		jen.Id("Kind").Op(":").Add(rt("Shape" + strings.ToUpper(kind[:1]) + kind[1:])),
		jen.Id("Name").Op(":").Lit(name),
		jen.Id("Of").Op(":").Add(nilOf(name)),
	}
	if len(was) > 0 {
		values = append(values, jen.Id("Was").Op(":").Index().String().Values(lits(was)...))
	}
	if len(fields) > 0 {
		values = append(values, jen.Id("Fields").Op(":").Index().Add(rt("Field")).
			Add(lines(fields)))
	}
	g.decl(jen.Var().Id("shape" + name).Op("=").Add(rt("Shape")).Values(values...).Line())
}

// nilOf is a nil pointer of a type.
func nilOf(name string) *jen.Statement {
	return jen.Parens(jen.Op("*").Id(name)).Parens(jen.Nil())
}

// methods writes the two methods that every record and union has, and more.
func (g *goFile) methods(name string, shape jen.Code, more ...jen.Code) {
	g.group(append([]jen.Code{
		jen.Func().Params(jen.Op("*").Id(name)).Id("Shape").Params().Op("*").Add(rt("Shape")).
			Add(inlineBody(jen.Return(shape))).Line(),
		jen.Func().Params(jen.Id("v").Op("*").Id(name)).Id("UnmarshalJSON").
			Params(jen.Id("b").Index().Byte()).Error().
			Add(inlineBody(jen.Return(rt("Unmarshal").Call(jen.Id("b"), jen.Id("v"))))).Line(),
	}, more...)...)
}

// sealed writes a sealed interface: a method that tells the node of a member, and the unexported
// method that no type outside the package can have.
func (g *goFile) sealed(iface, nodeMethod, nodeDoc, about string, extra ...jen.Code) {
	methods := []jen.Code{
		rt("Record"),
		jen.Line(),
		doc(nodeMethod + " " + nodeDoc).Add(jen.Id(nodeMethod).Params().Id("NodeName")),
	}
	methods = append(methods, extra...)
	methods = append(methods, jen.Line(), jen.Id("is"+iface).Params())
	g.decl(docWith(directiveSealed, about), jen.Type().Id(iface).
		Interface(methods...).Line())
}

// member returns the two methods that put a struct into a sealed set.
func (g *goFile) member(r plan.Record, iface, nodeMethod string) []jen.Code {
	return []jen.Code{
		jen.Func().Params(jen.Op("*").Id(r.Name)).Id(nodeMethod).Params().Id("NodeName").
			Add(inlineBody(jen.Return(jen.Id(g.p.Node(r.Node).Const)))).Line(),
		jen.Func().Params(jen.Op("*").Id(r.Name)).Id("is" + iface).Params().Block().Line(),
	}
}

// withRole picks the records of a role, in order.
func withRole(p *plan.Plan, role plan.Role) []plan.Record {
	return slices.DeleteFunc(slices.Clone(p.Records), func(r plan.Record) bool {
		return r.Role != role
	})
}
