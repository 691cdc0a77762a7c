package review

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/routegen/routegen/generator/report"
)

// audience is who a consequence concerns.
type audience int

const (
	byCategory audience = iota // whom the category of the rule concerns
	callers                    // Go that uses the package
	models
	stored
	senders // who sends messages
	ways    // people, and how work is run
	// the table of who can now go where has it
	accessOnly
)

// hit is one consequence of a change. Without a rule it only informs.
type hit struct {
	rule string
	to   audience
	text string
}

// change collects what follows from one edit.
type change struct {
	op, thing, name, was string
	at                   report.Pos
	width                int // of what stands at the position
	before               int // line in the old spec; 0 where it is not known
	details              []string
	lost                 []string // earlier names of a new thing that nothing had
	hits                 []hit
	advice               string // that fits better than that of the rule
}

// detailf adds what was edited, once.
func (c *change) detailf(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(c.details, text) {
		c.details = append(c.details, text)
	}
}

// noteUnknownNames notes the earlier names that a new thing gives: nothing in the old plan has
// them, or the thing would not be new. It is a mistake, or older than the base. An empty old plan
// is not reported.
func (w *comparison) noteUnknownNames(c *change, was []string) {
	nothing := len(w.old.Nodes)+len(w.old.Records)+len(w.old.Enums)+
		len(talkOf(w.old).Flows) == 0
	if c.op == opAdded && len(was) > 0 && len(c.lost) == 0 && !nothing {
		c.lost = was
		c.detailf("%s", c.unknownNamesText())
	}
}

func (c *change) unknownNamesText() string {
	return fmt.Sprintf("its was: [%s] names nothing that was there", strings.Join(c.lost, ", "))
}

// hitf adds a consequence that a rule speaks of, for those whom its category concerns.
func (c *change) hitf(rule, format string, args ...any) {
	c.tellf(rule, audienceOf(catalogue()[rule].Category), format, args...)
}

// notef adds a consequence that no rule speaks of.
func (c *change) notef(to audience, format string, args ...any) { c.tellf("", to, format, args...) }

func (c *change) tellf(rule string, to audience, format string, args ...any) {
	if h := (hit{rule, to, fmt.Sprintf(format, args...)}); !slices.Contains(c.hits, h) {
		c.hits = append(c.hits, h)
	}
}

func audienceOf(c report.Category) audience {
	switch c {
	case CategorySource:
		return callers
	case CategoryWireJSON:
		return stored
	case CategoryTopology:
		return ways
	default:
		return models
	}
}

// inAccess are the rules whose findings are rows of the table of who can now go where.
var inAccess = []string{"BRANCH_ADDED", "BRANCH_NO_DELETE", "BRANCH_SAME_TARGET",
	"COLLECT_CHANGED", "ORIGIN_ROUTE_NO_DELETE", "ORIGIN_ROUTE_ADDED", "ROUTE_ADDED",
	"ROUTE_NO_DELETE"}

// title names the change: field "notes" of PlanningRequest removed.
func (c *change) title() string {
	out := c.thing + " " + c.name
	if c.was != "" {
		out += " (was " + c.was + ")"
	}
	return out + " " + c.op
}

// severities, the worst first.
var severities = []report.Severity{report.Error, report.Expected, report.Notice}

// ranked returns the hits of rules of the categories, the one to report first: the worst, then the
// one that is nearest to the cause.
func (c *change) ranked(categories []report.Category) []hit {
	rules := catalogue()
	var out []hit
	for _, h := range c.hits {
		if r, ok := rules[h.rule]; ok &&
			(categories == nil || slices.Contains(categories, r.Category)) {
			out = append(out, h)
		}
	}
	slices.SortStableFunc(out, func(a, b hit) int {
		ra, rb := rules[a.rule], rules[b.rule]
		return cmp.Or(cmp.Compare(slices.Index(severities, ra.Severity),
			slices.Index(severities, rb.Severity)), cmp.Compare(ra.rank, rb.rank))
	})
	return out
}

func (c *change) span() report.Span {
	if c.at.IsZero() {
		return report.Span{}
	}
	return report.Span{Start: c.at,
		End: report.Pos{Line: c.at.Line, Column: c.at.Column + max(c.width, 1)}}
}

// findings turns changes into findings: one for each cause.
func (w *comparison) findings(categories []report.Category) []report.Finding {
	var out []report.Finding
	for _, c := range w.ordered() {
		hits := c.ranked(categories)
		if len(hits) == 0 {
			continue
		}
		message := c.title() + ": " + hits[0].text
		message += w.earlierPlace(c)
		if len(c.lost) > 0 {
			message += " (" + c.unknownNamesText() + ")"
		}
		f := report.Finding{
			Rule: hits[0].rule, Severity: catalogue()[hits[0].rule].Severity, File: w.now.Source,
			At:      c.span(),
			Message: message, Hint: c.hintOf(hits[0].rule),
		}
		for _, h := range hits[1:] {
			f.Related = append(f.Related,
				report.Related{At: relatedAt(c), Message: h.rule + ": " + h.text})
		}
		out = append(out, f)
	}
	w.now.Places.Resolve(w.now.Source, out)
	return out
}

// hintsByThing are the hints of rules for things that lack the keys which the rule's own names.
var hintsByThing = map[string]string{
	"WIRE_VALUE_SAME value": "keep the name on the wire: go_name changes the one in Go",
	"WIRE_VALUE_SAME kind":  "keep the name: it stands in open interrupts",
	"GO_API_NO_DELETE type": "change the code that names it first",
}

// hintOf says how the same is done with less harm.
func (c *change) hintOf(rule string) string {
	return cmp.Or(c.advice, hintsByThing[rule+" "+c.thing], catalogue()[rule].hint)
}

// earlierPlace says where a change was in the old spec, if it was elsewhere there.
func (w *comparison) earlierPlace(c *change) string {
	file, line := lineIn(w.old, c.before)
	nowFile, nowLine := lineIn(w.now, c.at.Line)
	switch {
	case c.before == 0 || c.op == opAdded || file == nowFile && line == nowLine:
		return ""
	case file != nowFile:
		return fmt.Sprintf(" (%s:%d before)", cmp.Or(file, w.old.Source), line)
	}
	return fmt.Sprintf(" (line %d before)", line)
}

// relatedAt is the place of a consequence: that of its cause, or the first character of the file.
func relatedAt(c *change) report.Span {
	if c.at.IsZero() {
		return report.Span{Start: report.Pos{Line: 1, Column: 1},
			End: report.Pos{Line: 1, Column: 2}}
	}
	return c.span()
}

// listChanges returns the changes as a report has them.
func (w *comparison) listChanges() []Change {
	var out []Change
	for _, c := range w.ordered() {
		to := Change{Op: c.op, Thing: c.thing, Name: c.name, Was: c.was, Line: c.at.Line,
			Details: c.details}
		if hits := c.ranked(nil); len(hits) > 0 {
			r := catalogue()[hits[0].rule]
			to.Rule, to.Severity, to.Advice = r.ID, string(r.Severity), c.hintOf(r.ID)
		}
		to.inSchemas = w.inSchemas(c)
		for _, h := range c.hits {
			switch h.to {
			case callers, byCategory:
				to.Callers = appendNew(to.Callers, h.text)
			case senders:
				to.Senders = appendNew(to.Senders, h.text)
			case models:
				to.Models = appendNew(to.Models, h.text)
			case ways:
				if !slices.Contains(inAccess, h.rule) {
					to.Ways = appendNew(to.Ways, h.text)
				}
			case stored:
				to.Stored = appendNew(to.Stored, h.text)
			case accessOnly:
			}
		}
		out = append(out, to)
	}
	return out
}

// inSchemas reports whether schemas tell what models see of a change: what belongs to a flow is not
// in them.
func (w *comparison) inSchemas(c *change) bool {
	owner, _, _ := strings.Cut(c.name, ".")
	switch c.thing {
	case "field":
		return w.now.Record(owner) != nil || owner == w.now.Interrupt.Interface
	case "value", "type", "enum", "branch", "route", "node", "doc":
		return !strings.HasPrefix(c.name, "flow ")
	}
	return c.thing == "setting" && c.name != "flows"
}

// appendNew adds a text once. A text that begins with none is added at most once, and never beside
// another.
func appendNew(list []string, text string) []string {
	calm := func(s string) bool { return strings.HasPrefix(s, "none") }
	switch {
	case slices.Contains(list, text) || calm(text) && len(list) > 0:
		return list
	case !calm(text):
		list = slices.DeleteFunc(list, calm)
	}
	return append(list, text)
}

// ordered returns the changes by their place in the new spec.
func (w *comparison) ordered() []*change {
	out := slices.Clone(w.changes)
	slices.SortStableFunc(out, func(a, b *change) int {
		return cmp.Or(cmp.Compare(a.at.Line, b.at.Line), cmp.Compare(a.at.Column, b.at.Column),
			strings.Compare(a.thing+a.name, b.thing+b.name))
	})
	return out
}

// counted writes a number with its noun.
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
