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
	browse(t.Context(), "http://127.0.0.1:1/#token=x")
	opened, err := os.ReadFile(pipe) // waits for the program
	require.NoError(t, err)
	assert.Equal(t, "http://127.0.0.1:1/#token=x", string(opened))
	t.Setenv("PATH", "")
	browse(t.Context(), "nobody") // and does without
}
