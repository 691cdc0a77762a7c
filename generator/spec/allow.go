package spec

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
)

// collectAllows reads the comments `# routegen:allow RULE reason`.
func (r *reader) collectAllows(s *scanner) {
	rules := Rules()
	next := 0 // the line that the allow before this one stands above
	for _, comment := range s.comments {
		if r.full {
			return
		}
		text := bytes.TrimRight(s.text[comment.at:comment.end], " \t\r")
		rest, ok := strings.CutPrefix(strings.TrimLeft(string(text), "# \t"), "routegen:allow")
		if !ok || rest != "" && rest[0] != ' ' && rest[0] != '\t' {
			continue
		}
		at := r.src.span(comment.at, comment.at+len(text))
		id, reason, _ := strings.Cut(strings.TrimSpace(rest), " ")
		rule, known := findRule(rules, id, r.nearest)
		switch {
		case !known:
			f := r.reportAt(RuleAllowUnknownRule, at, didYouMean(rule.ID), "there is no rule %q", id)
			if rule.ID == "" {
				f.Hint = "write # routegen:allow RULE reason"
			}
			continue
		case rule.Severity == Error:
			r.reportAt(RuleAllowUnknownRule, at, "repair it instead", "%s is an error and cannot be allowed", id)
			continue
		case strings.TrimSpace(reason) == "":
			r.reportAt(RuleAllowNoReason, at, "say why, behind the rule", "the allow of %s has no reason", id)
		}
		allow := &Allow{Rule: id, File: r.src.name, Reason: strings.TrimSpace(reason), At: at, Line: at.Start.Line}
		if comment.alone {
			if next <= at.Start.Line { // else the lines between were looked at already
				next = r.nextLine(at.Start.Line)
			}
			allow.Line = next
		}
		r.allows = append(r.allows, allow)
	}
}

// nextLine returns the first line after line that is neither empty nor a comment; the one behind the last line when there is none.
func (r *reader) nextLine(line int) int {
	n := line + 1
	for ; n <= len(r.src.lines); n++ {
		if text := bytes.TrimLeft(r.src.line(n), " \t"); len(text) > 0 && text[0] != '#' {
			break
		}
	}
	return n
}

// Suppress drops the warnings that an allow covers, marks that allow as used, and adds an ALLOW_UNUSED warning for every allow
// that never fired. Errors are never dropped. Call it once, with the findings of all passes; the result is sorted.
func Suppress(findings []Finding, allows []*Allow) []Finding {
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
	kept := make([]Finding, 0, len(findings))
	for _, f := range findings {
		hits := covered[place{f.Rule, f.At.Start.Line}]
		if f.Severity == Error || len(hits) == 0 {
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
			kept = append(kept, Finding{
				Rule: RuleAllowUnused, Severity: Warning, File: a.File, At: a.At,
				Message: "nothing on this line or the next needs the allow of " + a.Rule, Hint: "remove the comment",
			})
		}
	}
	Sort(kept)
	return kept
}

// Sort orders findings by file, position, rule and message. The order is total for findings that differ.
func Sort(findings []Finding) {
	slices.SortStableFunc(findings, func(a, b Finding) int {
		return cmp.Or(strings.Compare(a.File, b.File), a.At.Start.Line-b.At.Start.Line, a.At.Start.Column-b.At.Start.Column,
			strings.Compare(a.Rule, b.Rule), strings.Compare(a.Message, b.Message))
	})
}
