package sqlite

import (
	"context"
	"maps"
	"slices"
	"strings"
)

const (
	findNumber    = `SELECT n FROM thread WHERE id = ?`
	updateThread  = `UPDATE thread SET version = ?, fence = ?, status = ?, owner = ?, wake = ?, shape = ?, body = ? WHERE n = ?`
	insertRequest = `INSERT INTO request(thread, id, seq) VALUES(?, ?, ?) ON CONFLICT DO NOTHING`
	insertShape   = `INSERT INTO shape(fingerprint) VALUES(?) ON CONFLICT DO NOTHING`
	findShape     = `SELECT n FROM shape WHERE fingerprint = ?`
	clearTail     = `DELETE FROM tail`
	markTail      = `INSERT INTO tail(n) VALUES(?)`
	tailLength    = `SELECT max(n) - min(n) FROM tail`
)

// folded makes the tables say what the tail says, for a query that needs their indexes.
func (s *Store) folded(ctx context.Context, op string) error {
	if k := s.knowsAll(); len(k.rows) == 0 && s.current(&k) {
		return nil
	}
	var behind int64
	err := s.read(ctx, op, func(c *conn) error {
		v, err := c.one(ctx, tailLength)
		behind = integer(v)
		return err
	})
	if err != nil || behind == 0 {
		return err
	}
	return s.serve(ctx, op, &job{fold: true})
}

// fold moves the tail into the tables, in one transaction. Of every thread and interrupt only the last form is written. The store says the
// same before and after it, so it may fail, and be done later.
func (s *Store) fold(ctx context.Context) error {
	err := s.begin(ctx)
	if err != nil {
		return err
	}
	last := s.tail.last
	if err = s.foldRows(ctx, s.tail.rows); err == nil {
		_, _, err = s.writer.exec(ctx, clearTail)
	}
	if err == nil {
		_, _, err = s.writer.exec(ctx, markTail, last)
	}
	if err == nil {
		err = s.run(ctx, commit)
	}
	if err != nil {
		s.undo(ctx)
		s.forget()
		return err
	}
	maps.Copy(s.shapes, s.fresh)
	s.tailMu.Lock()
	defer s.tailMu.Unlock()
	s.tail = newTail()
	s.tail.mark, s.tail.last = last, last
	s.tail.seen = s.ended()
	return nil
}

// folding is a fold at work.
type folding struct {
	store                    *Store
	ctx                      context.Context //nolint:containedctx // of the one call
	number                   map[string]int64
	threads, interrupts, log *bulk
}

func (s *Store) foldRows(ctx context.Context, rows []*threadRow) error {
	f := folding{
		store: s, ctx: ctx, number: map[string]int64{},
		threads: intoThread.on(s.writer), interrupts: intoInterrupt.on(s.writer), log: intoLog.on(s.writer),
	}
	of, interrupts := map[string][]*threadRow{}, map[string]*interruptRow{}
	for _, r := range rows {
		of[r.id] = append(of[r.id], r)
		for n := range r.Interrupts {
			interrupts[r.Interrupts[n].ID] = &r.Interrupts[n]
		}
	}
	for _, id := range slices.Sorted(maps.Keys(of)) { // neighbours in an index are cheaper in turn
		if err := f.thread(of[id][0], latest(of[id])); err != nil {
			return err
		}
	}
	if err := f.threads.flush(ctx); err != nil {
		return err
	}
	for _, r := range rows {
		for n := range r.Interrupts {
			i := interrupts[r.Interrupts[n].ID]
			if i == nil {
				continue
			}
			delete(interrupts, i.ID)
			if err := f.interrupts.add(ctx, i.ID, f.number[r.id], i.State, i.Priority, i.Created, i.Kind, i.Node, null(i.Who), i.Body); err != nil {
				return err
			}
		}
	}
	if err := f.interrupts.flush(ctx); err != nil {
		return err
	}
	for _, r := range rows {
		for _, q := range r.Requests {
			if _, _, err := s.writer.exec(ctx, insertRequest, f.number[r.id], q.ID, q.Seq); err != nil {
				return err
			}
		}
		if r.Log == nil {
			continue
		}
		if err := f.log.add(ctx, r.n, f.number[r.id], r.Seq, r.Log); err != nil {
			return err
		}
	}
	return f.log.flush(ctx)
}

// thread writes the last form of a thread. It has the number of its first commit.
func (f *folding) thread(first, r *threadRow) error {
	w := f.store.writer
	var had any
	if !first.First {
		var err error
		if had, err = w.one(f.ctx, findNumber, r.id); err != nil {
			return err
		}
	}
	shape, err := f.store.shape(f.ctx, r.Fingerprint)
	if err != nil {
		return err
	}
	var wake any
	if r.Wake != nil {
		wake = *r.Wake
	}
	if had == nil {
		f.number[r.id] = first.n
		return f.threads.add(f.ctx, first.n, r.id, r.Version, r.Fence, r.Status, null(r.Owner), wake, shape, r.Body)
	}
	f.number[r.id] = integer(had)
	_, _, err = w.exec(f.ctx, updateThread, r.Version, r.Fence, r.Status, null(r.Owner), wake, shape, r.Body, had)
	return err
}

// bulk inserts rows, several with one statement: a short statement costs more to begin and to end than to do.
type bulk struct {
	one, many string
	columns   int
	writer    *conn
	args      []any
}

const rowsTogether = 8

var (
	intoThread    = bulkInto("thread(n, id, version, fence, status, owner, wake, shape, body)", "")
	intoLog       = bulkInto("log(n, thread, seq, body)", "")
	intoInterrupt = bulkInto("interrupt(id, thread, state, priority, created, kind, node, who, body)",
		` ON CONFLICT(id) DO UPDATE SET state = excluded.state, priority = excluded.priority, created = excluded.created, kind = excluded.kind,
		node = excluded.node, who = excluded.who, body = excluded.body WHERE thread = excluded.thread`)
)

func bulkInto(table, suffix string) bulk {
	columns := strings.Count(table, ",") + 1
	row := "(?" + strings.Repeat(", ?", columns-1) + ")"
	return bulk{
		columns: columns,
		one:     "INSERT INTO " + table + " VALUES" + row + suffix,
		many:    "INSERT INTO " + table + " VALUES" + row + strings.Repeat(", "+row, rowsTogether-1) + suffix,
	}
}

func (b *bulk) on(c *conn) *bulk {
	return &bulk{one: b.one, many: b.many, columns: b.columns, writer: c, args: make([]any, 0, b.columns*rowsTogether)}
}

func (b *bulk) add(ctx context.Context, row ...any) error {
	if b.args = append(b.args, row...); len(b.args) < cap(b.args) {
		return nil
	}
	_, _, err := b.writer.exec(ctx, b.many, b.args...)
	b.args = b.args[:0]
	return err
}

// flush writes the rows that are left.
func (b *bulk) flush(ctx context.Context) error {
	for row := range slices.Chunk(b.args, b.columns) {
		if _, _, err := b.writer.exec(ctx, b.one, row...); err != nil {
			return err
		}
	}
	b.args = b.args[:0]
	return nil
}

// null is the value of a column that has none for an empty text.
func null(v string) any {
	if v == "" {
		return nil
	}
	return v
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
