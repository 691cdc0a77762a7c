package review

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/routegen/routegen/generator/plan"
	"github.com/routegen/routegen/generator/spec"
)

// audience is who a consequence concerns.
type audience int

const (
	callers audience = iota
	models
	stored
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
	at                   spec.Pos
	width                int // of what stands at the position
	before               int // line in the old spec; 0 where it is not known
	details              []string
	lost                 []string // earlier names of a new thing that nothing had
	hits                 []hit
}

// detailf adds what was edited, once.
func (c *change) detailf(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(c.details, text) {
		c.details = append(c.details, text)
	}
}

// formerly holds the earlier names that a new thing gives: nothing had them, or it would not be new. That is a slip, or older than the base.
// Where there was nothing at all, nothing is said.
func (w *walker) formerly(c *change, was []string) {
	nothing := len(w.old.Nodes)+len(w.old.Records)+len(w.old.Enums)+len(talkOf(w.old).Flows) == 0
	if c.op == opAdded && len(was) > 0 && len(c.lost) == 0 && !nothing {
		c.lost = was
		c.detailf("%s", c.slip())
	}
}

func (c *change) slip() string {
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

func audienceOf(c spec.Category) audience {
	switch c {
	case CategorySource:
		return callers
	case CategoryWireJSON:
		return stored
	default:
		return models
	}
}

// title names the change: field "notes" of PlanningRequest removed.
func (c *change) title() string {
	out := c.thing + " " + c.name
	if c.was != "" {
		out += " (was " + c.was + ")"
	}
	return out + " " + c.op
}

// severities, the worst first.
var severities = []spec.Severity{spec.Error, spec.Expected, spec.Notice}

// ranked returns the hits of rules of the categories, the one to report first: the worst, then the one that is nearest to the cause.
func (c *change) ranked(categories []spec.Category) []hit {
	rules := catalogue()
	var out []hit
	for _, h := range c.hits {
		if r, ok := rules[h.rule]; ok && (categories == nil || slices.Contains(categories, r.Category)) {
			out = append(out, h)
		}
	}
	slices.SortStableFunc(out, func(a, b hit) int {
		ra, rb := rules[a.rule], rules[b.rule]
		return cmp.Or(cmp.Compare(slices.Index(severities, ra.Severity), slices.Index(severities, rb.Severity)), cmp.Compare(ra.rank, rb.rank))
	})
	return out
}

func (c *change) span() spec.Span {
	if c.at.IsZero() {
		return spec.Span{}
	}
	return spec.Span{Start: c.at, End: spec.Pos{Line: c.at.Line, Column: c.at.Column + max(c.width, 1)}}
}

// findings turns changes into findings: one for each cause.
func (w *walker) findings(categories []spec.Category) []spec.Finding {
	var out []spec.Finding
	for _, c := range w.ordered() {
		hits := c.ranked(categories)
		if len(hits) == 0 {
			continue
		}
		message := c.title() + ": " + hits[0].text
		if c.before > 0 && c.op != opAdded && c.before != c.at.Line {
			message += fmt.Sprintf(" (line %d before)", c.before)
		}
		if len(c.lost) > 0 {
			message += " (" + c.slip() + ")"
		}
		f := spec.Finding{
			Rule: hits[0].rule, Severity: catalogue()[hits[0].rule].Severity, File: w.now.Source, At: c.span(),
			Message: message, Hint: catalogue()[hits[0].rule].hint,
		}
		for _, h := range hits[1:] {
			f.Related = append(f.Related, spec.Related{At: relatedAt(c), Message: h.rule + ": " + h.text})
		}
		out = append(out, f)
	}
	return out
}

// relatedAt is the place of a consequence: that of its cause, or the first character of the file.
func relatedAt(c *change) spec.Span {
	if c.at.IsZero() {
		return spec.Span{Start: spec.Pos{Line: 1, Column: 1}, End: spec.Pos{Line: 1, Column: 2}}
	}
	return c.span()
}

// list tells the changes to a reviewer.
func (w *walker) list() []Change {
	var out []Change
	for _, c := range w.ordered() {
		to := Change{Op: c.op, Thing: c.thing, Name: c.name, Was: c.was, Line: c.at.Line, Details: c.details}
		if hits := c.ranked(nil); len(hits) > 0 {
			r := catalogue()[hits[0].rule]
			to.Rule, to.Severity, to.Advice = r.ID, string(r.Severity), r.hint
		}
		for _, h := range c.hits {
			switch h.to {
			case callers:
				to.Callers = appendNew(to.Callers, h.text)
			case models:
				to.Models = appendNew(to.Models, h.text)
			case stored:
				to.Stored = appendNew(to.Stored, h.text)
			}
		}
		out = append(out, to)
	}
	return out
}

// appendNew adds a text once. That there is nothing to fear is said at most once, and not beside what there is.
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
func (w *walker) ordered() []*change {
	out := slices.Clone(w.changes)
	slices.SortStableFunc(out, func(a, b *change) int {
		return cmp.Or(cmp.Compare(a.at.Line, b.at.Line), cmp.Compare(a.at.Column, b.at.Column), strings.Compare(a.thing+a.name, b.thing+b.name))
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

func nodePos(n *plan.Node) spec.Pos { return spec.Pos{Line: n.Line, Column: n.Column} }
