package review

import (
	"cmp"
	"strings"

	"github.com/routegen/routegen/generator/plan"
	"github.com/routegen/routegen/generator/spec"
	"github.com/routegen/routegen/runtime"
)

// allActions compares what a program does for flows: the methods that it implements.
func (w *walker) allActions(old, now *plan.Talk) {
	for i := range now.Actions {
		n := &now.Actions[i]
		o := w.flowsOf.actions.prev[n.Key]
		was := ""
		if o != nil {
			was = o.Key
		}
		c := w.portChange("action", was, n.Key, n.Line, n.Column)
		if o == nil {
			c().hitf("METHOD_ADDED", "%s gains %s: what implements it stops compiling", ifaceActions, n.Method)
			continue
		}
		if o.Method != n.Method {
			c().hitf("GO_NAME_SAME", "method %s is %s now", o.Method, n.Method)
		}
		w.goDoc("action "+n.Key, spec.Pos{Line: n.Line, Column: n.Column}, o.Doc, n.Doc)
		left := []string{"key", "was", "doc", "method", "input", "output", "inputs", "outputs"}
		if d := differences(membersOf(o, left...), membersOf(n, left...)); len(d) > 0 {
			c().hitf("FLOW_CHANGED", "%s", strings.Join(d, ", "))
		}
		wasIn, wasOut := o.Records()
		isIn, isOut := n.Records()
		w.fields(&wasIn, &isIn, false)
		w.fields(&wasOut, &isOut, false)
	}
	for i := range old.Actions {
		if o := &old.Actions[i]; w.flowsOf.actions.next[o.Key] == nil {
			w.portChange("action", o.Key, "", 1, 1)().hitf("GO_API_NO_DELETE", "method %s.%s, %s and %s are gone", ifaceActions, o.Method, o.Input, o.Output)
		}
	}
	for i := range now.Validators {
		n := &now.Validators[i]
		o := w.flowsOf.validators.prev[n.Key]
		was := ""
		if o != nil {
			was = o.Key
		}
		c := w.portChange("validator", was, n.Key, n.Line, n.Column)
		if o == nil {
			c().hitf("METHOD_ADDED", "%s gains %s: what implements it stops compiling", ifaceValidators, n.Method)
			continue
		}
		if o.Method != n.Method {
			c().hitf("GO_NAME_SAME", "method %s is %s now", o.Method, n.Method)
		}
		if was, is := goTypeText(o.Type), goTypeText(n.Type); was != is {
			c().hitf("FIELD_SAME_GO_TYPE", "method %s takes %s in place of %s", n.Method, is, was)
		}
		w.goDoc("validator "+n.Key, spec.Pos{Line: n.Line, Column: n.Column}, o.Doc, n.Doc)
	}
	for i := range old.Validators {
		if o := &old.Validators[i]; w.flowsOf.validators.next[o.Key] == nil {
			c := w.portChange("validator", o.Key, "", 1, 1)()
			c.unkept(o.Key, w.now.Reserved)
			c.hitf("GO_API_NO_DELETE", "method %s.%s is gone", ifaceValidators, o.Method)
		}
	}
}

// portChange is the change of an action or a validator, made when it is asked for.
func (w *walker) portChange(thing, was, is string, line, column int) func() *change {
	return func() *change {
		return w.at(thing+" "+cmp.Or(is, was), thing, was, is, spec.Pos{Line: line, Column: column}, 0)
	}
}

// flowBreak finds the change that a break in a flow belongs to, and the rule.
func (s *storedIndex) flowBreak(b runtime.ShapeBreak) (*change, string) {
	o, n := s.old.Talk.Flow(b.Shape), s.flowsOf.flows.next[b.Shape]
	if n == nil {
		return s.flowChange(o, nil), "FLOW_NO_DELETE"
	}
	if id, isStep := strings.CutPrefix(b.Field, plan.StepField); isStep {
		was := o.Step(id)
		if is := stepPairs(o, n).next[id]; is != nil {
			return s.stepChange(n, was, is), "STEP_SAME_KIND"
		}
		return s.stepChange(n, was, nil), "STEP_NO_DELETE"
	}
	was := o.Slot(strings.TrimPrefix(b.Field, plan.SlotField))
	is := slotPairs(o, n).next[was.Key]
	rec := n.Record()
	if is == nil {
		return s.fieldChange(&rec, &was.Field, nil), "SLOT_NO_DELETE"
	}
	return s.fieldChange(&rec, &was.Field, &is.Field), ruleOf(b.Cause)
}

// flowMeaning says what a break in a flow does to threads.
func flowMeaning(b runtime.ShapeBreak) string {
	const breaks = "breaks stored threads: "
	name, isStep := strings.CutPrefix(b.Field, plan.StepField)
	switch {
	case b.Field == "":
		return breaks + "a conversation may be in the middle of it"
	case isStep && b.Cause == runtime.BreakRemoved:
		return breaks + "a conversation may stand at " + name
	case isStep:
		return breaks + "a conversation may wait at it, and " + strings.ReplaceAll(b.Reason, plan.StepField, "a ")
	case b.Cause == runtime.BreakRemoved:
		return breaks + "a conversation may have it filled"
	}
	return breaks + "a filled one may not fit: " + b.Reason
}

// flowSymbols lists the exported names that flows decide.
func flowSymbols(t *plan.Talk, add func(name, typ string)) {
	record := func(r plan.Record) {
		add("type "+r.Name, "struct")
		for i := range r.Fields {
			add("field "+r.Name+"."+r.Fields[i].Go, goText(&r.Fields[i]))
		}
	}
	for i := range t.Flows {
		f := &t.Flows[i]
		add("const "+f.Const, "FlowName")
		record(f.Record())
		for _, s := range f.Slots {
			add("const "+s.Const, "SlotName")
		}
		for _, s := range f.Steps {
			add("const "+s.Const, "StepName")
		}
	}
	for i := range t.Actions {
		in, out := t.Actions[i].Records()
		record(in)
		record(out)
		add("method "+ifaceActions+"."+t.Actions[i].Method, "(*"+in.Name+") *"+out.Name)
	}
	for _, v := range t.Validators {
		add("method "+ifaceValidators+"."+v.Method, goTypeText(v.Type))
	}
}
