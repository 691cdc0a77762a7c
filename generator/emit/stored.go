package emit

import (
	"github.com/dave/jennifer/jen"

	"github.com/routegen/routegen/generator/plan"
	"github.com/routegen/routegen/runtime"
)

// shapeKinds are the runtime's names of the kinds of shapes.
var shapeKinds = map[string]string{
	runtime.ShapeRequest: "ShapeRequest", runtime.ShapeInterrupt: "ShapeInterrupt", runtime.ShapeResult: "ShapeResult",
	runtime.ShapeRecord: "ShapeRecord", runtime.ShapeUnion: "ShapeUnion", runtime.ShapeEnum: "ShapeEnum", runtime.ShapeScalar: "ShapeScalar",
	runtime.ShapeNode: "ShapeNode", runtime.ShapeFlow: "ShapeFlow",
}

// emitShapes writes what stored threads rely on, a row for each thing and a line for each part of it.
func emitShapes(g *goFile) {
	shapes := plan.Shapes(g.p)
	names := make([]jen.Code, 0, len(shapes))
	for i := range shapes {
		name := shapeVar(g.p, &shapes[i])
		names = append(names, jen.Id(name))
		g.decl(60*len(shapes[i].Fields)+100, []string{name}, jen.Var().Id(name).Op("=").Add(rt("StoredShape")).Add(shapeRow(&shapes[i])).Line())
	}
	g.rows("storedShapes", "StoredShape", 40, names)
	g.decl(400, []string{"StoredShapes"},
		doc("StoredShapes returns what threads stored by this program rely on. An engine that is given it refuses, with code incompatible, "+
			"to go on with a thread that another version stored and this one cannot read. Callers must not write to it."),
		jen.Func().Id("StoredShapes").Params().Index().Add(rt("StoredShape")).Block(jen.Return(jen.Id("storedShapes"))).Line())
}

// shapeVar names the variable of a shape. A node, a flow and a type may share a name.
func shapeVar(p *plan.Plan, s *runtime.StoredShape) string {
	if n := p.Node(s.Name); n != nil && s.Kind == runtime.ShapeNode {
		return "storedNode" + suffix(*n)
	}
	if s.Kind == runtime.ShapeFlow {
		return "storedFlow" + p.Talk.Flow(s.Name).Const[len("Flow"):]
	}
	return "storedType" + s.Name
}

func shapeRow(s *runtime.StoredShape) *jen.Statement {
	var fields []jen.Code
	for _, f := range s.Fields {
		fields = append(fields, new(row).text("Name", f.Name).texts("Was", f.Was).texts("Accepts", f.Accepts).text("Type", f.Type).
			flag("Required", f.Required).texts("Rules", f.Rules).values())
	}
	return new(row).code("Kind", rt(shapeKinds[s.Kind])).text("Name", s.Name).texts("Was", s.Was).texts("Accepts", s.Accepts).
		code("Fields", jen.Index().Add(rt("StoredField")).Add(lines(fields))).values()
}
