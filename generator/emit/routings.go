package emit

import (
	"slices"

	"github.com/dave/jennifer/jen"

	"github.com/routegen/routegen/generator/plan"
)

// emitRoutings writes the unions: a struct of nullable branches each, exactly one set.
func emitRoutings(g *goFile) {
	n := named{typ: "RoutingName", what: "routing", names: "routingNames", doc: "RoutingName names a routing: what a node, or the interrupt handler, answers with."}
	for _, r := range g.p.Routings {
		n.rows = append(n.rows, namedRow{constant: nameOf(r.Name), text: r.Name, doc: nameOf(r.Name) + " names " + r.Name + "."})
	}
	g.names(n)
	for i, r := range g.p.Routings {
		g.routing(r, i == 0)
	}
}

func (g *goFile) routing(r plan.Routing, interrupt bool) {
	var fields, rows, cases []jen.Code
	for i, b := range r.Branches {
		if i > 0 {
			fields = append(fields, jen.Line())
		}
		fields = append(fields, doc(g.branchDoc(b)).Add(jen.Id(b.Go).Op("*").Id(b.Type).Tag(map[string]string{"json": b.JSON + ",omitempty"})))
		rows = append(rows, new(row).text("Name", b.JSON).values())
		cases = append(cases, jen.Case(jen.Lit(b.JSON)).Block(decodeField(b.Go, plan.Type{Kind: plan.RecordOf, Name: b.Type}, true)))
	}
	g.decl(150*len(r.Branches), []string{r.Name},
		doc(r.Name+" holds exactly one branch.", r.Doc), jen.Type().Id(r.Name).Struct(fields...).Line())
	g.codec(r.Name, true, rows, cases)
	g.decl(120, []string{r.Name + ".RoutingName"},
		doc("RoutingName returns "+nameOf(r.Name)+"."),
		jen.Func().Params(jen.Op("*").Id(r.Name)).Id("RoutingName").Params().Id("RoutingName").Block(jen.Return(jen.Id(nameOf(r.Name)))).Line())
	if interrupt {
		g.selectRoute(r)
		return
	}
	g.selectBranch(r)
	g.decl(200, []string{r.Name + ".DecodeReply"},
		doc("DecodeReply decodes what a model answered, strictly: hidden fields and values are refused, the form in a \"route\" "+
			"wrapper is accepted. See runtime.DecodeReply for the errors."),
		jen.Func().Params(jen.Id("v").Op("*").Id(r.Name)).Id("DecodeReply").Params(jen.Id("data").Index().Byte()).Error().Block(
			jen.Return(rt("DecodeReply").Call(jen.Id("data"), jen.Id("v"), jen.Nil())),
		).Line())
}

// branchDoc says where a branch leads, then what the spec says of it.
func (g *goFile) branchDoc(b plan.Branch) string {
	lead := map[plan.BranchKind]string{
		plan.ToInterrupt: "Asks for a decision.",
		plan.ToEnd:       "Ends the frame with this result.",
		plan.ToCollect:   "Ends the collecting: the decision in the result says where to go.",
	}[b.Kind]
	if node := g.p.Node(b.To); node != nil {
		lead = "Goes to " + node.DisplayName + "."
		if b.Kind == plan.ToResume {
			lead = "Resumes " + node.DisplayName + "."
		}
	}
	if b.Doc == "" {
		return lead
	}
	return lead + " " + b.Doc
}

// set writes the list of which branches are set, in order: what a refusal names.
func (g *goFile) set(r plan.Routing) {
	var rows []jen.Code
	for _, b := range r.Branches {
		rows = append(rows, jen.Id("v").Dot(b.Go).Op("!=").Nil())
	}
	g.decl(60*len(rows), []string{r.Name + ".set"},
		methodOf(r).Id("set").Params().Index().Bool().Block(jen.Return(jen.Index().Bool().Add(lines(rows)))).Line())
}

// ends writes two flat switches that find the first and the last branch that is set: exactly one is, when they agree.
func (g *goFile) ends(r plan.Routing, result string, value func(i int) *jen.Statement, none *jen.Statement) {
	var first []jen.Code
	for i, b := range r.Branches {
		first = append(first, jen.Case(jen.Id("v").Dot(b.Go).Op("!=").Nil()).Block(jen.Return(value(i))))
	}
	last := slices.Clone(first)
	slices.Reverse(last)
	for _, end := range []struct {
		name  string
		cases []jen.Code
	}{{"first", first}, {"last", last}} {
		g.decl(100*len(end.cases), []string{r.Name + "." + end.name},
			methodOf(r).Id(end.name).Params().Id(result).Block(jen.Switch().Block(end.cases...), jen.Return(none)).Line())
	}
}

func methodOf(r plan.Routing) *jen.Statement {
	return jen.Func().Params(jen.Id("v").Op("*").Id(r.Name))
}

// selected writes the method Selected: its switch returns the branch, and what falls through is refused.
func (g *goFile) selected(r plan.Routing, body ...jen.Code) {
	body = append(body, jen.Return(rt("Branch").Values(), rt("NotOne").Call(jen.Op("&").Id("shape"+r.Name), jen.Id("v").Dot("set").Call())))
	g.decl(160*len(r.Branches), []string{r.Name + ".Selected"},
		doc("Selected returns the one branch that is set. None is refused with code no_route, several with many_routes; both name "+
			"the branches, as a *runtime.SelectionError."),
		methodOf(r).Id("Selected").Params().Params(rt("Branch"), jen.Error()).Block(body...).Line())
}

func branch(name, value jen.Code) *jen.Statement {
	return jen.Return(rt("Branch").Values(jen.Id("Name").Op(":").Add(name), jen.Id("Value").Op(":").Add(value)), jen.Nil())
}

func (g *goFile) selectBranch(r plan.Routing) {
	var cases []jen.Code
	for _, b := range r.Branches {
		cases = append(cases, jen.Case(jen.Lit(b.JSON)).Block(branch(jen.Id("name"), jen.Id("v").Dot(b.Go))))
	}
	g.set(r)
	g.ends(r, "string", func(i int) *jen.Statement { return jen.Lit(r.Branches[i].JSON) }, jen.Lit(""))
	g.selected(r,
		jen.Id("name").Op(":=").Add(rt("Same")).Call(jen.Id("v").Dot("first").Call(), jen.Id("v").Dot("last").Call()),
		jen.Switch(jen.Id("name")).Block(cases...))
}

// selectRoute writes what only the interrupt routing has: its branches are routes, so the one that is set has a number,
// and a model's reply is held against a set of them.
func (g *goFile) selectRoute(r plan.Routing) {
	var cases []jen.Code
	for i, b := range r.Branches {
		cases = append(cases, jen.Case(jen.Id(g.p.Routes[i].Const)).Block(branch(jen.Lit(b.JSON), jen.Id("v").Dot(b.Go))))
	}
	g.set(r)
	g.ends(r, "Route", func(i int) *jen.Statement { return jen.Id(g.p.Routes[i].Const) }, jen.Lit(0))
	g.selected(r, jen.Switch(jen.Id("v").Dot("Route").Call()).Block(cases...))
	g.decl(160, []string{r.Name + ".Route"}, doc("Route returns the one route that is set, or 0 when none or several are."),
		methodOf(r).Id("Route").Params().Id("Route").Block(
			jen.Return(rt("Same").Call(jen.Id("v").Dot("first").Call(), jen.Id("v").Dot("last").Call())),
		).Line())
	g.decl(300, []string{r.Name + ".DecodeReply"},
		doc("DecodeReply decodes what a model answered, strictly: a route outside the allowed set is refused with code no_route, "+
			"hidden fields and values with code invalid; the form in a \"route\" wrapper is accepted. See runtime.DecodeReply."),
		methodOf(r).Id("DecodeReply").Params(jen.Id("data").Index().Byte(), jen.Id("allowed").Id("InterruptRouteSet")).Error().Block(
			jen.Return(rt("DecodeReply").Call(jen.Id("data"), jen.Id("v"), jen.Id("allowed").Dot("hasField"))),
		).Line())
}
