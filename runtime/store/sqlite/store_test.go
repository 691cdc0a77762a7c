package sqlite

import (
	"bytes"
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
)

var (
	noon  = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	quiet = slog.New(slog.DiscardHandler)
)

// waiting is the change that makes a thread with one question.
func waiting(id string, payload []byte) *thread.Change {
	rules := &thread.Rules{Kinds: thread.DefaultKinds(), NewID: func() string {
		return "i-" + id
	}}
	c := thread.Start(id, "ann", fingerprint, rules, noon)
	f := c.Enter(thread.Frame{Machine: "workflow", Name: "mail", Input: []byte(`{"n":1}`)}, "ann",
		"r-"+id)
	c.Ask(f, thread.KindAgentQuestion,
		thread.Question{Name: "ok", Text: "May I?", Payload: payload})
	return c
}

func answered(t *thread.Thread) *thread.Change {
	c := thread.NewChange(t, &thread.Rules{Kinds: thread.DefaultKinds()}, noon)
	_, _ = c.Answer(thread.Answer{Value: []byte("true"), By: "bob", Request: "a-" + t.ID})
	return c
}

func opened(t *testing.T, path string) *Store {
	t.Helper()
	s, err := Open(t.Context(), path, Config{Log: quiet})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, s.Close()) })
	return s
}

func file(t *testing.T) string {
	t.Helper()
	return filepath.Join(t.TempDir(), "threads.db")
}

// raw runs statements on the file beside the store.
func raw(t *testing.T, path string, queries ...string) {
	t.Helper()
	c, err := openConn(dsn(path, "_busy_timeout=10000"))
	require.NoError(t, err)
	for _, q := range queries {
		_, _, err := c.exec(t.Context(), q)
		require.NoError(t, err, q)
	}
	require.NoError(t, c.closeAll())
}

// fails is a statement that goes wrong: before it runs, or after it took effect.
type fails struct {
	stmt
	after bool
	once  sync.Once
}

func (f *fails) ExecContext(ctx context.Context, args []driver.NamedValue) (r driver.Result,
	err error) {
	now := false
	f.once.Do(func() { now = true })
	if !now || f.after {
		r, err = f.stmt.ExecContext(ctx, args)
	}
	if now {
		err = errors.New("the disk did not answer")
	}
	return r, err
}

// counted counts how often a statement runs.
type counted struct {
	stmt
	runs int
}

func (c *counted) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result,
	error) {
	c.runs++
	return c.stmt.ExecContext(ctx, args)
}

// replace puts another statement in the place of one of the writer's.
func replace(t *testing.T, s *Store, query string, by func(stmt) stmt) {
	t.Helper()
	had, err := s.writer.prepared(query)
	require.NoError(t, err)
	s.writer.stmts[query] = by(had)
}

// flipBit damages the body of a row, in the column of that name.
func flipBit(t *testing.T, path, table, column, where string) {
	t.Helper()
	c, err := openConn(dsn(path, settings...))
	require.NoError(t, err)
	v, err := c.queryValue(t.Context(), "SELECT CAST("+column+" AS BLOB) FROM "+table+" WHERE "+
		where)
	require.NoError(t, err)
	bad := v.([]byte)
	bad[len(bad)/2] ^= 1
	as := "CAST(? AS TEXT)"
	if column == "body" {
		as = "?"
	}
	rows, _, err := c.exec(t.Context(), "UPDATE "+table+" SET "+column+" = "+as+" WHERE "+where,
		bad)
	require.NoError(t, err)
	require.Equal(t, int64(1), rows)
	require.NoError(t, c.closeAll())
}

func TestADamagedRowHarmsItsThreadOnly(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	for table, asks := range map[string]func(*Store, string) error{
		"thread": func(s *Store, id string) error {
			_, err := s.Load(ctx, id)
			return err
		},
		"interrupt": func(s *Store, id string) error {
			_, err := s.Interrupts(ctx, thread.InterruptQuery{Thread: id})
			return err
		},
		"log": func(s *Store, id string) error {
			_, err := s.Log(ctx, thread.LogQuery{Thread: id})
			return err
		},
	} {
		var said bytes.Buffer
		path := file(t)
		s, err := Open(ctx, path, Config{Log: slog.New(slog.NewTextHandler(&said, nil))})
		require.NoError(t, err)
		require.NoError(t, s.Commit(ctx, waiting("good", nil)))
		require.NoError(t, s.Commit(ctx, waiting("bad", nil)))
		require.NoError(t, asks(s, "bad"))
		flipBit(t, path, table, "json", "n = 2")

		assert.Equal(t, runtime.CodeInternal, runtime.CodeOf(asks(s, "bad")), table)
		require.NoError(t, asks(s, "good"), table)
		_, err = s.Load(ctx, "good")
		require.NoError(t, err)
		inbox, err := s.Interrupts(ctx, thread.InterruptQuery{})
		require.NoError(t, err)
		log, err := s.Log(ctx, thread.LogQuery{})
		require.NoError(t, err)
		switch table {
		case "interrupt":
			assert.Len(t, inbox, 1)
			assert.Contains(t, said.String(), "interrupt=i-bad")
		case "log":
			assert.Len(t, log, 3)
			assert.Contains(t, said.String(), "thread=bad")
		default:
			assert.Len(t, inbox, 2)
			assert.Len(t, log, 6)
		}
		require.NoError(t, s.Close())
	}
}

func TestAFullDiskChangesNothing(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s := opened(t, file(t))
	first := waiting("t", nil)
	require.NoError(t, s.Commit(ctx, first))
	pages, err := s.writer.queryValue(ctx, "PRAGMA page_count")
	require.NoError(t, err)
	_, err = s.writer.queryValue(ctx, fmt.Sprintf("PRAGMA max_page_count = %d", pages))
	require.NoError(t, err)

	big := answered(first.Thread)
	big.Add(thread.Entry{Type: thread.EntryMessage, Value: bytes.Repeat([]byte("7"), 1<<20)})
	err = s.Commit(ctx, big)
	assert.Equal(t, runtime.CodeUnavailable, runtime.CodeOf(err), "%v", err)
	got, err := s.Load(ctx, "t")
	require.NoError(t, err)
	assert.Equal(t, first.Thread, got, "nothing is marked as answered")

	// In a group, one that does not fit is refused, and the others go on.
	small := answered(first.Thread)
	errs := inOneGroup(t, s, waiting("large", bytes.Repeat([]byte("7"), 1<<20)), small)
	assert.Equal(t, runtime.CodeUnavailable, runtime.CodeOf(errs[0]))
	assert.NoError(t, errs[1])

	_, err = s.writer.queryValue(ctx, "PRAGMA max_page_count = 1000000")
	require.NoError(t, err)
	assert.NoError(t, s.Commit(ctx, waiting("large", bytes.Repeat([]byte("7"), 1<<20))))
}

func TestAReadOnlyFileChangesNothing(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s := opened(t, file(t))
	first := waiting("t", nil)
	require.NoError(t, s.Commit(ctx, first))
	_, _, err := s.writer.exec(ctx, "PRAGMA query_only = ON")
	require.NoError(t, err)
	assert.Equal(t, runtime.CodeUnavailable, runtime.CodeOf(s.Commit(ctx, answered(first.Thread))))
	got, err := s.Load(ctx, "t")
	require.NoError(t, err)
	assert.Equal(t, first.Thread, got)
	_, _, err = s.writer.exec(ctx, "PRAGMA query_only = OFF")
	require.NoError(t, err)
	assert.NoError(t, s.Commit(ctx, answered(first.Thread)))
}

// inOneGroup commits changes that all wait while another call writes, in this order.
func inOneGroup(t *testing.T, s *Store, changes ...*thread.Change) []error {
	t.Helper()
	s.mu.Lock()
	require.False(t, s.writing)
	s.writing = true
	s.mu.Unlock()
	errs := make([]error, len(changes))
	var all sync.WaitGroup
	for n, c := range changes {
		all.Go(func() { errs[n] = s.Commit(context.Background(), c) })
		require.Eventually(t, func() bool {
			s.mu.Lock()
			defer s.mu.Unlock()
			return len(s.queue) == n+1
		}, time.Minute, time.Millisecond)
	}
	s.passWriter()
	all.Wait()
	return errs
}

func TestCommitsThatWaitGoToDiskTogether(t *testing.T) {
	t.Parallel()
	s := opened(t, file(t))
	taken := waiting("taken", nil)
	require.NoError(t, s.Commit(t.Context(), taken))
	var syncs counted
	replace(t, s, commitStmt, func(had stmt) stmt {
		syncs.stmt = had
		return &syncs
	})
	var changes []*thread.Change
	for n := range 40 {
		changes = append(changes, waiting(fmt.Sprint("t", n), nil))
	}
	changes[17] = waiting("taken", nil)
	errs := inOneGroup(t, s, changes...)
	for n, err := range errs {
		if n == 17 {
			assert.Equal(t, runtime.CodeConflict, runtime.CodeOf(err))
			continue
		}
		assert.NoError(t, err)
	}
	assert.Equal(t, 1, syncs.runs, "40 commits, one transaction")

	// A call that is refused in the middle takes back its own beginning, and nothing of the others.
	again := answered(taken.Thread)
	again.Entries[0].Request = "r-taken" // was done before
	two := func(s *Store) error {
		return s.Commit(context.Background(), waiting("fresh", nil), again)
	}
	assert.Equal(t, runtime.CodeConflict, runtime.CodeOf(two(s)))
	_, err := s.Load(t.Context(), "fresh")
	assert.Equal(t, runtime.CodeNotFound, runtime.CodeOf(err))
}

func TestARefusedCallDoesNotAffectTheOthersOfItsGroup(t *testing.T) {
	t.Parallel()
	s := opened(t, file(t))
	require.NoError(t, s.Commit(t.Context(), waiting("old", nil)))
	stolen := waiting("thief", nil)
	for _, i := range stolen.Interrupts {
		i.ID = "i-old" // of another thread: found when its thread is written already
	}
	errs := inOneGroup(t, s, waiting("a", nil), stolen, waiting("b", nil))
	assert.NoError(t, errs[0])
	assert.Equal(t, runtime.CodeConflict, runtime.CodeOf(errs[1]))
	assert.NoError(t, errs[2])
	_, err := s.Load(t.Context(), "thief")
	assert.Equal(t, runtime.CodeNotFound, runtime.CodeOf(err))
	for _, id := range []string{"a", "b"} {
		_, err := s.Load(t.Context(), id)
		assert.NoError(t, err)
	}
}

func TestAContextThatEndsTakesBackWhatWaits(t *testing.T) {
	t.Parallel()
	s := opened(t, file(t))
	s.mu.Lock()
	s.writing = true
	s.mu.Unlock()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- s.Commit(ctx, waiting("t", nil)) }()
	require.Eventually(t, func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return len(s.queue) == 1
	}, time.Minute, time.Millisecond)
	cancel()
	err := <-done
	require.ErrorIs(t, err, context.Canceled)
	assert.Equal(t, runtime.CodeUnavailable, runtime.CodeOf(err))
	s.passWriter()
	_, err = s.Load(t.Context(), "t")
	assert.Equal(t, runtime.CodeNotFound, runtime.CodeOf(err))
	require.ErrorIs(t, s.Commit(ctx, waiting("t", nil)), context.Canceled)
	assert.NoError(t, s.Commit(t.Context(), waiting("t", nil)))
}

func TestTheEndOfATransactionThatWentWrongIsReadBack(t *testing.T) {
	t.Parallel()
	for _, after := range []bool{false, true} {
		s := opened(t, file(t))
		replace(t, s, commitStmt, func(had stmt) stmt { return &fails{stmt: had, after: after} })
		err := s.Commit(t.Context(), waiting("t", nil))
		_, missing := s.Load(t.Context(), "t")
		if after {
			require.NoError(t, err, "it is stored, whatever the statement said")
			assert.NoError(t, missing)
			continue
		}
		assert.Equal(t, runtime.CodeUnavailable, runtime.CodeOf(err))
		assert.Equal(t, runtime.CodeNotFound, runtime.CodeOf(missing))
		assert.NoError(t, s.Commit(t.Context(), waiting("t", nil)))
	}
}

func TestTwoStoresOnOneFile(t *testing.T) {
	t.Parallel()
	path := file(t)
	stores := []*Store{opened(t, path), opened(t, path)}
	require.NoError(t, stores[0].Commit(t.Context(), waiting("shared", nil)))
	var all sync.WaitGroup
	var mu sync.Mutex
	won := 0
	for n, s := range stores {
		all.Go(func() {
			for i := range 30 {
				assert.NoError(t, s.Commit(context.Background(),
					waiting(fmt.Sprintf("t%d-%d", n, i), nil)))
			}
			shared, err := s.Load(context.Background(), "shared")
			if assert.NoError(t, err) && shared.Version == 1 &&
				s.Commit(context.Background(), answered(shared)) == nil {
				mu.Lock()
				won++
				mu.Unlock()
			}
		})
	}
	all.Wait()
	assert.Equal(t, 1, won, "one answer is taken")
	for _, s := range stores {
		rows, err := s.Threads(t.Context(), thread.Query{Limit: 1000})
		require.NoError(t, err)
		assert.Len(t, rows, 61)
	}
}

func TestAClosedStoreRefuses(t *testing.T) {
	t.Parallel()
	s := opened(t, file(t))
	s.mu.Lock()
	s.writing = true // another call writes
	s.mu.Unlock()
	refused, closed := make(chan error), make(chan error)
	go func() { refused <- s.Commit(context.Background(), waiting("t", nil)) }()
	require.Eventually(t, func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return len(s.queue) == 1
	}, time.Minute, time.Millisecond)
	go func() { closed <- s.Close() }()
	assert.Equal(t, runtime.CodeUnavailable, runtime.CodeOf(<-refused))
	s.passWriter()
	require.NoError(t, <-closed)
	require.NoError(t, s.Close())
	assert.Equal(t, runtime.CodeUnavailable,
		runtime.CodeOf(s.Commit(t.Context(), waiting("t", nil))))
	_, err := s.Load(t.Context(), "t")
	assert.Equal(t, runtime.CodeUnavailable, runtime.CodeOf(err))
}

func TestAThreadMayBeginWithoutEntries(t *testing.T) {
	t.Parallel()
	s := opened(t, file(t))
	rules := &thread.Rules{}
	for _, id := range []string{"a", "b"} {
		require.NoError(t, s.Commit(t.Context(), thread.NewChange(&thread.Thread{ID: id}, rules,
			noon)))
	}
	for _, id := range []string{"b", "a"} {
		had, err := s.Load(t.Context(), id)
		require.NoError(t, err)
		c := thread.NewChange(had, rules, noon)
		c.Add(thread.Entry{Type: thread.EntryMessage, Text: id})
		require.NoError(t, s.Commit(t.Context(), c))
		log, err := s.Log(t.Context(), thread.LogQuery{Thread: id})
		require.NoError(t, err)
		require.Len(t, log, 1)
		assert.Equal(t, id, log[0].Text)
	}
	log, err := s.Log(t.Context(), thread.LogQuery{Limit: 1})
	require.NoError(t, err)
	require.Len(t, log, 1)
	assert.Equal(t, "b", log[0].Thread)
}

// TestIndexesAreUsed holds the queries that must not read everything to the plan they have.
func TestIndexesAreUsed(t *testing.T) {
	t.Parallel()
	s := opened(t, file(t))
	for query, args := range map[string][]any{
		loadThread: {"t", "t"},
		listInterrupts + " AND i.tenant = ? AND i.state = 0 ORDER BY i.priority, i.created, i.id " +
			"LIMIT ?": {"", int64(50)},
		listLog: {"t", int64(0), int64(0), "t", int64(0), int64(0),
			int64(1)},
		listAllLog + " ORDER BY l.n LIMIT ?":                    {int64(0), int64(1)},
		listThreads + " AND status = 1 ORDER BY id LIMIT ?":     {int64(1)},
		listThreads + " AND wake <= ? ORDER BY wake, n LIMIT ?": {int64(0), int64(1)},
		listThreads + " AND id > ? ORDER BY id LIMIT ?":         {"", int64(1)},
	} {
		err := s.writer.query(t.Context(), func(row []driver.Value) bool {
			step := textValue(row[3])
			assert.False(t, strings.HasPrefix(step, "SCAN") &&
				!strings.Contains(step, "USING INDEX") && !strings.Contains(step, "(subquery") ||
				strings.Contains(step, "TEMP B-TREE"),
				"%s: %s", query, step)
			return true
		}, "EXPLAIN QUERY PLAN "+query, args...)
		require.NoError(t, err)
	}
}
