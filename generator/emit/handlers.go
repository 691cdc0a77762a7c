package emit

import (
	"github.com/dave/jennifer/jen"

	"github.com/routegen/routegen/generator/plan"
)

// call is one method of Handlers: what runs a node, or turns a second accepted type into its request.
type call struct {
	name, takes, gives, about string
	adapt                     bool
}

func calls(p *plan.Plan) []call {
	var out []call
	for _, n := range p.Nodes {
		if n.Method != "" {
			out = append(out, call{name: n.Method, takes: n.Request, gives: n.Routing, about: n.Method + " runs the node " + n.Key + ". " + n.Doc})
		}
		if n.AdaptMethod != "" {
			out = append(out, call{name: n.AdaptMethod, takes: n.Adapt, gives: n.Request, adapt: true,
				about: n.AdaptMethod + " turns a " + n.Adapt + " into the request of the node " + n.Key + "."})
		}
	}
	return out
}

// signature is the parameters and results that every method of Handlers has.
func (c call) signature() *jen.Statement {
	return jen.Id(c.name).Params(
		jen.Id("ctx").Qual("context", "Context"), jen.Id("call").Add(rt("Call")), jen.Id("request").Op("*").Id(c.takes),
	).Params(jen.Op("*").Id(c.gives), jen.Error())
}

// emitHandlers writes what a user implements, and the one link between this package and an engine.
func emitHandlers(g *goFile) {
	all := calls(g.p)
	var methods, runs, adapts []jen.Code
	for i, c := range all {
		if i > 0 {
			methods = append(methods, jen.Line())
		}
		methods = append(methods, doc(c.about).Add(c.signature()))
		run := jen.Id("h").Dot(c.name).Call(jen.Id("ctx"), jen.Id("call"), jen.Id("r"))
		if c.adapt {
			adapts = append(adapts, jen.Case(jen.Op("*").Id(c.takes)).Block(jen.Return(rt("Adapted").Call(run))))
		} else {
			runs = append(runs, jen.Case(jen.Op("*").Id(c.takes)).Block(jen.Return(rt("Handled").Call(run))))
		}
	}
	g.decl(300*len(all), []string{"Handlers"},
		doc("Handlers is what a program writes by hand: one method for every node. A new node adds one: what implements the "+
			"interface stops compiling until it is there. An engine may call methods of one value from many goroutines at once."),
		jen.Type().Id("Handlers").Interface(methods...).Line())
	g.decl(200, []string{"UnimplementedHandlers"},
		doc("UnimplementedHandlers refuses every call with code unavailable. Embed it in tests, or while growing a program; "+
			"a program that embeds it no longer learns of a new node from the compiler."),
		jen.Type().Id("UnimplementedHandlers").Struct().Line())
	for _, c := range all {
		g.decl(300, []string{"UnimplementedHandlers." + c.name},
			doc(c.name+" returns an error of code unavailable."),
			jen.Func().Params(jen.Id("UnimplementedHandlers")).Add(c.signature()).Block(
				jen.Return(jen.Nil(), jen.Op("&").Add(rt("Error")).Values(jen.Id("Code").Op(":").Add(rt("CodeUnavailable")), jen.Id("Op").Op(":").Lit(c.name))),
			).Line())
	}
	g.decl(100, nil, jen.Var().Id("_").Id("Handlers").Op("=").Id("UnimplementedHandlers").Values().Line())
	g.decl(400, []string{"New"},
		doc("New makes the program that an engine runs: every table of this package, and h. h must not be nil."),
		jen.Func().Id("New").Params(jen.Id("h").Id("Handlers")).Add(rt("Program")).Block(
			jen.Return(rt("Program").Add(lines([]jen.Code{
				jen.Id("Tables").Op(":").Op("&").Id("tables"),
				jen.Id("Schemas").Op(":").Id("schemas"),
				jen.Id("Shapes").Op(":").Id("storedShapes"),
				jen.Id("Request").Op(":").Id("newRequest"),
				jen.Id("Interrupt").Op(":").Id("newInterrupt"),
				jen.Id("Result").Op(":").Id("newResult"),
				jen.Id("Routing").Op(":").Id("newRouting"),
				jen.Id("Invoke").Op(":").Id("program").Values(jen.Id("h")).Dot("invoke"),
				jen.Id("Adapt").Op(":").Id("program").Values(jen.Id("h")).Dot("adapt"),
			}))),
		).Line())
	g.decl(100, []string{"program"}, doc("program binds the handlers to the two switches below."),
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
	g.decl(120*len(cases)+100, []string{"program." + name},
		jen.Func().Params(jen.Id("p").Id("program")).Id(name).Params(
			jen.Id("ctx").Qual("context", "Context"), jen.Id("call").Add(rt("Call")), jen.Id("request").Add(rt("Record")),
		).Params(rt(result), jen.Error()).Block(body...).Line())
}
