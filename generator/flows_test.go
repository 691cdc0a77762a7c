package generator_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/generated/routes"
	"github.com/routegen/routegen/generator"
	"github.com/routegen/routegen/generator/generatortest"
	"github.com/routegen/routegen/generator/plan"
)

// flowSpec has every kind of step and every key of flows.
func flowSpec(t *testing.T) []byte {
	t.Helper()
	src, err := os.ReadFile(filepath.Join("spec", "testdata", "flows.yaml"))
	require.NoError(t, err)
	return src
}

// put replaces a text that is there once.
func put(t *testing.T, src []byte, text, with string) []byte {
	t.Helper()
	require.Equal(t, 1, bytes.Count(src, []byte(text)), "%q", text)
	return bytes.Replace(src, []byte(text), []byte(with), 1)
}

// both is the repository's own spec with the flows of the other one.
func both(t *testing.T) []byte {
	t.Helper()
	_, flows, found := bytes.Cut(flowSpec(t), []byte("\ndialogue:\n"))
	require.True(t, found)
	src := put(t, ownSpec(t), "\nenums:\n",
		"\nenums:\n  AccountType: {doc: Kind of account., values: {checking: For every day., "+
			"savings: For later., investment: For long.}}\n")
	src = put(t, src, "\ntypes:\n",
		"\ntypes:\n  Iban: {doc: An account anywhere., type: string, min_length: 15, max_length: "+
			"34}\n")
	return slices.Concat(bytes.TrimRight(src, "\n"), []byte("\ndialogue:\n"), flows)
}

// TestFlowsCompile type-checks a package of flows alone, and one that has nodes as well.
func TestFlowsCompile(t *testing.T) {
	t.Parallel()
	for name, src := range map[string][]byte{"flows": flowSpec(t), "both": both(t),
		"many": generatortest.SyntheticFlows(30)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, err := newCompiler(t).check(consumed, generated(t, src))
			require.NoError(t, err)
			for _, symbol := range []string{"NewDialogue", "Actions", "Validators", "Command",
				"Commands", "StoredShapes", "FlowName"} {
				assert.NotNil(t, p.Scope().Lookup(symbol), "%s", symbol)
			}
			assert.Equal(t, name == "both", p.Scope().Lookup("New") != nil, "a program of nodes")
		})
	}
}

// TestFlowsLeaveTheRestAlone: a spec without nodes has no file of the workflow, one without flows
// none of theirs, and the first flow of a spec changes no file that is there.
func TestFlowsLeaveTheRestAlone(t *testing.T) {
	t.Parallel()
	alone := map[string]bool{}
	for name := range generated(t, flowSpec(t)) {
		alone[path.Base(name)] = true
	}
	assert.Equal(t, map[string]bool{
		"flows_gen.go": true, "actions_gen.go": true, "commands_gen.go": true,
		"shapes_gen.go": true, "types_gen.go": true,
		"routes.schema.json": true, "ROUTES.md": true,
	}, alone)
	old, fresh := ownResult(t).Files, generated(t, both(t))
	for name, text := range old {
		require.Contains(t, fresh, name)
		assert.Empty(t, lost(lines(text), lines(fresh[name])), "%s", name)
	}
	var added []string
	for name := range fresh {
		if old[name] == nil {
			added = append(added, path.Base(name))
		}
	}
	assert.ElementsMatch(t, []string{"flows_gen.go", "actions_gen.go", "commands_gen.go"}, added)
}

// TestFlowsOnlyAddLines: whatever is added to a spec of flows, each file gains lines. What a step
// leads to by standing before another is the one exception: a new step between them is led to
// instead.
func TestFlowsOnlyAddLines(t *testing.T) {
	t.Parallel()
	src := flowSpec(t)
	old := generated(t, src)
	for name, c := range map[string]struct {
		text, with string
		gone       []string // what the lines that go begin with
	}{
		"flow first": {"flows:\n",
			"flows:\n  bye:\n    doc: Says goodbye.\n    steps:\n      - {step: hello, type: " +
				"say, message: Goodbye.}\n", nil},
		"flow between": {"  greet:\n    doc: Says hello.\n",
			"  bye:\n    doc: Says goodbye.\n    steps:\n      - {step: hello, type: say, " +
				"message: Goodbye.}\n  greet:\n    doc: Says hello.\n", nil},
		"slot": {"      amount: {type: float, min: 0.01, doc: How much., go_name: Amount}\n",
			"      amount: {type: float, min: 0.01, doc: How much., go_name: Amount}\n      " +
				"urgent: {type: bool, doc: Whether it is.}\n", nil},
		"step first": {"      - {step: ask, type: collect, slot: account_type",
			"      - {step: hm, type: say, message: Hm.}\n      - {step: ask, type: collect, " +
				"slot: account_type", []string{"    t_start --> s_ask"}},
		"step between": {"      - {step: tell, type: say,",
			"      - {step: hm, type: say, message: Hm.}\n      - {step: tell, type: say,",
			[]string{
				"\tNext:", "    s_get --> s_tell", "| `get` |",
			}},
		"action": {"validators:\n",
			"  ping:\n    doc: Looks whether anybody is there.\nvalidators:\n", nil},
		"validator": {"responses:\n", "  bic: {doc: Eight letters., type: string}\nresponses:\n",
			nil},
		"response": {"responses:\n", "responses:\n  handoff: One moment.\n", nil},
		"value":    {"savings: For later.,", "savings: For later., fixed: For a term.,", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fresh := generated(t, put(t, src, c.text, c.with))
			var gone []string
			for file := range old {
				gone = append(gone, lost(lines(old[file]), lines(fresh[file]))...)
			}
			require.Len(t, gone, len(c.gone), "%q", gone)
			for _, start := range c.gone {
				assert.True(t, slices.ContainsFunc(gone, func(line string) bool {
					return strings.HasPrefix(line, start)
				}), "%q: %q", start, gone)
			}
		})
	}
}

// TestFlowsAreDeterministic generates the same bytes from keys in any order, where their order
// means nothing.
func TestFlowsAreDeterministic(t *testing.T) {
	t.Parallel()
	src := flowSpec(t)
	want := digest(generated(t, src))
	for seed := range uint64(16) {
		r := generator.Generate("routes.yaml", shuffled(t, src, seed))
		require.NotNil(t, r.Files, "%+v", r.Findings)
		require.Equal(t, want, digest(r.Files), "seed %d", seed)
	}
}

// TestFlowGoIsFlat: no file of flows holds a loop, a function literal, or a branch but for switches
// over names and numbers; each is as gofmt leaves it.
func TestFlowGoIsFlat(t *testing.T) {
	t.Parallel()
	seen := 0
	for name, text := range generated(t, both(t)) {
		base := path.Base(name)
		if !slices.Contains([]string{"flows_gen.go", "actions_gen.go", "commands_gen.go",
			"shapes_gen.go"}, base) {
			continue
		}
		seen++
		pretty, err := format.Source(text)
		require.NoError(t, err)
		assert.Equal(t, string(pretty), string(text), "%s", base)
		file, err := parser.ParseFile(token.NewFileSet(), base, text,
			parser.ParseComments|parser.SkipObjectResolution)
		require.NoError(t, err)
		assert.True(t, ast.IsGenerated(file), "%s", base)
		assert.Empty(t, logic(file), "%s", base)
	}
	assert.Equal(t, 4, seen)
	control, err := parser.ParseFile(token.NewFileSet(), "control.go",
		"package p\nfunc f(n int) { for range n { if n > 1 { return } } }", 0)
	require.NoError(t, err)
	assert.Equal(t, []string{"*ast.RangeStmt", "*ast.IfStmt"}, logic(control))
}

// logic lists what generated code must not hold. A list is decoded by a function literal that hands
// its elements on; it counts when it does more.
func logic(file *ast.File) []string {
	var found []string
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ForStmt, *ast.RangeStmt, *ast.IfStmt, *ast.GoStmt, *ast.DeferStmt,
			*ast.SelectStmt:
			found = append(found, fmt.Sprintf("%T", n))
		case *ast.FuncLit:
			if len(n.Body.List) != 1 {
				found = append(found, fmt.Sprintf("%T", n))
			}
		}
		return true
	})
	return found
}

// TestStoredShapesAreThePlans: the generated table is what a review compares.
func TestStoredShapesAreThePlans(t *testing.T) {
	t.Parallel()
	assert.Equal(t, plan.Shapes(ownResult(t).Plan), routes.StoredShapes())
}

// TestPlanOfFlowsAsJSON: what inspect prints holds the flows, every target decided.
func TestPlanOfFlowsAsJSON(t *testing.T) {
	t.Parallel()
	p := generator.Plan("routes.yaml", flowSpec(t)).Plan
	require.NotNil(t, p)
	text, err := json.Marshal(p)
	require.NoError(t, err)
	var got struct {
		Dialogue struct {
			Flows []struct {
				Name  string `json:"name"`
				Steps []struct {
					ID   string `json:"id"`
					Next string `json:"next"`
				} `json:"steps"`
			} `json:"flows"`
		} `json:"dialogue"`
	}
	require.NoError(t, json.Unmarshal(text, &got))
	assert.Len(t, got.Dialogue.Flows, 4)
	for _, f := range got.Dialogue.Flows {
		for _, s := range f.Steps {
			assert.NotEmpty(t, s.Next, "%s.%s", f.Name, s.ID)
		}
	}
	bare, err := json.Marshal(ownResult(t).Plan)
	require.NoError(t, err)
	assert.NotContains(t, string(bare), `"dialogue"`)
}
