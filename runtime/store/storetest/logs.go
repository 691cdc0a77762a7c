package storetest

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
)

// logOrder commits to several threads in turn, and wants the log in just that order after each
// commit.
func logOrder(tr *trial) {
	var want []string
	for n := range 12 {
		id := fmt.Sprintf("t%d", (n*5)%3)
		c := tr.sayChange(id, strconv.Itoa(n))
		c.Add(thread.Entry{Type: thread.EntryMessage, Name: "and", Value: raw(`0`)})
		tr.mustCommit(c)
		for k := range c.Entries {
			want = append(want, id+" "+jsonText(c.Entries[k]))
		}
		var got []string
		var cursor int64
		for _, e := range tr.mustLog(thread.LogQuery{Limit: 1000}) {
			got = append(got, e.Thread+" "+jsonText(e))
			assert.Greater(tr, e.Cursor, cursor, "cursors begin above 0 and go up")
			assert.Nil(tr, e.Opened)
			cursor = e.Cursor
		}
		require.Equal(tr, want, got)
	}
	for id, t := range tr.records {
		got := tr.mustLog(thread.LogQuery{Thread: id, Limit: 1000})
		assert.Len(tr, got, int(t.Seq))
		for n, e := range got {
			assert.Equal(tr, int64(n)+1, e.Seq)
			assert.Equal(tr, id, e.Thread)
		}
	}
}

// logQueries tries each field, alone and with others, at exact boundaries.
func logQueries(tr *trial) {
	for n := range 5 {
		a, b := tr.requestChange("a", fmt.Sprintf("r%d", n)), tr.requestChange("b",
			fmt.Sprintf("r%d", n))
		a.Add(thread.Entry{Type: thread.EntryMessage, Name: "more"})
		tr.mustCommit(a)
		tr.mustCommit(b)
	}
	all := tr.mustLog(thread.LogQuery{})
	of := map[string][]thread.Entry{}
	for _, e := range all {
		of[e.Thread] = append(of[e.Thread], e)
	}
	require.Len(tr, of["a"], 11) // with the start of each
	require.Len(tr, of["b"], 6)
	sees := func(want []thread.Entry, q thread.LogQuery) {
		tr.Helper()
		assert.Equal(tr, positionsOf(want), positionsOf(tr.mustLog(q)), "%+v", q)
	}
	for n, e := range all {
		sees(all[n+1:], thread.LogQuery{After: e.Cursor})
		sees(all[n:min(n+3, len(all))], thread.LogQuery{After: e.Cursor - 1, Limit: 3})
	}
	for id, entries := range of {
		found := 0
		for n, e := range entries {
			sees(entries[n+1:], thread.LogQuery{Thread: id, AfterSeq: e.Seq})
			sees(entries[n+1:], thread.LogQuery{Thread: id, After: e.Cursor})
			sees(entries[n+1:], thread.LogQuery{Thread: id, After: e.Cursor, AfterSeq: e.Seq - 1})
			sees(entries[n+1:], thread.LogQuery{Thread: id, After: e.Cursor - 1, AfterSeq: e.Seq})
			sees(entries[n:min(n+2, len(entries))],
				thread.LogQuery{Thread: id, AfterSeq: e.Seq - 1, Limit: 2})
			if e.Request != "" {
				found++
				sees(entries[n:n+1], thread.LogQuery{Thread: id, Request: e.Request})
				sees(nil, thread.LogQuery{Thread: id, Request: e.Request, AfterSeq: e.Seq})
				sees(entries[n:n+1], thread.LogQuery{Thread: id, Request: e.Request,
					After: e.Cursor - 1})
				sees(nil, thread.LogQuery{Thread: id, Request: e.Request, After: e.Cursor})
			}
		}
		assert.Equal(tr, 5, found, "entries with a request id")
		sees(entries, thread.LogQuery{Thread: id})
		for _, request := range []string{"r", "r9", "R1", "%", "r_"} {
			sees(nil, thread.LogQuery{Thread: id, Request: request})
		}
	}
	sees(nil, thread.LogQuery{Thread: "nobody"})
	sees(nil, thread.LogQuery{Thread: "nobody", Request: "r1"})
	sees(nil, thread.LogQuery{After: all[len(all)-1].Cursor + 1000})
}

// logCopies commits entries that are read while they are committed, many of them, before others.
// They are the log's like all others, in one commit, and an error while they are read refuses all
// of it.
func logCopies(tr *trial) {
	const many = 1234
	c := tr.sayChange("a", "last")
	last := c.Entries
	c.Entries = nil
	for n := range many {
		c.Entries = append(c.Entries, last[0])
		c.Entries[n].Seq, c.Entries[n].Text = int64(n+1), strconv.Itoa(n)
	}
	copied := c.Entries
	failure := errors.New("it cannot be read")
	var broken error
	c.Copied = func(yield func(thread.Entry, error) bool) {
		for n, e := range copied {
			if n == many/2 && broken != nil {
				yield(thread.Entry{}, broken)
				return
			}
			if !yield(e, nil) {
				return
			}
		}
	}
	c.Entries = last
	for n := range c.Entries {
		c.Entries[n].Seq += many
	}
	c.Thread.Seq += many
	broken = failure
	require.ErrorIs(tr, tr.Store.Commit(tr.ctx, c), failure)
	_, err := tr.Store.Load(tr.ctx, "a")
	require.Equal(tr, runtime.CodeNotFound, runtime.CodeOf(err))
	broken = nil
	require.NoError(tr, tr.Store.Commit(tr.ctx, c))
	var got []string
	for q := (thread.LogQuery{Thread: "a", Limit: 100}); ; {
		page := tr.mustLog(q)
		if len(page) == 0 {
			break
		}
		for _, e := range page {
			got = append(got, jsonText(e))
		}
		q.AfterSeq = page[len(page)-1].Seq
	}
	var want []string
	for _, e := range append(slices.Clone(copied), last...) {
		want = append(want, jsonText(e))
	}
	assert.Equal(tr, want, got)
}

func logLimits(tr *trial) {
	c := tr.sayChange("a", "first")
	for range thread.DefaultLimit + 5 {
		c.Add(thread.Entry{Type: thread.EntryMessage})
	}
	tr.mustCommit(c)
	for _, q := range []thread.LogQuery{{}, {Thread: "a"}} {
		assert.Len(tr, tr.mustLog(q), thread.DefaultLimit)
		q.Limit = 3
		assert.Equal(tr, []int64{1, 2, 3}, seqsOf(tr.mustLog(q)))
		q.Limit = 1000
		assert.Len(tr, tr.mustLog(q), len(c.Entries))
	}
}

func logOddRequests(tr *trial) {
	for _, s := range odd {
		tr.mustCommit(tr.requestChange("a", "r"+s))
	}
	for _, s := range odd {
		found := tr.mustLog(thread.LogQuery{Thread: "a", Request: "r" + s})
		if assert.Len(tr, found, 1, "%q", s) {
			assert.Equal(tr, "r"+s, found[0].Request)
		}
		tr.mustConflict(tr.requestChange("a", "r"+s))
	}
}

// writers and rounds of the clauses that have readers and writers at the same time.
const writers, rounds = 6, 25

// logFollowed has a reader follow its cursor, a few entries at a time, while others commit. It must
// see all, once, in the final order.
func logFollowed(tr *trial) { tr.followLog(tr.Store) }

// logFollowedInTwo is logFollowed with half of the writers on another store.
func logFollowedInTwo(tr *trial) { tr.followLog(tr.Store, tr.Second()) }

// followLog reads the log of the trial's store while others commit to stores on the same data.
func (tr *trial) followLog(stores ...thread.Store) {
	tr.Helper()
	const total = writers * (2*rounds + 1)
	errs := make(chan error, writers)
	var all sync.WaitGroup
	for w := range writers {
		id := fmt.Sprintf("t%d", w)
		changes := tr.changesOf(id, rounds)
		all.Go(func() { errs <- tr.commitAll(stores[w%len(stores)], changes) })
	}
	done := make(chan struct{})
	go func() {
		all.Wait()
		close(done)
	}()
	var seen []thread.Entry
	cursor, over := int64(0), false
	for len(seen) <= total { // a log that gives more than there is has no end to wait for
		page, next := tr.logPage(cursor, 7)
		if cursor = next; len(page) > 0 {
			seen = append(seen, page...)
			continue
		}
		if over {
			break
		}
		select {
		case <-done:
			over = true // one more look: what was committed before is there
		default:
		}
	}
	for range writers {
		require.NoError(tr, <-errs)
	}
	final := tr.mustLog(thread.LogQuery{Limit: 100_000})
	assert.Len(tr, final, total)
	assert.Equal(tr, positionsOf(final), positionsOf(seen),
		"a reader that goes on after its cursor misses nothing and sees nothing twice")
	last := map[string]int64{}
	for _, e := range final {
		assert.Equal(tr, last[e.Thread]+1, e.Seq, "the log of a thread has no gaps")
		last[e.Thread] = e.Seq
	}
}

// logPage reads the log behind a cursor, and returns the cursor to go on with. A page must end
// behind the cursor that it was asked for: on a store that stands still, whoever follows it, a
// clause too, would read for ever.
func (tr *trial) logPage(cursor int64, limit int) (page []thread.Entry, next int64) {
	tr.Helper()
	page = tr.mustLog(thread.LogQuery{After: cursor, Limit: limit})
	if len(page) == 0 {
		return nil, cursor
	}
	next = page[len(page)-1].Cursor
	require.Greater(tr, next, cursor,
		"a page of the log ends behind the cursor that it was asked for")
	return page, next
}

// changesOf is changes of one thread, to be committed one after the other.
func (tr *trial) changesOf(id string, n int) []*thread.Change {
	out := make([]*thread.Change, n)
	for k := range out {
		c := tr.sayChange(id, strconv.Itoa(k))
		c.Add(thread.Entry{Type: thread.EntryMessage, Name: "and"})
		tr.records[id], out[k] = c.Thread, c
	}
	return out
}

// commitAll commits a story, and looks after each commit whether its entries are there. It may run
// beside others.
func (tr *trial) commitAll(store thread.Store, changes []*thread.Change) error {
	for _, c := range changes {
		if err := store.Commit(tr.ctx, c); err != nil {
			return err
		}
		found, err := tr.Store.Log(tr.ctx,
			thread.LogQuery{Thread: c.Thread.ID, AfterSeq: c.Entries[0].Seq - 1})
		if err != nil {
			return err
		}
		if len(found) != len(c.Entries) {
			return fmt.Errorf("%d of %d entries are there when the commit returned", len(found),
				len(c.Entries))
		}
	}
	return nil
}

func positionsOf(entries []thread.Entry) []string {
	out := make([]string, len(entries))
	for n, e := range entries {
		out[n] = fmt.Sprintf("%d %s/%d", e.Cursor, e.Thread, e.Seq)
	}
	return out
}
