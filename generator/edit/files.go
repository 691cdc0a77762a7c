package edit

import (
	"slices"

	"github.com/routegen/routegen/generator/report"
	"github.com/routegen/routegen/generator/spec"
)

// Files is a spec in several files: the main one, then those that it includes, as
// spec.ReadIncluded returns them. An edit changes what it speaks of in the file where that stands,
// and returns all files, the others as they were. What is new comes into the file of its neighbour
// or owner, or else into the last file that has its section.
type Files []report.File

// Add does what the function Add does.
func (f Files) Add(what Addition) (Files, []report.Finding) {
	return f.change(func(e *change) { e.add(what) })
}

// Rename does what the function Rename does.
func (f Files) Rename(kind, from, to string) (Files, []report.Finding) {
	return f.change(func(e *change) { e.rename(kind, from, to) })
}

// Remove does what the function Remove does.
func (f Files) Remove(kind, target string) (Files, []report.Finding) {
	files, refused := f.change(func(e *change) { e.removeThing(kind, target) })
	for i := range refused {
		if f := &refused[i]; f.Rule == spec.RuleNodeUnreachable && kind == KindBranch {
			f.Hint = "if the node is to go too, remove both by hand"
		}
	}
	return files, refused
}

// change makes an edit, unless something refuses it.
func (f Files) change(do func(e *change)) (files Files, refused []report.Finding) {
	e, bad := parse(f)
	if e == nil {
		return nil, bad
	}
	if do(e); len(e.refused) > 0 {
		refused = e.refused
	} else {
		files, refused = e.finish()
	}
	e.src.Places.Resolve(e.src.Name, refused)
	return files, refused
}

// text returns the text of the main file.
func (f Files) text() []byte {
	if len(f) == 0 {
		return nil
	}
	return f[0].Text
}

// single is the result of an edit of a spec in one file.
func single(files Files, refused []report.Finding) ([]byte, []report.Finding) {
	return files.text(), refused
}

// parse reads the spec.
func (f Files) parse() (*spec.Spec, []report.Finding) {
	return spec.Parse(f[0].Name, f[0].Text, f[1:]...)
}

// at follows keys down from the top of each file, and returns the first value that exists, or nil.
func (t *layout) at(path ...string) *value {
	for _, root := range t.roots {
		if v := root.at(path...); v != nil {
			return v
		}
	}
	return nil
}

// home returns the top of the file that declares a name in a section; or else of the last one that
// has the section; or else of the main one.
func (t *layout) home(section, name string) *value {
	home := t.roots[0]
	for _, root := range t.roots {
		if root.at(section, name) != nil {
			return root
		}
		if root.get(section) != nil {
			home = root
		}
	}
	return home
}

// rootAt returns the top of the file that an offset is in.
func (t *layout) rootAt(offset int) *value { return t.roots[t.src.Places.Index(offset)] }

// isRoot reports whether a value is a whole file.
func (t *layout) isRoot(v *value) bool { return slices.Contains(t.roots, v) }

// moveDown moves a value as many lines down as come before its file.
func moveDown(n *spec.YAMLNode, lines int) {
	n.Line += lines
	for _, child := range n.Content {
		moveDown(child, lines)
	}
}
