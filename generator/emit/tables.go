package emit

import (
	"github.com/dave/jennifer/jen"

	"github.com/routegen/routegen/generator/plan"
)

// tables writes the rows that an engine reads: it knows the package by nothing else.
func (g *goFile) tables() {
	for _, n := range g.p.Nodes {
		g.tableRow("nodeRow"+suffix(n), "Node", nodeRow(g.p, n))
	}
	g.rows("nodeRows", "Node", 60, column(g.p.Nodes, func(n plan.Node) string { return "nodeRow" + suffix(n) }))
	g.rows("routeRows", "Route", 200, routeRows(g.p))
	g.rows("requestRows", "RequestRow", 200, requestRows(g.p))
	g.rows("interruptRows", "InterruptRow", 200, interruptRows(g.p))
	for _, r := range g.p.Routings {
		g.tableRow("routingRow"+r.Name, "RoutingRow", routingRow(g.p, r))
	}
	g.rows("routingRows", "RoutingRow", 60, column(g.p.Routings, func(r plan.Routing) string { return "routingRow" + r.Name }))
	in := g.p.Interrupt
	g.decl(600, []string{"tables"},
		doc("tables is everything an engine knows of this package."),
		jen.Var().Id("tables").Op("=").Add(rt("Tables")).Add(lines([]jen.Code{
			jen.Id("Nodes").Op(":").Id("nodeRows"),
			jen.Id("Routes").Op(":").Id("routeRows"),
			jen.Id("Requests").Op(":").Id("requestRows"),
			jen.Id("Interrupts").Op(":").Id("interruptRows"),
			jen.Id("Routings").Op(":").Id("routingRows"),
			jen.Id("Kinds").Op(":").Id("kindRows"),
			jen.Id("Definitions").Op(":").Id("definitionRows"),
			jen.Id("Handler").Op(":").Add(rt("Handler")).Add(new(row).text("Name", in.Handler.Name).
				text("DisplayName", in.Handler.DisplayName).text("Guidance", in.Handler.Guidance).values()),
			jen.Id("Answer").Op(":").Lit(in.Answer),
			jen.Id("TurnStart").Op(":").Lit(g.p.Convo.TurnStart),
			jen.Id("PlainText").Op(":").Lit(g.p.Convo.PlainText),
		})).Line())
}

func (g *goFile) rows(name, typ string, weight int, rows []jen.Code) {
	g.decl(weight*len(rows), []string{name}, jen.Var().Id(name).Op("=").Index().Add(rt(typ)).Add(lines(rows)).Line())
}

// tableRow writes a long row as a variable of its own: its lines align among themselves, and formatting needs memory for
// one row at a time.
func (g *goFile) tableRow(name, typ string, cells []jen.Code) {
	g.decl(100*len(cells), []string{name}, jen.Var().Id(name).Op("=").Add(rt(typ)).Add(lines(cells)).Line())
}

func nodeRow(p *plan.Plan, n plan.Node) []jen.Code {
	r := new(row).text("Key", n.Key).text("AgentType", n.AgentType).text("DisplayName", n.DisplayName).text("Group", n.Group).
		text("Action", n.Action).texts("Aliases", n.Aliases).flag("Entry", n.Entry).
		index("Request", nameOf(n.Request)).index("Adapt", nameOf(n.Adapt)).index("Routing", nameOf(n.Routing)).
		index("Interrupt", nameOf(n.Interrupt)).index("Route", n.Route).index("Origin", n.Origin)
	if up := p.Node(n.Escalates); up != nil {
		r.index("Escalates", up.Const)
	}
	r.text("Result", n.Result)
	if d := n.Dispatch; d != nil {
		r.code("Dispatch", jen.Op("&").Add(rt("Dispatch")).Add(new(row).text("Each", d.Each).text("Results", d.Results).index("To", p.Node(d.To).Const).values()))
	}
	if c := n.Collect; c != nil {
		r.code("Collect", collect(p, n))
	}
	if n.Prompt != nil {
		r.code("Template", jen.Id("template"+suffix(n))).code("Guidance", jen.Id("guidance"+suffix(n))).code("Vars", jen.Id("vars"+suffix(n)))
	}
	r.texts("Unstick", jsonNames(p, n.Routing, n.Unstick)).text("Feedback", fieldJSON(p, n.Request, n.Feedback)).
		flag("Reuse", n.Resolve == "reuse").number("LoopWarn", n.Loop.Warn).number("LoopLimit", n.Loop.Limit).
		texts("LoopExempt", n.Loop.Exempt).texts("Approval", n.Approval).duration("Timeout", n.Timeout)
	if len(n.Tools) > 0 {
		r.code("Tools", tools(n.Tools))
	}
	return r.cells
}

// suffix is the node's part of its constants.
func suffix(n plan.Node) string { return n.Const[len("Node"):] }

func tools(list []plan.Tool) *jen.Statement {
	var rows []jen.Code
	for _, t := range list {
		rows = append(rows, new(row).text("Name", t.Name).texts("TransferTo", t.TransferTo).text("MCP", t.MCP).flag("Once", t.Once).values())
	}
	return jen.Index().Add(rt("Tool")).Add(lines(rows))
}

func collect(p *plan.Plan, n plan.Node) *jen.Statement {
	var arms, carry []jen.Code
	for _, a := range n.Collect.Arms {
		arms = append(arms, new(row).text("Decision", a.Decision).text("To", jsonNames(p, n.Routing, []string{a.To})[0]).values())
	}
	for _, c := range n.Collect.Carry {
		carry = append(carry, new(row).text("Field", c.Field).text("From", fieldJSON(p, n.Collect.Result, c.From)).values())
	}
	return jen.Op("&").Add(rt("Collect")).Add(lines([]jen.Code{
		jen.Id("Result").Op(":").Lit(n.Collect.Result),
		jen.Id("Field").Op(":").Lit(n.Collect.Field),
		jen.Id("Default").Op(":").Lit(n.Collect.Default),
		jen.Id("Arms").Op(":").Index().Add(rt("Arm")).Add(lines(arms)),
		jen.Id("Carry").Op(":").Index().Add(rt("Carry")).Add(lines(carry)),
	}))
}

// jsonNames turns branch keys into JSON names; a word that is no branch ("end") stays.
func jsonNames(p *plan.Plan, routing string, keys []string) []string {
	var out []string
	for _, key := range keys {
		for _, r := range p.Routings {
			if r.Name != routing {
				continue
			}
			for _, b := range r.Branches {
				if b.Key == key {
					key = b.JSON
				}
			}
		}
		out = append(out, key)
	}
	return out
}

// fieldJSON is the JSON name of a record's field.
func fieldJSON(p *plan.Plan, record, key string) string {
	if r := p.Record(record); r != nil {
		for _, f := range r.Fields {
			if f.Key == key {
				return f.JSON
			}
		}
	}
	return key
}

func routeRows(p *plan.Plan) []jen.Code {
	var out []jen.Code
	for _, r := range p.Routes {
		n := p.Node(r.Node)
		out = append(out, new(row).text("Field", r.Field).text("Tag", r.Tag).text("AgentType", n.AgentType).text("DisplayName", n.DisplayName).
			index("Node", n.Const).index("Request", nameOf(r.Request)).values())
	}
	return out
}

func requestRows(p *plan.Plan) []jen.Code {
	var out []jen.Code
	for _, r := range withRole(p, plan.RoleRequest) {
		n := p.Node(r.Node)
		out = append(out, new(row).text("Name", r.Name).text("DisplayName", r.DisplayName).index("Node", n.Const).code("Def", jen.Id("def"+r.Name)).
			index("Interrupt", nameOf(n.Interrupt)).index("Routing", nameOf(n.Routing)).values())
	}
	return out
}

func interruptRows(p *plan.Plan) []jen.Code {
	var out []jen.Code
	for _, r := range withRole(p, plan.RoleInterrupt) {
		n := p.Node(r.Node)
		out = append(out, new(row).text("Name", r.Name).text("DisplayName", r.DisplayName).text("AgentType", n.AgentType).
			index("Node", n.Const).index("Origin", n.Origin).code("Def", jen.Id("def"+r.Name)).values())
	}
	return out
}

// branchKinds are the runtime's names of what a branch does.
var branchKinds = map[plan.BranchKind]string{
	plan.ToNode: "ToNode", plan.ToResume: "ToResume", plan.ToInterrupt: "ToInterrupt", plan.ToEnd: "ToEnd", plan.ToCollect: "ToCollect",
}

func routingRow(p *plan.Plan, r plan.Routing) []jen.Code {
	var branches []jen.Code
	for _, b := range r.Branches {
		rw := new(row).text("Name", b.JSON).text("Type", b.Type).code("Kind", rt(branchKinds[b.Kind]))
		if n := p.Node(b.To); n != nil {
			rw.index("Node", n.Const)
		}
		branches = append(branches, rw.code("Def", jen.Id("def"+b.Type)).values())
	}
	rw := new(row).text("Name", r.Name)
	if n := p.Node(r.Node); n != nil {
		rw.index("Node", n.Const)
	}
	return rw.code("Branches", jen.Index().Add(rt("BranchRow")).Add(lines(branches))).cells
}
