package emit

import (
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/routegen/routegen/generator/plan"
)

// record writes one struct with what decodes it: its shape, and a flat switch from JSON name to field.
func (g *goFile) record(r plan.Record, about string) {
	var fields []jen.Code
	for i := range r.Fields {
		f := &r.Fields[i]
		if i > 0 {
			fields = append(fields, jen.Line())
		}
		t := goType(f.Type)
		if f.Pointer {
			t = jen.Op("*").Add(t)
		}
		hidden := ""
		if f.Hidden {
			hidden = "Hidden from models."
		}
		fields = append(fields, doc(f.Doc, hidden, absentDoc(f), deprecated(f.Deprecated)).Add(jen.Id(f.Go).Add(t).Tag(tag(g.p, f))))
	}
	g.decl(150*len(r.Fields), []string{r.Name}, doc(about, r.Doc), jen.Type().Id(r.Name).Struct(fields...).Line())
	g.binding(r)
	rows := make([]jen.Code, 0, len(r.Fields))
	cases := make([]jen.Code, 0, len(r.Fields))
	for i := range r.Fields {
		f := &r.Fields[i]
		rw := new(row).text("Name", f.JSON).flag("Required", f.Required).flag("Hidden", f.Hidden)
		if !f.Constraints.IsZero() {
			rw.code("Rule", jen.Op("&").Add(rule(f.Constraints)))
		}
		rw.text("Default", absentValue(f))
		rows = append(rows, rw.values())
		cases = append(cases, jen.Case(jen.Lit(f.JSON)).Block(decodeField(f.Go, f.Type, f.Pointer)))
	}
	g.codec(r.Name, false, rows, cases)
}

// binding asserts that a record and the Go type it is bound to have the same fields: when they drift apart, the build
// stops at this line.
func (g *goFile) binding(r plan.Record) {
	at := strings.LastIndex(r.GoType, ".")
	if at < 0 {
		return
	}
	path, name := r.GoType[:at], r.GoType[at+1:]
	g.decl(200, nil,
		doc("This line does not compile when "+r.GoType+" and the field list of "+r.Name+" in "+g.p.Source+" differ in a name, a type or the order."),
		jen.Var().Id("_").Op("=").Qual(path, name).Call(jen.Id(r.Name).Values()).Line())
}

// codec writes the shape of a struct and the three methods that decode it.
func (g *goFile) codec(name string, union bool, rows, cases []jen.Code) {
	shape := "shape" + name
	g.decl(60*len(rows), []string{shape}, jen.Var().Id(shape).Op("=").Add(rt("Shape")).Values(
		jen.Id("Name").Op(":").Lit(name),
		jen.Id("Union").Op(":").Lit(union),
		jen.Id("Fields").Op(":").Index().Add(rt("Field")).Add(lines(rows)),
	).Line())
	g.decl(120, []string{name + ".Shape"},
		doc("Shape describes the JSON form of v."),
		jen.Func().Params(jen.Id("v").Op("*").Id(name)).Id("Shape").Params().Op("*").Add(rt("Shape")).Block(
			jen.Return(jen.Op("&").Id(shape)),
		).Line())
	body := []jen.Code{}
	if len(cases) > 0 {
		body = append(body, jen.Switch(jen.Id("name")).Block(cases...))
	}
	g.decl(80*len(cases), []string{name + ".DecodeField"},
		doc("DecodeField decodes one member of v; only a Decoder calls it."),
		jen.Func().Params(jen.Id("v").Op("*").Id(name)).Id("DecodeField").Params(jen.Id("d").Op("*").Add(rt("Decoder")), jen.Id("name").String()).Block(body...).Line())
	g.decl(120, []string{name + ".UnmarshalJSON"},
		doc("UnmarshalJSON decodes the wire form of v, strictly: see runtime.Unmarshal."),
		jen.Func().Params(jen.Id("v").Op("*").Id(name)).Id("UnmarshalJSON").Params(jen.Id("data").Index().Byte()).Error().Block(
			jen.Return(rt("Unmarshal").Call(jen.Id("data"), jen.Id("v"))),
		).Line())
}

// sealed writes a sealed interface: its name method, and the unexported method that nobody else can have.
func (g *goFile) sealed(iface, nameType, about string, extra ...jen.Code) {
	methods := []jen.Code{
		rt("Record"),
		jen.Line(),
		doc(nameType + " names the concrete type.").Add(jen.Id(nameType).Params().Id(nameType)),
	}
	methods = append(methods, extra...)
	methods = append(methods, jen.Line(), jen.Id("is"+iface).Params())
	g.decl(300, []string{iface}, g.docWith("//sumtype:decl", about), jen.Type().Id(iface).Interface(methods...).Line())
}

// member writes the two methods that put a struct into a sealed set.
func (g *goFile) member(r plan.Record, iface, nameType string) {
	g.decl(120, []string{r.Name + "." + nameType},
		doc(nameType+" returns "+r.Const+"."),
		jen.Func().Params(jen.Op("*").Id(r.Name)).Id(nameType).Params().Id(nameType).Block(jen.Return(jen.Id(r.Const))).Line())
	g.decl(60, []string{r.Name + ".is" + iface},
		jen.Func().Params(jen.Op("*").Id(r.Name)).Id("is"+iface).Params().Block().Line())
}

// withRole picks the records of a role, in order.
func withRole(p *plan.Plan, role plan.Role) []plan.Record {
	var out []plan.Record
	for _, r := range p.Records {
		if r.Role == role {
			out = append(out, r)
		}
	}
	return out
}
