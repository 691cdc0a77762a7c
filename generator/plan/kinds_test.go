package plan_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/routegen/routegen/generator/plan"
	"github.com/routegen/routegen/generator/report"
	"github.com/routegen/routegen/generator/spec"
	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
)

// withKinds is a small spec with some lines under kinds.
func withKinds(lines string) string {
	return `version: 1
go: {package: a, out: b}
results: {End: {fields: {text: {type: string}}}}
enums: {Ask: {values: {PAUSE: Wait.}}}
interrupts:
  fields: {type: {type: Ask}}
  kinds:
` + lines + `nodes:
  first: {entry: true, agent_type: CHIEF, request: {fields: {goal: {type: string}}}, branches: {done: End, next: LastRequest, leaf: LeafRequest, ask: interrupt}}
  last: {request: {fields: {goal: {type: string}}}, branches: {done: End}}
  leaf: {route: none, request: {fields: {}}, branches: {done: End}}
`
}

// TestKindsAsAnEngineReadsThem: an engine knows nodes by their agent type, and a kind that it
// raises has orders to choose from.
func TestKindsAsAnEngineReadsThem(t *testing.T) {
	t.Parallel()
	p, _ := build(t, withKinds(`    user_escape: {}
    agent_question: {deadline: {after: 1h, then: reroute, target: first}}
    system_error: {deadline: {after: 1h, then: reroute, target: last}}
    audit: {deadline: {after: 1h, then: escalate, assignee: first}}
`))
	kinds := p.Interrupt.Kinds
	assert.Equal(t, "CHIEF", kinds[1].Deadline.Target)
	assert.Equal(t, "LAST", kinds[2].Deadline.Target)
	assert.Equal(t, "first", kinds[3].Deadline.Assignee, "a person is no node")
	assert.Equal(t, []string{"continue", "modify", "cancel", "status"}, kinds[0].Choices)
	assert.Equal(t, []string{"retry", "edit", "skip", "reroute", "abort"}, kinds[2].Choices)
	assert.Empty(t, kinds[1].Choices)
	assert.Empty(t, kinds[3].Choices)
	p, _ = build(t, withKinds("    user_escape: {choices: [cancel]}\n    agent_question: {}\n    "+
		"system_error: {choices: [skip, abort]}\n"))
	assert.Equal(t, []string{"cancel"}, p.Interrupt.Kinds[0].Choices)
	assert.Equal(t, []string{"skip", "abort"}, p.Interrupt.Kinds[2].Choices)
}

// rows are the kinds as they are generated.
func rows(p *plan.Plan) []runtime.Kind {
	var out []runtime.Kind
	for i := range p.Interrupt.Kinds {
		out = append(out, p.Interrupt.Kinds[i].Kind)
	}
	return out
}

// TestSoundKindsOpenAnEngine draws kinds, sound and not: what a spec may say, an engine takes; and
// neither refuses everything.
func TestSoundKindsOpenAnEngine(t *testing.T) {
	t.Parallel()
	sound, faulty := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		text := withKinds(drawKinds(t))
		parsed, findings := spec.Parse("routes.yaml", []byte(text))
		require.NotNil(t, parsed)
		for _, f := range findings {
			if f.Severity == report.Error {
				faulty++
				return
			}
		}
		sound++
		p, _ := plan.Build(parsed)
		require.NoError(t, thread.CheckKinds(rows(p)), text)
		for _, k := range p.Interrupt.Kinds {
			if k.Deadline != nil && k.Deadline.Then == "reroute" {
				require.Contains(t, []string{"CHIEF", "LAST"}, k.Deadline.Target)
			}
		}
	})
	assert.Positive(t, sound)
	assert.Positive(t, faulty)
}

// drawKinds draws the lines of a block of kinds, most of them legal.
func drawKinds(t *rapid.T) string {
	one := func(label, wrong string, legal ...string) string {
		if rapid.IntRange(0, 30).Draw(t, "wrong "+label) == 30 {
			return wrong
		}
		return rapid.SampledFrom(legal).Draw(t, label)
	}
	own := map[string]func() []string{ // what the kinds of the engine have, and others do not
		"user_escape": func() []string {
			return []string{
				one("choices", "choices: [status]", "", "choices: [continue, cancel]",
					"choices: [modify]"),
				one("deadline", "deadline: {after: 1h, then: reroute, target: first}", "",
					"deadline: none", "deadline: {after: 1h, then: expire, reminder: 10m}"),
				one("auto", "auto: {answer: resume}", "", ""),
			}
		},
		"system_error": func() []string {
			return []string{
				one("choices", "choices: [retry]", "", "choices: [retry, abort]",
					"choices: [abort]"),
				one("retry", "retry: {attempts: 0}", "", "retry: {attempts: 2}",
					"retry: {attempts: 2, backoff: constant, first: 1s, max: 1m}"),
				one("deadline", "deadline: {after: 1h, then: default, answer: resume}", "",
					"deadline: {after: 1h, then: reroute, target: last}",
					"deadline: {after: 1h, then: default, answer: abort}"),
				one("auto", "auto: {answer: abort, when: [PAUSE]}", "",
					"auto: {answer: {choice: abort}}"),
			}
		},
	}
	var lines strings.Builder
	for _, name := range rapid.Permutation([]string{"user_escape", "agent_question", "system_error",
		"audit"}).Draw(t, "order") {
		if rapid.IntRange(0, 30).Draw(t, "left out") == 30 {
			continue
		}
		keys := []string{one("clash", "clash: que", "", "clash: queue", "clash: supersede")}
		if of := own[name]; of != nil {
			keys = append(keys, of()...)
		} else {
			keys = append(keys, one("lost", "retry: {attempts: 2}", ""),
				one("choices", "choices: [yes_please]", ""),
				one("deadline", "deadline: {after: 1h, then: cancel, reminder: 1h}", "",
					"deadline: none", "deadline: {after: 1h, then: reroute, target: first}",
					"deadline: {after: 1h, then: escalate, assignee: boss}",
					"deadline: {after: 1h, then: default, answer: {free: 1}}"),
				one("auto", "auto: {}", "", "auto: {answer: 1, when: [PAUSE]}"))
		}
		keys = slices.DeleteFunc(keys, func(key string) bool { return key == "" })
		fmt.Fprintf(&lines, "    %s: {%s}\n", name, strings.Join(keys, ", "))
	}
	return lines.String()
}
