package emit

import (
	"github.com/dave/jennifer/jen"
)

// emitSchemas writes what joins the definitions of the schema files.
func emitSchemas(g *goFile) {
	g.decl(docWith(directiveEmbed,
		"Schemas holds the definitions of all records, one file for each dialect."),
		jen.Var().Id("Schemas").Qual("embed", "FS").Line())
	g.decl(jen.Var().Id("schemas").Op("=").Add(rt("NewSchemas")).Call(
		jen.Id("Schemas").Dot("ReadFile"), jen.Id("routingRows").Index(jen.Lit(0)).
			Dot("Branches")).Line())
	g.decl(doc("InterruptRoutingSchema returns the schema of "+g.p.Interrupt.Routing+
		" narrowed to a set of routes, with exactly the "+
		"definitions they reach, in the form that the dialect's provider accepts. The empty "+
		"set, and a set that reaches a field "+
		"with no form in the dialect, give \"\". The text of a single route is made once and "+
		"kept; those of the sets asked for last are too."),
		jen.Func().Id("InterruptRoutingSchema").Params(jen.Id("set").Id("InterruptRouteSet"),
			jen.Id("dialect").Add(rt("Dialect"))).String().Block(
			jen.Return(jen.Id("schemas").Dot("Set").
				Call(jen.Id("set").Index(jen.Op(":")), jen.Id("dialect"))),
		).Line())
}
