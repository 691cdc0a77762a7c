package postgres

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/routegen/routegen/runtime"
)

//go:embed migrations/*.sql
var migrationFiles embed.FS

// migrations lead from one version of the schema to the next; the version of a schema is how many
// it has seen. Released files never change.
func migrations() []string {
	names, _ := fs.Glob(migrationFiles, "migrations/*.sql") // the pattern is valid
	list := make([]string, len(names))
	for n, name := range names {
		text, _ := migrationFiles.ReadFile(name) // it was listed
		list[n] = string(text)
	}
	return list
}

// SQL returns the statements that bring a schema from one version to the latest: from version 0,
// where there is none, those that make it. It is for people who run them themselves, as one
// transaction; [Migrate] does the same. The schema is [DefaultSchema] if the name is empty.
func SQL(schema string, from int) string {
	quoted := quoteSchema(schema)
	if from > 0 {
		return stepsFrom(from, quoted)
	}
	return "CREATE SCHEMA IF NOT EXISTS " + quoted + ";\n" + stepsFrom(0, quoted)
}

func stepsFrom(from int, quoted string) string {
	var b strings.Builder
	for n, text := range migrations() {
		if n >= from {
			fmt.Fprintf(&b, "%s\nUPDATE {schema}.settings SET version = %d;\n", text, n+1)
		}
	}
	return inSchema(b.String(), quoted)
}

func inSchema(query, quoted string) string {
	return strings.ReplaceAll(query, "{schema}", quoted)
}

func quoteSchema(schema string) string {
	if schema == "" {
		schema = DefaultSchema
	}
	return pgx.Identifier{schema}.Sanitize()
}

// Migrate makes the schema, or brings it to the version of this program, in one transaction. Any
// number of processes may call it at once: one does it, and the others wait. Nothing happens where
// the schema is at that version. The role of url must be allowed to create in the database, or in
// the schema where it exists.
//
// It returns CodeIncompatible for a schema of a newer program, which it leaves as it is, and
// CodeUnavailable if the server cannot be reached or refuses.
func Migrate(ctx context.Context, url, schema string) error {
	const op = "migrate"
	cfg, err := parseURL(url)
	if err != nil {
		return err
	}
	c, err := pgx.ConnectConfig(ctx, cfg.ConnConfig)
	if err != nil {
		return wrapError(op, err)
	}
	defer func() { _ = c.Close(context.WithoutCancel(ctx)) }()
	return wrapError(op, pgx.BeginFunc(ctx, c, func(tx pgx.Tx) error {
		// held until the transaction ends, which works behind a pooler too
		if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock(hashtextextended($1, 0))`,
			"routegen "+quoteSchema(schema)); err != nil {
			return err
		}
		at, err := schemaVersion(ctx, tx, quoteSchema(schema))
		if err != nil {
			return err
		}
		if at == len(migrations()) {
			return nil
		}
		var found bool
		if err = tx.QueryRow(ctx, `SELECT to_regnamespace($1) IS NOT NULL`,
			quoteSchema(schema)).Scan(&found); err != nil {
			return err
		}
		text := stepsFrom(at, quoteSchema(schema))
		if !found { // a role that has the schema may not be allowed to make one
			text = SQL(schema, at)
		}
		_, err = tx.Conn().PgConn().Exec(ctx, text).ReadAll() // several statements in one call
		return err
	}))
}

// querier is a connection, a pool or a transaction.
type querier interface {
	QueryRow(ctx context.Context, query string, args ...any) pgx.Row
}

// schemaVersion returns the version of the schema, or 0 where there is none. It returns
// CodeIncompatible for that of a newer program, and for a negative one, see [OpenImport].
func schemaVersion(ctx context.Context, db querier, quoted string) (at int, err error) {
	var found bool
	err = db.QueryRow(ctx, `SELECT to_regclass($1) IS NOT NULL`, quoted+".settings").Scan(&found)
	if err != nil || !found {
		return 0, err
	}
	err = db.QueryRow(ctx, inSchema(`SELECT version FROM {schema}.settings`, quoted)).Scan(&at)
	if err == nil && at < 0 {
		return at, runtime.Errorf(runtime.CodeIncompatible, "", "schema %s: %w", quoted, errCopying)
	}
	if latest := len(migrations()); err == nil && at > latest {
		err = runtime.Errorf(runtime.CodeIncompatible, "",
			"schema %s has version %d, and this program knows no later one than %d: use the "+
				"program that migrated it", quoted, at, latest)
	}
	return at, err
}

// verify returns an error unless the server keeps what is promised and has the schema of this
// program. It begins a new line of transactions where the server is another one than before.
func (s *Store) verify(ctx context.Context, copying bool) error {
	at, err := schemaVersion(ctx, s.pool, s.schema)
	if copying && errors.Is(err, errCopying) {
		at, err = -at, nil
	}
	if err == nil && at < len(migrations()) {
		err = runtime.Errorf(runtime.CodeIncompatible, "",
			"schema %s has version %d and this program needs %d: call postgres.Migrate",
			s.schema, at, len(migrations()))
	}
	if err != nil {
		return err
	}
	names := []string{"fsync", "full_page_writes", "server_encoding"}
	var values []string
	if err = s.pool.QueryRow(ctx, `SELECT array(SELECT current_setting(name)
		FROM unnest($1::text[]) WITH ORDINALITY AS s(name, n) ORDER BY n)`,
		names).Scan(&values); err != nil {
		return err
	}
	for n, want := range []string{"on", "on", "UTF8"} {
		if values[n] != want {
			return runtime.Errorf(runtime.CodeUnavailable, "", "%s of the server is %s and must "+
				"be %s: without it what is committed can be lost or changed", names[n], values[n],
				want)
		}
	}
	var same bool
	var server int64
	err = s.pool.QueryRow(ctx, s.sql(`SELECT system_identifier, system_identifier = server AND
		line = left(pg_walfile_name(pg_current_wal_insert_lsn()), 8)
		FROM pg_control_system(), {schema}.settings`)).Scan(&server, &same)
	if err == nil && !same {
		_, err = s.pool.Exec(ctx, s.sql(beginLine), server)
	}
	return err
}

const beginLine = `SELECT {schema}.new_line($1)`
