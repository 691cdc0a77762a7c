package review

import (
	"fmt"
	"slices"
	"strings"

	"github.com/routegen/routegen/generator/report"
)

// section answers one question about a change, in every form of a report.
type section struct {
	title, lead string
	rows        [][]string // who, where, before, after
	items       []string
	diffs       []diffItem
}

// diffItem is a text that changed, by words.
type diffItem struct{ name, text string }

// sections are the answers: what changed, whether to deploy it, stored threads and sent data, who
// goes where, models, and Go. Each is there whether or not anything changed for it.
func (r *Report) sections() []section {
	if r.Empty() {
		return nil
	}
	return []section{r.deploySection(), r.changeSection(), r.storedSection(), r.waysSection(),
		r.modelsSection(), r.goSection()}
}

func (r *Report) changeSection() section {
	s := section{title: "What changed", lead: "breaking finds " + r.tally()}
	var lines, ends []string
	for _, c := range r.worstFirst() {
		line := c.Op + " " + c.label() + " (" + r.locate(c.File, c.Line) + ")"
		end := ""
		if c.Rule != "" {
			end = " [" + c.Severity + " " + c.Rule + "]"
		}
		if len(c.Details) > 0 {
			end = ": " + strings.Join(c.Details, "; ") + end
		}
		lines, ends = append(lines, line), append(ends, end)
	}
	s.items = foldNames(lines, ends)
	return s
}

// foldNames joins the names of things of which the same is said.
func foldNames(names, said []string) []string {
	var out []string
	for i, text := range said {
		if slices.Contains(said[:i], text) {
			continue
		}
		var same []string
		for j := i; j < len(said); j++ {
			if said[j] == text && !slices.Contains(same, names[j]) {
				same = append(same, names[j])
			}
		}
		const few = 3
		if len(same) > few+1 && !strings.HasPrefix(text, " ") { // each place of Go is told
			same = append(same[:few:few], counted(len(same)-few, "other"))
		}
		out = append(out, strings.Join(same, ", ")+text)
	}
	return out
}

// locate returns a line, with its file where it is not that of the report.
func (r *Report) locate(file string, line int) string {
	if file == "" || file == r.Source {
		return fmt.Sprintf("line %d", max(line, 1))
	}
	return fmt.Sprintf("%s:%d", file, max(line, 1))
}

// told collects what changes say under one heading, equal texts once, in the order of the changes.
func (r *Report) told(of func(Change) []string, counts func(string) bool) []string {
	var names, said []string
	for _, c := range r.worstFirst() {
		for _, text := range of(c) {
			name := c.Name
			if strings.Contains(text, name[strings.LastIndex(name, ".")+1:]) {
				name = "" // it says so itself
			}
			if counts(text) {
				names = append(names, name)
				said = append(said, ifElse(name == "", "", ": ")+text)
			}
		}
	}
	return foldNames(names, said)
}

func anyText(string) bool { return true }

// isCalm reports whether a text says that there is no effect.
func isCalm(text string) bool { return strings.HasPrefix(text, "none") }

func (r *Report) storedSection() section {
	s := section{title: "Stored threads and sent data"}
	breaks := r.told(func(c Change) []string { return c.Stored },
		func(text string) bool { return strings.HasPrefix(text, refused) })
	other := r.told(func(c Change) []string { return c.Stored },
		func(text string) bool { return strings.HasPrefix(text, misread) })
	sent := r.told(func(c Change) []string { return c.Senders }, anyText)
	s.lead = "every unfinished thread goes on"
	if len(breaks)+len(other) > 0 {
		s.lead = "those below " + strings.Join(compact(
			ifElse(len(breaks) > 0,
				"are refused (CodeIncompatible)", ""),
			ifElse(len(other) > 0, "are read as something else", ""),
		), " or ") + ", every other unfinished thread goes on"
	}
	for _, line := range slices.Concat(other, breaks) { // their begin stands in the lead
		line = strings.Replace(line, misread, "read as something else if it holds ", 1)
		s.items = append(s.items, strings.Replace(line, refused, "refused if it ", 1))
	}
	for _, line := range sent {
		s.items = append(s.items, "sent: "+line)
	}
	if len(sent) == 0 {
		s.lead += "; sent data is read as before"
	} else if len(breaks) == 0 {
		s.lead += "; sent data is not all read"
	}
	return s
}

// listed joins names, the first few of many.
func listed(names []string, few int) string {
	if len(names) > few {
		return strings.Join(names[:few], ", ") + " and " + counted(len(names)-few, "other")
	}
	return strings.Join(names, ", ")
}

func (r *Report) waysSection() section {
	s := section{title: "Who can now go where", lead: "no change"}
	for _, c := range r.Access {
		who, where, before, after := c.way()
		s.rows = append(s.rows, []string{who, where, before, after})
	}
	s.items = append(r.remains(), r.told(func(c Change) []string { return c.Ways }, anyText)...)
	if len(s.rows) > 0 {
		s.lead = counted(len(s.rows), "way") + " changed"
	}
	return s
}

func (r *Report) modelsSection() section {
	s := section{title: "What models see"}
	docs := map[string]bool{} // texts that schemas have
	var where, said []string
	for _, e := range r.SchemaEdits {
		if e.Text {
			docs[e.After] = true
			if r.isDoc(e) {
				continue
			}
			s.diffs = append(s.diffs, diffItem{"description of " + e.Where, wordDiff(e.Before,
				e.After)})
			continue
		}
		text := ": " + e.Before + " → " + e.After
		if strings.HasPrefix(e.Before, "pattern ") && strings.HasPrefix(e.After, "pattern ") {
			text = ": another pattern"
		}
		where, said = append(where, e.Where), append(said, text)
	}
	s.items = foldNames(where, said)
	for _, t := range r.Texts {
		s.diffs = append(s.diffs, diffItem{ifElse(t.Prompt, "prompt ", "doc ") + t.Name,
			wordDiff(t.Before, t.After)})
	}
	measured := len(r.SchemaEdits)+len(r.Schemas) > 0
	s.items = append(s.items, r.told(func(c Change) []string {
		if c.Thing == "prompt" { // its texts stand below by words
			return slices.DeleteFunc(slices.Clone(c.Models), func(text string) bool {
				return strings.Contains(text, " something else (")
			})
		}
		if measured && c.inSchemas || c.Thing == "doc" {
			return slices.DeleteFunc(slices.Clone(c.Models), func(text string) bool {
				return !strings.HasPrefix(text, guidanceOf)
			})
		}
		if c.Thing == "field" && !c.inSchemas {
			out := slices.Clone(c.Models)
			for i := range out {
				out[i] = "the model that understands users: " + out[i]
			}
			return out
		}
		return c.Models
	}, func(text string) bool { return !isCalm(text) })...)
	s.lead = ifElse(len(s.items)+len(s.diffs) == 0, "no change",
		"no schema changed")
	if len(r.Schemas) > 0 {
		s.lead = r.schemasChanged()
	}
	return s
}

// isDoc reports whether a changed description is a changed doc, which is told as such.
func (r *Report) isDoc(e SchemaEdit) bool {
	return slices.ContainsFunc(r.Texts, func(t TextDelta) bool {
		return t.Before == e.Before && t.After == e.After
	})
}

// schemasChanged says which schemas changed, and by how much in all.
func (r *Report) schemasChanged() string {
	var names []string
	size := 0
	for _, d := range r.Schemas {
		names = append(names, strings.TrimPrefix(d.Name, "routing of ")+
			ifElse(d.Before == 0, " (new)", ifElse(d.After == 0, " (gone)", "")))
		size += d.After - d.Before
	}
	return counted(len(names), "schema") + " changed (" + fmt.Sprintf("%+d B", size) + "): " +
		listed(names, 3)
}

// severe reports whether a change has a finding that fails routegen breaking.
func (c Change) severe() bool { return c.Severity == string(report.Error) }
