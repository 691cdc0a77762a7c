package emit

import (
	"github.com/dave/jennifer/jen"
)

// emitRoutes writes the routes, sets of them, the filter tables, and the node table that the engine
// reads.
func emitRoutes(g *goFile) {
	g.routeType()
	g.routeSet()
	g.filters()
	g.tables()
}

func (g *goFile) routeType() {
	n := named{typ: "Route", what: "route", rows: "routeRows", text: "Field", parse: "ParseRoute",
		doc: "Route is one legal place to continue after an interrupt: a branch of " +
			g.p.Interrupt.Routing + "."}
	for _, r := range g.p.Routes {
		n.consts = append(n.consts, jen.Id(r.Const))
	}
	n.consts = append(n.consts, jen.Line(), doc("routeEnd is one past the last.").Id("routeEnd").
		Op("=").Iota())
	g.names(n)
	g.column("Route", "Field", "returns the JSON name of the branch that takes the route.",
		jen.String(), "routeRows", "Field")
	g.column("Route", "Tag", "returns the route tag: the mark that a filter keeps or hides.",
		jen.String(), "routeRows", "Tag")
	g.column("Route", "Node", "returns the node that the route goes back to.", jen.Id("NodeName"),
		"routeRows", "Node")
	g.method("Route", "AgentType", "returns the wire name of the node that the route goes back to.",
		jen.Id("AgentType"), jen.Id("v").Dot("Node").Call().Dot("AgentType").Call())
	g.method("Route", "DisplayName", forPeople, jen.String(),
		jen.Id("v").Dot("Node").Call().Dot("DisplayName").Call())
	g.method("Route", "Request", "returns the name of the request type that the route carries.",
		jen.String(), rt("Row").Call(jen.Id("requestRows"), rt("Row").
			Call(jen.Id("routeRows"), jen.Id("v")).Dot("Request")).Dot("Name"))
	g.parser("ParseRoute takes the JSON name of a branch. Any other text is refused with code "+
		"invalid, the nearest name named.", "ParseRoute", "field", "Route", "ParseRoute")
}

const setDoc = "InterruptRouteSet is a set of routes, sized to the spec. The zero value is " +
	"empty; sets compare with ==; every method returns a new set. Narrowing only ever takes " +
	"routes away, so the order of filters does not matter."

// routeSet writes the set type. Its size is computed from the last route, so a new route moves no
// line.
func (g *goFile) routeSet() {
	name := "InterruptRouteSet"
	g.decl(doc(setDoc),
		jen.Type().Id(name).Index(jen.Parens(jen.Id("routeEnd").Op("+").Lit(62)).Op("/").Lit(64)).
			Uint64().Line())
	g.decl(doc("AllRoutes returns the set of every route."),
		jen.Func().Id("AllRoutes").Params().Id(name).Block(
			jen.Var().Id("s").Id(name),
			jen.For(jen.Id("r").Op(":=").Id("Route").Call(jen.Lit(1)), jen.Id("r").Op("<").
				Id("routeEnd"), jen.Id("r").Op("++")).Block(
				jen.Id("s").Op("=").Id("s").Dot("With").Call(jen.Id("r"))),
			jen.Return(jen.Id("s"))).Line())
	words := jen.Id("s").Index(jen.Op(":"))
	routes := jen.Id("routes").Op("...").Id("Route")
	method := func(fn, about string, params, result *jen.Statement, body ...jen.Code) {
		g.decl(doc(about),
			jen.Func().Params(jen.Id("s").Id(name)).Id(fn).Params(params).Add(result).
				Block(body...).Line())
	}
	method("With", "With returns s and the given routes. A value that is no route adds nothing.",
		routes, jen.Id(name),
		rt("SetWith").Call(words, jen.Id("routeEnd"), jen.Id("routes").Op("...")),
		jen.Return(jen.Id("s")))
	method("Without", "Without returns s less the given routes.", routes, jen.Id(name),
		rt("SetWithout").Call(words, jen.Id("routes").Op("...")), jen.Return(jen.Id("s")))
	method("Only",
		"Only returns those of the given routes that s has: the filter that hides all others.",
		routes, jen.Id(name),
		jen.Id("keep").Op(":=").Id(name).Values().Dot("With").Call(jen.Id("routes").Op("...")),
		rt("SetAnd").Call(words, jen.Id("keep").Index(jen.Op(":"))), jen.Return(jen.Id("s")))
	method("Has", "Has reports whether s has the route.", jen.Id("route").Id("Route"), jen.Bool(),
		jen.Return(rt("SetHas").Call(words, jen.Id("route"))))
	method("Len", "Len returns how many routes s has.", nil, jen.Int(),
		jen.Return(rt("SetLen").Call(words)))
	method("One",
		"One returns the route of a set that has exactly one, and false for any other set.", nil,
		jen.Params(jen.Id("Route"), jen.Bool()),
		jen.Return(rt("SetOnly").Types(jen.Id("Route")).Call(words)))
	method("All", "All yields the routes of s in the order of "+g.p.Source+".", nil,
		jen.Qual("iter", "Seq").Types(jen.Id("Route")),
		jen.Return(rt("SetAll").Types(jen.Id("Route")).Call(words)))

	g.decl(jen.Func().Params(jen.Id("s").Id(name)).Id("hasField").Params(jen.Id("field").String()).
		Bool().Block(
		jen.List(jen.Id("route"), jen.Err()).Op(":=").Id("ParseRoute").Call(jen.Id("field")),
		jen.Return(jen.Err().Op("==").Nil().Op("&&").Id("s").Dot("Has").Call(jen.Id("route"))),
	).Line())
}

// filters writes what each origin keeps.
func (g *goFile) filters() {
	g.column("AgentType", "Origin",
		"returns the route that an interrupt of the node goes back to: its own, or that of the "+
			"node it escalates to.", jen.Id("Route"), "nodeRows", "Origin")
	g.method("AgentType", "Routes",
		"returns the set that a model may choose from after an interrupt of that origin, no "+
			"reroute pending.", jen.Id("InterruptRouteSet"),
		jen.Id("InterruptRouteSet").Values().Dot("With").Call(jen.Id("v").Dot("Origin").Call()))
}
