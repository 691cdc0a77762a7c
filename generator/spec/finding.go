package spec

// Severity of a finding.
type Severity string

// Errors stop generation; warnings do not. The last two are of comparisons: what is expected has a price that somebody pays on
// purpose, such as a new node for those who implement an interface; notices only inform.
const (
	Error    Severity = "error"
	Warning  Severity = "warning"
	Expected Severity = "expected"
	Notice   Severity = "notice"
)

// Finding is one thing wrong with a spec, or worth knowing about it.
type Finding struct {
	Rule     string // a stable id, listed in Rules
	Severity Severity
	File     string
	At       Span
	Path     string // where in the document: /nodes/planning/doc
	Message  string
	Hint     string // follows the caret: did you mean "description"?
	Related  []Related
	Fixes    []Fix
}

// Related points at a second place that matters.
type Related struct {
	At      Span
	Message string
}

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
