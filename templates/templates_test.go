package templates_test

import (
	"io/fs"
	"path"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/templates"
)

func TestEveryDocParses(t *testing.T) {
	t.Parallel()
	names, err := fs.Glob(templates.FS, "docs/*.tmpl")
	require.NoError(t, err)
	require.NotEmpty(t, names)
	for _, name := range names {
		_, err := templates.Doc(strings.TrimSuffix(path.Base(name), ".tmpl"))
		assert.NoError(t, err)
	}
}

func TestDocThatDoesNotExistIsNamed(t *testing.T) {
	t.Parallel()
	_, err := templates.Doc("NOTHING.md")
	assert.ErrorContains(t, err, "NOTHING.md")
}

func TestPromptsAreShippedUnlessAProgramHasItsOwn(t *testing.T) {
	t.Parallel()
	own := fstest.MapFS{
		"workflow/review.tmpl": {Data: []byte("mine")},
		"workflow/extra.tmpl":  {Data: []byte("more")},
		"section":              {Data: []byte("a file where the shipped folder is")},
	}
	for name, want := range map[string]string{"workflow/review.tmpl": "mine",
		"workflow/extra.tmpl": "more"} {
		text, err := fs.ReadFile(templates.Prompts(own), name)
		require.NoError(t, err)
		assert.Equal(t, want, string(text))
	}
	shipped, err := fs.Glob(templates.FS, "prompts/*/*.tmpl")
	require.NoError(t, err)
	require.NotEmpty(t, shipped)
	for _, layers := range []fs.FS{templates.Prompts(nil), templates.Prompts(fstest.MapFS{})} {
		for _, name := range shipped {
			text, err := fs.ReadFile(layers, strings.TrimPrefix(name, "prompts/"))
			require.NoError(t, err)
			assert.NotEmpty(t, text)
		}
	}
	for _, name := range []string{"workflow/nothing.tmpl", "../docs/ROUTES.md.tmpl"} {
		_, err = fs.ReadFile(templates.Prompts(own), name)
		assert.Error(t, err, name)
	}
}
