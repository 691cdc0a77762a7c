package postgres

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
)

// DefaultSchema is the schema of the tables where a Config names none.
const DefaultSchema = "routegen"

// Config is how a database is opened. Its zero value works.
type Config struct {
	Schema string       // of the tables; "" means [DefaultSchema]
	Log    *slog.Logger // hears of damaged rows that a query left out; nil means [slog.Default]
}

// Store is a [thread.Store] in a PostgreSQL database, and a [thread.Clock]. [Open] makes one. Any
// number of goroutines may use it.
type Store struct {
	pool   *pgxpool.Pool
	schema string // quoted
	log    *slog.Logger

	local  func() time.Time // the clock of this process
	offset atomic.Int64     // nanoseconds that the clock of the database is ahead
	synced atomic.Int64     // when offset was measured, by the monotonic clock since opened
	opened time.Time

	channel  string // of notifications
	bell     bell
	feedPoll time.Duration // feedPause, but in tests

	dispatch atomic.Pointer[dispatch] // nil: no jobs are made
}

var (
	_ thread.Store = (*Store)(nil)
	_ thread.Clock = (*Store)(nil)
	_ thread.Feed  = (*Store)(nil)
)

// Open connects to the database of a URL or a connection string, as libpq reads them: TLS by
// sslmode, several hosts, pool_max_conns and the other keys of pgxpool. Where several hosts are
// named, the one that takes writes is used.
//
// It returns CodeInvalid for a URL that cannot be read; CodeIncompatible if the schema is missing
// or older, which [Migrate] changes, or that of a newer program; and CodeUnavailable if the server
// cannot be reached, or does not keep what it has committed (fsync or full_page_writes is off), or
// its encoding is not UTF8.
func Open(ctx context.Context, url string, cfg Config) (*Store, error) {
	return openStore(ctx, url, cfg, false)
}

// openStore is Open, or opens a schema that a copy is written to.
func openStore(ctx context.Context, url string, cfg Config, copying bool) (*Store, error) {
	const op = "open the database"
	c, err := parseURL(url)
	if err != nil {
		return nil, err
	}
	pool, err := pgxpool.NewWithConfig(ctx, c)
	if err != nil {
		return nil, wrapError(op, err)
	}
	s := &Store{pool: pool, schema: quoteSchema(cfg.Schema), log: cfg.Log, local: time.Now,
		opened: time.Now(), channel: cmp.Or(cfg.Schema, DefaultSchema), feedPoll: feedPause,
		bell: bell{sender: rand.Text(), done: make(chan struct{})}}
	if s.log == nil {
		s.log = slog.Default()
	}
	if err = s.verify(ctx, copying); err == nil {
		err = s.syncClock(ctx)
	}
	if err != nil {
		pool.Close()
		return nil, wrapError(op, err)
	}
	return s, nil
}

// parseURL returns the configuration of a pool. No statement is prepared by name, so that a pooler
// may give each transaction another connection; default_query_exec_mode of the URL overrides that.
func parseURL(url string) (*pgxpool.Config, error) {
	c, err := pgxpool.ParseConfig(url)
	if err != nil { // says what is wrong, without the password
		return nil, runtime.Errorf(runtime.CodeInvalid, "read the URL of the database", "%w", err)
	}
	cc := c.ConnConfig
	if !strings.Contains(url, "default_query_exec_mode") {
		cc.DefaultQueryExecMode = pgx.QueryExecModeCacheDescribe
	}
	cc.RuntimeParams["application_name"] = cmp.Or(cc.RuntimeParams["application_name"], "routegen")
	cc.ConnectTimeout = cmp.Or(cc.ConnectTimeout, 5*time.Second)
	for _, other := range cc.Fallbacks {
		if (other.Host != cc.Host || other.Port != cc.Port) && cc.ValidateConnect == nil {
			cc.ValidateConnect = pgconn.ValidateConnectTargetSessionAttrsReadWrite
		}
	}
	return c, nil
}

// Pool returns the connections of the store, for what works in the same database. [Store.Close]
// closes it.
func (s *Store) Pool() *pgxpool.Pool { return s.pool }

// Close waits for the calls that have begun and closes the connections. Afterwards every method
// refuses with CodeUnavailable. It may be called again, and does nothing then.
func (s *Store) Close() error {
	s.bell.stop()
	s.pool.Close()
	return nil
}

// sql puts the schema into a statement.
func (s *Store) sql(query string) string { return inSchema(query, s.schema) }

// clockAge is how old the measured difference of the clocks may be.
const clockAge = 10 * time.Second

// Now implements [thread.Clock]: it is the time of the database, so that engines on machines whose
// clocks differ agree on when a lease or a deadline ends. It asks the database every ten seconds at
// most, while an engine polls, and follows the local clock in between.
func (s *Store) Now() time.Time { return s.local().Add(time.Duration(s.offset.Load())) }

// syncClock measures how far the clock of the database is ahead, to half of a round trip.
func (s *Store) syncClock(ctx context.Context) error {
	before, begun := s.local(), time.Now()
	var there time.Time
	err := s.pool.QueryRow(ctx, `SELECT clock_timestamp()`).Scan(&there)
	if err == nil {
		took := time.Since(begun)
		s.offset.Store(int64(there.Sub(before.Add(took / 2))))
		s.synced.Store(int64(time.Since(s.opened)))
	}
	return err
}

// query calls each with every row.
func (s *Store) query(ctx context.Context, each func(pgx.Rows) error, query string,
	args ...any) error {
	ctx, cancel := context.WithTimeout(ctx, readLimit)
	defer cancel()
	rows, err := s.pool.Query(ctx, s.sql(query), args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := each(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// readLimit is how long a query may take.
const readLimit = 30 * time.Second

// threadError is wrapError with the id of a thread.
func threadError(what, id string, err error) error {
	return wrapError(fmt.Sprintf("%s %.60q", what, id), err)
}
