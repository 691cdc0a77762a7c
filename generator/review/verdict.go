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

// Verdict judges a change by what it breaks: Go of the module, stored threads and senders. It names
// every other error, too.
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
	sent := names(func(c Change) bool { return len(c.Senders) > 0 })
	if len(sent) > 0 {
		add("after", tellSenders+listed(sent, maxListed))
	}
	held := names(func(c Change) bool {
		return c.says(refused) || c.says(misread)
	})
	if len(held) > 0 {
		add("after", finishThreads+listed(held, maxListed))
	}
	switch {
	case r.Uses == nil || r.Uses.Note != "":
		if r.mayStopGo() {
			add("after", "build the Go that uses the package: it was not read here")
		}
	case len(r.Uses.Stops)+len(r.Uses.Lost) > 0:
		add("no", "mend the Go of this module, "+plural(max(len(r.Uses.Stops),
			len(r.Uses.Lost)), "line"))
		slices.Reverse(v.First)
	}
	if open := r.listOpen(); len(open) > 0 {
		add(ifElse(v.Answer == "no", "no", "after"), "see to "+listed(open, maxListed))
	}
	told := func(c Change) bool { return c.Rule == "PROMPT_TEXT_CHANGED" }
	if asked := names(told); asked != nil {
		v.First = append(v.First, "best after an evaluation run of "+listed(asked, maxListed))
	}
	v.Order = r.describeOrder(len(held) > 0)
	for _, c := range r.worstFirst() {
		if c.severe() && c.Advice != "" {
			v.Others = append(v.Others, c.Name+": "+c.Advice)
		}
	}
	return v
}

// describeOrder says which processes come first; held: the new ones refuse some of what is stored.
func (r *Report) describeOrder(held bool) string {
	const stop = "stop the old processes before the first new one "
	unread := "cannot read " + listed(r.Unread, 2)
	switch {
	case len(r.Changes) == 0:
		return ""
	case r.misreads():
		return stop + "runs: each reads as something else what the other stores"
	case len(r.Unread) > 0 && held:
		return stop + "runs: they " + unread + ", and store what new ones refuse"
	case len(r.Unread) > 0:
		return stop + "writes: they " + unread
	case held:
		return stop + "runs: they store what new ones refuse"
	}
	return "old and new processes may run side by side"
}

// listOpen lists the errors that neither senders, stored threads nor a build of Go account for. A
// build does not show that the package moved, or that names of one type changed places.
func (r *Report) listOpen() []string {
	var out []string
	for _, c := range r.worstFirst() {
		source := catalogue()[c.Rule].Category == CategorySource
		if c.severe() && len(c.Senders) == 0 && !c.says(refused) && !c.says(misread) &&
			(!source || c.Rule == "GO_PACKAGE_SAME" || !r.mayStopGo()) {
			out = append(out, c.Rule+" of "+c.Name)
		}
	}
	return out
}

// misreads reports whether a branch or field that is stored is read as another one.
func (r *Report) misreads() bool {
	return slices.ContainsFunc(r.Changes, func(c Change) bool { return c.says(misread) })
}

// says reports whether what is said of stored threads begins so.
func (c Change) says(begin string) bool {
	return slices.ContainsFunc(c.Stored, func(text string) bool {
		return strings.HasPrefix(text, begin)
	})
}

// mayStopGo reports whether some Go that uses the package could compile no longer.
func (r *Report) mayStopGo() bool {
	return len(r.API.Removed)+len(r.API.Changed) > 0 ||
		slices.ContainsFunc(r.Interfaces, InterfaceDelta.stops)
}

const maxListed = 4

// What comes before deploying, with the names after it.
const (
	tellSenders   = "tell who sends or reads "
	finishThreads = "let the old program finish the threads that hold "
)

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
	for i, first := range v.First { // which, the sections below say
		for _, begin := range []string{tellSenders, finishThreads} {
			if strings.HasPrefix(first, begin) {
				v.First[i] = ifElse(begin == tellSenders, begin+"what is sent below",
					strings.TrimSuffix(begin, "that hold ")+
						ifElse(r.misreads(), "told below", "refused below"))
			}
		}
	}
	s := section{title: "Deploy", lead: v.Summary()}
	if v.Order != "" {
		s.items = append(s.items, "order: "+v.Order)
	}
	for _, way := range v.Others {
		if len(v.Others) == 1 { // of what, the next section says
			_, way, _ = strings.Cut(way, ": ")
		}
		s.items = append(s.items, "without a break: "+way)
	}
	return s
}
