package main

import (
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestBrowserIsThere(t *testing.T) {
	t.Parallel()
	assert.FileExists(t, chromium(t))
}

// Where there is no browser a test says that it was skipped, and fails where one has to be.
func TestWithoutABrowser(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	require.NoError(t, err)
	nowhere := "PATH=" + t.TempDir()
	try := func(env ...string) (string, error) {
		again := exec.CommandContext(t.Context(), self, "-test.run=^TestBrowserIsThere$", "-test.v")
		again.Env = env
		out, err := again.CombinedOutput()
		return string(out), err
	}
	out, err := try(nowhere)
	require.NoError(t, err, out)
	assert.Contains(t, out, "--- SKIP: TestBrowserIsThere")
	assert.Contains(t, out, "SKIPPED: there is no Chromium here")
	out, err = try(nowhere, "ROUTEGEN_BROWSER=required")
	require.Error(t, err, out)
	assert.Contains(t, out, "--- FAIL: TestBrowserIsThere")
	assert.Contains(t, out, "ROUTEGEN_BROWSER=required, but there is no Chromium here")
}
