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
	text := oneLine(firstLine(func(name string) string { return t.fact(r, name) }, keysOf(r)...))
	switch {
	case r.Type == thread.EntryReturned:
		delete(t.steps, r.Frame)
	case r.Type == thread.EntryMessage && strings.HasPrefix(r.Name, "task_"):
		var e struct {
			Task string `json:"task_description"`
		}
		_ = json.Unmarshal(r.Value, &e) // another value has no step
		if t.step = e.Task; r.Name != "task_started" {
			t.step = ""
		}
		if r.Name == "task_completed" {
			t.steps[r.Frame] = e.Task
		}
	}
	return text
}

// keysOf returns where the table has the lines of a row, the most special first.
func keysOf(r *web.Row) []string {
	of := string(r.Type)
	keys := []string{of, ""}
	switch r.Type {
	case thread.EntryMessage, thread.EntryEscape:
		keys = append([]string{of + "." + r.Name}, keys...)
	case thread.EntryAsked, thread.EntryOpened:
		keys = append([]string{of + "." + questionOf(r).Kind, of + "." + r.State}, keys...)
	default:
		keys = append([]string{of + "." + r.State}, keys...)
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

// fact returns a fact of a row by its name in the table; "" where the row has none. One that
// begins with "value." is a member of the row's value.
//
//nolint:funlen // a flat list
func (t *teller) fact(r *web.Row, name string) string {
	again := func(name string) string { return t.fact(r, name) }
	switch name {
	case "answer":
		return shorten(t.names.answerText(t.asked[r.Interrupt], r.Value))
	case "asker", "part":
		return firstLine(again, name)
	case "call":
		return cmp.Or(memberText(r.Value, "digest"), missingText(r.Value))
	case "change":
		return humanizeLower(memberText(r.Value, "modification_type"))
	case "claimer":
		if r.Name == "" {
			return ""
		}
		return personName(r.Name)
	case "clock":
		if r.Until == 0 {
			return ""
		}
		return formatClock(r.Until)
	case "day":
		return formatDay(r.Until)
	case "doing":
		return t.step
	case "done":
		return t.steps[r.Frame]
	case "gist":
		return shorten(resultText(r.Value))
	case "identifier":
		return humanize(r.Name)
	case "machine":
		return r.Machine
	case "maker":
		return personName(cmp.Or(r.Name, r.By))
	case "name":
		return r.Name
	case "other":
		if r.Other == "" {
			return ""
		}
		return t.question(r.Other)
	case "parent":
		return r.Parent
	case "place":
		if strings.HasPrefix(r.PC, "!") {
			return ""
		}
		return t.names.nodeName(r.PC)
	case "planned":
		if p := planOf(r.Value); p != nil {
			return strconv.Itoa(len(p.Steps))
		}
		return ""
	case "program":
		return t.names.programName(r.Machine)
	case "question":
		return t.question(r.Interrupt)
	case "route":
		if r.RouteTo == "" {
			return ""
		}
		return t.names.nodeName(r.RouteTo)
	case "said":
		return shorten(valueText(r.Value))
	case "sender":
		if node := cmp.Or(memberText(r.Value, "flow"), memberText(r.Value, "node")); node != "" {
			return t.names.nodeName(node)
		}
		return humanize(r.Name)
	case "skipped":
		return map[string]string{"yes": "yes"}[memberText(r.Value, name)]
	case "state":
		return humanizeLower(r.State)
	case "steps":
		n, _ := strconv.Atoi(memberText(r.Value, "total_steps")) // 0 where it is missing
		return plural(n, "step")
	case "type":
		return humanizeLower(string(r.Type))
	case "value":
		return string(r.Value)
	case "who":
		return personName(r.By)
	case "why":
		return failureText(r.Failure)
	}
	if member, ok := strings.CutPrefix(name, "value."); ok {
		return memberText(r.Value, member)
	}
	return t.factOfQuestion(r, name)
}

// factOfQuestion returns a fact of the question that a row asks. Of a row that asks none, the node
// is that of its frame, and the text its own.
func (t *teller) factOfQuestion(r *web.Row, name string) string {
	asks := r.Type == thread.EntryAsked || r.Type == thread.EntryOpened
	q := questionOf(r)
	switch {
	case name == "node" && !asks:
		return t.names.nodeName(cmp.Or(r.Name, r.Machine))
	case name == "text" && !asks:
		return r.Text
	case name == "node" && q.Node == "", name == "kind" && q.Kind == "":
		return ""
	case name == "node":
		return t.names.nodeName(q.Node)
	case name == "kind":
		return humanizeLower(q.Kind)
	case name == "text" && q.Kind == thread.KindUserEscape:
		return q.Text
	case name == "text":
		return cmp.Or(askedText(q), humanize(q.Name))
	case name == "unnamed" && t.names.nodes[q.Node] == "":
		return q.Node
	case name == "how":
		return firstLine(func(name string) string { return t.fact(r, name) }, "how."+q.Kind, "how")
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

// missingText returns a word if there is no value.
func missingText(value json.RawMessage) string {
	if value == nil {
		return "none"
	}
	return ""
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
