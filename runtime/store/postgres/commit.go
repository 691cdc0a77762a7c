package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/store/internal/record"
	"github.com/routegen/routegen/runtime/thread"
)

const commitThreads = `SELECT {schema}.commit_threads($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19,
	$20, $21, $22, $23, $24, $25, $26, $27, $28, $29, $30)`

const (
	commitLimit = 10 * time.Second      // for finding out what became of a commit
	commitPause = 50 * time.Millisecond // before a commit is sent again
	mostAgain   = 3                     // repetitions of what the server has undone
	placeBits   = 20                    // of a cursor; the others are the transaction
)

// Commit implements [thread.Store]. A context that ends while the call waits for a connection takes
// it back; once it is sent, the outcome is told as it is.
//
// A commit whose connection breaks may have happened. It is sent again with the same token, for ten
// seconds: the server does it then if it has not done so, waits where the first is still running,
// and reports it as done if it was. Where that fails too, CodeUnavailable is returned and the
// outcome is unknown.
func (s *Store) Commit(ctx context.Context, changes ...*thread.Change) error {
	const op = "commit"
	if err := ctx.Err(); err != nil {
		return wrapError(op, err)
	}
	rows, err := record.RowsOf(changes)
	if err != nil {
		return err
	}
	places, err := placesOf(rows)
	if err != nil {
		return err
	}
	jobs, waiting := s.dispatch.Load(), waitingThreads{}
	if jobs != nil && !waiting.take(changes, rows) {
		jobs = nil
	}
	// locks are taken in one order, so that no two calls wait for each other
	slices.SortFunc(rows, func(a, b record.Row) int { return cmp.Compare(a.ID, b.ID) })
	args := columnsOf(rows, func(n int) int64 { return places[rows[n].ID] })
	//nolint:gosec // it only tells commits apart
	call := sentCall{query: commitThreads, args: append([]any{rand.Int64()}, args...)}
	if jobs != nil {
		call.query, call.args = jobs.commit, append(call.args, waiting.ids, waiting.fences)
	}
	why, err := s.send(ctx, &call)
	if why != "" {
		return conflict(rows, why)
	}
	if err == nil && jobs != nil {
		jobs.inserted()
	}
	if err == nil {
		s.bell.ring(s, rows) //nolint:contextcheck // it is sent later
	}
	return wrapError(op, err)
}

// sentCall is a statement that calls commit_threads.
type sentCall struct {
	query string
	args  []any
}

// conflict returns the error for what commit_threads said: the number of the thread, and why.
func conflict(rows []record.Row, text string) error {
	number, why, _ := strings.Cut(text, " ")
	n, _ := strconv.Atoi(number)
	r := rows[min(max(n, 1), len(rows))-1]
	return r.Error(runtime.CodeConflict, errors.New(why))
}

// send calls commit_threads until its outcome is known. It returns why it was refused, or an error.
func (s *Store) send(ctx context.Context, call *sentCall) (why string, err error) {
	limit, cancel := context.WithTimeout(context.WithoutCancel(ctx), commitLimit)
	defer cancel()
	var unsure error // of the first call whose outcome is unknown
	for tries, waits := 0, ctx; ; tries++ {
		why, err = s.sendOnce(waits, limit, call)
		if err == nil {
			return why, nil
		}
		switch is := outcomeOf(err); {
		case is == refused:
			return refusal(err), nil
		case is == failed, is == noServer && unsure == nil, is < unknown && tries >= mostAgain &&
			unsure == nil:
			return "", err
		case is == newLine:
			// the next call tells whether it worked
			_, _ = s.pool.Exec(limit, s.sql(beginLine), nil)
		case is == unknown && unsure == nil:
			unsure = fmt.Errorf("load it again, what became of it is unknown: %w", err)
			waits = limit
		}
		select {
		//nolint:gosec // it only spreads them
		case <-time.After(commitPause/2 + rand.N(commitPause)):
		case <-limit.Done():
			return "", cmp.Or(unsure, err)
		}
	}
}

// sendOnce calls commit_threads once. waits bounds the wait for a connection, and limit the call.
func (s *Store) sendOnce(waits, limit context.Context, call *sentCall) (why string, err error) {
	c, err := s.pool.Acquire(waits)
	if err != nil {
		return "", &noConnectionError{err}
	}
	defer c.Release()
	var answer *string
	if err = c.QueryRow(limit, s.sql(call.query), call.args...).Scan(&answer); answer != nil {
		why = *answer
	}
	return why, err
}

// placesOf returns for each thread the place of its first entry among those of the call. It refuses
// more entries than a cursor can count.
func placesOf(rows []record.Row) (map[string]int64, error) {
	places, next := map[string]int64{}, int64(0)
	for n := range rows {
		places[rows[n].ID] = next
		for _, v := range rows[n].Log {
			next += int64(v.Count)
		}
		if next > 1<<placeBits {
			return nil, rows[n].Error(runtime.CodeInvalid,
				fmt.Errorf("one commit cannot have more than %d entries", 1<<placeBits))
		}
	}
	return places, nil
}

// columnsOf returns the arguments of commit_threads but the token. first is the place of the first
// entry of a row.
func columnsOf(rows []record.Row, first func(row int) int64) []any {
	var t struct {
		id, fingerprint, body                     []string
		before, fence, version, next, status, crc []int64
		owner                                     []*string
		wake                                      []*int64
	}
	var q struct {
		of, seq []int64
		id      []string
	}
	var i struct {
		of, state, priority, created, crc []int64
		id, kind, node, body              []string
		who                               []*string
	}
	var l struct {
		of, seq, place, crc []int64
		body                []string
	}
	for n := range rows {
		r, of, place := &rows[n], int64(n+1), first(n)-1
		t.id, t.fingerprint = append(t.id, r.ID), append(t.fingerprint, r.Fingerprint)
		t.body, t.crc = append(t.body, r.Body.JSON), append(t.crc, r.Body.CRC)
		t.before, t.fence = append(t.before, r.Before), append(t.fence, r.Fence)
		t.version, t.next = append(t.version, r.Version), append(t.next, r.Next)
		t.status = append(t.status, r.Status)
		t.owner, t.wake = append(t.owner, orNil[string](r.Owner)),
			append(t.wake, orNil[int64](r.Wake))
		for _, v := range r.Requests {
			q.of, q.id, q.seq = append(q.of, of), append(q.id, v.ID), append(q.seq, v.Seq)
		}
		for _, v := range r.Interrupts {
			i.of, i.id = append(i.of, of), append(i.id, v.ID)
			i.kind, i.node = append(i.kind, v.Kind), append(i.node, v.Node)
			i.state, i.priority = append(i.state, v.State), append(i.priority, v.Priority)
			i.created, i.who = append(i.created, v.Created), append(i.who, arrayOf(v.Who))
			i.body, i.crc = append(i.body, v.Body.JSON), append(i.crc, v.Body.CRC)
		}
		for _, v := range r.Log {
			if v.Count == 0 {
				continue
			}
			place += int64(v.Count)
			l.of, l.seq, l.place = append(l.of, of), append(l.seq, v.Last), append(l.place, place)
			l.body, l.crc = append(l.body, v.Body.JSON), append(l.crc, v.Body.CRC)
		}
	}
	return []any{
		t.id, t.before, t.fence, t.version, t.next, t.status, t.owner, t.wake, t.fingerprint,
		t.body, t.crc, q.of, q.id, q.seq, i.of, i.id, i.kind, i.node, i.state, i.priority,
		i.created, i.who, i.body, i.crc, l.of, l.seq, l.place, l.body, l.crc,
	}
}

func orNil[T any](v any) *T {
	if value, ok := v.(T); ok {
		return &value
	}
	return nil
}

var arrayQuotes = strings.NewReplacer(`\`, `\\`, `"`, `\"`)

// arrayOf writes an array as PostgreSQL reads it, or nil for an empty one.
func arrayOf(list []string) *string {
	if len(list) == 0 {
		return nil
	}
	quoted := make([]string, len(list))
	for n, v := range list {
		quoted[n] = `"` + arrayQuotes.Replace(v) + `"`
	}
	text := "{" + strings.Join(quoted, ",") + "}"
	return &text
}

// refusal returns the text of a conflict.
func refusal(err error) string {
	e, _ := errors.AsType[*pgconn.PgError](err)
	return e.Message
}
