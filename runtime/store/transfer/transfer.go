// Package transfer copies the threads of one store to another one, whole: from SQLite to PostgreSQL
// when a program outgrows one machine, and back.
//
//	to, done, err := postgres.OpenImport(ctx, url, postgres.Config{})
//	...
//	if done {
//		found, err = transfer.Compare(ctx, from, to) // a copy that has ended
//	} else {
//		found, err = transfer.Copy(ctx, from, to, nil)
//	}
//
// What a store has by its contract is copied: records with their versions, fences and deadlines,
// interrupts of every state, entries with the request ids, of all tenants, in the order of the
// source. What a store keeps beside that, to find things, it writes as in a commit. Tokens and
// grants are entries. So a thread that waits is answered in the copy as it would have been in the
// source, a client goes on after the last row that it saw, and a token opens what it did.
//
// The programs of the source must be stopped before, and must not be started again: each thread
// would go on in both. [Copy] reads the source and changes nothing there.
package transfer

import (
	"context"
	"crypto/sha256"
	"fmt"
	"strings"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/store/internal/record"
	"github.com/routegen/routegen/runtime/thread"
)

// page is how many rows are read at a time. A part of a copy has at most as many.
const page = 200

// Target is a store that a copy is written to: a sqlite.Store or a postgres.Store from their
// OpenImport, which no program can open before EndImport.
type Target interface {
	thread.Store

	// ImportPlace returns what the last part ended with.
	ImportPlace(ctx context.Context) (record.Place, error)
	// ImportPart writes the next part, or nothing of it.
	ImportPart(ctx context.Context, after record.Place, p *record.Part) error
	// EndImport closes the store, and makes it one that programs open.
	EndImport(ctx context.Context) error
}

// Copy writes what a store has to another one, which it goes on with where an earlier call was
// stopped, in whatever way. At the end it compares both, and ends the import; the target is closed
// then. progress, unless nil, is called with the number of entries after each part.
//
// It returns CodeConflict, and does not end the import, if an engine has the source open, the
// source has changed since Copy was called, or the target has something else; and the errors of the
// stores: CodeInternal for a damaged record, which is not copied. It takes memory for a page of
// rows, however large the stores are.
func Copy(ctx context.Context, from thread.Store, to Target, progress func(entries int)) (
	*Contents, error) {
	const op = "copy the store"
	if err := checkEngines(from); err != nil {
		return nil, err
	}
	before, err := versionsOf(ctx, from)
	if err != nil {
		return nil, err
	}
	if progress == nil {
		progress = func(int) {}
	}
	c := copier{from: from, to: to, before: before, threads: map[string]*thread.Thread{}}
	var out *Contents
	if c.at, err = to.ImportPlace(ctx); err == nil {
		err = c.copyLog(ctx, progress)
	}
	if err == nil {
		err = c.copyInterrupts(ctx)
	}
	if err == nil {
		out, err = Compare(ctx, from, to)
	}
	after, failed := versionsOf(ctx, from)
	switch {
	case failed != nil:
		return nil, failed
	case before != after:
		return nil, runtime.Errorf(runtime.CodeConflict, op, "the source has changed meanwhile: "+
			"stop its programs, remove what was copied, and begin again")
	case runtime.CodeOf(err) == runtime.CodeConflict:
		return nil, runtime.Errorf(runtime.CodeConflict, op, "%w: the target is of another store, "+
			"or the source has changed since the copy was begun: remove what was copied, and "+
			"begin again", err)
	case err != nil:
		return nil, err
	}
	return out, to.EndImport(ctx)
}

// checkEngines returns an error if the source knows of engines that have it open.
func checkEngines(from thread.Store) error {
	s, ok := from.(interface{ Engines() ([]string, error) })
	if !ok {
		return nil
	}
	present, err := s.Engines()
	if err == nil && len(present) > 0 {
		err = runtime.Errorf(runtime.CodeConflict, "copy the store",
			"engines have the source open (%s): stop their programs first",
			strings.Join(present, ", "))
	}
	return err
}

// versionsOf returns a sum of the versions of all threads. A version grows with every commit.
func versionsOf(ctx context.Context, s thread.Store) (sum [32]byte, err error) {
	h := sha256.New()
	for q := (thread.Query{Limit: 5 * page}); ; {
		rows, err := s.Threads(ctx, q)
		if err != nil || len(rows) == 0 {
			return [32]byte(h.Sum(nil)), err
		}
		for n := range rows {
			_, _ = fmt.Fprintf(h, "%q %d\n", rows[n].ID, rows[n].Version)
		}
		q.AfterID = rows[len(rows)-1].ID
	}
}

// copier is one call of Copy.
type copier struct {
	from    thread.Store
	to      Target
	at      record.Place
	before  [32]byte                  // the versions of the source when Copy was called
	threads map[string]*thread.Thread // those of the part before
}

// copyLog copies threads and their entries.
func (c *copier) copyLog(ctx context.Context, progress func(entries int)) error {
	q := thread.LogQuery{Limit: page}
	if c.at.Thread != "" { // go on after the last entry that was written
		last, err := c.from.Log(ctx, thread.LogQuery{Thread: c.at.Thread, AfterSeq: c.at.Seq - 1,
			Limit: 1})
		if err != nil {
			return err
		}
		if len(last) == 0 || last[0].Seq != c.at.Seq {
			return differ("the target has entry %d of thread %.60q, and the source has not",
				c.at.Seq, c.at.Thread)
		}
		q.After = last[0].Cursor
	}
	for copied := 0; ; {
		rows, err := c.from.Log(ctx, q)
		if err != nil || len(rows) == 0 {
			return err
		}
		part := &record.Part{Entries: rows}
		for n := range rows {
			if err := c.addThread(ctx, part, rows[n].Thread); err != nil {
				return err
			}
		}
		last := &rows[len(rows)-1]
		if err := c.writePart(ctx, part, record.Place{Thread: last.Thread, Seq: last.Seq,
			Interrupt: c.at.Interrupt}); err != nil {
			return err
		}
		q.After = last.Cursor
		copied += len(rows)
		progress(copied)
		if len(rows) < page { // the end, unless programs go on writing
			if now, err := versionsOf(ctx, c.from); err != nil || now != c.before {
				return err
			}
		}
	}
}

// copyInterrupts copies the interrupts of all threads, the oldest first.
func (c *copier) copyInterrupts(ctx context.Context) error {
	for q := allInterrupts(""); ; {
		if c.at.Interrupt != "" {
			q.After = &thread.InterruptMark{ID: c.at.Interrupt}
		}
		rows, err := c.from.Interrupts(ctx, q)
		if err != nil || len(rows) == 0 {
			return err
		}
		part := &record.Part{Interrupts: rows}
		for _, i := range rows {
			if err := c.addThread(ctx, part, i.Thread); err != nil {
				return err
			}
		}
		at := c.at
		at.Interrupt = rows[len(rows)-1].ID
		if err := c.writePart(ctx, part, at); err != nil {
			return err
		}
	}
}

// addThread reads the thread of a row, unless it has it.
func (c *copier) addThread(ctx context.Context, p *record.Part, id string) (err error) {
	if p.Threads == nil {
		p.Threads = map[string]*thread.Thread{}
	}
	if p.Threads[id] != nil {
		return nil
	}
	t := c.threads[id]
	if t == nil {
		if t, err = c.from.Load(ctx, id); err != nil {
			return err
		}
	}
	p.Threads[id] = t
	return nil
}

// writePart writes a part, which ends at a place.
func (c *copier) writePart(ctx context.Context, p *record.Part, ends record.Place) error {
	err := c.to.ImportPart(ctx, c.at, p)
	if err == nil {
		c.at, c.threads = ends, p.Threads
	}
	return err
}

// allInterrupts selects interrupts of every state, of one thread or of all, the oldest first.
func allInterrupts(id string) thread.InterruptQuery {
	return thread.InterruptQuery{Thread: id, ByAge: true, States: record.States, Limit: page}
}
