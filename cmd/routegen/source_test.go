package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestOpenSource(t *testing.T) {
	t.Parallel()
	top, err := filepath.EvalSymlinks(lay(t, map[string]string{
		"routes.yaml":            "outside of the module",
		"mod/go.mod":             "module m\n",
		"mod/routes.yaml":        "top",
		"mod/a/b/keep":           "",
		"mod/config/other.yaml":  "other",
		"mod/inner/go.mod":       "module inner\n",
		"mod/inner/deep/keep":    "",
		"mod/nested/routes.yaml": "nested",
	}))
	require.NoError(t, err)
	for name, c := range map[string]struct {
		dir, file                   string
		shown, text, folder, module string
		fails                       string
	}{
		"here": {dir: "mod", shown: "routes.yaml", text: "top", folder: ".",
			module: "mod"},
		"above": {dir: "mod/a/b", shown: "../../routes.yaml", text: "top",
			folder: ".", module: "mod"},
		"the nearest": {dir: "mod/nested", shown: "routes.yaml", text: "nested",
			folder: "nested", module: "mod"},
		"named": {dir: "mod", file: "config/other.yaml",
			shown: "config/other.yaml", text: "other", folder: "config", module: "mod"},
		"not beyond the module": {dir: "mod/inner/deep",
			fails: "no routes.yaml in " + filepath.Join(top, "mod/inner/deep") + " nor above it"},
		"no module": {dir: ".", shown: "routes.yaml", text: "outside of the module",
			folder: "."},
		"named, and not there": {dir: "mod", file: "x.yaml",
			fails: "x.yaml: no such file or directory"},
		"a folder that is missing": {dir: "nowhere", fails: "no routes.yaml in"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := openSource(filepath.Join(top, c.dir), c.file)
			if c.fails != "" {
				require.ErrorContains(t, err, c.fails)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, []string{c.shown, c.text, c.folder},
				[]string{s.shown, string(s.text), s.folder})
			assert.Equal(t, c.module != "", s.module)
			assert.Equal(t, filepath.Join(top, c.module), s.root)
		})
	}
}

func TestSourcePaths(t *testing.T) {
	t.Parallel()
	s := &source{shown: "../config/routes.yaml", folder: "config"}
	for _, c := range []struct{ name, at, display string }{
		{"generated/routes/a.go", "config/generated/routes/a.go",
			"../config/generated/routes/a.go"},
		{"../gen", "gen", "../gen"},
		{"../../gen", "../gen", "../../gen"},
		{"/gen", "/gen", "/gen"},
	} {
		assert.Equal(t, c.at, s.at(c.name))
		assert.Equal(t, c.display, s.display(c.at))
	}
}

// A spec is read only so far: a file without an end must not fill the memory.
func TestReadSpecIsBounded(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/dev/zero"); err != nil {
		t.Skip("no endless file on this system")
	}
	text, err := readSpec("/dev/zero")
	require.NoError(t, err)
	assert.Len(t, text, maxRead)
}
