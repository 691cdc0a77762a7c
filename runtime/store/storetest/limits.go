package storetest

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
)

// attempts calls every method, and returns what each said.
func (tr *trial) attempts(ctx context.Context, store thread.Store,
	c *thread.Change) map[string]error {
	errs := map[string]error{"commit": store.Commit(ctx, c)}
	_, errs["load"] = store.Load(ctx, c.Thread.ID)
	_, errs["interrupts"] = store.Interrupts(ctx, thread.InterruptQuery{})
	_, errs["log"] = store.Log(ctx, thread.LogQuery{})
	_, errs["threads"] = store.Threads(ctx, thread.Query{})
	return errs
}

func contextCancelled(tr *trial) {
	tr.mustCommit(tr.askChange("a", "q"))
	c := tr.answerChange("a", "q", `1`)
	ctx, cancel := context.WithCancel(tr.ctx)
	cancel()
	tr.requireUnchanged(func() {
		for method, err := range tr.attempts(ctx, tr.Store, c) {
			assert.Equal(tr, runtime.CodeUnavailable, runtime.CodeOf(err), "%s: %v", method, err)
		}
	})
	tr.mustCommit(c)
	tr.holdsAsCommitted("a")
}

// contextEndsInCommit ends a context while commits of two threads each run under it, several at a
// time, so that some of them wait for others. Each is there as a whole or not at all, and is there
// when its call said so. Only that is asked of one that was refused: where it is found, the store
// could not know.
func contextEndsInCommit(tr *trial) {
	for round := range rounds {
		pairs := make([][]*thread.Change, writers)
		for w := range pairs {
			pairs[w] = []*thread.Change{tr.sayChange(fmt.Sprintf("a%d", w), "one"),
				tr.sayChange(fmt.Sprintf("b%d", w), "other")}
		}
		errs := tr.commitAndLeave(round%writers, pairs)
		for w, pair := range pairs {
			one, other := tr.isStored(pair[0]), tr.isStored(pair[1])
			require.Equal(tr, one, other, "both threads, or none of them")
			if errs[w] != nil {
				tr.requireCode(runtime.CodeUnavailable, errs[w])
			} else {
				require.True(tr, one, "it is there when the commit returned")
			}
			if one {
				tr.records[pair[0].Thread.ID], tr.records[pair[1].Thread.ID] = pair[0].Thread,
					pair[1].Thread
			}
		}
	}
}

// commitAndLeave commits at the same time what belongs together, and ends their context when so
// many have begun.
func (tr *trial) commitAndLeave(begun int, together [][]*thread.Change) []error {
	ctx, cancel := context.WithCancel(tr.ctx)
	defer cancel()
	errs := make([]error, len(together))
	var all sync.WaitGroup
	for n, changes := range together {
		all.Go(func() { errs[n] = tr.Store.Commit(ctx, changes...) })
		if n == begun {
			all.Go(cancel)
		}
	}
	all.Wait()
	return errs
}

// isStored reports whether the store has the thread as a change makes it, and wants it as it was
// before otherwise.
func (tr *trial) isStored(c *thread.Change) bool {
	tr.Helper()
	t, err := tr.Store.Load(tr.ctx, c.Thread.ID)
	if c.Before == 0 && err != nil {
		tr.requireCode(runtime.CodeNotFound, err)
		return false
	}
	require.NoError(tr, err)
	if t.Version == c.Before {
		tr.requireSame(recordText(tr.records[c.Thread.ID]), recordText(t))
		return false
	}
	tr.requireSame(recordText(c.Thread), recordText(t))
	return true
}

func closedStore(tr *trial) {
	tr.mustCommit(tr.askChange("a", "q"))
	require.NoError(tr, tr.Close())
	for method, err := range tr.attempts(tr.ctx, tr.Store, tr.answerChange("a", "q", `1`)) {
		assert.Equal(tr, runtime.CodeUnavailable, runtime.CodeOf(err), "%s: %v", method, err)
	}
	_, err := tr.Store.Load(tr.ctx, "unknown")
	tr.requireCode(runtime.CodeUnavailable, err)
}

// reopenedStore closes and opens a store between the commits of a life: everything is there, and
// cursors and versions go on.
func reopenedStore(tr *trial) {
	tr.mustCommit(tr.askChange("a", "q1", "q2"), tr.requestChange("b", "r"))
	reopen := func() {
		tr.Helper()
		before := tr.dumpStore(tr.Store)
		tr.Store = tr.Reopen()
		require.Equal(tr, before, tr.dumpStore(tr.Store))
	}
	reopen()
	tr.mustCommit(tr.answerChange("a", "q2", `null`))
	stale := tr.answerChange("a", "q1", `"late"`)
	tr.mustCommit(tr.answerChange("a", "q1", `"in time"`))
	reopen()
	tr.mustConflict(stale)
	tr.mustConflict(tr.requestChange("b", "r"))
	log := tr.mustLog(thread.LogQuery{})
	last := log[len(log)-1].Cursor
	c := tr.nextChange("a")
	c.TakeLease("engine-1", tr.now.Add(time.Minute))
	c.Add(thread.Entry{Type: thread.EntryMessage})
	tr.mustCommit(c)
	found := tr.mustLog(thread.LogQuery{After: last})
	require.Len(tr, found, 1, "a cursor of before is good after")
	reopen()
	c = tr.sayChange("a", "stale fence")
	c.Fence = 9
	tr.mustConflict(c)
	assert.Equal(tr, []string{"a"}, rowIDs(tr.mustThreads(thread.Query{Owner: "engine-1"})))
	tr.holdsAsCommitted("a", "b")
}

// damagedRecord flips a bit of one thread's record.
func damagedRecord(tr *trial) {
	tr.mustCommit(tr.askChange("a", "q1"), tr.askChange("b", "q2"))
	tr.Damage("a")
	_, err := tr.Store.Load(tr.ctx, "a")
	tr.requireCode(runtime.CodeInternal, err)
	_, err = tr.Store.Load(tr.ctx, "a")
	tr.requireCode(runtime.CodeInternal, err)
	require.Error(tr, tr.Store.Commit(tr.ctx, thread.Start("a", "eve", "", tr.rules, tr.now)),
		"damage is never a fresh start")
	tr.holdsAsCommitted("b")
	tr.mustCommit(tr.answerChange("b", "q2", `1`))
	tr.mustCommit(tr.askChange("c", "q3"))
	tr.holdsAsCommitted("b", "c")
}

// unreachableStore makes the store unreachable while a question is open.
func unreachableStore(tr *trial) {
	tr.mustCommit(tr.askChange("a", "q"))
	before := tr.dumpStore(tr.Store)
	c := tr.answerChange("a", "q", `1`)
	mend := tr.Break()
	for n := range 3 {
		err := tr.Store.Commit(tr.ctx, c, tr.askChange(fmt.Sprintf("new-%d", n), "q"))
		assert.Equal(tr, runtime.CodeUnavailable, runtime.CodeOf(err), "%v", err)
	}
	mend()
	require.Equal(tr, before, tr.dumpStore(tr.Store))
	tr.mustCommit(c)
	tr.holdsAsCommitted("a")
}

// secondStore writes through two stores in turn: each sees what the other did, and loses where the
// other was faster.
func secondStore(tr *trial) {
	first, second := tr.Store, tr.Second()
	tr.mustCommit(tr.askChange("a", "q1", "q2"))
	tr.Store = second
	tr.holdsAsCommitted("a")
	late := tr.answerChange("a", "q1", `"late"`)
	tr.mustCommit(tr.answerChange("a", "q1", `"of the second"`))
	tr.Store = first
	tr.holdsAsCommitted("a")
	tr.mustConflict(late)
	tr.mustCommit(tr.requestChange("a", "r"))
	tr.Store = second
	tr.mustConflict(tr.requestChange("a", "r"))
	for n := range rounds {
		tr.Store = []thread.Store{first, second}[n%2]
		tr.mustCommit(tr.sayChange("a", strconv.Itoa(n)))
	}
	assert.Equal(tr, tr.dumpStore(first), tr.dumpStore(second))
	for round := range rounds {
		stores := []thread.Store{first, second}
		errs := make(chan error, len(stores))
		for _, s := range stores {
			c := tr.sayChange("race", strconv.Itoa(round))
			go func() { errs <- s.Commit(tr.ctx, c) }()
		}
		one, two := <-errs, <-errs
		require.NotEqual(tr, one == nil, two == nil, "exactly one wins: %v, %v", one, two)
		tr.records["race"] = tr.mustLoad("race")
	}
}
