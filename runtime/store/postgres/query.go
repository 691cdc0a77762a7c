package postgres

import (
	"cmp"
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/store/internal/record"
	"github.com/routegen/routegen/runtime/thread"
)

// Each is one statement, so it sees one moment.
const (
	loadThread = `SELECT 0 AS n, fingerprint, '', '', body, crc FROM {schema}.thread WHERE id = $1
		UNION ALL
		SELECT n, id, kind, node, body, crc FROM {schema}.interrupt
		WHERE thread = (SELECT n FROM {schema}.thread WHERE id = $1) AND state < 2 ORDER BY 1`
	listInterrupts = `SELECT i.id, t.id, i.kind, i.node, i.body, i.crc
		FROM {schema}.interrupt i JOIN {schema}.thread t ON t.n = i.thread WHERE true`
	listThreads = `SELECT t.id, t.version, t.status, coalesce(t.owner, ''), t.wake, t.fingerprint
		FROM {schema}.thread t`
	listLog = `SELECT l.x, l.place, t.id, l.body, l.crc
		FROM {schema}.thread t JOIN {schema}.log l ON l.thread = t.n
		WHERE t.id = $1 AND l.seq > $2 AND (l.x, l.place) > ($3, $4) ORDER BY l.seq LIMIT $5`
	findRequest = `SELECT l.x, l.place, t.id, l.body, l.crc
		FROM {schema}.thread t JOIN {schema}.request r ON r.thread = t.n
		CROSS JOIN LATERAL (SELECT * FROM {schema}.log WHERE thread = t.n AND seq >= r.seq
			ORDER BY seq LIMIT 1) l
		WHERE t.id = $1 AND r.id = $2`
	// All transactions before the oldest that runs are over; before the next one are all whose
	// commit has returned. Without entries there is one row that says so.
	listAllLog = `SELECT l.x, l.place, l.id, l.body, l.crc, s.done, s.next
		FROM (SELECT start + pg_snapshot_xmin(now)::text::bigint AS done,
			start + pg_snapshot_xmax(now)::text::bigint AS next
			FROM {schema}.settings, pg_current_snapshot() now) s
		LEFT JOIN LATERAL (SELECT l.x, l.place, t.id, l.body, l.crc
			FROM {schema}.log l JOIN {schema}.thread t ON t.n = l.thread
			WHERE (l.x, l.place) > ($1, $2) AND l.x < s.done{tenant} ORDER BY l.x, l.place LIMIT $3) l ON true`
)

// Load implements [thread.Store].
func (s *Store) Load(ctx context.Context, id string) (*thread.Thread, error) {
	const op = "load thread"
	var t *thread.Thread
	err := s.query(ctx, func(rows pgx.Rows) (err error) {
		var n int64
		var first, kind, node string
		var b record.Body
		if err = rows.Scan(&n, &first, &kind, &node, &b.JSON, &b.CRC); err != nil {
			return err
		}
		if t == nil {
			t, err = record.ThreadOf(id, first, b)
			return err
		}
		i, err := record.InterruptOf(first, id, kind, node, b)
		t.Open = append(t.Open, i)
		return err
	}, loadThread, id)
	if err == nil && t == nil {
		err = runtime.Errorf(runtime.CodeNotFound, "", "there is no such thread")
	}
	if err != nil {
		return nil, threadError(op, id, err)
	}
	return t, nil
}

// filter is a query in the making. Its text is made of constants, in which a ? stands for the next
// argument; values of callers are arguments.
type filter struct {
	text strings.Builder
	args []any
}

func (f *filter) addTerm(on bool, text string, args ...any) {
	if !on {
		return
	}
	for _, v := range args {
		before, after, _ := strings.Cut(text, "?")
		f.args = append(f.args, v)
		text = before + "$" + strconv.Itoa(len(f.args)) + after
	}
	f.text.WriteString(text)
}

// filterOf returns the query for interrupts. one selects those of a thread, or one by its id.
func filterOf(q *thread.InterruptQuery, one bool) *filter {
	f := new(filter)
	states := q.States
	if len(states) == 0 && !one {
		states = []thread.InterruptState{thread.InterruptOpen}
	}
	open := len(states) == 1 && states[0] == thread.InterruptOpen
	f.addTerm(true, listInterrupts)
	f.addTerm(q.ID != "", " AND i.id = ?", q.ID)
	f.addTerm(q.Thread != "", " AND i.thread = (SELECT n FROM {schema}.thread WHERE id = ?)",
		q.Thread)
	if q.Tenant != nil {
		f.addTerm(true, " AND i.tenant = ?", *q.Tenant)
		f.addTerm(*q.Tenant != "", " AND i.tenant <> ''") // the index of pages by age says so
	}
	f.addTerm(open, " AND i.state = 0")
	f.addTerm(!open && len(states) > 0, " AND (?::bigint >> i.state) & 1 = 1",
		record.BitsOf(states, record.States))
	f.addTerm(len(q.Kinds) > 0, " AND i.kind = ANY (?)", q.Kinds)
	f.addTerm(len(q.Nodes) > 0, " AND i.node = ANY (?)", q.Nodes)
	f.addTerm(len(q.Assignees) > 0, " AND (i.who IS NULL OR i.who && ?)", q.Assignees)
	f.addTerm(!q.Before.IsZero(), " AND i.created < ?",
		q.Before.Add(time.Millisecond-1).UnixMilli())
	if a := q.After; a != nil {
		f.addTerm(q.ByAge, " AND i.n > (SELECT n FROM {schema}.interrupt WHERE id = ?)", a.ID)
		f.addTerm(!q.ByAge, " AND (i.priority, i.created, i.id) > (?, ?, ?)", a.Priority,
			a.Created.UnixMilli(), a.ID)
	}
	f.addTerm(q.ByAge, " ORDER BY i.n")
	f.addTerm(!q.ByAge, " ORDER BY i.priority, i.created, i.id")
	f.addTerm(true, " LIMIT ?", limitOf(q.Limit))
	return f
}

// Interrupts implements [thread.Store]. One that cannot be read is refused when it was asked for by
// id or thread; otherwise it is left out, and the log of the program says so.
func (s *Store) Interrupts(ctx context.Context, q thread.InterruptQuery) (
	found []*thread.Interrupt, err error) {
	one := q.ID != "" || q.Thread != ""
	f := filterOf(&q, one)
	err = s.query(ctx, func(rows pgx.Rows) error {
		var id, of, kind, node string
		var b record.Body
		if err := rows.Scan(&id, &of, &kind, &node, &b.JSON, &b.CRC); err != nil {
			return err
		}
		i, err := record.InterruptOf(id, of, kind, node, b)
		switch {
		case err == nil:
			found = append(found, i)
		case one:
			return err
		default:
			s.log.ErrorContext(ctx, "an interrupt cannot be read and was left out", "thread", of,
				"interrupt", id, "error", err)
		}
		return nil
	}, f.text.String(), f.args...)
	if err != nil {
		return nil, wrapError("query interrupts", err)
	}
	return found, nil
}

// Log implements [thread.Store]. A commit that cannot be read is refused when its thread was asked
// for; otherwise it is left out, and the log of the program says so.
//
// The log of all threads waits for transactions of the whole server that were writing when it was
// called, if its page is not full: one of them may have committed just before. If one takes longer
// than five seconds, in whatever database, it returns CodeUnavailable.
func (s *Store) Log(ctx context.Context, q thread.LogQuery) (found []thread.Entry, err error) {
	r := logReader{q: q, most: limitOf(q.Limit), store: s, ctx: ctx}
	r.q.After = max(q.After, 0)
	if tenant, _ := thread.SplitID(q.Thread); q.Tenant != nil && q.Thread != "" &&
		tenant != *q.Tenant {
		err = s.query(ctx, func(pgx.Rows) error { return nil }, "SELECT")
		return nil, wrapError("query log", err)
	}
	x, place := r.q.After>>placeBits, r.q.After&(1<<placeBits-1)
	switch {
	case q.Thread == "":
		err = r.readAll(x, place)
	case q.Request != "":
		err = s.query(ctx, r.addRow, findRequest, q.Thread, q.Request)
	default:
		err = s.query(ctx, r.addRow, listLog, q.Thread, q.AfterSeq, x, place, r.most)
	}
	if err != nil {
		return nil, wrapError("query log", err)
	}
	return r.found, nil
}

// logReader collects the entries of a call of Log.
type logReader struct {
	q     thread.LogQuery
	most  int
	found []thread.Entry
	store *Store
	ctx   context.Context //nolint:containedctx // a reader is one call
}

// addRow adds the entries of a row.
func (r *logReader) addRow(rows pgx.Rows) error {
	var x, place int64
	var id string
	var b record.Body
	if err := rows.Scan(&x, &place, &id, &b.JSON, &b.CRC); err != nil {
		return err
	}
	return r.addEntries(x<<placeBits|place, id, b)
}

// addEntries adds the entries of a row whose last one has that cursor.
func (r *logReader) addEntries(last int64, id string, b record.Body) error {
	entries, err := record.EntriesOf(0, id, b)
	if err != nil && r.q.Thread == "" {
		r.store.log.ErrorContext(r.ctx, "a commit cannot be read and was left out", "thread", id,
			"transaction", last>>placeBits, "error", err)
		return nil
	}
	if err != nil {
		return err
	}
	for n := range entries {
		e := &entries[n]
		e.Cursor += last - int64(len(entries)-1)
		if len(r.found) < r.most && e.Cursor > r.q.After && r.matches(e) {
			r.found = append(r.found, *e)
		}
	}
	return nil
}

func (r *logReader) matches(e *thread.Entry) bool {
	return r.q.Thread == "" || e.Seq > r.q.AfterSeq &&
		(r.q.Request == "" || e.Request == r.q.Request)
}

const (
	logWait  = 5 * time.Second      // for transactions that run
	logPause = 2 * time.Millisecond // between two looks
)

var errOldTransaction = errors.New("a transaction of this server has been writing for more than " +
	"five seconds, so the order of what is committed now is not known yet: end it, or give the " +
	"threads a server of their own")

// readAll reads the log of all threads behind a place.
func (r *logReader) readAll(x, place int64) error {
	query, args := strings.Replace(listAllLog, "{tenant}", "", 1), []any{x, place, r.most}
	if of := r.q.Tenant; of != nil {
		only := " AND l.tenant = $4"
		if *of != "" {
			only += " AND l.tenant <> ''" // the index says so
		}
		query, args = strings.Replace(listAllLog, "{tenant}", only, 1), append(args, *of)
	}
	var until int64 // all transactions before it must be over
	for begun := time.Now(); ; {
		r.found = nil
		var done int64
		err := r.store.query(r.ctx, func(rows pgx.Rows) error {
			var at, where, sum *int64
			var id, text *string
			var next int64
			err := rows.Scan(&at, &where, &id, &text, &sum, &done, &next)
			until = cmp.Or(until, next)
			if err != nil || at == nil {
				return err
			}
			return r.addEntries(*at<<placeBits|*where, *id, record.Body{JSON: *text, CRC: *sum})
		}, query, args...)
		if err != nil || done >= until || len(r.found) == r.most {
			return err
		}
		if time.Since(begun) > logWait {
			return errOldTransaction
		}
		select {
		case <-time.After(logPause):
		case <-r.ctx.Done():
			return context.Cause(r.ctx)
		}
	}
}

// Threads implements [thread.Store]. An engine calls it every Config.Poll, so it also compares the
// clocks.
func (s *Store) Threads(ctx context.Context, q thread.Query) (found []thread.Summary, err error) {
	if time.Since(s.opened)-time.Duration(s.synced.Load()) > clockAge {
		_ = s.syncClock(ctx) // the old difference stays; whether the server is there is seen below
	}
	var f filter
	running := len(q.Statuses) == 1 && q.Statuses[0] == thread.StatusRunning
	due := !q.WakeBefore.IsZero()
	f.addTerm(true, listThreads)
	f.addTerm(due || running, " JOIN {schema}.due d ON d.thread = t.n")
	f.addTerm(true, " WHERE true")
	f.addTerm(running, " AND d.running")
	f.addTerm(!running && len(q.Statuses) > 0, " AND (?::bigint >> t.status) & 1 = 1",
		record.BitsOf(q.Statuses, record.Statuses))
	f.addTerm(q.Owner != "", " AND t.owner = ?", q.Owner)
	if q.Tenant != nil {
		f.addTerm(*q.Tenant == "", " AND strpos(t.id, '/') <= 1")
		f.addTerm(*q.Tenant != "", " AND t.id > ? AND t.id < ?", *q.Tenant+"/", *q.Tenant+"0")
	}
	f.addTerm(due, " AND d.wake <= ? ORDER BY d.wake, d.thread", q.WakeBefore.UnixMilli())
	f.addTerm(!due && q.AfterID != "", " AND t.id > ?", q.AfterID)
	f.addTerm(!due, " ORDER BY t.id")
	f.addTerm(true, " LIMIT ?", limitOf(q.Limit))
	err = s.query(ctx, func(rows pgx.Rows) error {
		var r thread.Summary
		var status int
		var wake *int64
		err := rows.Scan(&r.ID, &r.Version, &status, &r.Owner, &wake, &r.Fingerprint)
		if wake != nil {
			r.Wake = time.UnixMilli(*wake).UTC()
		}
		r.Status = record.Statuses[min(max(status, 0), len(record.Statuses)-1)]
		found = append(found, r)
		return err
	}, f.text.String(), f.args...)
	if err != nil {
		return nil, wrapError("query threads", err)
	}
	return found, nil
}

func limitOf(n int) int { return cmp.Or(max(n, 0), thread.DefaultLimit) }
