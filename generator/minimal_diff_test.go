package generator_test

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/generator"
	"github.com/routegen/routegen/generator/generatortest"
)

// newNode is a node in six lines, as a person would add it.
const newNode = `  auditor:
    doc: Checks at the end that nothing was forgotten.
    request: {doc: Asks for a last look., fields: {subject: {type: string, doc: What is looked at.}}}
    interrupt: {doc: Asks whether a gap matters., fields: {gap: {type: string, doc: What seems to be forgotten.}}}
    branches: {interruptRequest: interrupt, orchestratorRequest: OrchestratorRequest}
    prompt: {template: workflow/auditor, vars: [subject], guidance: Hand the work back when nothing is missing.}
`

// withNode puts the new node before the node of that key; "" means at the end.
func withNode(t *testing.T, src []byte, before string) []byte {
	t.Helper()
	if before == "" {
		return append(bytes.TrimRight(src, "\n"), "\n\n"+newNode...)
	}
	at := []byte("\n  " + before + ":\n    doc:")
	require.Equal(t, 1, bytes.Count(src, at), "%s", before)
	return bytes.Replace(src, at, append([]byte("\n"+newNode), at...), 1)
}

// generated is the output of a spec that must have no error.
func generated(t *testing.T, src []byte) map[string][]byte {
	t.Helper()
	r := generator.Generate("routes.yaml", src)
	require.NotNil(t, r.Files, "%+v", r.Findings)
	return r.Files
}

// lost returns the lines of old that are gone or moved in fresh: those outside a longest common
// subsequence.
func lost(old, fresh []string) []string {
	for len(old) > 0 && len(fresh) > 0 && old[0] == fresh[0] {
		old, fresh = old[1:], fresh[1:]
	}
	for len(old) > 0 && len(fresh) > 0 && old[len(old)-1] == fresh[len(fresh)-1] {
		old, fresh = old[:len(old)-1], fresh[:len(fresh)-1]
	}
	rest := old
	// mostly all of old is there in order, and this finds it in one pass
	for _, line := range fresh {
		if len(rest) > 0 && rest[0] == line {
			rest = rest[1:]
		}
	}
	if len(rest) == 0 {
		return nil
	}
	best := make([][]int32, len(old)+1) // best[i][j]: length for old[i:] and fresh[j:]
	for i := range best {
		best[i] = make([]int32, len(fresh)+1)
	}
	for i, line := range slices.Backward(old) {
		for j := range slices.Backward(fresh) {
			if best[i][j] = max(best[i+1][j], best[i][j+1]); line == fresh[j] {
				best[i][j] = best[i+1][j+1] + 1
			}
		}
	}
	var out []string
	for i, j := 0, 0; i < len(old); {
		switch {
		case j < len(fresh) && old[i] == fresh[j]:
			i, j = i+1, j+1
		case j < len(fresh) && best[i][j+1] >= best[i+1][j]:
			j++
		default:
			out = append(out, old[i])
			i++
		}
	}
	return out
}

func lines(text []byte) []string { return strings.Split(string(text), "\n") }

// TestAddedNodeOnlyAddsLines is scenario G2: wherever a node of six lines is added, every file only
// gains lines and none goes, but for the matrix of ROUTES.md.
func TestAddedNodeOnlyAddsLines(t *testing.T) {
	t.Parallel()
	src := ownSpec(t)
	old := generated(t, src)
	assert.Equal(t, 6, strings.Count(newNode, "\n"))
	for _, before := range []string{"orchestrator", "discoveryOrchestrator", "review",
		"ticketDispatch", "questionAnswer", ""} {
		t.Run("before "+before, func(t *testing.T) {
			t.Parallel()
			fresh := generated(t, withNode(t, src, before))
			for name := range old {
				require.Contains(t, fresh, name)
				gone := lost(lines(old[name]), lines(fresh[name]))
				// a documented exception: the matrix has a column for each node
				if path.Ext(name) == ".md" {
					gone = slices.DeleteFunc(gone, func(line string) bool {
						return strings.HasPrefix(line, "|")
					})
				}
				assert.Empty(t, gone, "%s", name)
			}
			assert.Len(t, fresh, len(old), "a node adds no file")
		})
	}
}

// TestAddFirstOfAKind adds, to a small spec, the first node that needs more packages and has
// every key of its own.
func TestAddFirstOfAKind(t *testing.T) {
	t.Parallel()
	src := generatortest.Synthetic(5)
	node := []byte(`
  auditor:
    doc: Checks at the end that nothing was forgotten.
    agent_type: AUDIT
    aliases: [AUDITOR_AGENT]
    group: last
    action: lookAgain
    timeout: 3m
    request:
      go_type: example.com/app/audit.Request
      fields: {at: {type: time, doc: When.}, raw: {type: json, hidden: true, optional: true, doc: Notes.}, wait: {type: duration, doc: How long.}}
    interrupt: {doc: Asks whether a gap matters., fields: {gap: {type: string, max_length: 80, doc: What seems to be forgotten.}}}
    branches: {interruptRequest: interrupt, again: Worker0Request}
    route: {field: audit, tag: LastRoute}
    unstick: [again]
    loop: {warn: 2, limit: 5}
`)
	at := []byte("\n  worker3:\n")
	require.Equal(t, 1, bytes.Count(src, at))
	old, fresh := generated(t, src), generated(t, bytes.Replace(src, at, append(node, at...), 1))
	for name := range old {
		if path.Ext(name) == ".go" {
			assert.Empty(t, lost(lines(old[name]), lines(fresh[name])), "%s", name)
		}
	}
}

// TestLostFindsLines is the control of the line diff.
func TestLostFindsLines(t *testing.T) {
	t.Parallel()
	old := []string{"a", "b", "c", "d"}
	assert.Empty(t, lost(old, []string{"x", "a", "b", "x", "c", "a", "d", "x"}))
	assert.Equal(t, []string{"b"}, lost(old, []string{"a", "c", "b2", "d"}))
	assert.Equal(t, []string{"d"}, lost(old, []string{"d", "a", "b", "c"}),
		"a line that moves is lost where it stood")
	assert.Equal(t, old, lost(old, nil))
}

// exports finds compiled packages for the type checker: the standard library and runtime, nothing
// of the output.
var exports = sync.OnceValues(func() (map[string]string, error) {
	out, err := exec.Command("go", "list", "-export", "-deps", "-f", "{{.ImportPath}} {{.Export}}",
		"../runtime", "context", "embed", "encoding/json", "iter", "time").Output()
	found := map[string]string{}
	for line := range strings.Lines(string(out)) {
		name, file, _ := strings.Cut(strings.TrimSpace(line), " ")
		found[name] = file
	}
	return found, err
})

// compiler type-checks packages that exist in memory only.
type compiler struct {
	fset *token.FileSet
	made map[string]*types.Package
	std  types.Importer
}

func newCompiler(t *testing.T) *compiler {
	t.Helper()
	found, err := exports()
	require.NoError(t, err)
	fset := token.NewFileSet()
	return &compiler{fset, map[string]*types.Package{},
		importer.ForCompiler(fset, "gc", func(name string) (io.ReadCloser, error) {
			if found[name] == "" {
				return nil, fmt.Errorf("the test provides no package %q", name)
			}
			return os.Open(found[name])
		})}
}

// Import implements types.Importer.
func (c *compiler) Import(name string) (*types.Package, error) {
	if p := c.made[name]; p != nil {
		return p, nil
	}
	return c.std.Import(name)
}

// check compiles the Go files under a path and returns all errors.
func (c *compiler) check(name string, files map[string][]byte) (*types.Package, error) {
	var parsed []*ast.File
	for _, file := range slices.Sorted(maps.Keys(files)) {
		if strings.HasSuffix(file, ".go") {
			f, err := parser.ParseFile(c.fset, file, files[file], parser.SkipObjectResolution)
			if err != nil {
				return nil, err
			}
			parsed = append(parsed, f)
		}
	}
	var all []error
	config := types.Config{Importer: c, Error: func(err error) { all = append(all, err) }}
	p, err := config.Check(name, c.fset, parsed, nil)
	if err == nil {
		c.made[name] = p
	}
	return p, errors.Join(all...)
}

const consumed = "example.com/app/routes"

// implementer writes, by the method set of an interface, a type that implements it.
func implementer(p *types.Package, iface string) string {
	qualifier := func(of *types.Package) string { return of.Name() }
	set := p.Scope().Lookup(iface).Type().Underlying().(*types.Interface)
	var b strings.Builder
	fmt.Fprintf(&b, "type my%s struct{}\nvar _ routes.%s = my%s{}\n", iface, iface, iface)
	for m := range set.Methods() {
		signature := strings.TrimPrefix(types.TypeString(m.Type(), qualifier), "func")
		fmt.Fprintf(&b, "func (my%s) %s%s { panic(0) }\n", iface, m.Name(), signature)
	}
	return b.String()
}

// TestImplementersStopCompiling compiles, in memory, a program written against the old output:
// with the old output it compiles, with the new one the compiler names the missing method.
func TestImplementersStopCompiling(t *testing.T) {
	t.Parallel()
	src := ownSpec(t)
	before, after := newCompiler(t), newCompiler(t)
	old, err := before.check(consumed, generated(t, src))
	require.NoError(t, err)
	_, err = after.check(consumed, generated(t, withNode(t, src, "review")))
	require.NoError(t, err, "the new output compiles")
	for iface, method := range map[string]string{"Handlers": "Auditor",
		"RequestVisitor":   "VisitAuditorRequest",
		"InterruptVisitor": "VisitAuditorInterruptRequest"} {
		imports := "import (\n\"" + consumed + "\"\n)\n"
		if iface == "Handlers" {
			imports += "import (\n\"context\"\n\"github.com/routegen/routegen/runtime\"\n)\n"
		}
		program := map[string][]byte{"main.go": []byte("package app\n" + imports + implementer(old,
			iface))}
		_, err := before.check("example.com/app/"+iface, program)
		require.NoError(t, err, "the control: it compiles with the old output\n%s",
			program["main.go"])
		_, err = after.check("example.com/app/"+iface, program)
		assert.ErrorContains(t, err, "missing method "+method, "%s", iface)
	}
}
