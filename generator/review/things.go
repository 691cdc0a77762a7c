package review

import (
	"slices"
	"strings"

	"github.com/routegen/routegen/generator/plan"
	"github.com/routegen/routegen/generator/report"
)

func anyThing[T any](*T) bool { return true }

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
	subject{change: w.setting(name, pos, before)}.effectsOf(compare(old, now, nil, nil))
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

// noteUnreserved tells of a removed name that is not reserved.
func (c *change) noteUnreserved(name string, reserved []string) {
	if !slices.Contains(reserved, name) {
		c.detailf("its name is not in reserved: it may come back with another meaning")
	}
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
	c := func() *change { return w.changeOf("enum", "", o, n, top) }
	switch {
	case o == nil:
		w.noteUnknownNames(c(), n.Was)
		c().detailf("%s", counted(len(n.Values), "value"))
		return
	case n == nil:
		c().hitf("ENUM_NO_DELETE", "Go type %s and its constants are gone", o.Name)
		return
	}
	subject{change: c}.effectsOf(compare(o, n, nil, nil))
	w.addDoc(n.Name, n.Pos, o.Doc, n.Doc)
	reportUnreserved(c, "value", o.Reserved, n.Reserved, allEarlierNames(n.Values))
	values := follow(o.Values, n.Values)
	values.visit(func(was, is *plan.EnumValue) { w.compareValue(n, was, is) })
	before, after := values.commonOrders(func(v *plan.EnumValue) bool { return !v.Hidden })
	reportOrder(c, before, after, models, "the values stand in another order in the schema")
}

func (w *comparison) compareValue(e *plan.Enum, o, n *plan.EnumValue) {
	c := func() *change { return w.valueChange(e, o, n) }
	switch {
	case o == nil:
		w.noteUnknownNames(c(), n.Was)
		if n.Hidden {
			c().detailf("hidden")
			c().notef(models, "none: it is never offered to a model")
		}
		c().hitf("ENUM_VALUE_ADDED", "a switch over %s meets a value that it does not know", e.Name)
		c().notef(stored, "none: nothing stored has it")
		return
	case n == nil:
		c().hitf("GO_API_NO_DELETE", "%s is gone", o.Const)
		c().noteUnreserved(o.Wire, e.Reserved)
		if !o.Hidden {
			c().notef(models, "no longer offered %s, and refused when they send it", o.Wire)
		}
		return
	}
	subject{change: c, values: map[string]string{"value": n.Wire}}.
		effectsOf(compare(o, n, nil, nil))
	if o.Const != n.Const {
		enum := w.byKey["enum "+e.Name] // its constants have its name
		if enum == nil || o.Wire != n.Wire {
			enum = c()
		}
		enum.hitf("GO_NAME_SAME", "%s is %s now", o.Const, n.Const)
	}
	w.docAdder(!n.Hidden)(e.Name+"."+n.Wire, n.Pos, o.Doc, n.Doc)
}

// docAdder is what tells of a changed doc: of one that models read, or of another.
func (w *comparison) docAdder(read bool) func(name string, pos report.Pos, before, after string) {
	if read {
		return w.addDoc
	}
	return w.addGoDoc
}

func (w *comparison) compareScalar(o, n *plan.Scalar) {
	c := func() *change { return w.changeOf("type", "", o, n, top) }
	switch {
	case o == nil:
		w.noteUnknownNames(c(), n.Was)
		c().detailf("a %s with a name", n.Type.Kind)
		return
	case n == nil:
		c().hitf("TYPE_NO_DELETE", "Go type %s is gone", o.Name)
		return
	}
	subject{change: c, values: map[string]string{"name": n.Name}}.effectsOf(compare(o, n, nil, nil))
	w.addDoc(n.Name, n.Pos, o.Doc, n.Doc)
	w.compareBounds(c, o.Constraints.Texts(), n.Constraints.Texts(), true)
}

func (w *comparison) compareRecord(o, n *plan.Record) {
	c := func() *change { return w.recordChange(o, n) }
	switch {
	case o == nil:
		if c().thing != "node" {
			w.recordAdded(c(), n)
		}
		return
	case n == nil:
		if c().thing == "node" {
			return
		}
		c().hitf("TYPE_NO_DELETE", "Go type %s is gone", o.Name)
		if o.Schema {
			c().hitf("DEF_SAME_NAME", "the definition %s is gone from every schema", o.Name)
		}
		return
	}
	s := subject{change: c}
	if n.Schema {
		s.is = append(s.is, inSchema)
	}
	node, was := messageOf(w.now, n), messageOf(w.old, o)
	ownDoc := true // of a message: a node's doc stands in for one
	ownName := o.Name == n.Name
	if node != nil && was != nil {
		ownDoc = n.Role == plan.RoleRequest && (n.Doc != node.Doc || o.Doc != was.Doc) ||
			n.Role == plan.RoleInterrupt && node.DisplayName == was.DisplayName
		ownName = node.DisplayName == was.DisplayName && node.Key == was.Key
	}
	if ownName {
		s.is = append(s.is, sameName)
	}
	s.effectsOf(compare(o, n, nil, nil))
	reportUnreserved(c, "field name", o.Reserved, n.Reserved, allEarlierNames(n.Fields))
	if ownDoc {
		w.docAdder(w.seenByModel[n.Name])(n.Name, w.recordPos(n), o.Doc, n.Doc)
	}
}

func (w *comparison) recordAdded(c *change, n *plan.Record) {
	w.noteUnknownNames(c, n.Was)
	c.detailf("%s: %s", n.Role, fieldList(n))
	c.notef(stored, "none: nothing stored has it")
	visitor := map[plan.Role]string{plan.RoleRequest: ifaceRequest,
		plan.RoleInterrupt: ifaceInterrupt}[n.Role]
	if visitor != "" {
		c.hitf("METHOD_ADDED", "%s gains Visit%s: what implements it stops compiling", visitor,
			n.Name)
	}
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
