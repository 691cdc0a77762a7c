package review

import (
	"slices"
	"strings"
)

// Verdict says whether a change can be deployed as it is, and what comes first.
type Verdict struct {
	// yes, after, or no: after means that First has to be done before; no, that the module does
	// not compile
	Answer string   `json:"answer"`
	First  []string `json:"first,omitempty"`
	Order  string   `json:"order,omitempty"`  // which processes come first where both run
	Others []string `json:"others,omitempty"` // how the same is done without a break
}

// Verdict judges a change by what it breaks: Go of the module, stored threads, and senders.
func (r *Report) Verdict() Verdict {
	v := Verdict{Answer: "yes"}
	add := func(answer, first string) {
		v.Answer, v.First = answer, append(v.First, first)
	}
	names := func(of func(Change) bool) []string {
		var out []string
		for _, c := range r.worstFirst() {
			if of(c) && !slices.Contains(out, c.Name) {
				out = append(out, c.Name)
			}
		}
		return out
	}
	if sent := names(func(c Change) bool { return len(c.Senders) > 0 }); len(sent) > 0 {
		add("after", "tell who sends or reads "+listed(sent, maxListed))
	}
	if held := names(func(c Change) bool {
		return slices.ContainsFunc(c.Stored, func(text string) bool {
			return strings.HasPrefix(text, refused)
		})
	}); len(held) > 0 {
		add("after", "let the old program finish the threads that hold "+listed(held, maxListed))
	}
	if r.Uses != nil && len(r.Uses.Stops)+len(r.Uses.Lost) > 0 {
		add("no", "mend the Go of this module, "+plural(max(len(r.Uses.Stops),
			len(r.Uses.Lost)), "line"))
		slices.Reverse(v.First)
	}
	told := func(c Change) bool { return c.Rule == "PROMPT_TEXT_CHANGED" }
	if asked := names(told); asked != nil {
		v.First = append(v.First, "best after an evaluation run of "+listed(asked, maxListed))
	}
	if len(r.Unread) > 0 {
		v.Order = "stop the old processes before the first new one writes: they cannot read " +
			listed(r.Unread, maxListed)
	} else if len(r.Changes) > 0 {
		v.Order = "old and new processes may run side by side: each reads what the other stores"
	}
	for _, c := range r.worstFirst() {
		if c.severe() && c.Advice != "" {
			v.Others = append(v.Others, c.Name+": "+c.Advice)
		}
	}
	return v
}

const maxListed = 4

// Summary is the verdict in one line.
func (v Verdict) Summary() string {
	out := v.Answer
	switch v.Answer {
	case "after":
		out = "after this: "
	case "no":
		out = "no, first: "
	default:
		if len(v.First) == 0 {
			return out
		}
		out += ", "
	}
	return out + strings.Join(v.First, "; ")
}

func (r *Report) deploySection() section {
	v := r.Verdict()
	s := section{title: "Deploy", lead: v.Summary()}
	if v.Order != "" {
		s.items = append(s.items, "order: "+v.Order)
	}
	for _, way := range v.Others {
		s.items = append(s.items, "without a break: "+way)
	}
	return s
}
