package edit_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/routegen/routegen/generator/report"
	"github.com/routegen/routegen/generator/spec"
)

// base is a small spec without findings. Cases change one place of it.
var base = readSpec("../spec/testdata/base.yaml")

func readSpec(path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		panic(err)
	}
	return string(text)
}

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
func flowsSpec(testing.TB) string { return readSpec("../spec/testdata/flows.yaml") }
