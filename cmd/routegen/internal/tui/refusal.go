package tui

import (
	"cmp"
	"errors"
	"regexp"
	"strings"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/web"
)

// rules are what a schema says of a value that it refuses, and what one person would say to another, as the page does.
var rules = []struct {
	told  *regexp.Regexp
	plain string
}{
	{regexp.MustCompile(`^minLength: got \d+, want (\d+)`), "needs $1 characters or more"},
	{regexp.MustCompile(`^maxLength: got \d+, want (\d+)`), "has more than $1 characters"},
	{regexp.MustCompile(`^minimum: .*want ([\d.,-]+)`), "is less than $1"},
	{regexp.MustCompile(`^maximum: .*want ([\d.,-]+)`), "is more than $1"},
	{regexp.MustCompile(`(?s) does not match pattern .*`), " does not look right"},
	{regexp.MustCompile(`^missing propert(?:y|ies) (.*)`), "$1 is missing"},
	{regexp.MustCompile(`^minItems: got \d+, want (\d+)`), "needs $1 or more"},
	{regexp.MustCompile(`^maxItems: got \d+, want (\d+)`), "has more than $1"},
}

// plainly says a rule of a schema as one person would to another.
func plainly(reason string) string {
	for _, r := range rules {
		if r.told.MatchString(reason) {
			return r.told.ReplaceAllString(reason, r.plain)
		}
	}
	return reason
}

// refusalText is a refusal in words, with its data.
func refusalText(err error) string {
	p, ok := errors.AsType[*web.Problem](err)
	if !ok {
		return line(err.Error())
	}
	var parts []string
	for _, wrong := range p.Problems {
		parts = append(parts, strings.TrimSpace(line(wrong.Pointer)+" "+line(plainly(wrong.Reason))))
	}
	if parts == nil { // the detail repeats what is pointed at
		parts = []string{line(refused(p))}
	}
	if p.Left != nil {
		parts = append(parts, plural(*p.Left, "try")+" left")
	}
	return strings.Join(parts, "; ")
}

// refused is why something was not taken.
func refused(p *web.Problem) string {
	switch p.Code {
	case runtime.CodeAlreadyAnswered:
		text := cmp.Or(p.AnsweredBy, "somebody") + " was faster"
		if p.AnsweredAt != 0 {
			text += ", at " + clock(p.AnsweredAt)
		}
		return text + ". Yours was not taken"
	case runtime.CodeSuperseded:
		return "a more urgent question took its place"
	case runtime.CodeExpired:
		return "its time is over"
	case runtime.CodeConflict:
		return "the question has changed since it was read, or has to wait for a more urgent one"
	default:
		if _, text, ok := strings.Cut(p.Detail, string(p.Code)+": "); ok { // what was called, and its code, are for programs
			return text
		}
		return cmp.Or(p.Detail, p.Title)
	}
}
