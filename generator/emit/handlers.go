package emit

import (
	"github.com/dave/jennifer/jen"
)

// emitHandlers writes what a user implements, and the one link between this package and an engine.
func emitHandlers(g *goFile) {
	handlers := port{
		name: "Handlers",
		about: "Handlers is what a program writes by hand: one method for every node, which runs " +
			"it, and one for every second type that a node takes, which turns it into the node's " +
			"request. A new node adds one: what implements the interface stops compiling until " +
			"it is there. An engine may call methods of one value from many goroutines at once.",
	}
	var runs, adapts []jen.Code
	method := func(name, takes, gives, turn string) jen.Code {
		handlers.methods = append(handlers.methods, portMethod{name: name, gives: jen.Nil(),
			signature: jen.Params(jen.Id("ctx").Qual("context", "Context"),
				jen.Id("call").Add(rt("Call")), jen.Id("request").Op("*").Id(takes)).
				Params(jen.Op("*").Id(gives), jen.Error())})
		return jen.Case(jen.Op("*").Id(takes)).Block(jen.Return(rt(turn).Call(
			jen.Id("h").Dot(name).Call(jen.Id("ctx"), jen.Id("call"), jen.Id("r")))))
	}
	for _, n := range g.p.Nodes {
		if n.Method != "" {
			runs = append(runs, method(n.Method, n.Request, n.Routing, "Handled"))
		}
		if n.AdaptMethod != "" {
			adapts = append(adapts, method(n.AdaptMethod, n.Adapt, n.Request, "Adapted"))
		}
	}
	g.port(handlers)
	g.decl(doc("New makes the program that an engine runs: every table of this package, and h. h "+
		"must not be nil."),
		jen.Func().Id("New").Params(jen.Id("h").Id("Handlers")).Add(rt("Program")).Block(
			jen.Return(rt("Program").Add(lines([]jen.Code{
				jen.Id("Tables").Op(":").Op("&").Id("tables"),
				jen.Id("Schemas").Op(":").Id("schemas"),
				jen.Id("Shapes").Op(":").Id("storedShapes").Call(),
				jen.Id("Request").Op(":").Id("tables").Dot("NewRequest"),
				jen.Id("Interrupt").Op(":").Id("tables").Dot("NewInterrupt"),
				jen.Id("Result").Op(":").Add(rt("NewResult")).Call(jen.Id("types")),
				jen.Id("Routing").Op(":").Id("tables").Dot("NewRouting"),
				jen.Id("Invoke").Op(":").Id("program").Values(jen.Id("h")).Dot("invoke"),
				jen.Id("Adapt").Op(":").Id("program").Values(jen.Id("h")).Dot("adapt"),
			}))),
		).Line())
	g.decl(doc("program binds the handlers to the two switches below."),
		jen.Type().Id("program").Struct(jen.Id("h").Id("Handlers")).Line())
	g.dispatch("invoke", "Routing", runs)
	g.dispatch("adapt", "Record", adapts)
}

// dispatch writes the flat switch from a request's type to the method that takes it.
func (g *goFile) dispatch(name, result string, cases []jen.Code) {
	body := []jen.Code{}
	if len(cases) > 0 {
		body = append(body,
			jen.Id("h").Op(":=").Id("p").Dot("h"),
			jen.Switch(jen.Id("r").Op(":=").Id("request").Assert(jen.Type())).Block(cases...))
	}
	body = append(body, jen.Return(jen.Nil(), rt("Unhandled").Call(jen.Id("request"))))
	g.decl(jen.Func().Params(jen.Id("p").Id("program")).Id(name).Params(
		jen.Id("ctx").Qual("context", "Context"), jen.Id("call").Add(rt("Call")),
		jen.Id("request").Add(rt("Record")),
	).Params(rt(result), jen.Error()).Block(body...).Line())
}
