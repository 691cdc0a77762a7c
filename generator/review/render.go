package review

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/routegen/routegen/generator/report"
)

// JSON returns the report as one indented document with a final newline. Its form is stable: v is 1
// as long as old readers can read it.
func (r *Report) JSON() ([]byte, error) {
	full := *r
	full.Changes = append([]Change{}, r.Changes...) // a list without members is [], never null
	full.Access = append([]Cell{}, r.Access...)
	full.Schemas = append([]SchemaDelta{}, r.Schemas...)
	full.Texts = append([]TextDelta{}, r.Texts...)
	full.Interfaces = append([]InterfaceDelta{}, r.Interfaces...)
	if full.Severities == nil {
		full.Severities = map[string]int{}
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(struct {
		V    int    `json:"v"`
		Kind string `json:"kind"`
		*Report
	}{1, "review", &full})
	if err != nil {
		return nil, fmt.Errorf("write report: %w", err)
	}
	return b.Bytes(), nil
}

// worstFirst returns the changes by severity, those without last, each by its place.
func (r *Report) worstFirst() []Change {
	out := slices.Clone(r.Changes)
	rank := func(c Change) int {
		if i := slices.Index(severities, report.Severity(c.Severity)); i >= 0 {
			return i
		}
		return len(severities)
	}
	slices.SortStableFunc(out, func(a, b Change) int { return cmp.Compare(rank(a), rank(b)) })
	return out
}

// things are what can change, the weightiest first.
var things = []string{"node", "route", "branch", "type", "field", "enum", "value", "kind",
	"setting", "prompt", "doc"}

// headline counts the changes: 1 node added, 2 fields renamed.
func (r *Report) headline() string {
	count := map[string]int{}
	var order []string
	for _, c := range r.Changes {
		key := c.Thing + "|" + c.Op
		if count[key] == 0 {
			order = append(order, key)
		}
		count[key]++
	}
	var parts []string
	slices.SortStableFunc(order, func(a, b string) int {
		ta, _, _ := strings.Cut(a, "|")
		tb, _, _ := strings.Cut(b, "|")
		return cmp.Compare(slices.Index(things, ta), slices.Index(things, tb))
	})
	for _, key := range order {
		thing, op, _ := strings.Cut(key, "|")
		parts = append(parts, plural(count[key], thing)+" "+op)
	}
	if len(parts) == 0 {
		return "no change"
	}
	return strings.Join(parts, ", ")
}

func plural(n int, noun string) string {
	if noun == "branch" && n != 1 {
		return fmt.Sprintf("%d branches", n)
	}
	return counted(n, noun)
}

// verdict counts the findings.
func (r *Report) verdict() string {
	return fmt.Sprintf("%s, %d expected, %s", counted(r.Severities[string(report.Error)], "error"),
		r.Severities[string(report.Expected)],
		counted(r.Severities[string(report.Notice)], "notice"))
}

func (r *Report) title() string {
	out := r.Source + ": " + r.headline()
	if r.Base != "" {
		out += " (against " + r.Base + ")"
	}
	return out
}

// stands says what a change does, or that it does nothing.
func stands(list []string) []string {
	if len(list) == 0 {
		return []string{"no effect"}
	}
	return list
}

// label names a change: field X.b (was X.a) renamed.
func (c Change) label() string {
	out := c.Thing + " " + c.Name
	if c.Was != "" {
		out += " (was " + c.Was + ")"
	}
	return out
}

// way says where a cell leads.
func (c Cell) way() (who, where, before, after string) {
	who, where = c.Who, nameOr(c.Where, "the end of the frame")
	if c.Table == "interrupt" {
		who = "after an interrupt of " + c.Who
	}
	return who, where, nameOr(c.Before, "no"), nameOr(c.After, "no")
}

// smallChange is how many bytes a schema may grow or shrink by without a row of its own, where
// others changed by more.
const smallChange = 100

// largeSchemas returns the schemas to show, those that changed most first, and how many are left
// out.
func (r *Report) largeSchemas() (shown []SchemaDelta, small int) {
	size := func(s SchemaDelta) int { return max(s.After-s.Before, s.Before-s.After) }
	shown = slices.Clone(r.Schemas)
	slices.SortStableFunc(shown, func(a, b SchemaDelta) int {
		return cmp.Compare(size(b), size(a))
	})
	few := 8 // so many are shown whatever their size
	for len(shown) > few && size(shown[len(shown)-1]) < smallChange {
		shown = shown[:len(shown)-1]
		small++
	}
	return shown, small
}

func bytesText(n int) string {
	switch {
	case n == 0:
		return "none"
	case n < 10_000:
		return fmt.Sprintf("%d B", n)
	}
	return fmt.Sprintf("%.1f KB", float64(n)/1000)
}

// Text returns the report for a terminal. It ends with a line break; an empty report is one line.
func (r *Report) Text() string {
	var b strings.Builder
	b.WriteString(r.title() + "\n")
	if r.Empty() {
		return b.String()
	}
	sign := map[string]string{opAdded: "+", opRemoved: "-", opRenamed: "~", opChanged: "~"}
	for _, c := range r.worstFirst() {
		fmt.Fprintf(&b, "\n%s %s %s   %s:%d\n", sign[c.Op], c.label(), c.Op, r.Source,
			max(c.Line, 1))
		if c.Rule != "" {
			fmt.Fprintf(&b, "    %s %s\n", c.Severity, c.Rule)
		}
		for _, d := range c.Details {
			fmt.Fprintf(&b, "    %s\n", oneLine(d))
		}
		if c.Severity == string(report.Error) {
			fmt.Fprintf(&b, "    advice: %s\n", c.Advice)
		}
		for _, part := range []struct {
			name string
			list []string
		}{{"callers", c.Callers}, {"models ", c.Models}, {"stored ", c.Stored}} {
			for _, line := range stands(part.list) {
				fmt.Fprintf(&b, "    %s  %s\n", part.name, oneLine(line))
			}
		}
	}
	if len(r.Access) > 0 {
		b.WriteString("\nwho can now go where\n")
		for _, c := range r.Access {
			who, where, before, after := c.way()
			fmt.Fprintf(&b, "    %s to %s: %s → %s\n", who, where, before, after)
		}
	}
	r.textModels(&b)
	r.textGo(&b)
	fmt.Fprintf(&b, "\nbreaking: %s\n", r.verdict())
	return b.String()
}

func (r *Report) textModels(b *strings.Builder) {
	if len(r.Schemas)+len(r.Texts) == 0 {
		return
	}
	b.WriteString("\nwhat models now see\n")
	shown, small := r.largeSchemas()
	for _, s := range shown {
		fmt.Fprintf(b, "    schema %s: %s → %s (%+d)\n", s.Name, bytesText(s.Before),
			bytesText(s.After), s.After-s.Before)
	}
	if small > 0 {
		fmt.Fprintf(b, "    %s changed by less than %d bytes\n", counted(small, "more schema"),
			smallChange)
	}
	for _, t := range r.Texts {
		fmt.Fprintf(b, "    %s %s   %s:%d\n", ifElse(t.Prompt, "prompt", "doc"), t.Name, r.Source,
			max(t.Line, 1))
		for _, side := range []struct{ sign, text string }{{"-", t.Before}, {"+", t.After}} {
			if text := oneLine(side.text); text != "" {
				fmt.Fprintf(b, "      %s %s\n", side.sign, text)
			}
		}
	}
}

func (r *Report) textGo(b *strings.Builder) {
	if len(r.Interfaces) == 0 {
		return
	}
	b.WriteString("\nwhose Go stops compiling\n")
	for _, i := range r.Interfaces {
		fmt.Fprintf(b, "    %s%s%s\n", i.Name, i.summary(),
			ifElse(i.stops(), ": go build ./... names the implementers",
				": implementers go on compiling"))
	}
}

// stops reports whether an implementer stops compiling.
func (i InterfaceDelta) stops() bool { return len(i.Added)+len(i.Changed) > 0 }

func (i InterfaceDelta) summary() string {
	var parts []string
	for _, p := range []struct {
		verb string
		list []string
	}{{" gains ", i.Added}, {" changes ", i.Changed}, {" loses ", i.Removed}} {
		if len(p.list) > 0 {
			parts = append(parts, p.verb+strings.Join(p.list, ", "))
		}
	}
	return strings.Join(parts, ";")
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
