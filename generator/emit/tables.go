package emit

import (
	"github.com/dave/jennifer/jen"

	"github.com/routegen/routegen/generator/plan"
	"github.com/routegen/routegen/runtime"
)

// tables writes the rows that an engine reads: it knows the package by nothing else.
func (g *goFile) tables() {
	w := rowWriter{p: g.p}
	for _, n := range g.p.Nodes {
		g.row("nodeRow"+suffix(n), "Node", w.cells(n, nil))
	}
	g.list("nodeRows", "Node",
		column(g.p.Nodes, func(n plan.Node) string { return "nodeRow" + suffix(n) }))
	var routes, requests, interrupts []jen.Code
	for _, r := range g.p.Routes {
		routes = append(routes, w.line(r, code{"Was": stringList(g.formerly[r.Const])}))
	}
	for _, r := range withRole(g.p, plan.RoleRequest) {
		n := g.p.Node(r.Node)
		requests = append(requests, w.line(
			runtime.RequestRow{Name: r.Name, DisplayName: r.DisplayName}, code{
				"Node":      jen.Int().Call(jen.Id(n.Const)),
				"Interrupt": constant(rowOf(n.Interrupt)), "Routing": constant(rowOf(n.Routing)),
				"Shape": jen.Op("&").Id("shape" + r.Name),
			}))
	}
	for _, r := range withRole(g.p, plan.RoleInterrupt) {
		n := g.p.Node(r.Node)
		interrupts = append(interrupts, w.line(
			runtime.InterruptRow{Name: r.Name, DisplayName: r.DisplayName, AgentType: n.AgentType},
			code{"Node": jen.Int().Call(jen.Id(n.Const)),
				"Origin": jen.Int().Call(jen.Id(n.Origin)),
				"Shape":  jen.Op("&").Id("shape" + r.Name)}))
	}
	g.rowNumbers("requestRows", withRole(g.p, plan.RoleRequest))
	g.rowNumbers("interruptRows", withRole(g.p, plan.RoleInterrupt))
	routings := make([]plan.Record, 0, len(g.p.Routings))
	for _, r := range g.p.Routings {
		routings = append(routings, plan.Record{Name: r.Name})
	}
	g.rowNumbers("routingRows", routings)
	g.list("routeRows", "Route", routes)
	g.list("requestRows", "RequestRow", requests)
	g.list("interruptRows", "InterruptRow", interrupts)
	g.list("routingRows", "RoutingRow",
		column(g.p.Routings, func(r plan.Routing) string { return "routingRow" + r.Name }))
	in := g.p.Interrupt
	all := runtime.Tables{Handler: in.Handler, Answer: in.Answer, TurnStart: g.p.Convo.TurnStart,
		PlainText: g.p.Convo.PlainText}
	g.decl(doc("tables is everything an engine knows of this package."),
		jen.Var().Id("tables").Op("=").Add(rt("Tables")).Add(lines(w.cells(all, code{
			"Nodes": jen.Id("nodeRows"), "Routes": jen.Id("routeRows"),
			"Requests": jen.Id("requestRows"), "Interrupts": jen.Id("interruptRows"),
			"Routings": jen.Id("routingRows"), "Kinds": jen.Id("kindRows"),
		}))).Line())
}

// rowNumbers writes the constants that number the rows of a table.
func (g *goFile) rowNumbers(table string, records []plan.Record) {
	consts := []jen.Code{jen.Id("_").Op("=").Iota()}
	for _, r := range records {
		consts = append(consts, jen.Id(rowOf(r.Name)))
	}
	g.decl(doc("The rows of "+table+"."), jen.Const().Defs(consts...).Line())
}

// list writes a table: one row a line.
func (g *goFile) list(name, typ string, rows []jen.Code) {
	g.decl(jen.Var().Id(name).Op("=").Index().Add(rt(typ)).Add(lines(rows)).Line())
}

// row writes a long row as a variable of its own: its lines align among themselves, and formatting
// needs memory for one row at a time.
func (g *goFile) row(name, typ string, cells []jen.Code) {
	g.decl(jen.Var().Id(name).Op("=").Add(rt(typ)).Add(lines(cells)).Line())
}

// constant refers to a constant; nil for none.
func constant(name string) jen.Code {
	if name == "" {
		return nil
	}
	return jen.Id(name)
}

// stringList is a list of strings; nil for none.
func stringList(values []string) jen.Code {
	if len(values) == 0 {
		return nil
	}
	return jen.Index().String().Values(lits(values)...)
}

// column are constants as elements of a list.
func column[T any](rows []T, pick func(T) string) []jen.Code {
	out := make([]jen.Code, 0, len(rows))
	for _, r := range rows {
		out = append(out, jen.Id(pick(r)))
	}
	return out
}

// suffix is the node's part of its constants.
func suffix(n plan.Node) string { return n.Const[len("Node"):] }
