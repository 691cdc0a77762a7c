package review

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/routegen/routegen/generator/plan"
	"github.com/routegen/routegen/runtime"
)

// edit is one member of a thing that is not what it was.
type edit struct {
	path     string // type and name of the member: Node.Timeout
	old, now string // "" for a value that is not given
}

// compare returns the members that differ between two forms of a thing, pointers to one type, in
// the order of the type, as far as an effect is about them. f and g are the flows that their slots
// and targets belong to, or nil.
func compare(old, now any, f, g *plan.Flow) []edit {
	a, b := reflect.ValueOf(old).Elem(), reflect.ValueOf(now).Elem()
	before, after := plan.Cells(a), plan.Cells(b)
	var out []edit
	for i := range before {
		path := a.Type().Name() + "." + before[i].Name
		if effectsByMember()[path] == nil {
			continue
		}
		e := edit{path: path, old: textOf(before[i], f), now: textOf(after[i], g)}
		if e.old != e.now {
			out = append(out, e)
		}
	}
	return out
}

// textOf writes the value of a member for a reader: "" where nothing is given.
func textOf(c plan.Cell, f *plan.Flow) string {
	switch x := c.Value.Interface().(type) {
	case string:
		return x
	case []string:
		return strings.Join(x, ", ")
	case bool:
		return strconv.FormatBool(x)
	case time.Duration:
		if x == 0 {
			return ""
		}
		return plan.DurationText(x)
	case []runtime.Bind:
		if f != nil {
			return bindsText(f, x)
		}
	case []runtime.Tool:
		return toolsText(x)
	case *runtime.Deadline:
		return deadlineText(x)
	case *runtime.Retry:
		return retryText(x)
	case plan.Type:
		return x.String()
	case *string:
		if x != nil {
			return *x
		}
		return ""
	}
	if c.Value.IsZero() {
		return ""
	}
	if text, isText := strings.CutPrefix(c.Text(f), `"`); isText { // a name
		return strings.TrimSuffix(text, `"`)
	}
	return c.Text(f)
}

// bindsText says what a step hands over under which name.
func bindsText(f *plan.Flow, binds []runtime.Bind) string {
	var out []string
	for _, b := range binds {
		value := saidText(f, b.Text)
		if b.Value != nil {
			value = plan.ExprText(f, *b.Value)
		}
		out = append(out, cmp.Or(b.Name, f.SlotKey(b.Slot))+" from "+value)
	}
	return strings.Join(out, ", ")
}

func toolsText(tools []runtime.Tool) string {
	var out []string
	for _, t := range tools {
		once := ifElse(t.Once, " (once)", "")
		switch {
		case t.MCP != "":
			out = append(out, "server "+t.MCP+once)
		case len(t.TransferTo) > 0:
			out = append(out, "transfer to "+strings.Join(t.TransferTo, ", "))
		default:
			out = append(out, t.Name+once)
		}
	}
	return strings.Join(out, "; ")
}

// deadlineText says what happens to people who do not answer.
func deadlineText(d *runtime.Deadline) string {
	switch {
	case d == nil:
		return ""
	case d.After == 0:
		return "unanswered, it waits for ever"
	}
	out := "unanswered after " + plan.DurationText(d.After) + ", "
	switch d.Then {
	case "cancel":
		out += "the work is cancelled"
	case "expire":
		out += "the interrupt expires"
	default:
		out += strings.Join(strings.Fields(d.Then+" "+d.Answer+d.Assignee+d.Target), " ")
	}
	if d.Reminder != 0 {
		out += ", with a reminder " + plan.DurationText(d.Reminder) + " before"
	}
	return out
}

func retryText(r *runtime.Retry) string {
	if r == nil {
		return ""
	}
	longest := "no bound"
	if r.Max != 0 {
		longest = plan.DurationText(r.Max)
	}
	return fmt.Sprintf("%d times, %s from %s to %s", r.Attempts, r.Backoff,
		plan.DurationText(r.First), longest)
}

// subject is a thing of the plans, as the rows of effects speak of it.
type subject struct {
	change func() *change // made when something is said
	prompt func() *change // that of what its model is told, or nil
	values map[string]string
	is     map[condition]bool // what holds of it
	doc    string             // the name that its doc is told under; "": not here
	unread bool               // no model reads its doc
	flows  [2]*plan.Flow      // that its slots and targets belong to, before and now
	thing  any                // its new form, or the old one of what is gone
}

// compareThing says what became of a thing, as the table of effects has it: o is nil for a new one,
// n for one that is gone. It reports whether the thing is on both sides.
func compareThing[T any](w *comparison, s subject, o, n *T) bool {
	s.thing = either(o, n)
	kind := reflect.TypeFor[T]().Name()
	switch {
	case o == nil:
		w.noteUnknownNames(s.change(), earlierNames(n))
		s.effectsOf([]edit{{path: kind, now: "there"}})
	case n == nil:
		s.effectsOf([]edit{{path: kind, old: "there"}})
	default:
		s.effectsOf(compare(o, n, s.flows[0], s.flows[1]))
		if s.doc != "" {
			tell := w.addDoc
			if s.unread {
				tell = w.addGoDoc
			}
			tell(s.doc, placeOf(n), memberOf(o, "Doc"), memberOf(n, "Doc"))
		}
	}
	return o != nil && n != nil
}

// compareOrder tells of the things of a list, Type/List, that stand in another order.
func compareOrder[T any](s subject, list string, both pairs[T], counts func(*T) bool) {
	before, after := both.commonOrders(counts)
	if !slices.Equal(before, after) {
		s.effectsOf([]edit{{list, strings.Join(before, ", "), strings.Join(after, ", ")}})
	}
}

// memberOf is a member of a thing that is a text.
func memberOf(thing any, name string) string {
	return reflect.ValueOf(thing).Elem().FieldByName(name).String()
}

// effectsOf says what the edits of a thing do.
func (s subject) effectsOf(edits []edit) {
	for _, e := range edits {
		for _, row := range effectsByMember()[e.path] {
			if row.fits(e) && s.meets(row.only) {
				s.tell(row, e)
			}
		}
	}
}

// meets reports whether each condition of a row holds.
func (s subject) meets(only condition) bool {
	for c := range strings.FieldsSeq(string(only)) {
		if !s.is[condition(c)] {
			return false
		}
	}
	return true
}

func (r effect) fits(e edit) bool {
	given := func(text string) bool { return text != "" && text != "false" }
	switch r.when {
	case replaced:
		return given(e.old) && given(e.now)
	case came:
		return !given(e.old) && given(e.now)
	case went:
		return given(e.old) && !given(e.now)
	default:
		return true
	}
}

func (s subject) tell(row effect, e edit) {
	c := s.change
	if row.prompt {
		c = s.prompt
	}
	text := placeholder.ReplaceAllStringFunc(row.text, func(place string) string {
		name, none, _ := strings.Cut(strings.Trim(place, "{}"), "|")
		value, given := s.values[name]
		switch {
		case name == "old":
			value = e.old
		case name == "now":
			value = e.now
		case name == "member":
			value = memberName(e.path)
		case !given:
			value = memberOf(s.thing, name)
		}
		return nameOr(value, none)
	})
	switch {
	case row.inAccess:
		c().hits = append(c().hits, hit{row.rule, accessOnly, text})
	case row.detail:
		c().detailf("%s", text)
	case row.rule == "":
		c().notef(row.to, "%s", text)
	case row.to != byCategory:
		c().tellf(row.rule, row.to, "%s", text)
	default:
		c().hitf(row.rule, "%s", text)
	}
}

// memberName is the name of a member for a reader.
func memberName(path string) string {
	name := path[strings.Index(path, ".")+1:]
	return strings.ToLower(name[:1]) + name[1:]
}
