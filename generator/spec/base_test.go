package spec_test

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
var base = readSpec("testdata/base.yaml")

func readSpec(path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// change puts a text in the place of another one in the base. The sign § marks where the finding is
// expected.
func change(t *testing.T, from, to string) string {
	t.Helper()
	require.Equal(t, 1, strings.Count(base, from), "%q must stand in the base once", from)
	return strings.Replace(base, from, to, 1)
}

// mark takes the § out of a text and returns its place as line:column, or "" without one.
func mark(text string) (clean, place string) {
	at := strings.Index(text, "§")
	if at < 0 {
		return text, ""
	}
	line := strings.Count(text[:at], "\n") + 1
	column := len([]rune(text[strings.LastIndex(text[:at], "\n")+1:at])) + 1
	return strings.Replace(text, "§", "", 1), fmt.Sprintf("%d:%d", line, column)
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
func flowsSpec(testing.TB) string { return readSpec("testdata/flows.yaml") }
