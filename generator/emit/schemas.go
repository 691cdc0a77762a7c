package emit

import (
	"strings"

	"github.com/dave/jennifer/jen"
)

// emitSchemas writes the definitions, a fragment for each dialect, and what joins them. A definition names the ones it
// refers to directly; the runtime closes over them, so the table grows with the spec and not faster.
func emitSchemas(g *goFile, defs []Definition) {
	g.wanted = append(g.wanted, "//go:embed schemas/*.json")
	g.decl(300, []string{"Schemas"},
		doc("Schemas holds the plain schemas as files, for reviewers and for tools that want a file.").Comment("//").Line().
			Comment("//go:embed schemas/*.json").Line(),
		jen.Var().Id("Schemas").Qual("embed", "FS").Line())

	var consts, rows []jen.Code
	var declared []string
	consts = append(consts, jen.Id("_").Op("=").Iota())
	for _, d := range defs {
		consts = append(consts, jen.Id("def"+d.Name))
		declared = append(declared, "def"+d.Name)
		r := new(row).text("Name", d.Name)
		if len(d.Refs) > 0 {
			var refs []jen.Code
			for _, ref := range d.Refs {
				refs = append(refs, jen.Id("def"+ref))
			}
			r.code("Refs", jen.Index().Int().Values(refs...))
		}
		for _, f := range []struct{ column, text string }{
			{"Plain", d.Plain}, {"OpenAI", d.OpenAI}, {"Anthropic", d.Anthropic}, {"Gemini", d.Gemini},
		} {
			g.fragment(r, f.column, d.Name, f.text)
		}
		rows = append(rows, lines(r.cells))
	}
	g.decl(30*len(consts), declared, doc("The rows of definitionRows, sorted by name."), jen.Const().Defs(consts...).Line())
	g.decl(200*len(rows), []string{"definitionRows"}, jen.Var().Id("definitionRows").Op("=").Index().Add(rt("Definition")).Add(lines(rows)).Line())
	g.decl(100, []string{"schemas"}, jen.Var().Id("schemas").Op("=").Add(rt("NewSchemas")).Call(
		jen.Id("definitionRows"), jen.Id("routingRows").Index(jen.Lit(0)).Dot("Branches")).Line())
	g.decl(400, []string{"InterruptRoutingSchema"},
		doc("InterruptRoutingSchema returns the schema of "+g.p.Interrupt.Routing+" narrowed to a set of routes, with exactly the "+
			"definitions they reach, in the form that the dialect's provider accepts. The empty set, and a set that reaches a field "+
			"with no form in the dialect, give \"\". The text of a single route is made once and kept; those of the sets asked for last are too."),
		jen.Func().Id("InterruptRoutingSchema").Params(jen.Id("set").Id("InterruptRouteSet"), jen.Id("dialect").Add(rt("Dialect"))).String().Block(
			jen.Return(jen.Id("schemas").Dot("Set").Call(jen.Id("set").Index(jen.Op(":")), jen.Id("dialect"))),
		).Line())
}

// fragment puts one form of a definition into its row. The text stands in a constant of its own, so that no declaration
// grows with the texts of all definitions. Forms without a text are stored as they are.
func (g *goFile) fragment(r *row, column, name, text string) {
	if len(text) <= 1 {
		r.text(column, text)
		return
	}
	constant := strings.ToLower(column) + name
	g.decl(len(text)+60, []string{constant}, jen.Const().Id(constant).Op("=").Lit(text).Line())
	r.code(column, jen.Id(constant))
}
