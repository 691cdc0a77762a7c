package tui

import (
	"cmp"
	"errors"
	"regexp"
	"strings"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/web"
)

// rules rewrite the messages of schema validation for people, as the page does.
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

// rephrase returns a message of schema validation in plain words.
func rephrase(reason string) string {
	for _, r := range rules {
		if r.told.MatchString(reason) {
			return r.told.ReplaceAllString(reason, r.plain)
		}
	}
	return reason
}

// refusalText returns an error of the server in words, with its data.
func refusalText(err error) string {
	p, ok := errors.AsType[*web.Problem](err)
	if !ok {
		return oneLine(err.Error())
	}
	var parts []string
	for _, wrong := range p.Problems {
		parts = append(parts, strings.TrimSpace(
			oneLine(wrong.Pointer)+" "+oneLine(rephrase(wrong.Reason))))
	}
	if parts == nil { // the detail repeats what is pointed at
		parts = []string{oneLine(problemText(p))}
	}
	if p.Left != nil {
		parts = append(parts, plural(*p.Left, "try")+" left")
	}
	return strings.Join(parts, "; ")
}

// problemText returns why the server refused a call.
func problemText(p *web.Problem) string {
	switch p.Code {
	case runtime.CodeAlreadyAnswered:
		text := cmp.Or(p.AnsweredBy, "someone") + " was faster"
		if p.AnsweredAt != 0 {
			text += ", at " + formatClock(p.AnsweredAt)
		}
		return text + ". Yours was not taken"
	case runtime.CodeSuperseded:
		return "a more urgent question took its place"
	case runtime.CodeExpired:
		return "its time is over"
	case runtime.CodeNoRoute:
		return "the work cannot go on there"
	case runtime.CodeConflict:
		return "the question has changed since it was read, or has to wait for a more urgent one"
	default:
		// the operation and the code are for programs
		if _, text, ok := strings.Cut(p.Detail, string(p.Code)+": "); ok {
			return text
		}
		return cmp.Or(p.Detail, p.Title)
	}
}
