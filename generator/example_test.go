package generator_test

import (
	"fmt"
	"maps"
	"slices"

	"github.com/routegen/routegen/generator"
)

func ExampleGenerate() {
	result := generator.Generate("routes.yaml", []byte(`version: 1
go: {package: routes, out: generated/routes}
results:
  Report:
    doc: What comes back.
    fields: {text: {type: string, doc: The answer.}}
nodes:
  lead: {doc: Leads., entry: true, request: {doc: Asks., fields: {goal: {type: string, doc: What for.}}}, branches: {report: Report}}
`))
	for _, f := range result.Findings {
		fmt.Println(f.Severity, f.Rule, f.Message)
	}
	for _, name := range slices.Sorted(maps.Keys(result.Files))[:3] {
		fmt.Println(name)
	}
	// Output:
	// generated/docs/ROUTES.md
	// generated/routes/agent_types_gen.go
	// generated/routes/handlers_gen.go
}
