package plan

import (
	"cmp"
	"strings"

	"github.com/routegen/routegen/runtime"
)

// Way is one way on from a step. Why is empty where nothing else can happen; To is a step or an
// end.
type Way struct {
	Why, To string
	How     WayKind
}

// WayKind says when a way is taken.
type WayKind int

// When a way is taken.
const (
	Usual     WayKind = iota // as a rule
	Decided                  // Why is an expression
	Exception                // something went wrong
)

// StepWays is every way on from a step, the usual ones first.
func StepWays(f *Flow, s *FlowStep) []Way {
	var out []Way
	add := func(why string, to runtime.Target, how WayKind) {
		if to != runtime.NoTarget {
			out = append(out, Way{why, f.TargetName(to), how})
		}
	}
	switch s.Kind {
	case StepBranch:
		for _, a := range s.Arms {
			add(ExprText(f, a.If), a.To, Decided)
		}
		add("else", s.Else, Usual)
	case StepWhile:
		add("again", s.Body, Usual)
		add("done", s.Next, Usual)
	case StepConfirm:
		add("yes", s.OnYes, Usual)
		add("no", s.OnNo, Usual)
		add("changed", s.OnChange, Usual)
	case StepLink, StepHandoff: // nothing comes back
	default:
		add("", s.Next, Usual)
	}
	if s.When != nil && s.Kind != StepSay && s.Kind != StepSet {
		add("skipped", s.Next, Usual)
	}
	add("invalid", s.OnInvalid, Exception)
	add("time is up", s.OnTimeout, Exception)
	add("cancelled", s.OnCancel, Exception)
	switch s.Kind {
	case StepAction, StepCall, StepGenerate:
		add("failed", cmp.Or(s.OnError, f.OnError), Exception)
	}
	return out
}

// binding is how tightly the operators of expressions hold, loosest first.
var binding = map[runtime.ExprOp]int{runtime.OpOr: 1, runtime.OpAnd: 2, runtime.OpNot: 3}

// ExprText writes an expression as the spec does, with brackets where they are needed.
func ExprText(f *Flow, e runtime.Expr) string {
	switch e.Op { //nolint:exhaustive // the others have arguments
	case runtime.OpValue:
		return e.Value
	case runtime.OpSlot:
		return f.SlotKey(e.Slot)
	case runtime.OpFilled:
		return "filled(" + f.SlotKey(e.Slot) + ")"
	}
	own := holds(e)
	var parts []string
	for _, a := range e.Args {
		text := ExprText(f, a)
		if holds(a) < own || holds(a) == own && own == comparison {
			text = "(" + text + ")"
		}
		parts = append(parts, text)
	}
	if e.Op == runtime.OpNot {
		return "not " + strings.Join(parts, "")
	}
	return strings.Join(parts, " "+OpWord(e.Op)+" ")
}

const comparison, primary = 4, 5

func holds(e runtime.Expr) int {
	switch n := binding[e.Op]; {
	case n > 0:
		return n
	case len(e.Args) > 0:
		return comparison
	}
	return primary
}
