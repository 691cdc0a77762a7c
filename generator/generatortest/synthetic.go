// Package generatortest makes specs for tests and benchmarks of the generator.
package generatortest

import (
	"bytes"
	"fmt"
)

// Synthetic returns a valid spec of the given number of nodes, one route each: a ring of nodes,
// each with six request fields and six interrupt fields of its own, a routing of four branches, and
// a prompt. Routes must be at least 3. The same number always gives the same bytes.
func Synthetic(routes int) []byte {
	var b bytes.Buffer
	b.WriteString(`version: 1
go: {package: routes, out: generated/routes}

enums:
  Verdict:
    doc: What came of a piece of work.
    values:
      DONE: The work is complete.
      OPEN: Something is left to do.

types:
  Item:
    doc: One piece of work.
    fields:
      name: {type: string, doc: What it is called.}
      verdict: {type: Verdict, doc: What came of it.}

results:
  Report:
    doc: What the whole run gives.
    fields:
      summary: {type: string, doc: What was done.}

interrupts:
  fields:
    reason: {type: string, doc: Why a decision is needed.}
    verdict: {type: Verdict, doc: What the asking node leans to.}
    contextForDecision: {type: string, optional: true, doc: Background for whoever decides.}

nodes:
`)
	for i := range routes {
		writeNode(&b, i, routes)
	}
	return b.Bytes()
}

// writeNode writes one node. Docs differ by more than a number, as docs of real nodes do.
func writeNode(b *bytes.Buffer, i, routes int) {
	next, after := (i+1)%routes, (i+2)%routes
	fmt.Fprintf(b, "  worker%d:\n    doc: Takes %s number %d and hands it to worker %d.\n", i,
		part(i), i, next)
	if i == 0 {
		b.WriteString("    entry: true\n")
	}
	fmt.Fprintf(b, `    request:
      fields:
        goal: {type: string, doc: What worker %[1]d is to reach.}
        items: {type: "[]Item", doc: The pieces that worker %[1]d works on.}
        limit: {type: int, min: 0, max: 1000, doc: How many pieces worker %[1]d may take.}
        notes: {type: string, optional: true, max_length: 4000, doc: What was said to worker %[1]d before.}
        labels: {type: "map[string]string", optional: true, doc: Free notes by name for worker %[1]d.}
        token: {type: string, optional: true, hidden: true, doc: What the framework hangs on to.}
    interrupt:
      fields:
        stage: {type: string, doc: Where worker %[1]d stopped.}
        found: {type: "[]string", doc: What worker %[1]d found so far.}
        options: {type: "[]string", doc: Ways that worker %[1]d sees.}
        score: {type: float, min: 0, max: 1, doc: How sure worker %[1]d is.}
        urgent: {type: bool, doc: Whether worker %[1]d can wait.}
        item: {type: Item, doc: The piece that worker %[1]d asks about.}
    branches:
      interruptRequest: interrupt
      next: Worker%[2]dRequest
      skip: Worker%[3]dRequest
      done: Report
    prompt: {template: workflow/worker, vars: [goal, limit], guidance: "Go on with worker %[2]d unless the goal is reached."}
    unstick: [next]
`, i, next, after)
}

func part(i int) string {
	return []string{"the order", "an invoice", "some parcel", "a ticket", "the claim", "one letter",
		"a sample"}[i%7]
}

// SyntheticFlows returns a valid spec of the given number of flows and no nodes: each has six slots
// and ten steps, among them a loop, a branch, a confirm, an action of its own and a call of the
// next flow. Flows must be at least 2. The same number always gives the same bytes.
func SyntheticFlows(flows int) []byte {
	var b bytes.Buffer
	b.WriteString(`version: 1
go: {package: routes, out: generated/routes}

enums:
  Speed:
    doc: How fast it goes.
    values:
      NORMAL: Within days.
      FAST: At once.

validators:
  known: {doc: Whether there is such a thing., type: string}

actions:
`)
	for i := range flows {
		fmt.Fprintf(&b, `  order%[1]d:
    doc: Orders %[2]s number %[1]d.
    once: true
    inputs:
      what: {type: string, doc: What is ordered from shelf %[1]d.}
      count: {type: int, min: 1, doc: How many of them.}
    outputs:
      number: {type: string, doc: Under which number order %[1]d runs.}
`, i, part(i))
	}
	b.WriteString("\nflows:\n")
	for i := range flows {
		writeFlow(&b, i, flows)
	}
	return b.Bytes()
}

func writeFlow(b *bytes.Buffer, i, flows int) {
	fmt.Fprintf(b, `  order_%[1]d:
    doc: Takes an order for %[2]s number %[1]d.
    trigger: {intents: ["order %[2]s %[1]d", "I want %[2]s of kind %[1]d"]}
    slots:
      what: {type: string, max_length: 80, doc: What is ordered from shelf %[1]d.}
      count: {type: int, min: 1, max: 1000, doc: How many of them.}
      speed: {type: Speed, default: NORMAL, doc: How fast it has to be there.}
      more: {type: bool, doc: Whether something else is wanted.}
      sure: {type: bool, doc: Whether the order shall go out.}
      number: {type: string, doc: Under which number order %[1]d runs.}
    inputs: ["what?", "count?"]
    outputs: ["number?"]
    on_error: sorry
    steps:
      - {step: ask_what, type: collect, slot: what, message: {en: "What do you want from shelf %[1]d?"}, validator: known, max_attempts: 3, invalid_message: "That is not there: {reason}", on_invalid: sorry}
      - {step: ask_count, type: collect, slot: count, message: "How many of {what}?", timeout: 5m}
      - {step: size, type: branch, cases: [{if: "count > 100 and speed == 'FAST'", then: sorry}], else: again}
      - step: again
        type: while
        condition: "more == true"
        max_rounds: 5
        do:
          - {step: ask_more, type: collect, slot: more, message: "Anything else from shelf %[1]d?", force: true}
      - {step: sure, type: confirm, slot: sure, message: "Order {count} of {what}?", on_yes: order, on_no: cancel_flow}
      - {step: order, type: action, call: order%[1]d, inputs: {what: what, count: count}, outputs: {number: number}}
      - {step: next, type: call, flow: order_%[3]d, inputs: {what: what}, outputs: {number: number}, when: "count > 500"}
      - {step: done, type: say, message: "Order {number} of shelf %[1]d is on its way.", next: end}
      - {step: sorry, type: say, message: "Order %[1]d did not work out.", next: error}
`, i, part(i), (i+1)%flows)
}
