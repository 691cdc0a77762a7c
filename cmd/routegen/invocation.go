package main

import (
	"os"
	"path/filepath"
	"regexp"
)

// toolLine finds the program among the tools of a go.mod, on a line of its own or in a list.
var toolLine = regexp.MustCompile(`(?m)^\s*(?:tool\s+)?` + runtimeModule +
	`/cmd/routegen\s*(?://.*)?$`)

// moduleLine finds the line of this module in a go.mod.
var moduleLine = regexp.MustCompile(`(?m)^module\s+"?` + runtimeModule + `"?\s*(?://.*)?$`)

// invocation returns how to call this program in a folder: as a tool of the module there, with go
// run in its own checkout, and otherwise by its name. Only go.mod decides, so the result is the
// same on every machine.
func invocation(dir string) string {
	const name = "routegen"
	dir, err := filepath.Abs(dir)
	if err != nil {
		return name
	}
	root, ok := moduleRoot(dir)
	if !ok {
		return name
	}
	text, err := os.ReadFile(filepath.Join(root, "go.mod"))
	switch {
	case err != nil:
		return name
	case toolLine.Match(text):
		return "go tool routegen"
	case !moduleLine.Match(text):
		return name
	case root == dir:
		return "go run ./cmd/routegen"
	default:
		return "go run " + runtimeModule + "/cmd/routegen"
	}
}
