package main

import (
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestGeneratingTwiceChangesNothing generates the spec of this repository: what comes out is what
// is committed, and once is enough.
func TestGeneratingTwiceChangesNothing(t *testing.T) {
	t.Parallel()
	testscript.Run(t, scenario(t, "generate_twice"))
}

// TestAddedNodeAddsLines adds a node of six lines.
func TestAddedNodeAddsLines(t *testing.T) {
	t.Parallel()
	testscript.Run(t, scenario(t, "add_node"))
}

// TestRenameThenRemove renames a branch, then takes a route away.
func TestRenameThenRemove(t *testing.T) {
	t.Parallel()
	testscript.Run(t, scenario(t, "rename_and_remove"))
}

// TestDriftIsFoundAndRepaired meets a hand edit, a missing file, a left-over file and a foreign
// one.
func TestDriftIsFoundAndRepaired(t *testing.T) {
	t.Parallel()
	testscript.Run(t, scenario(t, "drift"))
}

// TestSevenMistakesAreReportedAtOnce makes seven mistakes at once.
func TestSevenMistakesAreReportedAtOnce(t *testing.T) {
	t.Parallel()
	testscript.Run(t, scenario(t, "seven_mistakes"))
}

// scenario is one script of testdata/scenario.
func scenario(t *testing.T, name string) testscript.Params {
	t.Helper()
	p := scripts(t, "")
	p.Files = []string{"testdata/scenario/" + name + ".txtar"}
	return p
}
