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

// TestPagesOfATenantReadNoOther asks SQLite how it would run the queries of a tenant: each goes
// through an index that begins with the tenant, or by the ids that do, and sorts nothing. However
// much another tenant has, such a page costs what it returns.
func TestPagesOfATenantReadNoOther(t *testing.T) {
	t.Parallel()
	s, acme, none := opened(t, file(t)), "acme", ""
	open := []thread.InterruptState{thread.InterruptOpen}
	log := new(queryFilter)
	log.addTerm(true, listAllLog, int64(0))
	log.addTenant(true, true, "l.", acme)
	log.addTerm(true, " ORDER BY l.n LIMIT ?", int64(9))
	for want, f := range map[string]*queryFilter{
		"interrupt_open (tenant=?) ":  filterOf(thread.InterruptQuery{Tenant: &acme}, false),
		"interrupt_open (tenant=?)  ": filterOf(thread.InterruptQuery{Tenant: &none}, false),
		"interrupt_open (tenant=? AND (priority,created,id)>(?,?,?))": filterOf(
			thread.InterruptQuery{Tenant: &acme, After: &thread.InterruptMark{ID: "i"}}, false),
		"interrupt_tenant (tenant=?)": filterOf(thread.InterruptQuery{Tenant: &acme, ByAge: true,
			States: record.States}, false),
		"interrupt_tenant (tenant=?) ": filterOf(thread.InterruptQuery{Tenant: &acme, ByAge: true,
			States: open}, false),
		"log_tenant (tenant=? AND rowid>?)": log,
		"interrupt_thread (thread=?)": filterOf(thread.InterruptQuery{Tenant: &acme, ByAge: true,
			Thread: "acme/t"}, true),
		"interrupt_id (id=?)": filterOf(thread.InterruptQuery{Tenant: &none, ID: "i"}, true),
	} {
		var plan []string
		require.NoError(t, s.writer.query(t.Context(), func(row []driver.Value) bool {
			plan = append(plan, textValue(row[3]))
			return true
		}, "EXPLAIN QUERY PLAN "+f.text.String(), f.args...))
		all := strings.Join(plan, "\n")
		require.Contains(t, all, strings.TrimSpace(want), f.text.String())
		require.NotContains(t, all, "ORDER BY", f.text.String())
	}
}
