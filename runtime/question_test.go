package runtime_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
)

// What nobody could answer is refused where it is asked, with what is wrong; and what stands beside it, and looks like it, is not.
func TestQuestionsAreCheckedWhereTheyAreAsked(t *testing.T) {
	t.Parallel()
	rules := &runtime.Rules{
		Kinds: append(runtime.DefaultKinds(), runtime.Kind{Name: "legal", Deadline: &runtime.Deadline{After: time.Hour, Then: "escalate", Assignee: "boss"}}),
		Check: func(schema, value json.RawMessage) error {
			if value != nil || string(schema) != `{"type":"string"}` {
				return assert.AnError
			}
			return nil
		},
	}
	choices := func(values ...string) []runtime.Choice {
		var out []runtime.Choice
		for _, v := range values {
			out = append(out, runtime.Choice{Label: "label of " + v, Value: raw(v)})
		}
		return out
	}
	escalates := &runtime.Deadline{After: time.Hour, Then: "escalate", Assignee: "boss"}
	for name, c := range map[string]struct {
		good, bad runtime.Question
		want      string // what is wrong with the bad one
	}{
		"name":                   {runtime.Question{}, runtime.Question{}, "it needs a name"},
		"kind":                   {runtime.Question{Kind: "legal"}, runtime.Question{Kind: "leagl"}, `there is no kind "leagl": use agent_question, legal`},
		"kind of the engine":     {runtime.Question{Kind: "agent_question"}, runtime.Question{Kind: "user_escape"}, "only the engine raises user_escape"},
		"other of the engine":    {runtime.Question{}, runtime.Question{Kind: "system_error"}, "only the engine raises system_error"},
		"payload":                {runtime.Question{Payload: raw(` {"a":[1] } `)}, runtime.Question{Payload: raw(`{"a":`)}, "its Payload is no JSON"},
		"payload of no bytes":    {runtime.Question{Payload: raw(`null`)}, runtime.Question{Payload: raw(``)}, "its Payload is no JSON"},
		"schema":                 {runtime.Question{Schema: raw(`{"type":"string"}`)}, runtime.Question{Schema: raw(`{"type":"strin"}`)}, assert.AnError.Error()},
		"schema that is no JSON": {runtime.Question{}, runtime.Question{Schema: raw(`{"type"`)}, "its Schema is no JSON"},
		"value of a choice":      {runtime.Question{Choices: choices(`1`, `{"a":2}`)}, runtime.Question{Choices: choices(`1`, `two`)}, `choice 2, "label of two", is no JSON`},
		"way to read text":       {runtime.Question{Plain: "yes_no"}, runtime.Question{Plain: "yesno"}, `Plain is "yesno": use text, yes_no, choice`},
		"language": {
			runtime.Question{Plain: "yes_no", Language: "nl-BE"}, runtime.Question{Plain: "yes_no", Language: "pl"},
			`in the language "pl": use one of de, en, es, fr, it, nl, or give choices`,
		},
		"language of no question": {runtime.Question{Plain: "text", Language: "pl"}, runtime.Question{Plain: "yes_no", Language: "english"}, "english"},
		"choice of text":          {runtime.Question{Plain: "choice", Choices: choices(`1`)}, runtime.Question{Plain: "choice"}, "only if it has some, each with a Value"},
		"choice without a value":  {runtime.Question{Choices: []runtime.Choice{{Label: "a"}}}, runtime.Question{Plain: "choice", Choices: []runtime.Choice{{Label: "a"}}}, "each with a Value"},
		"quorum": {
			runtime.Question{Quorum: 2, Assignees: []string{"bob", "eve"}}, runtime.Question{Quorum: 3, Assignees: []string{"bob", "eve"}},
			"3 must answer and 2 of its Assignees may",
		},
		"quorum of one twice":      {runtime.Question{Quorum: 5}, runtime.Question{Quorum: 2, Assignees: []string{"bob", "bob"}}, "1 of its Assignees may"},
		"quorum with the asker":    {runtime.Question{Quorum: 2, Assignees: []string{"ann", "bob"}}, runtime.Question{Quorum: 2, NotOwn: true, Assignees: []string{"ann", "bob"}}, "1 of its Assignees may"},
		"quorum below zero":        {runtime.Question{Quorum: 1}, runtime.Question{Quorum: -1}, "its Quorum is -1"},
		"own request":              {runtime.Question{NotOwn: true, Assignees: []string{"ann", "bob"}}, runtime.Question{NotOwn: true, Assignees: []string{"ann"}}, "1 must answer and 0 of its Assignees may"},
		"own request, later":       {runtime.Question{NotOwn: true, Assignees: []string{"ann"}, Deadline: escalates}, runtime.Question{NotOwn: true, Assignees: []string{"ann"}, Deadline: &runtime.Deadline{Then: "escalate"}}, "0 of its Assignees may"},
		"own request of a kind":    {runtime.Question{Kind: "legal", NotOwn: true, Assignees: []string{"ann"}}, runtime.Question{NotOwn: true, Assignees: []string{"ann"}}, "0 of its Assignees may"},
		"nobody":                   {runtime.Question{NotOwn: true}, runtime.Question{Assignees: []string{""}}, "0 of its Assignees may"},
		"word of a deadline":       {runtime.Question{Deadline: &runtime.Deadline{After: time.Hour, Then: "cancel"}}, runtime.Question{Deadline: &runtime.Deadline{After: time.Hour, Then: "stop"}}, `Deadline.Then is "stop"`},
		"assignee of a deadline":   {runtime.Question{Deadline: &runtime.Deadline{}}, runtime.Question{Deadline: &runtime.Deadline{After: time.Hour, Then: "escalate"}}, "Deadline.Assignee is empty"},
		"reminder after its time":  {runtime.Question{}, runtime.Question{Deadline: &runtime.Deadline{After: time.Hour, Then: "expire", Reminder: time.Hour}}, "the second shorter"},
		"default that is no JSON":  {runtime.Question{Deadline: &runtime.Deadline{After: time.Hour, Then: "default", Answer: `"a"`}}, runtime.Question{Deadline: &runtime.Deadline{After: time.Hour, Then: "default", Answer: `a`}}, "is no JSON"},
		"deadline before it began": {runtime.Question{}, runtime.Question{Deadline: &runtime.Deadline{After: -time.Hour, Then: "expire"}}, "must be positive"},
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
			assert.False(t, runtime.Recoverable(err), "no other try mends it")
		})
	}
	asksAnyhow := runtime.Question{Name: "q", Kind: "agent_question", Schema: raw(`{"type":"strin"}`)}
	require.NoError(t, asksAnyhow.Check(&runtime.Rules{}, ""), "rules that check nothing take every schema, and the kind that all programs have")
}
