package spec

import (
	"strconv"
	"strings"
)

// lint warns of what is legal in flows and yet likely to hurt. Flows with errors are left out: what
// is missing in them is not unused.
func (f *flowChecker) lint(scopes []*flowScope) {
	broken := f.brokenFlows()
	for _, s := range scopes {
		if broken[s.flow.Key.Value] {
			continue
		}
		s.lintDeny()
		s.lintUnasked()
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
	f.lintIntents()
	f.lintFlowDocs()
}

// lintIntents warns of a phrase that two flows have. Literal begins the first that may start now,
// so one behind a flow with a condition can still be begun.
func (f *flowChecker) lintIntents() {
	seen := map[string]*Flow{}
	for _, flow := range f.spec.Flows {
		for i, t := range flow.Intents {
			said := strings.ToLower(strings.Trim(t.Value, " .!?")) // as Literal compares
			switch first := seen[said]; {
			case first != nil && first != flow:
				f.warn(RuleFlowIntentTwice, flow.path()+"/trigger/intents/"+strconv.Itoa(i), t.At,
					"give each a phrase of its own", "flow %q has %q too, and comes first",
					first.Key.Value, t.Value).relatedf(first.Key.At, "%q is declared here",
					first.Key.Value)
			case flow.Trigger == nil:
				seen[said] = flow
			}
		}
	}
}

// lintUnusedFlows warns of what no flow uses.
func (f *flowChecker) lintUnusedFlows() {
	for _, flow := range f.spec.Flows {
		if flow.Hidden && !f.reached[flow.Key.Value] {
			f.warn(RuleFlowHiddenUncalled, flow.path(), flow.Key.At, "call it, or remove hidden:",
				"flow %q is hidden, and no other calls or links it", flow.Key.Value)
		}
	}
	for _, a := range f.spec.Actions {
		if !f.used["actions/"+a.Key.Value] {
			f.warn(RuleFlowUnused, "/actions/"+a.Key.Value, a.Key.At, "remove it",
				"no flow calls action %q", a.Key.Value)
		}
	}
	for _, v := range f.spec.Validators {
		if !f.used["validators/"+v.Key.Value] {
			f.warn(RuleFlowUnused, "/validators/"+v.Key.Value, v.Key.At, "remove it",
				"no step uses validator %q", v.Key.Value)
		}
	}
}

// leadsTo returns for each step the action of that sort it leads to when nothing fails. What stands
// behind a confirm is that one's.
func (s *flowScope) leadsTo(sort func(*flowStep) bool) map[*flowStep]*flowStep {
	back := map[*flowStep][]*flowStep{}
	acts := map[*flowStep]*flowStep{}
	var queue []*flowStep
	for _, step := range s.steps {
		for _, w := range step.ways {
			if w.to != nil && !w.failed && step.Kind.Value != "confirm" {
				back[w.to] = append(back[w.to], step)
			}
		}
		if step.Kind.Value == "action" && sort(step) {
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
	return acts
}

// lintDeny warns of an action behind a question that has no way on for the answer no.
func (s *flowScope) lintDeny() {
	acts := s.leadsTo(func(*flowStep) bool { return true })
	for _, step := range s.steps {
		if step.Kind.Value != "confirm" || step.OnNo.Set() {
			continue
		}
		if does := acts[step.ways[0].to]; does != nil {
			s.warn(RuleFlowEffectNoDeny, step.path, step.ID.At, "add on_no:, such as cancel_flow",
				"after a yes to %q action %q is run, and nothing says what a no does",
				step.ID.Value, does.Action.Value).
				relatedf(does.Action.At, "it is run here")
		}
	}
}

// lintUnasked warns of a confirm that is passed over while the effect behind it happens. It says
// nothing where a condition of the flow reads what was answered.
func (s *flowScope) lintUnasked() {
	decides := map[string]bool{}
	note := func(e *Expr) {
		if e.Slot.Set() {
			decides[e.Slot.Value] = true
		}
	}
	for _, step := range s.steps {
		step.When.each(note)
		step.Cond.each(note)
		for _, arm := range step.Arms {
			arm.If.each(note)
		}
	}
	acts := s.leadsTo(func(step *flowStep) bool {
		a := s.actions[step.Action.Value]
		return a != nil && a.Once
	})
	for _, step := range s.steps {
		if step.Kind.Value != "confirm" || step.When == nil || decides[step.Slot.Value] {
			continue
		}
		asked, passed := acts[step.ways[0].to], acts[step.ways[2].to] // as findWays lists them
		if asked != nil && passed != nil {
			s.warn(RuleFlowEffectUnasked, step.path+"/when", step.When.At,
				"remove when:, or branch around both",
				"where this does not hold, action %q is run and %q has not asked",
				passed.Action.Value, step.ID.Value).relatedf(passed.Action.At, "it is run here")
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
		s.warn(RuleFlowLoopFixed, step.path+"/condition", step.Cond.At,
			"name a slot that the steps change", "the condition of %q is the same in every round",
			step.ID.Value)
	case fixed:
		s.warn(RuleFlowLoopFixed, step.path+"/condition", step.Cond.At, "change it in do:",
			"no step of loop %q changes %s", step.ID.Value, strings.Join(asked, ", "))
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

// lintSlots warns of slots that no step fills or reads.
func (s *flowScope) lintSlots() {
	d := s.doors[s.flow]
	for _, slot := range s.flow.Slots {
		name := slot.Key.Value
		path := s.path + "/slots/" + name
		filled := s.set[name] || d.takes[name] || slot.Default != nil
		switch {
		case d.gives[name] && !filled:
			s.warn(RuleFlowOutputUnset, path, slot.Key.At,
				"fill it in a step, or take it from outputs", "output %q is never filled", name)
		case s.read[name] && !filled:
			s.warn(RuleFlowSlotUnfilled, path, slot.Key.At,
				"fill it in a step, or list it in inputs", "slot %q is read, and nothing fills it",
				name)
		case !s.read[name] && !s.set[name] && !s.emptied[name]:
			s.warn(RuleFlowSlotUnused, path, slot.Key.At, "remove it", "no step uses slot %q", name)
		}
	}
}

// lintFlowDocs reports what understanding or a reader would have to guess.
func (f *flowChecker) lintFlowDocs() {
	for _, a := range f.spec.Actions {
		f.lintDoc(a.Doc, a.Key, "/actions/"+a.Key.Value, "action")
	}
	for _, v := range f.spec.Validators {
		f.lintDoc(v.Doc, v.Key, "/validators/"+v.Key.Value, "validator")
	}
	for _, flow := range f.spec.Flows {
		f.lintDoc(flow.Doc, flow.Key, flow.path(), "flow")
		for _, slot := range flow.Slots {
			f.lintDoc(slot.Doc, slot.Key, flow.path()+"/slots/"+slot.Key.Value, "slot")
		}
	}
}
