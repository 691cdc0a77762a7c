package emit

import (
	"github.com/dave/jennifer/jen"

	"github.com/routegen/routegen/generator/plan"
)

// emitSwitches writes the exhaustive switches over the two sealed sets: a visitor each, and their
// wire form.
func emitSwitches(g *goFile) {
	g.visitor("Request", "Request", withRole(g.p, plan.RoleRequest))
	g.visitor("Interrupt", g.p.Interrupt.Interface, withRole(g.p, plan.RoleInterrupt))
	g.wire("Request", "Request")
	g.wire("Interrupt", g.p.Interrupt.Interface)
	g.displayName()
}

// visitor writes an interface with a method per type: one that lacks a case does not compile.
func (g *goFile) visitor(word, iface string, members []plan.Record) {
	var methods, cases []jen.Code
	for _, r := range members {
		methods = append(methods, jen.Id("Visit"+r.Name).Params(jen.Op("*").Id(r.Name)).Error())
		cases = append(cases, jen.Case(jen.Op("*").Id(r.Name)).
			Block(jen.Return(jen.Id("visitor").Dot("Visit"+r.Name).Call(jen.Id("m")))))
	}
	subject := jen.Id("m").Op(":=").Id("message").Assert(jen.Type())
	if len(members) == 0 { // m would be unused
		subject = jen.Id("message").Assert(jen.Type())
	}
	g.decl(doc(word+"Visitor has a method for every type of "+iface+
		". A new node adds one: what implements the interface stops compiling until it is there."),
		jen.Type().Id(word+"Visitor").Interface(methods...).Line())
	g.decl(doc("Visit"+word+" calls the one method of the visitor that fits, and returns what it "+
		"returns. A nil, or a type that got "+
		"into the set by embedding, is refused with code not_found."),
		jen.Func().Id("Visit"+word).Params(jen.Id("message").Id(iface), jen.Id("visitor").
			Id(word+"Visitor")).Error().Block(
			jen.Switch(subject).Block(cases...),
			jen.Return(rt("Unhandled").Call(jen.Id("message"))),
		).Line())
}

// wire writes the tagged form of a sealed set, {"TypeName": {...}}, and back.
func (g *goFile) wire(word, iface string) {
	g.decl(doc("Encode"+word+" writes a message with the name of its type: {\"TypeName\": "+
		"{...}}. A "+
		"nil message is refused with code invalid."),
		jen.Func().Id("Encode"+word).Params(jen.Id("message").Id(iface)).
			Params(jen.Index().Byte(), jen.Error()).Block(
			jen.Return(rt("EncodeTagged").Call(jen.Id("message"))),
		).Line())
	g.decl(doc("Decode"+word+" reads what Encode"+word+
		" wrote, strictly. An unknown type, and whatever runtime.Unmarshal refuses, is "+
		"refused with code invalid."),
		jen.Func().Id("Decode"+word).Params(jen.Id("data").Index().Byte()).
			Params(jen.Id(iface), jen.Error()).Block(
			jen.List(jen.Id("record"), jen.Err()).Op(":=").Add(rt("DecodeTagged")).
				Call(jen.Id("data"), jen.Id("tables").Dot("New"+word)),
			jen.List(jen.Id("message"), jen.Id("_")).Op(":=").Id("record").Assert(jen.Id(iface)),
			jen.Return(jen.Id("message"), jen.Err()),
		).Line())
}

// displayName writes the function from the name of a type to the words a person reads.
func (g *goFile) displayName() {
	in := g.p.Interrupt
	g.decl(doc("DisplayName returns the words a person reads for a request, an interrupt request, "+
		"their interface or the "+
		"interrupt handler, by its name. A name it does not know comes back as it is."),
		jen.Func().Id("DisplayName").Params(jen.Id("name").String()).String().Block(
			jen.If(jen.Id("name").Op("==").Lit(in.Interface)).
				Block(jen.Return(jen.Lit(in.DisplayName))),
			jen.Return(jen.Id("tables").Dot("DisplayName").Call(jen.Id("name"))),
		).Line())
}
