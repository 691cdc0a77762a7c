package storetest

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
)

// everyStatus makes a thread of each status, named after it.
func (tr *trial) everyStatus() []runtime.Status {
	idle := tr.next("idle")
	running, _ := tr.turn("running")
	waiting := tr.asks("waiting", "q")
	tr.commit(idle, running, waiting)
	over := []runtime.Status{runtime.StatusDone, runtime.StatusFailed, runtime.StatusCancelled, runtime.StatusHandedOff}
	for _, status := range over {
		c := tr.asks(string(status), "q")
		c.Over(status, nil, &runtime.Failure{Code: runtime.CodeInternal}, "")
		tr.commit(c)
	}
	return append(over, runtime.StatusIdle, runtime.StatusRunning, runtime.StatusWaiting)
}

func rowsByStatus(tr *trial) {
	all := tr.everyStatus()
	for _, status := range all {
		assert.Equal(tr, []string{string(status)}, rowIDs(tr.threads(runtime.ThreadQuery{Statuses: []runtime.Status{status}})))
	}
	some := []runtime.Status{runtime.StatusWaiting, runtime.StatusDone, runtime.StatusDone, runtime.StatusIdle, "nonsense"}
	assert.Equal(tr, []string{"done", "idle", "waiting"}, rowIDs(tr.threads(runtime.ThreadQuery{Statuses: some})))
	assert.Empty(tr, tr.threads(runtime.ThreadQuery{Statuses: []runtime.Status{"' OR 1=1 --"}}))
	assert.Len(tr, tr.threads(runtime.ThreadQuery{}), len(all))
	tr.commit(tr.answers("waiting", "q", `1`))
	assert.Empty(tr, tr.threads(runtime.ThreadQuery{Statuses: []runtime.Status{runtime.StatusWaiting}}))
	assert.Len(tr, tr.threads(runtime.ThreadQuery{Statuses: []runtime.Status{runtime.StatusRunning}}), 2)
}

// rowsAreComputed compares each row with what the record says, after each commit of a thread's life.
func rowsAreComputed(tr *trial) {
	same := func() {
		tr.Helper()
		t := tr.records["a"]
		want := runtime.ThreadRow{
			ID: "a", Version: t.Version, Status: t.Status(), Owner: t.Lease.Owner, Wake: t.Wake(), Fingerprint: t.Fingerprint,
		}
		assert.Equal(tr, text([]runtime.ThreadRow{want}), text(tr.threads(runtime.ThreadQuery{})))
	}
	c, frame := tr.turn("a")
	c.Drive("engine-1", tr.now.Add(time.Minute))
	tr.commit(c)
	same()
	c = tr.next("a")
	c.StepFailed(frame, &runtime.Failure{Code: runtime.CodeUnavailable, Text: "try again"}, nil)
	tr.commit(c)
	same()
	tr.now = tr.now.Add(time.Hour)
	c = tr.next("a")
	c.Due()
	c.Ask(frame, runtime.KindAgentQuestion, runtime.Question{Name: "q"})
	tr.commit(c)
	same()
	tr.commit(tr.answers("a", "q", `1`))
	same()
	c = tr.next("a")
	c.Return(frame, raw(`"result"`))
	c.Rest()
	c.Thread.Fingerprint = "fp-2"
	tr.commit(c)
	same()
	c = tr.next("a")
	require.NoError(tr, c.Cancel("ann", "enough"))
	tr.commit(c)
	same()
}

func rowsByOwner(tr *trial) {
	for n, owner := range []string{"engine-1", "engine-2", "", "engine-1", "engine-%", "engine_1"} {
		c, _ := tr.turn(fmt.Sprintf("t%d", n))
		if owner != "" {
			c.Drive(owner, tr.now.Add(time.Minute))
		}
		tr.commit(c)
	}
	sees := func(want string, q runtime.ThreadQuery) {
		tr.Helper()
		assert.Equal(tr, want, strings.Join(rowIDs(tr.threads(q)), " "), "%+v", q)
	}
	sees("t0 t3", runtime.ThreadQuery{Owner: "engine-1"})
	sees("t1", runtime.ThreadQuery{Owner: "engine-2"})
	sees("t4", runtime.ThreadQuery{Owner: "engine-%"})
	sees("t5", runtime.ThreadQuery{Owner: "engine_1"})
	sees("", runtime.ThreadQuery{Owner: "engine"})
	sees("t3", runtime.ThreadQuery{Owner: "engine-1", AfterID: "t0"})
	sees("", runtime.ThreadQuery{Owner: "engine-1", Statuses: []runtime.Status{runtime.StatusWaiting}})
	c := tr.next("t0")
	c.Rest()
	tr.commit(c)
	sees("t3", runtime.ThreadQuery{Owner: "engine-1"})
	c = tr.next("t3")
	c.Drive("engine-2", tr.now.Add(time.Minute))
	tr.commit(c)
	sees("t1 t3", runtime.ThreadQuery{Owner: "engine-2", Statuses: []runtime.Status{runtime.StatusRunning}})
}

// rowsByWake has threads that must be looked at, at several times, and some never. Times move as the records do.
func rowsByWake(tr *trial) {
	due := time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)
	wakes := map[string]int{"a": 30, "b": 10, "c": 20, "d": 40}
	for id, ms := range wakes {
		c, frame := tr.turn(id)
		c.Ask(frame, runtime.KindAgentQuestion, runtime.Question{Name: "q"})
		tr.commit(c)
		c = tr.next(id)
		require.NoError(tr, c.Extend(c.Thread.Open[0].ID, due.Add(time.Duration(ms)*time.Millisecond), "ann"))
		tr.commit(c)
	}
	tr.commit(tr.says("never", "idle"))
	sees := func(want string, ms int, q runtime.ThreadQuery) {
		tr.Helper()
		q.WakeBefore = due.Add(time.Duration(ms) * time.Millisecond)
		assert.Equal(tr, want, strings.Join(rowIDs(tr.threads(q)), " "), "%+v", q)
	}
	sees("", 9, runtime.ThreadQuery{})
	sees("b", 10, runtime.ThreadQuery{})
	sees("b", 19, runtime.ThreadQuery{})
	sees("b c", 20, runtime.ThreadQuery{})
	sees("b c a d", 40, runtime.ThreadQuery{})
	sees("b c a d", 1<<30, runtime.ThreadQuery{})
	sees("b c", 1<<30, runtime.ThreadQuery{Limit: 2})
	sees("b c a d", 1<<30, runtime.ThreadQuery{Statuses: []runtime.Status{runtime.StatusWaiting}})
	sees("", 1<<30, runtime.ThreadQuery{Statuses: []runtime.Status{runtime.StatusRunning}})
	sees("", 1<<30, runtime.ThreadQuery{Owner: "engine"})
	tr.commit(tr.answers("b", "q", `1`))
	sees("c a d", 40, runtime.ThreadQuery{})
	c := tr.next("c")
	require.NoError(tr, c.Extend(c.Thread.Open[0].ID, due.Add(35*time.Millisecond), "ann"))
	tr.commit(c)
	sees("a c d", 40, runtime.ThreadQuery{})
	rows := tr.threads(runtime.ThreadQuery{WakeBefore: due.Add(time.Hour)})
	require.Len(tr, rows, 3)
	assert.True(tr, rows[0].Wake.Equal(due.Add(30*time.Millisecond)))
}

func rowsByID(tr *trial) {
	ids := slices.Clone(odd)
	slices.Reverse(ids)
	for n, id := range ids {
		c := tr.next(id)
		if n%3 == 0 {
			c, _ = tr.turn(id)
		}
		tr.commit(c)
	}
	slices.Sort(ids)
	assert.Equal(tr, ids, rowIDs(tr.threads(runtime.ThreadQuery{})))
	for _, limit := range []int{1, 2, 7, len(ids)} {
		var got []string
		for q := (runtime.ThreadQuery{Limit: limit}); ; {
			page := rowIDs(tr.threads(q))
			if len(page) == 0 || len(got) > len(ids) {
				break
			}
			got = append(got, page...)
			q.AfterID = page[len(page)-1]
		}
		assert.Equal(tr, ids, got, "pages of %d", limit)
	}
	running := rowIDs(tr.threads(runtime.ThreadQuery{Statuses: []runtime.Status{runtime.StatusRunning}}))
	assert.True(tr, slices.IsSorted(running))
	assert.Len(tr, running, (len(ids)+2)/3)
	rest := tr.threads(runtime.ThreadQuery{Statuses: []runtime.Status{runtime.StatusRunning}, AfterID: running[4]})
	assert.Equal(tr, running[5:], rowIDs(rest))
}

func rowsLimits(tr *trial) {
	due := tr.now.Add(time.Hour)
	var changes []*runtime.Change
	for n := range runtime.DefaultLimit + 5 {
		c, _ := tr.turn(fmt.Sprintf("t%04d", n))
		c.Drive("engine", due)
		changes = append(changes, c)
	}
	tr.commit(changes...)
	for _, q := range []runtime.ThreadQuery{{}, {WakeBefore: due}, {Owner: "engine"}, {Statuses: []runtime.Status{"running", "idle"}}} {
		assert.Len(tr, tr.threads(q), runtime.DefaultLimit)
		q.Limit = 3
		assert.Len(tr, tr.threads(q), 3)
		q.Limit = 1000
		assert.Len(tr, tr.threads(q), len(changes))
	}
}
