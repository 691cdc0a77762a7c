package sqlite

import (
	"context"
	"database/sql/driver"
	"encoding/binary"
	"slices"

	"github.com/routegen/routegen/runtime"
)

const (
	// readTail tells how far the tables are, and what came after a row of the tail.
	readTail = `SELECT 0, min(n), '', '' FROM tail
		UNION ALL SELECT 1, n, id, body FROM tail WHERE n > ? AND id IS NOT NULL`
	insertTail = `INSERT INTO tail(n, id, body) VALUES(?, ?, ?)`
)

// The tail folds into the tables when it has so many commits, or bytes: enough that pages and statements are shared, and few enough that whoever
// commits next waits for milliseconds only.
const (
	mostTail      = 256
	mostTailBytes = 1 << 20
)

// tail is what the process knows of the commits that the tables do not have yet. Its rows are never changed once they are in it.
type tail struct {
	mark, last int64 // the tables have everything up to mark; the last commit is last
	seen       state // of the file, when nothing else is in it
	bytes      int
	rows       []*threadRow
	threads    map[string]*recent
	interrupts map[string]string // the thread of each
}

// recent is what the tail has of a thread.
type recent struct {
	rows   []*threadRow
	thread *runtime.Thread // as it was committed; nil when that is not known without the tables
}

func newTail() tail {
	return tail{mark: -1, last: -1, threads: map[string]*recent{}, interrupts: map[string]string{}}
}

// add takes a commit that is in the file.
func (t *tail) add(r *threadRow) {
	had := t.threads[r.id]
	if had == nil {
		had = &recent{}
		t.threads[r.id] = had
	}
	switch {
	case r.thread == nil || r.before != 0 && had.thread == nil:
		had.thread = nil
	case r.before == 0:
		had.thread = asking(r.thread, nil, r.touched)
	default:
		had.thread = asking(r.thread, had.thread.Open, r.touched)
	}
	r.thread, r.touched = nil, nil
	had.rows = append(had.rows, r)
	for n := range r.Interrupts {
		t.interrupts[r.Interrupts[n].ID] = r.id
	}
	t.rows = append(t.rows, r)
	t.last = r.n
	t.bytes += len(r.sealed)
	r.sealed = nil // kept says the same
}

// asking is a record with its open interrupts: those it had, as they are now, and new ones. What a caller gave stays as it is.
func asking(t *runtime.Thread, had, changed []*runtime.Interrupt) *runtime.Thread {
	out := *t
	out.Open = overlay(had, changed)
	return &out
}

func overlay(had, changed []*runtime.Interrupt) []*runtime.Interrupt {
	open := slices.Clip(had)
	for _, i := range changed {
		at := slices.IndexFunc(open, func(o *runtime.Interrupt) bool { return o.ID == i.ID })
		live := i.State == runtime.InterruptOpen || i.State == runtime.InterruptQueued
		switch {
		case at >= 0 && live:
			open = slices.Clone(open)
			open[at] = i
		case at >= 0:
			open = slices.Delete(slices.Clone(open), at, at+1)
		case live:
			open = append(open, i)
		}
	}
	if len(open) == 0 {
		return nil
	}
	return open
}

// known is what the process knew when a query began, and what the file then said beside it: together they are one state of the store.
type known struct {
	mark, last int64
	seen       state
	rows       []*threadRow // of the tail, in order: of one thread, or of all
	thread     *runtime.Thread
	all        bool
	foreign    bool // another process has committed to the thread, or folded
}

// knows tells what is known of a thread.
func (s *Store) knows(thread string) known {
	s.tailMu.RLock()
	defer s.tailMu.RUnlock()
	k := known{mark: s.tail.mark, last: s.tail.last, seen: s.tail.seen}
	if had := s.tail.threads[thread]; had != nil {
		k.rows, k.thread = slices.Clip(had.rows), had.thread
	}
	return k
}

// knowsAll tells what is known of all threads.
func (s *Store) knowsAll() known {
	s.tailMu.RLock()
	defer s.tailMu.RUnlock()
	return known{mark: s.tail.mark, last: s.tail.last, seen: s.tail.seen, all: true, rows: slices.Clip(s.tail.rows)}
}

// see takes a row of readTail that belongs to the same snapshot as what the tables say.
func (k *known) see(thread string, row []driver.Value) {
	n := integer(row[1])
	if integer(row[0]) == 0 {
		k.foreign = k.foreign || n != k.mark
		k.mark = n
		if len(k.rows) > 0 && k.rows[0].n <= n {
			k.rows = slices.DeleteFunc(slices.Clone(k.rows), func(r *threadRow) bool { return r.n <= n })
		}
		return
	}
	if id := textOf(row[2]); k.all || id == thread {
		k.foreign = true
		k.rows = append(k.rows, rowOf(n, id, blob(row[3])))
	}
}

// refresh learns inside a transaction what other processes have committed and folded.
func (s *Store) refresh(ctx context.Context) error {
	mark, came := int64(-1), []*threadRow(nil)
	err := s.writer.query(ctx, func(row []driver.Value) bool {
		if integer(row[0]) == 0 {
			mark = integer(row[1])
		} else {
			came = append(came, rowOf(integer(row[1]), textOf(row[2]), blob(row[3])))
		}
		return true
	}, readTail, s.tail.last)
	if err != nil {
		return err
	}
	s.tailMu.Lock()
	defer s.tailMu.Unlock()
	if mark != s.tail.mark {
		s.tail = newTail() // all that this process knew is in the tables
		s.tail.mark, s.tail.last = mark, mark
	}
	for _, r := range came {
		s.tail.add(r)
	}
	s.tail.seen = s.began
	return nil
}

// forget drops what is known of the tail: the file is asked again.
func (s *Store) forget() {
	s.tailMu.Lock()
	defer s.tailMu.Unlock()
	s.tail = newTail()
}

// publish lets readers see what was committed.
func (s *Store) publish(rows []*threadRow) {
	s.tailMu.Lock()
	defer s.tailMu.Unlock()
	for _, r := range rows {
		s.tail.add(r)
	}
	s.tail.seen = s.ended()
}

// header is the beginning of SQLite's index of the write-ahead log.
type header [48]byte

// state is a header, where it could be read.
type state struct {
	header

	known bool
}

// now is the state of the file.
func (s *Store) now() state {
	h, ok := s.watch.read()
	return state{h, ok}
}

// ended is the state that the transaction which has just ended has left behind. It is not known when another process was there already:
// a transaction raises the number of changes by one.
func (s *Store) ended() state {
	const at, end = 8, 12
	now := s.now()
	changes := func(h *state) uint32 { return binary.NativeEndian.Uint32(h.header[at:end]) }
	now.known = now.known && s.began.known && changes(&now) == changes(&s.began)+1
	return now
}

// current reports whether what was known is all there is: nothing was written since.
func (s *Store) current(k *known) bool { return k.seen.known && s.now() == k.seen }
