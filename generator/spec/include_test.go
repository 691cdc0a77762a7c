package spec_test

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/generator/report"
	"github.com/routegen/routegen/generator/spec"
)

// section finds the first line of a section, with the comments above.
var section = regexp.MustCompile(`(?m)^(?:#[^\n]*\n)*[a-z_]+:`)

// split puts each section of a spec into a file of its own. It returns false if there are none.
func split(text string) (main string, files fstest.MapFS, ok bool) {
	files = fstest.MapFS{}
	from := section.FindAllStringIndex(text, -1)
	var include strings.Builder
	for i, at := range from {
		end := len(text)
		if i+1 < len(from) {
			end = from[i+1][0]
		}
		part := text[at[0]:end]
		key := part[strings.LastIndexByte(text[at[0]:at[1]], '\n')+1 : at[1]-at[0]]
		if i == 0 {
			main = text[:at[0]]
		}
		if key == "version:" || key == "go:" || i == 0 {
			main += part
			continue
		}
		name := fmt.Sprintf("f%d.yaml", i)
		files[name] = &fstest.MapFile{Data: []byte(part)}
		include.WriteString("  - " + name + "\n")
	}
	return main + "include:\n" + include.String(), files, include.Len() > 0
}

// withoutLines says what findings say, and the text of the lines that they are about.
func withoutLines(findings []report.Finding, text func(file string) []byte) []string {
	var out []string
	line := func(file string, at report.Pos) string {
		return string(report.NewSource("", text(file)).Line(at.Line))
	}
	for _, f := range findings {
		var said strings.Builder
		fmt.Fprintf(&said, "%s %s %d %q | %s | %s | %v", f.Severity, f.Rule, f.At.Start.Column,
			line(f.File, f.At.Start), f.Message, f.Hint, len(f.Fixes))
		for _, r := range f.Related {
			file := f.File
			if r.File != "" {
				file = r.File
			}
			fmt.Fprintf(&said, " | %d %q %s", r.At.Start.Column, line(file, r.At.Start), r.Message)
		}
		out = append(out, said.String())
	}
	slices.Sort(out)
	return out
}

// TestSpecInFilesHasTheSameFindings: every rule is found in a spec of one file and in the same spec
// with each section in a file of its own, with the same words, at the same text.
func TestSpecInFilesHasTheSameFindings(t *testing.T) {
	t.Parallel()
	rules := map[string]bool{}
	for id, c := range writtenCases(t) {
		for _, whole := range []string{c.bad.text, c.good.text} {
			parsed, want := spec.Parse("routes.yaml", []byte(whole))
			main, files, ok := split(whole)
			if parsed == nil || !ok || c.bad.edit != "" || len(c.bad.beside) > 0 {
				continue
			}
			included, refused := spec.ReadIncluded("routes.yaml", []byte(main), files.ReadFile)
			require.Empty(t, refused, id)
			got, findings := spec.Parse("routes.yaml", []byte(main), included...)
			require.NotNil(t, got, "%s:\n%s", id, main)
			want = spec.Suppress(want, parsed.Allows)
			findings = spec.Suppress(findings, got.Allows)
			got.Places.Resolve("routes.yaml", findings)
			for _, f := range findings {
				rules[f.Rule] = true
			}
			assert.Equal(t, withoutLines(want, func(string) []byte { return []byte(whole) }),
				withoutLines(findings, func(file string) []byte {
					if file == "routes.yaml" {
						return []byte(main)
					}
					return files[file].Data
				}), id)
		}
	}
	assert.Greater(t, len(rules), 80)
}

// TestIncludedFilesAreReadInOrder: a file stands before those that it includes, and these before
// its siblings. Paths count from the folder of the file that has them.
func TestIncludedFilesAreReadInOrder(t *testing.T) {
	t.Parallel()
	files := fstest.MapFS{
		"a/one.yaml":   {Data: []byte("include: [two.yaml, ../b.yaml]\nreserved: [One]\n")},
		"a/two.yaml":   {Data: []byte("reserved: [Two]")},
		"b.yaml":       {Data: []byte("{reserved: [Three]}\n")},
		"c/three.yaml": {Data: []byte("reserved: [Four]\n")},
	}
	main := []byte(base + "\ninclude: [a/one.yaml, ./c/three.yaml]\nreserved: [Zero]\n")
	included, refused := spec.ReadIncluded("svc/routes.yaml", main, files.ReadFile)
	require.Empty(t, refused)
	var names, reserved []string
	for _, f := range included {
		names = append(names, f.Name)
	}
	assert.Equal(t, []string{"svc/a/one.yaml", "svc/a/two.yaml", "svc/b.yaml", "svc/c/three.yaml"},
		names)
	parsed, findings := spec.Parse("svc/routes.yaml", main, included...)
	require.Empty(t, findings)
	for _, r := range parsed.Reserved {
		reserved = append(reserved, r.Value)
	}
	assert.Equal(t, []string{"Zero", "One", "Two", "Three", "Four"}, reserved)
}

// TestMergeKeepsOneFindingForOneMistake: what is wrong where two files meet.
func TestMergeKeepsOneFindingForOneMistake(t *testing.T) {
	t.Parallel()
	for included, want := range map[string]string{
		// a name of another file
		"enums: {Decision: {doc: D., values: {A: One.}}}\n": `f.yaml:1:9 SPEC_DUPLICATE_KEY ` +
			`key "Decision" is written twice; routes.yaml:4:3 "Decision" is first written here`,
		// what only one file can have
		"interrupts: {answer: Answer}\n": `f.yaml:1:1 SPEC_DUPLICATE_KEY key "interrupts" is ` +
			`written twice; routes.yaml:%d:1 "interrupts" is first written here`,
		"nodes:\n": `f.yaml:1:7 SPEC_WRONG_KIND "nodes" is nothing, not a mapping of names`,
		"typse: {Spare: {doc: E., type: string}}\n": `f.yaml:1:1 SPEC_UNKNOWN_KEY unknown key ` +
			`"typse" in the document`,
		"- a\n":                 `f.yaml:1:1 SPEC_ROOT the document is a list, not a mapping`,
		"":                      `f.yaml:1:1 SPEC_EMPTY the file is empty`,
		"a: [":                  `f.yaml:1:4 SPEC_SYNTAX this is not YAML: this [ is never closed`,
		"version: 1\n":          `f.yaml:1:1 INCLUDE_KEY "version" stands in the main file only`,
		"reserved: [\u200bx]\n": `f.yaml:1:12 SPEC_CONTROL_CHAR invisible character U+200B`,
	} {
		main := []byte(base + "include: [f.yaml]\n")
		parsed, findings := spec.Parse("routes.yaml", main,
			report.File{Name: "f.yaml", Text: []byte(included)})
		files := []report.File{{Name: "routes.yaml", Text: main}, {Name: "f.yaml",
			Text: []byte(included)}}
		report.JoinFiles(files...).Places.Resolve("routes.yaml", findings)
		var got []string
		for _, f := range findings {
			if f.Severity != report.Error {
				continue
			}
			var line strings.Builder
			line.WriteString(place(f) + " " + f.Rule + " " + f.Message)
			for _, r := range f.Related {
				fmt.Fprintf(&line, "; %s:%d:%d %s", r.File, r.At.Start.Line, r.At.Start.Column,
					r.Message)
			}
			got = append(got, line.String())
		}
		if strings.Contains(want, "%d") {
			at := strings.Index(base, "\ninterrupts:") + 1
			want = fmt.Sprintf(want, 1+strings.Count(base[:at], "\n"))
		}
		assert.Equal(t, []string{want}, got, included)
		_ = parsed
	}
}

// TestTextAloneDoesNotPassForTheWhole: without the files that it includes, a spec is refused.
func TestTextAloneDoesNotPassForTheWhole(t *testing.T) {
	t.Parallel()
	_, findings := spec.Parse("routes.yaml", []byte(base+"include: [f.yaml]\n"))
	require.Len(t, findings, 1)
	assert.Equal(t, spec.RuleIncludeRead, findings[0].Rule)
}

// TestMisspeltIncludeIsOneMistake: nothing else is said of the files that it names.
func TestMisspeltIncludeIsOneMistake(t *testing.T) {
	t.Parallel()
	for _, key := range []string{"includes", "Include", "inlcude"} {
		_, findings := spec.Parse("routes.yaml", []byte(base+key+": [f.yaml]\n"))
		require.Len(t, findings, 1, key)
		assert.Equal(t, spec.RuleUnknownKey, findings[0].Rule)
	}
}

// TestIncludedFilesAreBounded: a spec in many files is no larger than one in one file.
func TestIncludedFilesAreBounded(t *testing.T) {
	t.Parallel()
	half := make([]byte, 17<<20)
	for i := range half {
		half[i] = '#'
	}
	_, refused := spec.ReadIncluded("routes.yaml", []byte("include: [a.yaml, b.yaml]\n"),
		func(string) ([]byte, error) { return half, nil })
	require.Len(t, refused, 1)
	assert.Equal(t, spec.RuleTooLarge, refused[0].Rule)
	assert.Equal(t, 19, refused[0].At.Start.Column)
	_, refused = spec.ReadIncluded("routes.yaml", []byte("include: [a.yaml]\n"),
		func(string) ([]byte, error) { return nil, errors.New("the disk is gone") })
	require.Len(t, refused, 1)
	assert.Equal(t, "a.yaml cannot be read: the disk is gone", refused[0].Message)
	_, findings := spec.Parse("routes.yaml", half, report.File{Name: "a.yaml", Text: half})
	require.Len(t, findings, 1)
	assert.Equal(t, spec.RuleTooLarge, findings[0].Rule)
}

// TestEditorsTellIncludedFilesByTheirVersion: one schema serves both kinds of files.
func TestEditorsTellIncludedFilesByTheirVersion(t *testing.T) {
	t.Parallel()
	schema := editorSchema(t)
	for text, want := range map[string]bool{
		"nodes: {a: {doc: A.}}": true,
		"include: [a.yaml]":     true,
		"version: 1\ngo: {package: a, out: a}\ninclude: [a.yaml]": true,
		"version: 1\ngo: {package: a, out: a}\nnodes: {}":         true,
		"version: 1\ngo: {package: a, out: a}":                    false,
		"version: 1\nnodes: {}":                                   false,
		"go: {package: a, out: a}\nnodes: {}":                     false,
		"include: a.yaml":                                         false,
		"noeds: {a: {doc: A.}}":                                   false,
	} {
		assert.Equal(t, want, accepts(schema, []byte(text)), text)
	}
}

// TestAPathWithADriveLetterIsCalledThat: as go.out calls it; one with a leading slash is absolute.
func TestAPathWithADriveLetterIsCalledThat(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"x:y.yaml": "begins with a drive letter",
		"/y.yaml": "is absolute"} {
		_, findings := spec.ReadIncluded("routes.yaml", []byte("include: [\""+name+"\"]\n"),
			func(string) ([]byte, error) { return nil, nil })
		require.Len(t, findings, 1)
		assert.Equal(t, `"`+name+`" `+want, findings[0].Message)
	}
}
