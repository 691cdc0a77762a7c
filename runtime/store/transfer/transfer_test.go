//go:build unix

package transfer_test

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver pgx, to read all columns there are
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/store/postgres"
	"github.com/routegen/routegen/runtime/store/postgrestest"
	"github.com/routegen/routegen/runtime/store/sqlite"
	"github.com/routegen/routegen/runtime/store/transfer"
	"github.com/routegen/routegen/runtime/thread"
	"github.com/routegen/routegen/runtime/web"
)

// toPostgres copies a store to a new schema.
func toPostgres(t *testing.T, from thread.Store) (*postgrestest.Database, *transfer.Contents) {
	t.Helper()
	d := postgrestest.New(t)
	to, done, err := postgres.OpenImport(t.Context(), d.URL, postgres.Config{Schema: d.Schema})
	require.NoError(t, err)
	t.Cleanup(func() { _ = to.Close() })
	require.False(t, done)
	found, err := transfer.Copy(t.Context(), from, to, nil)
	require.NoError(t, err)
	return d, found
}

// toFile copies a store to a new file.
func toFile(t *testing.T, from thread.Store) (string, *transfer.Contents) {
	t.Helper()
	path := file(t)
	to, done, err := sqlite.OpenImport(t.Context(), path)
	require.NoError(t, err)
	t.Cleanup(func() { _ = to.Close() })
	require.False(t, done)
	found, err := transfer.Copy(t.Context(), from, to, nil)
	require.NoError(t, err)
	return path, found
}

// local are the columns that a store numbers its rows by, and tables of the store itself. What
// names another row by its number is compared by that row's own name.
var local = map[string]string{
	"settings": "", "shape": "",
	"n": "", "token": "", "x": "", "place": "",
	"thread": "(SELECT id FROM {}thread o WHERE o.n = t.thread)",
	"shape_": "(SELECT fingerprint FROM {}shape o WHERE o.n = t.shape)",
}

// dump returns the rows of all tables with all columns, in the order in which they were written.
// New tables and columns are in it without being named here.
func dump(t *testing.T, db *sql.DB, columns, prefix string) map[string][]string {
	t.Helper()
	ctx := context.Background()
	of := map[string][]string{}
	rows, err := db.QueryContext(ctx, columns)
	require.NoError(t, err)
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var table, column string
		require.NoError(t, rows.Scan(&table, &column))
		of[table] = append(of[table], column)
	}
	require.NoError(t, rows.Err())
	out := map[string][]string{}
	for table, columns := range of {
		if _, skip := local[table]; skip && table != "thread" {
			continue
		}
		order, terms, all := "1", []string{}, columns
		columns = nil
		for _, c := range all {
			with, known := local[c]
			if c == "shape" {
				with = local["shape_"]
			}
			if c == "n" || c == "x" {
				order = "t." + c
			}
			if known && with == "" {
				continue
			}
			columns = append(columns, c)
			terms = append(terms, cmp.Or(strings.ReplaceAll(with, "{}", prefix), "t."+c))
		}
		if slices.Contains(all, "place") {
			order += ", place"
		}
		if table == "request" || table == "due" {
			order = "1, 2"
		}
		rows, err := db.QueryContext(ctx, fmt.Sprintf("SELECT %s FROM %s%s t ORDER BY %s",
			strings.Join(terms, ", "), prefix, table, order))
		require.NoError(t, err)
		defer func() { _ = rows.Close() }()
		for rows.Next() {
			values, at := make([]any, len(terms)), make([]any, len(terms))
			for n := range values {
				at[n] = &values[n]
			}
			require.NoError(t, rows.Scan(at...))
			for n, v := range values {
				values[n] = fmt.Sprintf("%s=%s", columns[n], fmt.Sprint(v))
				if text, ok := v.([]byte); ok {
					values[n] = fmt.Sprintf("%s=%s", columns[n], text)
				}
			}
			out[table] = append(out[table], fmt.Sprint(values...))
		}
		require.NoError(t, rows.Err())
	}
	return out
}

func dumpFile(t *testing.T, path string) map[string][]string {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	require.NoError(t, err)
	defer func() { _ = db.Close() }()
	return dump(t, db, `SELECT m.name, c.name FROM sqlite_schema m, pragma_table_info(m.name) c
		WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite%' ORDER BY 1, c.cid`, "")
}

func dumpSchema(t *testing.T, d *postgrestest.Database) map[string][]string {
	t.Helper()
	db, err := sql.Open("pgx", d.URL)
	require.NoError(t, err)
	defer func() { _ = db.Close() }()
	return dump(t, db, `SELECT table_name, column_name FROM information_schema.columns
		WHERE table_schema = '`+d.Schema+`' ORDER BY 1, ordinal_position`, d.Schema+".")
}

// TestACopyHasEveryColumnOfEveryTable copies SQLite to PostgreSQL and on, twice, and compares the
// rows of both files and of both schemas, column by column as the databases list them: a column or
// a table that is added one day and not copied is a difference, and so is each one that is changed.
func TestACopyHasEveryColumnOfEveryTable(t *testing.T) {
	t.Parallel()
	path := rich(t)
	one, first := toPostgres(t, reading(t, path))
	back, second := toFile(t, on(t, one))
	two, third := toPostgres(t, reading(t, back))
	assert.Equal(t, first, second)
	assert.Equal(t, first, third)
	assert.Equal(t, 7, first.Threads)
	assert.Equal(t, 3, first.Waiting)

	had := dumpFile(t, path)
	for _, table := range []string{"thread", "interrupt", "log", "request"} {
		require.NotEmpty(t, had[table], table)
	}
	assert.Equal(t, had, dumpFile(t, back))
	there := dumpSchema(t, one)
	for _, table := range []string{"thread", "interrupt", "log", "request", "due"} {
		require.NotEmpty(t, there[table], table)
	}
	assert.Equal(t, there, dumpSchema(t, two))

	// the control: what is not copied is seen, also in a column and a table that are new
	for _, change := range []string{
		"UPDATE {}.interrupt SET priority = priority + 1 WHERE n = 1",
		"ALTER TABLE {}.log ADD COLUMN extra text",
		"CREATE TABLE {}.extra AS SELECT 1 AS a",
		"UPDATE {}.due SET wake = wake + 1",
	} {
		two.Exec(t, strings.ReplaceAll(change, "{}", two.Schema))
		if strings.HasPrefix(change, "CREATE") {
			two.Exec(t, fmt.Sprintf("ALTER TABLE %s.extra OWNER TO %[1]s", two.Schema))
		}
		now := dumpSchema(t, two)
		assert.NotEqual(t, there, now, change)
		there = now
	}
}

// TestAThreadThatWaitsGoesOnInTheCopy answers a thread after it has moved: its effects are done
// once, its token opens it, a client goes on after the last row that it saw, and a request that was
// done before is known.
func TestAThreadThatWaitsGoesOnInTheCopy(t *testing.T) {
	t.Parallel()
	const operator = "operator-0123456789abcdef0123456789abcdef"
	path := rich(t)
	s, err := sqlite.Open(t.Context(), path, sqlite.Config{})
	require.NoError(t, err)
	e := engineOn(t, s)
	call := func(e *thread.Engine, token, method, path, body string, headers ...string) (int,
		string) {
		server, err := web.New(e, operator, web.Config{})
		require.NoError(t, err)
		front := httptest.NewServer(server)
		defer front.Close()
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		req, err := http.NewRequestWithContext(ctx, method, front.URL+path, strings.NewReader(body))
		require.NoError(t, err)
		req.Header.Set("Authorization", "Bearer "+token)
		req.Header.Set("Content-Type", "application/json")
		for n := 0; n < len(headers); n += 2 {
			req.Header.Set(headers[n], headers[n+1])
		}
		res, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		defer func() { _ = res.Body.Close() }()
		text := make([]byte, 16<<10)
		n := 0
		for n < len(text) && !strings.Contains(string(text[:n]), "\nevent: row") {
			more, err := res.Body.Read(text[n:])
			if n += more; err != nil {
				break
			}
		}
		return res.StatusCode, string(text[:n])
	}
	status, text := call(e, operator, http.MethodPost, "/v1/threads/waits/tokens", fmt.Sprintf(
		`{"actions":["follow","answer"],"by":"ann","expires":%d}`,
		time.Now().Add(time.Hour).UnixMilli()))
	require.Equal(t, 201, status, text)
	_, token, _ := strings.Cut(text, `"token":"`)
	token, _, _ = strings.Cut(token, `"`)
	require.NotEmpty(t, token)
	require.NoError(t, e.Close(t.Context()))
	require.NoError(t, s.Close())

	before := effects.Load()
	d, _ := toPostgres(t, reading(t, path))
	store := on(t, d)
	moved := engineOn(t, store)
	had, err := moved.Thread(t.Context(), "waits")
	require.NoError(t, err)
	require.Equal(t, thread.StatusWaiting, had.Status())
	again, err := moved.Start(t.Context(), thread.Begin{ID: "waits", Machine: "mail",
		Input: oddText, User: "ann", Request: "r1",
		Metadata: []byte(`{"b":1.0,"a":1e2,"a":"twice"}`)})
	require.NoError(t, err, "the request is known")
	require.Equal(t, had.Version, again.Version)

	status, text = call(moved, token, http.MethodGet, "/v1/threads/waits", "")
	require.Equal(t, 200, status, text)
	status, text = call(moved, token, http.MethodGet, "/v1/threads/waits/stream", "",
		"Last-Event-ID", "waits/1")
	require.Equal(t, 200, status)
	require.NotContains(t, text, "id: waits/1\n")
	require.Contains(t, text, "id: waits/")
	answer := "/v1/interrupts/" + had.Open[0].ID + "/answer"
	status, text = call(moved, token, http.MethodPost, answer, `{"value":true}`)
	require.Equal(t, 200, status, text)
	over, err := moved.Wait(t.Context(), "waits")
	require.NoError(t, err)
	assert.Equal(t, `"sent"`, string(over.Result))
	assert.Equal(t, before+1, effects.Load(), "the draft was made before, and it is sent once")
	status, _ = call(moved, token, http.MethodPost, answer, `{"value":false}`)
	assert.Equal(t, 409, status, "another answer comes too late")
	assert.Equal(t, before+1, effects.Load())
}

// TestASourceThatChangesIsTold has a thread that goes on in the source while it is copied. The copy
// is refused, and programs cannot open it.
func TestASourceThatChangesIsTold(t *testing.T) {
	t.Parallel()
	path := rich(t)
	d := postgrestest.New(t)
	s, err := sqlite.Open(t.Context(), path, sqlite.Config{})
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.Close() })
	to, _, err := postgres.OpenImport(t.Context(), d.URL, postgres.Config{Schema: d.Schema})
	require.NoError(t, err)
	t.Cleanup(func() { _ = to.Close() })
	had, err := s.Load(t.Context(), "waits")
	require.NoError(t, err)
	_, err = transfer.Copy(t.Context(), s, to, func(int) {
		c := thread.NewChange(had, &thread.Rules{}, time.Now())
		c.Add(thread.Entry{Type: thread.EntryMessage})
		assert.NoError(t, s.Commit(context.Background(), c))
		had = c.Thread // it goes on, and copy does not run after it
	})
	require.ErrorContains(t, err, "the source has changed meanwhile: stop its programs")
	require.Equal(t, runtime.CodeConflict, runtime.CodeOf(err))
	for _, open := range []func() error{
		func() error {
			_, err := postgres.Open(t.Context(), d.URL, postgres.Config{Schema: d.Schema})
			return err
		},
		func() error { return postgres.Migrate(t.Context(), d.URL, d.Schema) },
	} {
		err = open()
		require.ErrorContains(t, err, "a copy into it has not ended")
		require.Equal(t, runtime.CodeIncompatible, runtime.CodeOf(err))
	}
	_, err = transfer.Copy(t.Context(), s, to, nil)
	require.ErrorContains(t, err, "or the source has changed since the copy was begun",
		"what was copied before is old")
	engineOn(t, s)
	_, err = transfer.Copy(t.Context(), s, to, nil)
	require.ErrorContains(t, err, "engines have the source open (file-")
}

// TestATargetWithOtherContentIsRefused has targets that a copy has begun to be written to, or that
// a program uses, and a source of another content.
func TestATargetWithOtherContentIsRefused(t *testing.T) {
	t.Parallel()
	other := file(t)
	many(t, other, 3, 2)
	source := reading(t, rich(t))
	d, _ := toPostgres(t, source)
	to, done, err := postgres.OpenImport(t.Context(), d.URL, postgres.Config{Schema: d.Schema})
	require.NoError(t, err)
	t.Cleanup(func() { _ = to.Close() })
	require.True(t, done, "it is a store that programs use")
	_, err = transfer.Compare(t.Context(), source, to)
	require.NoError(t, err)
	_, err = transfer.Compare(t.Context(), reading(t, other), to)
	require.Equal(t, runtime.CodeConflict, runtime.CodeOf(err))
	require.ErrorContains(t, err, `thread "many-0", version 3, differs: there is "acme/votes"`)

	path := file(t)
	half, _, err := sqlite.OpenImport(t.Context(), path)
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	_, err = transfer.Copy(ctx, source, half, func(int) { stop() })
	require.Equal(t, runtime.CodeUnavailable, runtime.CodeOf(err))
	_, err = transfer.Copy(t.Context(), reading(t, other), half, nil)
	require.ErrorContains(t, err, "the target is of another store")
	require.NoFileExists(t, path)
	_, err = transfer.Copy(t.Context(), source, half, nil)
	require.NoError(t, err, "and the right one goes on")
	require.NoFileExists(t, path+".partial")

	// killed between the two names
	require.NoError(t, os.Link(path, path+".partial"))
	had, done, err := sqlite.OpenImport(t.Context(), path)
	require.NoError(t, err)
	defer func() { _ = had.Close() }()
	require.True(t, done)
	require.NoFileExists(t, path+".partial")
}

// TestADamagedThreadIsNotCopied damages a record, an interrupt and a row of the log in turn.
func TestADamagedThreadIsNotCopied(t *testing.T) {
	t.Parallel()
	for _, table := range []string{"thread", "interrupt", "log"} {
		t.Run(table, func(t *testing.T) {
			t.Parallel()
			path := rich(t)
			db, err := sql.Open("sqlite", path)
			require.NoError(t, err)
			_, err = db.ExecContext(t.Context(), "UPDATE "+table+
				" SET json = replace(json, ':', ': ') WHERE n = (SELECT max(n) FROM "+table+")")
			require.NoError(t, err)
			require.NoError(t, db.Close())
			to, _, err := sqlite.OpenImport(t.Context(), file(t))
			require.NoError(t, err)
			defer func() { _ = to.Close() }()
			_, err = transfer.Copy(t.Context(), reading(t, path), to, nil)
			require.ErrorContains(t, err, "damaged")
			require.Equal(t, runtime.CodeInternal, runtime.CodeOf(err))
		})
	}
}
