//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package sqlite

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime/thread"
)

// Only the owner may read what a store makes, under any umask, from the first byte on: a process of
// its own makes the files, since a umask is the process's.
func TestOnlyTheOwnerReadsTheFiles(t *testing.T) {
	t.Parallel()
	if folder := os.Getenv("ROUTEGEN_MODES"); folder != "" {
		makeFiles(t, folder)
		return
	}
	for _, umask := range []string{"022", "000"} {
		folder := t.TempDir()
		cmd := exec.CommandContext(t.Context(), "sh", "-c", `umask "$1"; exec "$2" `+
			`-test.run '^TestOnlyTheOwnerReadsTheFiles$' -test.v`, "sh", umask, os.Args[0])
		cmd.Env = append(os.Environ(), "ROUTEGEN_MODES="+folder)
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, string(out))
		assert.Contains(t, string(out), "looked at 5 files", "umask %s", umask)
	}
}

// makeFiles makes a store with all its files, and looks at their modes.
func makeFiles(t *testing.T, folder string) {
	t.Helper()
	control := filepath.Join(folder, "control")
	require.NoError(t, os.WriteFile(control, nil, 0o666))
	info, err := os.Stat(control)
	require.NoError(t, err)
	require.NotZero(t, info.Mode().Perm()&0o044, "the control: the umask lets others read")
	require.NoError(t, os.Remove(control))
	s, err := Open(t.Context(), filepath.Join(folder, "threads.db"), Config{})
	require.NoError(t, err)
	defer func() { require.NoError(t, s.Close()) }()
	_, leave, err := s.Announce(t.Context())
	require.NoError(t, err)
	defer leave()
	rules := &thread.Rules{Kinds: thread.DefaultKinds()}
	require.NoError(t, s.Commit(t.Context(), thread.Start("t", "ann", "x", rules, time.Now())))
	require.NoError(t, s.Backup(t.Context(), filepath.Join(folder, "copy.db")))
	files, err := os.ReadDir(folder)
	require.NoError(t, err)
	var names []string
	for _, f := range files {
		info, err := f.Info()
		require.NoError(t, err)
		names = append(names, f.Name())
		assert.Equal(t, os.FileMode(0o600), info.Mode().Perm(), f.Name())
	}
	t.Logf("looked at %d files: %s", len(names), strings.Join(names, " "))
}
