package main

import (
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/mod/modfile"
)

// invocation is how this program is called by somebody who stands in the folder: go tool routegen where the module there lists it as a
// tool, by go run in a checkout of its own, and else by its name. Only go.mod decides, so everybody who has the same files is told the
// same.
func invocation(dir string) string {
	const plain = "routegen"
	dir, err := filepath.Abs(dir)
	if err != nil {
		return plain
	}
	root, ok := moduleRoot(dir)
	if !ok {
		return plain
	}
	text, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		return plain
	}
	mod, err := modfile.Parse("go.mod", text, nil)
	switch {
	case err != nil:
		return plain
	case slices.ContainsFunc(mod.Tool, func(t *modfile.Tool) bool { return t.Path == runtimeModule+"/cmd/routegen" }):
		return "go tool routegen"
	case mod.Module == nil || mod.Module.Mod.Path != runtimeModule:
		return plain
	case root == dir:
		return "go run ./cmd/routegen"
	default:
		return "go run " + runtimeModule + "/cmd/routegen"
	}
}
