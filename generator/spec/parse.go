package spec

import (
	"bytes"

	"github.com/routegen/routegen/generator/report"
)

// Parse reads one document and checks it. The name is the file's as findings show it,
// slash-separated; nothing is opened.
//
// The findings are all errors, then all warnings, sorted by position and then by rule; allows
// are not applied yet, see Suppress. The Spec is not nil if the text can be read as one document
// whose root is a mapping, so that later passes can find more; no output may be made of it while
// there are errors among the findings. Parse does not panic on any input.
func Parse(name string, src []byte) (*Spec, []report.Finding) {
	r := &reader{src: report.NewSource(name, nil)}
	if len(src) <= maxBytes {
		r.src = report.NewSource(name, src)
	}
	s := r.parse(src)
	if r.full {
		r.findings = r.findings[:maxFindings-1]
		r.full = false
		r.reportAt(RuleTooManyFindings, report.Span{}, "repair these first",
			"the file has more than %d findings; the others are not shown", maxFindings)
	}
	report.Sort(r.findings)
	return s, r.findings
}

func (r *reader) parse(src []byte) *Spec {
	if !r.checkBytes(src) {
		return nil
	}
	if len(bytes.TrimSpace(src)) == 0 {
		r.reportAt(RuleEmpty, report.Span{}, "routegen init writes a first spec",
			"the file is empty")
		return nil
	}
	root := r.decode(src)
	if root == nil {
		return nil
	}
	if root.Kind != MappingNode {
		if root.Tag == TagNull {
			r.reportAt(RuleEmpty, report.Span{}, "routegen init writes a first spec",
				"the document is empty")
		} else {
			r.reportAt(RuleRoot, r.span(root), "begin with version: 1",
				"the document is %s, not a mapping", nodeNoun(root))
		}
		return nil
	}
	s := &Spec{Name: r.src.Name, At: r.span(root), Allows: r.allows}
	r.readMapping(language(), root, s)
	check(r, s)
	return s
}
