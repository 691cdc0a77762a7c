package main

import (
	"context"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/routegen/routegen/runtime/store/postgres"
	"github.com/routegen/routegen/runtime/store/sqlite"
	"github.com/routegen/routegen/runtime/store/transfer"
	"github.com/routegen/routegen/runtime/thread"
)

// storeNames says how a store is named on the command line.
const storeNames = "A store is the path of a SQLite file, also as sqlite:FILE, or the URL of a\n" +
	"PostgreSQL database, postgres://USER@HOST/DATABASE, or postgres: and a connection\n" +
	"string; what it leaves out, the variables of libpq say (PGHOST, PGUSER and so on).\n" +
	"A password belongs into PGPASSWORD or ~/.pgpass: a list of processes shows a URL."

// parseStore splits the name of a store: the URL of a database, or the path of a file.
func parseStore(name string) (where string, isURL bool) {
	if strings.HasPrefix(name, "postgres://") || strings.HasPrefix(name, "postgresql://") {
		return name, true
	}
	if url, ok := strings.CutPrefix(name, "postgres:"); ok {
		return url, true
	}
	return strings.TrimPrefix(name, "sqlite:"), false
}

// readableStore is a store that a command reads.
type readableStore interface {
	thread.Store
	io.Closer
}

// openReading opens a store to read from it.
func openReading(ctx context.Context, name, schema string) (readableStore, error) {
	where, isURL := parseStore(name)
	if isURL {
		return postgres.Open(ctx, where, postgres.Config{Schema: schema})
	}
	return sqlite.OpenReading(ctx, where)
}

// importStore is a store that copy writes to.
type importStore interface {
	transfer.Target
	io.Closer
}

// openImport opens a store to copy to, and reports whether a copy to it has ended.
func openImport(ctx context.Context, name, schema string) (importStore, bool, error) {
	where, isURL := parseStore(name)
	if isURL {
		return postgres.OpenImport(ctx, where, postgres.Config{Schema: schema})
	}
	return sqlite.OpenImport(ctx, where)
}

// addSchema adds the flag for the schema of PostgreSQL stores.
func addSchema(cmd *cobra.Command, schema *string) {
	cmd.Flags().StringVar(schema, "schema", postgres.DefaultSchema,
		"the `schema` of the tables in PostgreSQL")
}
