package main

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The page is opened by the program that this system has for it.
func TestBrowse(t *testing.T) { // alone: it changes where programs are looked for
	folder := t.TempDir()
	pipe := filepath.Join(folder, "opened")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	opener := "#!/bin/sh\nprintf %s \"$1\" > " + pipe + "\n"
	require.NoError(t, os.WriteFile(filepath.Join(folder, "xdg-open"), []byte(opener), 0o700))
	t.Setenv("PATH", folder)
	require.NoError(t, browse(t.Context(), folder, "http://127.0.0.1:1/#token=x&by=you"))
	opened, err := os.ReadFile(pipe) // waits for the program
	require.NoError(t, err)
	assert.NotContains(t, string(opened), "token=", "everybody can see it")
	page, err := os.ReadFile(string(opened))
	require.NoError(t, err)
	assert.Contains(t, string(page), `content="0;url=http://127.0.0.1:1/#token=x&amp;by=you"`)
	info, err := os.Stat(string(opened))
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	t.Setenv("PATH", "")
	require.NoError(t, browse(t.Context(), folder, "nobody"), "it does without")
}
