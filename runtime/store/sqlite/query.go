package sqlite

import (
	"cmp"
	"context"
	"database/sql/driver"
	"fmt"
	"slices"
	"time"

	"github.com/routegen/routegen/runtime"
)

const (
	loadThread = `SELECT 0, min(n), '', '', '', '' FROM tail
		UNION ALL SELECT 1, n, id, body, '', '' FROM tail WHERE n > ? AND id IS NOT NULL
		UNION ALL SELECT 2, NULL, (SELECT fingerprint FROM shape WHERE n = shape), body, '', '' FROM thread WHERE id = ?
		UNION ALL SELECT 3, n, id, body, kind, node FROM interrupt WHERE thread = (SELECT n FROM thread WHERE id = ?) AND state < 2`
	listThreads = `SELECT id, version, status, owner, wake, (SELECT fingerprint FROM shape WHERE n = shape) FROM thread WHERE true`
)

// read runs a query on a connection of its own.
func (s *Store) read(ctx context.Context, op string, run func(*conn) error) error {
	c, err := s.reader(ctx)
	if err == nil {
		err = run(c)
		s.giveBack(c)
	}
	return failed(op, err)
}

// readShort is read for what takes no longer than a step of a commit: while nobody writes, it has the writer's connection, whose pages are warm.
func (s *Store) readShort(ctx context.Context, op string, run func(*conn) error) error {
	s.mu.Lock()
	free := !s.led && !s.closed && ctx.Err() == nil
	s.led = s.led || free
	s.mu.Unlock()
	if !free {
		return s.read(ctx, op, run)
	}
	defer s.pass()
	return failed(op, run(s.writer))
}

// Load implements [runtime.Store]. What this process committed a moment ago is at hand; the file only says that nobody else was there since.
func (s *Store) Load(ctx context.Context, id string) (t *runtime.Thread, err error) {
	if k := s.knows(id); k.thread != nil && ctx.Err() == nil && s.current(&k) && !s.isClosed() {
		return k.thread, nil
	}
	op := fmt.Sprintf("load thread %.60q", id)
	err = s.readShort(ctx, op, func(c *conn) error {
		ctx := context.WithoutCancel(ctx) // too short to be cut
		k := s.knows(id)
		if k.thread != nil {
			err := c.query(ctx, func(row []driver.Value) bool {
				k.see(id, row)
				return true
			}, readTail, k.last)
			if err == nil && !k.foreign {
				t = k.thread
			}
			if err != nil || t != nil {
				return err
			}
			k = s.knows(id)
		}
		t, err = loadWhole(ctx, c, &k, id)
		return err
	})
	if err == nil && t == nil {
		err = refuse(runtime.CodeNotFound, op, errMissing)
	}
	if err != nil {
		return nil, err
	}
	return t, nil
}

// loadWhole reads a thread from tables and tail.
func loadWhole(ctx context.Context, c *conn, k *known, id string) (t *runtime.Thread, err error) {
	var wrong error
	type asked struct {
		n int64
		*runtime.Interrupt
	}
	var had []asked
	type sealed struct {
		fingerprint string
		body        []byte
	}
	var stored *sealed
	err = c.query(ctx, func(row []driver.Value) bool {
		switch integer(row[0]) {
		case 2:
			stored = &sealed{textOf(row[2]), blob(row[3])}
		case 3:
			i, err := interruptOf(textOf(row[2]), id, textOf(row[4]), textOf(row[5]), blob(row[3]))
			wrong = first(wrong, err)
			had = append(had, asked{integer(row[1]), i})
		default:
			k.see(id, row)
		}
		return true
	}, loadThread, k.last, id, id)
	if len(k.rows) > 0 {
		r := latest(k.rows)
		stored = &sealed{r.Fingerprint, r.Body}
	}
	if err != nil || stored == nil {
		return nil, err
	}
	if t, err = threadOf(id, stored.fingerprint, stored.body); err != nil || wrong != nil {
		return nil, first(err, wrong)
	}
	slices.SortFunc(had, func(a, b asked) int { return cmp.Compare(a.n, b.n) })
	for _, o := range had {
		t.Open = append(t.Open, o.Interrupt)
	}
	for _, r := range k.rows {
		changed := make([]*runtime.Interrupt, len(r.Interrupts))
		for n := range changed {
			i := &r.Interrupts[n]
			if changed[n], err = interruptOf(i.ID, id, i.Kind, i.Node, i.Body); err != nil {
				return nil, err
			}
		}
		t.Open = overlay(t.Open, changed)
	}
	return t, nil
}

// Threads implements [runtime.Store].
func (s *Store) Threads(ctx context.Context, q runtime.ThreadQuery) (found []runtime.ThreadRow, err error) {
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
	if err := s.folded(ctx, "query threads"); err != nil {
		return nil, err
	}
	err = s.read(ctx, "query threads", func(c *conn) error {
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
