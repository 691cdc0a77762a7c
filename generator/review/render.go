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
		Deploy Verdict `json:"deploy"`
	}{1, "review", &full, r.Verdict()})
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

// tally counts the findings.
func (r *Report) tally() string {
	var out []string
	for _, s := range severities {
		switch n := r.Severities[string(s)]; {
		case n > 0 && s == report.Expected: // no noun
			out = append(out, fmt.Sprintf("%d expected", n))
		case n > 0:
			out = append(out, counted(n, string(s)))
		}
	}
	return nameOr(strings.Join(out, ", "), "nothing")
}

func (r *Report) title() string {
	out := r.Source + ": " + r.headline()
	if r.Base != "" {
		out += " (against " + r.Base + ")"
	}
	return out
}

// way says where a cell leads.
func (c Cell) way() (who, where, before, after string) {
	who, where = c.Who, nameOr(c.Where, "the end of the frame")
	if c.Table == "interrupt" {
		who = "after an interrupt of " + c.Who
	}
	return who, where, nameOr(c.Before, "not at all"),
		nameOr(c.After, "not at all")
}

// label names a change: field X.b (was X.a) renamed.
func (c Change) label() string {
	out := c.Thing + " " + c.Name
	if c.Was != "" {
		out += " (was " + c.Was + ")"
	}
	return out
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
	return strings.Join(parts, " and")
}

// oneLine folds a text.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// Text returns the report for a terminal. It ends with a line break; an empty report is one line.
func (r *Report) Text() string {
	var b strings.Builder
	b.WriteString(r.title() + "\n")
	for _, s := range r.sections() {
		fmt.Fprintf(&b, "\n%s: %s\n", strings.ToLower(s.title), s.lead)
		for _, row := range s.rows {
			fmt.Fprintf(&b, "    %s to %s: %s → %s\n", row[0], row[1], row[2], row[3])
		}
		for _, item := range s.items {
			fmt.Fprintf(&b, "    %s\n", oneLine(item))
		}
		for _, d := range s.diffs {
			fmt.Fprintf(&b, "    %s\n      %s\n", d.name, oneLine(d.text))
		}
	}
	return b.String()
}
