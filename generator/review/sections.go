package review

import (
	"cmp"
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
	s := section{title: "What changed", lead: "routegen breaking finds " + r.tally()}
	var lines, ends []string
	for _, c := range r.worstFirst() {
		line := c.Op + " " + c.label() + fmt.Sprintf(" (%s:%d)", cmp.Or(c.File, r.Source),
			max(c.Line, 1))
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
	sent := r.told(func(c Change) []string { return c.Senders }, anyText)
	switch {
	case len(breaks) > 0:
		s.lead = "each unfinished thread is judged by what it holds: one whose own data decode " +
			"against the new shapes goes on; another is refused with CodeIncompatible and the " +
			"field named, and the old program can finish it"
	default:
		s.lead = "every unfinished thread goes on"
	}
	s.items = breaks
	for _, line := range sent {
		s.items = append(s.items, "sent: "+line)
	}
	if len(sent) == 0 {
		s.lead += "; sent data is read as before"
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
	s := section{title: "Who can now go where", lead: "no way came, went or changed"}
	for _, c := range r.Access {
		who, where, before, after := c.way()
		s.rows = append(s.rows, []string{who, where, before, after})
	}
	s.items = append(r.remains(), r.told(func(c Change) []string { return c.Ways }, anyText)...)
	if len(s.rows) > 0 {
		s.lead = counted(len(s.rows), "way") + " changed, and no other"
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
		s.diffs = append(s.diffs, diffItem{fmt.Sprintf("%s %s (%s:%d)",
			ifElse(t.Prompt, "prompt", "doc"), t.Name, cmp.Or(t.File, r.Source),
			max(t.Line, 1)),
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
	s.items = append(s.items, r.schemaSizes()...)
	s.lead = ifElse(len(s.items)+len(s.diffs) == 0, "nothing changed: neither a schema nor a text",
		ifElse(len(r.Schemas) > 0, counted(len(r.Schemas), "schema")+" changed",
			"no schema of a node changed"))
	return s
}

// isDoc reports whether a changed description is a changed doc, which is told as such.
func (r *Report) isDoc(e SchemaEdit) bool {
	return slices.ContainsFunc(r.Texts, func(t TextDelta) bool {
		return t.Before == e.Before && t.After == e.After
	})
}

// schemaSizes are the schemas that changed, those that grow or shrink by as much in one line.
func (r *Report) schemaSizes() []string {
	var names, said []string
	for _, d := range r.Schemas {
		text := fmt.Sprintf(": %+d B", d.After-d.Before)
		switch {
		case d.Before == 0:
			text = fmt.Sprintf(": new, %d B", d.After)
		case d.After == 0:
			text = ": gone"
		case d.After == d.Before:
			text = ": of the same size"
		}
		names, said = append(names, d.Name), append(said, text)
	}
	var out []string
	for _, line := range foldNames(names, said) {
		out = append(out, "schema "+line)
	}
	return out
}

func (r *Report) goSection() section {
	s := section{title: "Whose Go stops compiling"}
	gone := slices.Concat(r.API.Removed, r.API.Changed)
	u := r.Uses
	switch {
	case u == nil:
		s.lead = "the module's packages were not read"
	case u.Note != "":
		s.lead = u.Note
	case len(u.Stops)+len(u.Lost) > 0:
		s.lead = fmt.Sprintf("%s in this module (%s read)", plural(len(u.Stops), "line"),
			counted(u.Packages, "package"))
	case len(gone) > 0 && len(u.Changed) == 0:
		s.lead = fmt.Sprintf("none in this module: nothing in it uses what was removed, renamed "+
			"or changed (%s read)", counted(u.Packages, "package"))
	default:
		s.lead = fmt.Sprintf("none in this module (%s read)", counted(u.Packages, "package"))
	}
	for _, i := range r.Interfaces {
		s.items = append(s.items, i.Name+i.summary()+ifElse(i.stops(),
			": what implements it stops compiling", ": implementers go on compiling"))
	}
	if u != nil {
		for _, list := range [][]GoPlace{u.Lost, u.Stops, u.Dead, u.Changed} {
			s.items = append(s.items, placesText(list)...)
		}
		if len(u.Broken) > 0 {
			s.items = append(s.items, fmt.Sprintf("%s of this module compile with the old "+
				"package no more than with the new one, so what is said of their packages may "+
				"lack something; the first: %s", plural(len(u.Broken), "line"),
				placesText(u.Broken[:1])[0]))
		}
	}
	if len(gone) > 0 {
		s.items = append(s.items, "code elsewhere that names "+listed(gone, maxNames))
	} else if len(r.API.Added) > 0 {
		s.items = append(s.items, "names were only added: "+listed(r.newNames(), 4))
	}
	for _, c := range r.Changes {
		if c.Rule == "ENUM_VALUE_ADDED" {
			s.items = append(s.items, c.Name+": "+c.Callers[0])
		}
	}
	return s
}

// maxNames is how many names of the package are told, and how many places of a text.
const maxNames, maxPlaces = 6, 20

// newNames are the names that were added, without the fields and methods of new types.
func (r *Report) newNames() []string {
	return slices.DeleteFunc(slices.Clone(r.API.Added), func(name string) bool {
		owner, _, member := strings.Cut(name[strings.Index(name, " ")+1:], ".")
		return member && slices.Contains(r.API.Added, "type "+owner)
	})
}

// placesText writes places, those of one text in one line.
func placesText(places []GoPlace) []string {
	var names, said []string
	for i, p := range places {
		if i == maxPlaces {
			return append(foldNames(names, said), counted(len(places)-i, "more place"))
		}
		names = append(names, fmt.Sprintf("%s:%d", p.File, p.Line))
		said = append(said, " "+p.Text)
	}
	return foldNames(names, said)
}

// severe reports whether a change has a finding that fails routegen breaking.
func (c Change) severe() bool { return c.Severity == string(report.Error) }
