package generator_test

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"maps"
	"math/rand/v2"
	"path"
	"regexp"
	goruntime "runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"

	"github.com/routegen/routegen/generator"
	"github.com/routegen/routegen/generator/generatortest"
)

// ordered are the mappings in which the order of keys is part of the spec: it is the order of
// declarations, fields, branches and priorities. In every other mapping it means nothing.
var ordered = []string{
	"enums", "types", "results", "nodes", "fields", "values", "branches", "kinds", "carry",
	// the last two are languages
	"actions", "validators", "responses", "flows", "slots", "inputs", "outputs", "message",
	"cancelled",
}

// shuffled rewrites a spec with the keys of all mappings whose order means nothing in another
// order.
func shuffled(t *testing.T, src []byte, seed uint64) []byte {
	t.Helper()
	var doc yaml.Node
	require.NoError(t, yaml.Unmarshal(src, &doc))
	random := rand.New(rand.NewPCG(seed, 7))
	var walk func(n *yaml.Node, keep bool)
	walk = func(n *yaml.Node, keep bool) {
		if n.Kind != yaml.MappingNode {
			for _, c := range n.Content {
				walk(c, false)
			}
			return
		}
		for i := 0; i < len(n.Content); i += 2 {
			walk(n.Content[i+1], slices.Contains(ordered, n.Content[i].Value))
		}
		if keep {
			return
		}
		random.Shuffle(len(n.Content)/2, func(i, j int) {
			for k := range 2 {
				n.Content[2*i+k], n.Content[2*j+k] = n.Content[2*j+k], n.Content[2*i+k]
			}
		})
	}
	walk(&doc, false)
	out, err := yaml.Marshal(&doc)
	require.NoError(t, err)
	return out
}

// digest is one value for a whole output.
func digest(files map[string][]byte) string {
	h := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(h, "%s %d\n%s", name, len(files[name]), files[name])
	}
	return hex.EncodeToString(h.Sum(nil))
}

// TestDeterminism is scenario G9: 64 generations from specs with shuffled keys, on one processor
// and on several at once, give the same bytes. It is not parallel: it sets GOMAXPROCS.
func TestDeterminism(t *testing.T) {
	src := ownSpec(t)
	want := digest(ownResult(t).Files)
	assert.NotEqual(t, string(src), string(shuffled(t, src, 1)))
	run := func(seed uint64) string {
		r := generator.Generate("routes.yaml", shuffled(t, src, seed))
		if r.Files == nil {
			return fmt.Sprint(r.Findings)
		}
		return digest(r.Files)
	}
	before := goruntime.GOMAXPROCS(1)
	defer goruntime.GOMAXPROCS(before)
	for seed := range uint64(16) {
		require.Equal(t, want, run(seed), "seed %d, one processor", seed)
	}
	goruntime.GOMAXPROCS(max(4, goruntime.NumCPU()))
	var group sync.WaitGroup
	got := make([]string, 48)
	for i := range got {
		group.Go(func() { got[i] = run(uint64(16 + i)) })
	}
	group.Wait()
	for i := range got {
		assert.Equal(t, want, got[i], "seed %d, many processors", 16+i)
	}
}

// TestOrderThatMeansSomething is the control: where order is part of the spec, another order is
// another output.
func TestOrderThatMeansSomething(t *testing.T) {
	t.Parallel()
	src := generatortest.Synthetic(3)
	swapped := bytes.Replace(src,
		[]byte("      next: Worker1Request\n      skip: Worker2Request\n"),
		[]byte("      skip: Worker2Request\n      next: Worker1Request\n"), 1)
	require.NotEqual(t, string(src), string(swapped))
	assert.NotEqual(t, digest(generated(t, src)), digest(generated(t, swapped)))
}

// A number in a comment would move with the spec, and a version or a date with the tool and the
// day.
var (
	anyNumber = regexp.MustCompile(`[0-9]+`)
	dated     = regexp.MustCompile(
		`\b[0-9]{4}-[0-9]{2}|v?[0-9]+\.[0-9]+\.[0-9]+|\b(Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day\b`)
)

// TestGeneratedGoIsClean holds each Go file to gofmt and to the mark of generated code, and its
// comments to words.
func TestGeneratedGoIsClean(t *testing.T) {
	t.Parallel()
	src := string(ownSpec(t))
	seen := 0
	for name, text := range ownResult(t).Files {
		assert.NotContains(t, string(text), "\r", "%s", name)
		assert.True(t, bytes.HasSuffix(text, []byte("\n")) &&
			!bytes.HasSuffix(text, []byte("\n\n")), "%s ends with one newline", name)
		assert.NotRegexp(t, `[ \t]\n`, string(text), "%s: white space at the end of a line", name)
		if path.Ext(name) != ".go" {
			continue
		}
		seen++
		pretty, err := format.Source(text)
		require.NoError(t, err)
		assert.Equal(t, string(pretty), string(text), "%s", name)
		file, err := parser.ParseFile(token.NewFileSet(), name, text,
			parser.ParseComments|parser.SkipObjectResolution)
		require.NoError(t, err)
		assert.True(t, ast.IsGenerated(file), "%s", name)
		assert.True(t, slices.IsSortedFunc(file.Imports, func(a, b *ast.ImportSpec) int {
			aFar, bFar := strings.Contains(a.Path.Value, "."), strings.Contains(b.Path.Value, ".")
			if aFar != bFar {
				return map[bool]int{true: 1, false: -1}[aFar] // the standard library comes first
			}
			return cmp.Compare(a.Path.Value, b.Path.Value)
		}), "%s: grouped as goimports does", name)
		first, _, _ := strings.Cut(string(text), "\n")
		assert.Equal(t, "// Code generated by routegen from routes.yaml; DO NOT EDIT.", first)
		for _, group := range file.Comments {
			for _, c := range group.List {
				assert.NotRegexp(t, dated, c.Text, "%s", name)
				for _, number := range anyNumber.FindAllString(c.Text, -1) {
					fromSpec := strings.Contains(src,
						strings.TrimSpace(strings.TrimPrefix(c.Text, "//")))
					assert.True(t, number == "0" || fromSpec, "%s: there is a number in %q", name,
						c.Text)
				}
			}
		}
	}
	assert.Equal(t, 9, seen)
}
