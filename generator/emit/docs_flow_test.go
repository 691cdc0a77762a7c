package emit

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/generator/plan"
	"github.com/routegen/routegen/generator/spec"
	"github.com/routegen/routegen/runtime"
)

func flowsDoc(t *testing.T) string {
	t.Helper()
	src, err := os.ReadFile(filepath.Join("..", "spec", "testdata", "flows.yaml"))
	require.NoError(t, err)
	sp, _ := spec.Parse("routes.yaml", src)
	require.NotNil(t, sp)
	p, _ := plan.Build(sp)
	doc, err := routesDoc(p)
	require.NoError(t, err)
	return string(doc)
}

// TestFlowChart: every step stands in the chart once, and every line leads from a step to a step or
// an end that stands there.
func TestFlowChart(t *testing.T) {
	t.Parallel()
	doc := flowsDoc(t)
	charts := regexp.MustCompile("(?s)```mermaid\n(.*?)```").FindAllStringSubmatch(doc, -1)
	require.Len(t, charts, 4)
	node := regexp.MustCompile(`(?m)^    ([st]_\w+)[\[({]`)
	edge := regexp.MustCompile(`(?m)^    ([st]_\w+) (?:-->|-\.->)(?:\|"[^"]+"\|)? ([st]_\w+)$`)
	lines := 0
	for _, chart := range charts {
		there := map[string]bool{}
		for _, n := range node.FindAllStringSubmatch(chart[1], -1) {
			assert.False(t, there[n[1]], "%s is there twice", n[1])
			there[n[1]] = true
		}
		reached := map[string]bool{"t_start": true}
		for _, e := range edge.FindAllStringSubmatch(chart[1], -1) {
			assert.True(t, there[e[1]] && there[e[2]], "%s", e[0])
			reached[e[2]] = true
			lines++
		}
		assert.Equal(t, there, reached, "nothing stands alone")
	}
	_, body, _ := strings.Cut(doc, "\n") // the mark of generated text is a comment with an arrow
	assert.Equal(t, strings.Count(body, "-->")+strings.Count(body, "-.->"), lines,
		"each line was looked at")
	for _, want := range []string{
		"| `pages` | while | while `more == true`, at most 50 times | again: `fetch`; done: " +
			"`tips` |",
		"| `human` | handoff | passes on to `fraud`: I pass you on. | - |",
		"| `greet` | by other flows only | - | - | Says hello. |",
		"# Flows of package `bank`",
	} {
		assert.Contains(t, doc, want)
	}
	assert.NotContains(t, doc, "## Routes")
}

// TestExprText writes expressions as the spec does: what is read back means the same.
func TestExprText(t *testing.T) {
	t.Parallel()
	flow := &plan.Flow{Slots: []plan.FlowSlot{{Field: plan.Field{Key: "a"}},
		{Field: plan.Field{Key: "b"}}, {Field: plan.Field{Key: "c"}}}}
	slot := func(name string) runtime.Expr {
		return runtime.Expr{Op: runtime.OpSlot, Slot: int(name[0]-'a') + 1}
	}
	op := func(op runtime.ExprOp, args ...runtime.Expr) runtime.Expr {
		return runtime.Expr{Op: op, Args: args}
	}
	one := runtime.Expr{Op: runtime.OpValue, Value: "1"}
	for want, e := range map[string]runtime.Expr{
		"a or b and not c": op(runtime.OpOr, slot("a"),
			op(runtime.OpAnd, slot("b"), op(runtime.OpNot, slot("c")))),
		"(a or b) and c": op(runtime.OpAnd, op(runtime.OpOr, slot("a"), slot("b")), slot("c")),
		"not (a and b)":  op(runtime.OpNot, op(runtime.OpAnd, slot("a"), slot("b"))),
		"not a == 1":     op(runtime.OpNot, op(runtime.OpEq, slot("a"), one)),
		"(not a) == b":   op(runtime.OpEq, op(runtime.OpNot, slot("a")), slot("b")),
		"(a == b) == c":  op(runtime.OpEq, op(runtime.OpEq, slot("a"), slot("b")), slot("c")),
		"filled(a) and 1 in b": op(runtime.OpAnd, runtime.Expr{Op: runtime.OpFilled, Slot: 1},
			op(runtime.OpIn, one, slot("b"))),
		"a or b or (c or a) > 1": op(runtime.OpOr, slot("a"), slot("b"),
			op(runtime.OpGt, op(runtime.OpOr, slot("c"), slot("a")), one)),
	} {
		assert.Equal(t, want, plan.ExprText(flow, e))
	}
}
