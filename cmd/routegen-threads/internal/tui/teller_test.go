package tui

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime/thread"
	"github.com/routegen/routegen/runtime/web"
)

// linesTable is testdata/lines.json: rows, and the line that stands for each. The test of the page
// reads it too: both say the same.
type linesTable struct {
	Kinds map[string]string `json:"kinds"` // and what they are called
	Graph web.Graph         `json:"graph"`
	Rows  []rowLine         `json:"rows"`
}

type rowLine struct {
	Row web.Row `json:"row"`
	// {moment} and {clock} are the row's until, as a clock of this machine shows it
	Line string `json:"line"`
}

// told are the lines of the rows.
func (l *linesTable) told() []string {
	told, by := newTeller(), newNameResolver(nil, "t")
	told.names = displayNames{}.withGraph(&l.Graph)
	out := make([]string, len(l.Rows))
	for n := range l.Rows {
		r := l.Rows[n].Row
		if by.seq = r.Seq; r.Type == thread.EntryEntered {
			by.frames[r.Frame] = frameInfo{r.Machine, r.Name, r.Parent}
		}
		by.describeFrame(nil, &r) //nolint:staticcheck // what it needs it has: it asks nobody
		out[n] = told.tell(&r)
	}
	return out
}

// lacking lists the types of entries that have no line of their own: no row, a line that says that
// there are no words, or one that another type has.
func (l *linesTable) lacking(types []thread.EntryType) []thread.EntryType {
	lines, used := map[thread.EntryType]string{}, map[string]thread.EntryType{}
	for n, text := range l.told() {
		of := l.Rows[n].Row.Type
		if other, is := used[text]; !strings.Contains(text, "no words for") &&
			(!is || other == of) {
			lines[of], used[text] = text, of
		}
	}
	return slices.DeleteFunc(slices.Clone(types), func(of thread.EntryType) bool {
		return lines[of] != ""
	})
}

// entryTypes reads all types from where they are declared.
func entryTypes(t *testing.T) []thread.EntryType {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "../../../../runtime/thread/entry.go", nil, 0)
	require.NoError(t, err)
	var out []thread.EntryType
	ast.Inspect(file, func(n ast.Node) bool {
		spec, is := n.(*ast.ValueSpec)
		if !is {
			return true
		}
		if of, named := spec.Type.(*ast.Ident); named && of.Name == "EntryType" {
			text, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			require.NoError(t, err)
			out = append(out, thread.EntryType(text))
		}
		return false
	})
	return out
}

func readLines(t *testing.T) *linesTable {
	t.Helper()
	data, err := os.ReadFile("testdata/lines.json")
	require.NoError(t, err)
	out := new(linesTable)
	require.NoError(t, json.Unmarshal(data, out))
	return out
}

// Every row has its line, and no line holds what is for programs.
func TestEveryRowHasItsLine(t *testing.T) {
	t.Parallel()
	table := readLines(t)
	for kind, want := range table.Kinds {
		assert.Equal(t, want, kindOf(kind))
	}
	require.Len(t, table.Kinds, len(kinds)+1, "those of the engine, and one of a spec")
	for n, text := range table.told() {
		r := &table.Rows[n]
		want := strings.NewReplacer("{moment}", formatDay(r.Row.Until), "{clock}",
			formatClock(r.Row.Until)).
			Replace(r.Line)
		assert.Equal(t, want, text, "%s, row %d", r.Row.Type, r.Row.Seq)
		for _, wire := range []string{"_", "{", "}", `"`, "[", "f1", "f2", "f3", r.Row.Interrupt} {
			if wire != "" && wire != "unheard of" {
				assert.NotContains(t, text, wire, r.Row.Type)
			}
		}
	}
}

func TestEveryTypeHasALineOfItsOwn(t *testing.T) {
	t.Parallel()
	types := entryTypes(t)
	require.Contains(t, types, thread.EntryStarted)
	require.Contains(t, types, thread.EntryMessage)
	table := readLines(t)
	assert.Empty(t, table.lacking(types))

	const later = thread.EntryType("of_a_later_version") // the check can lose
	table.Rows[0].Row.Type = later
	assert.Equal(t, []thread.EntryType{later},
		table.lacking([]thread.EntryType{later, thread.EntryOver}))
	table.Rows = slices.DeleteFunc(table.Rows, func(r rowLine) bool {
		return r.Row.Type == thread.EntryPaused
	})
	assert.Equal(t, []thread.EntryType{thread.EntryPaused},
		table.lacking([]thread.EntryType{thread.EntryPaused, thread.EntryOver}))
}
