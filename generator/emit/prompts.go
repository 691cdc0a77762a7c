package emit

import (
	"github.com/dave/jennifer/jen"
)

// emitPrompts writes what a prompt of each node is made from: its template, the request fields it may name, its guidance,
// and the branches to take instead of interrupting again.
func emitPrompts(g *goFile) {
	var templates, guidance, vars, unstick []jen.Code
	for _, n := range g.p.Nodes {
		if u := jsonNames(g.p, n.Routing, n.Unstick); len(u) > 0 {
			unstick = append(unstick, jen.Values(lits(u)...))
		} else {
			unstick = append(unstick, jen.Nil())
		}
		if n.Prompt == nil {
			templates, guidance, vars = append(templates, jen.Lit("")), append(guidance, jen.Lit("")), append(vars, jen.Nil())
			continue
		}
		s := suffix(n)
		g.decl(len(n.Prompt.Template)+80, []string{"template" + s}, jen.Const().Id("template"+s).Op("=").Lit(n.Prompt.Template).Line())
		g.decl(len(n.Prompt.Guidance)+80, []string{"guidance" + s}, jen.Const().Id("guidance"+s).Op("=").Lit(n.Prompt.Guidance).Line())
		g.decl(80, []string{"vars" + s}, jen.Var().Id("vars"+s).Op("=").Index().String().Values(lits(n.Prompt.Vars)...).Line())
		templates, guidance, vars = append(templates, jen.Id("template"+s)), append(guidance, jen.Id("guidance"+s)), append(vars, jen.Id("vars"+s))
	}
	g.lookup("NodeName", "Template", "returns the name of the node's prompt template, or \"\".", "string", "nodeTemplates", templates)
	g.lookup("NodeName", "Guidance", "returns what the node's model is told about choosing, or \"\".", "string", "nodeGuidance", guidance)
	g.lists("NodeName", "Vars", "returns the request fields that the node's template may name. Callers must not write to it.", "nodeVars", vars)
	g.lists("NodeName", "Unstick", "returns the branches to take instead of interrupting again. Callers must not write to it.", "nodeUnstick", unstick)
}

// lists is lookup for a column of lists.
func (g *goFile) lists(typ, method, about, table string, rows []jen.Code) {
	g.decl(60*len(rows), []string{table}, jen.Var().Id(table).Op("=").Index().Index().String().Add(lines(rows)).Line())
	g.decl(200, []string{typ + "." + method}, doc(method+" "+about),
		jen.Func().Params(jen.Id("v").Id(typ)).Id(method).Params().Index().String().Block(
			jen.Return(rt("At").Call(jen.Id(table), jen.Id("v"))),
		).Line())
}
