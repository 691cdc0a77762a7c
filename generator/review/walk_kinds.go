package review

import (
	"fmt"
	"slices"
	"strings"

	"github.com/routegen/routegen/generator/plan"
	"github.com/routegen/routegen/generator/spec"
)

// allKinds compares the interrupt kinds.
func (w *walker) allKinds() {
	var before, after []string
	for i := range w.now.Interrupt.Kinds {
		n := &w.now.Interrupt.Kinds[i]
		o := w.kinds.prev[n.Key]
		if o == nil {
			w.formerly(w.kindChange(nil, n), n.Was)
			w.kindChange(nil, n).hitf("KIND_ADDED", "%s: clash %s", n.Const, n.Clash)
			continue
		}
		after = append(after, n.Key)
		if o.Const != n.Const {
			w.kindChange(o, n).hitf("GO_NAME_SAME", "%s is %s now", o.Const, n.Const)
		}
		w.goDoc("kind "+n.Key, spec.Pos{Line: n.Line, Column: n.Column}, o.Doc, n.Doc)
		was, is := kindParts(o), kindParts(n)
		for i := range was {
			if was[i] == is[i] {
				continue
			}
			w.kindChange(o, n).hitf("KIND_CHANGED", "%s, and it was %s", is[i], was[i])
			w.kindChange(o, n).notef(stored, "none: deadlines are stored, so open interrupts keep theirs; the rest holds from now on")
		}
	}
	for i := range w.old.Interrupt.Kinds {
		o := &w.old.Interrupt.Kinds[i]
		if w.kinds.next[o.Key] == nil {
			c := w.kindChange(o, nil)
			c.hitf("GO_API_NO_DELETE", "%s is gone", o.Const)
			c.unkept(o.Key, w.now.Interrupt.ReservedKinds)
			continue
		}
		before = append(before, w.kinds.next[o.Key].Key)
	}
	if !slices.Equal(before, after) {
		w.at("setting kinds", "setting", "kinds", "kinds", w.interruptsPos(), 0).
			hitf("KIND_CHANGED", "which kind wins a clash changed: %s is %s", strings.Join(before, ", "), strings.Join(after, ", "))
	}
}

// kindParts says how a kind is treated, part by part, always in the same order.
func kindParts(k *plan.InterruptKind) []string {
	out := []string{
		"clash " + k.Clash, "choices [" + strings.Join(k.Choices, ", ") + "]", fmt.Sprintf("route_to %t", k.RouteTo),
		"no deadline", "no retry", "no automatic answer",
	}
	if d := k.Deadline; d != nil {
		out[3] = "deadline " + strings.Join(strings.Fields(d.After+" then "+d.Then+" "+d.Answer+d.Assignee+d.Target), " ")
		if d.Reminder != "" {
			out[3] += ", reminder " + d.Reminder
		}
	}
	if r := k.Retry; r != nil {
		out[4] = fmt.Sprintf("retry %d times, %s from %s to %s", r.Attempts, r.Backoff, r.First, nameOr(r.Max, "no bound"))
	}
	if a := k.Auto; a != nil {
		out[5] = "answered " + a.Answer + " when [" + strings.Join(a.When, ", ") + "]"
	}
	return out
}
