package emit

import (
	"github.com/dave/jennifer/jen"

	"github.com/routegen/routegen/generator/plan"
)

// emitRoutes writes the routes, sets of them, the filter tables, and the node table that the engine reads.
func emitRoutes(g *goFile) {
	g.routeType()
	g.routeSet()
	g.filters()
	g.tables()
}

func (g *goFile) routeType() {
	n := named{typ: "Route", what: "route", names: "routeFields", doc: "Route is one legal place to continue after an interrupt: a branch of " + g.p.Interrupt.Routing + "."}
	for _, r := range g.p.Routes {
		node := g.p.Node(r.Node)
		n.rows = append(n.rows, namedRow{constant: r.Const, text: r.Field, doc: r.Const + " goes back to " + node.DisplayName + "."})
	}
	n.end = "routeEnd"
	g.names(n)
	routes := g.p.Routes
	g.decl(60, []string{"Route.Field"}, doc("Field returns the JSON name of the branch that takes the route."),
		jen.Func().Params(jen.Id("v").Id("Route")).Id("Field").Params().String().Block(jen.Return(jen.Id("v").Dot("String").Call())).Line())
	g.lookup("Route", "Tag", "returns the route tag: the mark that a filter keeps or hides.", "string", "routeTags", textColumn(routes, func(r plan.Route) string { return r.Tag }))
	g.lookup("Route", "Node", "returns the node that the route goes back to.", "NodeName", "routeNodes",
		column(routes, func(r plan.Route) string { return g.p.Node(r.Node).Const }))
	g.method("Route", "AgentType", "returns the wire name of the node that the route goes back to.", "AgentType",
		jen.Id("v").Dot("Node").Call().Dot("AgentType").Call())
	g.method("Route", "DisplayName", "returns the words a person reads.", "string",
		jen.Id("v").Dot("Node").Call().Dot("DisplayName").Call())
	g.lookup("Route", "Request", "returns the request that the route carries.", "RequestName", "routeRequests",
		column(routes, func(r plan.Route) string { return nameOf(r.Request) }))
	g.decl(300, []string{"ParseRoute"},
		doc("ParseRoute takes the JSON name of a branch. Any other text is refused with code invalid, the nearest name named."),
		jen.Func().Id("ParseRoute").Params(jen.Id("field").String()).Params(jen.Id("Route"), jen.Error()).Block(
			jen.Return(rt("ParseEnum").Types(jen.Id("Route")).Call(jen.Id("routeFields"), jen.Lit("route"), jen.Index().Byte().Parens(jen.Id("field")))),
		).Line())
}

func textColumn[T any](rows []T, pick func(T) string) []jen.Code {
	var out []jen.Code
	for _, r := range rows {
		out = append(out, jen.Lit(pick(r)))
	}
	return out
}

const setDoc = "InterruptRouteSet is a set of routes, sized to the spec. The zero value is empty; sets compare with ==; every method " +
	"returns a new set. Narrowing only ever takes routes away, so the order of filters does not matter."

// routeSet writes the set type. Its size is computed from the last route, so a new route moves no line.
func (g *goFile) routeSet() {
	name := "InterruptRouteSet"
	g.decl(300, []string{name}, doc(setDoc),
		jen.Type().Id(name).Index(jen.Parens(jen.Id("routeEnd").Op("+").Lit(62)).Op("/").Lit(64)).Uint64().Line())
	g.decl(60*len(g.p.Routes), []string{"allRoutes"},
		jen.Var().Id("allRoutes").Op("=").Id(name).Values().Dot("With").Add(callLines(column(g.p.Routes, func(r plan.Route) string { return r.Const }))).Line())
	g.decl(100, []string{"AllRoutes"}, doc("AllRoutes returns the set of every route."),
		jen.Func().Id("AllRoutes").Params().Id(name).Block(jen.Return(jen.Id("allRoutes"))).Line())

	words := jen.Id("s").Index(jen.Op(":"))
	routes := jen.Id("routes").Op("...").Id("Route")
	method := func(fn, about string, params, result *jen.Statement, body ...jen.Code) {
		g.decl(200, []string{name + "." + fn}, doc(about),
			jen.Func().Params(jen.Id("s").Id(name)).Id(fn).Params(params).Add(result).Block(body...).Line())
	}
	method("With", "With returns s and the given routes. A value that is no route adds nothing.", routes, jen.Id(name),
		rt("SetWith").Call(words, jen.Id("routeEnd"), jen.Id("routes").Op("...")), jen.Return(jen.Id("s")))
	method("Without", "Without returns s less the given routes.", routes, jen.Id(name),
		rt("SetWithout").Call(words, jen.Id("routes").Op("...")), jen.Return(jen.Id("s")))
	method("Only", "Only returns those of the given routes that s has: the filter that hides all others.", routes, jen.Id(name),
		jen.Id("keep").Op(":=").Id(name).Values().Dot("With").Call(jen.Id("routes").Op("...")),
		rt("SetAnd").Call(words, jen.Id("keep").Index(jen.Op(":"))), jen.Return(jen.Id("s")))
	method("Has", "Has reports whether s has the route.", jen.Id("route").Id("Route"), jen.Bool(),
		jen.Return(rt("SetHas").Call(words, jen.Id("route"))))
	method("Len", "Len returns how many routes s has.", nil, jen.Int(), jen.Return(rt("SetLen").Call(words)))
	method("One", "One returns the route of a set that has exactly one, and false for any other set.", nil,
		jen.Params(jen.Id("Route"), jen.Bool()), jen.Return(rt("SetOnly").Types(jen.Id("Route")).Call(words)))
	method("All", "All yields the routes of s in the order of "+g.p.Source+".", nil, jen.Qual("iter", "Seq").Types(jen.Id("Route")),
		jen.Return(rt("SetAll").Types(jen.Id("Route")).Call(words)))

	var cases []jen.Code
	for _, r := range g.p.Routes {
		cases = append(cases, jen.Case(jen.Lit(r.Field)).Block(jen.Return(jen.Id("s").Dot("Has").Call(jen.Id(r.Const)))))
	}
	g.decl(80*len(cases), []string{name + ".hasField"},
		jen.Func().Params(jen.Id("s").Id(name)).Id("hasField").Params(jen.Id("field").String()).Bool().Block(
			jen.Switch(jen.Id("field")).Block(cases...),
			jen.Return(jen.False()),
		).Line())
}

// callLines is a call with one argument a line.
func callLines(args []jen.Code) *jen.Statement {
	return jen.Custom(jen.Options{Open: "(", Close: ")", Separator: ",", Multi: true}, args...)
}

// filters writes what each origin keeps. A row names the kept route, never the hidden ones: the table grows with the
// spec, not with its square.
func (g *goFile) filters() {
	interrupts := withRole(g.p, plan.RoleInterrupt)
	g.lookup("InterruptName", "Origin", "returns the route its answer goes back to: that of the raising node, or of the node it escalates to.",
		"Route", "interruptOrigins", column(interrupts, func(r plan.Record) string { return g.p.Node(r.Node).Origin }))
	g.lookup("AgentType", "Origin", "returns the route that an interrupt of the node goes back to: its own, or that of the node it escalates to.",
		"Route", "agentTypeOrigins", column(g.p.Nodes, func(n plan.Node) string { return n.Origin }))
	for _, typ := range []string{"InterruptName", "AgentType"} {
		g.method(typ, "Routes", "returns the set that a model may choose from after an interrupt of that origin, no reroute pending.",
			"InterruptRouteSet", jen.Id("InterruptRouteSet").Values().Dot("With").Call(jen.Id("v").Dot("Origin").Call()))
	}
}
