package spec

import "bytes"

// ApplyFixes makes the repairs that need no decision: of findings about src, each that its rule repairs in one way only. Those
// are text that YAML reads as something else (it is quoted) and allows that silence nothing (the comment is removed). A guess at
// what was meant, such as the nearest name, is never made.
//
// Findings of other files and rules are passed over, and so is a repair that overlaps another or would make the spec worse. The
// result has no Edits when nothing could be repaired; it is never nil.
func ApplyFixes(name string, src []byte, findings []Finding) *EditResult {
	_, before := Parse(name, src)
	var mine []Finding
	for i := range findings {
		if findings[i].File == name {
			mine = append(mine, findings[i])
		}
	}
	if result, ok := tryFixes(name, src, mine, before); ok {
		return result
	}
	result, kept := &EditResult{Text: src}, []Finding(nil)
	for _, f := range mine[:min(len(mine), maxSingleFixes)] { // one of them does harm: find out which
		if next, ok := tryFixes(name, src, append(kept, f), before); ok {
			result, kept = next, append(kept, f)
		}
	}
	return result
}

// maxSingleFixes bounds how many repairs are tried one by one; each costs a reading of the file.
const maxSingleFixes = 200

// tryFixes makes all repairs; false when two overlap or the spec is worse afterwards.
func tryFixes(name string, src []byte, findings, before []Finding) (*EditResult, bool) {
	e := &edition{tree: &tree{src: newSource(name, src), fault: -1}, name: name}
	for i := range findings {
		e.repair(&findings[i])
	}
	result, ok := e.apply()
	if !ok {
		return nil, false
	}
	_, after := Parse(name, result.Text)
	return result, len(newErrors(before, after, true)) == 0
}

// mechanical reports whether ApplyFixes has a repair for a finding.
func (f *Finding) mechanical() bool {
	return f.Rule == RuleAllowUnused || f.Rule == RuleScalarKind && len(f.Fixes) == 1
}

// repair adds the splices of one finding; none when it has no mechanical repair.
func (e *edition) repair(f *Finding) {
	switch {
	case !f.mechanical():
	case f.Rule == RuleAllowUnused:
		from := e.src.byteAt(f.At.Start)
		if from < 0 || !e.is(from, '#') {
			return
		}
		start, end := e.lineStart(from), e.lineEnd(from)
		if before := bytes.TrimRight(e.src.text[start:from], " \t"); len(before) > 0 {
			e.splice(start+len(before), end, "")
		} else {
			e.splice(start, e.nextLine(end), "")
		}
	default:
		for _, edit := range f.Fixes[0].Edits {
			from, to := e.src.byteAt(edit.At.Start), e.src.byteAt(edit.At.End)
			if from >= 0 && to >= from {
				e.splice(from, to, edit.Text)
			}
		}
	}
}
