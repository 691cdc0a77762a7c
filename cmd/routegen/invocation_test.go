package main

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestInvocation(t *testing.T) {
	t.Parallel()
	const tool = "github.com/routegen/routegen/cmd/routegen"
	for _, c := range []struct{ name, mod, folder, want string }{
		{"tool", "module example.com/m\n\ngo 1.26\n\ntool " + tool + "\n", ".", "go tool routegen"},
		{"tool, from below", "module example.com/m\n\ngo 1.26\n\ntool " + tool + "\n", "sub",
			"go tool routegen"},
		{"one of some tools", "module example.com/m\n\ngo 1.26\n\ntool (\n\texample.com/other\n\t" +
			tool + " // ours\n)\n", ".", "go tool routegen"},
		{"tools of others", "module example.com/m\n\ngo 1.26\n\ntool example.com/cmd/routegen\n",
			".", "routegen"},
		{"required, and no tool",
			"module example.com/m\n\nrequire github.com/routegen/routegen v0.1.0\n", ".",
			"routegen"},
		{"a comment is no tool", "module example.com/m\n\n// tool " + tool + "\n", ".", "routegen"},
		{"checkout", "module github.com/routegen/routegen\n", ".", "go run ./cmd/routegen"},
		{"checkout, from below", "module github.com/routegen/routegen\n", "sub", "go run " + tool},
		{"no module", "", ".", "routegen"},
		{"go.mod that is none", "modul example.com/m\n", ".", "routegen"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			files := map[string]string{"sub/a.txt": ""}
			if c.mod != "" {
				files["go.mod"] = c.mod
			}
			assert.Equal(t, c.want, invocation(filepath.Join(lay(t, files), c.folder)))
		})
	}
}
