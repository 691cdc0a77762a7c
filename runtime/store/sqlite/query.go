package sqlite

import (
	"cmp"
	"context"
	"database/sql/driver"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/store/internal/record"
	"github.com/routegen/routegen/runtime/thread"
)

// A cursor is the number of a commit and the place of an entry in it.
const placeBits = 20

const (
	loadThread = `SELECT 0, (SELECT fingerprint FROM shape WHERE n = shape), '', '', json, crc FROM thread WHERE id = ?
		UNION ALL
		SELECT n, id, kind, node, json, crc FROM interrupt WHERE thread = (SELECT n FROM thread WHERE id = ?) AND state < 2
		ORDER BY 1`
	listInterrupts = `SELECT i.id, t.id, i.kind, i.node, i.json, i.crc FROM interrupt i CROSS JOIN thread t ON t.n = i.thread WHERE true`
	listBriefs     = `SELECT i.id, i.kind, i.node, i.state, i.created, i.json ->> '$.closedAt', i.json ->> '$.answeredBy', i.json ->> '$.escalatedTo',
		i.json ->> '$.assignees[0]', i.json ->> '$.asks', i.json ->> '$.clashes' FROM interrupt i WHERE true`
	listLog = `SELECT n, json, crc FROM log WHERE n = (SELECT n FROM thread WHERE id = ?) AND seq > ? AND n >= ?
		UNION ALL
		SELECT * FROM (SELECT n, json, crc FROM log WHERE thread = (SELECT n FROM thread WHERE id = ?) AND n > thread AND seq > ? AND n >= ?
			ORDER BY seq LIMIT ?)`
	listAllLog  = `SELECT l.n, l.json, l.crc, t.id FROM log l CROSS JOIN thread t ON t.n = l.thread WHERE l.n >= ? AND l.seq >= 0`
	findRequest = `SELECT seq FROM request WHERE thread = (SELECT n FROM thread WHERE id = ?) AND id = ?`
	listThreads = `SELECT id, version, status, owner, wake, (SELECT fingerprint FROM shape WHERE n = shape) FROM thread WHERE true`
)

// withReader calls run with one of the readers.
func (s *Store) withReader(ctx context.Context, op string,
	run func(context.Context, *conn) error) error {
	c, err := s.acquireReader(ctx)
	if err == nil {
		err = run(ctx, c)
		s.releaseReader(c)
	}
	return wrapError(op, err)
}

// withReaderInline is withReader for queries as short as a step of a commit. While no commit runs,
// it uses the writer's connection, whose pages are cached. ctx is checked before and not during the
// query, since watching it costs more than the query.
func (s *Store) withReaderInline(ctx context.Context, op string,
	run func(context.Context, *conn) error) error {
	if err := ctx.Err(); err != nil {
		return wrapError(op, err)
	}
	whole := context.WithoutCancel(ctx)
	s.mu.Lock()
	free := !s.writing && !s.closed
	s.writing = s.writing || free
	s.mu.Unlock()
	if !free {
		return s.withReader(ctx, op, func(_ context.Context, c *conn) error {
			return run(whole, c)
		})
	}
	defer s.passWriter()
	return wrapError(op, run(whole, s.writer))
}

// Load implements [thread.Store].
func (s *Store) Load(ctx context.Context, id string) (t *thread.Thread, err error) {
	op := fmt.Sprintf("load thread %.60q", id)
	err = s.withReaderInline(ctx, op, func(ctx context.Context, c *conn) error {
		var wrong error
		err := c.query(ctx, func(row []driver.Value) bool {
			first, body := textValue(row[1]), bodyValue(row[4:])
			if t == nil {
				t, wrong = record.ThreadOf(id, first, body)
				return wrong == nil
			}
			var i *thread.Interrupt
			i, wrong = record.InterruptOf(first, id, textValue(row[2]), textValue(row[3]), body)
			t.Open = append(t.Open, i)
			return wrong == nil
		}, loadThread, id, id)
		return cmp.Or(err, wrong)
	})
	if err == nil && t == nil {
		err = runtime.Errorf(runtime.CodeNotFound, op, "there is no such thread")
	}
	if err != nil {
		return nil, err
	}
	return t, nil
}

// queryFilter is a query in the making. Its text is made of constants; values of callers are
// arguments.
type queryFilter struct {
	text strings.Builder
	args []any
}

func (f *queryFilter) addTerm(on bool, text string, args ...any) {
	if on {
		f.text.WriteString(text)
		f.args = append(f.args, args...)
	}
}

// filterOf returns the query for interrupts. one selects those of a thread, or one by its id.
func filterOf(q thread.InterruptQuery, one bool) *queryFilter {
	f := new(queryFilter)
	if len(q.States) == 0 && !one {
		q.States = []thread.InterruptState{thread.InterruptOpen}
	}
	open := len(q.States) == 1 && q.States[0] == thread.InterruptOpen
	f.addTerm(!q.Brief, listInterrupts)
	f.addTerm(q.Brief, listBriefs)
	f.addTerm(q.ID != "", " AND i.id = ?", q.ID)
	f.addTerm(q.Thread != "", " AND i.thread = (SELECT n FROM thread WHERE id = ?)", q.Thread)
	if q.Tenant != nil {
		f.addTerm(one, " AND +i.tenant = ?", *q.Tenant)
		f.addTenant(!one, q.ByAge, "i.", *q.Tenant)
	}
	f.addTerm(open && !q.ByAge, " AND i.state = 0")
	f.addTerm(open && q.ByAge, " AND +i.state = 0") // the index of open ones has another order
	f.addTerm(!open && len(q.States) > 0, " AND (? >> i.state) & 1",
		record.BitsOf(q.States, record.States))
	f.addTerm(len(q.Kinds) > 0, " AND instr(?, ' ' || hex(i.kind) || ' ')", joinNames(q.Kinds))
	f.addTerm(len(q.Nodes) > 0, " AND instr(?, ' ' || hex(i.node) || ' ')", joinNames(q.Nodes))
	f.addTerm(len(q.Assignees) > 0, " AND (i.who IS NULL OR EXISTS (SELECT 1 FROM json_each(?) "+
		"AS a WHERE instr(i.who, a.value)))", listNames(q.Assignees))
	f.addTerm(!q.Before.IsZero(), " AND i.created < ?",
		q.Before.Add(time.Millisecond-1).UnixMilli())
	if a := q.After; a != nil {
		f.addTerm(q.ByAge, " AND i.n > (SELECT n FROM interrupt WHERE id = ?)", a.ID)
		f.addTerm(!q.ByAge, " AND (i.priority, i.created, i.id) > (?, ?, ?)", int64(a.Priority),
			a.Created.UnixMilli(), a.ID)
	}
	f.addTerm(q.ByAge, " ORDER BY i.n")
	f.addTerm(!q.ByAge, " ORDER BY i.priority, i.created, i.id")
	f.addTerm(true, " LIMIT ?", limitOf(q.Limit))
	return f
}

// addTenant selects rows of a tenant. The rows of tenant "" in the order of their numbers are found
// by those: they are in no index, and the sign keeps SQLite from sorting those of another one.
func (f *queryFilter) addTenant(on, numbered bool, table, tenant string) {
	f.addTerm(on && numbered && tenant == "", " AND +"+table+"tenant = ''")
	f.addTerm(on && numbered && tenant != "", " AND "+table+"tenant <> ''")
	f.addTerm(on && (!numbered || tenant != ""), " AND "+table+"tenant = ?", tenant)
}

// Interrupts implements [thread.Store]. One that cannot be read is refused when it was asked for by
// id or thread; otherwise it is left out, and the log of the program says so.
func (s *Store) Interrupts(ctx context.Context, q thread.InterruptQuery) (
	found []*thread.Interrupt, err error) {
	const op = "query interrupts"
	if q.Brief {
		if found, err = s.briefs(ctx, op, q); err == nil {
			return found, nil
		}
		q.Brief, found = false, nil // a record may be damaged, and others are to be returned
	}
	one := q.ID != "" || q.Thread != ""
	f := filterOf(q, one)
	read := s.withReader
	if q.ID != "" {
		read = s.withReaderInline
	}
	err = read(ctx, op, func(ctx context.Context, c *conn) error {
		var wrong error
		err := c.query(ctx, func(row []driver.Value) bool {
			i, err := record.InterruptOf(textValue(row[0]), textValue(row[1]), textValue(row[2]),
				textValue(row[3]), bodyValue(row[4:]))
			switch {
			case err == nil:
				found = append(found, i)
			case one:
				wrong = err
			default:
				s.log.ErrorContext(ctx, "an interrupt cannot be read and was left out", "thread",
					textValue(row[1]), "interrupt", textValue(row[0]), "error", err)
			}
			return wrong == nil
		}, f.text.String(), f.args...)
		return cmp.Or(err, wrong)
	})
	if err != nil {
		return nil, err
	}
	return found, nil
}

// briefs returns what Stats counts of interrupts, without decoding their records. It returns an
// error if one of them cannot be read.
func (s *Store) briefs(ctx context.Context, op string, q thread.InterruptQuery) (
	found []*thread.Interrupt, err error) {
	f := filterOf(q, q.ID != "" || q.Thread != "")
	err = s.withReader(ctx, op, func(ctx context.Context, c *conn) error {
		var wrong error
		err := c.query(ctx, func(row []driver.Value) bool {
			var i *thread.Interrupt
			if i, wrong = briefOf(row); wrong == nil {
				found = append(found, i)
			}
			return wrong == nil
		}, f.text.String(), f.args...)
		return cmp.Or(err, wrong)
	})
	return found, err
}

// briefOf returns the interrupt of a row of listBriefs.
func briefOf(row []driver.Value) (*thread.Interrupt, error) {
	i := &thread.Interrupt{ID: textValue(row[0]), Created: time.UnixMilli(intValue(row[4])).UTC(),
		AnsweredBy: textValue(row[6]), EscalatedTo: textValue(row[7]), Asks: int(intValue(row[9])),
		Clashes: int(intValue(row[10]))}
	i.Kind, i.Node = textValue(row[1]), textValue(row[2])
	if first := textValue(row[8]); first != "" {
		i.Assignees = []string{first}
	}
	state := intValue(row[3])
	if state < 0 || state >= int64(len(record.States)) {
		return nil, fmt.Errorf("the state of interrupt %.60q is %d", i.ID, state)
	}
	i.State = record.States[state]
	var err error
	if closed := textValue(row[5]); closed != "" {
		i.ClosedAt, err = time.Parse(time.RFC3339Nano, closed)
	}
	return i, err
}

// Log implements [thread.Store]. A commit that cannot be read is refused when its thread was asked
// for; otherwise it is left out, and the log of the program says so.
func (s *Store) Log(ctx context.Context, q thread.LogQuery) (found []thread.Entry, err error) {
	most := limitOf(q.Limit)
	after := max(q.After, 0)
	if q.Tenant != nil && q.Thread != "" {
		if tenant, _ := thread.SplitID(q.Thread); tenant != *q.Tenant {
			return nil, s.withReader(ctx, "query log",
				func(context.Context, *conn) error { return nil })
		}
	}
	var wrong error
	add := func(n int64, thread string, body record.Body, keep func(*thread.Entry) bool) bool {
		entries, err := record.EntriesOf(n<<placeBits, thread, body)
		if err != nil && q.Thread == "" {
			s.log.ErrorContext(ctx, "a commit cannot be read and was left out", "thread", thread,
				"commit", n, "error", err)
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
	read := s.withReader
	if q.Request != "" {
		read = s.withReaderInline
	}
	err = read(ctx, "query log", func(ctx context.Context, c *conn) error {
		if q.Thread == "" {
			var f queryFilter
			f.addTerm(true, listAllLog, after>>placeBits)
			if q.Tenant != nil {
				f.addTenant(true, true, "l.", *q.Tenant)
			}
			f.addTerm(true, " ORDER BY l.n LIMIT ?", most+1)
			return c.query(ctx, func(row []driver.Value) bool {
				return add(intValue(row[0]), textValue(row[3]), bodyValue(row[1:]),
					func(*thread.Entry) bool { return true })
			}, f.text.String(), f.args...)
		}
		keep := func(e *thread.Entry) bool { return e.Seq > q.AfterSeq }
		if q.Request != "" {
			seq, err := c.queryValue(ctx, findRequest, q.Thread, q.Request)
			if seq == nil || intValue(seq) <= q.AfterSeq {
				return err
			}
			most, q.AfterSeq = 1, intValue(seq)-1
			keep = func(e *thread.Entry) bool { return e.Request == q.Request }
		}
		return c.query(ctx, func(row []driver.Value) bool {
			return add(intValue(row[0]), q.Thread, bodyValue(row[1:]), keep)
		}, listLog, q.Thread, q.AfterSeq, after>>placeBits, q.Thread, q.AfterSeq, after>>placeBits,
			most+1)
	})
	if err = cmp.Or(err, wrapError("query log", wrong)); err != nil {
		return nil, err
	}
	return found, nil
}

// Threads implements [thread.Store]. An engine calls it every Config.Poll, so it also looks
// whether the file is still in its place.
func (s *Store) Threads(ctx context.Context, q thread.Query) (found []thread.Summary, err error) {
	_ = s.checkReplaced(ctx) // its log line is what counts here: reads go on
	var f queryFilter
	running := len(q.Statuses) == 1 && q.Statuses[0] == thread.StatusRunning
	f.addTerm(true, listThreads)
	f.addTerm(running, " AND status = 1")
	f.addTerm(!running && len(q.Statuses) > 0, " AND (? >> status) & 1",
		record.BitsOf(q.Statuses, record.Statuses))
	f.addTerm(q.Owner != "", " AND owner = ?", q.Owner)
	if q.Tenant != nil {
		f.addTerm(*q.Tenant == "", " AND instr(id, '/') <= 1")
		f.addTerm(*q.Tenant != "", " AND id > ? AND id < ?", *q.Tenant+"/", *q.Tenant+"0")
	}
	if q.WakeBefore.IsZero() {
		f.addTerm(q.AfterID != "", " AND id > ?", q.AfterID)
		f.addTerm(true, " ORDER BY id LIMIT ?", limitOf(q.Limit))
	} else {
		f.addTerm(true, " AND wake <= ? ORDER BY wake, n LIMIT ?", q.WakeBefore.UnixMilli(),
			limitOf(q.Limit))
	}
	err = s.withReader(ctx, "query threads", func(ctx context.Context, c *conn) error {
		return c.query(ctx, func(row []driver.Value) bool {
			r := thread.Summary{
				ID: textValue(row[0]), Version: intValue(row[1]),
				Status: record.Statuses[min(max(intValue(row[2]), 0),
					int64(len(record.Statuses)-1))],
				Owner: textValue(row[3]), Fingerprint: textValue(row[5]),
			}
			if row[4] != nil {
				r.Wake = time.UnixMilli(intValue(row[4])).UTC()
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

func intValue(v driver.Value) int64 {
	n, _ := v.(int64)
	return n
}

func textValue(v driver.Value) string {
	t, _ := v.(string)
	return t
}

// bodyValue returns a body: its columns are the first two of row.
func bodyValue(row []driver.Value) record.Body {
	return record.Body{JSON: textValue(row[0]), CRC: intValue(row[1])}
}

func limitOf(n int) int64 { return int64(cmp.Or(max(n, 0), thread.DefaultLimit)) }

// joinNames writes a list of texts so that one of them can be looked for: whatever is in it, it
// cannot look like two.
func joinNames(list []string) string {
	var b strings.Builder
	for _, name := range list {
		b.WriteByte(' ')
		b.WriteString(strings.ToUpper(hex.EncodeToString([]byte(name))))
	}
	b.WriteByte(' ')
	return b.String()
}

// listNames returns a JSON list of what joinNames makes of each name.
func listNames(list []string) string {
	joined := make([]string, len(list))
	for n, name := range list {
		joined[n] = joinNames([]string{name})
	}
	return `["` + strings.Join(joined, `","`) + `"]` // hexadecimal digits and spaces
}
