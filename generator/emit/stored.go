package emit

import (
	"slices"

	"github.com/dave/jennifer/jen"

	"github.com/routegen/routegen/generator/plan"
	"github.com/routegen/routegen/runtime"
)

// emitShapes writes the list of the types and what stored threads rely on. That of flows stands in
// rows; the rest follows from the other tables.
func emitShapes(g *goFile) {
	var types []jen.Code
	add := func(name string) { types = append(types, jen.Op("&").Id("shape"+name)) }
	for _, e := range g.p.Enums {
		add(e.Name)
	}
	for _, s := range g.p.Scalars {
		add(s.Name)
	}
	for i := range g.p.Records {
		if r := &g.p.Records[i]; r.Role == plan.RoleResult || r.Role == plan.RoleNested {
			add(r.Name)
		}
	}
	g.decl(doc("types are what no message is: enums, scalars, results, other records."),
		jen.Var().Id("types").Op("=").Index().Op("*").Add(rt("Shape")).Add(lines(types)).Line())
	parts := []jen.Code{jen.Nil(), jen.Id("types")}
	if g.p.HasWorkflow() {
		parts[0] = jen.Op("&").Id("tables")
	}
	if g.p.Talk != nil {
		for _, s := range slices.DeleteFunc(plan.Shapes(g.p), func(s runtime.StoredShape) bool {
			return s.Kind != runtime.ShapeFlow
		}) {
			name := "storedFlow" + g.p.Talk.Flow(s.Name).Const[len("Flow"):]
			parts = append(parts, jen.Id(name))
			g.decl(jen.Var().Id(name).Op("=").
				Add(rt("StoredShape")).Add(rowWriter{p: g.p}.line(s, nil)).Line())
		}
	}
	g.decl(jen.Var().Id("storedShapes").Op("=").Qual("sync", "OnceValue").Call(
		jen.Func().Params().Index().Add(rt("StoredShape")).Block(
			jen.Return(rt("StoredShapes").Add(callLines(parts))))).Line())
	g.decl(
		doc("StoredShapes returns what threads stored by this program rely on. An engine that is "+
			"given it refuses, with code incompatible, "+
			"to go on with a thread that another version stored and this one cannot read. "+
			"Callers must not write to it."),
		jen.Func().Id("StoredShapes").Params().Index().Add(rt("StoredShape")).
			Block(jen.Return(jen.Id("storedShapes").Call())).Line())
}
