package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// prove surveys a folder and proves what it would become.
func prove(t *testing.T, dir string, planned map[string][]byte) error {
	t.Helper()
	_, s, err := look(t, dir, planned)
	require.NoError(t, err)
	dir, err = filepath.EvalSymlinks(dir)
	require.NoError(t, err)
	before := tree(t, dir)
	err = proof{root: dir, pkg: "out/routes", planned: planned, changes: s.Changes}.
		compile(t.Context())
	assert.Equal(t, before, tree(t, dir), "a proof changes nothing")
	return err
}

// embedding adds a Go file that embeds the schemas.
func embedding(planned map[string][]byte) map[string][]byte {
	planned["out/routes/schemas_gen.go"] =
		[]byte(goMarker + "\npackage routes\n\nimport \"embed\"\n\n//go:embed " +
			"schemas/*.json\nvar Schemas embed.FS\n")
	return planned
}

func TestProofOfFreshTree(t *testing.T) {
	t.Parallel()
	assert.NoError(t, prove(t, lay(t, map[string]string{"go.mod": "module example.com/m\n"}),
		embedding(newFiles())), "embedded files that are not there yet")
}

func TestProofOfChangedTree(t *testing.T) {
	t.Parallel()
	assert.NoError(t, prove(t, lay(t, oldFiles()), embedding(newFiles())))
}

func TestProofSeesRemovals(t *testing.T) {
	t.Parallel()
	files := oldFiles()
	files["out/routes/hand.go"] = "package routes\n\nconst Hand = Gone\n"
	var hand *handwrittenError
	require.ErrorAs(t, prove(t, lay(t, files), newFiles()), &hand)
	require.Len(t, hand.diagnostics, 1)
	assert.Equal(t, diagnostic{"out/routes/hand.go", 3, 14, "undefined: Gone"}, hand.diagnostics[0])
}

// A name declared twice is reported at the later file, which may be ours; the handwritten one is to
// blame.
func TestProofBlamesTheHandwrittenFile(t *testing.T) {
	t.Parallel()
	files := oldFiles()
	files["out/routes/a.go"] = "package routes\n\nconst C = 1\n"
	var hand *handwrittenError
	require.ErrorAs(t, prove(t, lay(t, files), newFiles()), &hand)
	require.Len(t, hand.diagnostics, 1)
	d := hand.diagnostics[0]
	assert.Equal(t, []any{"out/routes/a.go", 3, 7}, []any{d.file, d.line, d.column})
	assert.Contains(t, d.message, "C redeclared in this block")
}

// G40, below the command: output that does not compile is our fault even beside handwritten files
// that do not either.
func TestProofOfBrokenOutput(t *testing.T) {
	t.Parallel()
	files := oldFiles()
	files["out/routes/hand.go"] = "package routes\n\nvar Hand int = \"no\"\n"
	planned := newFiles()
	planned["out/routes/c_gen.go"] = []byte(goMarker + "\npackage routes\n\nvar C int = \"text\"\n")
	var broken *brokenError
	require.ErrorAs(t, prove(t, lay(t, files), planned), &broken)
	t.Cleanup(func() { _ = os.RemoveAll(broken.kept) })
	require.Len(t, broken.diagnostics, 1)
	assert.Equal(t, "out/routes/c_gen.go", broken.diagnostics[0].file)
	assert.Equal(t, 5, broken.diagnostics[0].line)
	assert.FileExists(t, filepath.Join(broken.kept, "out/routes/c_gen.go"),
		"the failing text is kept for the report")
}

func TestProofAdvice(t *testing.T) {
	t.Parallel()
	imports := func(pkg string) map[string][]byte {
		return map[string][]byte{"out/routes/a_gen.go": []byte(
			goMarker + "\npackage routes\n\nimport _ \"" + pkg + "\"\n")}
	}
	module := map[string]string{"go.mod": "module example.com/m\n\ngo 1.26\n"}
	for name, c := range map[string]struct {
		files   map[string]string
		planned map[string][]byte
		want    string
	}{
		"no module": {nil, newFiles(), "run go mod init, or pass --no-verify"},
		"no requirement": {module, imports("github.com/routegen/routegen/runtime"),
			"run go get github.com/routegen/routegen, then routegen generate again"},
		"a bound package": {module, imports("example.org/app/agents"),
			"imports example.org/app/agents, which is not found: correct go_type"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.ErrorContains(t, prove(t, lay(t, c.files), c.planned), c.want)
		})
	}
}

func TestProofWithoutGo(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	assert.ErrorContains(t, prove(t, lay(t, oldFiles()), newFiles()),
		"the go command was not found")
}
