package spec

import (
	"bytes"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/generator/report"
)

// manyNodes is a spec of n nodes in a ring that the last one can leave, with six request and six
// interrupt fields each.
func manyNodes(n int) []byte {
	var b bytes.Buffer
	b.WriteString("version: 1\ngo: {package: routes, out: generated/routes}\nresults: {Done: " +
		"{doc: What comes back., fields: {}}}\ninterrupts: {fields: {reason: {type: string, doc: " +
		"Why.}}}\nnodes:\n")
	for i := range n {
		fmt.Fprintf(&b, "  node%d:\n    doc: Does the work of step %d.\n    request:\n      "+
			"fields:\n", i, i)
		for k := range 6 {
			fmt.Fprintf(&b, "        field%d: {type: string, doc: Holds part %d of what step %d "+
				"is given to do.}\n", k, k, i)
		}
		b.WriteString("    interrupt:\n      fields:\n")
		for k := range 6 {
			fmt.Fprintf(&b, "        asked%d: {type: string, doc: \"Holds part %d of what is "+
				"asked.\"}\n", k, k)
		}
		fmt.Fprintf(&b, "    branches:\n      askRequest: interrupt\n      next: Node%dRequest\n",
			(i+1)%n)
	}
	b.WriteString("      done: Done\n")
	return bytes.Replace(b.Bytes(), []byte("  node0:\n"), []byte("  node0:\n    entry: true\n"), 1)
}

func TestManyNodesHaveNoFindings(t *testing.T) {
	s, findings := Parse("routes.yaml", manyNodes(1400))
	require.Empty(t, findings)
	assert.Len(t, s.Nodes, 1400)
}

// TestNothingOfTheDocumentIsKept compares the heap that a Spec holds with that of the nodes it was
// read from.
func TestNothingOfTheDocumentIsKept(t *testing.T) {
	src := manyNodes(1400)
	held := func(build func() any) (any, uint64) {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		v := build()
		runtime.GC()
		runtime.ReadMemStats(&after)
		return v, after.HeapAlloc - before.HeapAlloc
	}
	root, nodes := held(func() any {
		return (&reader{src: report.NewSource("x", src)}).
			decode(src)
	})
	runtime.KeepAlive(root)
	s, spec := held(func() any { s, _ := Parse("x", src); return s })
	runtime.KeepAlive(s)
	assert.Less(t, spec, nodes, strings.TrimSpace(fmt.Sprint("spec ", spec, " nodes ", nodes)))
}

func BenchmarkParse(b *testing.B) {
	for _, n := range []int{14, 140, 1400, 14000} {
		src := manyNodes(n)
		b.Run(fmt.Sprintf("nodes=%d", n), func(b *testing.B) {
			b.SetBytes(int64(len(src)))
			for b.Loop() {
				if _, findings := Parse("routes.yaml", src); len(findings) > 0 {
					b.Fatal(findings[0])
				}
			}
		})
	}
}

// BenchmarkBareDecode is the floor: the library alone.
func BenchmarkBareDecode(b *testing.B) {
	for _, n := range []int{14, 140, 1400, 14000} {
		src := manyNodes(n)
		b.Run(fmt.Sprintf("nodes=%d", n), func(b *testing.B) {
			b.SetBytes(int64(len(src)))
			for b.Loop() {
				if _, err := decodeNext(newDecoder(src)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
