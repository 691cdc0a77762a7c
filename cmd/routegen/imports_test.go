package main

import (
	"maps"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A module that lists routegen as a tool requires every module that the program links, so routegen
// links few of them: no terminal, no store, no socket and no engine.
func TestProgramLinksTheGeneratorAlone(t *testing.T) {
	t.Parallel()
	linked := func(program string) []string {
		out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f",
			"{{if not .Standard}}{{.ImportPath}} {{.Module.Path}}{{end}}", program).Output()
		require.NoError(t, err)
		return strings.Fields(string(out))
	}
	own := []string{"cmd/internal/version", "cmd/routegen", "runtime", "runtime/compat",
		"runtime/prompt", "runtime/schema", "templates"}
	modules := map[string]bool{}
	words := linked(".")
	for i := 0; i < len(words); i += 2 {
		modules[words[i+1]] = true
		if name, ok := strings.CutPrefix(words[i], runtimeModule+"/"); ok {
			if !strings.HasPrefix(name, "generator") &&
				!strings.HasPrefix(name, "runtime/internal/") {
				require.Contains(t, own, name)
			}
		}
	}
	require.Subset(t, []string{
		runtimeModule, "github.com/aymanbagabas/go-udiff", "github.com/bahlo/generic-list-go",
		"github.com/buger/jsonparser", "github.com/dave/jennifer", "github.com/invopop/jsonschema",
		"github.com/inconshreveable/mousetrap", "github.com/pb33f/ordered-map/v2",
		"github.com/spf13/cobra", "github.com/spf13/pflag", "go.yaml.in/yaml/v4",
		"golang.org/x/mod", "golang.org/x/text", "gopkg.in/yaml.v3",
	}, slices.Collect(maps.Keys(modules)))
	require.Contains(t, linked("../routegen-threads"), "charm.land/bubbletea/v2",
		"the list shows what is linked")
}
