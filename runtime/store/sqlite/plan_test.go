package sqlite

import (
	"context"
	"database/sql/driver"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime/store/internal/record"
	"github.com/routegen/routegen/runtime/thread"
)

// TestPagesByAgeSortNothing asks SQLite how it would run the query: a page that sorts reads all
// rows that are left, and the pages together read the square of them.
func TestPagesByAgeSortNothing(t *testing.T) {
	t.Parallel()
	s := opened(t, file(t))
	for name, q := range map[string]thread.InterruptQuery{
		"all": {States: record.States}, "of a thread": {Thread: "t"},
		"later ones":             {States: record.States, After: &thread.InterruptMark{ID: "i"}},
		"later ones of a thread": {Thread: "t", After: &thread.InterruptMark{ID: "i"}},
	} {
		q.ByAge = true
		f := filterOf(q, q.Thread != "")
		var plan []string
		require.NoError(t, s.withReader(t.Context(), "explain",
			func(ctx context.Context, c *conn) error {
				return c.query(ctx, func(row []driver.Value) bool {
					plan = append(plan, textValue(row[3]))
					return true
				}, "EXPLAIN QUERY PLAN "+f.text.String(), f.args...)
			}))
		require.NotEmpty(t, plan, name)
		require.NotContains(t, strings.Join(plan, "\n"), "ORDER BY", name)
		q.ByAge = false
	}
}
