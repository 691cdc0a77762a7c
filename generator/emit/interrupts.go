package emit

import (
	"slices"

	"github.com/dave/jennifer/jen"

	"github.com/routegen/routegen/generator/plan"
)

// emitInterrupts writes the kinds, the sealed set of interrupt requests and its types.
func emitInterrupts(g *goFile) {
	g.kinds()
	interrupts := withRole(g.p, plan.RoleInterrupt)
	common := commonFields(interrupts)
	iface := g.p.Interrupt.Interface
	g.sealed(iface, "InterruptNode", "returns the node that raises the interrupt.",
		iface+" is the sealed set of messages that ask for a decision. All of them come to "+
			g.p.Interrupt.Handler.DisplayName+
			"; switch over them with VisitInterrupt, which does not compile while a case is "+
			"missing.",
		jen.Line(), doc("Common returns what every interrupt request carries.").
			Add(jen.Id("Common").Params().Id("InterruptCommon")))
	g.common(common)
	for _, r := range interrupts {
		g.record(r, r.Name+" is the interrupt request of the node "+r.Node+".",
			append(g.member(r, iface, "InterruptNode"), commonOf(r, common))...)
	}
}

// commonFields are the fields that all interrupt requests share.
func commonFields(interrupts []plan.Record) []plan.Field {
	if len(interrupts) == 0 {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(interrupts[0].Fields), func(f plan.Field) bool {
		return !f.Common
	})
}

func (g *goFile) common(fields []plan.Field) {
	var members []jen.Code
	for i := range fields {
		members = append(members, fieldDoc(&fields[i]).
			Add(jen.Id(fields[i].Go).Add(memberType(fields[i]))))
	}
	g.decl(
		doc("InterruptCommon is what every interrupt request carries, whichever node raises it."),
		jen.Type().Id("InterruptCommon").Struct(members...).Line())
}

func memberType(f plan.Field) *jen.Statement {
	if f.Pointer {
		return jen.Op("*").Add(goType(f.Type))
	}
	return goType(f.Type)
}

// commonOf is the method that gives the common fields of an interrupt request.
func commonOf(r plan.Record, fields []plan.Field) jen.Code {
	var values []jen.Code
	for _, f := range fields {
		values = append(values, jen.Id("v").Dot(f.Go))
	}
	return jen.Func().Params(jen.Id("v").Op("*").Id(r.Name)).Id("Common").Params().
		Id("InterruptCommon").Block(
		jen.Return(jen.Id("InterruptCommon").Values(values...)),
	).Line()
}

func (g *goFile) kinds() {
	n := named{typ: "InterruptKind", what: "interrupt kind", rows: "kindRows", text: "Name",
		parse: "ParseKind",
		doc: "InterruptKind says where an interrupt comes from. Order is priority: the first " +
			"wins a clash."}
	for _, k := range g.p.Interrupt.Kinds {
		n.consts = append(n.consts, doc(k.Doc).Id(k.Const))
	}
	g.names(n)
	g.kindRows()
}

// kindRows writes the rules of the kinds, for an engine.
func (g *goFile) kindRows() {
	var kinds []jen.Code
	for _, k := range g.p.Interrupt.Kinds {
		kinds = append(kinds, rowWriter{p: g.p}.line(k, nil))
	}
	g.list("kindRows", "Kind", kinds)
}
