package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"modernc.org/sqlite"

	"github.com/routegen/routegen/runtime"
)

// stmt is what the driver's statements are.
type stmt interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

// conn is one connection of the driver, with its prepared statements. It bypasses database/sql,
// whose pool and conversions cost more than a short statement. It belongs to one goroutine at a
// time.
type conn struct {
	driver.Conn
	stmts map[string]stmt
	args  []driver.NamedValue
	row   []driver.Value
}

// dsn names the file for the driver. A plain path would drop mode and other keys without a word;
// the keys are those that the driver validates, since a misspelt _pragma is accepted and weakens
// what is promised.
func dsn(path string, keys ...string) string {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path // a Windows drive
	}
	return "file:" + strings.NewReplacer("%", "%25", "?", "%3f", "#", "%23").
		Replace(path) + "?" + strings.Join(keys, "&")
}

var (
	settings = []string{
		"_journal_mode=WAL", "_synchronous=FULL", "_busy_timeout=10000", "_txlock=immediate",
		"_foreign_keys=on", "_defensive=1", "_dqs=0",
	}
	reading = append([]string{"mode=ro", "_query_only=on"}, settings...)
	// leaves a foreign file as it is
	looking = []string{"mode=ro", "_busy_timeout=10000", "_defensive=1", "_dqs=0"}
)

func openConn(name string) (*conn, error) {
	c, err := new(sqlite.Driver).Open(name)
	if err != nil {
		return nil, err
	}
	return &conn{Conn: c, stmts: map[string]stmt{}}, nil
}

// prepared returns the prepared statement of a query. Queries are constants of this package, and
// few.
func (c *conn) prepared(query string) (stmt, error) {
	if s := c.stmts[query]; s != nil {
		return s, nil
	}
	prepared, err := c.Prepare(query)
	if err != nil {
		return nil, err
	}
	s, ok := prepared.(stmt)
	if !ok {
		return nil, driver.ErrSkip
	}
	c.stmts[query] = s
	return s, nil
}

func (c *conn) bindArgs(args []any) []driver.NamedValue {
	c.args = c.args[:0]
	for n, a := range args {
		c.args = append(c.args, driver.NamedValue{Ordinal: n + 1, Value: a})
	}
	return c.args
}

// exec runs a statement and returns how many rows it changed, and the key of the row it inserted.
func (c *conn) exec(ctx context.Context, query string, args ...any) (rows, key int64, err error) {
	s, err := c.prepared(query)
	if err != nil {
		return 0, 0, err
	}
	r, err := s.ExecContext(ctx, c.bindArgs(args))
	if err != nil {
		return 0, 0, err
	}
	if rows, err = r.RowsAffected(); err != nil {
		return 0, 0, err
	}
	key, err = r.LastInsertId()
	return rows, key, err
}

// query calls each with every row, until it returns false. A row is valid until each returns; bytes
// in it may be kept.
func (c *conn) query(ctx context.Context, each func(row []driver.Value) (more bool), query string,
	args ...any) error {
	s, err := c.prepared(query)
	if err != nil {
		return err
	}
	rows, err := s.QueryContext(ctx, c.bindArgs(args))
	if err != nil {
		return err
	}
	if n := len(rows.Columns()); len(c.row) < n {
		c.row = make([]driver.Value, n)
	}
	row := c.row[:len(rows.Columns())]
	for {
		if err = rows.Next(row); err != nil || !each(row) {
			break
		}
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return errors.Join(err, rows.Close())
}

// queryRow returns the first row, or nil.
func (c *conn) queryRow(ctx context.Context, query string, args ...any) (row []driver.Value,
	err error) {
	err = c.query(ctx, func(first []driver.Value) bool {
		row = slices.Clone(first)
		return false
	}, query, args...)
	return row, err
}

// queryValue returns the first value of the first row, or nil.
func (c *conn) queryValue(ctx context.Context, query string, args ...any) (driver.Value, error) {
	row, err := c.queryRow(ctx, query, args...)
	if row == nil {
		return nil, err
	}
	return row[0], err
}

// closeAll closes the statements and the connection.
func (c *conn) closeAll() error {
	var errs []error
	for _, s := range c.stmts {
		errs = append(errs, s.Close())
	}
	return errors.Join(append(errs, c.Close())...)
}

// unavailable are the primary result codes of SQLite for what the disk, a lock or the memory
// refuses: trying again may help. The others are damage and defects. These are PERM, BUSY, LOCKED,
// NOMEM, READONLY, INTERRUPT, IOERR, FULL, CANTOPEN and PROTOCOL.
var unavailable = []int{3, 5, 6, 7, 8, 9, 10, 13, 14, 15}

// wrapError gives an error its operation and its code.
func wrapError(op string, err error) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*runtime.Error](err); ok {
		return runtime.Errorf(e.Code, op, "%w", e.Err)
	}
	code := runtime.CodeUnavailable // a context that is over, a closed connection
	if e, ok := errors.AsType[*sqlite.Error](err); ok &&
		!slices.Contains(unavailable, e.Code()&0xff) {
		code = runtime.CodeInternal
	}
	return runtime.Errorf(code, op, "%w", err)
}
