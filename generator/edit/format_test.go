package edit_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/generator/edit"
	"github.com/routegen/routegen/generator/report"
	"github.com/routegen/routegen/generator/spec"
)

func TestFormat(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"in order": {"version: 1\nnodes:\n  a: {doc: A., entry: true}\n",
			"version: 1\nnodes:\n  a: {doc: A., entry: true}\n"},
		"brackets": {"version: 1\nnodes:\n  a: { entry: true, doc: 'A.' } # x\n",
			"version: 1\nnodes:\n  a: { doc: 'A.', entry: true } # x\n"},
		"lines": {"version: 1\nnodes:\n  a:\n    entry: true # begins\n    # says\n    " +
			"# what\n    doc: A.\n\n    group: g",
			"version: 1\nnodes:\n  a:\n    # says\n    # what\n    doc: A.\n    group: g\n\n    " +
				"entry: true # begins"},
		"sections": {"# modeline\nnodes:\n  b: {}\n  a: {}\n\n# the package\ngo:\n  out: " +
			"b\n  package: a\n\nversion: 1\n",
			"# modeline\nversion: 1\n\n# the package\ngo:\n  package: a\n  out: b\n\nnodes:\n  " +
				"b: {}\n  a: {}\n"},
		"entries stay": {
			"version: 1\nenums: {B: {values: {Z: z, A: a}, doc: B.}, A: {values: {}}}\n",
			"version: 1\nenums: {B: {doc: B., values: {Z: z, A: a}}, A: {values: {}}}\n"},
		"fields stay": {"version: 1\ntypes:\n  A:\n    fields:\n      z: {doc: Z., type: " +
			"int}\n      a: {type: int}\n",
			"version: 1\ntypes:\n  A:\n    fields:\n      z: {type: int, doc: Z.}\n      a: " +
				"{type: int}\n"},
		"unknown last": {"version: 1\nnodes: {a: {zz: 1, doc: A., yy: 2}}\n",
			"version: 1\nnodes: {a: {doc: A., zz: 1, yy: 2}}\n"},
		"json stays": {"version: 1\ninterrupts: {kinds: {k: {auto: {answer: {then: 1, after: " +
			"2}}, doc: K.}}}\n", "version: 1\ninterrupts: {kinds: {k: {doc: K., auto: {answer: " +
			"{then: 1, after: 2}}}}}\n"},
		"comment inside": {"version: 1\nnodes:\n  a: {entry: true, # x\n    doc: A.}\n",
			"version: 1\nnodes:\n  a: {entry: true, # x\n    doc: A.}\n"},
		"deeper comment": {"version: 1\nnodes:\n  a:\n    request:\n      fields: {}\n      # of " +
			"the request\n    doc: A.\n    # of the node\n",
			"version: 1\nnodes:\n  a:\n    doc: A.\n    request:\n      fields: {}\n      # of " +
				"the request\n    # of the node\n"},
		"many lines": {"version: 1\nnodes:\n  a:\n    prompt:\n      guidance: |\n        " +
			"one\n\n        two\n      template: t\n    doc: >-\n      long\n      text\n    " +
			"group: g\n", "version: 1\nnodes:\n  a:\n    doc: >-\n      long\n      text\n    " +
			"group: g\n    prompt:\n      template: t\n      guidance: |\n        one\n\n" +
			"        two\n"},
	} {
		for _, eol := range []string{"\n", "\r\n"} {
			t.Run(name, func(t *testing.T) {
				text := strings.ReplaceAll(c.text, "\n", eol)
				r, findings := edit.Format("routes.yaml", []byte(text))
				require.NotNil(t, r, list(findings))
				assert.Equal(t, strings.ReplaceAll(c.want, "\n", eol), string(r))
			})
		}
	}
}

// TestFormatRefusesToChangeTheMeaning: block text in front of the last line without an end would
// gain or lose a line feed.
func TestFormatRefusesToChangeTheMeaning(t *testing.T) {
	r, findings := edit.Format("x",
		[]byte("version: 1\nnodes:\n  a:\n    prompt:\n      guidance: |\n        one\n      "+
			"template: t"))
	assert.Nil(t, r)
	require.Len(t, findings, 1)
	assert.Equal(t, spec.RuleEditLayout, findings[0].Rule)
}

func TestFix(t *testing.T) {
	text := strings.Replace(base, "doc: Asks a person.",
		"doc: 2001-01-01 # routegen:allow SELF_ROUTE none here", 1)
	text = strings.Replace(text, "    timeout: 15m\n",
		"    # routegen:allow SELF_ROUTE nor here\n    timeout: 15m\n    group: on\n", 1)
	text = strings.Replace(text, "vars: [goal]", "vars: [gaol]", 1)
	s, findings := spec.Parse("routes.yaml", []byte(text))
	r, fixed := edit.Fix("routes.yaml", []byte(text), spec.Suppress(findings, s.Allows))
	want := strings.Replace(base, "doc: Asks a person.", `doc: "2001-01-01"`, 1)
	want = strings.Replace(want, "    timeout: 15m\n", "    timeout: 15m\n    group: \"on\"\n", 1)
	want = strings.Replace(want, "vars: [goal]", "vars: [gaol]", 1) // a guess is not a repair
	assert.Equal(t, want, string(r))

	assert.Equal(t, 4, fixed)

	none, fixed := edit.Fix("other.yaml", []byte(text), findings)
	assert.Zero(t, fixed)
	assert.Equal(t, text, string(none))
}

// TestFixLeavesOutWhatDoesHarm: two repairs of one place cannot both be made.
func TestFixLeavesOutWhatDoesHarm(t *testing.T) {
	text := strings.Replace(base, "doc: Asks a person.", "doc: 3", 1)
	_, findings := spec.Parse("routes.yaml", []byte(text))
	require.Len(t, findings, 1, list(findings))
	at := findings[0].At
	bad := findings[0]
	bad.Fixes = []report.Fix{{Edits: []report.Edit{{At: at, Text: "{"}}}}
	r, _ := edit.Fix("routes.yaml", []byte(text), []report.Finding{bad, findings[0]})
	assert.Contains(t, string(r), `doc: "3"`)
}
