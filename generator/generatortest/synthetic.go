// Package generatortest makes specs for tests and benchmarks of the generator.
package generatortest

import (
	"bytes"
	"fmt"
)

// Synthetic returns a valid spec of the given number of nodes, one route each: a ring of nodes, each with six request
// fields and six interrupt fields of its own, a routing of four branches, and a prompt. Routes must be at least 3. The
// same number always gives the same bytes.
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
		node(&b, i, routes)
	}
	return b.Bytes()
}

// node writes one node. Docs differ by more than a number, as docs of real nodes do.
func node(b *bytes.Buffer, i, routes int) {
	next, after := (i+1)%routes, (i+2)%routes
	fmt.Fprintf(b, "  worker%d:\n    doc: Takes %s number %d and hands it to worker %d.\n", i, part(i), i, next)
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
	return []string{"the order", "an invoice", "some parcel", "a ticket", "the claim", "one letter", "a sample"}[i%7]
}
