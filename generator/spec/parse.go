package spec

import "bytes"

// Parse reads one document and checks it. The name is the file's as findings show it, slash-separated; nothing is opened.
//
// The findings are all there are, errors and warnings, sorted by position and then by rule; allows are not applied yet, see
// Suppress. The Spec is there whenever the document's root was a mapping, so that later passes can go on and find more; with
// errors among the findings it is not fit for making output. Parse never panics, whatever the bytes.
func Parse(name string, src []byte) (*Spec, []Finding) {
	r := &reader{src: newSource(name, nil)}
	if len(src) <= maxBytes {
		r.src = newSource(name, src)
	}
	s := r.parse(src)
	if r.full {
		r.findings = r.findings[:maxFindings-1]
		r.full = false
		r.reportAt(RuleTooManyFindings, Span{}, "repair these first", "the file has more than %d findings; the others are not shown", maxFindings)
	}
	Sort(r.findings)
	return s, r.findings
}

func (r *reader) parse(src []byte) *Spec {
	clean := r.checkBytes(src)
	if clean == nil {
		return nil
	}
	if len(bytes.TrimSpace(clean)) == 0 {
		r.reportAt(RuleEmpty, Span{}, "routegen init writes a first spec", "the file is empty")
		return nil
	}
	if len(r.hidden) > 0 {
		inFile := len(r.findings)
		defer func() { r.restore(r.findings[inFile:]) }()
		r.src = newSource(r.src.name, clean)
	}
	root := r.decode(clean)
	if root == nil {
		return nil
	}
	if root.Kind != mappingNode {
		if root.Tag == tagNull {
			r.reportAt(RuleEmpty, Span{}, "routegen init writes a first spec", "the document is empty")
		} else {
			r.reportAt(RuleRoot, r.span(root), "begin with version: 1", "the document is %s, not a mapping", nodeNoun(root))
		}
		return nil
	}
	s := &Spec{Name: r.src.name, At: r.span(root), Allows: r.allows}
	readMapping(r, language(), root, s)
	check(r, s)
	return s
}
