package main

import (
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestG1_GenerateTwice generates the spec of this repository: what comes out is what is committed,
// and once is enough.
func TestG1_GenerateTwice(t *testing.T) {
	t.Parallel()
	testscript.Run(t, scenario(t, "g1_generate_twice"))
}

// TestG2_AddNode adds a node of six lines.
func TestG2_AddNode(t *testing.T) {
	t.Parallel()
	testscript.Run(t, scenario(t, "g2_add_node"))
}

// TestG3_RenameAndRemove renames a branch, then takes a route away.
func TestG3_RenameAndRemove(t *testing.T) {
	t.Parallel()
	testscript.Run(t, scenario(t, "g3_rename_and_remove"))
}

// TestG4_Drift meets a hand edit, a missing file, a left-over file and a foreign one.
func TestG4_Drift(t *testing.T) {
	t.Parallel()
	testscript.Run(t, scenario(t, "g4_drift"))
}

// TestG5_SevenMistakes makes seven mistakes at once.
func TestG5_SevenMistakes(t *testing.T) {
	t.Parallel()
	testscript.Run(t, scenario(t, "g5_seven_mistakes"))
}

// scenario is one script of testdata/scenario.
func scenario(t *testing.T, name string) testscript.Params {
	t.Helper()
	p := scripts(t, "")
	p.Files = []string{"testdata/scenario/" + name + ".txtar"}
	return p
}
