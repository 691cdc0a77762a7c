package emit

import (
	"github.com/dave/jennifer/jen"

	"github.com/routegen/routegen/generator/plan"
)

// emitDisplay writes the words a person reads, one source for each.
func emitDisplay(g *goFile) {
	requests, interrupts := withRole(g.p, plan.RoleRequest), withRole(g.p, plan.RoleInterrupt)
	g.lookup("NodeName", "DisplayName", "returns the words a person reads.", "string", "nodeDisplayNames",
		textColumn(g.p.Nodes, func(n plan.Node) string { return n.DisplayName }))
	g.method("AgentType", "DisplayName", "returns the words a person reads.", "string",
		rt("At").Call(jen.Id("nodeDisplayNames"), jen.Id("v")))
	g.texts("requestDisplayNames", textColumn(requests, func(r plan.Record) string { return r.DisplayName }))
	g.texts("interruptDisplayNames", textColumn(interrupts, func(r plan.Record) string { return r.DisplayName }))

	cases := []jen.Code{
		jen.Case(jen.Lit(g.p.Interrupt.Interface)).Block(jen.Return(jen.Lit(g.p.Interrupt.DisplayName))),
		jen.Case(jen.Lit(g.p.Interrupt.Handler.Name)).Block(jen.Return(jen.Lit(g.p.Interrupt.Handler.DisplayName))),
	}
	for _, list := range [][]plan.Record{requests, interrupts} {
		for _, r := range list {
			cases = append(cases, jen.Case(jen.Lit(r.Name)).Block(jen.Return(jen.Lit(r.DisplayName))))
		}
	}
	g.decl(80*len(cases), []string{"DisplayName"},
		doc("DisplayName returns the words a person reads for a request, an interrupt request, their interface or the "+
			"interrupt handler, by its name. A name it does not know comes back as it is."),
		jen.Func().Id("DisplayName").Params(jen.Id("name").String()).String().Block(
			jen.Switch(jen.Id("name")).Block(cases...),
			jen.Return(jen.Id("name")),
		).Line())
}

func (g *goFile) texts(name string, rows []jen.Code) {
	g.decl(40*len(rows), []string{name}, jen.Var().Id(name).Op("=").Index().String().Add(lines(rows)).Line())
}
