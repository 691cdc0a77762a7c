package review

import (
	"slices"
	"strings"

	"github.com/routegen/routegen/generator/plan"
	"github.com/routegen/routegen/generator/report"
)

// compareSettings compares what stands at the top of the spec.
func (w *comparison) compareSettings() {
	version, pkg := *w.old, *w.old
	version.Package, version.Out, pkg.Version = w.now.Package, w.now.Out, w.now.Version
	w.compareSetting("version", top, 0, &version, w.now)
	w.compareSetting("go", top, 0, &pkg, w.now)
	reportUnreserved(w.setting("reserved", top, 0), "name", w.old.Reserved, w.now.Reserved, nil)
	a, b := w.old.Interrupt, w.now.Interrupt
	a.Answer = w.recordNow(a.Answer)
	w.compareSetting("interrupts", w.interruptsPos(), a.Pos.Line, &a, &b)
	c := w.setting("interrupts", w.interruptsPos(), a.Pos.Line)
	reportUnreserved(c, "name of a common field", a.Reserved, b.Reserved,
		allEarlierNames(w.commonFields()))
	reportUnreserved(c, "name of a kind", a.ReservedKinds, b.ReservedKinds,
		allEarlierNames(b.Kinds))
	if a.Handler.Guidance != b.Handler.Guidance {
		w.addPrompt("interrupt handler", w.interruptsPos(), a.Handler.Guidance, b.Handler.Guidance)
	}
	w.compareSetting("interrupts", w.interruptsPos(), a.Pos.Line, &a.Handler, &b.Handler)
	w.compareSetting("conversation", top, 0, &w.old.Convo, &w.now.Convo)
}

func (w *comparison) compareSetting(name string, pos report.Pos, before int, old, now any) {
	s := subject{change: w.setting(name, pos, before)}
	s.effectsOf(compare(old, now, nil, nil))
}

// commonFields are the fields that all interrupt requests carry.
func (w *comparison) commonFields() []plan.Field {
	for i := range w.now.Records {
		if r := &w.now.Records[i]; r.Role == plan.RoleInterrupt {
			end := slices.IndexFunc(r.Fields, func(f plan.Field) bool { return !f.Common })
			if end < 0 {
				end = len(r.Fields)
			}
			return r.Fields[:end]
		}
	}
	return nil
}

func nameOr(name, none string) string {
	if name == "" {
		return none
	}
	return name
}

func ifElse(cond bool, yes, no string) string {
	if cond {
		return yes
	}
	return no
}

// addPrompt records a changed text that tells a model what to do.
func (w *comparison) addPrompt(name string, pos report.Pos, before, after string) {
	w.texts = append(w.texts, TextDelta{Name: name, Line: pos.Line, Prompt: true, Before: before,
		After: after})
	w.changeAt("prompt "+name, "prompt", name, name, pos, 0).
		hitf("PROMPT_TEXT_CHANGED", "its model is told something else (%s)",
			wordDelta(before, after))
}

// allEarlierNames are the earlier names of all things of a list.
func allEarlierNames[T any](things []T) []string {
	var out []string
	for i := range things {
		out = append(out, earlierNames(&things[i])...)
	}
	return out
}

// reportUnreserved reports names that are no longer reserved. One that something has as an earlier
// name is spoken of there.
func reportUnreserved(c func() *change, what string, before, after, known []string) {
	for _, name := range before {
		if !slices.Contains(after, name) && !slices.Contains(known, name) {
			c().hitf("RESERVED_NO_DELETE", "the %s %s may come back with another meaning", what,
				name)
		}
	}
}

func (w *comparison) compareEnum(o, n *plan.Enum) {
	e := either(o, n)
	s := subject{change: w.changer("enum", "", o, n, top), doc: e.Name,
		values: map[string]string{"values": counted(len(e.Values), "value")}}
	if !compareThing(w, s, o, n) {
		return
	}
	reportUnreserved(s.change, "value", o.Reserved, n.Reserved, allEarlierNames(n.Values))
	values := follow(o.Values, n.Values)
	values.visit(func(was, is *plan.EnumValue) { w.compareValue(n, was, is) })
	compareOrder(s, "Enum/Values", values, func(v *plan.EnumValue) bool { return !v.Hidden })
}

func (w *comparison) compareValue(e *plan.Enum, o, n *plan.EnumValue) {
	v := either(o, n)
	s := subject{change: w.changer("value", e.Name, o, n, e.Pos), doc: e.Name + "." + v.Wire,
		unread: v.Hidden, values: map[string]string{"enum": e.Name},
		is: map[condition]bool{hidden: v.Hidden, visible: !v.Hidden,
			forgotten: !slices.Contains(e.Reserved, v.Wire)}}
	if !compareThing(w, s, o, n) || o.Const == n.Const {
		return
	}
	c := w.byKey["enum "+e.Name] // its constants have its name
	if c == nil || o.Wire != n.Wire {
		c = s.change()
	}
	c.hitf("GO_NAME_SAME", "%s is %s now", o.Const, n.Const)
}

func (w *comparison) compareScalar(o, n *plan.Scalar) {
	t := either(o, n)
	s := subject{change: w.changer("type", "", o, n, top), doc: t.Name,
		values: map[string]string{"kind": string(t.Type.Kind)}}
	if compareThing(w, s, o, n) {
		w.compareBounds(s.change, o.Constraints.Texts(), n.Constraints.Texts(), true)
	}
}

func (w *comparison) compareRecord(o, n *plan.Record) {
	r := either(o, n)
	s := subject{change: func() *change { return w.recordChange(o, n) },
		values: map[string]string{"fields": fieldList(r)}, unread: !w.seenByModel[r.Name],
		is: map[condition]bool{inSchema: r.Schema}}
	if (o == nil || n == nil) && s.change().thing == "node" {
		return // a message that comes or goes with its node
	}
	visitor := map[plan.Role]string{plan.RoleRequest: ifaceRequest,
		plan.RoleInterrupt: ifaceInterrupt}[r.Role]
	if o == nil && visitor != "" {
		s.change().hitf("METHOD_ADDED", "%s gains Visit%s: what implements it stops compiling",
			visitor, n.Name)
	}
	if o != nil && n != nil {
		node, was := messageOf(w.now, n), messageOf(w.old, o)
		ownDoc := true // of a message: a node's doc stands in for one
		s.is[sameName] = o.Name == n.Name
		if node != nil && was != nil {
			ownDoc = n.Role == plan.RoleRequest && (n.Doc != node.Doc || o.Doc != was.Doc) ||
				n.Role == plan.RoleInterrupt && node.DisplayName == was.DisplayName
			s.is[sameName] = node.DisplayName == was.DisplayName && node.Key == was.Key
		}
		if ownDoc {
			s.doc = n.Name
		}
		reportUnreserved(s.change, "field name", o.Reserved, n.Reserved, allEarlierNames(n.Fields))
	}
	compareThing(w, s, o, n)
}

// fieldList names the first fields of a record with their types.
func fieldList(r *plan.Record) string {
	const few = 8
	var out []string
	for i := range r.Fields {
		if i == few {
			out = append(out, "and "+counted(len(r.Fields)-few, "more field"))
			break
		}
		out = append(out, r.Fields[i].JSON+" ("+fieldText(&r.Fields[i])+")")
	}
	return nameOr(strings.Join(out, ", "), "no field")
}
