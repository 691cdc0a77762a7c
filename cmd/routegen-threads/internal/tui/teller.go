package tui

import (
	"cmp"
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/routegen/routegen/runtime/thread"
	"github.com/routegen/routegen/runtime/web"
)

// teller turns rows into lines. It remembers the questions, and the step of a plan that each frame
// has just done.
type teller struct {
	names displayNames
	asked map[string]*web.Interrupt // as they were asked
	steps map[string]string         // by frame
	step  string                    // that is being done
}

func newTeller() teller {
	return teller{asked: map[string]*web.Interrupt{}, steps: map[string]string{}}
}

// tell returns the line of a row, without its time.
func (t *teller) tell(r *web.Row) string {
	if r.Type == thread.EntryAsked && r.Question != nil {
		t.asked[r.Interrupt] = r.Question
	}
	text := oneLine(firstLine(t.facts(r), keysOf(r)...))
	switch {
	case r.Type == thread.EntryReturned:
		delete(t.steps, r.Frame)
	case r.Type == thread.EntryMessage && strings.HasPrefix(r.Name, "task_"):
		task := memberText(r.Value, "task_description")
		t.step = given(r.Name == "task_started", task)
		if r.Name == "task_completed" {
			t.steps[r.Frame] = task
		}
	}
	return text
}

// keysOf returns where the table has the lines of a row, the most special first.
func keysOf(r *web.Row) []string {
	of := string(r.Type) + "."
	keys := []string{of + r.State, string(r.Type), ""}
	switch r.Type {
	case thread.EntryMessage, thread.EntryEscape:
		keys[0] = of + r.Name
	case thread.EntryAsked, thread.EntryOpened:
		keys = append([]string{of + questionOf(r).Kind}, keys...)
	default:
	}
	return keys
}

// questionOf returns the question that a row asks, built from the row where it is missing.
func questionOf(r *web.Row) *web.Interrupt {
	if r.Question != nil {
		return r.Question
	}
	i := thread.Interrupt{Kind: r.Kind, Question: thread.Question{Text: humanize(r.Name)}}
	return &web.Interrupt{Interrupt: i}
}

// facts returns a function that finds a fact of a row by its name in the table; "" where the row
// has none. One that begins with "value." is a member of the row's value. Of a row that asks
// nothing, the node is that of its frame, and the text its own.
//
//nolint:funlen // a flat list
func (t *teller) facts(r *web.Row) (fact func(name string) string) {
	q, n := questionOf(r), &t.names
	asks := r.Type == thread.EntryAsked || r.Type == thread.EntryOpened
	member := func(name string) string { return memberText(r.Value, name) }
	all := map[string]func() string{
		"answer":     func() string { return shorten(n.answerText(t.asked[r.Interrupt], r.Value)) },
		"asker":      func() string { return firstLine(fact, "asker") },
		"call":       func() string { return given(r.Value == nil, "none") + member("digest") },
		"change":     func() string { return humanizeLower(member("modification_type")) },
		"claimer":    func() string { return given(r.Name != "", personName(r.Name)) },
		"clock":      func() string { return given(r.Until != 0, formatClock(r.Until)) },
		"day":        func() string { return formatDay(r.Until) },
		"doing":      func() string { return t.step },
		"done":       func() string { return t.steps[r.Frame] },
		"gist":       func() string { return shorten(resultText(r.Value)) },
		"how":        func() string { return firstLine(fact, "how."+q.Kind, "how") },
		"identifier": func() string { return humanize(r.Name) },
		"kind":       func() string { return humanizeLower(q.Kind) },
		"machine":    func() string { return r.Machine },
		"maker":      func() string { return personName(cmp.Or(r.Name, r.By)) },
		"name":       func() string { return r.Name },
		"node": func() string {
			if asks {
				return given(q.Node != "", n.nodeName(q.Node))
			}
			return n.nodeName(cmp.Or(r.Name, r.Machine))
		},
		"other":  func() string { return given(r.Other != "", t.question(r.Other)) },
		"parent": func() string { return r.Parent },
		"part":   func() string { return firstLine(fact, "part") },
		"place":  func() string { return given(!strings.HasPrefix(r.PC, "!"), n.nodeName(r.PC)) },
		"planned": func() string {
			if p := planOf(r.Value); p != nil {
				return strconv.Itoa(len(p.Steps))
			}
			return ""
		},
		"program":  func() string { return n.programName(r.Machine) },
		"question": func() string { return t.question(r.Interrupt) },
		"route":    func() string { return given(r.RouteTo != "", n.nodeName(r.RouteTo)) },
		"said":     func() string { return shorten(valueText(r.Value)) },
		"sender": func() string {
			if node := cmp.Or(member("flow"), member("node")); node != "" {
				return n.nodeName(node)
			}
			return humanize(r.Name)
		},
		"skipped": func() string { return given(member("skipped") == "yes", "yes") },
		"state":   func() string { return humanizeLower(r.State) },
		"steps": func() string {
			total, _ := strconv.Atoi(member("total_steps")) // 0 where it is missing
			return plural(total, "step")
		},
		"text": func() string {
			switch {
			case !asks:
				return r.Text
			case q.Kind == thread.KindUserEscape:
				return q.Text
			}
			return cmp.Or(askedText(q), humanize(q.Name))
		},
		"type":    func() string { return humanizeLower(string(r.Type)) },
		"unnamed": func() string { return given(n.nodes[q.Node] == "", q.Node) },
		"value":   func() string { return string(r.Value) },
		"who":     func() string { return personName(r.By) },
		"why":     func() string { return failureText(r.Failure) },
	}
	fact = func(name string) string {
		if of, is := strings.CutPrefix(name, "value."); is {
			return member(of)
		}
		if find := all[name]; find != nil {
			return find()
		}
		return ""
	}
	return fact
}

// given returns text if it is a fact, and "" otherwise.
func given(is bool, text string) string {
	if is {
		return text
	}
	return ""
}

// memberText returns a member of a JSON object in words; "" where there is none.
func memberText(value json.RawMessage, name string) string {
	var members map[string]json.RawMessage
	if json.Unmarshal(value, &members) != nil {
		return ""
	}
	return valueText(members[name])
}

// personName returns the display name of the person or rule that acted.
func personName(by string) string { return cmp.Or(table.People[by], by) }

// shorten cuts a result or an answer for a line of the log. The history has all of it.
func shorten(text string) string {
	const most = 240
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return text
}

func joinDetail(text, more string) string {
	if more == "" {
		return text
	}
	return text + ": " + more
}

// failureText returns a failure in words: its text, or its code where there is no text.
func failureText(f *thread.Failure) string {
	if f == nil {
		return ""
	}
	return cmp.Or(trimCodes(f.Text), humanizeLower(string(f.Code)))
}

// codePattern matches the operation and the code in the text of a failure, which are for programs.
var codePattern = regexp.MustCompile(
	`(^|: )(?:[^:]{1,40}: )?(?:invalid|not_found|conflict|already_answered|superseded|expired|not_waiting|forbidden|ambiguous|no_route|many_routes|loop|` +
		`in_doubt|incompatible|unavailable|outcome_unknown|internal): `)

func trimCodes(text string) string { return codePattern.ReplaceAllString(text, "$1") }

// askedText returns the text of a question.
func askedText(q *web.Interrupt) string {
	if q.Kind == thread.KindSystemError {
		return trimCodes(q.Text)
	}
	return q.Text
}

// formatDay formats a time that may be on another day.
//
//nolint:gosmopolitan // a person reads it
func formatDay(millis int64) string { return time.UnixMilli(millis).Local().Format("Jan 2 15:04") }

// question returns the name of a question in a line about it: its text, or its identifier.
func (t *teller) question(id string) string {
	const most = 60
	q := t.asked[id]
	if q == nil {
		return "a question"
	}
	text := []rune(strings.Join(strings.Fields(cmp.Or(askedText(q), humanize(q.Name))), " "))
	if len(text) > most {
		text = append(text[:most-1], '…')
	}
	return "“" + string(text) + "”"
}
