package edit_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/generator/report"
	"github.com/routegen/routegen/generator/spec"
)

// base is a small spec without findings. Cases change one place of it.
const base = `version: 1
go: {package: routes, out: generated/routes}
enums:
  Decision: {doc: What comes next., values: {GO: Go on., STOP: Stop here.}}
  Ask: {doc: What is asked., values: {HUMAN_REVIEW: A person looks at it., PAUSE: Wait.}}
types:
  Key: {doc: Names a thing., type: string, min_length: 1}
  Ticket:
    doc: One piece of work.
    fields:
      title: {type: string, doc: What it is called.}
      count: {type: int, doc: How many there are., min: 1, max: 9, default: 3, optional: true}
  Tickets: {doc: What all workers gave., fields: {all: {type: "[]Ticket", doc: In order.}}}
  Extra: {doc: Asks for more., fields: {why: {type: string, doc: The reason.}}}
  Answer: {doc: What a person said., fields: {text: {type: "map[string]string", doc: By question.}}}
results:
  PlanResult:
    doc: The plan.
    fields:
      decision: {type: Decision, doc: What comes next.}
      text: {type: string, doc: In words.}
interrupts:
  answer: Answer
  fields:
    type: {type: Ask, doc: What is asked.}
    reason: {type: string, doc: Why.}
  kinds:
    user_escape: {doc: A person stopped it., clash: supersede, deadline: none}
    agent_question: {doc: An agent asks., clash: queue, deadline: {after: 24h, then: expire}, auto: {answer: {go: true}, when: [PAUSE]}}
    system_error: {doc: A step failed., retry: {attempts: 3, backoff: exponential, first: 1s, max: 1m}}
    audit: {doc: Somebody checks it., deadline: none}
nodes:
  lead:
    doc: Leads the work.
    entry: true
    request:
      fields:
        goal: {type: string, doc: The aim.}
        key: {type: Key, hidden: true}
    interrupt: {fields: {phase: {type: string, doc: Where it stands.}}}
    branches:
      askRequest: interrupt
      spreadRequest: SpreadRequest
      collectRequest: CollectRequest
    prompt: {template: workflow/lead, vars: [goal]}
    unstick: [collectRequest]
    feedback: goal
    loop: {warn: 2, limit: 5, exempt: [spread]}
    tools: [search, {transfer_to: [spread]}]
    approval: [search]
  spread:
    doc: Hands tickets to workers.
    request: {fields: {requests: {type: "[]WorkerRequest", doc: One per worker.}}}
    dispatch: {each: requests, to: worker, results: Tickets}
    branches: {collectRequest: CollectRequest}
  worker:
    doc: Does one ticket.
    route: none
    escalates: spread
    timeout: 15m
    request: {fields: {ticket: {type: Ticket, doc: The ticket.}}}
    interrupt: {}
    branches: {askRequest: interrupt, done: Tickets}
  collect:
    doc: Decides what comes next.
    adapt: {from: Extra}
    route: {returns: Extra, tag: CollectRoute}
    request: {fields: {text: {type: string, doc: What was found.}}}
    collect: {result: PlanResult, on: {GO: leadRequest, STOP: end}, carry: {goal: text}, default: GO}
    result: PlanResult
    branches: {planResult: PlanResult, leadRequest: LeadRequest}
  question:
    doc: Asks a person.
    only: interrupt
    escalates: lead
`

// list is the findings in a short form: place, rule, message.
func list(findings []report.Finding) string {
	var b strings.Builder
	for _, f := range findings {
		fmt.Fprintf(&b, "%d:%d %s %s | %s | %s\n", f.At.Start.Line, f.At.Start.Column, f.Rule,
			f.Message, f.Hint, f.Path)
	}
	return b.String()
}

// errorsOf returns the errors of a spec.
func errorsOf(src string) []report.Finding {
	_, findings := spec.Parse("routes.yaml", []byte(src))
	var out []report.Finding
	for _, f := range findings {
		if f.Severity == report.Error {
			out = append(out, f)
		}
	}
	return out
}

// flowsSpec returns a spec with every kind of step and reference.
func flowsSpec(tb testing.TB) string {
	tb.Helper()
	text, err := os.ReadFile("../spec/testdata/flows.yaml")
	require.NoError(tb, err)
	return string(text)
}
