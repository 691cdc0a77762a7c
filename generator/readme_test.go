package generator_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/generator"
)

// TestProgramOfTheReadmeCompiles: what the README shows as a whole program is one, with the package
// of the spec that init writes.
func TestProgramOfTheReadmeCompiles(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile(filepath.Join("..", "README.md"))
	require.NoError(t, err)
	_, program, found := strings.Cut(string(readme), "```go\npackage main\n")
	require.True(t, found, "the README shows no program")
	program, _, _ = strings.Cut(program, "```")
	const module = "example.com/desk/"
	require.Contains(t, program, module)
	assert.NoError(t, vetted(t, module, "package main\n"+program))
	assert.ErrorContains(t, vetted(t, module,
		"package main\n"+strings.Replace(program, "workflow.Begin(", "workflow.Begins(", 1)),
		"workflow.Begins")
}

// vetted compiles a program that stands nowhere, as a package of this module.
func vetted(t *testing.T, module, program string) error {
	t.Helper()
	here, err := filepath.Abs(".")
	require.NoError(t, err)
	spec, err := os.ReadFile(filepath.Join("..", "cmd", "routegen", "skeleton", "routes.yaml.tmpl"))
	require.NoError(t, err)
	made := generator.Generate("routes.yaml",
		[]byte(strings.ReplaceAll(string(spec), "{{.Package}}", "routes")))
	require.NotEmpty(t, made.Files)

	shadow, at := map[string]string{}, t.TempDir()
	put := func(path, text string) {
		file := filepath.Join(at, filepath.FromSlash(strings.ReplaceAll(path, "/", "_")))
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		shadow[filepath.Join(here, "desk", filepath.FromSlash(path))] = file
	}
	const own = "github.com/routegen/routegen/generator/desk/"
	put("cmd/desk/main.go", strings.ReplaceAll(program, module, own))
	for path, data := range made.Files {
		put(path, string(data))
	}
	overlay, err := json.Marshal(map[string]any{"Replace": shadow})
	require.NoError(t, err)
	file := filepath.Join(at, "overlay.json")
	require.NoError(t, os.WriteFile(file, overlay, 0o600))
	out, err := exec.CommandContext(t.Context(), "go", "build", "-overlay", file, "-o", os.DevNull,
		own+"cmd/desk").CombinedOutput()
	if err != nil {
		return &buildError{string(out)}
	}
	return nil
}

type buildError struct{ said string }

func (e *buildError) Error() string { return e.said }
