package thread_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
)

// What could not be answered is refused where it is asked, with what is wrong; and what stands
// beside it, and looks like it, is not.
func TestQuestionsAreCheckedWhereTheyAreAsked(t *testing.T) {
	t.Parallel()
	rules := &thread.Rules{
		Kinds: append(thread.DefaultKinds(),
			runtime.Kind{Name: "legal", Deadline: &runtime.Deadline{After: time.Hour,
				Then: "escalate", Assignee: "boss"}}),
		Check: func(schema, value json.RawMessage) error {
			if value != nil || string(schema) != `{"type":"string"}` {
				return assert.AnError
			}
			return nil
		},
	}
	choices := func(values ...string) []thread.Choice {
		var out []thread.Choice
		for _, v := range values {
			out = append(out, thread.Choice{Label: "label of " + v, Value: raw(v)})
		}
		return out
	}
	escalates := &runtime.Deadline{After: time.Hour, Then: "escalate", Assignee: "boss"}
	for name, c := range map[string]struct {
		good, bad thread.Question
		want      string // what is wrong with the bad one
	}{
		"name": {thread.Question{}, thread.Question{}, "it needs a name"},
		"kind": {thread.Question{Kind: "legal"}, thread.Question{Kind: "leagl"},
			`there is no kind "leagl": use agent_question, legal`},
		"kind of the engine": {thread.Question{Kind: "agent_question"},
			thread.Question{Kind: "user_escape"}, "only the engine raises user_escape"},
		"other of the engine": {thread.Question{}, thread.Question{Kind: "system_error"},
			"only the engine raises system_error"},
		"payload": {thread.Question{Payload: raw(` {"a":[1] } `)},
			thread.Question{Payload: raw(`{"a":`)}, "its Payload is not valid JSON"},
		"payload of no bytes": {thread.Question{Payload: raw(`null`)},
			thread.Question{Payload: raw(``)}, "its Payload is not valid JSON"},
		"schema": {thread.Question{Schema: raw(`{"type":"string"}`)},
			thread.Question{Schema: raw(`{"type":"strin"}`)}, assert.AnError.Error()},
		"schema that is no JSON": {thread.Question{}, thread.Question{Schema: raw(`{"type"`)},
			"its Schema is not valid JSON"},
		"value of a choice": {thread.Question{Choices: choices(`1`, `{"a":2}`)},
			thread.Question{Choices: choices(`1`, `two`)},
			`choice 2, "label of two", is not valid JSON`},
		"way to read text": {thread.Question{Plain: "yes_no"},
			thread.Question{Plain: "yesno"}, `Plain is "yesno": use text, yes_no, choice`},
		"language": {
			thread.Question{Plain: "yes_no", Language: "nl-BE"},
			thread.Question{Plain: "yes_no", Language: "pl"},
			`in the language "pl": use one of de, en, es, fr, it, nl, or give choices`,
		},
		"language of no question": {thread.Question{Plain: "text", Language: "pl"},
			thread.Question{Plain: "yes_no", Language: "english"}, "english"},
		"choice of text": {thread.Question{Plain: "choice", Choices: choices(`1`)},
			thread.Question{Plain: "choice"}, "only if it has some, each with a Value"},
		"choice without a value": {thread.Question{Choices: []thread.Choice{{Label: "a"}}},
			thread.Question{Plain: "choice", Choices: []thread.Choice{{Label: "a"}}},
			"each with a Value"},
		"quorum": {
			thread.Question{Quorum: 2, Assignees: []string{"bob", "eve"}},
			thread.Question{Quorum: 3, Assignees: []string{"bob", "eve"}},
			"3 must answer and 2 of its Assignees may",
		},
		"quorum of one twice": {thread.Question{Quorum: 5},
			thread.Question{Quorum: 2, Assignees: []string{"bob", "bob"}},
			"1 of its Assignees may"},
		"quorum with the asker": {thread.Question{Quorum: 2, Assignees: []string{"ann", "bob"}},
			thread.Question{Quorum: 2, NotOwn: true, Assignees: []string{"ann", "bob"}},
			"1 of its Assignees may"},
		"quorum below zero": {thread.Question{Quorum: 1}, thread.Question{Quorum: -1},
			"its Quorum is -1"},
		"own request": {thread.Question{NotOwn: true,
			Assignees: []string{"ann", "bob"}},
			thread.Question{NotOwn: true, Assignees: []string{"ann"}},
			"1 must answer and 0 of its Assignees may"},
		"own request, later": {thread.Question{NotOwn: true, Assignees: []string{"ann"},
			Deadline: escalates}, thread.Question{NotOwn: true, Assignees: []string{"ann"},
			Deadline: &runtime.Deadline{Then: "escalate"}}, "0 of its Assignees may"},
		"own request of a kind": {thread.Question{Kind: "legal", NotOwn: true,
			Assignees: []string{"ann"}}, thread.Question{NotOwn: true, Assignees: []string{"ann"}},
			"0 of its Assignees may"},
		"nobody": {thread.Question{NotOwn: true},
			thread.Question{Assignees: []string{""}}, "0 of its Assignees may"},
		"word of a deadline": {thread.Question{Deadline: &runtime.Deadline{After: time.Hour,
			Then: "cancel"}}, thread.Question{Deadline: &runtime.Deadline{After: time.Hour,
			Then: "stop"}}, `Deadline.Then is "stop"`},
		"assignee of a deadline": {thread.Question{Deadline: &runtime.Deadline{}},
			thread.Question{Deadline: &runtime.Deadline{After: time.Hour, Then: "escalate"}},
			"Deadline.Assignee is empty"},
		"reminder after its time": {thread.Question{},
			thread.Question{Deadline: &runtime.Deadline{After: time.Hour, Then: "expire",
				Reminder: time.Hour}}, "the second shorter"},
		"default that is no JSON": {thread.Question{Deadline: &runtime.Deadline{After: time.Hour,
			Then: "default", Answer: `"a"`}},
			thread.Question{Deadline: &runtime.Deadline{After: time.Hour, Then: "default",
				Answer: `a`}}, "is not valid JSON"},
		"deadline before it began": {thread.Question{},
			thread.Question{Deadline: &runtime.Deadline{After: -time.Hour, Then: "expire"}},
			"must be positive"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.good.Name = "q"
			require.NoError(t, c.good.Check(rules, "ann"))
			if c.bad.Name = "q"; name == "name" {
				c.bad.Name = ""
			}
			err := c.bad.Check(rules, "ann")
			require.ErrorContains(t, err, c.want)
			assert.Equal(t, runtime.CodeInvalid, runtime.CodeOf(err))
			assert.False(t, thread.Recoverable(err), "no other try mends it")
		})
	}
	asksAnyhow := thread.Question{Name: "q", Kind: "agent_question",
		Schema: raw(`{"type":"strin"}`)}
	require.NoError(t, asksAnyhow.Check(&thread.Rules{}, ""),
		"rules that check nothing take every schema, and the kind that all programs have")
}
