package spec

import (
	"slices"
	"strconv"

	"github.com/routegen/routegen/generator/report"
)

// flowStep is a step in its place.
type flowStep struct {
	*Step

	// the step behind it: of the last one in a loop the loop itself; nil of the last one in the
	// flow
	follows *flowStep
	inside  *flowStep // the loop around it
	ways    []way
	normal  bool // reached without a failure
	reached bool
	dead    bool // nothing leads to it
	last    int  // of a loop: where its body ends in the list of steps
}

// way is one place where a step may lead. No step means that the flow ends.
type way struct {
	to     *flowStep
	failed bool // taken after a failure
	asked  bool // taken from an open question only
}

// flatten lists steps, the body of a loop behind its step.
func (s *flowScope) flatten(steps []*Step, inside *flowStep) {
	var before *flowStep
	for _, step := range steps {
		at := &flowStep{Step: step, inside: inside, follows: inside}
		if before != nil {
			before.follows = at
		}
		before = at
		s.steps = append(s.steps, at)
		s.flatten(step.Do, at)
		at.last = len(s.steps)
	}
}

// at returns the position of the name of a step, or else of the step.
func (step *flowStep) at() report.Span {
	if step.ID.Set() {
		return step.ID.At
	}
	return step.At
}

// target finds where a step leads: the step, or nil for the end of the flow. A target that is not
// there counts as what follows.
func (s *flowScope) target(t Text, follows *flowStep, path string) *flowStep {
	switch {
	case !t.Set() || t.Value == "continue":
		return follows
	case slices.Contains(ReservedSteps(), t.Value):
		return nil
	case s.byID[t.Value] != nil:
		return s.byID[t.Value]
	}
	s.noSuch(RuleFlowRefStep, "step", t, path, s.targets)
	s.vague = true
	return follows
}

// findWays lists where each step may lead.
func (s *flowScope) findWays() {
	for i, step := range s.steps {
		add := func(t Text, fallback *flowStep, key string) {
			step.ways = append(step.ways, way{to: s.target(t, fallback, step.path+"/"+key)})
		}
		given := func(t Text, key string, w way) {
			if t.Set() {
				w.to = s.target(t, step.follows, step.path+"/"+key)
				step.ways = append(step.ways, w)
			}
		}
		next := s.target(step.Next, step.follows, step.path+"/next")
		onward := way{to: next}
		switch step.Kind.Value {
		case "branch":
			for k, arm := range step.Arms {
				add(arm.Then, step.follows, "cases/"+strconv.Itoa(k)+"/then")
			}
			add(step.Else, next, "else")
		case "while":
			body := step
			if len(step.Do) > 0 {
				body = s.steps[i+1]
			}
			step.ways = append(step.ways, way{to: body}, onward)
		case "confirm":
			add(step.OnYes, next, "on_yes")
			add(step.OnNo, nil, "on_no")
		case "link", "handoff":
			step.ways = append(step.ways, way{})
			if step.When != nil {
				step.ways = append(step.ways, onward)
			} else if step.Next.Set() {
				s.fail(RuleFlowStepKey, step.path+"/next", step.Next.At, "remove it, or add when:",
					"nothing comes after a %s", step.Kind.Value)
			}
		default:
			step.ways = append(step.ways, onward)
		}
		if step.When != nil && slices.Contains([]string{"branch", "confirm"}, step.Kind.Value) {
			step.ways = append(step.ways, onward)
		}
		given(step.OnChange, "on_change", way{})
		given(step.OnInvalid, "on_invalid", way{asked: true})
		given(step.OnTimeout, "on_timeout", way{asked: true})
		given(step.OnCancel, "on_cancel", way{asked: true})
		given(step.OnError, "on_error", way{failed: true})
	}
}

// checkWay looks at how steps lead to each other.
func (s *flowScope) checkWay() {
	s.findWays()
	roots := []*flowStep{s.steps[0]}
	s.reachFrom(roots, false)
	if t := s.flow.OnError; t.Value == "continue" {
		s.fail(RuleFlowRefStep, s.path+"/on_error", t.At, "name a step, or end",
			"nothing follows a failure anywhere in the flow")
	} else if to := s.target(t, nil, s.path+"/on_error"); to != nil {
		roots = append(roots, to)
	}
	s.reachFrom(roots, true)
	if s.vague {
		return
	}
	for _, step := range s.steps {
		step.dead = !step.reached
	}
	for _, step := range s.steps {
		if step.reached {
			continue
		}
		s.fail(RuleFlowUnreachable, step.path, step.at(), "let a step lead here, or remove it",
			"no step leads to %q", step.ID.Value)
		s.reachFrom([]*flowStep{step}, true) // what only it leads to is not a second mistake
	}
	s.checkEnds()
}

// reachFrom marks the steps that follow: with failures, or without.
func (s *flowScope) reachFrom(from []*flowStep, failures bool) {
	counts := func(w way) bool { return !w.failed }
	if failures {
		counts = func(w way) bool { return !w.to.reached } // the others were followed already
	}
	follow := func(step *flowStep) []*flowStep { return step.onward(counts) }
	for step := range reach(from, follow) {
		if failures {
			step.reached = true
		} else {
			step.normal = true
		}
	}
}

// onward returns the steps behind the ways that count.
func (step *flowStep) onward(counts func(way) bool) []*flowStep {
	var out []*flowStep
	for _, w := range step.ways {
		if w.to != nil && counts(w) {
			out = append(out, w.to)
		}
	}
	return out
}

// variables are those of the machine that a step may name in its texts.
func (s *flowScope) variables(step *flowStep) []string {
	if step.normal {
		return nil
	}
	return []string{"error", "error_code"}
}

// stops reports whether a step ends the flow on one of its ways, or waits each time it is come to.
func (step *flowStep) stops() bool {
	if step.Kind.Value == "while" || step.Kind.Value == "confirm" || step.Kind.Value == "collect" &&
		step.Force {
		return true // a loop has its most rounds
	}
	return slices.ContainsFunc(step.ways, func(w way) bool {
		return w.to == nil && !w.asked && !w.failed
	})
}

// checkEnds reports steps that go in a circle for ever: nothing in it asks each time, and no way
// leads out of it.
func (s *flowScope) checkEnds() {
	follow := func(step *flowStep) []*flowStep {
		return step.onward(func(w way) bool { return !w.asked && !w.failed })
	}
	for _, circle := range circles(s.steps, (*flowStep).stops, follow) {
		if first := circle[0]; !first.dead {
			s.fail(RuleFlowNoEnd, first.path, first.at(),
				"let a step of it lead to end, or ask each time with force: true",
				"these steps never end: %s",
				circleText(circle, func(step *flowStep) string { return step.ID.Value }))
		}
	}
}

// checkCallLoops reports flows that begin each other, or themselves, before anything is asked.
func (f *flowChecker) checkCallLoops(scopes []*flowScope) {
	jumps := map[*Flow]*flowStep{}
	for _, s := range scopes {
		if step := s.atOnce(); step != nil {
			jumps[s.flow] = step
		}
	}
	onward := func(flow *Flow) []*Flow {
		if step := jumps[flow]; step != nil && f.flows[step.Flow.Value] != nil {
			return []*Flow{f.flows[step.Flow.Value]}
		}
		return nil
	}
	for _, circle := range circles(f.spec.Flows, func(*Flow) bool { return false }, onward) {
		step := jumps[circle[0]]
		f.fail(RuleFlowCallLoop, step.path+"/flow", step.Flow.At,
			"ask something, or branch, before it", "these flows begin each other without end: %s",
			circleText(circle, func(flow *Flow) string { return flow.Key.Value }))
	}
}

// atOnce returns the call or link that every run of the flow comes to before it asks or decides
// anything, or nil.
func (s *flowScope) atOnce() *flowStep {
	if len(s.steps) == 0 {
		return nil
	}
	seen := map[*flowStep]bool{}
	for step := s.steps[0]; step != nil && !seen[step] && step.When == nil; step = step.ways[0].to {
		seen[step] = true
		switch step.Kind.Value {
		case "call", "link":
			return step
		case "say", "set", "action", "generate":
			continue
		}
		return nil
	}
	return nil
}
