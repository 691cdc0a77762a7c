package spec

import (
	"bytes"
	"strings"

	"github.com/routegen/routegen/generator/report"
)

// collectAllows reads the comments `# routegen:allow RULE reason`.
func (r *reader) collectAllows(s *scanner) {
	rules := Rules()
	next := 0 // the line below the allow before this one
	for _, comment := range s.comments {
		if r.full {
			return
		}
		text := bytes.TrimRight(s.text[comment.at:comment.end], " \t\r")
		rest, ok := strings.CutPrefix(strings.TrimLeft(string(text), "# \t"), "routegen:allow")
		if !ok || rest != "" && rest[0] != ' ' && rest[0] != '\t' {
			continue
		}
		at := r.src.Span(comment.at, comment.at+len(text))
		id, reason, _ := strings.Cut(strings.TrimSpace(rest), " ")
		rule, known := findRule(rules, id, r.nearest)
		switch {
		case !known:
			f := r.reportAt(RuleAllowUnknownRule, at, didYouMean(rule.ID), "there is no rule %q",
				id)
			if rule.ID == "" {
				f.Hint = "write # routegen:allow RULE reason"
			}
			continue
		case rule.Severity == report.Error:
			r.reportAt(RuleAllowUnknownRule, at, "repair it instead",
				"%s is an error and cannot be allowed", id)
			continue
		case strings.TrimSpace(reason) == "":
			r.reportAt(RuleAllowNoReason, at, "say why, behind the rule",
				"the allow of %s has no reason", id)
		}
		allow := &Allow{Rule: id, File: r.src.Name, Reason: strings.TrimSpace(reason), At: at,
			Line: at.Start.Line}
		if comment.alone {
			if next <= at.Start.Line { // else the lines between were looked at already
				next = r.nextLine(at.Start.Line)
			}
			allow.Line = next
		}
		r.allows = append(r.allows, allow)
	}
}

// nextLine returns the first line after line that is neither empty nor a comment, or the one behind
// the last line.
func (r *reader) nextLine(line int) int {
	n := line + 1
	for ; n <= r.src.LineCount(); n++ {
		if text := bytes.TrimLeft(r.src.Line(n), " \t"); len(text) > 0 && text[0] != '#' {
			break
		}
	}
	return n
}

// Suppress removes the warnings that an allow covers, marks that allow as used, and adds an
// ALLOW_UNUSED warning for every allow that covers none. Errors are never removed. Call it once,
// with the findings of all passes; the result is sorted.
func Suppress(findings []report.Finding, allows []*Allow) []report.Finding {
	type place struct {
		rule string
		line int
	}
	covered := make(map[place][]*Allow, len(allows))
	for _, a := range allows {
		covered[place{a.Rule, a.At.Start.Line}] = append(covered[place{a.Rule, a.At.Start.Line}], a)
		if a.Line != a.At.Start.Line {
			covered[place{a.Rule, a.Line}] = append(covered[place{a.Rule, a.Line}], a)
		}
	}
	kept := make([]report.Finding, 0, len(findings))
	for _, f := range findings {
		hits := covered[place{f.Rule, f.At.Start.Line}]
		if f.Severity == report.Error || len(hits) == 0 {
			kept = append(kept, f)
			continue
		}
		for _, a := range hits {
			a.Used = true
		}
		covered[place{f.Rule, f.At.Start.Line}] = hits[:1] // the others are done with
	}
	for _, a := range allows {
		if !a.Used {
			kept = append(kept, report.Finding{
				Rule: RuleAllowUnused, Severity: report.Warning, File: a.File, At: a.At,
				Message: "nothing on this line or the next needs the allow of " + a.Rule,
				Hint:    "remove the comment", Repairable: true,
			})
		}
	}
	report.Sort(kept)
	return kept
}
