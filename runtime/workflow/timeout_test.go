package workflow_test

import (
	"bytes"
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/generator"
	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
)

// TestTimeoutOfANode goes from a spec to the engine: the node whose spec has a timeout is cut at
// it, run by run, and no other is. Its wait for a person does not count.
func TestTimeoutOfANode(t *testing.T) {
	t.Parallel()
	limits := limitsOfASpec(t)
	require.Equal(t, map[string]time.Duration{"orchestrator": 90 * time.Second}, limits)
	for _, store := range []string{"mem", "sqlite"} {
		t.Run(store, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { playTimeout(newWorld(t, store), limits) })
		})
	}
}

func playTimeout(w *world, limits map[string]time.Duration) {
	for key, limit := range limits {
		w.node(key).Timeout = limit
	}
	const lead, phase = "orchestrator", "discoveryOrchestrator"
	var cut time.Duration
	w.on(lead,
		func(ctx context.Context, _ runtime.Call, _ runtime.Record) (string, error) {
			begun := time.Now()
			<-ctx.Done()
			cut = time.Since(begun)
			return "", ctx.Err()
		},
		busy(80*time.Second, w.asks(lead, "HUMAN_REVIEW", "which way?")),
		busy(80*time.Second, w.says(lead, "discoveryOrchestratorRequest")))
	w.on(phase, busy(4*time.Minute, w.stops(phase)))
	w.open()
	th := w.start("OrchestratorRequest")
	assert.Equal(w, 90*time.Second, cut)
	require.Equal(w, thread.StatusWaiting, th.Status(), "for its next try")
	require.Len(w, th.Frames, 1)
	assert.Equal(w, thread.FrameRetrying, th.Frames[0].State)
	<-time.After(2 * time.Minute)
	th = w.wait(th.ID)
	assert.Equal(w, "which way?", w.asked(th, thread.KindAgentQuestion).Text,
		"a run that ends in time counts, and so does the second try")
	<-time.After(2 * time.Hour)
	th = w.answer(th.ID, "left")
	require.Equal(w, thread.StatusCancelled, th.Status(), "%+v", th.Open)
	assert.Equal(w, []string{lead, lead, lead, phase}, w.runs)
	var failed []thread.Entry
	for _, e := range w.log(th.ID) {
		if e.Type == thread.EntryFailed {
			failed = append(failed, e)
		}
	}
	require.Len(w, failed, 1, "four minutes of a node without a timeout are not too many")
	assert.Equal(w, runtime.CodeUnavailable, failed[0].Failure.Code)
	assert.Contains(w, failed[0].Failure.Text, "1m30s")
}

// busy returns a turn that works for a time before it does what another one does, and stops when
// its context ends.
func busy(d time.Duration, then turn) turn {
	return func(ctx context.Context, call runtime.Call, request runtime.Record) (string, error) {
		select {
		case <-time.After(d):
			return then(ctx, call, request)
		case <-ctx.Done():
			return "", context.Cause(ctx)
		}
	}
}

// limitsOfASpec gives one node of the shipped spec a timeout, and returns the timeouts that the
// generated rows of nodes have.
func limitsOfASpec(t *testing.T) map[string]time.Duration {
	t.Helper()
	src, err := os.ReadFile("../../routes.yaml")
	require.NoError(t, err)
	entry := []byte("    group: orchestrator\n    entry: true\n")
	require.Equal(t, 1, bytes.Count(src, entry))
	made := generator.Generate("routes.yaml",
		bytes.Replace(src, entry, append(entry, "    timeout: 90s\n"...), 1))
	require.NotNil(t, made.Files, "%v", made.Findings)
	file, err := parser.ParseFile(token.NewFileSet(), "routes_gen.go",
		made.Files["generated/routes/routes_gen.go"], parser.SkipObjectResolution)
	require.NoError(t, err)
	limits, rows := map[string]time.Duration{}, 0
	ast.Inspect(file, func(n ast.Node) bool {
		row, ok := n.(*ast.CompositeLit)
		if !ok {
			return true
		}
		var key string
		var limit time.Duration
		for _, cell := range row.Elts {
			field, ok := cell.(*ast.KeyValueExpr)
			if !ok {
				continue
			}
			switch name, _ := field.Key.(*ast.Ident); {
			case name == nil:
			case name.Name == "Key":
				key = quoted(field.Value)
				rows++
			case name.Name == "Timeout":
				limit = product(t, field.Value)
			}
		}
		if limit != 0 {
			limits[key] = limit
		}
		return true
	})
	require.Greater(t, rows, 10, "rows of nodes")
	return limits
}

func quoted(e ast.Expr) string {
	lit, ok := e.(*ast.BasicLit)
	if !ok {
		return ""
	}
	text, _ := strconv.Unquote(lit.Value)
	return text
}

// product reads a duration as generated code writes it: a number of units.
func product(t *testing.T, e ast.Expr) time.Duration {
	t.Helper()
	times, ok := e.(*ast.BinaryExpr)
	require.True(t, ok)
	count, ok := times.X.(*ast.BasicLit)
	require.True(t, ok)
	n, err := strconv.Atoi(count.Value)
	require.NoError(t, err)
	unit, ok := times.Y.(*ast.SelectorExpr)
	require.True(t, ok)
	size, ok := map[string]time.Duration{"Hour": time.Hour, "Minute": time.Minute,
		"Second": time.Second}[unit.Sel.Name]
	require.True(t, ok, unit.Sel.Name)
	return time.Duration(n) * size
}
