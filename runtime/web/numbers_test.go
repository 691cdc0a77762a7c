package web_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The bad inputs at run time have numbers, R1 to R40, and a test is named after those it holds: TestR5_..., TestR20AndR21_..., TestR12ToR19_....
// The plan scenarios P2 to P17 that have to do with sockets are named in the same way.

// numbered finds the numbers in the names of tests: those after a letter, and all between two that are joined by To.
func numbered(letter string, names []string) map[int][]string {
	head := regexp.MustCompile(`^Test((?:` + letter + `\d+(?:And|To)?)+)_`)
	part := regexp.MustCompile(letter + `(\d+)(And|To)?`)
	out := map[int][]string{}
	for _, name := range names {
		found := head.FindStringSubmatch(name)
		if found == nil {
			continue
		}
		from := 0
		for _, p := range part.FindAllStringSubmatch(found[1], -1) {
			n, _ := strconv.Atoi(p[1]) // digits
			first := n
			if from > 0 {
				first = from + 1
			}
			for ; first <= n; first++ {
				out[first] = append(out[first], name)
			}
			if from = 0; p[2] == "To" {
				from = n
			}
		}
	}
	return out
}

// testNames are the tests of a folder that say anything: one without a statement is none.
func testNames(t *testing.T, dir string) (names []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	require.NoError(t, err)
	for _, file := range files {
		src, err := os.ReadFile(file)
		require.NoError(t, err)
		parsed, err := parser.ParseFile(token.NewFileSet(), file, src, parser.SkipObjectResolution)
		require.NoError(t, err)
		for _, d := range parsed.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && strings.HasPrefix(f.Name.Name, "Test") && len(f.Body.List) > 0 {
				names = append(names, f.Name.Name)
			}
		}
	}
	return names
}

// TestEveryNumberHasItsTest fails when a row has lost its test.
func TestEveryNumberHasItsTest(t *testing.T) {
	t.Parallel()
	names := testNames(t, ".")
	rows := numbered("R", names)
	for n := 1; n <= 40; n++ {
		assert.NotEmpty(t, rows[n], "R%d has no test", n)
	}
	scenes := numbered("P", names)
	for _, n := range []int{2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 14, 16, 17} {
		assert.NotEmpty(t, scenes[n], "P%d has no test over sockets", n)
	}
}

// TestNumbersAreRead is the control of the one above.
func TestNumbersAreRead(t *testing.T) {
	t.Parallel()
	got := numbered("R", []string{"TestR5_A", "TestR20AndR21_B", "TestR12ToR14_C", "TestR30", "TestRoom_R7", "TestP6_D"})
	var numbers []int
	for n := range got {
		numbers = append(numbers, n)
	}
	slices.Sort(numbers)
	assert.Equal(t, []int{5, 12, 13, 14, 20, 21}, numbers)
}
