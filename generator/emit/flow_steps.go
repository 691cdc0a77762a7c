package emit

import (
	"github.com/dave/jennifer/jen"

	"github.com/routegen/routegen/generator/plan"
)

// step is the row of one step, in an order that reads like the spec.
func (w flowWriter) step(s *plan.FlowStep) []jen.Code {
	r := new(row).text("ID", s.ID).texts("Was", s.Was).text("Kind", s.Kind)
	w.expr(r, "When", s.When)
	w.words(r, "Text", s.Text)
	w.words(r, "Invalid", s.Invalid)
	w.slotAt(r, "Slot", s.Slot)
	w.binds(r, "Set", s.Set)
	if len(s.Arms) > 0 {
		var arms []jen.Code
		for _, a := range s.Arms {
			arm := new(row).code("If", w.exprValue(a.If))
			w.target(arm, "To", a.To)
			arms = append(arms, arm.values())
		}
		r.code("Arms", jen.Index().Add(rt("FlowArm")).Add(lines(arms)))
	}
	w.target(r, "Else", s.Else)
	w.expr(r, "Cond", s.Cond)
	w.target(r, "Body", s.Body)
	r.number("Rounds", s.Rounds)
	w.target(r, "Inside", s.Inside)
	if f := w.p.Talk.Flow(s.Flow); f != nil {
		r.code("Flow", place(f.Const))
	}
	if a := w.p.Talk.Action(s.Action); a != nil {
		r.code("Action", place("Action"+a.Method))
	}
	w.binds(r, "Inputs", s.Inputs)
	w.binds(r, "Outputs", s.Outputs)
	r.text("Queue", s.Queue).flag("Force", s.Force).number("Attempts", s.Attempts)
	if v := w.p.Talk.Validator(s.Validator); v != nil {
		r.code("Check", place("Validator"+v.Method))
	}
	r.duration("Timeout", s.Timeout)
	if s.Retry != nil {
		r.code("Retry", retryRow(s.Retry))
	}
	r.flag("Raise", s.Raise)
	for _, t := range []struct{ name, to string }{
		{"OnInvalid", s.OnInvalid},
		{"OnTimeout", s.OnTimeout},
		{"OnCancel", s.OnCancel},
		{"OnError", s.OnError},
		{"OnYes", s.OnYes},
		{"OnNo", s.OnNo},
		{"OnChange", s.OnChange},
		{"Next", s.Next},
	} {
		w.target(r, t.name, t.to)
	}
	return r.cells
}

// target adds where a flow goes on, if that is given.
func (w flowWriter) target(r *row, name, to string) {
	if constant, ok := hasEnd(to); ok {
		r.code(name, rt(constant))
	} else if s := w.f.Step(to); s != nil {
		r.code(name, place(s.Const))
	}
}

func (w flowWriter) slotAt(r *row, name, slot string) {
	if s := w.f.Slot(slot); s != nil {
		r.code(name, place(s.Const))
	}
}

// slotPlace is the number of a slot as an expression.
func (w flowWriter) slotPlace(slot string) jen.Code {
	if s := w.f.Slot(slot); s != nil {
		return place(s.Const)
	}
	return jen.Lit(0) // the spec has been checked: there is none without a slot
}

func (w flowWriter) binds(r *row, name string, list []plan.Bind) {
	if len(list) == 0 {
		return
	}
	var rows []jen.Code
	for _, b := range list {
		one := new(row).text("Name", b.Name)
		w.slotAt(one, "Slot", b.Slot)
		w.expr(one, "Value", b.Value)
		w.words(one, "Text", b.Text)
		rows = append(rows, one.values())
	}
	r.code(name, jen.Index().Add(rt("Bind")).Add(lines(rows)))
}

func (w flowWriter) words(r *row, name string, in plan.Words) {
	if len(in) > 0 {
		r.code(name, texts(in, w.slotPlace))
	}
}

// texts is a text by language, one variation a line.
func texts(in plan.Words, slot func(string) jen.Code) *jen.Statement {
	var languages []jen.Code
	for _, l := range in {
		var variants []jen.Code
		for _, v := range l.Variants {
			parts := make([]jen.Code, 0, len(v))
			for _, p := range v {
				part := new(row).text("Text", p.Text).text("Var", p.Var)
				if p.Slot != "" {
					part.code("Slot", slot(p.Slot))
				}
				parts = append(parts, part.number("Decimals", p.Decimals).values())
			}
			variants = append(variants, jen.Values(parts...))
		}
		languages = append(languages, new(row).text("Language", l.Language).
			code("Variants", jen.Index().Add(rt("Template")).Add(lines(variants))).values())
	}
	return rt("Texts").Values(languages...)
}

// exprOps are the runtime's names of the operators.
var exprOps = map[string]string{
	"value": "OpValue", "slot": "OpSlot", "filled": "OpFilled", "not": "OpNot", "and": "OpAnd", "or": "OpOr", "==": "OpEq", "!=": "OpNe",
	"<": "OpLt", "<=": "OpLe", ">": "OpGt", ">=": "OpGe", "in": "OpIn",
}

func (w flowWriter) expr(r *row, name string, e *plan.Expr) {
	if e != nil {
		r.code(name, w.exprPointer(e))
	}
}

func (w flowWriter) exprPointer(e *plan.Expr) *jen.Statement {
	return jen.Op("&").Add(w.exprValue(*e))
}

func (w flowWriter) exprValue(e plan.Expr) *jen.Statement { return rt("Expr").Add(w.exprCells(e)) }

func (w flowWriter) exprCells(e plan.Expr) *jen.Statement {
	r := new(row).code("Op", rt(exprOps[e.Op]))
	w.slotAt(r, "Slot", e.Slot)
	r.text("Value", e.Value)
	if len(e.Args) > 0 {
		var args []jen.Code
		for _, a := range e.Args {
			args = append(args, w.exprCells(a))
		}
		r.code("Args", jen.Index().Add(rt("Expr")).Values(args...))
	}
	return r.values()
}
