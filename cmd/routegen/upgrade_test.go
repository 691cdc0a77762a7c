package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const upgradeSpec = `version: 1
go: {package: routes, out: routes}
results:
  Report: {doc: The end., fields: {text: {type: string, doc: In words.}}}
nodes:
  worker:
    doc: Works.
    entry: true
    request: {fields: {goal: {type: string, doc: What to do.}}}
    branches: {done: Report}
`

const upgradeProgram = `package main

import (
	"context"
	"fmt"
	"os"

	"example.com/app/routes"
	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/store/sqlite"
	"github.com/routegen/routegen/runtime/thread"
	"github.com/routegen/routegen/runtime/workflow"
)

type agents struct{}

func (agents) Worker(ctx context.Context, _ runtime.Call, r *routes.WorkerRequest) (
	*routes.WorkerRouting, error) {
	if _, err := thread.Ask[string](ctx, "go", thread.Question{Text: "Shall I?",
		Plain: thread.PlainText}); err != nil {
		return nil, err
	}
	return &routes.WorkerRouting{Done: &routes.Report{Text: r.FIELD}}, nil
}

func must[T any](v T, err error) T {
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	return v
}

func main() {
	ctx := context.Background()
	store := must(sqlite.Open(ctx, "work.db", sqlite.Config{}))
	machine := must(workflow.New(routes.New(agents{}), workflow.Config{}))
	e := must(thread.Open(ctx, store, thread.Config{}, machine))
	if os.Args[1] == "start" {
		begin := must(workflow.Begin(&routes.WorkerRequest{FIELD: "paint it"}))
		begin.ID = "one"
		must(e.Start(ctx, begin))
	} else {
		must(e.Answer(ctx, "one", thread.Answer{Question: "go", Text: "yes"}))
	}
	t := must(e.Wait(ctx, "one"))
	fmt.Println(t.Status(), string(t.Result))
	_ = e.Close(ctx)
	_ = store.Close()
}
`

// TestStoredFieldIsRenamed renames a field by the command, builds the program anew, and goes on
// with a thread that the program from before stored; without was: the thread is refused, and
// untouched.
func TestStoredFieldIsRenamed(t *testing.T) {
	if testing.Short() {
		t.Skip("builds two programs")
	}
	t.Parallel()
	app, module := t.TempDir(), t.TempDir()
	repo, err := filepath.Abs(filepath.Join("..", ".."))
	require.NoError(t, err)
	write := func(name, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(app, name), []byte(text), 0o600))
	}
	run := func(name string, args ...string) (string, error) {
		cmd := exec.CommandContext(t.Context(), name, args...)
		cmd.Dir = app
		cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off", "GOPROXY=off")
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	do := func(name string, args ...string) string {
		out, err := run(name, args...)
		require.NoError(t, err, "%s %v: %s", name, args, out)
		return out
	}
	text, err := os.ReadFile(filepath.Join(repo, "go.mod"))
	require.NoError(t, err)
	_, requires, _ := strings.Cut(string(text), "\n")
	write("go.mod", "module example.com/app\n"+requires+
		"\nrequire github.com/routegen/routegen v0.0.0\nreplace github.com/routegen/routegen => "+
		repo+"\n")
	sums, err := os.ReadFile(filepath.Join(repo, "go.sum"))
	require.NoError(t, err)
	write("go.sum", string(sums))
	write("routes.yaml", upgradeSpec)
	routegen := filepath.Join(module, "routegen")
	cmd := exec.CommandContext(t.Context(), "go", "build", "-o", routegen, ".")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))

	do(routegen, "generate", "--no-verify")
	write("main.go", strings.ReplaceAll(upgradeProgram, "FIELD", "Goal"))
	do("go", "build", "-o", "old", ".")
	assert.Equal(t, "waiting \n", do("./old", "start"))

	do(routegen, "rename", "field", "worker.goal", "objective", "--no-verify")
	write("main.go", strings.ReplaceAll(upgradeProgram, "FIELD", "Objective"))
	do("go", "build", "-o", "new", ".")
	spec, err := os.ReadFile(filepath.Join(app, "routes.yaml"))
	require.NoError(t, err)
	require.Contains(t, string(spec), "was: [goal]")
	write("routes.yaml", strings.Replace(string(spec), "was: [goal]", "", 1))
	do(routegen, "generate", "--no-verify")
	do("go", "build", "-o", "without", ".")

	said, err := run("./without", "answer")
	require.Error(t, err)
	assert.Contains(t, said, `/request/goal: it is "paint it", and WorkerRequest has no such field`)
	assert.Equal(t, `done {"Report":{"text":"paint it"}}`+"\n", do("./new", "answer"))
}
