package sqlite

import (
	"cmp"
	"context"
	"crypto/rand"
	"database/sql/driver"
	"encoding/base32"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime/store/internal/record"
	"github.com/routegen/routegen/runtime/thread"
)

var alphabet = base32.NewEncoding("0123456789abcdefghjkmnpqrstvwxyz").WithPadding(base32.NoPadding)

// newID returns 26 signs that begin with the time.
func newID() string {
	var raw [16]byte
	_, _ = rand.Read(raw[6:])
	var ms [8]byte
	binary.BigEndian.PutUint64(ms[:], uint64(time.Now().UnixMilli()))
	copy(raw[:6], ms[2:])
	return alphabet.EncodeToString(raw[:])
}

var payload = []byte(fmt.Sprintf(
	`{"tool":"send_mail","arguments":{"to":"ann@example.com","body":"%0230d"}}`, 7))

func benchRules() *thread.Rules {
	return &thread.Rules{Kinds: thread.DefaultKinds(), NewID: newID}
}

const fingerprint = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"

// ask is the first half of a cycle: a thread that waits for an answer.
func ask(rules *thread.Rules, now time.Time) *thread.Change {
	c := thread.Start(newID(), "ann", fingerprint, rules, now)
	_ = c.Begin("workflow", "mail", []byte(`{"order":4711}`), "ann", "")
	c.Add(thread.Entry{Type: thread.EntryMessage, Frame: "f1", Name: "note",
		Value: []byte(`"I will ask first"`)})
	c.Ask("f1", "", thread.Question{Name: "send", Text: "Send it?", Payload: payload})
	return c
}

// answer is the second half.
func answer(rules *thread.Rules, t *thread.Thread, now time.Time) *thread.Change {
	c := thread.NewChange(t, rules, now)
	_, _ = c.Answer(thread.Answer{Value: []byte(`true`), By: "bob"})
	c.Add(thread.Entry{Type: thread.EntryEffect, Frame: "f1", Name: "send", State: "done",
		Value: []byte(`{"id":"m1"}`)})
	c.Add(thread.Entry{Type: thread.EntryMessage, Frame: "f1", Name: "note",
		Value: []byte(`"sent"`)})
	c.Return("f1", []byte(`"done"`))
	return c
}

func openBench(tb testing.TB) *Store {
	tb.Helper()
	s, err := Open(context.Background(), filepath.Join(dir(tb), "threads.db"), Config{})
	require.NoError(tb, err)
	tb.Cleanup(func() { _ = s.Close() })
	return s
}

// dir is a folder on a disk: the temporary one may be in memory.
func dir(tb testing.TB) string {
	tb.Helper()
	if os.Getenv("SQLITE_BENCH_DIR") == "" {
		return tb.TempDir()
	}
	//nolint:usetesting // the folder is named by who measures
	path, err := os.MkdirTemp(os.Getenv("SQLITE_BENCH_DIR"), "bench")
	require.NoError(tb, err)
	tb.Cleanup(func() { _ = os.RemoveAll(path) })
	return path
}

func (s *Store) cycle(rules *thread.Rules) error {
	ctx := context.Background()
	c := ask(rules, time.Now())
	if err := s.Commit(ctx, c); err != nil {
		return err
	}
	t, err := s.Load(ctx, c.Thread.ID)
	if err != nil {
		return err
	}
	return s.Commit(ctx, answer(rules, t, time.Now()))
}

// floor is the least that a durable cycle can be: one insert and one conditional update of the same
// payload, two commits, on the same driver with the same settings. Grouped, those that wait go to
// disk together.
type floor struct {
	grouped bool
	c       *conn
	mu      sync.Mutex
	queue   []*step
	led     bool
}

type step struct {
	query string
	args  []any
	ready chan bool // true: it leads
}

func openFloor(tb testing.TB, grouped bool) *floor {
	tb.Helper()
	c, err := openConn(dsn(filepath.Join(dir(tb), "floor.db"), settings...))
	require.NoError(tb, err)
	_, _, err = c.exec(context.Background(),
		"CREATE TABLE t(id TEXT PRIMARY KEY, version INTEGER, body BLOB)")
	require.NoError(tb, err)
	tb.Cleanup(func() { _ = c.closeAll() })
	return &floor{c: c, grouped: grouped}
}

func (f *floor) commit(query string, args ...any) {
	me := &step{query: query, args: args}
	f.mu.Lock()
	if f.led {
		me.ready = make(chan bool, 1)
		f.queue = append(f.queue, me)
		f.mu.Unlock()
		if !<-me.ready {
			return
		}
		f.mu.Lock()
	}
	f.led = true
	batch := []*step{me}
	if f.grouped {
		batch = append(batch, f.queue...)
		f.queue = nil
	}
	f.mu.Unlock()
	ctx := context.Background()
	must := func(_, _ int64, err error) {
		if err != nil {
			panic(err)
		}
	}
	must(f.c.exec(ctx, beginStmt))
	for _, s := range batch {
		must(f.c.exec(ctx, s.query, s.args...))
	}
	must(f.c.exec(ctx, commitStmt))
	f.mu.Lock()
	if f.led = len(f.queue) > 0; f.led {
		f.queue[0].ready <- true
		f.queue = f.queue[1:]
	}
	f.mu.Unlock()
	for _, s := range batch[1:] {
		s.ready <- false
	}
}

func (f *floor) cycle() {
	id := newID()
	f.commit("INSERT INTO t VALUES(?, 1, ?)", id, payload)
	f.commit("UPDATE t SET version = 2, body = ? WHERE id = ? AND version = 1", payload, id)
}

// together runs cycles on workers until n are done, or for a time.
func together(workers int, done func(n int64) bool, cycle func()) int64 {
	var n atomic.Int64
	var all sync.WaitGroup
	for range workers {
		all.Go(func() {
			for !done(n.Add(1)) {
				cycle()
			}
			n.Add(-1)
		})
	}
	all.Wait()
	return n.Load()
}

// BenchmarkCycle compares a cycle of the store with the floor: alone with the bare one, in company
// with the grouped one.
func BenchmarkCycle(b *testing.B) {
	rules := benchRules()
	for _, workers := range []int{1, 8, 64} {
		b.Run(fmt.Sprintf("floor/workers=%d", workers), func(b *testing.B) {
			f := openFloor(b, workers > 1)
			b.ResetTimer()
			cpu := burnt()
			together(workers, func(n int64) bool { return n > int64(b.N) }, f.cycle)
			b.ReportMetric(float64(burnt()-cpu)/float64(b.N)/1e3, "cpu-us/cycle")
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "cycles/s")
		})
		b.Run(fmt.Sprintf("store/workers=%d", workers), func(b *testing.B) {
			s := openBench(b)
			b.ReportAllocs()
			b.ResetTimer()
			cpu := burnt()
			together(workers, func(n int64) bool { return n > int64(b.N) }, func() {
				if err := s.cycle(rules); err != nil {
					panic(err)
				}
			})
			b.ReportMetric(float64(burnt()-cpu)/float64(b.N)/1e3, "cpu-us/cycle")
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "cycles/s")
		})
		// One after the other in short turns: what else the machine does falls on both.
		b.Run(fmt.Sprintf("ratio/workers=%d", workers), func(b *testing.B) {
			f, s := openFloor(b, workers > 1), openBench(b)
			var rate [2]float64
			b.ResetTimer()
			for range b.N {
				for n, cycle := range []func(){f.cycle, func() { _ = s.cycle(rules) }} {
					begin := time.Now()
					did := together(workers, func(int64) bool {
						return time.Since(begin) > 50*time.Millisecond
					}, cycle)
					rate[n] += float64(did) / time.Since(begin).Seconds()
				}
			}
			b.ReportMetric(rate[0]/float64(b.N), "floor/s")
			b.ReportMetric(rate[1]/float64(b.N), "store/s")
			b.ReportMetric(rate[1]/rate[0], "ratio")
		})
	}
}

// fill commits waiting threads, 200 to a transaction.
func fill(tb testing.TB, s thread.Store, n int, now func(n int) time.Time) {
	tb.Helper()
	rules := benchRules()
	for from := 0; from < n; from += 200 {
		var changes []*thread.Change
		for at := from; at < min(from+200, n); at++ {
			changes = append(changes, ask(rules, now(at)))
		}
		require.NoError(tb, s.Commit(context.Background(), changes...))
	}
}

// BenchmarkRecord encodes, and decodes, what a waiting thread is: its record, its interrupt and its
// entries.
func BenchmarkRecord(b *testing.B) {
	c := ask(benchRules(), time.Now())
	i := c.Interrupts[0]
	var whole, asked, entries record.Body
	b.Run("encode", func(b *testing.B) {
		b.ReportAllocs()
		for range b.N {
			var errs [3]error
			whole, errs[0] = sealThread(c.Thread)
			asked, errs[1] = sealInterrupt(i)
			entries, errs[2] = sealEntries(c.Entries, c.Thread.ID)
			if err := cmp.Or(errs[:]...); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(len(whole.JSON)+len(asked.JSON)+len(entries.JSON)), "B/thread")
	})
	b.Run("decode", func(b *testing.B) {
		b.ReportAllocs()
		for range b.N {
			var errs [3]error
			_, errs[0] = record.ThreadOf(c.Thread.ID, c.Thread.Fingerprint, whole)
			_, errs[1] = record.InterruptOf(i.ID, i.Thread, i.Kind, i.Node, asked)
			_, errs[2] = record.EntriesOf(1, c.Thread.ID, entries)
			if err := cmp.Or(errs[:]...); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkDisk counts what a waiting thread takes in the closed file.
func BenchmarkDisk(b *testing.B) {
	const n = 20000
	for range b.N {
		path := filepath.Join(dir(b), "threads.db")
		s, err := Open(context.Background(), path, Config{})
		require.NoError(b, err)
		fill(b, s, n, func(int) time.Time { return time.Now() })
		require.NoError(b, s.Close())
		file, err := os.Stat(path)
		require.NoError(b, err)
		b.ReportMetric(float64(file.Size())/n, "B/thread")
		if os.Getenv("SQLITE_BENCH_TABLES") != "" {
			c, err := openConn(dsn(path, settings...))
			require.NoError(b, err)
			err = c.query(context.Background(), func(row []driver.Value) bool {
				b.Log(row[0], intValue(row[1])/n)
				return true
			}, "SELECT name, sum(pgsize) FROM dbstat GROUP BY name")
			if err != nil {
				b.Log(err)
			}
			_ = c.closeAll()
		}
	}
}

// BenchmarkInbox reads the first page of 50 of 100,000 open interrupts.
func BenchmarkInbox(b *testing.B) {
	s := openBench(b)
	fill(b, s, 100_000, func(int) time.Time { return time.Now() })
	b.ResetTimer()
	for range b.N {
		page, err := s.Interrupts(context.Background(), thread.InterruptQuery{Limit: 50})
		require.NoError(b, err)
		require.Len(b, page, 50)
	}
}

// BenchmarkLoad loads, and takes up again, one thread beside others that wait.
func BenchmarkLoad(b *testing.B) {
	for _, others := range []int{0, 100_000} {
		b.Run(fmt.Sprintf("others=%d", others), func(b *testing.B) {
			s := openBench(b)
			fill(b, s, others/2, func(int) time.Time { return time.Now() })
			c := ask(benchRules(), time.Now())
			require.NoError(b, s.Commit(context.Background(), c))
			fill(b, s, others/2, func(int) time.Time { return time.Now() })
			b.ResetTimer()
			for range b.N {
				_, err := s.Load(context.Background(), c.Thread.ID)
				require.NoError(b, err)
			}
		})
	}
}
