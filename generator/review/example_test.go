package review_test

import (
	"fmt"
	"strings"

	"github.com/routegen/routegen/generator"
	"github.com/routegen/routegen/generator/review"
)

func ExampleBreaking() {
	spec := func(field string) string {
		return `version: 1
go: {package: routes, out: generated/routes}
results:
  Report:
    doc: What comes back.
    fields: {` + field + `: {type: string, doc: The answer.}}
nodes:
  lead: {doc: Leads., entry: true, branches: {report: Report}}
`
	}
	old := generator.Plan("routes.yaml", []byte(spec("text"))).Plan
	now := generator.Plan("routes.yaml", []byte(spec("answer"))).Plan
	for _, f := range review.Breaking(old, now) {
		fmt.Println(f.Severity, f.Rule)
		fmt.Println(strings.ReplaceAll(f.Message, ": ", ":\n  "))
	}
	// Output:
	// error FIELD_NO_DELETE
	// field Report.text removed:
	//   a thread is refused if it holds a message with Report.text (line 6 before)
	// error FIELD_SAME_REQUIRED
	// field Report.answer added:
	//   a thread is refused if it holds a message without answer
}
