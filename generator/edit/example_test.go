package edit_test

import (
	"fmt"

	"github.com/routegen/routegen/generator/edit"
)

func ExampleAdd() {
	src := []byte(`version: 1
go: {package: routes, out: generated/routes}
results:
  Report:
    doc: What comes back. # for people
    fields:
      text: {type: string, doc: The answer.}
nodes:
  lead: {doc: Leads., entry: true, branches: {report: Report}}
`)
	text, findings := edit.Add("routes.yaml", src, edit.Addition{
		Kind: edit.KindField, Name: "Report.pages",
		Set: []edit.KeyValue{{Key: "type", Value: "int"}, {Key: "doc", Value: "How many."}},
	})
	if text == nil {
		panic(findings)
	}
	fmt.Print(string(text))
	// Output:
	// version: 1
	// go: {package: routes, out: generated/routes}
	// results:
	//   Report:
	//     doc: What comes back. # for people
	//     fields:
	//       text: {type: string, doc: The answer.}
	//       pages: {type: int, doc: How many.}
	// nodes:
	//   lead: {doc: Leads., entry: true, branches: {report: Report}}
}
