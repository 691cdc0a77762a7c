package emit

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/generator/generatortest"
	"github.com/routegen/routegen/generator/plan"
	"github.com/routegen/routegen/generator/spec"
)

// What a package declares whatever its spec says must be known to the plan: a type of that name
// would not compile.
func TestFixedNamesAreReserved(t *testing.T) {
	a, b := exported(t, generatortest.Synthetic(3)), exported(t, generatortest.Synthetic(4))
	for name := range a {
		if !b[name] || strings.Contains(name, "Worker") || strings.Contains(name, "Item") ||
			strings.Contains(name, "Report") || strings.Contains(name, "Verdict") {
			continue
		}
		src := strings.Replace(string(generatortest.Synthetic(3)), "  Item:\n",
			"  "+name+":\n    doc: Taken.\n    fields: {x: {type: string}}\n  Item:\n", 1)
		sp, _ := spec.Parse("routes.yaml", []byte(src))
		_, findings := plan.Build(sp)
		assert.NotEmpty(t, findings, "a type named %s compiles beside the generated one?", name)
	}
}

// exported lists the exported package-level names of a spec's output.
func exported(t *testing.T, src []byte) map[string]bool {
	t.Helper()
	sp, _ := spec.Parse("routes.yaml", src)
	p, findings := plan.Build(sp)
	require.Empty(t, findings)
	files, err := Files(p)
	require.NoError(t, err)
	out := map[string]bool{}
	for name, text := range files {
		if !strings.HasSuffix(name, ".go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, text, 0)
		require.NoError(t, err)
		for name := range file.Scope.Objects {
			if ast.IsExported(name) {
				out[name] = true
			}
		}
	}
	return out
}
