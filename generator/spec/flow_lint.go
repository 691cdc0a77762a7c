package spec

import (
	"strconv"
	"strings"
)

// lint warns of what is legal in flows and yet likely to hurt. Flows with errors are left out: what is missing in them is not unused.
func (f *flowChecker) lint(scopes []*flowScope) {
	broken := f.brokenFlows()
	for _, s := range scopes {
		if broken[s.flow.Key.Value] {
			continue
		}
		s.lintDeny()
		for i, step := range s.steps {
			if step.Kind.Value == "while" {
				s.lintLoop(step, s.steps[i+1:step.last])
			}
		}
		s.lintSlots()
	}
	if len(broken) == 0 {
		f.lintUnusedFlows()
	}
	f.lintFlowDocs()
}

// lintUnusedFlows warns of what no flow uses.
func (f *flowChecker) lintUnusedFlows() {
	for _, flow := range f.spec.Flows {
		if flow.Hidden && !f.reached[flow.Key.Value] {
			f.warn(RuleFlowHiddenUncalled, flow.path(), flow.Key.At, "call it, or remove hidden:", "flow %q is hidden, and no other calls or links it", flow.Key.Value)
		}
	}
	for _, a := range f.spec.Actions {
		if !f.used["actions/"+a.Key.Value] {
			f.warn(RuleFlowUnused, "/actions/"+a.Key.Value, a.Key.At, "remove it", "no flow calls action %q", a.Key.Value)
		}
	}
	for _, v := range f.spec.Validators {
		if !f.used["validators/"+v.Key.Value] {
			f.warn(RuleFlowUnused, "/validators/"+v.Key.Value, v.Key.At, "remove it", "no step uses validator %q", v.Key.Value)
		}
	}
}

// lintDeny warns of an action behind a question whose no nobody has thought of. Behind a second question it is that one's.
func (s *flowScope) lintDeny() {
	back := map[*flowStep][]*flowStep{}
	acts := map[*flowStep]*flowStep{} // the action that a step leads to
	var queue []*flowStep
	for _, step := range s.steps {
		for _, w := range step.ways {
			if w.to != nil && !w.failed && step.Kind.Value != "confirm" {
				back[w.to] = append(back[w.to], step)
			}
		}
		if step.Kind.Value == "action" {
			acts[step] = step
			queue = append(queue, step)
		}
	}
	for ; len(queue) > 0; queue = queue[1:] {
		for _, from := range back[queue[0]] {
			if acts[from] == nil {
				acts[from] = acts[queue[0]]
				queue = append(queue, from)
			}
		}
	}
	for _, step := range s.steps {
		if step.Kind.Value != "confirm" || step.OnNo.Set() {
			continue
		}
		if does := acts[step.ways[0].to]; does != nil {
			s.warn(RuleFlowEffectNoDeny, step.path, step.ID.At, "add on_no:, such as cancel_flow", "after a yes to %q action %q is run, and nothing says what a no does", step.ID.Value, does.Action.Value).
				relatedf(does.Action.At, "it is run here")
		}
	}
}

// lintLoop warns of a loop whose body cannot change its condition.
func (s *flowScope) lintLoop(step *flowStep, body []*flowStep) {
	if step.Cond == nil || len(body) == 0 {
		return
	}
	changes := map[string]bool{}
	for _, at := range body {
		s.fills(at, changes)
	}
	var asked []string
	fixed := true
	step.Cond.each(func(e *Expr) {
		if e.Slot.Set() {
			asked = append(asked, strconv.Quote(e.Slot.Value))
			fixed = fixed && !changes[e.Slot.Value]
		}
	})
	switch {
	case len(asked) == 0:
		s.warn(RuleFlowLoopFixed, step.path+"/condition", step.Cond.At, "name a slot that the steps change", "the condition of %q is the same in every round", step.ID.Value)
	case fixed:
		s.warn(RuleFlowLoopFixed, step.path+"/condition", step.Cond.At, "change it in do:", "no step of loop %q changes %s", step.ID.Value, strings.Join(asked, ", "))
	}
}

// fills adds the slots that a step may change.
func (s *flowScope) fills(step *flowStep, into map[string]bool) {
	if step.Slot.Set() {
		into[step.Slot.Value] = true
	}
	for _, b := range step.Set {
		into[b.Name.Value] = true
	}
	for _, b := range step.Outputs {
		into[b.To.Value] = true
	}
	if a := s.actions[step.Action.Value]; a != nil {
		for _, out := range a.Outputs {
			into[out.Key.Value] = true
		}
	}
}

// lintSlots warns of slots that nobody fills or reads.
func (s *flowScope) lintSlots() {
	d := s.doors[s.flow]
	for _, slot := range s.flow.Slots {
		name := slot.Key.Value
		path := s.path + "/slots/" + name
		filled := s.set[name] || d.takes[name] || slot.Default != nil
		switch {
		case d.gives[name] && !filled:
			s.warn(RuleFlowOutputUnset, path, slot.Key.At, "fill it in a step, or take it from outputs", "output %q is never filled", name)
		case !s.read[name] && !s.set[name] && !s.emptied[name]:
			s.warn(RuleFlowSlotUnused, path, slot.Key.At, "remove it", "no step uses slot %q", name)
		}
	}
}

// lintFlowDocs reports what understanding or a reader would have to guess.
func (f *flowChecker) lintFlowDocs() {
	missing := func(doc Text, at Span, path, what, name string) {
		if strings.TrimSpace(doc.Value) == "" {
			f.warn(RuleDocMissing, path, at, "add doc: with one sentence", "%s %q has no doc", what, name)
		}
	}
	for _, a := range f.spec.Actions {
		missing(a.Doc, a.Key.At, "/actions/"+a.Key.Value, "action", a.Key.Value)
	}
	for _, v := range f.spec.Validators {
		missing(v.Doc, v.Key.At, "/validators/"+v.Key.Value, "validator", v.Key.Value)
	}
	for _, flow := range f.spec.Flows {
		missing(flow.Doc, flow.Key.At, flow.path(), "flow", flow.Key.Value)
		for _, slot := range flow.Slots {
			missing(slot.Doc, slot.Key.At, flow.path()+"/slots/"+slot.Key.Value, "slot", slot.Key.Value)
		}
	}
}
