package templates_test

import (
	"io/fs"
	"path"
	"strings"
	"testing"

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
