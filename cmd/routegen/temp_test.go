package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/generator"
)

const pairSpec = `version: 1
go: {package: routes, out: generated/routes}
results:
  Done: {doc: The end., fields: {text: {type: string, doc: In words.}}}
nodes:
  lead: {doc: Leads., entry: true, branches: {done: Done}}
`

// meeting is a disk that lets another run finish before the first file is replaced.
type meeting struct {
	disk
	once  sync.Once
	other func()
}

func (d *meeting) Rename(from, to string) error {
	d.once.Do(d.other)
	return d.disk.Rename(from, to)
}

// run runs one command in a folder and returns its code and what it said.
func run(t *testing.T, dir, stdin string, open func(*os.Root) disk, args ...string) (exitCode,
	string) {
	t.Helper()
	var said bytes.Buffer
	p := &program{stdin: strings.NewReader(stdin), stdout: &said, stderr: &said,
		getenv: func(string) string { return "" }, generate: generator.Generate, disk: open}
	return p.execute(t.Context(), append([]string{"-C", dir}, args...)), said.String()
}

func pairFolder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module m\n\ngo 1.26\n"),
		0o644))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "routes.yaml"), []byte(pairSpec), 0o644))
	return dir
}

// TestTwoGeneratesAtOnceBothSucceed: the second finds the temporary files of the first, lets them
// be, and both end with the right output.
func TestTwoGeneratesAtOnceBothSucceed(t *testing.T) {
	t.Parallel()
	dir := pairFolder(t)
	met := false
	code, said := run(t, dir, "", func(root *os.Root) disk {
		return &meeting{disk: openDisk(root), other: func() {
			met = true
			code, said := run(t, dir, "", openDisk, "generate", "--no-verify")
			assert.Equal(t, exitFine, code, said)
		}}
	}, "generate", "--no-verify")
	assert.Equal(t, exitFine, code, said)
	assert.True(t, met)
	code, said = run(t, dir, "", openDisk, "check")
	assert.Equal(t, exitFine, code, said)
	left, err := filepath.Glob(filepath.Join(dir, "generated", "*", tempPrefix+"*"))
	require.NoError(t, err)
	assert.Empty(t, left)
}

// TestTempFilesOfTheDeadAreRemoved: a run that was killed leaves files, and the next one removes
// them.
func TestTempFilesOfTheDeadAreRemoved(t *testing.T) {
	t.Parallel()
	assert.False(t, isRunning(endedProcess()))
	assert.True(t, isRunning(os.Getpid()))
	assert.True(t, isRunning(1), "of another user, too")
	mine := filepath.Base(tempOf("a/routes_gen.go"))
	assert.True(t, isTemp(mine))
	assert.False(t, isAbandoned(mine))
	assert.True(t, isAbandoned(".routegen-routes_gen.go-ABC.tmp"), "of an earlier version")
	assert.True(t, isAbandoned(strings.Replace(mine, "-"+strconv.Itoa(os.Getpid())+"-",
		"-"+strconv.Itoa(endedProcess())+"-", 1)))
	assert.False(t, isAbandoned("routes_gen.go"))
}

// TestOutputInAnotherModuleIsRefused: the person mends it, so it is a finding at the key.
func TestOutputInAnotherModuleIsRefused(t *testing.T) {
	t.Parallel()
	dir := pairFolder(t)
	require.NoError(t, os.Mkdir(filepath.Join(dir, "generated"), 0o755))
	inner := filepath.Join(dir, "generated", "go.mod")
	require.NoError(t, os.WriteFile(inner, []byte("module other\n\ngo 1.26\n"), 0o644))
	code, said := run(t, dir, "", openDisk, "generate")
	assert.Equal(t, exitFindings, code, said)
	assert.Contains(t, said,
		"routes.yaml:2:28: error: generated is another module: it has a go.mod of its own\n")
	assert.Contains(t, said, "nothing was written")
	require.NoError(t, os.Remove(inner))
	code, said = run(t, dir, "", openDisk, "generate", "--no-verify")
	assert.Equal(t, exitFine, code, said)
}

// TestADashIsStandardInput: in every command the spec may come from a pipe, and stands in place of
// routes.yaml.
func TestADashIsStandardInput(t *testing.T) {
	t.Parallel()
	dir := pairFolder(t)
	require.NoError(t, os.Remove(filepath.Join(dir, "routes.yaml")))
	code, said := run(t, dir, pairSpec, openDisk, "-f", "-", "generate", "--no-verify")
	require.Equal(t, exitFine, code, said)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "old.yaml"), []byte(pairSpec), 0o644))
	for _, args := range [][]string{{"check"}, {"lint"}, {"inspect", "routes"}, {"inspect"},
		{"schema", "--type", "Done"}, {"diff", "--against", "old.yaml"},
		{"breaking", "--against", "old.yaml"}, {"fmt", "--check"},
		{"add", "type", "Extra", "--dry-run"}} {
		code, said := run(t, dir, pairSpec, openDisk, append([]string{"-f", "-"}, args...)...)
		assert.Equal(t, exitFine, code, "%s: %s", args, said)
	}
	code, said = run(t, dir, strings.Replace(pairSpec, "{doc: Leads., entry: true,",
		"{entry: true, doc: Leads.,", 1), openDisk, "-f", "-", "fmt")
	assert.Equal(t, exitFine, code)
	assert.Equal(t, pairSpec, said)
	code, said = run(t, dir, pairSpec, openDisk, "-f", "-", "add", "type", "Extra")
	assert.Equal(t, exitFailed, code)
	assert.Contains(t, said, "there is no file to edit: --dry-run prints the patch")
	code, said = run(t, dir, pairSpec, openDisk, "-f", "-", "diff", "--against", "-")
	assert.Equal(t, exitFailed, code)
	assert.Contains(t, said, "standard input cannot be both specs")
}

// isTemp reports whether a base name is that of a temporary file of routegen.
func isTemp(base string) bool { return tempName.MatchString(base) }
