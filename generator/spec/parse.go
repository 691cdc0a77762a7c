package spec

import (
	"bytes"

	"github.com/routegen/routegen/generator/report"
)

// Parse reads one document and checks it. The name is the file's as findings show it,
// slash-separated; nothing is opened.
//
// Included are the files that the document includes, as ReadIncluded returns them: they are read
// with it as one. Then all positions, those of findings too, are in the joined text, and the Places
// of the Spec lead back to the files. Without them, `include:` is an error.
//
// The findings are all errors, then all warnings, sorted by position and then by rule; allows
// are not applied yet, see Suppress. The Spec is not nil if the text can be read as one document
// whose root is a mapping, so that later passes can find more; no output may be made of it while
// there are errors among the findings. Parse does not panic on any input.
func Parse(name string, src []byte, included ...report.File) (*Spec, []report.Finding) {
	files := append([]report.File{{Name: name, Text: src}}, included...)
	size := 0
	for _, f := range files {
		size += len(f.Text)
	}
	r := &reader{src: report.NewSource(name, nil)}
	if size <= maxBytes {
		r.src = report.JoinFiles(files...)
	}
	s := r.parse(files, size)
	if r.full {
		r.findings = r.findings[:maxFindings-1]
		r.full = false
		r.reportAt(RuleTooManyFindings, report.Span{}, "repair these first",
			"the file has more than %d findings; the others are not shown", maxFindings)
	}
	report.Sort(r.findings)
	return s, r.findings
}

func (r *reader) parse(files []report.File, size int) *Spec {
	var root *node
	switch {
	case len(files) == 1:
		root = r.readRoot(files[0].Text, false)
	case size > maxBytes:
		r.reportAt(RuleTooLarge, report.Span{}, "", "with what it includes, the file is larger "+
			"than %d bytes (32 MiB)", maxBytes)
	default:
		root = r.join(files)
	}
	if root == nil {
		return nil
	}
	s := &Spec{Name: r.src.Name, At: r.span(root), Allows: r.allows, Places: r.src.Places}
	r.readMapping(language(), root, s)
	if len(s.Include) > 0 && len(files) == 1 {
		if valueOf(root, includeKey) != nil { // a misspelt key is reported, and was not followed
			r.report(RuleIncludeRead, s.Include[0].At, "name the file, so that its folder is "+
				"known", "this text came alone, without the files that it includes")
		}
		return s // most names would be unknown
	}
	check(r, s)
	return s
}

// readRoot returns the mapping that a file is, or reports why it is not one.
func (r *reader) readRoot(text []byte, included bool) *node {
	first, begin := "routegen init writes a first spec", "begin with version: 1"
	if included {
		first, begin = "write a section, or include it no more", "begin with a section"
	}
	if !r.checkBytes(text) {
		return nil
	}
	if len(bytes.TrimSpace(text)) == 0 {
		r.reportAt(RuleEmpty, report.Span{}, first, "the file is empty")
		return nil
	}
	root := r.decode(text)
	if root == nil || root.Kind == MappingNode {
		return root
	}
	if root.Tag == TagNull {
		r.reportAt(RuleEmpty, report.Span{}, first, "the document is empty")
	} else {
		r.reportAt(RuleRoot, r.span(root), begin, "the document is %s, not a mapping",
			nodeNoun(root))
	}
	return nil
}
