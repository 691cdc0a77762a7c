package emit

import (
	"github.com/dave/jennifer/jen"

	"github.com/routegen/routegen/generator/plan"
)

// port is an interface that a program implements for flows: its methods, and the switch that calls
// them by row number.
type port struct {
	name, about string
	methods     []portMethod
}

type portMethod struct {
	name, about, row string
	deprecated       string         // why it should not be used
	signature        *jen.Statement // parameters and results
	gives            jen.Code       // what it returns beside an error, when it refuses
	run              *jen.Statement // the call of the runtime for it
}

// emitActions writes what a program does for flows: inputs and outputs, the two interfaces, and the
// one link to the machine.
func emitActions(g *goFile) {
	t := g.p.Talk
	for i := range t.Actions {
		a := &t.Actions[i]
		in, out := a.Records()
		g.record(in, in.Name+" is what the action "+a.Name+" is given.")
		g.record(out, out.Name+" is what the action "+a.Name+" gives back.")
	}
	g.port(actionPort(t))
	g.port(validatorPort(t))
	g.decl(doc("NewDialogue makes the flows that the dialogue machine runs: every table of this "+
		"package, and what a program does for them. "+
		"Neither may be nil. It is safe for concurrent use when both are."),
		jen.Func().Id("NewDialogue").Params(jen.Id("actions").Id("Actions"), jen.Id("validators").
			Id("Validators")).Add(rt("Dialogue")).Block(
			jen.Return(rt("Dialogue").Add(lines([]jen.Code{
				jen.Id("Tables").Op(":").Op("&").Id("flowTables"),
				jen.Id("Kinds").Op(":").Id("kindRows"),
				jen.Id("Shapes").Op(":").Id("storedShapes").Call(),
				jen.Id("Act").Op(":").Id("dialogue").
					Values(jen.Id("actions"), jen.Id("validators")).Dot("act"),
				jen.Id("Validate").Op(":").Id("dialogue").
					Values(jen.Id("actions"), jen.Id("validators")).Dot("validate"),
			}))),
		).Line())
	g.decl(doc("dialogue binds what a program does to the two switches below."),
		jen.Type().Id("dialogue").Struct(jen.Id("actions").Id("Actions"), jen.Id("validators").
			Id("Validators")).Line())
	raw := func() *jen.Statement { return jen.Qual("encoding/json", "RawMessage") }
	g.portSwitch("act", "action", "NoAction", actionPort(t), jen.Id("key").String(),
		jen.Id("input").Add(raw()))
	g.portSwitch("validate", "validator", "NoValidator", validatorPort(t), jen.Id("value").
		Add(raw()))
}

func actionPort(t *plan.Talk) port {
	p := port{
		name: "Actions",
		about: "Actions is what a program does for its flows: one method for every action. A new " +
			"action adds one: what implements the " +
			"interface stops compiling until it is there. The key is the same for every run that " +
			"counts as the same effect, after a " +
			"crash too. Methods of one value may be called from many goroutines at once.",
	}
	for _, a := range t.Actions {
		p.methods = append(p.methods, portMethod{
			name: a.Method, about: a.Method + " is the action " + a.Name + ". " + a.Doc,
			row: "Action" + a.Method,
			signature: jen.Params(jen.Id("ctx").Qual("context", "Context"), jen.Id("key").String(),
				jen.Id("in").Op("*").Id(a.Input)).
				Params(jen.Op("*").Id(a.Output), jen.Error()),
			gives: jen.Nil(),
			run: rt("RunAction").Call(jen.Id("ctx"), jen.Id("key"), jen.Id("input"), jen.Id("d").
				Dot("actions").Dot(a.Method)),
		})
	}
	return p
}

func validatorPort(t *plan.Talk) port {
	p := port{
		name: "Validators",
		about: "Validators is what a program accepts: one method for every validator. A method " +
			"returns the value in its normal form, or an " +
			"error whose text tells the user why it is refused. Methods of one value may be " +
			"called from many goroutines at once.",
	}
	for _, v := range t.Validators {
		p.methods = append(p.methods, portMethod{
			name: v.Method, about: v.Method + " is the validator " + v.Key + ". " + v.Doc,
			row: "Validator" + v.Method, deprecated: v.Deprecated,
			signature: jen.Params(jen.Id("ctx").Qual("context", "Context"), jen.Id("value").
				Add(goType(v.Type))).Params(goType(v.Type), jen.Error()),
			gives: jen.Id("value"),
			run: rt("RunValidator").Call(jen.Id("ctx"), jen.Id("value"),
				jen.Id("d").Dot("validators").Dot(v.Method)),
		})
	}
	return p
}

// port writes the interface, and the type that refuses every call.
func (g *goFile) port(p port) {
	var methods, refusals []jen.Code
	refusing := "Unimplemented" + p.name
	for _, m := range p.methods {
		methods = append(methods, doc(m.about, deprecated(m.deprecated)).
			Add(jen.Id(m.name).Add(m.signature)))
		refusals = append(refusals, jen.Func().Params(jen.Id(refusing)).Id(m.name).
			Add(m.signature).Block(
			jen.Return(m.gives, rt("Unimplemented").Call(jen.Lit(m.name)))).Line())
	}
	g.decl(doc(p.about), jen.Type().Id(p.name).
		Interface(methods...).Line())
	g.decl(doc(refusing+" refuses every call with code unavailable. Embed it in tests, or while "+
		"growing a program; a program that embeds it "+
		"no longer learns of a new method from the compiler."),
		jen.Type().Id(refusing).Struct().Line())
	g.group(refusals...)
	g.decl(jen.Var().Id("_").Id(p.name).Op("=").Id(refusing).Values().Line())
}

// portSwitch writes the flat switch from a row number to the method of it.
func (g *goFile) portSwitch(name, number, refusal string, p port, params ...jen.Code) {
	var body, cases []jen.Code
	for _, m := range p.methods {
		cases = append(cases, jen.Case(place(m.row)).Block(jen.Return(m.run)))
	}
	if len(cases) > 0 {
		body = append(body, jen.Switch(jen.Id(number)).Block(cases...))
	}
	body = append(body, jen.Return(jen.Nil(), rt(refusal).Call(jen.Id(number))))
	all := append([]jen.Code{jen.Id("ctx").Qual("context", "Context"), jen.Id(number).Int()},
		params...)
	g.decl(jen.Func().Params(jen.Id("d").Id("dialogue")).Id(name).Params(all...).
		Params(jen.Qual("encoding/json", "RawMessage"), jen.Error()).Block(body...).Line())
}
