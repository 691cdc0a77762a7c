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
	g.sealed(iface, "InterruptName",
		iface+" is the sealed set of messages that ask for a decision. All of them come to "+g.p.Interrupt.Handler.DisplayName+
			"; switch over them with VisitInterrupt, which does not compile while a case is missing.",
		jen.Line(), doc("Common returns what every interrupt request carries.").Add(jen.Id("Common").Params().Id("InterruptCommon")))
	g.common(common)
	n := named{typ: "InterruptName", what: "interrupt request", names: "interruptNames", doc: "InterruptName names a type of the set " + iface + "."}
	for _, r := range interrupts {
		n.rows = append(n.rows, namedRow{constant: r.Const, text: r.Name, doc: r.Const + " names " + r.Name + "."})
	}
	g.names(n)
	node := func(r plan.Record) *plan.Node { return g.p.Node(r.Node) }
	g.lookup("InterruptName", "Node", "returns the node that raises the interrupt.", "NodeName", "interruptNodes",
		column(interrupts, func(r plan.Record) string { return node(r).Const }))
	g.lookup("InterruptName", "AgentType", "returns the wire name of the node that raises the interrupt.", "AgentType", "interruptAgentTypes",
		column(interrupts, func(r plan.Record) string { return node(r).AgentConst }))
	g.lookup("InterruptName", "Routing", "returns the routing that answers the interrupt.", "RoutingName", "interruptRoutings",
		column(interrupts, func(plan.Record) string { return nameOf(g.p.Interrupt.Routing) }))
	g.method("InterruptName", "DisplayName", "returns the words a person reads.", "string",
		rt("At").Call(jen.Id("interruptDisplayNames"), jen.Id("v")))
	for _, r := range interrupts {
		g.record(r, r.Name+" is the interrupt request of the node "+r.Node+".")
		g.member(r, iface, "InterruptName")
		g.commonOf(r, common)
	}
}

// commonFields are the fields that all interrupt requests share.
func commonFields(interrupts []plan.Record) []plan.Field {
	if len(interrupts) == 0 {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(interrupts[0].Fields), func(f plan.Field) bool { return !f.Common })
}

func (g *goFile) common(fields []plan.Field) {
	var members []jen.Code
	for i, f := range fields {
		if i > 0 {
			members = append(members, jen.Line())
		}
		members = append(members, doc(f.Doc).Add(jen.Id(f.Go).Add(memberType(f))))
	}
	g.decl(300, []string{"InterruptCommon"},
		doc("InterruptCommon is what every interrupt request carries, whichever node raises it."),
		jen.Type().Id("InterruptCommon").Struct(members...).Line())
}

func memberType(f plan.Field) *jen.Statement {
	if f.Pointer {
		return jen.Op("*").Add(goType(f.Type))
	}
	return goType(f.Type)
}

func (g *goFile) commonOf(r plan.Record, fields []plan.Field) {
	var values []jen.Code
	for _, f := range fields {
		values = append(values, jen.Id("v").Dot(f.Go))
	}
	g.decl(200, []string{r.Name + ".Common"},
		doc("Common returns the fields of v that every interrupt request has."),
		jen.Func().Params(jen.Id("v").Op("*").Id(r.Name)).Id("Common").Params().Id("InterruptCommon").Block(
			jen.Return(jen.Id("InterruptCommon").Add(lines(values))),
		).Line())
}

func (g *goFile) kinds() {
	n := named{typ: "InterruptKind", what: "interrupt kind", names: "kindNames", doc: "InterruptKind says where an interrupt comes from. Order is priority: the first wins a clash."}
	for _, k := range g.p.Interrupt.Kinds {
		n.rows = append(n.rows, namedRow{constant: k.Const, text: k.Key, doc: k.Const + ": " + k.Doc})
	}
	g.names(n)
	g.kindRows()
}

// kindRows writes the rules of the kinds, for an engine.
func (g *goFile) kindRows() {
	var rows []jen.Code
	for _, k := range g.p.Interrupt.Kinds {
		r := new(row).text("Name", k.Key).text("Clash", k.Clash).texts("Choices", k.Choices).flag("RouteTo", k.RouteTo)
		if d := k.Deadline; d != nil {
			r.code("Deadline", jen.Op("&").Add(rt("Deadline")).Add(new(row).duration("After", d.After).text("Then", d.Then).
				text("Answer", d.Answer).text("Assignee", d.Assignee).text("Target", d.Target).duration("Reminder", d.Reminder).values()))
		}
		if t := k.Retry; t != nil {
			r.code("Retry", retryRow(t))
		}
		if a := k.Auto; a != nil {
			r.text("AutoAnswer", a.Answer).texts("AutoWhen", a.When)
		}
		rows = append(rows, r.values())
	}
	g.decl(200, []string{"kindRows"}, jen.Var().Id("kindRows").Op("=").Index().Add(rt("Kind")).Add(lines(rows)).Line())
}
