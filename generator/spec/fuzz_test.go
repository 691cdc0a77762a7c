package spec_test

import (
	"io"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/routegen/routegen/generator/report"
	"github.com/routegen/routegen/generator/spec"
)

// FuzzSpec: whatever the bytes, Parse ends soon, says why, and its report can be printed.
func FuzzSpec(f *testing.F) {
	for _, seed := range []string{base, twoMistakes, "", "a: [", "a: *b", "&a [*a]", "- - -",
		"? x\n: y\n", "a: |\n b\n", "%YAML 1.1\n---\na: 1\n...\n---\nb", "\"", "a: 'b\n\n  c'",
		"{a: {b: [c, \"d\"]}}", "<<: {}\n", "# routegen:allow X\n", "\xff", "a:\tb",
		"a:\u00a0{b:\u00a0[c,\u2003{d:\u3000e}]}\n\u3000-\u00a0f",
		"version: 1\nnodes: {a: {branches: {b: }}}",
		"version: 1\ninclude: [a.yaml, ../b, \"\"]\nnodes: {a: {doc: \"A\"}}",
		"include: {a: b}\nnodes:\ntypes: []\nnoeds: {b: {}}\nreserved: a\nreserved: [b]"} {
		f.Add([]byte(seed))
	}
	for _, archive := range flowCorpus(f) {
		f.Add(archive.Files[0].Data)
	}
	f.Add([]byte(flowsSpec(f)))
	for _, text := range longNames(12_000) {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		if len(src) > 1<<20 {
			return
		}
		parseTwice(t, src)
		var s *spec.Spec
		var findings []report.Finding
		took := worked(func() { s, findings = spec.Parse("routes.yaml", src) })
		if took > 2*time.Second {
			t.Fatalf("%d bytes took %s", len(src), took)
		}
		if s == nil && len(findings) == 0 {
			t.Fatal("nothing read and nothing said")
		}
		lines := strings.Count(string(src), "\n") + 1
		for i := range findings {
			rule, known := spec.FindRule(findings[i].Rule)
			if !known || rule.Severity != findings[i].Severity {
				t.Fatalf("rule %q", findings[i].Rule)
			}
			if at := findings[i].At; at.Start.Line < 1 || at.Start.Line > lines+1 ||
				at.Start.Column < 1 || at.End.Column <= at.Start.Column &&
				at.End.Line == at.Start.Line {
				t.Fatalf("%s at %v", findings[i].Rule, at)
			}
			if i > 20 {
				break
			}
		}
		if err := report.WriteText(io.Discard, src, findings[:min(len(findings), 50)]); err != nil {
			t.Fatal(err)
		}
	})
}

// parseTwice reads a text as a main file and as one that it includes.
func parseTwice(t *testing.T, src []byte) {
	t.Helper()
	included, _ := spec.ReadIncluded("routes.yaml", src, func(string) ([]byte, error) {
		return src, nil
	})
	if len(included) == 0 {
		included = []report.File{{Name: "other.yaml", Text: src}}
	}
	all := append([]report.File{{Name: "routes.yaml", Text: src}}, included[0])
	_, findings := spec.Parse("routes.yaml", src, all[1:]...)
	report.JoinFiles(all...).Places.Resolve("routes.yaml", findings)
	lines := strings.Count(string(src), "\n") + 1
	for _, f := range findings {
		if at := f.At.Start; at.Line < 1 || at.Line > lines+1 || at.Column < 1 ||
			f.File != all[0].Name && f.File != all[1].Name {
			t.Fatalf("%s at %s:%v", f.Rule, f.File, f.At)
		}
	}
}

// TestRepeatedShapesStayLinear takes texts that invite quadratic work: they may not cost much more
// than others of their length.
func TestRepeatedShapesStayLinear(t *testing.T) {
	const size = 300_000
	texts := longNames(size)
	for _, unit := range []string{
		"#\n", "# a\n\n", "- #\n", "-\n", "\"", "? ", "a:\n  # c\n  b: c\n\n", "x: y\n", "\x01",
		"a: [b, # c\n", "- a\n  # c\n", "[]", "&a ", "---\n", ": ",
		"# routegen:allow SELF_ROUTE x\n", "# routegen:allow SELF_ROUTES_OF_ALL\n", "\u00a0",
		"a:\u00a0", "{a:\u00a0", "{a: b:\u00a0", "-\u00a0", "a:\u00a0b\n", "[\u3000",
	} {
		texts[unit] = strings.Repeat(unit, size/len(unit))
	}
	for name, text := range texts {
		var findings []report.Finding
		took := worked(func() { _, findings = spec.Parse("x", []byte(text)) })
		assert.NotEmpty(t, findings, "%q", name)
		// quadratic ones take minutes, the race detector tenfold
		assert.Less(t, took, 8*time.Second, "%q", name)
	}
}

// longNames are specs of about so many bytes in which every name is long, and wrong: each is
// compared with many others for a suggestion.
func longNames(size int) map[string]string {
	long := strings.Repeat("a", 43)
	lines := func(line string, size int) string {
		var b strings.Builder
		for i := 0; b.Len() < size; i++ {
			n := strconv.Itoa(i)
			b.WriteString(strings.NewReplacer("NAME", "A"+long+"aaa"+n, "OTHER", "B"+long+n+"bb",
				"name", "a"+long+"aaa"+n, "other", "b"+long+n+"bb").Replace(line))
		}
		return b.String()
	}
	const head = "version: 1\n"
	return map[string]string{
		"types": head + "types:\n" + lines("  NAME: {fields: {f: {type: OTHER}}}\n", size),
		"values": head + "enums:\n  E: {values: {" + lines("NAME: x, ", size/2) + "}}\ntypes:\n" +
			lines("  NAME: {fields: {f: {type: E, default: OTHER}}}\n", size/2),
		"slots": head + "flows:\n  f:\n    slots: {" + lines("name: {type: int}, ", size/2) +
			"}\n    steps:\n" + lines("      - {step: name, type: say, message: \"{other}\"}\n",
			size/2),
	}
}
