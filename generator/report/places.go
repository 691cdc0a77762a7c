package report

import (
	"bytes"
	"slices"
	"sort"
)

// File is one file of a spec: its name as findings show it, and its text.
type File struct {
	Name string
	Text []byte
}

// Places says in which file of a joined text a line stands. Nil: the text is one file.
type Places []joinedFile

// joinedFile is one file of a joined text: its bytes there, and how many lines come before it.
type joinedFile struct {
	name             string
	from, to, before int
	end              string // the line end that its last line lacks; it stands in front of to
}

// JoinFiles returns files as one source, in which lines count on from file to file. It is named
// after the first one, and Places leads back. A last line without an end gets one. Two empty lines
// follow each file, so that what is said of the line below its last one is about no other file.
func JoinFiles(files ...File) *Source {
	if len(files) == 1 {
		return NewSource(files[0].Name, files[0].Text)
	}
	var text []byte
	var places Places
	lines := 0
	for _, f := range files {
		from := len(text)
		text = append(text, f.Text...)
		end := missingEnd(f.Text)
		text = append(text, end...)
		places = append(places, joinedFile{f.Name, from, len(text), lines, end})
		text = append(text, "\n\n"...)
		for _, b := range text[from:] {
			if b == '\n' {
				lines++
			}
		}
	}
	s := NewSource(files[0].Name, text)
	s.Places = places
	return s
}

// missingEnd returns the line end that the last line of a text lacks, or "".
func missingEnd(text []byte) string {
	switch {
	case len(text) == 0 || text[len(text)-1] == '\n':
		return ""
	case bytes.Contains(text, []byte("\r\n")):
		return "\r\n"
	}
	return "\n"
}

// Split returns the files again after edits of their joined text, which are given in order. A file
// without edits is returned as it was; if the last line of a file had no end, it has none again.
// Split returns false if an edit reaches over the end of a file.
func (p Places) Split(text []byte, edits []Splice) ([]File, bool) {
	var out []File
	shift := 0
	for _, at := range p {
		from, left := at.from+shift, len(edits)
		for len(edits) > 0 && edits[0].From <= at.to {
			if edits[0].From < at.from || edits[0].To > at.to {
				return nil, false
			}
			shift += edits[0].Length - (edits[0].To - edits[0].From)
			edits = edits[1:]
		}
		file := bytes.TrimSuffix(text[from:at.to+shift], []byte(at.end))
		if at.end != "" && len(edits) < left {
			file = bytes.TrimSuffix(file, []byte{'\r'}) // of a line added in the main file's form
		}
		out = append(out, File{at.name, file})
	}
	return out, len(edits) == 0
}

// Splice says that the bytes between two offsets became as many as Length.
type Splice struct{ From, To, Length int }

// Find returns the file that a position of the joined text is in, and the position there. The file
// is "" if the text is one file.
func (p Places) Find(at Pos) (file string, there Pos) {
	if p == nil || at.IsZero() {
		return "", at
	}
	i := sort.Search(len(p), func(i int) bool { return p[i].before >= at.Line }) - 1
	return p[i].name, Pos{at.Line - p[i].before, at.Column}
}

// Before returns the number of lines in front of a file, counted from 0.
func (p Places) Before(file int) int { return p[file].before }

// Joined returns the position in the joined text of a position in one of its files.
func (p Places) Joined(file string, at Pos) Pos {
	for _, part := range p {
		if part.name == file {
			return Pos{at.Line + part.before, at.Column}
		}
	}
	return at
}

// End returns the offset behind the last line of the file that an offset of the joined text is in.
func (p Places) End(offset int) int { return p[p.Index(offset)].to }

// Index returns the number of the file that an offset of the joined text is in, counted from 0.
func (p Places) Index(offset int) int {
	return max(0, sort.Search(len(p), func(i int) bool { return p[i].from > offset })-1)
}

// Resolve moves findings about the joined text, which carry the name of the whole, into the files
// that they are about. Findings that have been moved, or are about something else, stay.
func (p Places) Resolve(whole string, findings []Finding) {
	if p == nil {
		return
	}
	for i := range findings {
		f := &findings[i]
		if f.File != whole {
			continue
		}
		f.File, f.At = p.span(whole, f.At)
		f.Related = slices.Clone(f.Related)
		for k := range f.Related {
			r := &f.Related[k]
			if r.File != "" {
				continue
			}
			if r.File, r.At = p.span(whole, r.At); r.File == f.File {
				r.File = ""
			}
		}
		f.Fixes = slices.Clone(f.Fixes)
		for k := range f.Fixes {
			edits := slices.Clone(f.Fixes[k].Edits)
			for n := range edits {
				_, edits[n].At = p.span(whole, edits[n].At)
			}
			f.Fixes[k].Edits = edits
		}
	}
}

// span is Find for a span; the first file has the name of the whole.
func (p Places) span(whole string, at Span) (file string, there Span) {
	file, start := p.Find(at.Start)
	if file == "" || file == p[0].name {
		file = whole
	}
	_, end := p.Find(at.End)
	return file, Span{start, end}
}
