package spec

import (
	"errors"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/routegen/routegen/generator/report"
)

// maxFiles is the number of files that a spec may include.
const maxFiles = 255

// ReadIncluded reads the files that a spec includes, and those that these include, in the order in
// which they are read as one: each before those that it includes. Open returns the text of a file
// by its path from the folder of the main file, slash-separated; that path never leads out of the
// folder, but a link on its way may. If a file cannot be taken, ReadIncluded returns findings,
// each in the file that it is about.
//
// A file that is no spec is included nevertheless: Parse says what is wrong with it.
func ReadIncluded(name string, src []byte, open func(path string) ([]byte, error)) ([]report.File,
	[]report.Finding) {
	in := &includer{open: open, folder: path.Dir(name), size: len(src),
		first: map[string]report.Related{}}
	in.include(path.Base(name), report.File{Name: name, Text: src}, nil)
	report.Sort(in.findings)
	return in.files, in.findings
}

// includer reads the files of one spec.
type includer struct {
	open     func(path string) ([]byte, error)
	folder   string // of the main file, as findings show it
	files    []report.File
	first    map[string]report.Related // where a file is included first, by path
	size     int
	findings []report.Finding
}

// include reads what a file includes. The chain are the paths of the files that led to it.
func (in *includer) include(at string, f report.File, chain []string) {
	chain = append(slices.Clone(chain), at)
	r := &reader{src: report.NewSource(f.Name, f.Text), path: []string{includeKey}}
	for _, item := range r.includes(f.Text) {
		to := path.Join(path.Dir(at), item.Value)
		before, again := in.first[to]
		switch {
		case fileFault(item.Value) != "": // reported
		case to == "." || to == ".." || strings.HasPrefix(to, "../"):
			r.report(RuleIncludePath, item.At, "name a file of the folder of the spec, or below it",
				"%q leads out of the folder of the spec", item.Value)
		case slices.Contains(chain, to):
			circle := slices.Concat(chain[slices.Index(chain, to):], []string{to})
			r.report(RuleIncludeCycle, item.At, "take this line out", "%s includes %s", circle[0],
				strings.Join(circle[1:], ", which includes "))
		case again:
			f := r.report(RuleIncludeTwice, item.At, "take one of them out",
				"%s is included twice", to)
			f.Related = append(f.Related, before)
		case len(in.first) == maxFiles:
			r.report(RuleTooManyFiles, item.At, "join some of them",
				"the spec includes more than %d files", maxFiles)
		default:
			in.first[to] = report.Related{File: f.Name, At: item.At,
				Message: to + " is first included here"}
			in.read(r, item, to, chain)
		}
	}
	in.findings = append(in.findings, r.findings...)
}

// read adds a file, and those that it includes.
func (in *includer) read(r *reader, item Text, to string, chain []string) {
	text, err := in.open(to)
	in.size += len(text)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		r.report(RuleIncludeRead, item.At, "a path counts from the folder of the file that has it",
			"there is no file %s", path.Join(in.folder, to))
	case err != nil:
		r.report(RuleIncludeRead, item.At, "an included file is a regular file of the folder of "+
			"the spec, or below it", "%s cannot be read: %s", path.Join(in.folder, to), cause(err))
	case in.size > maxBytes:
		r.report(RuleTooLarge, item.At, "", "with this file, the spec is larger than %d bytes "+
			"(32 MiB)", maxBytes)
	default:
		f := report.File{Name: path.Join(in.folder, to), Text: text}
		in.files = append(in.files, f)
		in.include(to, f, chain)
	}
}

// cause is an error without the path, which the finding names.
func cause(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}

// includeKey is the key that names other files.
const includeKey = "include"

// mayInclude finds the key in a text. Most specs have none, and are not read twice.
var mayInclude = regexp.MustCompile(`\binclude["']?\s*:`)

// includes returns the paths under the key `include` of a file, and keeps the findings about it.
// Whatever else is wrong with the file is for Parse.
func (r *reader) includes(text []byte) []Text {
	if len(text) > maxBytes || !mayInclude.Match(text) {
		return nil
	}
	readable := r.checkBytes(text)
	var root *node
	if readable {
		root = r.decode(text)
	}
	r.findings = nil
	if root == nil || root.Kind != MappingNode {
		return nil
	}
	list := valueOf(root, includeKey)
	if list == nil {
		return nil
	}
	return r.textsOf(language().Key(includeKey), list)
}

// join puts the mappings of several files together as that of one. Entries of a section that stands
// in several files follow each other in the order of the files. What only one file can have is left
// as it stands, so that reading the whole reports the second one.
func (r *reader) join(files []report.File) *node {
	whole := &node{Kind: MappingNode, Line: 1, Column: 1}
	nodes := 0
	for i, f := range files {
		part := &reader{src: report.NewSource(f.Name, f.Text)}
		root := part.readRoot(f.Text, i > 0)
		before := r.src.Places.Before(i)
		r.take(part, before)
		if root == nil {
			whole = nil // the other files are looked at all the same
			continue
		}
		moveLines(root, before, &nodes)
		switch {
		case nodes > maxNodes:
			r.reportAt(RuleTooManyNodes, report.Span{}, "", "the files have more than %d values",
				maxNodes)
			return nil
		case whole != nil:
			r.joinRoot(whole, root, i > 0)
		}
	}
	return whole
}

// take moves the findings and allows of one file, as many lines down as precede it.
func (r *reader) take(part *reader, lines int) {
	down := func(at report.Span) report.Span {
		if !at.Start.IsZero() {
			at.Start.Line, at.End.Line = at.Start.Line+lines, at.End.Line+lines
		}
		return at
	}
	for _, f := range part.findings {
		f.File, f.At = r.src.Name, down(f.At)
		for i := range f.Related {
			f.Related[i].At = down(f.Related[i].At)
		}
		for _, fix := range f.Fixes {
			for i := range fix.Edits {
				fix.Edits[i].At = down(fix.Edits[i].At)
			}
		}
		if r.full = r.full || part.full || len(r.findings) >= maxFindings; r.full {
			return
		}
		r.findings = append(r.findings, f)
	}
	for _, a := range part.allows {
		a.File, a.At, a.Line = r.src.Name, down(a.At), a.Line+lines
		r.allows = append(r.allows, a)
	}
}

// moveLines moves a value down, and counts the values in it.
func moveLines(n *node, by int, count *int) {
	*count++
	n.Line += by
	for _, child := range n.Content {
		moveLines(child, by, count)
	}
}

// joinRoot adds the keys of one file.
func (r *reader) joinRoot(whole, root *node, included bool) {
	own := map[string]bool{} // keys of this file
	for i := 0; i+1 < len(root.Content); i += 2 {
		name, value := root.Content[i], root.Content[i+1]
		k := language().Key(name.Value)
		switch {
		case name.Kind != ScalarNode || own[name.Value]:
			k = nil
		case k == nil:
			// what a misspelt section holds belongs to that of the other files
			before := len(r.findings)
			if meant := r.unknownKey(language(), name, value); meant.row >= 0 &&
				!meant.translated {
				k = &language().Keys[meant.row]
			} else {
				r.findings = r.findings[:before] // reading the whole reports it
			}
		case included && name.Value == includeKey:
			continue // ReadIncluded has followed it
		case included && (name.Value == "version" || name.Value == "go"):
			r.reportAt(RuleIncludeKey, r.span(name), "take it out here",
				"%q stands in the main file only", name.Value)
			continue
		}
		own[name.Value] = true
		var into *node
		if k != nil {
			into = valueOf(whole, k.Name)
			name.Value = k.Name
		}
		if into == nil || k.Form != FormEntries && !k.List {
			whole.Content = append(whole.Content, name, value)
		} else {
			r.joinValues(k, into, value)
		}
	}
}

// valueOf returns the value of a key, or nil.
func valueOf(n *node, name string) *node {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == name {
			return n.Content[i+1]
		}
	}
	return nil
}

// joinValues adds the entries of a section, or the items of a list.
func (r *reader) joinValues(k *Key, into, value *node) {
	kind := MappingNode
	if k.List {
		kind = SequenceNode
	}
	r.path = append(r.path, k.Name)
	switch {
	case value.Kind != kind:
		r.wrongKind(k, value)
	case into.Kind != kind:
		r.wrongKind(k, into)
		*into = *value
	default:
		into.Content = append(into.Content, value.Content...)
		if k.Form == FormEntries && len(into.Content)/2 > maxKeys {
			r.report(RuleTooManyKeys, r.span(value), "", "one mapping has more than %d keys",
				maxKeys)
			into.Content = into.Content[:2*maxKeys]
		}
	}
	r.path = r.path[:len(r.path)-1]
}
