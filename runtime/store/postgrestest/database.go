//go:build unix

package postgrestest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
)

// Database is a role and a schema of its own in a shared server: what one test has.
type Database struct {
	URL    string // for the role, which has the schema and no other right
	Schema string // also the name of the role
	Admin  string // the URL for a role that may do everything
}

var shared struct {
	once   sync.Once
	server *Instance // nil where the server is not of this package
	dir    string
	admin  string // URL
	err    error
}

// Run runs the tests of a package, and stops the server that they shared. It returns what
// [testing.M.Run] does, for os.Exit.
func Run(m *testing.M) int {
	code := m.Run()
	if shared.server != nil {
		_ = shared.server.Stop("immediate")
	}
	if shared.dir != "" {
		_ = os.RemoveAll(shared.dir)
	}
	return code
}

// New returns a database for a test, in the server that the tests of a package share. Where there
// is none, the test is skipped, or fails if ROUTEGEN_POSTGRES_TESTS=required.
func New(tb testing.TB) *Database {
	tb.Helper()
	shared.once.Do(startShared)
	Need(tb, shared.err)
	name := "t_" + strings.ToLower(rand.Text())
	d := &Database{Schema: name, Admin: shared.admin}
	d.Exec(tb, fmt.Sprintf("CREATE ROLE %s LOGIN PASSWORD '%s'; CREATE SCHEMA %s AUTHORIZATION %s",
		name, name, name, name))
	tb.Cleanup(func() {
		d.Exec(tb, fmt.Sprintf("DROP SCHEMA IF EXISTS %s CASCADE; DROP ROLE %s", name, name))
	})
	u, err := url.Parse(shared.admin)
	if err != nil {
		tb.Fatal(err)
	}
	u.User = url.UserPassword(name, name)
	d.URL = u.String()
	return d
}

// Need skips a test where PostgreSQL is missing, or fails it, and fails it for any other error.
func Need(tb testing.TB, err error) {
	tb.Helper()
	switch {
	case err == nil:
	case errors.Is(err, ErrMissing) && os.Getenv("ROUTEGEN_POSTGRES_TESTS") != "required":
		tb.Skip("SKIPPED: " + err.Error() + ". Nothing was tried on PostgreSQL.")
	default:
		tb.Fatal(err)
	}
}

func startShared() {
	if shared.admin = os.Getenv("ROUTEGEN_POSTGRES"); shared.admin != "" {
		return
	}
	// not that of a test, whose path may be too long for a socket
	shared.dir, shared.err = os.MkdirTemp("", "routegen-postgres-")
	if shared.err != nil {
		return
	}
	shared.server, shared.err = StartInstance(shared.dir)
	if shared.err == nil {
		shared.admin = shared.server.URL("postgres", "postgres")
	}
}

// Exec runs statements as a role that may do everything.
func (d *Database) Exec(tb testing.TB, query string) {
	tb.Helper()
	ctx := context.Background()
	c, err := pgx.Connect(ctx, d.Admin)
	if err == nil {
		_, err = c.PgConn().Exec(ctx, query).ReadAll()
		_ = c.Close(ctx)
	}
	if err != nil {
		tb.Fatalf("%s: %v", query, err)
	}
}
