package emit

import (
	"github.com/dave/jennifer/jen"

	"github.com/routegen/routegen/generator/plan"
	"github.com/routegen/routegen/runtime"
)

// emitFlows writes the names of flows, steps and slots, a struct for the slots of each flow, and
// the tables that the dialogue machine reads. Rows refer to each other by constants, so that a new
// one moves none.
func emitFlows(g *goFile) {
	t := g.p.Talk
	g.textType("FlowName", "FlowName names a flow, as "+g.p.Source+" does.")
	g.textType("StepName", "StepName names a step of a flow.")
	g.textType("SlotName", "SlotName names a slot of a flow.")
	flows := make([]textConst, 0, len(t.Flows))
	places := make([]string, 0, len(t.Flows))
	for _, f := range t.Flows {
		flows = append(flows, textConst{f.Const, f.Name, f.Const + " is the flow " + f.Name + ": " +
			f.Doc})
		places = append(places, f.Const)
	}
	g.textConsts("FlowName", "The flows, in the order of "+g.p.Source+".", flows)
	g.places("The rows of flowRows.", places)
	for i := range t.Flows {
		g.flow(&t.Flows[i])
	}
	g.list("flowRows", "Flow", rowVars(places))
	g.actionRows()
	g.slotValues()
	g.flowTables()
}

// textType writes a string type for names of the spec.
func (g *goFile) textType(name, about string) {
	g.decl(doc(about), jen.Type().Id(name).String().Line())
}

type textConst struct{ name, text, about string }

func (g *goFile) textConsts(typ, about string, rows []textConst) {
	if len(rows) == 0 {
		return
	}
	var consts []jen.Code
	for _, r := range rows {
		consts = append(consts, doc(r.about).Add(jen.Id(r.name).Id(typ).Op("=").Lit(r.text)))
	}
	g.decl(doc(about), jen.Const().Defs(consts...).Line())
}

// place is the constant that holds the number of a row, counted from 1.
func place(name string) *jen.Statement { return jen.Id("at" + name) }

// places numbers rows by their constants.
func (g *goFile) places(about string, names []string) {
	if len(names) == 0 {
		return
	}
	consts := []jen.Code{jen.Id("_").Op("=").Iota()}
	for _, name := range names {
		consts = append(consts, place(name))
	}
	g.decl(doc(about), jen.Const().Defs(consts...).Line())
}

func rowVars(names []string) []jen.Code {
	var out []jen.Code
	for _, name := range names {
		out = append(out, jen.Id("row"+name))
	}
	return out
}

// flow writes one flow: its names, its struct and its rows.
func (g *goFile) flow(f *plan.Flow) {
	var slots, steps []textConst
	var slotNames, stepNames []string
	for _, s := range f.Slots {
		slots = append(slots, textConst{s.Const, s.Key, s.Const + " is the slot " + s.Key + ": " +
			s.Doc})
		slotNames = append(slotNames, s.Const)
	}
	for _, s := range f.Steps {
		steps = append(steps, textConst{s.Const, s.ID, s.Const + " is the step " + s.ID +
			" of kind " + s.Kind + "."})
		stepNames = append(stepNames, s.Const)
	}
	g.textConsts("SlotName", "The slots of "+f.Const+".", slots)
	g.textConsts("StepName", "The steps of "+f.Const+".", steps)
	g.places("The slots of "+f.Const+", by number.", slotNames)
	g.places("The steps of "+f.Const+", by number.", stepNames)
	slotted := f.Record()
	for i := range slotted.Fields {
		// the machine fills it once, when the flow begins: a slot that was emptied stays empty
		slotted.Fields[i].Default = nil
	}
	g.record(slotted, f.Struct+" is what the flow "+f.Name+
		" has been told. A slot that is not filled is nil.")

	w := rowWriter{p: g.p, flow: f}
	var lines []jen.Code
	for i := range f.Slots {
		lines = append(lines, w.line(slotRow(g.p, &f.Slots[i])))
	}
	g.list("slots"+f.Const, "FlowSlot", lines)
	for i := range f.Steps {
		g.row("row"+f.Steps[i].Const, "FlowStep", w.cells(f.Steps[i], nil))
	}
	g.list("steps"+f.Const, "FlowStep", rowVars(stepNames))
	g.row("row"+f.Const, "Flow", w.cells(*f,
		code{"Slots": jen.Id("slots" + f.Const), "Steps": jen.Id("steps" + f.Const)}))
}

// slotKinds are the runtime's forms of slots.
var slotKinds = map[plan.TypeKind]runtime.SlotKind{
	plan.String: runtime.SlotString, plan.Int: runtime.SlotInt, plan.Float: runtime.SlotFloat,
	plan.Bool: runtime.SlotBool, plan.Time: runtime.SlotTime, plan.Duration: runtime.SlotDuration,
	plan.EnumOf: runtime.SlotEnum, plan.JSON: runtime.SlotJSON,
}

// slotRow is what the machine knows of a slot, and what refers to other declarations.
func slotRow(p *plan.Plan, s *plan.FlowSlot) (runtime.FlowSlot, code) {
	base, list, named := s.Type, false, ""
	if base.Kind == plan.ListOf {
		base, list = *base.Elem, true
	}
	if scalar := p.Scalar(base.Name); base.Kind == plan.ScalarOf && scalar != nil {
		if plan.RuleOf(scalar.Constraints) != nil {
			named = scalar.Name
		}
		base = scalar.Type
	}
	kind, known := slotKinds[base.Kind]
	if !known { // records, maps and lists of lists have no form of their own
		kind, list = runtime.SlotJSON, false
	}
	out := runtime.FlowSlot{Name: s.Key, Was: s.Was, Doc: s.Doc, Input: s.Input, Output: s.Output,
		Type: runtime.SlotType{Kind: kind, List: list}, Required: s.Needed, Examples: s.Examples,
		Rule: plan.RuleOf(s.Constraints)}
	if s.Default != nil {
		out.Default = *s.Default
	}
	given := code{}
	if kind == runtime.SlotEnum {
		given["Values"] = jen.Id("slotValues" + base.Name)
	}
	if named != "" && kind != runtime.SlotJSON {
		given["Of"] = jen.Op("&").Id("rule" + named)
	}
	return out, given
}

// slotValues writes the values of the enums that slots have, once each. A hidden value is left out:
// no model is offered it.
func (g *goFile) slotValues() {
	used := map[string]bool{}
	for _, f := range g.p.Talk.Flows {
		for _, s := range f.Slots {
			t := s.Type.Leaf()
			used[t.Name] = used[t.Name] || t.Kind == plan.EnumOf
		}
	}
	for _, e := range g.p.Enums {
		if !used[e.Name] {
			continue
		}
		var texts []string
		for _, v := range e.Values {
			if !v.Hidden {
				texts = append(texts, v.Wire)
			}
		}
		g.decl(jen.Var().Id("slotValues" + e.Name).
			Op("=").Index().String().Add(lines(lits(texts))).Line())
	}
}

// actionRows writes what the machine knows of the actions, and the names of the validators.
func (g *goFile) actionRows() {
	w := rowWriter{p: g.p}
	params := func(fields []plan.Field) []runtime.FlowParam {
		var out []runtime.FlowParam
		for _, f := range fields {
			out = append(out, runtime.FlowParam{Name: f.JSON, Optional: !f.Required})
		}
		return out
	}
	var actions, validators []string
	var actionRows, names []jen.Code
	for _, a := range g.p.Talk.Actions {
		actions = append(actions, "Action"+a.Method)
		row := a.FlowAction
		row.Inputs, row.Outputs = params(a.Inputs), params(a.Outputs)
		actionRows = append(actionRows, w.line(row, nil))
	}
	for _, v := range g.p.Talk.Validators {
		validators = append(validators, "Validator"+v.Method)
		names = append(names, jen.Lit(v.Key))
	}
	g.places("The rows of flowActions.", actions)
	g.list("flowActions", "FlowAction", actionRows)
	g.places("The rows of flowValidators.", validators)
	g.decl(jen.Var().Id("flowValidators").Op("=").Index().String().Add(lines(names)).Line())
}

func (g *goFile) flowTables() {
	if !g.p.HasWorkflow() { // or else they stand beside the names of the kinds
		g.kindRows()
	}
	w := rowWriter{p: g.p}
	var responses []jen.Code
	for _, r := range g.p.Talk.Responses {
		responses = append(responses, w.line(r, nil))
	}
	g.list("flowResponses", "Response", responses)
	g.decl(doc("flowTables is everything the dialogue machine knows of this package."),
		jen.Var().Id("flowTables").Op("=").Add(rt("FlowTables")).Add(lines(w.cells(*g.p.Talk, code{
			"Flows": jen.Id("flowRows"), "Actions": jen.Id("flowActions"),
			"Validators": jen.Id("flowValidators"), "Responses": jen.Id("flowResponses"),
		}))).Line())
}
