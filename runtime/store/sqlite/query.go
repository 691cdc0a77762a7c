package sqlite

import (
	"context"
	"database/sql/driver"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/routegen/routegen/runtime"
)

const (
	loadThread = `SELECT 0, (SELECT fingerprint FROM shape WHERE n = shape), '', '', body FROM thread WHERE id = ?
		UNION ALL
		SELECT n, id, kind, node, body FROM interrupt WHERE thread = (SELECT n FROM thread WHERE id = ?) AND state < 2`
	listInterrupts = `SELECT i.id, t.id, i.kind, i.node, i.body FROM interrupt i CROSS JOIN thread t ON t.n = i.thread WHERE true`
	listLog        = `SELECT n, body FROM log WHERE n = (SELECT n FROM thread WHERE id = ?) AND seq > ? AND n >= ?
		UNION ALL
		SELECT * FROM (SELECT n, body FROM log WHERE thread = (SELECT n FROM thread WHERE id = ?) AND n > thread AND seq > ? AND n >= ?
			ORDER BY seq LIMIT ?)`
	listAllLog = `SELECT l.n, l.body, t.id FROM log l CROSS JOIN thread t ON t.n = l.thread WHERE l.n >= ? AND l.seq >= 0 ORDER BY l.n
		LIMIT ?`
	findRequest = `SELECT seq FROM request WHERE thread = (SELECT n FROM thread WHERE id = ?) AND id = ?`
	listThreads = `SELECT id, version, status, owner, wake, (SELECT fingerprint FROM shape WHERE n = shape) FROM thread WHERE true`
)

// read runs a query on a connection of its own.
func (s *Store) read(ctx context.Context, op string, run func(context.Context, *conn) error) error {
	c, err := s.reader(ctx)
	if err == nil {
		err = run(ctx, c)
		s.giveBack(c)
	}
	return failed(op, err)
}

// readShort is read for what takes no longer than a step of a commit: while nobody writes, it has the writer's connection, whose pages are warm.
// It is too short to be cut: a context that ends is looked at before, and watching one costs more than the query.
func (s *Store) readShort(ctx context.Context, op string, run func(context.Context, *conn) error) error {
	if err := ctx.Err(); err != nil {
		return failed(op, err)
	}
	whole := context.WithoutCancel(ctx)
	s.mu.Lock()
	free := !s.led && !s.closed
	s.led = s.led || free
	s.mu.Unlock()
	if !free {
		return s.read(ctx, op, func(_ context.Context, c *conn) error { return run(whole, c) })
	}
	defer s.pass()
	return failed(op, run(whole, s.writer))
}

// Load implements [runtime.Store].
func (s *Store) Load(ctx context.Context, id string) (t *runtime.Thread, err error) {
	type open struct {
		n int64
		*runtime.Interrupt
	}
	var opened []open
	op := fmt.Sprintf("load thread %.60q", id)
	err = s.readShort(ctx, op, func(ctx context.Context, c *conn) error {
		var wrong error
		err := c.query(ctx, func(row []driver.Value) bool {
			n, first, kind, node, body := integer(row[0]), textOf(row[1]), textOf(row[2]), textOf(row[3]), blob(row[4])
			if n == 0 {
				t, wrong = threadOf(id, first, body)
				return wrong == nil
			}
			var i *runtime.Interrupt
			if i, wrong = interruptOf(first, id, kind, node, body); wrong == nil {
				opened = append(opened, open{n, i})
			}
			return wrong == nil
		}, loadThread, id, id)
		return first(err, wrong)
	})
	if err == nil && t == nil {
		err = refuse(runtime.CodeNotFound, op, errMissing)
	}
	if err != nil {
		return nil, err
	}
	slices.SortFunc(opened, func(a, b open) int { return int(a.n - b.n) })
	for _, o := range opened {
		t.Open = append(t.Open, o.Interrupt)
	}
	return t, nil
}

// filter is a query in the making. Its text is made of constants; what callers say goes into args.
type filter struct {
	text strings.Builder
	args []any
}

func (f *filter) where(on bool, text string, args ...any) {
	if on {
		f.text.WriteString(text)
		f.args = append(f.args, args...)
	}
}

// selected is the query for interrupts; one: of a thread, or by id.
func selected(q runtime.InterruptQuery, one bool) *filter {
	f := new(filter)
	if len(q.States) == 0 && !one {
		q.States = []runtime.InterruptState{runtime.InterruptOpen}
	}
	open := len(q.States) == 1 && q.States[0] == runtime.InterruptOpen
	f.where(true, listInterrupts)
	f.where(q.ID != "", " AND i.id = ?", q.ID)
	f.where(q.Thread != "", " AND i.thread = (SELECT n FROM thread WHERE id = ?)", q.Thread)
	f.where(open, " AND i.state = 0")
	f.where(!open && len(q.States) > 0, " AND (? >> i.state) & 1", set(q.States, states))
	f.where(len(q.Kinds) > 0, " AND instr(?, ' ' || hex(i.kind) || ' ')", names(q.Kinds))
	f.where(len(q.Nodes) > 0, " AND instr(?, ' ' || hex(i.node) || ' ')", names(q.Nodes))
	f.where(q.Assignee != "", " AND (i.who IS NULL OR instr(i.who, ?))", names([]string{q.Assignee}))
	f.where(!q.Before.IsZero(), " AND i.created < ?", ceil(q.Before))
	if a := q.After; a != nil {
		f.where(q.ByAge, " AND i.n > (SELECT n FROM interrupt WHERE id = ?)", a.ID)
		f.where(!q.ByAge, " AND (i.priority, i.created, i.id) > (?, ?, ?)", int64(a.Priority), a.Created.UnixMilli(), a.ID)
	}
	f.where(q.ByAge, " ORDER BY i.n")
	f.where(!q.ByAge, " ORDER BY i.priority, i.created, i.id")
	f.where(true, " LIMIT ?", limit(q.Limit))
	return f
}

// Interrupts implements [runtime.Store]. A damaged interrupt is refused when it was asked for by id or thread; otherwise it is left out, and
// the log of the program says so.
func (s *Store) Interrupts(ctx context.Context, q runtime.InterruptQuery) (found []*runtime.Interrupt, err error) {
	const op = "query interrupts"
	one := q.ID != "" || q.Thread != ""
	f := selected(q, one)
	read := s.read
	if q.ID != "" {
		read = s.readShort
	}
	err = read(ctx, op, func(ctx context.Context, c *conn) error {
		var wrong error
		err := c.query(ctx, func(row []driver.Value) bool {
			i, err := interruptOf(textOf(row[0]), textOf(row[1]), textOf(row[2]), textOf(row[3]), blob(row[4]))
			switch {
			case err == nil:
				found = append(found, i)
			case one:
				wrong = err
			default:
				s.log.ErrorContext(ctx, "an interrupt is damaged and was left out", "thread", textOf(row[1]), "interrupt", textOf(row[0]))
			}
			return wrong == nil
		}, f.text.String(), f.args...)
		return first(err, wrong)
	})
	if err != nil {
		return nil, err
	}
	return found, nil
}

// Log implements [runtime.Store]. A damaged commit is refused when its thread was asked for; otherwise it is left out, and the log of the
// program says so.
func (s *Store) Log(ctx context.Context, q runtime.LogQuery) (found []runtime.Entry, err error) {
	most := limit(q.Limit)
	after := max(q.After, 0)
	var wrong error
	add := func(n int64, thread string, body []byte, keep func(*runtime.Entry) bool) bool {
		entries, err := entriesOf(n, thread, body)
		if err != nil && q.Thread == "" {
			s.log.ErrorContext(ctx, "a commit is damaged and was left out", "thread", thread, "commit", n)
			return true
		}
		wrong = err
		for at := range entries {
			if e := &entries[at]; e.Cursor > after && int64(len(found)) < most && keep(e) {
				found = append(found, *e)
			}
		}
		return wrong == nil && int64(len(found)) < most
	}
	read := s.read
	if q.Request != "" {
		read = s.readShort
	}
	err = read(ctx, "query log", func(ctx context.Context, c *conn) error {
		if q.Thread == "" {
			return c.query(ctx, func(row []driver.Value) bool {
				return add(integer(row[0]), textOf(row[2]), blob(row[1]), func(*runtime.Entry) bool { return true })
			}, listAllLog, after>>placeBits, most+1)
		}
		keep := func(e *runtime.Entry) bool { return e.Seq > q.AfterSeq }
		if q.Request != "" {
			seq, err := c.one(ctx, findRequest, q.Thread, q.Request)
			if seq == nil || integer(seq) <= q.AfterSeq {
				return err
			}
			most, q.AfterSeq = 1, integer(seq)-1
			keep = func(e *runtime.Entry) bool { return e.Request == q.Request }
		}
		return c.query(ctx, func(row []driver.Value) bool {
			return add(integer(row[0]), q.Thread, blob(row[1]), keep)
		}, listLog, q.Thread, q.AfterSeq, after>>placeBits, q.Thread, q.AfterSeq, after>>placeBits, most+1)
	})
	if err = first(err, failed("query log", wrong)); err != nil {
		return nil, err
	}
	return found, nil
}

// Threads implements [runtime.Store]. An engine calls it every Config.Poll, so it also looks whether the file is still in its place.
func (s *Store) Threads(ctx context.Context, q runtime.ThreadQuery) (found []runtime.ThreadRow, err error) {
	_ = s.inPlace(ctx) // its log line is what counts here: reads go on
	var f filter
	running := len(q.Statuses) == 1 && q.Statuses[0] == runtime.StatusRunning
	f.where(true, listThreads)
	f.where(running, " AND status = 1")
	f.where(!running && len(q.Statuses) > 0, " AND (? >> status) & 1", set(q.Statuses, statuses))
	f.where(q.Owner != "", " AND owner = ?", q.Owner)
	if q.WakeBefore.IsZero() {
		f.where(q.AfterID != "", " AND id > ?", q.AfterID)
		f.where(true, " ORDER BY id LIMIT ?", limit(q.Limit))
	} else {
		f.where(true, " AND wake <= ? ORDER BY wake, n LIMIT ?", q.WakeBefore.UnixMilli(), limit(q.Limit))
	}
	err = s.read(ctx, "query threads", func(ctx context.Context, c *conn) error {
		return c.query(ctx, func(row []driver.Value) bool {
			r := runtime.ThreadRow{
				ID: textOf(row[0]), Version: integer(row[1]), Status: statuses[min(max(integer(row[2]), 0), int64(len(statuses)-1))],
				Owner: textOf(row[3]), Fingerprint: textOf(row[5]),
			}
			if row[4] != nil {
				r.Wake = time.UnixMilli(integer(row[4])).UTC()
			}
			found = append(found, r)
			return true
		}, f.text.String(), f.args...)
	})
	if err != nil {
		return nil, err
	}
	return found, nil
}

func integer(v driver.Value) int64 {
	n, _ := v.(int64)
	return n
}

func textOf(v driver.Value) string {
	t, _ := v.(string)
	return t
}

func blob(v driver.Value) []byte {
	b, _ := v.([]byte)
	return b
}

func limit(n int) int64 {
	if n <= 0 {
		return runtime.DefaultLimit
	}
	return int64(n)
}

func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
