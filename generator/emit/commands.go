package emit

import (
	"github.com/dave/jennifer/jen"
)

// command is one member of the sealed set of commands.
type command struct {
	name, constant, about string
	fields                []commandField
}

// commandField is a field of it, and what becomes of it in runtime.Command.
type commandField struct {
	name, about string
	typ         jen.Code
	to          string
	value       *jen.Statement
}

// emitCommands writes the sealed set of things a message can ask for, with names of this package in
// place of strings.
func emitCommands(g *goFile) {
	g.decl(docWith(directiveSealed,
		"Command is the sealed set of things that a message can ask of the flows. Only the "+
			"types of this package "+
			"can be one."),
		jen.Type().Id("Command").Interface(
			doc("Command returns the form that the dialogue machine takes.").
				Add(jen.Id("Command").Params().Add(rt("Command"))),
			jen.Line(), jen.Id("isCommand").Params(),
		).Line())
	for _, c := range commands() {
		g.command(c)
	}
	g.decl(doc("Commands returns commands in the form that the dialogue machine takes, in order. "+
		"None of them may be nil."),
		jen.Func().Id("Commands").Params(jen.Id("list").Op("...").Id("Command")).Index().
			Add(rt("Command")).Block(
			jen.Return(rt("ListCommands").Call(jen.Id("list"))),
		).Line())
}

func (g *goFile) command(c command) {
	var fields []jen.Code
	values := []jen.Code{jen.Id("Type").Op(":").Add(rt(c.constant))}
	receiver := jen.Id(c.name)
	for i, f := range c.fields {
		if i > 0 {
			fields = append(fields, jen.Line())
		}
		fields = append(fields, doc(f.about).Add(jen.Id(f.name).Add(f.typ)))
		values = append(values, jen.Id(f.to).Op(":").Add(f.value))
		receiver = jen.Id("c").Id(c.name)
	}
	g.decl(doc(c.name+" "+c.about), jen.Type().Id(c.name).Struct(fields...).
		Line())
	g.decl(doc("Command returns the form that the dialogue machine takes."),
		jen.Func().Params(receiver).Id("Command").Params().Add(rt("Command")).Block(
			jen.Return(rt("Command").Values(values...)),
		).Line())
	g.decl(jen.Func().Params(jen.Id(c.name)).Id("isCommand").
		Params().Block().Line())
}

// commands are the members of the set, with their fields.
func commands() []command {
	field := func(name string) *jen.Statement { return jen.Id("c").Dot(name) }
	text := func(name, about string) commandField {
		return commandField{name, about, jen.String(), "Text", field(name)}
	}
	slot := func(about string) commandField {
		return commandField{"Slot", about, jen.Id("SlotName"), "Slot", jen.String().
			Call(field("Slot"))}
	}
	value := commandField{
		"Value", "Value is what the slot gets: anything that JSON can hold.", jen.Any(), "Value",
		rt("EncodeSlot").Call(field("Value")),
	}
	return []command{
		{"StartFlow", "CommandStart", "starts a flow.", []commandField{
			{"Flow", "Flow is the flow to start.", jen.Id("FlowName"), "Flow", jen.String().
				Call(field("Flow"))},
			{"Slots", "Slots are values that came with the wish.", jen.Map(jen.Id("SlotName")).
				Any(), "Slots", rt("EncodeSlots").Call(field("Slots"))},
		}},
		{"CancelFlow", "CommandCancel", "ends the active flow.",
			[]commandField{text("Reason", "Reason is why, in the user's words.")}},
		{"SetSlot", "CommandSet", "gives a slot its value.",
			[]commandField{slot("Slot is the slot to fill."), value}},
		{"CorrectSlot", "CommandCorrect", "gives a slot that is filled another value.",
			[]commandField{slot("Slot is the slot to correct."), value}},
		{"ClearSlot", "CommandClear", "empties a slot, so that it is asked again.",
			[]commandField{slot("Slot is the slot to empty.")}},
		{"Affirm", "CommandAffirm", "says yes.", nil},
		{"Deny", "CommandDeny", "says no.",
			[]commandField{slot(
				"Slot is what shall be changed; empty where the user said only no.")}},
		{"Clarify", "CommandClarify", "asks what is meant.",
			[]commandField{text("Topic", "Topic is what the user wants explained.")}},
		{"Chitchat", "CommandChitchat", "has nothing to do with the flows.",
			[]commandField{text("Text", "Text is a reply to it; empty for the usual one.")}},
		{"Handoff", "CommandHandoff", "asks for a person.",
			[]commandField{text("Reason", "Reason is why, in the user's words.")}},
	}
}
