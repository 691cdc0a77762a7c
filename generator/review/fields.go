package review

import (
	"slices"
	"strings"

	"github.com/routegen/routegen/generator/plan"
	"github.com/routegen/routegen/runtime/compat"
)

func (w *comparison) compareFields(o, n *plan.Record, skipCommon bool) {
	both := follow(o.Fields, n.Fields)
	counts := func(f *plan.Field) bool { return !(f.Common && skipCommon) }
	both.visit(func(was, is *plan.Field) {
		if counts(either(was, is)) {
			w.compareField(n, was, is)
		}
	})
	s := subject{change: func() *change { return w.recordChange(o, n) }}
	compareOrder(s, "Record/Fields", both, counts)
	both.visit(func(was, is *plan.Field) {
		if is == nil && counts(was) {
			w.adviseWas(n, was, both)
		}
	})
}

// adviseWas names was: where a field went and others of its type came to the same record: one of
// them may be that field under another name, which the spec does not say.
func (w *comparison) adviseWas(rec *plan.Record, gone *plan.Field, both pairs[plan.Field]) {
	var came []string
	for i := range both.now {
		f := &both.now[i]
		if both.prev[f.Key] == nil && f.Type.String() == w.typeNow(gone.Type).String() {
			came = append(came, f.Key)
		}
	}
	if len(came) > 0 {
		w.fieldChange(rec, gone, nil).advice = "if it is " + strings.Join(came, " or ") +
			" under another name, say so there: was: [" + gone.Key + "]; stored threads go on " +
			"then; if not, make it optional and hidden"
	}
}

func fieldText(f *plan.Field) string {
	return ifElse(f.Required, "required ", "optional ") + ifElse(f.Hidden, "hidden ", "") +
		f.Type.String()
}

// compareField compares one field; o is nil for a new one, n for one that is gone.
func (w *comparison) compareField(rec *plan.Record, o, n *plan.Field) {
	f := either(o, n)
	c := func() *change { return w.fieldChange(rec, o, n) }
	read := w.seenByModel[rec.Name] && !f.Hidden && (o == nil || !o.Hidden)
	reserved := rec.Reserved
	owner := rec.Name
	if f.Common {
		reserved, owner = w.now.Interrupt.Reserved, w.now.Interrupt.Interface
	}
	s := subject{change: c, doc: owner + "." + f.Key, unread: !read, values: map[string]string{
		"record": rec.Name, "must": ifElse(f.Required, "must", "may"),
		"text": fieldText(f), "type": ifElse(f.Pointer, "*", "") + f.Type.String(),
		"go type": goText(f),
	}, is: map[condition]bool{visible: read, hidden: f.Hidden, byModels: w.seenByModel[rec.Name],
		byCallers: w.sent[rec.Name], inMessages: w.now.Record(rec.Name) != nil,
		required: f.Required, optional: !f.Required,
		forgotten: !slices.Contains(reserved, f.Key)}}
	if o == nil || n == nil {
		compareThing(w, s, o, n)
		return
	}
	was := *o
	was.Type = w.typeNow(o.Type)
	s.values["type before"] = ifElse(o.Pointer, "*", "") + o.Type.String()
	s.values["go type before"] = goText(o)
	s.is[newGoType] = goText(o) != goText(n)
	s.is[taken] = fieldOf(rec, o.JSON) != nil
	s.is[free] = !s.is[taken]
	compareThing(w, s, &was, n)
	switch {
	case o.JSON != n.JSON && s.is[inMessages]:
		c().advice = "json: " + o.JSON + " keeps the name on the wire, whatever it is called here"
	case o.Key != n.Key && o.JSON == n.JSON:
		c().notef(stored, "none: the JSON name is still %s", n.JSON)
	case !o.Required && n.Required:
		c().advice = "leave it optional until no unfinished thread and no sender lacks it"
	case was.Type.Kind == plan.String && n.Type.Kind == plan.Int:
		c().notef(ways, "what is said is a number now: leading zeros are lost")
	}
	rules, rulesNow := o.Constraints.Texts(), n.Constraints.Texts()
	w.compareBounds(c, rules, rulesNow, read)
	if len(compat.Tightened(rules, compat.Vouched(rules, rulesNow, n.AcceptsOld))) > 0 &&
		w.sent[rec.Name] {
		c().tellf("SCHEMA_NO_TIGHTEN", senders,
			"who starts a run or answers with a value outside it is refused")
	}
}

// messagesWith are the messages that a record is part of, as a detail; "" for a message.
func (w *comparison) messagesWith(r *plan.Record) string {
	if r.Role != plan.RoleNested {
		return ""
	}
	if w.usedBy == nil {
		w.usedBy = map[string][]string{}
		for i := range w.now.Records {
			for _, f := range w.now.Records[i].Fields {
				if t := f.Type.Leaf(); t.Kind == plan.RecordOf {
					w.usedBy[t.Name] = append(w.usedBy[t.Name], w.now.Records[i].Name)
				}
			}
		}
	}
	var messages []string
	queue := []string{r.Name}
	for i := 0; i < len(queue); i++ {
		for _, user := range w.usedBy[queue[i]] {
			if slices.Contains(queue, user) {
				continue
			}
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
		return "part of " + counted(n, "message")
	default:
		return "part of " + strings.Join(messages, ", ")
	}
}

// boundAdvice says how a bound becomes tighter without a break.
func boundAdvice(was, tighter []string) string {
	had := slices.ContainsFunc(was, func(r string) bool {
		name, _, _ := strings.Cut(tighter[0], "=")
		return strings.HasPrefix(r, name+"=")
	})
	return ifElse(had, "keep "+strings.Join(was, ", "), "set no bound") +
		", and ask for it in the doc, until no unfinished thread holds another value"
}

// compareBounds compares constraints; that stored data is judged by them is said elsewhere.
func (w *comparison) compareBounds(c func() *change, was, is []string, read bool) {
	tighter, looser := compat.Tightened(was, is), compat.Tightened(is, was)
	if len(tighter)+len(looser) == 0 {
		return
	}
	patterns := func(rules []string) bool {
		return slices.ContainsFunc(rules, func(r string) bool {
			return strings.HasPrefix(r, "pattern=")
		})
	}
	if patterns(was) && patterns(tighter) {
		c().detailf("%s → %s", strings.Join(was, ", "), strings.Join(is, ", "))
		c().notef(senders, "a value that the new pattern does not match is refused")
		c().advice = "where the new pattern takes all that the old one took, say so: " +
			"accepts_old with the old pattern"
		return
	}
	text := func(rules []string) string { return nameOr(strings.Join(rules, ", "), "no bound") }
	c().detailf("%s → %s", text(was), text(is))
	if len(tighter) > 0 {
		c().notef(senders, "a message with a value outside %s is refused",
			text(tighter))
		c().advice = boundAdvice(was, tighter)
		if read {
			c().notef(models, "the schema says %s, and replies are held to it: no harm, models "+
				"are sent the schema of the day", text(tighter))
		}
		return
	}
	c().notef(stored, "none: every stored value is still legal")
	if read {
		c().hitf("SCHEMA_NO_LOOSEN", "models may send what was refused: %s no longer holds",
			text(looser))
		c().notef(callers, "code must be ready for values outside %s", text(looser))
	}
}
