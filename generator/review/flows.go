package review

import (
	"cmp"
	"slices"
	"strings"

	"github.com/routegen/routegen/generator/plan"
	"github.com/routegen/routegen/runtime"
)

// compareFlows compares what flows are made of, and what a program does for them.
func (w *comparison) compareFlows() {
	old, now := talkOf(w.old), talkOf(w.now)
	if w.old.Talk != nil && w.now.Talk != nil {
		w.compareSetting("dialogue", top, 0, old, now)
	}
	w.flows.visit(w.compareFlow)
	compareOrder(subject{change: w.setting("flows", top, 0)}, "Plan/Flows", w.flows,
		func(f *plan.Flow) bool { return !f.Hidden })
	w.actions.visit(w.compareAction)
	w.validators.visit(w.compareValidator)
}

// compareFlow compares one flow; o is nil for a new one, n for one that is gone.
func (w *comparison) compareFlow(o, n *plan.Flow) {
	f := either(o, n)
	s := subject{change: func() *change { return w.flowChange(o, n) }, doc: "flow " + f.Name,
		values: map[string]string{"steps": counted(len(f.Steps), "step"),
			"slots": counted(len(f.Slots), "slot")},
		is: map[condition]bool{visible: !f.Hidden, sameName: nameOf(o) == nameOf(n),
			forgotten: !slices.Contains(w.now.Reserved, f.Name)}}
	if o == nil || n == nil {
		compareThing(w, s, o, n)
		return
	}
	was := w.renamed(o, n)
	s.flows = [2]*plan.Flow{was, n}
	compareThing(w, s, was, n)
	if !s.is[sameName] {
		s.change().notef(stored, "none: the old name is read")
	}
	reportUnreserved(s.change, "name of a step or slot", o.Reserved, n.Reserved,
		allEarlierNames(n.Slots))
	w.compareSlots(o, n)
	w.compareWays(was, n)
	steps := follow(o.Steps, n.Steps)
	steps.visit(func(a, b *plan.FlowStep) { w.compareStep(was, n, a, b) })
	compareOrder(s, "Flow/Steps", steps, nil)
}

// compareSlots compares the slots of a flow, and what its callers see of them.
func (w *comparison) compareSlots(o, n *plan.Flow) {
	before, after := o.Record(), n.Record()
	w.seenByModel[after.Name] = true // understanding fills them
	w.compareFields(&before, &after, false)
	follow(o.Slots, n.Slots).visit(func(was, is *plan.FlowSlot) {
		if was != nil && is != nil && slotText(was) != slotText(is) {
			w.fieldChange(&after, &was.Field, &is.Field).hitf("FLOW_CHANGED",
				"it was %s and is %s", slotText(was), slotText(is))
		}
	})
}

// slotText says whether a flow takes or gives a slot.
func slotText(s *plan.FlowSlot) string {
	out := "kept inside"
	switch {
	case s.Input && s.Output:
		out = "taken and given"
	case s.Input:
		out = "taken"
	case s.Output:
		out = "given"
	}
	return ifElse(s.Needed, "always ", "") + out
}

// compareStep compares one step; o is nil for a new one, n for one that is gone. old is the old
// flow in the names of the new plan.
func (w *comparison) compareStep(old, f *plan.Flow, o, n *plan.FlowStep) {
	step := either(o, n)
	s := subject{change: func() *change { return w.stepChange(f, o, n) },
		values: map[string]string{"text": stepText(f, step)},
		is:     map[condition]bool{forgotten: !slices.Contains(f.Reserved, step.ID)},
		flows:  [2]*plan.Flow{old, f}}
	if o == nil || n == nil {
		compareThing(w, s, o, n)
		return
	}
	for _, t := range [][2]runtime.Texts{{o.Text, n.Text}, {o.Invalid, n.Invalid}} {
		was, is := saidText(old, t[0]), saidText(f, t[1])
		switch {
		case was == is:
		case n.Kind == plan.StepGenerate:
			w.addPrompt("step "+f.Name+"."+n.ID, n.Pos, was, is)
		default:
			s.change().tellf("SAID_TEXT_CHANGED", ways, "users are told: %s", wordDiff(was, is))
		}
	}
	was := old.Step(n.ID)
	is := *n
	if o.ID == n.ID { // its constant has the name of the flow
		is.Const = was.Const
	} else {
		s.change().notef(stored, "none: the old id is read")
	}
	compareThing(w, s, was, &is)
}

// stepText says what a new step does.
func stepText(f *plan.Flow, s *plan.FlowStep) string {
	out := s.Kind
	if what := cmp.Or(s.Action, s.Flow, f.SlotKey(s.Slot), s.Queue); what != "" {
		out += " " + what
	}
	if s.When != nil {
		out += ", only when " + plan.ExprText(f, *s.When)
	}
	if said := saidText(f, s.Text); said != "" {
		out += ": " + said
	}
	return out
}

// saidText is a text in every language and variation.
func saidText(f *plan.Flow, texts runtime.Texts) string {
	var lines []string
	for _, in := range texts {
		for _, v := range in.Variants {
			var b strings.Builder
			for _, p := range v {
				b.WriteString(p.Text)
				if name := f.SlotKey(p.Slot) + p.Var; name != "" {
					b.WriteString("{" + name + "}")
				}
			}
			lines = append(lines, strings.TrimSpace(in.Language+" "+b.String()))
		}
	}
	return strings.Join(lines, "\n")
}

// renamed is an old flow with the names that its parts, and what its steps run, have in the new
// plan, so that a rename that the spec declares is one change and not one in every step that speaks
// of it. Rows refer to slots and steps by number, so these are renamed in one place.
func (w *comparison) renamed(o, n *plan.Flow) *plan.Flow {
	out := *o
	out.Slots, out.Steps = slices.Clone(o.Slots), slices.Clone(o.Steps)
	slots, steps := follow(o.Slots, n.Slots).next, follow(o.Steps, n.Steps).next
	for i := range out.Slots {
		if s := slots[out.Slots[i].Key]; s != nil {
			out.Slots[i].Key = s.Key
		}
	}
	for i := range out.Steps {
		s := &out.Steps[i]
		s.Set = renamedBinds(s.Set, slots)
		if is := steps[s.ID]; is != nil {
			s.ID = is.ID
		}
		if a := w.actions.next[s.Action]; a != nil {
			s.Action = a.Name
		}
		if v := w.validators.next[s.Check]; v != nil {
			s.Check = v.Key
		}
		if called := w.flows.next[s.Flow]; called != nil {
			names := follow(talkOf(w.old).Flow(s.Flow).Slots, called.Slots).next
			s.Inputs, s.Outputs = renamedBinds(s.Inputs, names), renamedBinds(s.Outputs, names)
			s.Flow = called.Name
		}
	}
	return &out
}

func renamedBinds(list []runtime.Bind, names map[string]*plan.FlowSlot) []runtime.Bind {
	out := slices.Clone(list)
	for i := range out {
		if s := names[out[i].Name]; s != nil {
			out[i].Name = s.Key
		}
	}
	return out
}

// compareAction compares one action: the method that a program implements. o is nil for a new one,
// n for one that is gone.
func (w *comparison) compareAction(o, n *plan.Action) {
	s := subject{change: w.changer("action", "", o, n, top), unread: true,
		doc: "action " + either(o, n).Name}
	if compareThing(w, s, o, n) {
		wasIn, wasOut := o.Records()
		isIn, isOut := n.Records()
		w.compareFields(&wasIn, &isIn, false)
		w.compareFields(&wasOut, &isOut, false)
	}
}

// compareValidator compares one validator; o is nil for a new one, n for one that is gone.
func (w *comparison) compareValidator(o, n *plan.Validator) {
	v := either(o, n)
	s := subject{change: w.changer("validator", "", o, n, top), doc: "validator " + v.Key,
		unread: true, is: map[condition]bool{forgotten: !slices.Contains(w.now.Reserved, v.Key)}}
	if o != nil && n != nil {
		was, is := goTypeText(o.Type), goTypeText(n.Type)
		s.values = map[string]string{"go type": is, "go type before": was}
		s.is[newGoType] = was != is
	} else if n == nil {
		s.change().advice = "take the method away with it: nothing calls it any more"
	}
	compareThing(w, s, o, n)
}
