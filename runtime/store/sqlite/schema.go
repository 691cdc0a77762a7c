package sqlite

import (
	"context"
	"fmt"

	"github.com/routegen/routegen/runtime"
)

// application marks the file as ours: "rtgn".
const application = 0x7274676e

// migrations lead from one version of the file to the next; the version of a file is how many it
// has seen. Released steps never change, and testdata has a file of every version.
//
// A row has its key, what it is found by, and a record: JSON and its checksum. Threads have a
// number, which the other tables name them by: it is shorter than the id. All keys but those of
// thread_id and interrupt_id grow with time, and so do ids that begin with their time, so a commit
// writes at the end of each table.
//
//   - shape: the fingerprints in use, each once
//   - thread: status and state are numbers, see record.Statuses; times are Unix
//     milliseconds or NULL
//   - interrupt: n is the order they were asked in; who may answer is a list of hexadecimal names,
//     NULL for anybody
//   - log: a row is a commit, or 500 of its entries; n is the order of commits, and seq the last
//     entry's number. The first of a thread has the thread's number, and needs no index
//   - tenant: what the id of the thread begins with, before the slash; "" is in no index of its
//     own, so nothing is written for it where no other is used
//   - request: seq is the number of the entry that a request id led to
var migrations = []string{
	`CREATE TABLE shape(n INTEGER PRIMARY KEY, fingerprint TEXT NOT NULL UNIQUE);
	CREATE TABLE thread(n INTEGER PRIMARY KEY, id TEXT NOT NULL, version INTEGER NOT NULL, fence INTEGER NOT NULL, status INTEGER NOT NULL,
		owner TEXT, wake INTEGER, shape INTEGER, body BLOB NOT NULL);
	CREATE UNIQUE INDEX thread_id ON thread(id);
	CREATE INDEX thread_running ON thread(id) WHERE status = 1;
	CREATE INDEX thread_wake ON thread(wake) WHERE wake IS NOT NULL;
	CREATE TABLE interrupt(n INTEGER PRIMARY KEY, id TEXT NOT NULL, thread INTEGER NOT NULL, state INTEGER NOT NULL, priority INTEGER NOT NULL,
		created INTEGER NOT NULL, kind TEXT NOT NULL, node TEXT NOT NULL, who TEXT, body BLOB NOT NULL);
	CREATE UNIQUE INDEX interrupt_id ON interrupt(id);
	CREATE INDEX interrupt_thread ON interrupt(thread);
	CREATE INDEX interrupt_open ON interrupt(priority, created, id) WHERE state = 0;
	CREATE TABLE log(n INTEGER PRIMARY KEY, thread INTEGER NOT NULL, seq INTEGER NOT NULL, body BLOB NOT NULL);
	CREATE INDEX log_thread ON log(thread, seq) WHERE n > thread;
	CREATE TABLE request(thread INTEGER NOT NULL, id TEXT NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY(thread, id)) WITHOUT ROWID`,
	`PRAGMA user_version = 2`, // nothing but the version: bodies of interrupts have Clashes
	// nothing but the version: bodies of the log have Rest, those of threads Previous
	`PRAGMA user_version = 3`,
	`PRAGMA user_version = 4`, // and migrateBodies, which makes JSON of the bodies
	// all threads are of tenant "", but for the tables of shapes, which have one commit each
	`ALTER TABLE interrupt ADD COLUMN tenant TEXT NOT NULL DEFAULT '';
	ALTER TABLE log ADD COLUMN tenant TEXT NOT NULL DEFAULT '';
	UPDATE log SET tenant = 'shapes' WHERE n IN (SELECT n FROM thread WHERE id > 'shapes/' AND id < 'shapes0');
	DROP INDEX interrupt_open;
	CREATE INDEX interrupt_open ON interrupt(tenant, priority, created, id) WHERE state = 0;
	CREATE INDEX interrupt_tenant ON interrupt(tenant) WHERE tenant <> '';
	CREATE INDEX log_tenant ON log(tenant) WHERE tenant <> ''`,
}

// fileVersion returns the version of the file, or 0 for an empty one. It returns CodeIncompatible
// for a file of another program or of a newer version.
func fileVersion(ctx context.Context, c *conn) (int, error) {
	row, err := c.queryRow(ctx, `SELECT application_id, user_version,
		(SELECT count(*) FROM sqlite_schema) FROM pragma_application_id, pragma_user_version`)
	if err != nil {
		return 0, err
	}
	of, at := intValue(row[0]), intValue(row[1])
	switch {
	case of == 0 && at == 0 && intValue(row[2]) == 0:
		return 0, nil
	case of != application:
		return 0, runtime.Errorf(runtime.CodeIncompatible, "", "it is the file of another program")
	case at > int64(len(migrations)):
		return 0, runtime.Errorf(runtime.CodeIncompatible, "",
			"it has version %d, and this program knows no later one than %d: use the program "+
				"that wrote it", at, len(migrations))
	}
	return int(at), nil
}

// migrateFile brings the file to the latest version in one transaction.
func (s *Store) migrateFile(ctx context.Context) error {
	err := s.runQuery(ctx, beginStmt)
	if err != nil {
		return err
	}
	at, err := fileVersion(ctx, s.writer)
	for n := at; err == nil && n < len(migrations); n++ {
		if err = s.runQuery(ctx, migrations[n]); err == nil && n == lastBinary {
			err = s.migrateBodies(ctx)
		}
	}
	if err == nil && at < len(migrations) {
		err = s.runQuery(ctx, fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d",
			application, len(migrations)))
	}
	if err == nil {
		err = s.runQuery(ctx, commitStmt)
	}
	if err != nil {
		s.rollBack(context.WithoutCancel(ctx))
	}
	return err
}

// expected are the settings that the file must have accepted: a network file system may refuse WAL,
// and a build of SQLite may have other defaults.
var expected = []struct {
	name  string
	value any
}{
	{"journal_mode", "wal"},
	{"synchronous", int64(2)},
	{"busy_timeout", int64(10000)},
	{"foreign_keys", int64(1)},
}

// verifySettings reads the settings of a connection back.
func verifySettings(ctx context.Context, c *conn) error {
	for _, want := range expected {
		got, err := c.queryValue(ctx, "PRAGMA "+want.name)
		if err != nil {
			return err
		}
		if got != want.value {
			return runtime.Errorf(runtime.CodeUnavailable, "",
				"%s is %v and must be %v: without it what is committed can be lost", want.name, got,
				want.value)
		}
	}
	return nil
}

// checkFile looks for damage after a stop that was not clean.
func checkFile(ctx context.Context, c *conn) error {
	found, err := c.queryValue(ctx, "PRAGMA quick_check(1)")
	if err == nil && found != "ok" {
		err = runtime.Errorf(runtime.CodeInternal, "", "the file is damaged: %v", found)
	}
	return err
}
