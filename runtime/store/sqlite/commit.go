package sqlite

import (
	"bytes"
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"maps"
	goruntime "runtime"
	"slices"

	"github.com/routegen/routegen/runtime"
)

const (
	begin    = "BEGIN IMMEDIATE"
	commit   = "COMMIT"
	rollback = "ROLLBACK"

	insertThread = `INSERT INTO thread(n, id, version, fence, status, owner, wake, shape, body)
		VALUES((SELECT coalesce(max(n), 0) + 1 FROM log), ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT DO NOTHING`
	updateThread = `UPDATE thread SET version = ?, fence = ?, status = ?, owner = ?, wake = ?, shape = ?, body = ?
		WHERE id = ? AND version = ? AND (? = 0 OR fence = ?)`
	insertRequest = `INSERT INTO request(thread, id, seq) SELECT n, ?, ? FROM thread WHERE id = ? AND version = ? AND (? = 0 OR fence = ?)
		ON CONFLICT DO NOTHING`
	insertFirstRequest = `INSERT INTO request(thread, id, seq) VALUES(?, ?, ?)`
	writeInterrupt     = `INSERT INTO interrupt(id, thread, state, priority, created, kind, node, who, body)
		VALUES(?, (SELECT n FROM thread WHERE id = ?), ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT(id) DO UPDATE SET state = excluded.state, priority = excluded.priority, created = excluded.created, kind = excluded.kind,
		node = excluded.node, who = excluded.who, body = excluded.body WHERE thread = excluded.thread`
	insertLog   = `INSERT INTO log(thread, seq, body) VALUES((SELECT n FROM thread WHERE id = ?), ?, ?)`
	insertShape = `INSERT INTO shape(fingerprint) VALUES(?) ON CONFLICT DO NOTHING`
	findShape   = `SELECT n FROM shape WHERE fingerprint = ?`
	findVersion = `SELECT version, fence, body FROM thread WHERE id = ?`
)

// most is how many calls one transaction takes.
const most = 256

// job is one call of Commit. Its ready channel exists when it waits for the writer.
type job struct {
	rows  []threadRow
	ready chan verdict
	err   error
	wrote bool // some of it is in the transaction
}

// verdict ends the wait of a job: it is done, or it leads.
type verdict struct {
	err  error
	lead bool
}

// Commit implements [runtime.Store]. A context that ends while the call waits for others takes it back; once it is its turn, the outcome is
// told as it is. The lock that another process holds is waited for, ten seconds at most, and a context does not cut that short. Beside what the port says, a second change of a thread in one call is refused with CodeInvalid, and an interrupt id that
// another thread has with CodeConflict.
func (s *Store) Commit(ctx context.Context, changes ...*runtime.Change) error {
	const op = "commit"
	if err := ctx.Err(); err != nil {
		return failed(op, err)
	}
	rows, err := rowsOf(changes)
	if err != nil {
		return err
	}
	j := &job{rows: rows}
	s.mu.Lock()
	switch {
	case s.closed:
		s.mu.Unlock()
		return failed(op, errClosed)
	case s.led:
		j.ready = make(chan verdict, 1)
		s.queue = append(s.queue, j)
		s.mu.Unlock()
		if v := s.wait(ctx, j); !v.lead {
			return failed(op, v.err)
		}
	default:
		s.led = true
		s.mu.Unlock()
	}
	if err := ctx.Err(); err != nil {
		s.pass()
		return failed(op, err)
	}
	s.lead(context.WithoutCancel(ctx), j) // what has begun is not cut short
	return j.err
}

// wait waits until the job is done, or leads.
func (s *Store) wait(ctx context.Context, j *job) verdict {
	select {
	case v := <-j.ready:
		return v
	case <-ctx.Done():
	}
	s.mu.Lock()
	at := slices.Index(s.queue, j)
	if at >= 0 {
		s.queue = slices.Delete(s.queue, at, at+1)
	}
	s.mu.Unlock()
	if at >= 0 {
		return verdict{err: ctx.Err()}
	}
	return <-j.ready
}

// lead writes a job and those that wait, and passes the writer on.
func (s *Store) lead(ctx context.Context, j *job) {
	if j.ready != nil { // those who were just told their outcome may have the next commit at hand: a larger group costs each less
		goruntime.Gosched()
		goruntime.Gosched()
	}
	s.mu.Lock()
	n := min(len(s.queue), most)
	batch := make([]*job, 0, 1+n)
	batch = append(append(batch, j), s.queue[:n]...)
	s.queue = slices.Delete(s.queue, 0, n)
	s.mu.Unlock()
	s.write(ctx, batch)
	for _, done := range batch[1:] {
		done.ready <- verdict{err: done.err}
	}
	s.pass()
}

// pass gives the writer to the first that waits for it.
func (s *Store) pass() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.queue) == 0 {
		s.led = false
		return
	}
	next := s.queue[0]
	s.queue = slices.Delete(s.queue, 0, 1)
	next.ready <- verdict{lead: true}
}

// write commits the jobs in one transaction. Each is refused or written on its own; when something is in the way that may be the matter of
// one, each has a transaction of its own.
func (s *Store) write(ctx context.Context, batch []*job) {
	err := s.inPlace(ctx)
	if err == nil {
		err = s.begin(ctx)
	}
	if err != nil {
		for _, j := range batch {
			j.err = failed("commit", err)
		}
		return
	}
	err = s.transact(ctx, batch)
	switch {
	case err == nil:
		maps.Copy(s.shapes, s.fresh)
	case len(batch) == 1:
		batch[0].err = failed("commit", err)
	default:
		for n, j := range batch {
			j.err, j.wrote = nil, false
			s.write(ctx, batch[n:n+1])
		}
	}
}

// begin takes the lock of the file.
func (s *Store) begin(ctx context.Context) error {
	clear(s.fresh)
	err := s.run(ctx, begin)
	if err != nil {
		s.undo(ctx)
	}
	return err
}

func (s *Store) run(ctx context.Context, query string) error {
	_, _, err := s.writer.exec(ctx, query)
	return err
}

// undo ends a transaction that went wrong. SQLite may have done it already: that there is none is no error.
func (s *Store) undo(ctx context.Context) { _ = s.run(ctx, rollback) }

// transact writes the jobs and ends the transaction. With an error nothing of it is stored, or nobody knows.
func (s *Store) transact(ctx context.Context, batch []*job) error {
	for _, j := range batch {
		err := s.apply(ctx, j)
		if refused, ours := errors.AsType[*runtime.Error](err); ours && !j.wrote {
			j.err = refused
			continue
		}
		if err != nil {
			s.undo(ctx)
			return err
		}
	}
	err := s.run(ctx, commit)
	if err == nil {
		return nil
	}
	s.undo(ctx)
	return s.settle(ctx, batch, err)
}

// settle finds out what became of a transaction whose end was an error. What it left at the end of the write-ahead log is overwritten first:
// else it could come back after a crash. Then the file says whether the jobs are in it.
func (s *Store) settle(ctx context.Context, batch []*job, why error) error {
	unknown := refuse(runtime.CodeUnavailable, "", fmt.Errorf("load it again, what became of it is unknown: %w", why))
	if s.overwrite(ctx) != nil {
		s.undo(ctx)
		return unknown
	}
	for _, j := range batch {
		for n := range j.rows {
			r := &j.rows[n]
			stored := false
			err := s.writer.query(ctx, func(row []driver.Value) bool {
				body, _ := row[2].([]byte)
				stored = row[0] == r.version && bytes.Equal(body, r.body)
				return false
			}, findVersion, r.id)
			switch {
			case err != nil:
				return unknown
			case j.err == nil && !stored:
				return why // one transaction: what holds for one holds for all
			case j.err == nil:
				return nil
			}
		}
	}
	return nil
}

// overwrite writes a page anew as it is: the one with the version of the file, which a newer program may have raised meanwhile.
func (s *Store) overwrite(ctx context.Context) error {
	if err := s.run(ctx, begin); err != nil {
		return err
	}
	at, err := s.writer.one(ctx, "PRAGMA user_version")
	if err != nil {
		return err
	}
	for _, query := range [...]string{fmt.Sprintf("PRAGMA user_version = %d", at), commit} {
		if err := s.run(ctx, query); err != nil {
			return err
		}
	}
	return nil
}

// apply writes the changes of a job. What is in the way of the first is found before anything is written.
func (s *Store) apply(ctx context.Context, j *job) error {
	for n := range j.rows {
		r := &j.rows[n]
		shape, err := s.shape(ctx, r.fingerprint)
		if err == nil {
			err = s.applyThread(ctx, j, r, shape)
		}
		if err == nil {
			err = s.applyRest(ctx, r)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) applyThread(ctx context.Context, j *job, r *threadRow, shape any) error {
	w := s.writer
	if r.before == 0 {
		rows, key, err := w.exec(ctx, insertThread, r.id, r.version, r.next, r.status, r.owner, r.wake, shape, r.body)
		if err == nil && (rows == 0 || r.fence != 0) {
			j.wrote = j.wrote || rows != 0
			err = s.conflict(ctx, r)
		}
		for n := 0; err == nil && n < len(r.requests); n++ {
			_, _, err = w.exec(ctx, insertFirstRequest, key, r.requests[n].id, r.requests[n].seq)
		}
		j.wrote = j.wrote || rows != 0
		return err
	}
	for _, q := range r.requests {
		rows, _, err := w.exec(ctx, insertRequest, q.id, q.seq, r.id, r.before, r.fence, r.fence)
		if err == nil && rows == 0 {
			err = s.conflict(ctx, r)
		}
		if err != nil {
			return err
		}
		j.wrote = true
	}
	rows, _, err := w.exec(ctx, updateThread, r.version, r.next, r.status, r.owner, r.wake, shape, r.body, r.id, r.before, r.fence, r.fence)
	if err == nil && rows == 0 {
		err = s.conflict(ctx, r)
	}
	j.wrote = j.wrote || rows != 0
	return err
}

func (s *Store) applyRest(ctx context.Context, r *threadRow) error {
	for n := range r.interrupts {
		i := &r.interrupts[n]
		rows, _, err := s.writer.exec(ctx, writeInterrupt, i.id, r.id, i.state, i.priority, i.created, i.kind, i.node, i.who, i.body)
		if err == nil && rows == 0 {
			err = r.refuse(runtime.CodeConflict, fmt.Errorf("another thread has interrupt %.60q", i.id))
		}
		if err != nil {
			return err
		}
	}
	for n := range r.log {
		if _, _, err := s.writer.exec(ctx, insertLog, r.id, r.log[n].seq, r.log[n].body); err != nil {
			return err
		}
	}
	return nil
}

// conflict says what is in the way of a change.
func (s *Store) conflict(ctx context.Context, r *threadRow) error {
	var version, fence int64
	err := s.writer.query(ctx, func(row []driver.Value) bool {
		version, _ = row[0].(int64)
		fence, _ = row[1].(int64)
		return false
	}, findVersion, r.id)
	switch {
	case err != nil:
		return err
	case version != r.before:
		err = fmt.Errorf("version %d is stored, and %d was changed", version, r.before)
	case r.fence != 0 && r.fence != fence:
		err = fmt.Errorf("another engine drives it: its fence is %d, not %d", fence, r.fence)
	default:
		err = errors.New("a request of it was done before")
	}
	return r.refuse(runtime.CodeConflict, err)
}

// shape returns the number of a fingerprint, inside the transaction.
func (s *Store) shape(ctx context.Context, fingerprint string) (any, error) {
	if fingerprint == "" {
		return nil, nil
	}
	for _, known := range []map[string]int64{s.shapes, s.fresh} {
		if n := known[fingerprint]; n != 0 {
			return n, nil
		}
	}
	if _, _, err := s.writer.exec(ctx, insertShape, fingerprint); err != nil {
		return nil, err
	}
	n, err := s.writer.one(ctx, findShape, fingerprint)
	if err == nil {
		s.fresh[fingerprint] = integer(n)
	}
	return n, err
}
