package emit

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/routegen/routegen/generator/plan"
	"github.com/routegen/routegen/runtime"
)

// docTalk is what the document says of flows.
type docTalk struct {
	Flows   []docFlow
	Actions []docAction
}

type docFlow struct {
	Name, Key, Starts, Inputs, Outputs, Doc markdown
	Slots                                   []docSlot
	Graph                                   *docGraph // nil beyond maxDrawn steps
	Steps                                   []docStep
}

type docSlot struct{ Name, Type, Default, Doc markdown }

type docStep struct{ ID, Kind, What, Next markdown }

type docAction struct{ Name, Takes, Gives, Repeats, Doc markdown }

func newDocTalk(p *plan.Plan) *docTalk {
	if p.Talk == nil {
		return nil
	}
	v := &docTalk{}
	for i := range p.Talk.Flows {
		v.Flows = append(v.Flows, newDocFlow(&p.Talk.Flows[i]))
	}
	for i := range p.Talk.Actions {
		a := &p.Talk.Actions[i]
		row := docAction{Name: mdCode(a.Name), Takes: fieldNames(a.Inputs),
			Gives: fieldNames(a.Outputs), Repeats: retryText(a.Retry), Doc: mdText(a.Doc)}
		if a.Once {
			row.Repeats = "must never happen twice; tries: " + row.Repeats
		}
		v.Actions = append(v.Actions, row)
	}
	return v
}

func fieldNames(fields []plan.Field) markdown {
	names := make([]string, 0, len(fields))
	for _, f := range fields {
		names = append(names, f.JSON)
	}
	return mdCodes(names...)
}

func newDocFlow(f *plan.Flow) docFlow {
	v := docFlow{Name: mdText(f.DisplayName), Key: mdCode(f.Name), Starts: startText(f),
		Doc: mdText(f.Doc)}
	var inputs, outputs []string
	for i := range f.Slots {
		s := &f.Slots[i]
		if s.Input {
			inputs = append(inputs, s.Key)
		}
		if s.Output {
			outputs = append(outputs, s.Key)
		}
		row := docSlot{Name: mdCode(s.Key), Type: mdCode(s.Type.String()), Default: mdNone,
			Doc: mdText(s.Doc)}
		if s.Default != nil {
			row.Default = mdCode(*s.Default)
		}
		v.Slots = append(v.Slots, row)
	}
	v.Inputs, v.Outputs = mdCodes(inputs...), mdCodes(outputs...)
	if len(f.Steps) <= maxDrawn {
		v.Graph = newFlowGraph(f)
	}
	for i := range f.Steps {
		s := &f.Steps[i]
		row := docStep{ID: mdCode(s.ID), Kind: mdText(s.Kind), What: stepText(f, s),
			Next: waysText(f, s)}
		if s.Inside > 0 {
			row.Kind += " in " + mdCode(f.Steps[s.Inside-1].ID)
		}
		v.Steps = append(v.Steps, row)
	}
	return v
}

func startText(f *plan.Flow) markdown {
	if f.Hidden {
		return "by other flows only"
	}
	var parts []string
	for _, phrase := range f.Intents {
		parts = append(parts, string(mdText(phrase)))
	}
	if f.Trigger != nil {
		parts = append(parts, "only when "+string(mdCode(plan.ExprText(f, *f.Trigger))))
	}
	if len(parts) == 0 {
		return mdNone
	}
	return markdown(strings.Join(parts, "; "))
}

// stepText says what a step does, in the words of the spec.
func stepText(f *plan.Flow, s *plan.FlowStep) markdown {
	out := stepWork(f, s)
	if s.When != nil {
		out = "when " + mdCode(plan.ExprText(f, *s.When)) + ": " + out
	}
	return out
}

func stepWork(f *plan.Flow, s *plan.FlowStep) markdown {
	said := mdText(firstText(f, s.Text))
	switch s.Kind {
	case plan.StepCollect, plan.StepConfirm:
		out := "fills " + mdCode(f.SlotKey(s.Slot)) + ": " + said
		if s.Check != "" {
			out += " (checked by " + mdCode(s.Check) + ")"
		}
		return out
	case plan.StepSet:
		return markdown(strings.Join(bindTexts(f, s.Set), ", "))
	case plan.StepWhile:
		return "while " + exprCode(f, s.Cond) + ", at most " + markdown(strconv.Itoa(s.Rounds)) +
			" times"
	case plan.StepAction:
		return callText("runs "+mdCode(s.Action), f, s)
	case plan.StepCall:
		return callText("calls "+mdCode(s.Flow), f, s)
	case plan.StepLink:
		return callText("goes over to "+mdCode(s.Flow), f, s)
	case plan.StepGenerate:
		return "a model fills " + mdCode(f.SlotKey(s.Slot)) + ": " + said
	case plan.StepHandoff:
		return "passes on to " + mdCode(s.Queue) + ": " + said
	case plan.StepBranch:
		return "decides"
	}
	return said
}

func callText(what markdown, f *plan.Flow, s *plan.FlowStep) markdown {
	if in := bindTexts(f, s.Inputs); len(in) > 0 {
		what += " with " + markdown(strings.Join(in, ", "))
	}
	var out []string
	for _, b := range s.Outputs {
		out = append(out, string(mdCode(f.SlotKey(b.Slot))+" from "+mdCode(b.Name)))
	}
	if len(out) > 0 {
		what += "; fills " + markdown(strings.Join(out, ", "))
	}
	return what
}

func bindTexts(f *plan.Flow, list []runtime.Bind) []string {
	var out []string
	for _, b := range list {
		value := mdText(firstText(f, b.Text))
		if b.Value != nil {
			value = exprCode(f, b.Value)
		}
		out = append(out, string(mdCode(b.Name)+" = "+value))
	}
	return out
}

// waysText lists where a step leads.
func waysText(f *plan.Flow, s *plan.FlowStep) markdown {
	var parts []string
	for _, w := range plan.StepWays(f, s) {
		part := string(mdTarget(w.To))
		switch {
		case w.How == plan.Decided:
			part = string(mdCode(w.Why)) + ": " + part
		case w.Why != "":
			part = string(mdText(w.Why)) + ": " + part
		}
		parts = append(parts, part)
	}
	if len(parts) == 0 {
		return mdNone
	}
	return markdown(strings.Join(parts, "; "))
}

func mdTarget(to string) markdown {
	if words := endWords[to]; words != "" {
		return markdown(words)
	}
	return mdCode(to)
}

// endWords are the ends of a flow for a reader.
var endWords = map[string]string{plan.TargetEnd: "end", plan.TargetCancel: "cancelled",
	plan.TargetError: "failed"}

// firstText is the first variation in the first language, as the spec writes it.
func firstText(f *plan.Flow, w runtime.Texts) string {
	if len(w) == 0 || len(w[0].Variants) == 0 {
		return ""
	}
	var b strings.Builder
	for _, p := range w[0].Variants[0] {
		switch name := f.SlotKey(p.Slot) + p.Var; {
		case name == "":
			b.WriteString(p.Text)
		case p.Decimals > 0:
			fmt.Fprintf(&b, "{%s:%d}", name, p.Decimals-1)
		default:
			b.WriteString("{" + name + "}")
		}
	}
	return b.String()
}

func exprCode(f *plan.Flow, e *runtime.Expr) markdown {
	if e == nil {
		return mdNone
	}
	return mdCode(plan.ExprText(f, *e))
}
