package spec

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// EditResult is a text after an edit, and the way there from the old text.
type EditResult struct {
	Text []byte
	// Edits are against the old text, sorted, and do not overlap. Unlike the Span of a finding, that of an edit may run over
	// several lines; Start equals End where text is only put in. Columns count characters; a line ends at its line feed.
	Edits []Edit
}

// KeyValue sets one key of what is added; see Add for the forms of both.
type KeyValue struct{ Key, Value string }

// The kinds of things that can be added, renamed and removed.
const (
	EditNode   = "node"
	EditType   = "type"   // a record or named scalar of types: or results:
	EditEnding = "result" // a record of results:, for Add
	EditEnum   = "enum"
	EditField  = "field"  // TYPE.field, NODE.field of the request, NODE.interrupt.field, or interrupts.field
	EditBranch = "branch" // NODE.branch
	EditValue  = "value"  // ENUM.VALUE
	EditKind   = "kind"   // an interrupt kind

	EditFlow      = "flow"
	EditSlot      = "slot" // FLOW.slot
	EditStep      = "step" // FLOW.step, for Rename
	EditAction    = "action"
	EditValidator = "validator"
)

// EditKinds returns the kinds that Add, Rename and Remove know.
func EditKinds() []string {
	return []string{EditNode, EditType, EditEnding, EditEnum, EditField, EditBranch, EditValue, EditFlow, EditSlot, EditStep, EditAction, EditValidator, EditKind}
}

// ApplyEdits returns the text with all edits made. Edits outside the text or over each other are an error.
func ApplyEdits(text []byte, edits []Edit) ([]byte, error) {
	src := newSource("", text)
	var out bytes.Buffer
	kept := 0
	for _, e := range edits {
		from, to := src.byteAt(e.At.Start), src.byteAt(e.At.End)
		if from < kept || to < from {
			return nil, fmt.Errorf("edit at %d:%d: %w", e.At.Start.Line, e.At.Start.Column, errEditPlace)
		}
		out.Write(text[kept:from])
		out.WriteString(e.Text)
		kept = to
	}
	out.Write(text[kept:])
	return out.Bytes(), nil
}

var errEditPlace = errors.New("not sorted, over another edit, or outside the text")

// Invert returns the edits that lead from the new text back to the old one.
func Invert(old []byte, r *EditResult) *EditResult {
	before, after := newSource("", old), newSource("", r.Text)
	back := &EditResult{Text: old}
	shift := 0
	for _, e := range r.Edits {
		from, to := before.byteAt(e.At.Start), before.byteAt(e.At.End)
		start := from + shift
		back.Edits = append(back.Edits, Edit{At: Span{after.pos(start), after.pos(start + len(e.Text))}, Text: string(old[from:to])})
		shift += len(e.Text) - (to - from)
	}
	return back
}

// byteAt returns the offset of a position; -1 when the text has no such place.
func (s *source) byteAt(p Pos) int {
	if p.Line < 1 || p.Line > len(s.lines) || p.Column < 1 {
		return -1
	}
	from, end := int(s.lines[p.Line-1]), len(s.text)
	if p.Line < len(s.lines) {
		end = int(s.lines[p.Line])
	}
	return from + byteOffset(s.text[from:end], p.Column)
}

// splice puts a text in the place of some bytes.
type splice struct {
	from, to int
	text     string
}

// edition is one edit on its way: the document it changes, the splices so far, and in root.n what the document will say.
type edition struct {
	*tree
	name    string
	spec    *Spec
	before  []Finding
	refs    *reader // takes the refusals
	splices []splice
	eol     string
	step    int  // columns that one level is indented by
	several bool // more than one thing is removed: the line above one may go with another
}

// open reads a document for an edit. The findings say why it cannot be edited.
func open(name string, src []byte) (*edition, []Finding) {
	s, findings := Parse(name, src)
	r := &reader{src: newSource(name, src)}
	var blocked []Finding
	for _, f := range findings {
		if s == nil || blocksEdits(f.Rule) {
			blocked = append(blocked, f)
		}
	}
	if len(blocked) > 0 {
		return nil, blocked
	}
	silent := &reader{src: r.src}
	e := &edition{tree: layOut(r.src, silent.decode(src)), name: name, spec: s, before: findings, refs: r, eol: "\n", step: 2}
	if e.fault >= 0 {
		return nil, e.refuse(RuleEditLayout, r.src.span(e.fault, e.fault), "write it in the plain form, or edit it by hand", "this is laid out in a way that edits do not understand")
	}
	if at := bytes.IndexByte(src, '\n'); at > 0 && src[at-1] == '\r' {
		e.eol = "\r\n"
	}
	for _, top := range e.root.pairs {
		if v := top.value; len(v.pairs) > 0 && !v.braces && e.indent(v.from) > 0 {
			e.step = e.indent(v.from)
			break
		}
	}
	return e, nil
}

// blocksEdits reports whether a finding means that the text does not say what it seems to say.
func blocksEdits(rule string) bool {
	return slices.Contains([]string{
		RuleEncoding, RuleControlChar, RuleSyntax, RuleMultiDoc, RuleAlias, RuleTag, RuleMergeKey, RuleDuplicateKey, RuleEnumDuplicate,
		RuleNameCaseCollision, RuleTooManyFindings, RuleTooManyKeys, RuleTooManyNodes, RuleTooDeep, RuleVersion,
	}, rule)
}

// refuse ends an edit with one finding. Without a place it speaks of what was asked for, and not of the text.
func (e *edition) refuse(rule string, at Span, hint, format string, args ...any) []Finding {
	e.refs.reportAt(rule, at, hint, format, args...).At = at
	return e.refs.findings
}

func (e *edition) spanOf(p *place) Span { return e.src.span(p.from, min(p.to, e.lineEnd(p.from))) }

func (e *edition) splice(from, to int, text string) {
	e.splices = append(e.splices, splice{from, to, text})
}

// finish makes the edit, reads the result and refuses what it made worse. With renamed, an error that was there before may
// have other names in it.
func (e *edition) finish(renamed bool) (*EditResult, []Finding) {
	result, ok := e.apply()
	if !ok || e.fault >= 0 {
		return nil, e.layoutFault()
	}
	_, after := Parse(e.name, result.Text)
	if worse := newErrors(e.before, after, renamed); len(worse) > 0 {
		e.moveBack(worse)
		return nil, worse
	}
	silent := &reader{src: newSource(e.name, result.Text)}
	if doc := silent.decode(result.Text); doc == nil || !sameData(doc, e.root.n) {
		return nil, e.layoutFault()
	}
	return result, nil
}

func (e *edition) layoutFault() []Finding {
	at := Span{}
	if len(e.splices) > 0 {
		at = e.src.span(e.splices[0].from, e.splices[0].from)
	}
	return e.refuse(RuleEditLayout, at, "edit it by hand", "this is laid out in a way in which the edit would change more than it should")
}

// apply makes the splices. Texts that are put in at one place become one edit. It reports false when splices overlap.
func (e *edition) apply() (*EditResult, bool) {
	slices.SortStableFunc(e.splices, func(a, b splice) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to)) })
	var merged []splice
	for _, s := range e.splices {
		if n := len(merged); n > 0 && merged[n-1].to == s.from {
			merged[n-1].to, merged[n-1].text = s.to, merged[n-1].text+s.text
			continue
		} else if n > 0 && merged[n-1].to > s.from {
			return nil, false
		}
		merged = append(merged, s)
	}
	e.splices = merged
	result := &EditResult{}
	kept := 0
	for _, s := range merged {
		result.Text = append(append(result.Text, e.src.text[kept:s.from]...), s.text...)
		kept = s.to
		result.Edits = append(result.Edits, Edit{At: Span{e.src.pos(s.from), e.src.pos(s.to)}, Text: s.text})
	}
	result.Text = append(result.Text, e.src.text[kept:]...)
	return result, true
}

// newErrors returns the errors that were not there before.
func newErrors(before, after []Finding, renamed bool) []Finding {
	type kind struct{ rule, message string }
	old := map[kind]int{}
	left := map[string]int{} // by rule: errors of before that are gone
	for _, f := range before {
		if f.Severity == Error {
			old[kind{f.Rule, f.Message}]++
			left[f.Rule]++
		}
	}
	var fresh, worse []Finding
	for _, f := range after {
		if f.Severity != Error {
			continue
		}
		if k := (kind{f.Rule, f.Message}); old[k] > 0 {
			old[k]--
			left[f.Rule]--
			continue
		}
		fresh = append(fresh, f)
	}
	for _, f := range fresh {
		if renamed && left[f.Rule] > 0 {
			left[f.Rule]--
			continue
		}
		worse = append(worse, f)
	}
	return worse
}

// moveBack turns places of the new text into places of the old one, which is the one a reader has. What would stand in text that
// is only put in has no place there: the line below it has nothing to do with it.
func (e *edition) moveBack(findings []Finding) {
	after := newSource("", nil)
	if result, ok := e.apply(); ok {
		after = newSource("", result.Text)
	}
	back := func(at *Span) {
		from, fresh := e.oldOffset(after.byteAt(at.Start))
		if fresh {
			*at = Span{}
			return
		}
		end, _ := e.oldOffset(after.byteAt(at.End))
		end = min(max(end, from), e.lineEnd(from))
		*at = e.src.span(from, max(from, end))
	}
	for i := range findings {
		f := &findings[i]
		f.Message = "after this edit: " + f.Message
		back(&f.At)
		for k := range f.Related {
			back(&f.Related[k].At)
		}
		f.Related = slices.DeleteFunc(f.Related, func(r Related) bool { return r.At.Start.IsZero() })
		f.Fixes = nil
	}
}

// oldOffset returns where a byte of the new text comes from; for what stands in the place of something, where that began. It is
// fresh where nothing stood in its place.
func (e *edition) oldOffset(at int) (old int, fresh bool) {
	shift := 0
	for _, s := range e.splices {
		if at < s.from+shift {
			break
		}
		if at < s.from+shift+len(s.text) {
			return s.from, s.from == s.to
		}
		shift += len(s.text) - (s.to - s.from)
	}
	return min(max(at-shift, 0), len(e.src.text)), false
}

// sameData reports whether two documents say the same, in the same order.
func sameData(a, b *node) bool {
	if a.Kind != b.Kind || len(a.Content) != len(b.Content) || a.Kind == scalarNode && (a.Tag != b.Tag || a.Value != b.Value) {
		return false
	}
	for i := range a.Content {
		if !sameData(a.Content[i], b.Content[i]) {
			return false
		}
	}
	return true
}

// splitTarget cuts OWNER.member at the last dot, or for enum values at the first.
func splitTarget(kind, target string) (owner, member string) {
	at := strings.LastIndexByte(target, '.')
	if kind == EditValue {
		at = strings.IndexByte(target, '.')
	}
	if at < 0 {
		return "", target
	}
	return target[:at], target[at+1:]
}
