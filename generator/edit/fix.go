package edit

import (
	"bytes"
	"slices"

	"github.com/routegen/routegen/generator/report"
	"github.com/routegen/routegen/generator/spec"
)

// Fix makes the repairs that need no decision: those of the findings that are Repairable. These are
// text that YAML reads as something else, which is quoted, and allows that suppress nothing, whose
// comment is removed. A guess at what was meant, such as the nearest name, is never made.
//
// Findings of other files are passed over, and so is a repair that overlaps another or would make
// the spec worse. Fix returns the new text and the number of places it changed.
func Fix(name string, src []byte, findings []report.Finding) (text []byte, fixed int) {
	_, before := spec.Parse(name, src)
	findings = slices.DeleteFunc(slices.Clone(findings), func(f report.Finding) bool {
		return f.File != name || !f.Repairable
	})
	if text, fixed, ok := repair(name, src, findings, before); ok {
		return text, fixed
	}
	text = src
	var kept []report.Finding // one of them does harm: find out which
	for _, f := range findings[:min(len(findings), maxSingleFixes)] {
		if next, n, ok := repair(name, src, append(kept, f), before); ok {
			text, fixed, kept = next, n, append(kept, f)
		}
	}
	return text, fixed
}

// maxSingleFixes bounds how many repairs are tried one by one; each costs a reading of the file.
const maxSingleFixes = 200

// repair makes all repairs. It returns false if two of them overlap or the spec is worse
// afterwards.
func repair(name string, src []byte, findings, before []report.Finding) ([]byte, int, bool) {
	e := &change{layout: &layout{src: report.NewSource(name, src), fault: -1}, name: name}
	for i := range findings {
		e.repairOne(&findings[i])
	}
	text, ok := e.apply()
	if !ok {
		return nil, 0, false
	}
	_, after := spec.Parse(name, text)
	return text, len(e.splices), len(newErrors(before, after)) == 0
}

// repairOne adds the splices of one finding.
func (e *change) repairOne(f *report.Finding) {
	from := e.src.Offset(f.At.Start)
	switch {
	case len(f.Fixes) == 1:
		for _, edit := range f.Fixes[0].Edits {
			at, end := e.src.Offset(edit.At.Start), e.src.Offset(edit.At.End)
			if at >= 0 && end >= at {
				e.splice(at, end, edit.Text)
			}
		}
	case f.Rule == spec.RuleAllowUnused && from >= 0 && e.is(from, '#'):
		start, end := e.lineStart(from), e.lineEnd(from)
		if before := bytes.TrimRight(e.src.Text[start:from], " \t"); len(before) > 0 {
			e.splice(start+len(before), end, "")
		} else {
			e.splice(start, e.nextLine(end), "")
		}
	}
}
