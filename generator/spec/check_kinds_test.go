package spec_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/generator/spec"
	"github.com/routegen/routegen/runtime/thread"
)

// TestOrdersAreTheEngines: what is legal here is what the engine offers by itself, kind by kind and
// in its order.
func TestOrdersAreTheEngines(t *testing.T) {
	t.Parallel()
	shipped, engine := spec.DefaultKinds(), thread.DefaultKinds()
	require.Len(t, shipped, len(engine))
	for i, k := range shipped {
		var words []string
		for _, choice := range k.Choices {
			words = append(words, choice.Value)
		}
		assert.Equal(t, engine[i].Name, k.Key.Value)
		assert.Equal(t, engine[i].Choices, words, engine[i].Name)
	}
}

// TestKindsOfTheEngine: each mistake has one finding, where it is, with what to write instead.
func TestKindsOfTheEngine(t *testing.T) {
	t.Parallel()
	const (
		escape = "    user_escape: {doc: A person stopped it., clash: supersede, " +
			"deadline: none}\n"
		question = "    agent_question: {doc"
		failure  = "    system_error: {doc: A step failed., retry"
		failing  = "    system_error: {doc: A step failed., retry: {attempts: 3, backoff: " +
			"exponential, first: 1s, max: 1m}}\n"
		pause  = "clash: supersede, deadline: none}"
		custom = "checks it., deadline: none}"
		every  = "exponential, first: 1s, max: 1m}}\n    audit"
	)
	for name, c := range map[string]struct{ rule, from, to, says string }{
		"no escape": {spec.RuleKindMissing, escape, "", `"user_escape"`},
		"no escape, and where": {
			spec.RuleKindMissing, escape + question, "    §agent_question: {doc",
			"write before it: user_escape: {doc: A person stopped the run., clash: supersede, " +
				"deadline: none, choices: [continue, modify, cancel, status]}",
		},
		"no failure": {spec.RuleKindMissing, failing, "",
			"write after it: system_error: {doc: A step failed."},
		"below": {spec.RuleKindMissing,
			"    user_escape: {doc: A person stopped it., clash: supersede, deadline: none}\n    " +
				"agent_question: {doc",
			"    §user_escape: {doc: A person stopped it., deadline: none}\n    ask: {doc",
			"write after it: agent_question: {doc: A node asks."},
		"renamed": {spec.RuleKindMissing, "    user_escape: {doc",
			"    §stop: {was: [user_escape], doc", `keep the name "user_escape"`},
		"renamed with its retry": {spec.RuleKindMissing, "    system_error: {doc",
			"    §mishap: {was: [system_error], doc", `keep the name "system_error"`},

		"a strange order": {spec.RuleKindChoices, pause,
			"deadline: none, choices: [continue, §resume]}",
			`"resume" is no order of kind "user_escape": use continue, modify, cancel, status`},
		"a slip": {spec.RuleKindChoices, pause,
			"deadline: none, choices: [continue, §cancle]}", `did you mean "cancel"?`},
		"an order of the other": {spec.RuleKindChoices, pause,
			"deadline: none, choices: [continue, §abort]}", "no order"},
		"an order of the doubt": {spec.RuleKindChoices, every,
			"exponential, first: 1s, max: 1m}, choices: [§done, abort]}\n    audit",
			"use retry, edit, skip, reroute, abort"},
		"a pause without an end": {spec.RuleKindChoices, pause,
			"deadline: none, choices: [§status]}", "add continue or cancel"},
		"no abort": {spec.RuleKindChoices, every,
			"exponential, first: 1s, max: 1m}, choices: [§retry, edit, skip, reroute]}\n    audit",
			"add abort"},
		"choices of a question": {spec.RuleKindChoices, question,
			"    agent_question: {choices: [§yes_please], doc",
			`on kind "agent_question" they have no effect | remove it`},
		"choices of another": {spec.RuleKindChoices, custom,
			"checks it., choices: [§yes_please]}", `on kind "audit"`},

		"retry of a question": {spec.RuleKindPolicy, question,
			"    agent_question: {retry: {attempts: §2}, doc", "write it at system_error"},
		"retry of another": {spec.RuleKindPolicy, custom,
			"checks it., retry: {attempts: §2}}", `on kind "audit" it has no effect`},
		"a pause with targets": {spec.RuleKindPolicy, escape,
			strings.Replace(escape, "    user_escape: {", "    §user_escape: {route_to: true, ", 1),
			"remove route_to"},
		"a pause that reroutes": {spec.RuleKindPolicy, pause,
			"deadline: {after: 1h, then: §reroute, target: lead}}", "cannot reroute"},
		"a default of nobody": {spec.RuleKindPolicy, pause,
			"deadline: {after: 1h, then: default, answer: §go_on}}",
			`"go_on" ends no question of kind "user_escape" | use continue, modify, cancel`},
		"a default that shows": {spec.RuleKindPolicy, pause,
			"deadline: {after: 1h, then: default, answer: §status}}", "ends no question"},
		"a default not offered": {spec.RuleKindPolicy, pause,
			"choices: [cancel], deadline: {after: 1h, then: default, answer: §continue}}",
			"use cancel"},
		"a default of no word": {spec.RuleKindPolicy, pause,
			"deadline: {after: 1h, then: default, answer: §3}}", "3 ends no question"},
		"an answer of nobody": {spec.RuleKindPolicy, failure,
			"    system_error: {auto: {answer: §{choice: resume}}, doc: A step failed., retry",
			"use retry, edit, skip, reroute, abort, done, run"},
		"an edit of nothing": {spec.RuleKindPolicy, failure,
			"    system_error: {auto: {answer: §edit}, doc: A step failed., retry",
			"edit needs the input"},
		"a type of the engine": {spec.RuleKindPolicy, failure,
			"    system_error: {auto: {answer: abort, when: [§PAUSE]}, doc: A step failed., retry",
			"remove when"},
		"a reminder that is late": {spec.RuleKindPolicy, "deadline: {after: 24h, then: expire}",
			"deadline: {after: 24h, then: expire, reminder: §24h}", "make it shorter"},
		"a key that had no effect": {spec.RuleUnknownKey, question,
			"    agent_question: {§set: [mood], doc", `"set"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text, place := mark(change(t, c.from, c.to))
			parsed, findings := spec.Parse("routes.yaml", []byte(text))
			require.NotNil(t, parsed)
			require.Len(t, findings, 1, list(findings))
			assert.Equal(t, c.rule, findings[0].Rule)
			assert.Contains(t, findings[0].Message+" | "+findings[0].Hint, c.says)
			if place != "" {
				assert.True(t, strings.HasPrefix(list(findings), place+" "), "%s is not at %s",
					list(findings), place)
			}
		})
	}
}

// TestKindsThatAreSound: what has an effect is left alone.
func TestKindsThatAreSound(t *testing.T) {
	t.Parallel()
	const (
		kinds   = "  kinds:\n"
		escape  = "user_escape: {doc: A person stopped it., clash: supersede, deadline: none}"
		failure = "system_error: {doc: A step failed., retry"
	)
	for name, c := range map[string]struct{ from, to string }{
		"no kinds": {base[strings.Index(base, kinds):strings.Index(base, "nodes:\n")],
			""},
		"none of them": {base[strings.Index(base, kinds):strings.Index(base, "nodes:\n")],
			"  kinds: {}\n"},
		"some orders": {escape,
			"user_escape: {doc: A person stopped it., deadline: none, choices: [modify, status]}"},
		"abort alone": {failure,
			"system_error: {choices: [abort], doc: A step failed., retry"},
		"a question elsewhere": {"agent_question: {doc: An agent asks., clash: queue, deadline: " +
			"{after: 24h, then: expire}",
			"agent_question: {doc: An agent asks., clash: queue, deadline: {after: 24h, then: " +
				"reroute, target: lead}"},
		"a failure elsewhere": {failure,
			"system_error: {route_to: true, deadline: {after: 1h, then: reroute, target: lead}, " +
				"doc: A step failed., retry"},
		"a pause that ends": {escape,
			"user_escape: {doc: A person stopped it., deadline: {after: 1h, then: default, " +
				"answer: {choice: modify, text: Be quick.}}}"},
		"an effect in doubt": {failure,
			"system_error: {auto: {answer: run}, choices: [retry, abort], " +
				"doc: A step failed., retry"},
		"a step with an input": {failure,
			"system_error: {auto: {answer: {choice: edit, input: {goal: x}}}, doc: A step " +
				"failed., retry"},
		"a free answer": {"checks it., deadline: none}",
			"checks it., deadline: {after: 1h, then: default, answer: {anything: 1}}}"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			parsed, findings := spec.Parse("routes.yaml", []byte(change(t, c.from, c.to)))
			require.NotNil(t, parsed)
			assert.Empty(t, list(findings))
		})
	}
}
