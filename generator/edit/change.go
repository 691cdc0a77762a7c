package edit

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	"github.com/routegen/routegen/generator/report"
	"github.com/routegen/routegen/generator/spec"
)

// change is one edit of a document. The nodes of its layout are kept as the result shall be read.
type change struct {
	*layout
	spec    *spec.Spec
	before  []report.Finding
	refused []report.Finding
	splices []splice
	renamed map[*spec.YAMLNode]bool // scalars in which a name is replaced
	inLines map[*spec.YAMLNode]bool // new mappings that are written in lines
	eol     string
	step    int // columns of one level of indentation
}

// splice replaces bytes by a text.
type splice struct {
	from, to int
	text     string
}

// parse reads a document for an edit. The findings say why it cannot be edited.
func parse(files Files) (*change, []report.Finding) {
	s, findings := files.parse()
	src := report.JoinFiles(files...)
	blocked := slices.DeleteFunc(slices.Clone(findings), func(f report.Finding) bool {
		return s != nil && !blocksEdits(f.Rule)
	})
	if len(blocked) > 0 {
		src.Places.Resolve(src.Name, blocked)
		return nil, blocked
	}
	e := &change{layout: newLayout(src, files), spec: s, before: findings,
		renamed: map[*spec.YAMLNode]bool{}, inLines: map[*spec.YAMLNode]bool{}, eol: "\n", step: 2}
	if e.fault >= 0 {
		e.refuse(spec.RuleEditLayout, e.src.Span(e.fault, e.fault),
			"write it in the plain form, or edit it by hand",
			"this is laid out in a way that edits do not understand")
		src.Places.Resolve(src.Name, e.refused)
		return nil, e.refused
	}
	if at := bytes.IndexByte(src.Text, '\n'); at > 0 && src.Text[at-1] == '\r' {
		e.eol = "\r\n"
	}
	for _, top := range e.tops() {
		if v := top.value; len(v.pairs) > 0 && !v.brackets && e.indent(v.from) > 0 {
			e.step = e.indent(v.from)
			break
		}
	}
	return e, nil
}

// blocksEdits reports whether a finding of a rule means that the text cannot be edited safely.
func blocksEdits(rule string) bool {
	return slices.Contains([]string{
		spec.RuleEncoding, spec.RuleControlChar, spec.RuleSyntax, spec.RuleMultiDoc,
		spec.RuleAlias, spec.RuleTag, spec.RuleMergeKey, spec.RuleDuplicateKey,
		spec.RuleEnumDuplicate, spec.RuleNameCaseCollision, spec.RuleTooManyFindings,
		spec.RuleTooManyKeys, spec.RuleTooManyNodes, spec.RuleTooDeep, spec.RuleVersion,
	}, rule)
}

// refuse adds a finding that refuses the edit. A finding without a position is about the request
// and not about the text.
func (e *change) refuse(rule string, at report.Span, hint, format string,
	args ...any) []report.Finding {
	e.refused = append(e.refused, report.Finding{Rule: rule, Severity: report.Error,
		File: e.src.Name, At: at, Message: fmt.Sprintf(format, args...), Hint: hint})
	return e.refused
}

// refuseArgumentf refuses a request that cannot be understood.
func (e *change) refuseArgumentf(hint, format string, args ...any) {
	e.refuse(spec.RuleEditArgument, report.Span{}, hint, format, args...)
}

func (e *change) spanOf(v *value) report.Span {
	return e.src.Span(v.from, min(v.to, e.lineEnd(v.from)))
}

func (e *change) splice(from, to int, text string) {
	e.splices = append(e.splices, splice{from, to, text})
}

// finish makes the edit, reads the result, and refuses it if the spec has a new error or does not
// say what it should.
func (e *change) finish() (Files, []report.Finding) {
	files, ok := e.apply()
	if !ok || e.fault >= 0 {
		return nil, e.refuseLayout()
	}
	_, after := files.parse()
	if worse := newErrors(e.before, after); len(worse) > 0 {
		return nil, e.moveBack(report.JoinFiles(files...), worse)
	}
	for i, f := range files {
		if doc := spec.ReadYAML(f.Text); doc == nil || !e.sameData(doc, e.roots[i].n) {
			return nil, e.refuseLayout()
		}
	}
	return files, nil
}

func (e *change) refuseLayout() []report.Finding {
	at := report.Span{}
	switch {
	case e.fault >= 0:
		at = e.src.Span(e.fault, e.fault)
	case len(e.splices) > 0:
		at = e.src.Span(e.splices[0].from, e.splices[0].from)
	}
	return e.refuse(spec.RuleEditLayout, at,
		"edit it by hand; what is in brackets over several lines, write in lines or on one",
		"this is laid out in a way in which the edit would change more than it should")
}

// apply makes the splices. It returns false if two of them overlap, or one reaches from a file into
// another.
func (e *change) apply() (files Files, ok bool) {
	var text []byte
	var made []report.Splice
	slices.SortStableFunc(e.splices, func(a, b splice) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to))
	})
	done := 0
	for _, s := range e.splices {
		if s.from < done {
			return nil, false
		}
		text = append(append(text, e.src.Text[done:s.from]...), s.text...)
		done = s.to
		made = append(made, report.Splice{From: s.from, To: s.to, Length: len(s.text)})
	}
	text = append(text, e.src.Text[done:]...)
	if e.src.Places == nil {
		return Files{{Name: e.src.Name, Text: text}}, true
	}
	return e.src.Places.Split(text, made)
}

// newErrors returns the errors that were not there before. A rule that had as many errors before
// has no new one: its text may hold a renamed name.
func newErrors(before, after []report.Finding) []report.Finding {
	type text struct{ rule, message string }
	old, surplus := map[text]int{}, map[string]int{}
	for _, f := range before {
		if f.Severity == report.Error {
			old[text{f.Rule, f.Message}]++
			surplus[f.Rule]--
		}
	}
	var fresh []report.Finding
	for _, f := range after {
		if f.Severity != report.Error {
			continue
		}
		surplus[f.Rule]++
		if key := (text{f.Rule, f.Message}); old[key] > 0 {
			old[key]--
		} else {
			fresh = append(fresh, f)
		}
	}
	return slices.DeleteFunc(fresh, func(f report.Finding) bool { return surplus[f.Rule] <= 0 })
}

// moveBack returns findings of the new text with positions in the old text, which is the one that
// the user has. A finding in text that is only inserted has no position there.
func (e *change) moveBack(after *report.Source, findings []report.Finding) []report.Finding {
	for i := range findings {
		f := &findings[i]
		f.Message, f.Related, f.Fixes = "after this edit: "+f.Message, nil, nil
		from, ok := e.oldOffset(after.Offset(f.At.Start))
		if !ok {
			f.At = report.Span{}
			continue
		}
		end, _ := e.oldOffset(after.Offset(f.At.End))
		f.At = e.src.Span(from, max(from, min(end, e.lineEnd(from))))
	}
	return findings
}

// oldOffset returns the offset in the old text of a byte of the new one, and false if nothing was
// there.
func (e *change) oldOffset(at int) (int, bool) {
	shift := 0
	for _, s := range e.splices {
		if at < s.from+shift {
			break
		}
		if at < s.from+shift+len(s.text) {
			return s.from, s.from < s.to
		}
		shift += len(s.text) - (s.to - s.from)
	}
	return min(max(at-shift, 0), len(e.src.Text)), true
}

// sameData reports whether a document says what is intended, in the same order. The text of renamed
// scalars is not compared.
func (e *change) sameData(doc, want *spec.YAMLNode) bool {
	if doc.Kind != want.Kind || len(doc.Content) != len(want.Content) {
		return false
	}
	if doc.Kind == spec.ScalarNode && !e.renamed[want] &&
		(doc.Tag != want.Tag || doc.Value != want.Value) {
		return false
	}
	for i := range doc.Content {
		if !e.sameData(doc.Content[i], want.Content[i]) {
			return false
		}
	}
	return true
}
