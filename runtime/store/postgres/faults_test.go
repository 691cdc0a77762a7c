//go:build unix

package postgres

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/store/postgrestest"
	"github.com/routegen/routegen/runtime/thread"
)

var rules = &thread.Rules{Kinds: thread.DefaultKinds()}

// say returns a change of a thread, or a new one, with a message.
func say(had *thread.Thread, id, request string) *thread.Change {
	c := thread.Start(id, "ann", "fp", rules, time.Now())
	if had != nil {
		c = thread.NewChange(had, rules, time.Now())
	}
	c.Add(thread.Entry{Type: thread.EntryMessage, Request: request})
	return c
}

// begin commits a new thread.
func begin(tb testing.TB, s *Store, id string) *thread.Thread {
	tb.Helper()
	c := say(nil, id, "")
	require.NoError(tb, s.Commit(tb.Context(), c))
	return c.Thread
}

// faulty is a server of its own, since what is done to it would harm other tests.
func faulty(t *testing.T, settings ...string) (*postgrestest.Instance, string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "routegen-faulty-") //nolint:usetesting // a socket's path is short
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	server, err := postgrestest.StartInstance(dir, settings...)
	postgrestest.Need(t, err)
	t.Cleanup(func() { _ = server.Stop("immediate") })
	require.NoError(t, Migrate(t.Context(), server.URL("postgres", "postgres"), ""))
	return server, dir
}

func at(t *testing.T, dir string) *Store {
	t.Helper()
	s, err := Open(t.Context(), fmt.Sprintf("postgres://postgres@/postgres?host=%s&port=5432", dir),
		Config{})
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func connected(t *testing.T, server *postgrestest.Instance) *pgx.Conn {
	t.Helper()
	c, err := pgx.Connect(t.Context(), server.URL("postgres", "postgres"))
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close(context.Background()) })
	return c
}

func run(t *testing.T, c *pgx.Conn, query string) {
	t.Helper()
	_, err := c.Exec(t.Context(), query)
	require.NoError(t, err)
}

// requireOnce wants the request r in the log of a thread once, as its last entry.
func requireOnce(t *testing.T, s *Store, id string, version int64) {
	t.Helper()
	had, err := s.Load(t.Context(), id)
	require.NoError(t, err)
	assert.Equal(t, version, had.Version)
	log, err := s.Log(t.Context(), thread.LogQuery{Thread: id})
	require.NoError(t, err)
	var found int
	for _, e := range log {
		if e.Request == "r" {
			found++
		}
	}
	assert.Equal(t, 1, found)
	assert.Equal(t, log[len(log)-1].Seq, had.Seq)
}

// TestFaults does to a server, and to connections, what happens to them. Its parts run one after
// the other: a transaction that one leaves open delays the log of the others.
//
//nolint:tparallel // see above
func TestFaults(t *testing.T) {
	t.Parallel()
	server, dir := faulty(t)
	direct := at(t, dir)
	cuts := map[string]postgrestest.Cut{
		"before a commit is sent":       postgrestest.CutBefore,
		"after a commit is sent":        postgrestest.CutSent,
		"before the answer to a commit": postgrestest.CutAnswer,
	}
	for when, cut := range cuts {
		t.Run("cut "+when, func(t *testing.T) { commitThroughACut(t, dir, direct, cut) })
	}
	t.Run("a commit that still runs is waited for", func(t *testing.T) {
		commitIsWaitedFor(t, server, dir, direct)
	})
	t.Run("a commit that arrives late changes nothing", func(t *testing.T) {
		commitArrivesLate(t, dir, direct)
	})
	t.Run("a deadlock is tried again", func(t *testing.T) {
		deadlockIsTriedAgain(t, server, direct)
	})
	t.Run("a lock that nobody releases", func(t *testing.T) {
		lockIsNotReleased(t, server, direct)
	})
	t.Run("the log waits for running transactions", func(t *testing.T) {
		logWaits(t, server, direct)
	})
	t.Run("another timeline begins behind all entries", func(t *testing.T) {
		timelineChanges(t, server, dir, direct)
	})
	for _, how := range []string{"immediate", "fast"} {
		t.Run("nothing acknowledged is lost by a stop, "+how, func(t *testing.T) {
			stopUnderLoad(t, server, direct, how)
		})
	}
}

func commitThroughACut(t *testing.T, dir string, direct *Store, cut postgrestest.Cut) {
	t.Helper()
	mark := fmt.Sprintf("cut-%d", cut)
	for _, had := range []*thread.Thread{nil, begin(t, direct, "had-"+mark)} {
		id, version := mark, int64(1)
		if had != nil {
			id, version = had.ID, 2
		}
		_, proxied := postgrestest.NewProxy(t, dir, id, cut)
		s := at(t, proxied)
		c := say(had, id, "r")
		// of two threads, so that half of a commit would show
		other := say(nil, "beside-"+id, "")
		require.NoError(t, s.Commit(t.Context(), c, other))
		requireOnce(t, direct, id, version)
		_, err := direct.Load(t.Context(), other.Thread.ID)
		require.NoError(t, err)
	}
}

// commitIsWaitedFor cuts off a commit that waits for a lock. It is sent again while the first still
// waits: one of them is done.
func commitIsWaitedFor(t *testing.T, server *postgrestest.Instance, dir string, direct *Store) {
	t.Helper()
	had := begin(t, direct, "waited-for")
	holder := connected(t, server)
	run(t, holder, "BEGIN")
	run(t, holder, "SELECT FROM routegen.thread WHERE id = 'waited-for' FOR UPDATE")
	_, proxied := postgrestest.NewProxy(t, dir, had.ID, postgrestest.CutSent)
	s := at(t, proxied)
	result := make(chan error, 1)
	go func() { result <- s.Commit(context.Background(), say(had, had.ID, "r")) }()
	watcher := connected(t, server)
	require.Eventually(t, func() bool {
		var waiting int
		err := watcher.QueryRow(context.Background(), `SELECT count(*) FROM pg_stat_activity
			WHERE query LIKE '%commit_threads%' AND wait_event_type = 'Lock'`).Scan(&waiting)
		return err == nil && waiting == 2
	}, 4*time.Second, 5*time.Millisecond, "both calls wait")
	run(t, holder, "COMMIT")
	require.NoError(t, <-result)
	requireOnce(t, direct, had.ID, 2)
}

// commitArrivesLate delivers a commit to the server after it was sent again and done.
func commitArrivesLate(t *testing.T, dir string, direct *Store) {
	t.Helper()
	had := begin(t, direct, "late")
	proxy, proxied := postgrestest.NewProxy(t, dir, had.ID, postgrestest.CutDelayed)
	s := at(t, proxied)
	c := say(had, had.ID, "r")
	require.NoError(t, s.Commit(t.Context(), c))
	require.NoError(t, direct.Commit(t.Context(), say(c.Thread, had.ID, "next")))
	proxy.Release()
	requireOnce(t, direct, had.ID, 3)
}

// deadlockIsTriedAgain has another transaction take two threads in the other order.
func deadlockIsTriedAgain(t *testing.T, server *postgrestest.Instance, s *Store) {
	t.Helper()
	a, b := begin(t, s, "dead-a"), begin(t, s, "dead-b")
	other := connected(t, server)
	run(t, other, "SET deadlock_timeout = '30s'") // so that the store's call is the one that loses
	run(t, other, "BEGIN")
	run(t, other, "SELECT FROM routegen.thread WHERE id = 'dead-b' FOR UPDATE")
	result := make(chan error, 1)
	go func() { result <- s.Commit(context.Background(), say(b, b.ID, "r"), say(a, a.ID, "r")) }()
	// waits for the store's call, which waits for this transaction until it is undone
	run(t, other, "SELECT pg_sleep(0.2)")
	run(t, other, "SELECT FROM routegen.thread WHERE id = 'dead-a' FOR UPDATE")
	run(t, other, "ROLLBACK")
	require.NoError(t, <-result)
	requireOnce(t, s, a.ID, 2)
	requireOnce(t, s, b.ID, 2)
	watcher := connected(t, server)
	require.Eventually(t, func() bool {
		var found int
		err := watcher.QueryRow(context.Background(), `SELECT deadlocks FROM pg_stat_database
			WHERE datname = 'postgres'`).Scan(&found)
		return err == nil && found == 1
	}, 10*time.Second, 10*time.Millisecond, "there was a deadlock")
}

// lockIsNotReleased wants a refusal in the time that is promised, and nothing stored.
func lockIsNotReleased(t *testing.T, server *postgrestest.Instance, s *Store) {
	t.Helper()
	had := begin(t, s, "locked")
	holder := connected(t, server)
	run(t, holder, "BEGIN")
	run(t, holder, "SELECT FROM routegen.thread WHERE id = 'locked' FOR UPDATE")
	begun := time.Now()
	c := say(had, had.ID, "r")
	err := s.Commit(t.Context(), c)
	assert.Equal(t, runtime.CodeUnavailable, runtime.CodeOf(err), "%v", err)
	assert.Less(t, time.Since(begun), commitLimit+5*time.Second)
	run(t, holder, "ROLLBACK")
	if err = s.Commit(t.Context(), c); runtime.CodeOf(err) != runtime.CodeConflict {
		require.NoError(t, err) // the call that was given up may have been done after all
	}
	requireOnce(t, s, had.ID, 2)
}

func logWaits(t *testing.T, server *postgrestest.Instance, s *Store) {
	t.Helper()
	begin(t, s, "followed")
	entries, err := s.Log(t.Context(), thread.LogQuery{Limit: 100_000})
	require.NoError(t, err)
	stranger := connected(t, server)
	run(t, stranger, "BEGIN")
	run(t, stranger, "SELECT pg_current_xact_id()")
	begin(t, s, "behind")
	_, err = s.Log(t.Context(), thread.LogQuery{Limit: len(entries)})
	require.NoError(t, err, "a full page needs no wait")
	_, err = s.Log(t.Context(), thread.LogQuery{Limit: 100_000})
	assert.Equal(t, runtime.CodeUnavailable, runtime.CodeOf(err), "%v", err)
	one, err := s.Log(t.Context(), thread.LogQuery{Thread: "behind"})
	require.NoError(t, err, "the log of a thread does not wait")
	assert.Len(t, one, 2)
	run(t, stranger, "COMMIT")
	all, err := s.Log(t.Context(), thread.LogQuery{Limit: 100_000})
	require.NoError(t, err)
	require.Len(t, all, len(entries)+2)
	assert.Equal(t, "behind", all[len(all)-1].Thread)
}

// timelineChanges pretends that the server was another one, or was promoted, with fewer
// transactions than before.
func timelineChanges(t *testing.T, server *postgrestest.Instance, dir string, s *Store) {
	t.Helper()
	admin := connected(t, server)
	had := begin(t, s, "lines")
	for n, what := range []string{"line = '00000000'", "server = 1"} {
		run(t, admin, "UPDATE routegen.settings SET start = start + 1000000")
		c := say(had, had.ID, fmt.Sprint("before", n))
		require.NoError(t, s.Commit(t.Context(), c))
		run(t, admin, "UPDATE routegen.settings SET start = start - 1000000, "+what)
		if what == "server = 1" {
			at(t, dir)
		}
		after := say(c.Thread, had.ID, fmt.Sprint("after", n))
		require.NoError(t, s.Commit(t.Context(), after))
		had = after.Thread
		all, err := s.Log(t.Context(), thread.LogQuery{Limit: 100_000})
		require.NoError(t, err)
		assert.Equal(t, fmt.Sprint("after", n), all[len(all)-1].Request, what)
	}
}

// stopUnderLoad stops the server while threads are committed to, and starts it again. Every commit
// that was acknowledged is there, in order and once.
func stopUnderLoad(t *testing.T, server *postgrestest.Instance, s *Store, how string) {
	t.Helper()
	const threads = 6
	ctx, cancel := context.WithCancel(context.Background())
	acknowledged := make([][]string, threads)
	var all sync.WaitGroup
	for n := range threads {
		had := begin(t, s, fmt.Sprintf("%s-%d", how, n))
		all.Go(func() {
			for k := 0; ctx.Err() == nil; k++ {
				c := say(had, had.ID, strconv.Itoa(k))
				err := s.Commit(context.WithoutCancel(ctx), c)
				switch {
				case err == nil:
					had = c.Thread
					acknowledged[n] = append(acknowledged[n], strconv.Itoa(k))
				case runtime.CodeOf(err) != runtime.CodeUnavailable:
					assert.NoError(t, err)
					return
				default:
					had = reloaded(ctx, s, had)
				}
			}
		})
	}
	for range 2 {
		waitFor(300 * time.Millisecond)
		require.NoError(t, server.Stop(how))
		waitFor(100 * time.Millisecond)
		require.NoError(t, server.Restart())
	}
	waitFor(300 * time.Millisecond)
	cancel()
	all.Wait()
	for n := range threads {
		log, err := s.Log(t.Context(), thread.LogQuery{Thread: fmt.Sprintf("%s-%d", how, n),
			Limit: 100_000})
		require.NoError(t, err)
		var stored []string
		for _, e := range log {
			stored = append(stored, e.Request)
		}
		assert.NotEmpty(t, acknowledged[n])
		assert.Subset(t, stored, acknowledged[n], "nothing that was acknowledged is lost")
		assert.IsIncreasing(t, seqs(log))
	}
}

func seqs(log []thread.Entry) (list []int64) {
	for _, e := range log {
		list = append(list, e.Seq)
	}
	return list
}

// reloaded returns a thread as it is stored, as soon as it can be read.
func reloaded(ctx context.Context, s *Store, had *thread.Thread) *thread.Thread {
	for ctx.Err() == nil {
		if now, err := s.Load(ctx, had.ID); err == nil {
			return now
		}
		waitFor(20 * time.Millisecond)
	}
	return had
}

func waitFor(d time.Duration) { <-time.After(d) }

// A role whose transactions are not READ COMMITTED gets serialization errors where others lose by
// version: they are tried again, and lose then.
func TestSerializationErrorsBecomeConflicts(t *testing.T) {
	t.Parallel()
	for _, level := range []string{"repeatable read", "serializable"} {
		d := migrated(t)
		d.Exec(t, fmt.Sprintf("ALTER ROLE %s SET default_transaction_isolation = '%s'", d.Schema,
			level))
		s := opened(t, d)
		had := begin(t, s, "a")
		for range 10 {
			changes := []*thread.Change{say(had, "a", ""), say(had, "a", ""), say(had, "a", "")}
			errs := make([]error, len(changes))
			var all sync.WaitGroup
			for n, c := range changes {
				all.Go(func() { errs[n] = s.Commit(context.Background(), c) })
			}
			all.Wait()
			won := 0
			for n, err := range errs {
				if err == nil {
					had = changes[n].Thread
					won++
				} else {
					require.Equal(t, runtime.CodeConflict, runtime.CodeOf(err), "%v", err)
				}
			}
			require.Equal(t, 1, won)
		}
	}
}

func TestSchemasAreMigratedOnceAndNewerOnesRefused(t *testing.T) {
	t.Parallel()
	d := postgrestest.New(t)
	_, err := Open(t.Context(), d.URL, Config{Schema: d.Schema})
	require.Equal(t, runtime.CodeIncompatible, runtime.CodeOf(err), "%v", err)
	require.ErrorContains(t, err, "call postgres.Migrate")
	errs := make(chan error, 4)
	for range cap(errs) {
		go func() { errs <- Migrate(context.Background(), d.URL, d.Schema) }()
	}
	for range cap(errs) {
		require.NoError(t, <-errs)
	}
	s := opened(t, d)
	had := begin(t, s, "a")
	d.Exec(t, fmt.Sprintf("UPDATE %s.settings SET version = 99", d.Schema))
	for _, err := range []error{Migrate(t.Context(), d.URL, d.Schema), func() error {
		_, err := Open(t.Context(), d.URL, Config{Schema: d.Schema})
		return err
	}()} {
		require.Equal(t, runtime.CodeIncompatible, runtime.CodeOf(err), "%v", err)
		require.ErrorContains(t, err, "has version 99, and this program knows no later one than 2")
	}
	require.NoError(t, s.Commit(t.Context(), say(had, "a", "")), "it is left as it is")
}

// What SQL prints makes the schema that Migrate makes.
func TestTheSchemaCanBeMadeByHand(t *testing.T) {
	t.Parallel()
	d := postgrestest.New(t)
	name := "Odd \"name\" of " + d.Schema
	d.Exec(t, SQL(name, 0))
	t.Cleanup(func() { d.Exec(t, "DROP SCHEMA "+quoteSchema(name)+" CASCADE") })
	require.NoError(t, Migrate(t.Context(), d.Admin, name))
	s, err := Open(t.Context(), d.Admin, Config{Schema: name})
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.Close() })
	begin(t, s, "a")
	assert.Empty(t, SQL(name, len(migrations())))
}

func TestAServerThatLosesCommitsIsRefused(t *testing.T) {
	t.Parallel()
	server, _ := faulty(t, "full_page_writes = off", "synchronous_commit = off")
	url := server.URL("postgres", "postgres")
	_, err := Open(t.Context(), url, Config{})
	require.Equal(t, runtime.CodeUnavailable, runtime.CodeOf(err))
	require.ErrorContains(t, err, "full_page_writes of the server is off and must be on")
	admin := connected(t, server)
	run(t, admin, "ALTER SYSTEM SET full_page_writes = on")
	run(t, admin, "SELECT pg_reload_conf()")
	require.Eventually(t, func() bool {
		s, err := Open(t.Context(), url, Config{})
		if err == nil {
			s.bell.stop() // notifications are not synced
			begin(t, s, "a")
			require.NoError(t, s.Close())
		}
		return err == nil
	}, 10*time.Second, 20*time.Millisecond)
	// a commit is synced although the server's setting says otherwise
	var flushed bool
	require.NoError(t, admin.QueryRow(t.Context(),
		`SELECT pg_current_wal_flush_lsn() >= pg_current_wal_insert_lsn()`).Scan(&flushed))
	assert.True(t, flushed)
}

func TestErrorsHaveTheCodesOfTheirStates(t *testing.T) {
	t.Parallel()
	d := migrated(t)
	s := opened(t, d)
	for text, want := range map[string]runtime.Code{
		"a\x00b": runtime.CodeInvalid, strings.Repeat("long", 5): "",
	} {
		err := s.Commit(t.Context(), say(nil, text, ""))
		assert.Equal(t, want, runtime.CodeOf(err), "%q: %v", text, err)
	}
	noise := make([]byte, 1<<13) // cannot be compressed, so no index takes it
	for n, seed := 0, uint32(1); n < len(noise); n++ {
		seed = seed*1664525 + 1013904223
		noise[n] = 'a' + byte(seed>>24)%26
	}
	err := s.Commit(t.Context(), say(nil, string(noise), ""))
	assert.Equal(t, runtime.CodeInvalid, runtime.CodeOf(err), "%.200v", err)

	_, err = Open(t.Context(), "postgres://:no port", Config{})
	assert.Equal(t, runtime.CodeInvalid, runtime.CodeOf(err), "%v", err)
	_, err = Open(t.Context(), "postgres://ann:secret@127.0.0.1:1/x", Config{})
	assert.Equal(t, runtime.CodeUnavailable, runtime.CodeOf(err), "%v", err)
	assert.NotContains(t, err.Error(), "secret")
	require.NoError(t, s.Close())
	require.NoError(t, s.Close())

	d.Exec(t, fmt.Sprintf("DROP SCHEMA %s CASCADE", d.Schema))
	_, err = Open(t.Context(), d.URL, Config{Schema: d.Schema})
	assert.Equal(t, runtime.CodeIncompatible, runtime.CodeOf(err), "%v", err)
}

// The clock is the database's, whatever the clock of the process says.
func TestTheClockIsThatOfTheDatabase(t *testing.T) {
	t.Parallel()
	s := opened(t, migrated(t))
	for _, wrong := range []time.Duration{5 * time.Minute, -5 * time.Minute} {
		s.local = func() time.Time { return time.Now().Add(wrong) }
		s.synced.Store(int64(-time.Hour))
		_, err := s.Threads(t.Context(), thread.Query{})
		require.NoError(t, err)
		assert.WithinDuration(t, time.Now(), s.Now(), 10*time.Second)
	}
}
