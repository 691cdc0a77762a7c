package transfer

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/store/internal/record"
	"github.com/routegen/routegen/runtime/thread"
)

// Contents is what a store has.
type Contents struct {
	Threads, Waiting    int // Waiting is how many of the threads wait
	Interrupts, Entries int
	Digest              string // SHA-256 of all records, in hexadecimal
}

// Compare reads both stores whole, and returns what they have. Every thread must have the same
// record, interrupts, entries and requests in both, and entries and interrupts of all threads the
// same order. It returns CodeConflict with the first difference, and CodeInternal for what is
// damaged in one of them. It takes memory for a page of each.
func Compare(ctx context.Context, a, b thread.Store) (*Contents, error) {
	var out Contents
	all := sha256.New()
	after := ""
	for one, other := range pairs(ctx, a.Threads, b.Threads, thread.Query{Limit: page},
		func(q *thread.Query, last thread.Summary) { q.AfterID = last.ID }) {
		switch {
		case one.err != nil:
			return nil, one.err
		case one.row != other.row:
			if _, err := digestOf(ctx, a, one.row.ID, new(Contents)); runtime.CodeOf(
				err) == runtime.CodeInternal { // why it is not in the other one
				return nil, err
			}
			return nil, differ("thread %.60q, version %d, differs: there is %.60q, version %d, "+
				"in its place", one.row.ID, one.row.Version, other.row.ID, other.row.Version)
		}
		after = one.row.ID
		sum, err := digestOf(ctx, a, after, &out)
		if err != nil {
			return nil, err
		}
		had, err := digestOf(ctx, b, after, new(Contents))
		if err != nil {
			return nil, err
		}
		if sum != had {
			return nil, differ("the contents of thread %.60q differ", after)
		}
		out.Threads++
		if one.row.Status == thread.StatusWaiting {
			out.Waiting++
		}
		_, _ = all.Write(sum[:]) // never fails
	}
	for one, other := range pairs(ctx, a.Log, b.Log, thread.LogQuery{Limit: page},
		func(q *thread.LogQuery, last thread.Entry) { q.After = last.Cursor }) {
		if one.err != nil {
			return nil, one.err
		}
		if one.row.Thread != other.row.Thread || one.row.Seq != other.row.Seq {
			return nil, differ("the order of the log differs at entry %d of thread %.60q",
				one.row.Seq, one.row.Thread)
		}
		_, _ = fmt.Fprintf(all, "%q %d\n", one.row.Thread, one.row.Seq)
	}
	for one, other := range pairs(ctx, a.Interrupts, b.Interrupts, allInterrupts(""),
		func(q *thread.InterruptQuery, last *thread.Interrupt) {
			q.After = &thread.InterruptMark{ID: last.ID}
		}) {
		switch {
		case one.err != nil:
			return nil, one.err
		case one.row == nil || other.row == nil || one.row.ID != other.row.ID:
			return nil, differ("the order of interrupts differs, or one is missing")
		}
		_, _ = fmt.Fprintf(all, "%q\n", one.row.ID)
	}
	out.Digest = hex.EncodeToString(all.Sum(nil))
	return &out, nil
}

func differ(format string, args ...any) error {
	return runtime.Errorf(runtime.CodeConflict, "compare the stores", format, args...)
}

// found is a row of one of two stores, or why it cannot be read. A row that is missing is zero.
type found[R any] struct {
	row R
	err error
}

// pairs yields the rows of two stores at the same place, page by page, until both have no more. An
// error is in the first of the pair, and the last that is yielded.
func pairs[Q, R any](ctx context.Context, a, b func(context.Context, Q) ([]R, error), q Q,
	goOn func(*Q, R)) func(yield func(one, other found[R]) bool) {
	return func(yield func(one, other found[R]) bool) {
		for ofA, ofB := q, q; ; {
			one, err := a(ctx, ofA)
			var other []R
			if err == nil {
				other, err = b(ctx, ofB)
			}
			if err != nil {
				yield(found[R]{err: err}, found[R]{})
				return
			}
			for n := range max(len(one), len(other)) {
				if !yield(rowAt(one, n), rowAt(other, n)) {
					return
				}
			}
			if len(one) == 0 || len(other) == 0 {
				return
			}
			goOn(&ofA, one[len(one)-1])
			goOn(&ofB, other[len(other)-1])
		}
	}
}

// rowAt returns a row of a page, and zero after its end.
func rowAt[R any](page []R, n int) (row found[R]) {
	if n < len(page) {
		row.row = page[n]
	}
	return row
}

// digestOf returns the sum of all that a store has of a thread, and counts it.
func digestOf(ctx context.Context, s thread.Store, id string, count *Contents) (sum [32]byte,
	err error) {
	h := sha256.New()
	t, err := s.Load(ctx, id)
	if err == nil {
		err = addRecord(h, &record.ThreadBody{Thread: t}, t.ID, t.Fingerprint)
	}
	for n := 0; err == nil && n < len(t.Open); n++ {
		_, err = fmt.Fprintf(h, "%q\n", t.Open[n].ID)
	}
	for q := allInterrupts(id); err == nil; {
		var rows []*thread.Interrupt
		if rows, err = s.Interrupts(ctx, q); len(rows) == 0 {
			break
		}
		for _, i := range rows {
			if err == nil {
				err = addRecord(h, &record.InterruptBody{Interrupt: i}, i.ID, i.Kind, i.Node)
			}
		}
		count.Interrupts += len(rows)
		q.After = &thread.InterruptMark{ID: rows[len(rows)-1].ID}
	}
	for q := (thread.LogQuery{Thread: id, Limit: page}); err == nil; {
		var rows []thread.Entry
		if rows, err = s.Log(ctx, q); len(rows) == 0 {
			break
		}
		for n := range rows {
			if err == nil {
				err = addEntry(ctx, h, s, &rows[n])
			}
		}
		count.Entries += len(rows)
		q.AfterSeq = rows[len(rows)-1].Seq
	}
	return [32]byte(h.Sum(nil)), err
}

// addRecord adds a record, as it is stored, to a sum.
func addRecord(h hash.Hash, body any, belongs ...string) error {
	b, err := record.Seal(body, belongs...)
	_, _ = fmt.Fprintf(h, "%q %d %s\n", belongs, len(b.JSON), b.JSON)
	return err
}

// addEntry adds an entry, and that it is found by its request.
func addEntry(ctx context.Context, h hash.Hash, s thread.Store, e *thread.Entry) error {
	err := addRecord(h, record.EntryBodies([]thread.Entry{*e}))
	if err != nil || e.Request == "" {
		return err
	}
	rows, err := s.Log(ctx, thread.LogQuery{Thread: e.Thread, Request: e.Request})
	for n := range rows {
		_, _ = fmt.Fprintf(h, "request of %d\n", rows[n].Seq)
	}
	return err
}
