package report

import (
	"cmp"
	"slices"
	"strings"
)

// Severity says how serious a finding is.
type Severity string

// Errors stop generation; warnings do not. Comparisons of two specs have two more: Expected is a
// change that costs its users work on purpose, such as a new node for those who implement an
// interface, and Notice only informs.
const (
	Error    Severity = "error"
	Warning  Severity = "warning"
	Expected Severity = "expected"
	Notice   Severity = "notice"
)

// Finding is one thing wrong with a spec, or worth knowing about it.
type Finding struct {
	Rule     string // a stable id, listed in spec.Rules
	Severity Severity
	File     string
	At       Span
	Path     string // where in the document: /nodes/planning/doc
	Message  string
	Hint     string // follows the caret: did you mean "description"?
	Related  []Related
	Fixes    []Fix
	// Repairable is set when the finding can be repaired in one way only, without a decision; then
	// `routegen lint --fix` does it.
	Repairable bool
}

// Related points at a second place that matters.
type Related struct {
	File    string // where it is not the finding's
	At      Span
	Message string
}

// fileOf returns the file that a second place is in.
func (f *Finding) fileOf(r Related) string { return cmp.Or(r.File, f.File) }

// Fix is a mechanical repair: the edits, all of them or none.
type Fix struct {
	Title string
	Edits []Edit
}

// Edit replaces the text at a place.
type Edit struct {
	At   Span
	Text string
}

// text returns the message with its hint in parentheses, for forms that have no place for a hint.
func (f *Finding) text() string {
	if f.Hint == "" {
		return f.Message
	}
	return f.Message + " (" + f.Hint + ")"
}

// spanOrStart returns where the finding is; the first character of the file if it has no place.
func (f *Finding) spanOrStart() Span {
	if f.At.Start.IsZero() {
		return Span{Pos{1, 1}, Pos{1, 2}}
	}
	return f.At
}

// Sort orders findings by severity, errors first, then by file, position, rule and message. The
// order is total for findings that differ.
func Sort(findings []Finding) {
	ranks := []Severity{Error, Warning, Expected, Notice}
	slices.SortStableFunc(findings, func(a, b Finding) int {
		return cmp.Or(slices.Index(ranks, a.Severity)-slices.Index(ranks, b.Severity),
			strings.Compare(a.File, b.File), a.At.Start.Line-b.At.Start.Line,
			a.At.Start.Column-b.At.Start.Column,
			strings.Compare(a.Rule, b.Rule), strings.Compare(a.Message, b.Message))
	})
}
