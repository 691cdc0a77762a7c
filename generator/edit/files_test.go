package edit_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/generator/edit"
)

// mainFile is a spec that includes one.yaml and two.yaml, without an end of its last line.
const mainFile = `version: 1
go: {package: routes, out: generated/routes}
include: [one.yaml, two.yaml]
results:
  Plan: {doc: The plan., fields: {text: {type: string, doc: In words.}}}
nodes:
  lead:
    doc: Leads the work.
    entry: true
    request: {doc: Starts., fields: {goal: {type: Mode, doc: The aim.}}}
    branches: {plan: Plan}`

// values is a file that declares an enum, without an end of its last line.
const values = `enums:
  Mode:
    doc: How to work.
    values:
      FAST: Quick.
      DEEP: Thorough.`

// other is a file that declares another enum, up to its doc.
const other = "enums:\n  Other:\n    values: {A: One.}\n    doc: "

// TestEditLeavesOtherFilesAsTheyAre: however a file ends, an edit of another one returns it byte
// for byte, and is not refused for it.
func TestEditLeavesOtherFilesAsTheyAre(t *testing.T) {
	t.Parallel()
	for name, one := range map[string]string{
		"no line end":             "reserved: [Old]",
		"no line end, CRLF":       "# old\r\nreserved: [Old]",
		"block text":              other + "|\n      Text.",
		"block text, all lines":   other + "|+\n      Text.",
		"block text, blank lines": other + "|+\n      Text.\n\n",
	} {
		files := edit.Files{{Name: "routes.yaml", Text: []byte(mainFile)},
			{Name: "one.yaml", Text: []byte(one)}, {Name: "two.yaml", Text: []byte(values)}}
		after, refused := files.Remove(edit.KindValue, "Mode.DEEP")
		require.Empty(t, list(refused), name)
		assert.Equal(t, mainFile, string(after[0].Text), name)
		assert.Equal(t, one, string(after[1].Text), name)
		assert.Equal(t, strings.Replace(strings.TrimSuffix(values, "\n      DEEP: Thorough."),
			"    values", "    reserved: [DEEP]\n    values", 1), string(after[2].Text), name)

		after, refused = files.Rename(edit.KindValue, "Mode.FAST", "SOON")
		require.Empty(t, list(refused), name)
		assert.Equal(t, one, string(after[1].Text), name)
		assert.Equal(t, strings.Replace(values, "FAST: Quick.",
			"SOON: {doc: Quick., was: [FAST]}", 1), string(after[2].Text), name)

		after, refused = files.Add(edit.Addition{Kind: edit.KindValue, Name: "Mode.IDLE",
			Set: []edit.KeyValue{{Key: "doc", Value: "Waits."}}})
		require.Empty(t, list(refused), name)
		assert.Equal(t, one, string(after[1].Text), name)
		assert.Equal(t, values+"\n      IDLE: Waits.", string(after[2].Text), name)
	}
}

// TestEditAtTheEndOfAFileStaysInIt: what is added behind block text that keeps its blank lines, or
// in front of a file that begins with an indented comment, comes into the file of its neighbour.
func TestEditAtTheEndOfAFileStaysInIt(t *testing.T) {
	t.Parallel()
	one := other + "|+\n      Text.\n\n"
	files := edit.Files{{Name: "routes.yaml", Text: []byte(mainFile)},
		{Name: "two.yaml", Text: []byte(values)}, {Name: "one.yaml", Text: []byte(one)},
		{Name: "three.yaml", Text: []byte("    # of this file\nreserved: [Old]\n")}}
	after, refused := files.Add(edit.Addition{Kind: edit.KindEnum, Name: "Third",
		Set: []edit.KeyValue{{Key: "doc", Value: "T."}, {Key: "values.A", Value: "One."}}})
	require.Empty(t, list(refused))
	text, ok := strings.CutPrefix(string(after[2].Text), one)
	assert.True(t, ok, string(after[2].Text))
	assert.Contains(t, text, "  Third:\n")
	assert.Equal(t, string(files[3].Text), string(after[3].Text))
}
