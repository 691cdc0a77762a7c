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
	files, fixed := Files{{Name: name, Text: src}}.Fix(findings)
	return files.text(), fixed
}

// Fix does what the function Fix does, in all files.
func (f Files) Fix(findings []report.Finding) (files Files, fixed int) {
	_, before := f.parse()
	findings = slices.DeleteFunc(slices.Clone(findings), func(found report.Finding) bool {
		return !found.Repairable || !slices.ContainsFunc(f, func(file report.File) bool {
			return file.Name == found.File
		})
	})
	if files, fixed, ok := f.repair(findings, before); ok {
		return files, fixed
	}
	files = f
	var kept []report.Finding // one of them does harm: find out which
	for _, one := range findings[:min(len(findings), maxSingleFixes)] {
		if next, n, ok := f.repair(append(kept, one), before); ok {
			files, fixed, kept = next, n, append(kept, one)
		}
	}
	return files, fixed
}

// maxSingleFixes bounds how many repairs are tried one by one; each costs a reading of the file.
const maxSingleFixes = 200

// repair makes all repairs. It returns false if two of them overlap or the spec is worse
// afterwards.
func (f Files) repair(findings, before []report.Finding) (Files, int, bool) {
	e := &change{layout: &layout{src: report.JoinFiles(f...), fault: -1}}
	for i := range findings {
		e.repairOne(&findings[i])
	}
	files, ok := e.apply()
	if !ok {
		return nil, 0, false
	}
	_, after := files.parse()
	return files, len(e.splices), len(newErrors(before, after)) == 0
}

// repairOne adds the splices of one finding.
func (e *change) repairOne(f *report.Finding) {
	offset := func(at report.Pos) int { return e.src.Offset(e.src.Places.Joined(f.File, at)) }
	from := offset(f.At.Start)
	switch {
	case len(f.Fixes) == 1:
		for _, edit := range f.Fixes[0].Edits {
			at, end := offset(edit.At.Start), offset(edit.At.End)
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
