package emit

import (
	"slices"

	"github.com/dave/jennifer/jen"

	"github.com/routegen/routegen/generator/plan"
)

// emitFlows writes the names of flows, steps and slots, a struct for the slots of each flow, and the tables that the dialogue machine
// reads. Rows refer to each other by constants, so that a new one moves none.
func emitFlows(g *goFile) {
	t := g.p.Talk
	g.textType("FlowName", "FlowName names a flow, as "+g.p.Source+" does.")
	g.textType("StepName", "StepName names a step of a flow.")
	g.textType("SlotName", "SlotName names a slot of a flow.")
	flows := make([]textConst, 0, len(t.Flows))
	places := make([]string, 0, len(t.Flows))
	for _, f := range t.Flows {
		flows = append(flows, textConst{f.Const, f.Key, f.Const + " is the flow " + f.Key + ": " + f.Doc})
		places = append(places, f.Const)
	}
	g.textConsts("FlowName", "The flows, in the order of "+g.p.Source+".", flows)
	g.places("The rows of flowRows.", places)
	for i := range t.Flows {
		g.flow(&t.Flows[i])
	}
	g.rows("flowRows", "Flow", 60, rowVars(places))
	g.actionRows()
	g.slotValues()
	g.flowTables()
}

// textType writes a string type for names of the spec.
func (g *goFile) textType(name, about string) {
	g.decl(100, []string{name}, doc(about), jen.Type().Id(name).String().Line())
}

type textConst struct{ name, text, about string }

func (g *goFile) textConsts(typ, about string, rows []textConst) {
	if len(rows) == 0 {
		return
	}
	var consts []jen.Code
	var declared []string
	for i, r := range rows {
		if i > 0 {
			consts = append(consts, jen.Line())
		}
		consts = append(consts, doc(r.about).Add(jen.Id(r.name).Id(typ).Op("=").Lit(r.text)))
		declared = append(declared, r.name)
	}
	g.decl(140*len(rows), declared, doc(about), jen.Const().Defs(consts...).Line())
}

// place is the constant that holds the number of a row, counted from 1.
func place(name string) *jen.Statement { return jen.Id("at" + name) }

// places numbers rows by their constants.
func (g *goFile) places(about string, names []string) {
	if len(names) == 0 {
		return
	}
	consts := []jen.Code{jen.Id("_").Op("=").Iota()}
	var declared []string
	for _, name := range names {
		consts = append(consts, place(name))
		declared = append(declared, "at"+name)
	}
	g.decl(30*len(names), declared, doc(about), jen.Const().Defs(consts...).Line())
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
		slots = append(slots, textConst{s.Const, s.Key, s.Const + " is the slot " + s.Key + ": " + s.Doc})
		slotNames = append(slotNames, s.Const)
	}
	for _, s := range f.Steps {
		steps = append(steps, textConst{s.Const, s.ID, s.Const + " is the step " + s.ID + " of kind " + s.Kind + "."})
		stepNames = append(stepNames, s.Const)
	}
	g.textConsts("SlotName", "The slots of "+f.Const+".", slots)
	g.textConsts("StepName", "The steps of "+f.Const+".", steps)
	g.places("The slots of "+f.Const+", by number.", slotNames)
	g.places("The steps of "+f.Const+", by number.", stepNames)
	slotted := f.Record()
	for i := range slotted.Fields {
		slotted.Fields[i].Default = nil // the machine fills it once, when the flow begins: a slot that was emptied stays empty
	}
	g.record(slotted, f.Struct+" is what the flow "+f.Key+" has been told. A slot that is not filled is nil.")

	w := flowWriter{g.p, f}
	var rows []jen.Code
	for i := range f.Slots {
		rows = append(rows, w.slot(&f.Slots[i]).values())
	}
	g.rows("slots"+f.Const, "FlowSlot", 250, rows)
	for i := range f.Steps {
		g.tableRow("row"+f.Steps[i].Const, "FlowStep", w.step(&f.Steps[i]))
	}
	g.rows("steps"+f.Const, "FlowStep", 60, rowVars(stepNames))
	g.tableRow("row"+f.Const, "Flow", w.row())
}

// slotKinds are the runtime's names of the forms of slots.
var slotKinds = map[plan.Kind]string{
	plan.String: "SlotString", plan.Int: "SlotInt", plan.Float: "SlotFloat", plan.Bool: "SlotBool", plan.Time: "SlotTime",
	plan.Duration: "SlotDuration", plan.EnumOf: "SlotEnum", plan.JSON: "SlotJSON",
}

// flowWriter writes the rows of one flow.
type flowWriter struct {
	p *plan.Plan
	f *plan.Flow
}

func (w flowWriter) row() []jen.Code {
	f := w.f
	r := new(row).text("Name", f.Key).texts("Was", f.Was).text("DisplayName", f.DisplayName).text("Doc", f.Doc)
	if len(f.Intents) > 0 {
		r.code("Intents", jen.Index().String().Add(lines(lits(f.Intents))))
	}
	if f.Trigger != nil {
		r.code("Trigger", w.exprPointer(f.Trigger))
	}
	r.flag("Hidden", f.Hidden).code("Interruptible", jen.Lit(f.Interruptible))
	w.target(r, "OnError", f.OnError)
	return r.code("Slots", jen.Id("slots"+f.Const)).code("Steps", jen.Id("steps"+f.Const)).cells
}

func (w flowWriter) slot(s *plan.FlowSlot) *row {
	base, list, named := s.Type, false, ""
	if base.Kind == plan.ListOf {
		base, list = *base.Elem, true
	}
	if scalar := w.p.Scalar(base.Name); base.Kind == plan.ScalarOf && scalar != nil {
		if !scalar.Constraints.IsZero() {
			named = scalar.Name
		}
		base = scalar.Type
	}
	kind := slotKinds[base.Kind]
	if kind == "" { // records, maps and lists of lists have no form of their own
		kind, list = "SlotJSON", false
	}
	r := new(row).text("Name", s.Key).texts("Was", s.Was).text("Doc", s.Doc).
		code("Type", rt("SlotType").Add(new(row).code("Kind", rt(kind)).flag("List", list).values()))
	if kind == "SlotEnum" {
		r.code("Values", jen.Id("slotValues"+base.Name))
	}
	r.flag("Input", s.Input).flag("Output", s.Output).flag("Required", s.Needed)
	if s.Default != nil {
		r.text("Default", *s.Default)
	}
	if !s.Constraints.IsZero() {
		r.code("Rule", jen.Op("&").Add(rule(s.Constraints)))
	}
	if named != "" && kind != "SlotJSON" {
		r.code("Of", jen.Op("&").Id("rule"+named))
	}
	return r.texts("Examples", s.Examples)
}

// slotValues writes the values of the enums that slots have, once each. A hidden value is left out: no model is offered it.
func (g *goFile) slotValues() {
	used := map[string]bool{}
	for _, f := range g.p.Talk.Flows {
		for _, s := range f.Slots {
			t := s.Type
			for t.Elem != nil {
				t = *t.Elem
			}
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
		g.decl(40*len(texts), []string{"slotValues" + e.Name}, jen.Var().Id("slotValues"+e.Name).Op("=").Index().String().Add(lines(lits(texts))).Line())
	}
}

// actionRows writes what the machine knows of the actions, and the names of the validators.
func (g *goFile) actionRows() {
	t := g.p.Talk
	var rows, checks []jen.Code
	params := func(fields []plan.Field) *jen.Statement {
		var out []jen.Code
		for _, f := range fields {
			out = append(out, new(row).text("Name", f.JSON).flag("Optional", !f.Required).values())
		}
		return jen.Index().Add(rt("FlowParam")).Add(lines(out))
	}
	var actions, validators []string
	for _, a := range t.Actions {
		actions = append(actions, "Action"+a.Method)
		r := new(row).text("Name", a.Key).text("Doc", a.Doc).flag("Once", a.Once).duration("Timeout", a.Timeout)
		if a.Retry != nil {
			r.code("Retry", retryRow(a.Retry))
		}
		rows = append(rows, r.code("Inputs", params(a.Inputs)).code("Outputs", params(a.Outputs)).values())
	}
	for _, v := range t.Validators {
		validators = append(validators, "Validator"+v.Method)
		checks = append(checks, jen.Lit(v.Key))
	}
	g.places("The rows of flowActions.", actions)
	g.rows("flowActions", "FlowAction", 250, rows)
	g.places("The rows of flowValidators.", validators)
	g.decl(30*len(checks), []string{"flowValidators"}, jen.Var().Id("flowValidators").Op("=").Index().String().Add(lines(checks)).Line())
}

func (g *goFile) flowTables() {
	t := g.p.Talk
	if !g.p.HasWorkflow() { // or else they stand beside the names of the kinds
		g.kindRows()
	}
	var responses []jen.Code
	for _, r := range t.Responses {
		responses = append(responses, new(row).text("Name", r.Key).code("Text", texts(r.Text, func(string) jen.Code { return jen.Lit(0) })).values())
	}
	g.rows("flowResponses", "Response", 200, responses)
	r := new(row).code("Flows", jen.Id("flowRows")).code("Actions", jen.Id("flowActions")).code("Validators", jen.Id("flowValidators")).
		code("Responses", jen.Id("flowResponses")).text("Language", t.Language).number("MaxDepth", t.MaxDepth).
		number("NoProgress", t.NoProgress).text("NoProgThen", t.NoProgThen)
	for _, c := range []struct{ name, flow string }{{"Welcome", t.Welcome}, {"Fallback", t.Fallback}} {
		if f := t.Flow(c.flow); f != nil {
			r.code(c.name, place(f.Const))
		}
	}
	g.decl(400, []string{"flowTables"}, doc("flowTables is everything the dialogue machine knows of this package."),
		jen.Var().Id("flowTables").Op("=").Add(rt("FlowTables")).Add(lines(r.cells)).Line())
}

// retryRow is a pointer to how often something is run again.
func retryRow(t *plan.Retry) *jen.Statement {
	return jen.Op("&").Add(rt("Retry")).Add(new(row).number("Attempts", t.Attempts).text("Backoff", t.Backoff).
		duration("First", t.First).duration("Max", t.Max).values())
}

// hasEnd reports whether a target leaves the flow, and the runtime's name of how.
func hasEnd(target string) (constant string, ok bool) {
	names := []string{plan.TargetEnd, plan.TargetCancel, plan.TargetError}
	if i := slices.Index(names, target); i >= 0 {
		return []string{"TargetEnd", "TargetCancel", "TargetError"}[i], true
	}
	return "", false
}
