package review

import (
	"github.com/routegen/routegen/generator/plan"
	"github.com/routegen/routegen/generator/spec"
)

// settings compares what stands at the top of the spec.
func (w *walker) settings() {
	top := spec.Pos{Line: 1, Column: 1}
	if w.old.Version != w.now.Version {
		w.at("setting version", "setting", "version", "version", top, 0).hitf("SPEC_VERSION_SAME", "version %d is %d now: names follow other rules", w.old.Version, w.now.Version)
	}
	if w.old.Package != w.now.Package || w.old.Out != w.now.Out {
		c := w.at("setting go", "setting", "go", "go", top, 0)
		c.detailf("package %s in %s is package %s in %s", w.old.Package, w.old.Out, w.now.Package, w.now.Out)
		c.hitf("GO_PACKAGE_SAME", "every import of the package has to be edited")
	}
	freed(func() *change { return w.at("setting reserved", "setting", "reserved", "reserved", top, 0) }, "name", w.old.Reserved, w.now.Reserved, nil, fieldWas)
	a, b := w.old.Interrupt, w.now.Interrupt
	c := func() *change {
		return w.at("setting interrupts", "setting", "interrupts", "interrupts", w.interruptsPos(), a.Line)
	}
	for _, name := range [][2]string{{a.Interface, b.Interface}, {a.Routing, b.Routing}} {
		if name[0] != name[1] {
			c().hitf("GO_NAME_SAME", "%s is %s now", name[0], name[1])
		}
	}
	freed(c, "name of a common field", a.Reserved, b.Reserved, w.commonFields(), fieldWas)
	freed(c, "name of a kind", a.ReservedKinds, b.ReservedKinds, b.Kinds, kindWas)
	if a.Answer != b.Answer && w.became(a.Answer) != b.Answer {
		c().hitf("ANSWER_SAME_TYPE", "a person answers with %s, not with %s", nameOr(b.Answer, "no declared type"), nameOr(a.Answer, "no declared type"))
	}
	if a.Handler.Guidance != b.Handler.Guidance {
		w.prompt("interrupt handler", w.interruptsPos(), a.Handler.Guidance, b.Handler.Guidance)
	}
	if a.Handler.Name != b.Handler.Name {
		c().hitf("NODE_POLICY_CHANGED", "the action of the handler was %s and is %s", a.Handler.Name, b.Handler.Name)
	}
	if a.Handler.DisplayName != b.Handler.DisplayName || a.DisplayName != b.DisplayName {
		c().hitf("DISPLAY_NAME_CHANGED", "%q, %q are %q, %q now", a.DisplayName, a.Handler.DisplayName, b.DisplayName, b.Handler.DisplayName)
	}
	if w.old.Convo != w.now.Convo {
		w.at("setting conversation", "setting", "conversation", "conversation", top, 0).
			hitf("NODE_POLICY_CHANGED", "turn_start %s, plain_text %s are %s, %s now", w.old.Convo.TurnStart, w.old.Convo.PlainText, w.now.Convo.TurnStart, w.now.Convo.PlainText)
	}
}

func nameOr(name, none string) string {
	if name == "" {
		return none
	}
	return name
}

// prompt records a changed text that tells a model what to do.
func (w *walker) prompt(name string, pos spec.Pos, before, after string) {
	w.texts = append(w.texts, TextDelta{Name: name, Line: pos.Line, Prompt: true, Before: before, After: after})
	w.at("prompt "+name, "prompt", name, name, pos, 0).hitf("PROMPT_TEXT_CHANGED", "its model is told something else (%s)", wordDelta(before, after))
}

func (w *walker) enumTypes() {
	for i := range w.now.Enums {
		n := &w.now.Enums[i]
		o := w.enums.prev[n.Name]
		if o == nil {
			w.formerly(w.enumChange(nil, n), n.Was)
			w.enumChange(nil, n).detailf("%s", counted(len(n.Values), "value"))
			continue
		}
		if o.Name != n.Name {
			w.enumChange(o, n).hitf("GO_NAME_SAME", "%s is %s now", o.Name, n.Name)
		}
		w.text(n.Name, spec.Pos{Line: n.Line, Column: n.Column}, o.Doc, n.Doc)
		freed(func() *change { return w.enumChange(o, n) }, "value", o.Reserved, n.Reserved, n.Values, valueWas)
		w.enumValues(o, n)
		w.enumOrder(o, n)
	}
	for i := range w.old.Enums {
		if o := &w.old.Enums[i]; w.enums.next[o.Name] == nil {
			w.enumChange(o, nil).hitf("ENUM_NO_DELETE", "Go type %s and its constants are gone", o.Name)
		}
	}
}

// enumOrder tells that the values which models are offered, before and now, stand in another order.
func (w *walker) enumOrder(o, n *plan.Enum) {
	var before, after []string
	values := follow(o.Values, n.Values, func(v *plan.EnumValue) string { return v.Wire }, valueWas)
	for i := range o.Values {
		if v := values.next[o.Values[i].Wire]; v != nil && !v.Hidden && !o.Values[i].Hidden {
			before = append(before, v.Wire)
		}
	}
	for i := range n.Values {
		if was := values.prev[n.Values[i].Wire]; was != nil && !was.Hidden && !n.Values[i].Hidden {
			after = append(after, n.Values[i].Wire)
		}
	}
	order(func() *change { return w.enumChange(o, n) }, before, after, models, "the values stand in another order in the schema")
}

func (w *walker) enumValues(o, n *plan.Enum) {
	values := follow(o.Values, n.Values, func(v *plan.EnumValue) string { return v.Wire }, valueWas)
	for i := range n.Values {
		v := &n.Values[i]
		was := values.prev[v.Wire]
		switch {
		case was == nil:
			c := w.valueChange(n, nil, v)
			w.formerly(c, v.Was)
			if v.Hidden {
				c.detailf("hidden")
				c.notef(models, "none: it is never offered to a model")
			}
			c.hitf("ENUM_VALUE_ADDED", "a switch over %s meets a value that it does not know", n.Name)
			c.notef(stored, "none: nothing stored has it")
			continue
		case was.Hidden && !v.Hidden:
			w.valueChange(n, was, v).hitf("VISIBILITY_SAME", "models are offered %s, which was hidden", v.Wire)
		case !was.Hidden && v.Hidden:
			w.valueChange(n, was, v).hitf("VISIBILITY_SAME", "models are no longer offered %s, and refused when they send it", v.Wire)
		}
		if was.Const != v.Const {
			c := w.byKey["enum "+n.Name] // its constants have its name
			if c == nil || was.Wire != v.Wire {
				c = w.valueChange(n, was, v)
			}
			c.hitf("GO_NAME_SAME", "%s is %s now", was.Const, v.Const)
		}
		deprecated(func() *change { return w.valueChange(n, was, v) }, was.Deprecated, v.Deprecated)
		if v.Hidden {
			w.goDoc(n.Name+"."+v.Wire, spec.Pos{Line: v.Line, Column: v.Column}, was.Doc, v.Doc)
		} else {
			w.text(n.Name+"."+v.Wire, spec.Pos{Line: v.Line, Column: v.Column}, was.Doc, v.Doc)
		}
	}
	for i := range o.Values {
		if v := &o.Values[i]; values.next[v.Wire] == nil {
			c := w.valueChange(n, v, nil)
			c.hitf("GO_API_NO_DELETE", "%s is gone", v.Const)
			c.unkept(v.Wire, n.Reserved)
			if !v.Hidden {
				c.notef(models, "no longer offered %s, and refused when they send it", v.Wire)
			}
		}
	}
}

func (w *walker) scalarTypes() {
	at := func(o, n *plan.Scalar) *change {
		switch {
		case n == nil:
			return w.at("type "+o.Name, "type", o.Name, "", spec.Pos{Line: 1, Column: 1}, o.Line)
		case o == nil:
			return w.at("type "+n.Name, "type", "", n.Name, spec.Pos{Line: n.Line, Column: n.Column}, 0)
		}
		return w.at("type "+n.Name, "type", o.Name, n.Name, spec.Pos{Line: n.Line, Column: n.Column}, o.Line)
	}
	for i := range w.now.Scalars {
		n := &w.now.Scalars[i]
		o := w.scalars.prev[n.Name]
		if o == nil {
			w.formerly(at(nil, n), n.Was)
			at(nil, n).detailf("a %s with a name", n.Type.Kind)
			continue
		}
		if o.Name != n.Name {
			at(o, n).hitf("GO_NAME_SAME", "%s is %s now", o.Name, n.Name)
		}
		w.text(n.Name, spec.Pos{Line: n.Line, Column: n.Column}, o.Doc, n.Doc)
		if o.Type.Kind != n.Type.Kind {
			at(o, n).hitf("FIELD_SAME_GO_TYPE", "%s was %s and is %s", n.Name, o.Type.Kind, n.Type.Kind)
		}
		w.bounds(func() *change { return at(o, n) }, o.Constraints.Rules(), n.Constraints.Rules(), true)
	}
	for i := range w.old.Scalars {
		if o := &w.old.Scalars[i]; w.scalars.next[o.Name] == nil {
			at(o, nil).hitf("TYPE_NO_DELETE", "Go type %s is gone", o.Name)
		}
	}
}

func (w *walker) recordTypes() {
	common := false // the fields of all interrupt requests are compared once
	for i := range w.now.Records {
		n := &w.now.Records[i]
		o := w.records.prev[n.Name]
		if o == nil {
			w.recordAdded(n)
			continue
		}
		w.record(o, n)
		w.fields(o, n, n.Role == plan.RoleInterrupt && common)
		common = common || n.Role == plan.RoleInterrupt
	}
	for i := range w.old.Records {
		o := &w.old.Records[i]
		if w.records.next[o.Name] != nil {
			continue
		}
		c := w.recordChange(o, nil)
		if c.thing == "node" {
			continue
		}
		c.hitf("TYPE_NO_DELETE", "Go type %s is gone", o.Name)
		if o.Schema {
			c.hitf("DEF_SAME_NAME", "the definition %s is gone from every schema", o.Name)
		}
	}
}

func (w *walker) recordAdded(n *plan.Record) {
	c := w.recordChange(nil, n)
	if c.thing == "node" {
		return
	}
	w.formerly(c, n.Was)
	c.detailf("%s: %s", n.Role, fieldList(n))
	c.notef(stored, "none: nothing stored has it")
	if n.Role == plan.RoleRequest || n.Role == plan.RoleInterrupt {
		visitor := "RequestVisitor"
		if n.Role == plan.RoleInterrupt {
			visitor = "InterruptVisitor"
		}
		c.hitf("METHOD_ADDED", "%s gains Visit%s: what implements it stops compiling", visitor, n.Name)
	}
}

func (w *walker) record(o, n *plan.Record) {
	if o.Name != n.Name {
		c := w.recordChange(o, n)
		c.hitf("GO_NAME_SAME", "%s is %s now", o.Name, n.Name)
		if n.Schema {
			c.hitf("DEF_SAME_NAME", "the definition %s is named %s in every schema", o.Name, n.Name)
		}
	}
	if o.GoType != n.GoType {
		w.recordChange(o, n).hitf("BINDING_SAME", "it was bound to %s and is bound to %s", nameOr(o.GoType, "no Go type"), nameOr(n.GoType, "no Go type"))
	}
	freed(func() *change { return w.recordChange(o, n) }, "field name", o.Reserved, n.Reserved, n.Fields, fieldWas)
	ownDoc := true // of a message: a node's doc stands in for one
	if node, was := messageOf(w.now, n), messageOf(w.old, o); node != nil && was != nil {
		ownDoc = n.Role == plan.RoleRequest && (n.Doc != node.Doc || o.Doc != was.Doc) || n.Role == plan.RoleInterrupt && node.DisplayName == was.DisplayName
		if o.DisplayName != n.DisplayName && node.DisplayName == was.DisplayName && node.Key == was.Key {
			w.recordChange(o, n).hitf("DISPLAY_NAME_CHANGED", "%q is %q now", o.DisplayName, n.DisplayName)
		}
	} else if o.DisplayName != n.DisplayName && o.Name == n.Name {
		w.recordChange(o, n).hitf("DISPLAY_NAME_CHANGED", "%q is %q now", o.DisplayName, n.DisplayName)
	}
	switch {
	case !ownDoc:
	case w.seenByModel[n.Name]:
		w.text(n.Name, w.recordPos(n), o.Doc, n.Doc)
	default:
		w.goDoc(n.Name, w.recordPos(n), o.Doc, n.Doc)
	}
}
