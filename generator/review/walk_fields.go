package review

import (
	"slices"
	"strings"

	"github.com/routegen/routegen/generator/plan"
	"github.com/routegen/routegen/generator/spec"
	"github.com/routegen/routegen/runtime"
)

func (w *walker) fields(o, n *plan.Record, skipCommon bool) {
	var before, after []string
	both := follow(o.Fields, n.Fields, func(f *plan.Field) string { return f.Key }, fieldWas)
	for i := range n.Fields {
		f := &n.Fields[i]
		if f.Common && skipCommon {
			continue
		}
		was := both.prev[f.Key]
		if was == nil {
			w.fieldAdded(n, f)
			continue
		}
		after = append(after, f.Key)
		w.field(n, was, f)
	}
	for i := range o.Fields {
		if f := both.next[o.Fields[i].Key]; f != nil && !(f.Common && skipCommon) {
			before = append(before, f.Key)
		}
	}
	order(func() *change { return w.recordChange(o, n) }, before, after, models, "the properties stand in another order in the schema")
	for i := range o.Fields {
		f := &o.Fields[i]
		if both.next[f.Key] != nil || f.Common && skipCommon {
			continue
		}
		c := w.fieldChange(n, f, nil)
		c.detailf("%s", fieldText(f))
		c.hitf("GO_API_NO_DELETE", "Go field %s.%s is gone", n.Name, f.Go)
		switch {
		case f.Hidden:
			c.notef(models, "none: the field was hidden from them")
		case w.seenByModel[n.Name]:
			c.notef(models, "the property %s is gone, and refused when they send it", f.JSON)
		}
		if f.Common {
			c.unkept(f.Key, w.now.Interrupt.Reserved)
		} else {
			c.unkept(f.Key, n.Reserved)
		}
	}
}

func fieldText(f *plan.Field) string {
	out := "optional "
	if f.Required {
		out = "required "
	}
	if f.Hidden {
		out += "hidden "
	}
	return out + f.Type.String()
}

func (w *walker) fieldAdded(n *plan.Record, f *plan.Field) {
	c := w.fieldChange(n, nil, f)
	w.formerly(c, f.Was)
	c.detailf("%s", fieldText(f))
	c.notef(callers, "Go field %s.%s %s is new%s", n.Name, f.Go, goText(f), ifElse(f.Required, ", and a message without it is refused", ""))
	switch {
	case f.Hidden:
		c.notef(models, "none: the field is hidden from them")
	case w.seenByModel[n.Name]:
		c.hitf("FIELD_ADDED", "models %s send %s", ifElse(f.Required, "must", "may"), f.JSON)
	}
	if !f.Required {
		c.notef(stored, "none: an optional field may be absent")
	}
	if f.Required && w.sent[n.Name] {
		c.tellf("SCHEMA_NO_TIGHTEN", callers, "who starts a run or answers without %s is refused", f.JSON)
	}
}

func ifElse(cond bool, yes, no string) string {
	if cond {
		return yes
	}
	return no
}

func (w *walker) field(rec *plan.Record, o, n *plan.Field) {
	c := func() *change { return w.fieldChange(rec, o, n) }
	visible := w.seenByModel[rec.Name] && !n.Hidden && !o.Hidden
	if o.Key != n.Key && o.JSON == n.JSON {
		c().notef(stored, "none: the JSON name is still %s", n.JSON)
	}
	if o.JSON != n.JSON {
		c().notef(callers, "JSON sent with %s is refused; it is %s now", o.JSON, n.JSON)
		if visible {
			c().hitf("DEF_SAME_NAME", "the property %s is named %s", o.JSON, n.JSON)
		}
	}
	if o.Go != n.Go {
		c().hitf("FIELD_SAME_GO_NAME", "Go field %s.%s is %s now", rec.Name, o.Go, n.Go)
	}
	if !w.sameType(o.Type, n.Type) || o.Pointer != n.Pointer {
		c().detailf("%s → %s", ifElse(o.Pointer, "*", "")+o.Type.String(), ifElse(n.Pointer, "*", "")+n.Type.String())
		if was, is := goText(o), goText(n); was != is {
			c().hitf("FIELD_SAME_GO_TYPE", "Go field %s.%s was %s and is %s", rec.Name, n.Go, was, is)
		}
		if visible && !w.sameType(o.Type, n.Type) {
			c().hitf("SCHEMA_SAME_TYPE", "the schema of %s says %s in place of %s", n.JSON, n.Type.String(), o.Type.String())
		}
	}
	w.presence(rec, o, n, visible)
	if o.Hidden != n.Hidden && w.seenByModel[rec.Name] {
		c().hitf("VISIBILITY_SAME", "%s", ifElse(n.Hidden, "models no longer see "+n.JSON+", and are refused when they send it",
			"models see "+n.JSON+", which was hidden, and "+ifElse(n.Required, "must", "may")+" send it"))
	}
	if text(o.Default) != text(n.Default) {
		c().hitf("FIELD_SAME_DEFAULT", "left out or null, it is read as %s in place of %s", nameOr(text(n.Default), "none"), nameOr(text(o.Default), "none"))
	}
	w.bounds(c, o.Constraints.Rules(), n.Constraints.Rules(), visible)
	if len(runtime.Tightened(o.Constraints.Rules(), n.Constraints.Rules())) > 0 && w.sent[rec.Name] {
		c().tellf("SCHEMA_NO_TIGHTEN", callers, "who starts a run or answers with a value outside it is refused")
	}
	deprecated(c, o.Deprecated, n.Deprecated)
	owner, tell := rec.Name, w.goDoc
	if n.Common {
		owner = w.now.Interrupt.Interface
	}
	if visible {
		tell = w.text
	}
	tell(owner+"."+n.Key, spec.Pos{Line: n.Line, Column: n.Column}, o.Doc, n.Doc)
	if !slices.Equal(o.Examples, n.Examples) {
		c().hitf("DOC_CHANGED", "the examples were [%s] and are [%s]", strings.Join(o.Examples, ", "), strings.Join(n.Examples, ", "))
	}
}

// presence compares whether a field must be there.
func (w *walker) presence(rec *plan.Record, o, n *plan.Field, visible bool) {
	if o.Required == n.Required {
		return
	}
	c := w.fieldChange(rec, o, n)
	if n.Required {
		c.detailf("optional → required")
		c.notef(callers, "a message without %s is refused with code invalid", n.JSON)
		if visible {
			c.notef(models, "models must send %s", n.JSON)
		}
		if w.sent[rec.Name] {
			c.tellf("SCHEMA_NO_TIGHTEN", callers, "who starts a run or answers without %s is refused", n.JSON)
		}
		return
	}
	c.detailf("required → optional")
	c.notef(stored, "none: stored data has it")
	c.notef(callers, "code must be ready for messages without %s", n.JSON)
	if visible && w.seenByModel[rec.Name] {
		c.hitf("SCHEMA_NO_LOOSEN", "models may leave %s out", n.JSON)
	}
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// users are the messages that a record is part of, as a detail; "" for a message.
func (w *walker) users(r *plan.Record) string {
	if r.Role != plan.RoleNested {
		return ""
	}
	if w.usedBy == nil {
		w.usedBy = map[string][]string{}
		for i := range w.now.Records {
			for _, f := range w.now.Records[i].Fields {
				t := f.Type
				for t.Elem != nil {
					t = *t.Elem
				}
				if t.Kind == plan.RecordOf {
					w.usedBy[t.Name] = append(w.usedBy[t.Name], w.now.Records[i].Name)
				}
			}
		}
	}
	var messages []string
	seen, queue := map[string]bool{r.Name: true}, []string{r.Name}
	for len(queue) > 0 {
		name := queue[0]
		queue = queue[1:]
		for _, user := range w.usedBy[name] {
			if seen[user] {
				continue
			}
			seen[user] = true
			queue = append(queue, user)
			if w.now.Record(user).Role != plan.RoleNested {
				messages = append(messages, user)
			}
		}
	}
	const few = 3
	switch n := len(messages); {
	case n == 0:
		return ""
	case n > few:
		return "part of " + counted(n, "message") + ": " + strings.Join(messages[:few], ", ") + " and more"
	default:
		return "part of " + strings.Join(messages, ", ")
	}
}

// bounds compares constraints; that stored data is judged by them is said elsewhere.
func (w *walker) bounds(c func() *change, was, is []string, visible bool) {
	tighter, looser := runtime.Tightened(was, is), runtime.Tightened(is, was)
	if len(tighter)+len(looser) == 0 {
		return
	}
	c().detailf("%s → %s", rulesText(was), rulesText(is))
	if len(tighter) > 0 {
		c().notef(callers, "a message with a value outside %s is refused with code invalid", strings.Join(tighter, ", "))
		if visible {
			c().notef(models, "the schema says %s, and replies are held to it: no harm, models are sent the schema of the day", strings.Join(tighter, ", "))
		}
		return
	}
	c().notef(stored, "none: every stored value is still legal")
	if visible {
		c().hitf("SCHEMA_NO_LOOSEN", "models may send what was refused: %s no longer holds", strings.Join(looser, ", "))
		c().notef(callers, "code must be ready for values outside %s", strings.Join(looser, ", "))
	}
}

func rulesText(rules []string) string {
	if len(rules) == 0 {
		return "no bound"
	}
	return strings.Join(rules, ", ")
}
