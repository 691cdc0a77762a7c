package review

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// goSection names what of Go stops compiling, and what else in it a change concerns.
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
	default:
		s.lead = fmt.Sprintf("none in this module (%s read)", counted(u.Packages, "package"))
		if len(gone) == 0 && len(r.API.Added) > 0 {
			s.lead += "; names were only added"
		}
	}
	var names, said []string
	for _, i := range r.Interfaces {
		names = append(names, i.Name+i.summary())
		said = append(said, ifElse(i.stops(), ": implementers stop compiling",
			": implementers go on compiling"))
	}
	s.items = append(s.items, foldNames(names, said)...)
	if u != nil {
		lost, stops := foldMissing(u.Lost, u.Stops)
		for _, list := range [][]GoPlace{lost, stops, u.Dead, u.Changed, u.Switches} {
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
		s.items = append(s.items, "code elsewhere that names "+listed(gone, maxListed))
	}
	for _, c := range r.Changes {
		if c.Rule == "ENUM_VALUE_ADDED" {
			where := ""
			if u != nil && u.Note == "" {
				where = ifElse(len(u.Switches) > 0, "elsewhere, ", "outside of this module, ")
			}
			s.items = append(s.items, c.Name+": "+where+c.Callers[0])
		}
	}
	return s
}

// maxPlaces is how many places of Go are told.
const maxPlaces = 20

// foldMissing joins a type that lacks a method and the lines that stop compiling for it: the method
// is to be written where the type is declared. It returns the types, and the lines of other causes.
func foldMissing(lost, stops []GoPlace) (types, others []GoPlace) {
	types, others = slices.Clone(lost), slices.Clone(stops)
	for i := range types {
		name, rest, _ := strings.Cut(strings.TrimPrefix(types[i].Text, "*"),
			" no longer implements ")
		iface, _, _ := strings.Cut(rest, ":")
		var places []GoPlace
		others = slices.DeleteFunc(others, func(p GoPlace) bool {
			who, what, _ := strings.Cut(strings.TrimPrefix(p.Text, "*"), " does not implement ")
			what, _, _ = strings.Cut(what, " (missing method ")
			same := who == name && strings.HasSuffix(what, "."+iface)
			if same {
				places = append(places, GoPlace{File: p.File, Line: p.Line})
			}
			return same
		})
		if len(places) > 0 {
			types[i].Text += ", and stops compiling at " +
				strings.TrimSpace(strings.Join(placesText(places), ", "))
		}
	}
	return types, others
}

// placesText writes places, those of one text in one line and those of one file together.
func placesText(places []GoPlace) []string {
	var names, said []string
	shown := slices.Clone(places[:min(len(places), maxPlaces)])
	slices.SortStableFunc(shown, func(a, b GoPlace) int { // the texts in the order of their first
		at := func(p GoPlace) int {
			return slices.IndexFunc(places, func(q GoPlace) bool { return q.Text == p.Text })
		}
		return cmp.Compare(at(a), at(b))
	})
	for i, p := range shown {
		if i > 0 && shown[i-1].File == p.File && shown[i-1].Text == p.Text {
			names[len(names)-1] += fmt.Sprintf(", %d", p.Line)
			continue
		}
		names = append(names, fmt.Sprintf("%s:%d", p.File, p.Line))
		said = append(said, " "+p.Text)
	}
	out := foldNames(names, said)
	if left := len(places) - maxPlaces; left > 0 {
		out = append(out, counted(left, "more place"))
	}
	return out
}
