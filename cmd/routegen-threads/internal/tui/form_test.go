package tui

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime/thread"
	"github.com/routegen/routegen/runtime/web"
)

func TestForms(t *testing.T) {
	t.Parallel()
	raw := func(text string) json.RawMessage { return json.RawMessage(text) }
	labels := func(labels ...string) (out []thread.Choice) {
		for _, l := range labels {
			out = append(out, thread.Choice{Label: l, Value: raw(`"` + l + `"`)})
		}
		return out
	}
	system := thread.Question{Kind: thread.KindSystemError,
		Choices: labels("retry", "edit", "skip", "reroute", "abort"), Targets: []string{"A", "B"}}
	for name, c := range map[string]struct {
		ask     thread.Question
		options []string // labels
		choose  int
		write   string // what the choice leads to
		text    string
		value   string
		routeTo string
		note    string
		wrong   string
	}{
		"yes or no": {ask: thread.Question{Plain: "yes_no"}, options: []string{"yes", "no"},
			choose: 1, value: "false"},
		"a boolean": {ask: thread.Question{Schema: raw(`{"type":"boolean"}`)},
			options: []string{"yes", "no"}, value: "true"},
		"an enum": {ask: thread.Question{Schema: raw(`{"enum":["x",2]}`)},
			options: []string{"x", "2"}, choose: 1, value: "2"},
		"choices": {ask: thread.Question{Choices: labels("x", "y")},
			options: []string{"x", "y"}, choose: 1, value: `"y"`},
		"without a value": {ask: thread.Question{Choices: []thread.Choice{{Label: `a"b`}}},
			options: []string{`a"b`}, value: `"a\"b"`},
		"choices and more": {
			ask:     thread.Question{Choices: labels("x"), Plain: "text"},
			options: []string{"x", "something else, in your words"}, choose: 1, write: writeText,
			text: "hm", value: `"hm"`,
		},
		"choices of a schema": {
			ask:     thread.Question{Choices: labels("x"), Schema: raw(`{"type":"object"}`)},
			options: []string{"x", "something else, as JSON"}, choose: 1,
			write: writeJSON, text: `{"a":1}`, value: `{"a":1}`,
		},
		"text": {ask: thread.Question{Plain: "text"},
			options: []string{"an answer, in your words"}, write: writeText, text: `say "hi"`,
			value: `"say \"hi\""`},
		"a string": {ask: thread.Question{Schema: raw(`{"type":"string"}`)},
			options: []string{"an answer, in your words"}, write: writeText, text: "1",
			value: `"1"`},
		"anything": {ask: thread.Question{}, options: []string{"an answer, as JSON"},
			write: writeJSON, text: " [1] ", value: "[1]"},
		"no JSON": {ask: thread.Question{}, options: []string{"an answer, as JSON"},
			write: writeJSON, text: "blue",
			wrong: `this is not JSON: a text needs double quotes, like "blue"`},
		"nothing": {ask: thread.Question{}, options: []string{"an answer, as JSON"},
			write: writeJSON,
			wrong: `this is not JSON: a text needs double quotes, like "blue"`},
		"types of two": {ask: thread.Question{Schema: raw(`{"type":["string","null"]}`)},
			options: []string{"an answer, as JSON"}, write: writeJSON, text: "null", value: "null"},
		"a target": {
			ask:     thread.Question{Plain: "yes_no", Targets: []string{"HERE"}},
			options: []string{"yes", "no", "go on at Here"}, choose: 2, routeTo: "HERE",
			write: writeNote, text: " look there ", note: "look there",
		},
		"a target without a note": {
			ask: thread.Question{Plain: "yes_no", Targets: []string{"HERE"}}, choose: 2,
			routeTo: "HERE", write: writeNote,
		},
		"retry": {ask: system,
			options: []string{"Run the step again", "Run it with another input", "Go on without it",
				"Go on at A", "Go on at B", "End the thread"}, value: `"retry"`},
		"edit": {ask: system, choose: 1, write: writeInput, text: `{"n":1}`,
			value: `{"choice":"edit","input":{"n":1}}`},
		"edit nothing": {ask: system, choose: 1, write: writeInput,
			wrong: `this is not JSON: a text needs double quotes, like "blue"`},
		"skip": {ask: system, choose: 2, write: writeValue, text: "3",
			value: `{"choice":"skip","value":3}`},
		"just skip": {ask: system, choose: 2, write: writeValue,
			value: `{"choice":"skip"}`},
		"reroute": {ask: system, choose: 4,
			value: `{"choice":"reroute","target":"B"}`},
		"a pause without a change": {
			ask: thread.Question{Kind: thread.KindUserEscape,
				Choices: labels("continue", "cancel")},
			options: []string{"Go on as planned", "End the thread"}, choose: 1,
			value: `"cancel"`,
		},
		"a change": {
			ask: thread.Question{Kind: thread.KindUserEscape,
				Choices: labels("continue", "modify")},
			write: writeChange, text: `skip "3"`,
			value: `{"choice":"modify","text":"skip \"3\""}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newForm(question("i", c.ask), "", displayNames{})
			if c.options != nil {
				var got []string
				for _, o := range f.options {
					got = append(got, o.label)
				}
				assert.Equal(t, c.options, got)
			}
			f.move(c.choose)
			if f.write == writeNone {
				assert.Equal(t, c.write == writeNone, f.choose())
			}
			require.Equal(t, c.write, f.write)
			f.field.insert(c.text)
			a, wrong := f.chosenAnswer()
			require.Equal(t, c.wrong, wrong)
			if wrong != "" {
				return
			}
			assert.Equal(t, c.value, string(a.Value))
			assert.Equal(t, []string{c.routeTo, "i", "d", c.note},
				[]string{a.RouteTo, a.Interrupt, a.Digest, a.Text})
		})
	}
}

// question returns an open interrupt.
func question(id string, q thread.Question) *web.Interrupt {
	return &web.Interrupt{Interrupt: thread.Interrupt{ID: id, Kind: q.Kind, Digest: "d",
		State: thread.InterruptOpen, Question: q}}
}

// What was ordered from outside stands with the question, also when it came after the form was
// opened.
func TestTheQuestionShowsTheEvent(t *testing.T) {
	t.Parallel()
	s := newState("t", nil)
	i := question("1", thread.Question{Plain: "text", Text: "Which way?"})
	s.openForm(i)
	require.NotContains(t, strings.Join(s.question(80), "\n"), "asked for an interrupt")
	i.Reroute = json.RawMessage(`{"requestedBy":"carl","reason":"the goal has changed",
		"contextForDecision":"since noon","choices":[{"label":"Expand","value":"e","description":"all modules"}],
		"confirmationItems":[{"id":"c","prompt":"Is it urgent?"}],
		"rerouteToAgentType":"MERGER_AGENT"}`)
	s.snap = &web.Thread{Open: []web.Interrupt{*i}}
	require.Equal(t, []string{
		"Which way?", "An interrupt was ordered: the goal has changed", "Requested by: carl",
		"Context for decision: since noon",
		"Choices: label: Expand, value: e, description: all modules",
		"Confirmation items: id: c, prompt: Is it urgent?", "Reroute to agent type: MERGER_AGENT",
	}, s.question(80))
}

// Back from writing to the choice, where there is one.
func TestBack(t *testing.T) {
	t.Parallel()
	f := newForm(question("1", thread.Question{Plain: "text"}), "draft", displayNames{})
	assert.Equal(t, "draft", f.field.content())
	assert.False(t, f.back())
	f = newForm(question("1", thread.Question{Plain: "text", Targets: []string{"A"}}), "",
		displayNames{})
	assert.False(t, f.choose())
	assert.True(t, f.back())
	assert.Equal(t, writeNone, f.write)
}

func TestPlans(t *testing.T) {
	t.Parallel()
	row := func(name, value string) *planView {
		return planIn(&web.Row{Entry: thread.Entry{Type: thread.EntryMessage, Name: name,
			Value: json.RawMessage(value)}})
	}
	p := row("task_started",
		`{"plan_steps":["a","b","a","c"],"completed_steps":["a","b"],"skipped_steps":["a"],"completed_count":2,"total_steps":4}`)
	assert.Equal(t, []string{"[-] 1 a", "[x] 2 b", "[>] 3 a", "[ ] 4 c"}, p.lines(80))
	assert.Equal(t, []string{"[-] 1…", "[x] 2…", "[>] 3…", "[ ] 4…"}, p.lines(6))
	assert.Nil(t, row("hello", `"plan_steps"`))
	assert.Nil(t, row("hello", `{"a":1}`))
	assert.Nil(t, planIn(&web.Row{Entry: thread.Entry{Type: thread.EntryAnswered,
		Value: json.RawMessage(`{"plan_steps":["a"]}`)}}))
	assert.Nil(t, planOf(json.RawMessage(`{"other":1}`)))
	assert.Nil(t, planOf(nil))
}
