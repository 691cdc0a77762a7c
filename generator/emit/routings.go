package emit

import (
	"github.com/dave/jennifer/jen"

	"github.com/routegen/routegen/generator/plan"
	"github.com/routegen/routegen/runtime"
)

// emitRoutings writes the unions: a struct of nullable branches each, exactly one set.
func emitRoutings(g *goFile) {
	for i, r := range g.p.Routings {
		g.routing(r, i == 0)
	}
}

func (g *goFile) routing(r plan.Routing, interrupt bool) {
	var fields []jen.Code
	for _, b := range r.Branches {
		fields = append(fields, doc(g.branchDoc(b)).Add(jen.Id(b.Go).Op("*").Id(b.Type).
			Tag(map[string]string{"json": b.Name + ",omitempty"})))
	}
	g.decl(doc(r.Name+" holds exactly one branch.", r.Doc), jen.Type().Id(r.Name).Struct(fields...).
		Line())
	g.decl(jen.Var().Id("routingRow" + r.Name).Op("=").Add(rt("RoutingRow")).Add(
		rowWriter{p: g.p}.line(r, code{"Of": nilOf(r.Name),
			"Was": stringList(g.formerly[r.Name])})).Line())
	g.decl(jen.Var().Id("shape" + r.Name).Op("=").Add(rt("UnionShape")).
		Call(jen.Op("&").Id("routingRow" + r.Name)).Line())
	shape := jen.Id("shape" + r.Name).Call()
	if interrupt {
		g.methods(r.Name, shape)
		g.selectRoute(r)
		return
	}
	g.methods(r.Name, shape, methodOf(r).Id("Selected").Params().Params(rt("Branch"), jen.Error()).
		Block(append(append([]jen.Code{selection()}, additions(r)...),
			jen.Return(jen.Id("s").Dot("Branch").
				Call(jen.Id("v"))))...).Line())
	g.decl(doc("DecodeReply decodes what a model answered: see runtime.DecodeReply."),
		methodOf(r).Id("DecodeReply").Params(jen.Id("data").Index().Byte()).Error().
			Add(inlineBody(jen.Return(rt("DecodeReply").Call(jen.Id("data"), jen.Id("v"),
				jen.Nil())))).Line())
}

// branchDoc says where a branch leads, then what the spec says of it. The doc of a node stands at
// its constant.
func (g *goFile) branchDoc(b plan.Branch) string {
	lead := map[runtime.BranchKind]string{
		runtime.ToInterrupt: "Asks for a decision.",
		runtime.ToEnd:       "Ends the frame with this result.",
		runtime.ToCollect:   "Ends the collecting: the decision in the result says where to go.",
	}[b.Kind]
	node := g.p.Node(b.Node)
	if node != nil {
		lead = "Goes to " + node.DisplayName + "."
		if b.Kind == runtime.ToResume {
			lead = "Resumes " + node.DisplayName + "."
		}
	}
	if b.Doc == "" || node != nil && b.Doc == node.Doc {
		return lead
	}
	return lead + " " + b.Doc
}

// additions are the statements that look at the branches, one line each.
func additions(r plan.Routing) []jen.Code {
	var out []jen.Code
	for _, b := range r.Branches {
		out = append(out, jen.Id("s").Dot("Or").Call(jen.Lit(b.Name),
			jen.Id("v").Dot(b.Go).Op("!=").Nil(), jen.Id("v").Dot(b.Go)))
	}
	return out
}

// selection declares what the branches are counted in.
func selection() jen.Code { return jen.Var().Id("s").Add(rt("Selection")) }

// branchesOf are the rows of the branches.
func branchesOf(r plan.Routing) *jen.Statement {
	return jen.Id("routingRow" + r.Name).Dot("Branches")
}

func methodOf(r plan.Routing) *jen.Statement {
	return jen.Func().Params(jen.Id("v").Op("*").Id(r.Name))
}

// selectRoute writes what only the interrupt routing has: its branches are routes, so the one that
// is set has a number, and a model's reply is held against a set of them.
func (g *goFile) selectRoute(r plan.Routing) {
	g.decl(methodOf(r).Id("see").Params(jen.Id("s").Op("*").Add(rt("Selection"))).
		Block(additions(r)...).Line())
	seen := []jen.Code{selection(), jen.Id("v").Dot("see").Call(jen.Op("&").Id("s"))}
	g.decl(doc("Selected returns the one branch that is set. None is refused with code no_route, "+
		"several with many_routes; both name the branches, as a *runtime.SelectionError."),
		methodOf(r).Id("Selected").Params().Params(rt("Branch"), jen.Error()).Block(
			append(seen, jen.Return(jen.Id("s").Dot("Branch").Call(jen.Id("v"))))...,
		).Line())
	g.decl(doc("Route returns the one route that is set, or 0 when none or several are."),
		methodOf(r).Id("Route").Params().Id("Route").Block(append(seen,
			jen.Return(jen.Id("Route").Call(jen.Id("s").Dot("Number").Call(branchesOf(r)))))...,
		).Line())
	g.decl(doc("DecodeReply decodes what a model answered, strictly: a route outside the allowed "+
		"set is refused with code no_route, "+
		"hidden fields and values with code invalid; the form in a \"route\" wrapper is "+
		"accepted. See runtime.DecodeReply."),
		methodOf(r).Id("DecodeReply").Params(jen.Id("data").Index().Byte(), jen.Id("allowed").
			Id("InterruptRouteSet")).Error().Block(
			jen.Return(rt("DecodeReply").Call(jen.Id("data"), jen.Id("v"), jen.Id("allowed").
				Dot("hasField"))),
		).Line())
}
