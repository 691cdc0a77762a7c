package review

import (
	"slices"
	"strings"

	"github.com/routegen/routegen/generator/plan"
	"github.com/routegen/routegen/runtime"
)

// compareCollect compares a collector's decision table.
func (w *comparison) compareCollect(o, n *plan.Node) {
	was, is := collectRows(w.collectNow(o, n)), collectRows(n.Collect)
	if slices.Equal(was, is) {
		return
	}
	gone := slices.DeleteFunc(slices.Clone(was), func(s string) bool {
		return slices.Contains(is, s)
	})
	come := slices.DeleteFunc(slices.Clone(is), func(s string) bool {
		return slices.Contains(was, s)
	})
	w.nodeChange(o, n).hitf("COLLECT_CHANGED", "its decision table had [%s] and has [%s]",
		strings.Join(gone, "; "), strings.Join(come, "; "))
}

// collectNow is the decision table of an old node in the names of the new plan, without the rows
// that came or went with a value of the enum: those are consequences of the value.
func (w *comparison) collectNow(o, n *plan.Node) *runtime.Collect {
	if o.Collect == nil || n.Collect == nil {
		return o.Collect
	}
	was, is := *o.Collect, n.Collect
	if w.became(was.Result) == is.Result {
		was.Result, was.Field = is.Result, is.Field
	}
	before, after := w.old.Enum(o.Decides), w.now.Enum(n.Decides)
	if before == nil || after == nil || w.enums.next[before.Name] != after {
		return &was
	}
	values := follow(before.Values, after.Values)
	was.Arms = nil
	rows := map[string]string{}
	for _, a := range o.Collect.Arms {
		if v := values.next[a.Decision]; v != nil {
			rows[v.Wire] = w.branchNow(o, n, a.To)
			continue
		}
		w.valueChange(after, thingNamed(before.Values, a.Decision), nil).
			hitf("COLLECT_CHANGED", "%s no longer decides %s → %s", n.Key, a.Decision, a.To)
	}
	for _, a := range is.Arms {
		to, had := rows[a.Decision]
		v := thingNamed(after.Values, a.Decision)
		if !had && v != nil && values.prev[a.Decision] == nil {
			w.valueChange(after, nil, v).notef(models, "%s decides %s → %s", n.Key, a.Decision,
				a.To)
			to = a.To
		}
		was.Arms = append(was.Arms, runtime.Arm{Decision: a.Decision, To: to})
	}
	if v := values.next[was.Default]; v != nil {
		was.Default = v.Wire
	}
	return &was
}

// branchNow is the JSON name of a branch in the new plan.
func (w *comparison) branchNow(o, n *plan.Node, name string) string {
	r := w.routings.next[o.Routing]
	if r == nil || r.Name != n.Routing {
		return name
	}
	was := w.routings.prev[r.Name]
	if b := branchOf(was, name); b != nil {
		if is := follow(was.Branches, r.Branches).next[b.Key]; is != nil {
			return is.Name
		}
	}
	return name
}

func collectRows(c *runtime.Collect) []string {
	if c == nil {
		return nil
	}
	out := []string{"on " + c.Result + " " + c.Field}
	for _, a := range c.Arms {
		out = append(out, a.Decision+" → "+a.To)
	}
	for _, f := range c.Carry {
		out = append(out, f.Field+" from "+f.From)
	}
	if c.Default != "" {
		out = append(out, "default "+c.Default)
	}
	return out
}
