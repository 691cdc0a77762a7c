package sqlite

import (
	"cmp"
	"context"
	"database/sql/driver"
	"slices"
	"strings"

	"github.com/routegen/routegen/runtime"
)

const listInterrupts = `SELECT i.id, t.id, i.kind, i.node, i.body FROM interrupt i CROSS JOIN thread t ON t.n = i.thread WHERE true`

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

// interrupts is the query that selects.
func (f *filter) interrupts(q *runtime.InterruptQuery, most int64) {
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
		f.where(true, " AND (i.priority, i.created, i.id) > (?, ?, ?)", int64(a.Priority), a.Created.UnixMilli(), a.ID)
	}
	f.where(true, " ORDER BY i.priority, i.created, i.id LIMIT ?", most)
}

// selected is interrupts for what the tail has.
func selected(q *runtime.InterruptQuery, i *interruptRow, thread string) bool {
	has := func(list []string, v string) bool { return len(list) == 0 || slices.Contains(list, v) }
	switch {
	case q.ID != "" && q.ID != i.ID, q.Thread != "" && q.Thread != thread,
		len(q.States) > 0 && !slices.Contains(q.States, states[i.State]), !has(q.Kinds, i.Kind), !has(q.Nodes, i.Node),
		q.Assignee != "" && i.Who != "" && !strings.Contains(i.Who, names([]string{q.Assignee})),
		!q.Before.IsZero() && i.Created >= ceil(q.Before):
		return false
	case q.After != nil:
		return cmp.Or(cmp.Compare(i.Priority, int64(q.After.Priority)), cmp.Compare(i.Created, q.After.Created.UnixMilli()),
			strings.Compare(i.ID, q.After.ID)) > 0
	}
	return true
}

// Interrupts implements [runtime.Store]. A damaged interrupt is refused when it was asked for by id or thread; otherwise it is left out, and
// the log of the program says so.
func (s *Store) Interrupts(ctx context.Context, q runtime.InterruptQuery) ([]*runtime.Interrupt, error) {
	const op = "query interrupts"
	if q.ID != "" || q.Thread != "" {
		return s.someInterrupts(ctx, op, &q)
	}
	if len(q.States) == 0 {
		q.States = []runtime.InterruptState{runtime.InterruptOpen}
	}
	if err := s.folded(ctx, op); err != nil {
		return nil, err
	}
	var f filter
	f.interrupts(&q, limit(q.Limit))
	var found []*runtime.Interrupt
	err := s.read(ctx, op, func(c *conn) error {
		return c.query(ctx, func(row []driver.Value) bool {
			i, err := interruptOf(textOf(row[0]), textOf(row[1]), textOf(row[2]), textOf(row[3]), blob(row[4]))
			if err == nil {
				found = append(found, i)
			} else {
				s.log.ErrorContext(ctx, "an interrupt is damaged and was left out", "thread", textOf(row[1]), "interrupt", textOf(row[0]))
			}
			return true
		}, f.text.String(), f.args...)
	})
	if err != nil {
		return nil, err
	}
	return found, nil
}

// some are the interrupts of a thread, or the one of an id, in the making.
type some struct {
	query *runtime.InterruptQuery
	known known
	newer map[string]bool // those that the tail has: the tables have them as they were
	found []*runtime.Interrupt
	wrong error
}

// someInterrupts returns those of a thread, or the one of an id: the tables and the tail together, as of one moment.
func (s *Store) someInterrupts(ctx context.Context, op string, q *runtime.InterruptQuery) ([]*runtime.Interrupt, error) {
	f := some{query: q, known: s.knowsAll(), newer: map[string]bool{}}
	if q.Thread != "" {
		f.known = s.knows(q.Thread)
	}
	most := limit(q.Limit)
	err := s.read(ctx, op, func(c *conn) error {
		return c.snapshot(ctx, func() error {
			err := c.query(ctx, func(row []driver.Value) bool {
				f.known.see(q.Thread, row)
				return true
			}, readTail, f.known.last)
			if err != nil {
				return err
			}
			f.tail()
			var all filter
			all.interrupts(q, most+int64(len(f.newer)))
			return c.query(ctx, func(row []driver.Value) bool {
				if !f.newer[textOf(row[0])] {
					f.add(textOf(row[0]), textOf(row[1]), textOf(row[2]), textOf(row[3]), blob(row[4]))
				}
				return f.wrong == nil
			}, all.text.String(), all.args...)
		})
	})
	if err = first(err, failed(op, f.wrong)); err != nil {
		return nil, err
	}
	slices.SortFunc(f.found, func(a, b *runtime.Interrupt) int {
		return cmp.Or(cmp.Compare(a.Priority, b.Priority), cmp.Compare(a.Created.UnixMilli(), b.Created.UnixMilli()), strings.Compare(a.ID, b.ID))
	})
	return f.found[:min(len(f.found), int(most))], nil
}

// tail takes the last form of each that the tail has.
func (f *some) tail() {
	for _, r := range slices.Backward(f.known.rows) {
		if r.before < 0 && f.query.Thread != "" {
			f.wrong = errDamaged // of what it held nobody knows
		}
		for n := range r.Interrupts {
			i := &r.Interrupts[n]
			if f.newer[i.ID] || f.query.ID != "" && f.query.ID != i.ID {
				continue
			}
			f.newer[i.ID] = true
			if selected(f.query, i, r.id) {
				f.add(i.ID, r.id, i.Kind, i.Node, i.Body)
			}
		}
	}
}

func (f *some) add(id, thread, kind, node string, body []byte) {
	i, err := interruptOf(id, thread, kind, node, body)
	f.wrong = first(f.wrong, err)
	f.found = append(f.found, i)
}
