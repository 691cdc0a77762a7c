package sqlite

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/mod/modfile"
)

// The driver is C translated to Go against one version of modernc.org/libc, and breaks with
// another. A newer one that some other dependency brings in must not go unnoticed.
func TestLibcIsTheOneTheDriverWasBuiltWith(t *testing.T) {
	t.Parallel()
	ours, err := os.ReadFile("../../../go.mod")
	require.NoError(t, err)
	path, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.GoMod}}",
		"modernc.org/sqlite").Output()
	require.NoError(t, err)
	theirs, err := os.ReadFile(strings.TrimSpace(string(path)))
	require.NoError(t, err)
	const libc = "modernc.org/libc"
	assert.NotEmpty(t, required(t, ours, libc))
	assert.Equal(t, required(t, theirs, libc), required(t, ours, libc))
}

func required(t *testing.T, gomod []byte, module string) string {
	t.Helper()
	file, err := modfile.ParseLax("go.mod", gomod, nil)
	require.NoError(t, err)
	for _, r := range file.Require {
		if r.Mod.Path == module {
			return r.Mod.Version
		}
	}
	return ""
}
