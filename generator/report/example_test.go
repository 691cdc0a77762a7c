package report_test

import (
	"os"

	"github.com/routegen/routegen/generator/report"
)

func ExampleWriteText() {
	src := []byte("version: 1\nnode: {}\n")
	findings := []report.Finding{{
		Rule: "SPEC_UNKNOWN_KEY", Severity: report.Error, File: "routes.yaml",
		At: report.Span{Start: report.Pos{Line: 2, Column: 1},
			End: report.Pos{Line: 2, Column: 5}},
		Message: `unknown key "node"`, Hint: `did you mean "nodes"?`,
	}}
	if err := report.WriteText(os.Stdout, src, findings); err != nil {
		panic(err)
	}
	// Output:
	// routes.yaml:2:1: error: unknown key "node"
	//     1 | version: 1
	//     2 | node: {}
	//       | ^^^^ did you mean "nodes"?
	//       = SPEC_UNKNOWN_KEY   why: routegen explain SPEC_UNKNOWN_KEY
}
