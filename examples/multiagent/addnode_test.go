package main

import (
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestAddNode adds a node to a copy of the spec and of this folder: a command edits the spec and
// generates, one method is written, and the program takes the work there. Nothing else of what is
// written by hand is touched; script.json stands for a model, which needs no such line.
func TestAddNode(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("builds the program twice")
	}
	copied := t.TempDir()
	for _, folder := range []string{here, "generated", "templates"} {
		require.NoError(t, os.CopyFS(filepath.Join(copied, folder),
			os.DirFS(filepath.Join(repo, folder))))
	}
	spec, err := os.ReadFile(filepath.Join(repo, "routes.yaml"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(copied, "routes.yaml"), spec, 0o600))
	before := handwritten(t, copied)

	out, err := command(t, "go", "run", "../../cmd/routegen", "-C", copied, "add", "node",
		"auditor", "doc=Checks the books before it is shipped.",
		"request.doc=Asks for an audit.",
		"request.fields.goal={type: string, doc: What is audited.}",
		"branches.orchestratorCollectorRequest=OrchestratorCollectorRequest", "--no-verify").
		CombinedOutput()
	require.NoError(t, err, string(out))
	assert.Equal(t, []string{"routes.yaml"}, changed(before, handwritten(t, copied)))

	out, err = build(t, copied)
	require.Error(t, err, "it does not compile without the method")
	require.Contains(t, string(out), "missing method Auditor")

	agents := filepath.Join(copied, here, "agents/agents.go")
	text, err := os.ReadFile(agents)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(agents, append(text, `
func (agents) Auditor(_ context.Context, _ runtime.Call, r *routes.AuditorRequest) (*routes.AuditorRouting, error) {
	return &routes.AuditorRouting{OrchestratorCollectorRequest: &routes.OrchestratorCollectorRequest{Goal: r.Goal, Phase: "AUDITED"}}, nil
}
`...), 0o600))
	assert.Equal(t, []string{here + "/agents/agents.go", "routes.yaml"},
		changed(before, handwritten(t, copied)))
	played := func(answers ...string) string {
		out, err := build(t, copied)
		require.NoError(t, err, string(out))
		p := command(t, filepath.Join(copied, "program"), "-db",
			filepath.Join(t.TempDir(), "work.db"))
		p.Stdin = strings.NewReader(strings.Join(answers, "\n"))
		out, err = p.CombinedOutput()
		require.NoError(t, err, string(out))
		return journeyOf(t, string(out))
	}
	usual, err := os.ReadFile("answers.txt")
	require.NoError(t, err)
	want, err := os.ReadFile("testdata/journey.txt")
	require.NoError(t, err)
	assert.Equal(t, string(want), played(string(usual)), "the others go on as they did")

	script := filepath.Join(copied, here, "script.json")
	text, err = os.ReadFile(script)
	require.NoError(t, err)
	line :=
		`[{"for": "InterruptRouting", "shows": "\"auditorRequest\"", "reply": {"auditorRequest": {"goal": "Audit the merge"}}},`
	require.NoError(t, os.WriteFile(script, []byte(strings.Replace(string(text), "[", line, 1)),
		0o600))
	got := played("go on", "yes", "/reroute AUDITOR somebody has to look at the books",
		"look at the books", "ship it")
	assert.Contains(t, got, "auditor                 rerouted here\n", got)
	assert.True(t, strings.HasSuffix(got, "     done\n"), got)
}

// repo is the top of the repository, and here this folder below it.
const (
	repo = "../.."
	here = "examples/multiagent"
)

// build builds the program with the files of a copy in the place of the repository's.
func build(t *testing.T, copied string) ([]byte, error) {
	t.Helper()
	top, err := filepath.Abs(repo)
	require.NoError(t, err)
	replace := map[string]string{}
	require.NoError(t, fs.WalkDir(os.DirFS(copied), ".",
		func(name string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				replace[filepath.Join(top, name)] = filepath.Join(copied, name)
			}
			return err
		}))
	data, err := json.Marshal(map[string]any{"Replace": replace})
	require.NoError(t, err)
	list := filepath.Join(t.TempDir(), "overlay.json")
	require.NoError(t, os.WriteFile(list, data, 0o600))
	return command(t, "go", "build", "-overlay", list, "-o", filepath.Join(copied, "program"), ".").
		CombinedOutput()
}

// handwritten reads the files of a folder that no generator has written, but for tests.
func handwritten(t *testing.T, folder string) map[string]string {
	t.Helper()
	out := map[string]string{}
	files := os.DirFS(folder)
	require.NoError(t, fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasPrefix(name, "generated/") ||
			strings.HasSuffix(name, "_test.go") {
			return err
		}
		text, err := fs.ReadFile(files, name)
		out[name] = string(text)
		return err
	}))
	return out
}

// changed names the files that are not what they were.
func changed(before, after map[string]string) []string {
	var out []string
	for name, text := range after {
		if before[name] != text {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

func command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	return exec.CommandContext(t.Context(), args[0], args[1:]...)
}
