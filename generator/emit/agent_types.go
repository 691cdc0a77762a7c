package emit

import (
	"reflect"

	"github.com/dave/jennifer/jen"

	"github.com/routegen/routegen/generator/plan"
	"github.com/routegen/routegen/runtime"
)

// emitAgentTypes writes the names of nodes: node names, agent types, actions; then the enums and
// named scalars.
func emitAgentTypes(g *goFile) {
	g.packageComment("the requests, interrupts and routings of a multi-agent program, the routes " +
		"that may be taken after an interrupt, and the tables that an engine needs to run them.")
	g.handshake()
	g.nodeNames()
	g.agentTypes()
	g.valueTypes()
}

func (g *goFile) packageComment(what string) {
	g.comments = append(wrap("Package "+g.p.Package+" is what routegen made of "+g.p.Source+": "+
		what), "",
		"Values of this package are plain data; tables are never written to, so everything here "+
			"may be used by many",
		"goroutines at once. Edit "+g.p.Source+" and generate again to change it.")
}

// emitTypes writes what a package without nodes needs of it: the package comment, the enums, the
// named scalars and the records.
func emitTypes(g *goFile) {
	g.packageComment("the flows of a dialogue as tables, the actions that a program does for " +
		"them, and the commands that a message can ask for.")
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
	g.decl(doc("This line does not compile with a runtime that is too old for this package. Raise "+
		"the version of "+
		"github.com/routegen/routegen in go.mod, or generate with the version that stands there."),
		jen.Const().Id("_").Op("=").Add(rt("IsAtLeast_1")).Line(),
	)
}

// named describes a generated type whose values are row numbers with a text.
type named struct {
	typ    string // Go type
	what   string // as a message says it: "agent type"
	rows   string // table of its values
	text   string // field of a row that holds the text
	parse  string // method of runtime.Tables that finds a value by its text
	doc    string
	consts []jen.Code
}

// names writes the type, its constants in the order of the spec, and its text methods. The zero
// value names nothing, so a value that was never set is not the first one by accident.
func (g *goFile) names(n named) {
	g.decl(doc(n.doc, "The zero value names none."),
		jen.Type().Id(n.typ).Uint32().Line(),
	)
	g.decl(doc("The values of "+n.typ+", in the order of "+g.p.Source+"."), jen.Const().
		Defs(append([]jen.Code{jen.Id("_").Id(n.typ).Op("=").Iota()}, n.consts...)...).Line())
	g.column(n.typ, "String", "returns the text of v, or \"\" for the zero value.", jen.String(),
		n.rows, n.text)
	g.decl(
		doc("MarshalText returns the text of v. A value that names nothing is refused with code "+
			"invalid."),
		jen.Func().Params(jen.Id("v").Id(n.typ)).Id("MarshalText").Params().
			Params(jen.Index().Byte(), jen.Error()).Block(
			jen.Return(rt("NameText").Call(jen.Lit(n.what), jen.Id("v"))),
		).Line(),
	)
	g.decl(doc("UnmarshalText takes a text or one of its aliases. Any other is refused with code "+
		"invalid, the nearest text named."),
		jen.Func().Params(jen.Id("v").Op("*").Id(n.typ)).Id("UnmarshalText").
			Params(jen.Id("text").Index().Byte()).Error().Block(
			jen.Return(rt("SetName").Call(jen.Id("v"), jen.Id("text"), jen.Id("tables").
				Dot(n.parse))),
		).Line(),
	)
}

// column writes a method that reads a field of a row: the zero value where there is no row.
func (g *goFile) column(typ, method, about string, result *jen.Statement, rows, field string) {
	value := rt("Row").Call(jen.Id(rows), jen.Id("v")).Dot(field)
	if rowNumbered[field] && rows != "kindRows" {
		value = result.Clone().Call(value)
	}
	g.method(typ, method, about, result, value)
}

// rowNumbered are the fields of rows that hold the number of another row.
var rowNumbered = map[string]bool{"Node": true, "Route": true, "Origin": true}

// method writes a method of one expression.
func (g *goFile) method(typ, method, about string, result, value jen.Code) {
	g.decl(doc(method+" "+about),
		jen.Func().Params(jen.Id("v").Id(typ)).Id(method).Params().Add(result).
			Block(jen.Return(value)).Line(),
	)
}

// parser writes a function that finds a value by its text.
func (g *goFile) parser(about, name, param, typ, parse string) {
	g.decl(doc(about),
		jen.Func().Id(name).Params(jen.Id(param).String()).Params(jen.Id(typ), jen.Error()).Block(
			jen.List(jen.Id("n"), jen.Err()).Op(":=").Id("tables").Dot(parse).Call(jen.Id(param)),
			jen.Return(jen.Id(typ).Call(jen.Id("n")), jen.Err()),
		).Line())
}

const forPeople = "returns the words a person reads."

func (g *goFile) nodeNames() {
	n := named{typ: "NodeName", what: "node", rows: "nodeRows", text: "Key", parse: "ParseNode",
		doc: "NodeName names one place of work of the workflow, as " + g.p.Source + " does."}
	for _, node := range g.p.Nodes {
		n.consts = append(n.consts, doc(node.Doc, deprecated(node.Deprecated)).Id(node.Const))
	}
	g.names(n)
	const list = " Callers must not write to it."
	g.method("NodeName", "AgentType", "returns the wire name of the node.", jen.Id("AgentType"),
		jen.Id("AgentType").Call(jen.Id("v")))
	g.column("NodeName", "Route", "returns the route back to the node, or 0 where it has none.",
		jen.Id("Route"), "nodeRows", "Route")
	g.column("NodeName", "DisplayName", forPeople, jen.String(), "nodeRows", "DisplayName")
	g.column("NodeName", "Template", "returns the name of the node's prompt template, or \"\".",
		jen.String(), "nodeRows", "Template")
	g.column("NodeName", "Guidance",
		"returns what the node's model is told about choosing, or \"\".", jen.String(), "nodeRows",
		"Guidance")
	g.column("NodeName", "Vars",
		"returns the request fields that the node's template may name."+list,
		jen.Index().String(), "nodeRows", "Vars")
	g.column("NodeName", "Unstick",
		"returns the branches to take instead of interrupting again."+list,
		jen.Index().String(), "nodeRows", "Unstick")
}

func (g *goFile) agentTypes() {
	n := named{typ: "AgentType", what: "agent type", rows: "nodeRows", text: "AgentType",
		parse: "ParseAgentType", doc: "AgentType is the wire name of a node."}
	for _, node := range g.p.Nodes {
		n.consts = append(n.consts, jen.Id(node.AgentConst))
	}
	g.names(n)
	g.method("AgentType", "Node", "returns the node of that wire name.", jen.Id("NodeName"),
		jen.Id("NodeName").Call(jen.Id("v")))
	g.column("AgentType", "Route",
		"returns the route back to the node of that wire name, or 0 where it has none.",
		jen.Id("Route"), "nodeRows", "Route")
	g.column("AgentType", "DisplayName", forPeople, jen.String(), "nodeRows", "DisplayName")
	g.parser("ParseAgentType takes a wire name or one of its aliases. Any other is refused with "+
		"code invalid, the nearest name named.", "ParseAgentType", "text", "AgentType",
		"ParseAgentType")
}

// enum writes a closed set of strings of the spec.
func (g *goFile) enum(e plan.Enum) {
	g.decl(doc(e.Name+" is a closed set of texts.", e.Doc), jen.Type().
		Id(e.Name).String().Line())
	var consts, legal []jen.Code
	for _, v := range e.Values {
		hidden := ""
		if v.Hidden {
			hidden = "Never offered to a model."
		}
		consts = append(consts, doc(v.Doc, hidden, deprecated(v.Deprecated)).
			Add(jen.Id(v.Const).Id(e.Name).Op("=").Lit(v.Wire)))
		legal = append(legal, rowWriter{p: g.p}.line(
			runtime.Field{Name: v.Wire, Hidden: v.Hidden, Was: v.Was}, nil))
	}
	g.decl(doc("The values of "+e.Name+"."), jen.Const().Defs(consts...).
		Line())
	g.valueShape(runtime.ShapeEnum, e.Name, e.Was, legal)
}

// valueShape writes the shape of an enum or a named scalar, and the method that gives it.
func (g *goFile) valueShape(kind, name string, was []string, fields []jen.Code) {
	g.shape(kind, name, was, fields)
	g.decl(doc("Shape returns what the values of "+name+" are. Callers must not write to it."),
		jen.Func().Params(jen.Id(name)).Id("Shape").Params().Op("*").Add(rt("Shape")).
			Add(inlineBody(jen.Return(jen.Op("&").Id("shape"+name)))).Line())
}

func deprecated(text string) string {
	if text == "" {
		return ""
	}
	return "Deprecated: " + text
}

func (g *goFile) scalar(s plan.Scalar) {
	g.decl(doc(s.Name+" is a "+string(s.Type.Kind)+" with a meaning.",
		s.Doc), jen.Type().Id(s.Name).Add(goType(s.Type)).Line())
	var given code
	if r := plan.RuleOf(s.Constraints); r != nil {
		g.decl(jen.Var().Id("rule" + s.Name).Op("=").Add(rowWriter{}.value(reflect.ValueOf(*r))).
			Line())
		given = code{"Rule": jen.Op("&").Id("rule" + s.Name)}
	}
	g.valueShape(runtime.ShapeScalar, s.Name, s.Was, []jen.Code{rowWriter{p: g.p}.line(
		runtime.Field{Type: s.Type.String(), Required: true, AcceptsOld: s.AcceptsOld}, given)})
}
