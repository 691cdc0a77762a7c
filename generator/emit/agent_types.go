package emit

import (
	"github.com/dave/jennifer/jen"

	"github.com/routegen/routegen/generator/plan"
)

// emitAgentTypes writes the names of nodes: node names, agent types, actions; then the enums and named scalars.
func emitAgentTypes(g *goFile) {
	g.comments = append(wrap("Package "+g.p.Package+" is what routegen made of "+g.p.Source+": the requests, interrupts and "+
		"routings of a multi-agent program, the routes that may be taken after an interrupt, and the tables that an engine "+
		"needs to run them."), "",
		"Values of this package are plain data; tables are never written to, so everything here may be used by many",
		"goroutines at once. Edit "+g.p.Source+" and generate again to change it.")
	g.handshake()
	g.nodeNames()
	g.agentTypes()
	g.actions()
	g.valueTypes()
}

// emitTypes writes what a package without nodes needs of it: the package comment, the enums, the named scalars and the records.
func emitTypes(g *goFile) {
	g.comments = append(wrap("Package "+g.p.Package+" is what routegen made of "+g.p.Source+": the flows of a dialogue as tables, "+
		"the actions that a program does for them, and the commands that a message can ask for."), "",
		"Values of this package are plain data; tables are never written to, so everything here may be used by many",
		"goroutines at once. Edit "+g.p.Source+" and generate again to change it.")
	g.handshake()
	g.valueTypes()
	for _, r := range g.p.Records {
		g.record(r, r.Name+" is part of other messages.")
	}
}

// valueTypes writes the enums and the named scalars.
func (g *goFile) valueTypes() {
	for _, e := range g.p.Enums {
		g.enum(e)
	}
	for _, s := range g.p.Scalars {
		g.scalar(s)
	}
}

// handshake stops the build where the runtime is older than the generated code.
func (g *goFile) handshake() {
	g.decl(200, nil,
		doc("This line does not compile with a runtime that is too old for this package. Raise the version of "+
			"github.com/routegen/routegen in go.mod, or generate with the version that stands there."),
		jen.Const().Id("_").Op("=").Add(rt("IsAtLeast_1")).Line(),
	)
}

// named describes one generated enum that is a row number with a text: a name, not a value of the wire.
type named struct {
	typ   string // Go type
	what  string // as a message says it: "agent type"
	names string // variable that holds the texts
	end   string // constant one past the last value, if wanted
	doc   string
	rows  []namedRow
}

type namedRow struct {
	constant, text, doc string
	aliases             []string
}

// names writes the type, its constants in the order of the spec, its texts and its text methods. The zero value names
// nothing, so a value that was never set is not the first one by accident.
func (g *goFile) names(n named) {
	g.decl(200, []string{n.typ},
		doc(n.doc, "The zero value names none."),
		jen.Type().Id(n.typ).Uint32().Line(),
	)
	consts := []jen.Code{jen.Id("_").Id(n.typ).Op("=").Iota()}
	declared := []string{}
	texts := []jen.Code{}
	for _, r := range n.rows {
		consts = append(consts, jen.Line().Add(doc(r.doc)).Id(r.constant))
		declared = append(declared, r.constant)
		texts = append(texts, new(row).text("Text", r.text).texts("Aliases", r.aliases).values())
	}
	if n.end != "" {
		consts = append(consts, jen.Line().Add(doc(n.end+" is one past the last.")).Id(n.end).Op("=").Iota())
		declared = append(declared, n.end)
	}
	g.decl(160*len(n.rows), declared, doc("The values of "+n.typ+", in the order of "+g.p.Source+"."), jen.Const().Defs(consts...).Line())
	g.decl(60*len(n.rows), []string{n.names}, jen.Var().Id(n.names).Op("=").Index().Add(rt("Name")).Add(lines(texts)).Line())

	g.decl(200, []string{n.typ + ".String"},
		doc("String returns the text of v, or \"\" for the zero value."),
		jen.Func().Params(jen.Id("v").Id(n.typ)).Id("String").Params().String().Block(
			jen.Return(rt("At").Call(jen.Id(n.names), jen.Id("v")).Dot("Text")),
		).Line(),
	)
	g.decl(200, []string{n.typ + ".MarshalText"},
		doc("MarshalText returns the text of v. A value that names nothing is refused with code invalid."),
		jen.Func().Params(jen.Id("v").Id(n.typ)).Id("MarshalText").Params().Params(jen.Index().Byte(), jen.Error()).Block(
			jen.Return(rt("EnumText").Call(jen.Id(n.names), jen.Lit(n.what), jen.Id("v"))),
		).Line(),
	)
	g.decl(300, []string{n.typ + ".UnmarshalText"},
		doc("UnmarshalText takes a text or one of its aliases. Any other is refused with code invalid, the nearest text named."),
		jen.Func().Params(jen.Id("v").Op("*").Id(n.typ)).Id("UnmarshalText").Params(jen.Id("text").Index().Byte()).Params(jen.Id("err").Error()).Block(
			jen.List(jen.Op("*").Id("v"), jen.Id("err")).Op("=").Add(rt("ParseEnum")).Types(jen.Id(n.typ)).Call(jen.Id(n.names), jen.Lit(n.what), jen.Id("text")),
			jen.Return(jen.Err()),
		).Line(),
	)
}

// lookup writes a method that reads one column of a table: total over the type, the zero value for the zero value.
func (g *goFile) lookup(typ, method, about, result, table string, rows []jen.Code) {
	g.decl(40*len(rows), []string{table}, jen.Var().Id(table).Op("=").Index().Id(result).Add(lines(rows)).Line())
	g.method(typ, method, about, result, rt("At").Call(jen.Id(table), jen.Id("v")))
}

// method writes a method of one expression.
func (g *goFile) method(typ, method, about, result string, value jen.Code) {
	g.decl(200, []string{typ + "." + method},
		doc(method+" "+about),
		jen.Func().Params(jen.Id("v").Id(typ)).Id(method).Params().Id(result).Block(jen.Return(value)).Line(),
	)
}

// ids turns constants into rows; "" becomes 0, which names none.
func ids(constants []string) []jen.Code {
	var out []jen.Code
	for _, c := range constants {
		if c == "" {
			out = append(out, jen.Lit(0))
		} else {
			out = append(out, jen.Id(c))
		}
	}
	return out
}

func column[T any](rows []T, pick func(T) string) []jen.Code {
	var out []string
	for _, r := range rows {
		out = append(out, pick(r))
	}
	return ids(out)
}

func (g *goFile) nodeNames() {
	n := named{typ: "NodeName", what: "node", names: "nodeNames", doc: "NodeName names one place of work of the workflow, as " + g.p.Source + " does."}
	for _, node := range g.p.Nodes {
		n.rows = append(n.rows, namedRow{constant: node.Const, text: node.Key, doc: node.Const + " is the node " + node.Key + ": " + node.Doc})
	}
	g.names(n)
	g.lookup("NodeName", "AgentType", "returns the wire name of the node.", "AgentType", "nodeAgentTypes",
		column(g.p.Nodes, func(n plan.Node) string { return n.AgentConst }))
	g.lookup("NodeName", "Route", "returns the route back to the node, or 0 where it has none.", "Route", "nodeRoutes",
		column(g.p.Nodes, func(n plan.Node) string { return n.Route }))
}

func (g *goFile) agentTypes() {
	n := named{typ: "AgentType", what: "agent type", names: "agentTypeNames", doc: "AgentType is the wire name of a node."}
	for _, node := range g.p.Nodes {
		n.rows = append(n.rows, namedRow{constant: node.AgentConst, text: node.AgentType, aliases: node.Aliases, doc: node.AgentConst + " is " + node.DisplayName + "."})
	}
	g.names(n)
	g.lookup("AgentType", "Node", "returns the node of that wire name.", "NodeName", "agentTypeNodes",
		column(g.p.Nodes, func(n plan.Node) string { return n.Const }))
	g.method("AgentType", "Route", "returns the route back to the node of that wire name, or 0 where it has none.", "Route",
		rt("At").Call(jen.Id("nodeRoutes"), jen.Id("v")))
	g.decl(300, []string{"ParseAgentType"},
		doc("ParseAgentType takes a wire name or one of its aliases. Any other is refused with code invalid, the nearest name named."),
		jen.Func().Id("ParseAgentType").Params(jen.Id("text").String()).Params(jen.Id("AgentType"), jen.Error()).Block(
			jen.Return(rt("ParseEnum").Types(jen.Id("AgentType")).Call(jen.Id("agentTypeNames"), jen.Lit("agent type"), jen.Index().Byte().Parens(jen.Id("text")))),
		).Line(),
	)
}

func (g *goFile) actions() {
	g.decl(200, []string{"Action"},
		doc("Action is the name under which the work of a node stands in histories and prompts."),
		jen.Type().Id("Action").String().Line())
	var consts []jen.Code
	var declared []string
	for _, n := range g.p.Nodes {
		if n.Action == "" {
			continue
		}
		if len(consts) > 0 {
			consts = append(consts, jen.Line())
		}
		consts = append(consts, doc(n.ActionConst+" is the work of "+n.DisplayName+".").Add(jen.Id(n.ActionConst).Id("Action").Op("=").Lit(n.Action)))
		declared = append(declared, n.ActionConst)
	}
	if len(consts) > 0 {
		g.decl(120*len(consts), declared, doc("The actions of the nodes that name one."), jen.Const().Defs(consts...).Line())
	}
}

// enum writes a closed set of strings of the spec.
func (g *goFile) enum(e plan.Enum) {
	g.decl(200, []string{e.Name}, doc(e.Name+" is a closed set of texts.", e.Doc), jen.Type().Id(e.Name).String().Line())
	var consts, rows []jen.Code
	var declared []string
	for i, v := range e.Values {
		if i > 0 {
			consts = append(consts, jen.Line())
		}
		about := v.Const + ": " + v.Doc
		if v.Hidden {
			about += " Never offered to a model."
		}
		consts = append(consts, doc(about, deprecated(v.Deprecated)).Add(jen.Id(v.Const).Id(e.Name).Op("=").Lit(v.Wire)))
		rows = append(rows, new(row).text("Value", v.Wire).flag("Hidden", v.Hidden).values())
		declared = append(declared, v.Const)
	}
	g.decl(160*len(consts), declared, doc("The values of "+e.Name+"."), jen.Const().Defs(consts...).Line())
	values := "values" + e.Name
	g.decl(60*len(rows), []string{values}, jen.Var().Id(values).Op("=").Index().Add(rt("EnumValue")).Add(lines(rows)).Line())
	g.decl(200, []string{"decode" + e.Name}, decodeFunc(e.Name, rt("DecodeEnum").Call(jen.Id("d"), jen.Id("v"), jen.Id(values))))
}

func decodeFunc(name string, body jen.Code) *jen.Statement {
	return jen.Func().Id("decode"+name).Params(jen.Id("d").Op("*").Add(rt("Decoder")), jen.Id("v").Op("*").Id(name)).Block(body).Line()
}

func deprecated(text string) string {
	if text == "" {
		return ""
	}
	return "Deprecated: " + text
}

func (g *goFile) scalar(s plan.Scalar) {
	g.decl(200, []string{s.Name}, doc(s.Name+" is a "+string(s.Type.Kind)+" with a meaning.", s.Doc), jen.Type().Id(s.Name).Add(goType(s.Type)).Line())
	d := decoders[s.Type.Kind]
	base := jen.Id("v")
	inner := rt(d.name)
	if d.generic {
		inner = inner.Types(jen.Id(s.Name))
	} else {
		base = jen.Parens(jen.Op("*").Add(goType(s.Type))).Parens(jen.Id("v"))
	}
	if s.Constraints.IsZero() {
		g.decl(200, []string{"decode" + s.Name}, decodeFunc(s.Name, rt(d.name).Call(jen.Id("d"), base)))
		return
	}
	ruleName := "rule" + s.Name
	g.decl(200, []string{ruleName}, jen.Var().Id(ruleName).Op("=").Add(rule(s.Constraints)).Line())
	g.decl(200, []string{"decode" + s.Name}, decodeFunc(s.Name, rt("DecodeRuled").Call(jen.Id("d"), base, jen.Op("&").Id(ruleName), inner)))
}
