package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	goruntime "runtime"
	"slices"

	"github.com/routegen/routegen/runtime"
)

const (
	begin    = "BEGIN IMMEDIATE"
	commit   = "COMMIT"
	rollback = "ROLLBACK"

	findVersion   = `SELECT version, fence FROM thread WHERE id = ?`
	findTail      = `SELECT 1 FROM tail WHERE n = ? AND id = ? AND body = ?`
	findRequested = `SELECT 1 FROM request WHERE thread = (SELECT n FROM thread WHERE id = ?) AND id = ?`
	findOwner     = `SELECT t.id FROM interrupt i CROSS JOIN thread t ON t.n = i.thread WHERE i.id = ?`
)

// most is how many calls one transaction takes.
const most = 256

// job is one call of Commit. Its ready channel exists when it waits for the writer.
type job struct {
	rows  []threadRow
	fold  bool // it has no rows: the tables shall say what the tail says
	ready chan verdict
	err   error
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
	return s.serve(ctx, op, &job{rows: rows})
}

// serve does a job when its turn comes, with others or leading them.
func (s *Store) serve(ctx context.Context, op string, j *job) error {
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
	return failed(op, j.err)
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
	commits := make([]*job, 0, len(batch))
	fold := false
	for _, b := range batch {
		if fold = fold || b.fold; !b.fold {
			commits = append(commits, b)
		}
	}
	if len(commits) > 0 {
		s.write(ctx, commits)
	}
	if fold {
		err := s.fold(ctx)
		for _, b := range batch {
			if b.fold {
				b.err = err
			}
		}
	}
	for _, done := range batch[1:] {
		done.ready <- verdict{err: done.err}
	}
	if len(s.tail.rows) < s.foldAt && s.tail.bytes < mostTailBytes {
		s.pass()
		return
	}
	go func() { // the caller has its outcome, and need not wait for that of others
		s.foldAt = mostTail
		if err := s.fold(ctx); err != nil { // not now, then: it is tried again after as many more
			s.foldAt = len(s.tail.rows) + mostTail
			s.log.ErrorContext(ctx, "cannot move commits into the tables, trying again later", "error", err)
		}
		s.pass()
	}()
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
	err := s.begin(ctx)
	if err != nil {
		for _, j := range batch {
			j.err = failed("commit", err)
		}
		return
	}
	err = s.transact(ctx, batch)
	switch {
	case err == nil:
	case len(batch) == 1:
		batch[0].err = failed("commit", err)
	default:
		for n, j := range batch {
			j.err = nil
			s.write(ctx, batch[n:n+1])
		}
	}
}

// begin takes the lock of the file, and learns what others wrote.
func (s *Store) begin(ctx context.Context) error {
	clear(s.fresh)
	err := s.run(ctx, begin)
	if err == nil {
		if s.began = s.now(); !s.began.known || s.began != s.tail.seen {
			err = s.refresh(ctx)
		}
	}
	if err != nil {
		s.undo(ctx)
		s.forget()
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
	st := staged{store: s, threads: map[string]*threadRow{}, interrupts: map[string]string{}}
	for _, j := range batch {
		if err := st.take(ctx, j); err != nil {
			s.undo(ctx)
			s.forget()
			return err
		}
	}
	if len(st.rows) == 0 {
		s.undo(ctx) // everything was refused
		return nil
	}
	err := s.run(ctx, commit)
	if err != nil {
		s.undo(ctx)
		err = s.settle(ctx, batch, err)
		s.forget()
		return err
	}
	s.publish(st.rows)
	return nil
}

// settle finds out what became of a transaction whose end was an error. What it left at the end of the write-ahead log is overwritten first:
// else it could come back after a crash. Then the file says whether the jobs are in it.
func (s *Store) settle(ctx context.Context, batch []*job, why error) error {
	unknown := refuse(runtime.CodeUnavailable, "", fmt.Errorf("load it again, what became of it is unknown: %w", why))
	for _, query := range [...]string{begin, fmt.Sprintf("PRAGMA user_version = %d", len(migrations)), commit} {
		if err := s.run(ctx, query); err != nil {
			s.undo(ctx)
			return unknown
		}
	}
	for _, j := range batch {
		for n := range j.rows {
			r := &j.rows[n]
			found, err := s.writer.one(ctx, findTail, r.n, r.id, r.sealed)
			stored := found != nil
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

// staged is what a transaction has written so far.
type staged struct {
	store      *Store
	rows       []*threadRow
	threads    map[string]*threadRow
	interrupts map[string]string
}

// take writes a job, or refuses it. What is in the way is found before anything is written. An error is of the whole transaction.
func (st *staged) take(ctx context.Context, j *job) error {
	for n := range j.rows {
		err := st.check(ctx, &j.rows[n], j.rows[:n])
		if refused, ours := errors.AsType[*runtime.Error](err); ours {
			j.err = refused
			return nil
		}
		if err != nil {
			return err
		}
	}
	for n := range j.rows {
		r := &j.rows[n]
		r.n = st.store.tail.last + 1 + int64(len(st.rows))
		if _, _, err := st.store.writer.exec(ctx, insertTail, r.n, r.id, r.sealed); err != nil {
			return err
		}
		st.rows = append(st.rows, r)
		st.threads[r.id] = r
		for i := range r.Interrupts {
			st.interrupts[r.Interrupts[i].ID] = r.id
		}
	}
	return nil
}

// check refuses a change that does not fit what is stored. The rows before it are of the same call.
func (st *staged) check(ctx context.Context, r *threadRow, before []threadRow) error {
	version, fence, err := st.version(ctx, r.id)
	switch {
	case err != nil:
		return err
	case version != r.before:
		return r.refuse(runtime.CodeConflict, fmt.Errorf("version %d is stored, and %d was changed", version, r.before))
	case r.fence != 0 && r.fence != fence:
		return r.refuse(runtime.CodeConflict, fmt.Errorf("another engine drives it: its fence is %d, not %d", fence, r.fence))
	}
	for _, q := range r.Requests {
		done, err := st.requested(ctx, r, q.ID)
		if err == nil && done {
			err = r.refuse(runtime.CodeConflict, fmt.Errorf("request %.60q of it was done before", q.ID))
		}
		if err != nil {
			return err
		}
	}
	for n := range r.Interrupts {
		id := r.Interrupts[n].ID
		owner, err := st.owner(ctx, id, before)
		if err == nil && owner != "" && owner != r.id {
			err = r.refuse(runtime.CodeConflict, fmt.Errorf("another thread has interrupt %.60q", id))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// version returns what is stored of a thread; 0 for none.
func (st *staged) version(ctx context.Context, id string) (version, fence int64, err error) {
	if r := st.threads[id]; r != nil {
		return r.Version, r.Fence, nil
	}
	if had := st.store.tail.threads[id]; had != nil {
		r := latest(had.rows)
		return r.Version, r.Fence, nil
	}
	err = st.store.writer.query(ctx, func(row []driver.Value) bool {
		version, fence = integer(row[0]), integer(row[1])
		return false
	}, findVersion, id)
	return version, fence, err
}

// requested reports whether a thread has taken a request.
func (st *staged) requested(ctx context.Context, r *threadRow, id string) (bool, error) {
	if r.before == 0 {
		return false, nil
	}
	for _, had := range st.rows {
		if had.id == r.id && had.requested(id) {
			return true, nil
		}
	}
	if had := st.store.tail.threads[r.id]; had != nil && slices.ContainsFunc(had.rows, func(r *threadRow) bool { return r.requested(id) }) {
		return true, nil
	}
	found, err := st.store.writer.one(ctx, findRequested, r.id, id)
	return found != nil, err
}

// owner returns the thread of an interrupt, "" for none.
func (st *staged) owner(ctx context.Context, id string, before []threadRow) (string, error) {
	for n := range before {
		if slices.ContainsFunc(before[n].Interrupts, func(i interruptRow) bool { return i.ID == id }) {
			return before[n].id, nil
		}
	}
	if thread := st.interrupts[id]; thread != "" {
		return thread, nil
	}
	if thread := st.store.tail.interrupts[id]; thread != "" {
		return thread, nil
	}
	found, err := st.store.writer.one(ctx, findOwner, id)
	return textOf(found), err
}
