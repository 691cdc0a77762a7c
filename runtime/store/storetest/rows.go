package storetest

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
)

// everyStatus makes a thread of each status, named after it.
func (tr *trial) everyStatus() []thread.Status {
	idle := tr.nextChange("idle")
	running, _ := tr.startTurn("running")
	waiting := tr.askChange("waiting", "q")
	tr.mustCommit(idle, running, waiting)
	over := []thread.Status{thread.StatusDone, thread.StatusFailed, thread.StatusCancelled,
		thread.StatusHandedOff}
	for _, status := range over {
		c := tr.askChange(string(status), "q")
		c.Over(status, nil, &thread.Failure{Code: runtime.CodeInternal}, "")
		tr.mustCommit(c)
	}
	return append(over, thread.StatusIdle, thread.StatusRunning, thread.StatusWaiting)
}

func rowsByStatus(tr *trial) {
	all := tr.everyStatus()
	for _, status := range all {
		assert.Equal(tr, []string{string(status)},
			rowIDs(tr.mustThreads(thread.Query{Statuses: []thread.Status{status}})))
	}
	some := []thread.Status{thread.StatusWaiting, thread.StatusDone, thread.StatusDone,
		thread.StatusIdle, "nonsense"}
	assert.Equal(tr, []string{"done", "idle", "waiting"},
		rowIDs(tr.mustThreads(thread.Query{Statuses: some})))
	assert.Empty(tr, tr.mustThreads(thread.Query{Statuses: []thread.Status{"' OR 1=1 --"}}))
	assert.Len(tr, tr.mustThreads(thread.Query{}), len(all))
	tr.mustCommit(tr.answerChange("waiting", "q", `1`))
	assert.Empty(tr, tr.mustThreads(
		thread.Query{Statuses: []thread.Status{thread.StatusWaiting}}))
	assert.Len(tr, tr.mustThreads(
		thread.Query{Statuses: []thread.Status{thread.StatusRunning}}), 2)
}

// rowsAreComputed compares each row with what the record says, after each commit of a thread's
// life.
func rowsAreComputed(tr *trial) {
	same := func() {
		tr.Helper()
		t := tr.records["a"]
		want := thread.Summary{
			ID: "a", Version: t.Version, Status: t.Status(), Owner: t.Lease.Owner, Wake: t.Wake(),
			Fingerprint: t.Fingerprint,
		}
		assert.Equal(tr, jsonText([]thread.Summary{want}), jsonText(tr.mustThreads(thread.Query{})))
	}
	c, frame := tr.startTurn("a")
	c.TakeLease("engine-1", tr.now.Add(time.Minute))
	tr.mustCommit(c)
	same()
	c = tr.nextChange("a")
	c.StepFailed(frame, &thread.Failure{Code: runtime.CodeUnavailable, Text: "try again"}, nil)
	tr.mustCommit(c)
	same()
	tr.now = tr.now.Add(time.Hour)
	c = tr.nextChange("a")
	c.ApplyDue()
	c.Ask(frame, thread.KindAgentQuestion, thread.Question{Name: "q"})
	tr.mustCommit(c)
	same()
	tr.mustCommit(tr.answerChange("a", "q", `1`))
	same()
	c = tr.nextChange("a")
	c.Return(frame, raw(`"result"`))
	c.ReleaseLease()
	c.Thread.Fingerprint = "fp-2"
	tr.mustCommit(c)
	same()
	c = tr.nextChange("a")
	require.NoError(tr, c.Cancel("ann", "enough"))
	tr.mustCommit(c)
	same()
}

func rowsByOwner(tr *trial) {
	for n, owner := range []string{"engine-1", "engine-2", "", "engine-1", "engine-%", "engine_1"} {
		c, _ := tr.startTurn(fmt.Sprintf("t%d", n))
		if owner != "" {
			c.TakeLease(owner, tr.now.Add(time.Minute))
		}
		tr.mustCommit(c)
	}
	sees := func(want string, q thread.Query) {
		tr.Helper()
		assert.Equal(tr, want, strings.Join(rowIDs(tr.mustThreads(q)), " "), "%+v", q)
	}
	sees("t0 t3", thread.Query{Owner: "engine-1"})
	sees("t1", thread.Query{Owner: "engine-2"})
	sees("t4", thread.Query{Owner: "engine-%"})
	sees("t5", thread.Query{Owner: "engine_1"})
	sees("", thread.Query{Owner: "engine"})
	sees("t3", thread.Query{Owner: "engine-1", AfterID: "t0"})
	sees("", thread.Query{Owner: "engine-1",
		Statuses: []thread.Status{thread.StatusWaiting}})
	c := tr.nextChange("t0")
	c.ReleaseLease()
	tr.mustCommit(c)
	sees("t3", thread.Query{Owner: "engine-1"})
	c = tr.nextChange("t3")
	c.TakeLease("engine-2", tr.now.Add(time.Minute))
	tr.mustCommit(c)
	sees("t1 t3", thread.Query{Owner: "engine-2",
		Statuses: []thread.Status{thread.StatusRunning}})
}

// rowsByWake has threads that must be looked at, at several times, and some never. Times move as
// the records do.
func rowsByWake(tr *trial) {
	due := time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)
	wakes := map[string]int{"a": 30, "b": 10, "c": 20, "d": 40}
	for id, ms := range wakes {
		c, frame := tr.startTurn(id)
		c.Ask(frame, thread.KindAgentQuestion, thread.Question{Name: "q"})
		tr.mustCommit(c)
		c = tr.nextChange(id)
		require.NoError(tr, c.Extend(c.Thread.Open[0].ID,
			due.Add(time.Duration(ms)*time.Millisecond), "ann"))
		tr.mustCommit(c)
	}
	tr.mustCommit(tr.sayChange("never", "idle"))
	sees := func(want string, ms int, q thread.Query) {
		tr.Helper()
		q.WakeBefore = due.Add(time.Duration(ms) * time.Millisecond)
		assert.Equal(tr, want, strings.Join(rowIDs(tr.mustThreads(q)), " "), "%+v", q)
	}
	sees("", 9, thread.Query{})
	sees("b", 10, thread.Query{})
	sees("b", 19, thread.Query{})
	sees("b c", 20, thread.Query{})
	sees("b c a d", 40, thread.Query{})
	sees("b c a d", 1<<30, thread.Query{})
	sees("b c", 1<<30, thread.Query{Limit: 2})
	sees("b c a d", 1<<30, thread.Query{Statuses: []thread.Status{thread.StatusWaiting}})
	sees("", 1<<30, thread.Query{Statuses: []thread.Status{thread.StatusRunning}})
	sees("", 1<<30, thread.Query{Owner: "engine"})
	tr.mustCommit(tr.answerChange("b", "q", `1`))
	sees("c a d", 40, thread.Query{})
	c := tr.nextChange("c")
	require.NoError(tr, c.Extend(c.Thread.Open[0].ID, due.Add(35*time.Millisecond), "ann"))
	tr.mustCommit(c)
	sees("a c d", 40, thread.Query{})
	rows := tr.mustThreads(thread.Query{WakeBefore: due.Add(time.Hour)})
	require.Len(tr, rows, 3)
	assert.True(tr, rows[0].Wake.Equal(due.Add(30*time.Millisecond)))
}

func rowsByID(tr *trial) {
	ids := slices.Clone(odd)
	slices.Reverse(ids)
	for n, id := range ids {
		c := tr.nextChange(id)
		if n%3 == 0 {
			c, _ = tr.startTurn(id)
		}
		tr.mustCommit(c)
	}
	slices.Sort(ids)
	assert.Equal(tr, ids, rowIDs(tr.mustThreads(thread.Query{})))
	for _, limit := range []int{1, 2, 7, len(ids)} {
		var got []string
		for q := (thread.Query{Limit: limit}); ; {
			page := rowIDs(tr.mustThreads(q))
			if len(page) == 0 || len(got) > len(ids) {
				break
			}
			got = append(got, page...)
			q.AfterID = page[len(page)-1]
		}
		assert.Equal(tr, ids, got, "pages of %d", limit)
	}
	running := rowIDs(tr.mustThreads(
		thread.Query{Statuses: []thread.Status{thread.StatusRunning}}))
	assert.True(tr, slices.IsSorted(running))
	assert.Len(tr, running, (len(ids)+2)/3)
	rest := tr.mustThreads(thread.Query{Statuses: []thread.Status{thread.StatusRunning},
		AfterID: running[4]})
	assert.Equal(tr, running[5:], rowIDs(rest))
}

func rowsLimits(tr *trial) {
	due := tr.now.Add(time.Hour)
	var changes []*thread.Change
	for n := range thread.DefaultLimit + 5 {
		c, _ := tr.startTurn(fmt.Sprintf("t%04d", n))
		c.TakeLease("engine", due)
		changes = append(changes, c)
	}
	tr.mustCommit(changes...)
	for _, q := range []thread.Query{{}, {WakeBefore: due}, {Owner: "engine"},
		{Statuses: []thread.Status{"running", "idle"}}} {
		assert.Len(tr, tr.mustThreads(q), thread.DefaultLimit)
		q.Limit = 3
		assert.Len(tr, tr.mustThreads(q), 3)
		q.Limit = 1000
		assert.Len(tr, tr.mustThreads(q), len(changes))
	}
}
