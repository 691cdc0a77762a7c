package main

import (
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestG1_GenerateTwice generates the spec of this repository: what comes out is what is committed, and once is enough.
func TestG1_GenerateTwice(t *testing.T) {
	t.Parallel()
	testscript.Run(t, scenario(t, "g1_generate_twice"))
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
