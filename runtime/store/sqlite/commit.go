package sqlite

import (
	"context"
	"errors"
	"fmt"
	"maps"
	goruntime "runtime"
	"slices"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/store/internal/record"
	"github.com/routegen/routegen/runtime/thread"
)

const (
	beginStmt    = "BEGIN IMMEDIATE"
	commitStmt   = "COMMIT"
	rollbackStmt = "ROLLBACK"

	insertThread = `INSERT INTO thread(n, id, version, fence, status, owner, wake, shape, json, crc)
		VALUES((SELECT coalesce(max(n), 0) + 1 FROM log), ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT DO NOTHING`
	updateThread = `UPDATE thread SET version = ?, fence = ?, status = ?, owner = ?, wake = ?, shape = ?, json = ?, crc = ?
		WHERE id = ? AND version = ? AND (? = 0 OR fence = ?)`
	insertRequest = `INSERT INTO request(thread, id, seq) SELECT n, ?, ? FROM thread WHERE id = ? AND version = ? AND (? = 0 OR fence = ?)
		ON CONFLICT DO NOTHING`
	insertFirstRequest = `INSERT INTO request(thread, id, seq) VALUES(?, ?, ?)`
	writeInterrupt     = `INSERT INTO interrupt(id, thread, tenant, state, priority, created, kind, node, who, json, crc)
		VALUES(?, (SELECT n FROM thread WHERE id = ?), ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT(id) DO UPDATE SET state = excluded.state, priority = excluded.priority, created = excluded.created, kind = excluded.kind,
		node = excluded.node, who = excluded.who, json = excluded.json, crc = excluded.crc
		WHERE thread = excluded.thread`
	insertLog   = `INSERT INTO log(thread, tenant, seq, json, crc) VALUES((SELECT n FROM thread WHERE id = ?), ?, ?, ?, ?)`
	insertShape = `INSERT INTO shape(fingerprint) VALUES(?) ON CONFLICT DO NOTHING`
	findShape   = `SELECT n FROM shape WHERE fingerprint = ?`
	findVersion = `SELECT version, fence, json FROM thread WHERE id = ?`
)

// most is how many calls one transaction takes.
const maxBatch = 256

// job is one call of Commit. It has a result channel if it waits for the writer.
type job struct {
	rows   []record.Row
	result chan jobResult
	err    error
	wrote  bool // some of it is in the transaction
}

// jobResult ends the wait of a job: it has its outcome, or it is to write.
type jobResult struct {
	err   error
	write bool // the job has the writer
}

// Commit implements [thread.Store]. A context that ends while the call waits for others takes it
// back; once it is its turn, the outcome is told as it is. The lock that another process holds is
// waited for, ten seconds at most, and a context does not cut that short. Beside what the port
// says, a second change of a thread in one call is refused with CodeInvalid, and an interrupt id
// that another thread has with CodeConflict.
func (s *Store) Commit(ctx context.Context, changes ...*thread.Change) error {
	const op = "commit"
	if err := ctx.Err(); err != nil {
		return wrapError(op, err)
	}
	rows, err := record.RowsOf(changes)
	if err != nil {
		return err
	}
	j := &job{rows: rows}
	s.mu.Lock()
	switch {
	case s.closed:
		s.mu.Unlock()
		return wrapError(op, errClosed)
	case s.writing:
		j.result = make(chan jobResult, 1)
		s.queue = append(s.queue, j)
		s.mu.Unlock()
		if v := s.wait(ctx, j); !v.write {
			return wrapError(op, v.err)
		}
	default:
		s.writing = true
		s.mu.Unlock()
	}
	if err := ctx.Err(); err != nil {
		s.passWriter()
		return wrapError(op, err)
	}
	s.writeQueued(context.WithoutCancel(ctx), j) // a commit that has begun is not cancelled
	return j.err
}

// wait returns when the job has its outcome, or is to write.
func (s *Store) wait(ctx context.Context, j *job) jobResult {
	select {
	case v := <-j.result:
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
		return jobResult{err: ctx.Err()}
	}
	return <-j.result
}

// writeQueued writes a job and those that wait, and hands the writer to the next job.
func (s *Store) writeQueued(ctx context.Context, j *job) {
	// those who were just told their outcome may have the next commit at hand: a larger group costs
	// each less
	if j.result != nil {
		goruntime.Gosched()
		goruntime.Gosched()
	}
	s.mu.Lock()
	n := min(len(s.queue), maxBatch)
	batch := make([]*job, 0, 1+n)
	batch = append(append(batch, j), s.queue[:n]...)
	s.queue = slices.Delete(s.queue, 0, n)
	s.mu.Unlock()
	s.writeBatch(ctx, batch)
	for _, done := range batch[1:] {
		done.result <- jobResult{err: done.err}
	}
	s.passWriter()
}

// passWriter hands the writer to the first job that waits.
func (s *Store) passWriter() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.queue) == 0 {
		s.writing = false
		return
	}
	next := s.queue[0]
	s.queue = slices.Delete(s.queue, 0, 1)
	next.result <- jobResult{write: true}
}

// writeBatch commits the jobs in one transaction. Each is refused or written on its own. If the
// transaction fails for a reason that may concern one job only, each job gets a transaction of its
// own.
func (s *Store) writeBatch(ctx context.Context, batch []*job) {
	err := s.checkReplaced(ctx)
	if err == nil {
		err = s.beginTransaction(ctx)
	}
	if err != nil {
		for _, j := range batch {
			j.err = wrapError("commit", err)
		}
		return
	}
	err = s.commitBatch(ctx, batch)
	switch {
	case err == nil:
		maps.Copy(s.shapes, s.fresh)
	case len(batch) == 1:
		batch[0].err = wrapError("commit", err)
	default:
		for n, j := range batch {
			j.err, j.wrote = nil, false
			s.writeBatch(ctx, batch[n:n+1])
		}
	}
}

// beginTransaction takes the lock of the file.
func (s *Store) beginTransaction(ctx context.Context) error {
	clear(s.fresh)
	err := s.runQuery(ctx, beginStmt)
	if err != nil {
		s.rollBack(ctx)
	}
	return err
}

func (s *Store) runQuery(ctx context.Context, query string) error {
	_, _, err := s.writer.exec(ctx, query)
	return err
}

// rollBack ends a failed transaction. It is not an error if SQLite has done so already.
func (s *Store) rollBack(ctx context.Context) { _ = s.runQuery(ctx, rollbackStmt) }

// commitBatch writes the jobs and ends the transaction. If it returns an error nothing is stored,
// or the outcome is unknown.
func (s *Store) commitBatch(ctx context.Context, batch []*job) error {
	for _, j := range batch {
		err := s.applyJob(ctx, j)
		if refused, ours := errors.AsType[*runtime.Error](err); ours && !j.wrote {
			j.err = refused
			continue
		}
		if err != nil {
			s.rollBack(ctx)
			return err
		}
	}
	err := s.runQuery(ctx, commitStmt)
	if err == nil {
		return nil
	}
	s.rollBack(ctx)
	return s.resolveCommit(ctx, batch, err)
}

// resolveCommit finds out whether a transaction whose COMMIT failed is in the file. It first
// overwrites what the transaction left at the end of the write-ahead log, which could otherwise
// reappear after a crash.
func (s *Store) resolveCommit(ctx context.Context, batch []*job, why error) error {
	unknown := runtime.Errorf(runtime.CodeUnavailable, "",
		"load it again, what became of it is unknown: %w", why)
	if s.overwriteLogEnd(ctx) != nil {
		s.rollBack(ctx)
		return unknown
	}
	for _, j := range batch {
		for n := range j.rows {
			r := &j.rows[n]
			row, err := s.writer.queryRow(ctx, findVersion, r.ID)
			switch {
			case err != nil:
				return unknown
			case j.err == nil && (row == nil || row[0] != r.Version || row[2] != r.Body.JSON):
				return why // one transaction: what holds for one holds for all
			case j.err == nil:
				return nil
			}
		}
	}
	return nil
}

// overwriteLogEnd commits the page with the version of the file unchanged. It reads the version
// first, since a newer program may have raised it.
func (s *Store) overwriteLogEnd(ctx context.Context) error {
	if err := s.runQuery(ctx, beginStmt); err != nil {
		return err
	}
	at, err := s.writer.queryValue(ctx, "PRAGMA user_version")
	if err != nil {
		return err
	}
	for _, query := range [...]string{fmt.Sprintf("PRAGMA user_version = %d", at), commitStmt} {
		if err := s.runQuery(ctx, query); err != nil {
			return err
		}
	}
	return nil
}

// applyJob writes the changes of a job. A conflict of the first change is found before anything is
// written.
func (s *Store) applyJob(ctx context.Context, j *job) error {
	for n := range j.rows {
		r := &j.rows[n]
		shape, err := s.shapeNumber(ctx, r.Fingerprint)
		if err == nil {
			err = s.applyThread(ctx, j, r, shape)
		}
		if err == nil {
			err = s.applyEntries(ctx, r)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) applyThread(ctx context.Context, j *job, r *record.Row, shape any) error {
	w := s.writer
	if r.Before == 0 {
		rows, key, err := w.exec(ctx, insertThread, r.ID, r.Version, r.Next, r.Status, r.Owner,
			r.Wake, shape, r.Body.JSON, r.Body.CRC)
		if err == nil && (rows == 0 || r.Fence != 0) {
			j.wrote = j.wrote || rows != 0
			err = s.explainConflict(ctx, r)
		}
		for n := 0; err == nil && n < len(r.Requests); n++ {
			_, _, err = w.exec(ctx, insertFirstRequest, key, r.Requests[n].ID, r.Requests[n].Seq)
		}
		j.wrote = j.wrote || rows != 0
		return err
	}
	if err := s.applyRequests(ctx, j, r); err != nil {
		return err
	}
	rows, _, err := w.exec(ctx, updateThread, r.Version, r.Next, r.Status, r.Owner, r.Wake, shape,
		r.Body.JSON, r.Body.CRC, r.ID, r.Before, r.Fence, r.Fence)
	if err == nil && rows == 0 {
		err = s.explainConflict(ctx, r)
	}
	j.wrote = j.wrote || rows != 0
	return err
}

// applyRequests writes the requests of a thread that is there.
func (s *Store) applyRequests(ctx context.Context, j *job, r *record.Row) error {
	for _, q := range r.Requests {
		rows, _, err := s.writer.exec(ctx, insertRequest, q.ID, q.Seq, r.ID, r.Before, r.Fence,
			r.Fence)
		if err == nil && rows == 0 {
			err = s.explainConflict(ctx, r)
		}
		if err != nil {
			return err
		}
		j.wrote = true
	}
	return nil
}

func (s *Store) applyEntries(ctx context.Context, r *record.Row) error {
	for _, i := range r.Interrupts {
		var who any
		if len(i.Who) > 0 {
			who = joinNames(i.Who)
		}
		rows, _, err := s.writer.exec(ctx, writeInterrupt, i.ID, r.ID, r.Tenant, i.State,
			i.Priority, i.Created, i.Kind, i.Node, who, i.Body.JSON, i.Body.CRC)
		if err == nil && rows == 0 {
			err = r.Error(runtime.CodeConflict, fmt.Errorf("another thread has interrupt %.60q",
				i.ID))
		}
		if err != nil {
			return err
		}
	}
	for _, l := range r.Log {
		if _, _, err := s.writer.exec(ctx, insertLog, r.ID, r.Tenant, l.Last,
			l.Body.JSON, l.Body.CRC); err != nil {
			return err
		}
	}
	return nil
}

// explainConflict returns why a change could not be applied.
func (s *Store) explainConflict(ctx context.Context, r *record.Row) error {
	row, err := s.writer.queryRow(ctx, findVersion, r.ID)
	var version, fence int64
	if row != nil {
		version, fence = intValue(row[0]), intValue(row[1])
	}
	switch {
	case err != nil:
		return err
	case version != r.Before:
		err = fmt.Errorf("version %d is stored, and %d was changed", version, r.Before)
	case r.Fence != 0 && r.Fence != fence:
		err = fmt.Errorf("another engine drives it: its fence is %d, not %d", fence, r.Fence)
	default:
		err = errors.New("a request of it was done before")
	}
	return r.Error(runtime.CodeConflict, err)
}

// shapeNumber returns the number of a fingerprint. It must be called in a transaction.
func (s *Store) shapeNumber(ctx context.Context, fingerprint string) (any, error) {
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
	n, err := s.writer.queryValue(ctx, findShape, fingerprint)
	if err == nil {
		s.fresh[fingerprint] = intValue(n)
	}
	return n, err
}
