package spec_test

import (
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/routegen/routegen/generator/spec"
)

// FuzzSpec: whatever the bytes, Parse ends soon, says why, and its report can be printed.
func FuzzSpec(f *testing.F) {
	for _, seed := range []string{base, twoMistakes, "", "a: [", "a: *b", "&a [*a]", "- - -", "? x\n: y\n", "a: |\n b\n", "%YAML 1.1\n---\na: 1\n...\n---\nb", "\"", "a: 'b\n\n  c'", "{a: {b: [c, \"d\"]}}", "<<: {}\n", "# routegen:allow X\n", "\xff", "a:\tb", "version: 1\nnodes: {a: {branches: {b: }}}"} {
		f.Add([]byte(seed))
	}
	for _, archive := range flowCorpus(f) {
		f.Add(archive.Files[0].Data)
	}
	f.Add([]byte(flowsSpec(f)))
	f.Fuzz(func(t *testing.T, src []byte) {
		if len(src) > 1<<20 {
			return
		}
		start := time.Now()
		s, findings := spec.Parse("routes.yaml", src)
		if took := time.Since(start); took > time.Second {
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
			if at := findings[i].At; at.Start.Line < 1 || at.Start.Line > lines+1 || at.Start.Column < 1 || at.End.Column <= at.Start.Column && at.End.Line == at.Start.Line {
				t.Fatalf("%s at %v", findings[i].Rule, at)
			}
			if i > 20 {
				break
			}
		}
		if err := spec.WriteText(io.Discard, src, findings[:min(len(findings), 50)]); err != nil {
			t.Fatal(err)
		}
	})
}

// TestRepeatedShapesStayLinear doubles texts that invite quadratic work: twice the text may not cost much more than twice.
func TestRepeatedShapesStayLinear(t *testing.T) {
	for _, unit := range []string{"#\n", "# a\n\n", "- #\n", "-\n", "\"", "? ", "a:\n  # c\n  b: c\n\n", "x: y\n", "\x01", "a: [b, # c\n", "- a\n  # c\n", "[]", "&a ", "---\n", ": "} {
		const size = 300_000
		start := time.Now()
		_, findings := spec.Parse("x", []byte(strings.Repeat(unit, size/len(unit))))
		assert.NotEmpty(t, findings, "%q", unit)
		assert.Less(t, time.Since(start), 2*time.Second, "%q", unit) // quadratic ones take minutes
	}
}
