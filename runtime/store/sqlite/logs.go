package sqlite

import (
	"context"
	"database/sql/driver"
	"math"

	"github.com/routegen/routegen/runtime"
)

const (
	listLog = readTail + `
		UNION ALL SELECT 2, n, NULL, body FROM log WHERE n = (SELECT n FROM thread WHERE id = ?) AND seq > ? AND n >= ?
		UNION ALL
		SELECT * FROM (SELECT 2, n, NULL, body FROM log WHERE thread = (SELECT n FROM thread WHERE id = ?) AND n > thread AND seq > ? AND n >= ?
			ORDER BY seq LIMIT ?)`
	listAllLog = readTail + `
		UNION ALL
		SELECT * FROM (SELECT 2, l.n, t.id, l.body FROM log l CROSS JOIN thread t ON t.n = l.thread WHERE l.n >= ? AND l.seq >= 0
			ORDER BY l.n LIMIT ?)`
	findRequest = `SELECT seq FROM request WHERE thread = (SELECT n FROM thread WHERE id = ?) AND id = ?`
)

// Log implements [runtime.Store]. A damaged commit is refused when its thread was asked for; otherwise it is left out, and the log of the
// program says so.
func (s *Store) Log(ctx context.Context, q runtime.LogQuery) ([]runtime.Entry, error) {
	p := page{store: s, ctx: ctx, query: q, most: limit(q.Limit), after: max(q.After, 0)}
	if q.Thread == "" {
		p.query.AfterSeq, p.query.Request = 0, ""
		p.known = s.knowsAll()
	} else {
		p.known = s.knows(q.Thread)
	}
	err := s.read(ctx, "query log", p.read)
	if err = first(err, failed("query log", p.wrong)); err != nil {
		return nil, err
	}
	return p.found, nil
}

// page is one answer of the log in the making.
type page struct {
	store *Store
	ctx   context.Context //nolint:containedctx // of the one call
	query runtime.LogQuery
	most  int64
	after int64
	known known
	seen  int64 // rows of the table
	found []runtime.Entry
	wrong error
}

func (p *page) read(c *conn) error {
	q := &p.query
	each := func(row []driver.Value) bool {
		if integer(row[0]) < 2 {
			p.known.see(q.Thread, row)
			return true
		}
		p.seen++
		return p.add(integer(row[1]), textOf(row[2]), blob(row[3]))
	}
	var err error
	switch {
	case q.Thread == "":
		err = c.query(p.ctx, each, listAllLog, p.known.last, p.after>>placeBits, p.most+1)
	case q.Request != "":
		return p.request(c)
	default:
		err = c.query(p.ctx, each, listLog, p.known.last, q.Thread, q.AfterSeq, p.after>>placeBits, q.Thread, q.AfterSeq, p.after>>placeBits, p.most+1)
	}
	if err != nil || p.seen > p.most {
		return err // there is more in the table
	}
	for _, r := range p.known.rows {
		if !p.full() && p.wrong == nil {
			p.addRow(r)
		}
	}
	return nil
}

// request looks for the one entry with a request id.
func (p *page) request(c *conn) error {
	q := &p.query
	err := c.query(p.ctx, func(row []driver.Value) bool {
		p.known.see(q.Thread, row)
		return true
	}, readTail, p.known.last)
	if err != nil {
		return err
	}
	p.most = 1
	for _, r := range p.known.rows {
		if r.requested(q.Request) {
			p.addRow(r)
			return nil
		}
	}
	seq, err := c.one(p.ctx, findRequest, q.Thread, q.Request)
	if seq == nil || integer(seq) <= q.AfterSeq {
		return err
	}
	at := integer(seq) - 1
	return c.query(p.ctx, func(row []driver.Value) bool {
		return integer(row[0]) < 2 || p.add(integer(row[1]), q.Thread, blob(row[3]))
	}, listLog, int64(math.MaxInt64), q.Thread, at, p.after>>placeBits, q.Thread, at, p.after>>placeBits, int64(2))
}

func (p *page) full() bool { return int64(len(p.found)) >= p.most }

// addRow takes a commit of the tail.
func (p *page) addRow(r *threadRow) {
	if r.n >= p.after>>placeBits && r.Seq > p.query.AfterSeq {
		p.add(r.n, r.id, r.Log)
	}
}

// add takes the entries of a commit that match, and reports whether to go on.
func (p *page) add(n int64, thread string, body []byte) bool {
	q := &p.query
	if thread == "" {
		thread = q.Thread
	}
	entries, err := entriesOf(n, thread, body)
	if err != nil && q.Thread == "" {
		p.store.log.ErrorContext(p.ctx, "a commit is damaged and was left out", "thread", thread, "commit", n)
		return true
	}
	p.wrong = err
	for at := range entries {
		e := &entries[at]
		if e.Cursor > p.after && !p.full() && e.Seq > q.AfterSeq && (q.Request == "" || e.Request == q.Request) {
			p.found = append(p.found, *e)
		}
	}
	return err == nil && !p.full()
}
