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
)

// attempts calls every method, and returns what each said.
func (tr *trial) attempts(ctx context.Context, store runtime.Store, c *runtime.Change) map[string]error {
	errs := map[string]error{"commit": store.Commit(ctx, c)}
	_, errs["load"] = store.Load(ctx, c.Thread.ID)
	_, errs["interrupts"] = store.Interrupts(ctx, runtime.InterruptQuery{})
	_, errs["log"] = store.Log(ctx, runtime.LogQuery{})
	_, errs["threads"] = store.Threads(ctx, runtime.ThreadQuery{})
	return errs
}

func cancelled(tr *trial) {
	tr.commit(tr.asks("a", "q"))
	c := tr.answers("a", "q", `1`)
	ctx, cancel := context.WithCancel(tr.ctx)
	cancel()
	tr.unchanged(func() {
		for method, err := range tr.attempts(ctx, tr.Store, c) {
			assert.Equal(tr, runtime.CodeUnavailable, runtime.CodeOf(err), "%s: %v", method, err)
		}
	})
	tr.commit(c)
	tr.holdsAsCommitted("a")
}

// cutShort ends a context while commits of two threads each run under it, several at a time, so that some of them wait for others. Each is
// there as a whole or not at all, and is there when its call said so. Only that is asked of one that was refused: where it is found, the
// store could not know.
func cutShort(tr *trial) {
	for round := range rounds {
		pairs := make([][]*runtime.Change, writers)
		for w := range pairs {
			pairs[w] = []*runtime.Change{tr.says(fmt.Sprintf("a%d", w), "one"), tr.says(fmt.Sprintf("b%d", w), "other")}
		}
		errs := tr.commitAndLeave(round%writers, pairs)
		for w, pair := range pairs {
			one, other := tr.stored(pair[0]), tr.stored(pair[1])
			require.Equal(tr, one, other, "both threads, or none of them")
			if errs[w] != nil {
				tr.refused(runtime.CodeUnavailable, errs[w])
			} else {
				require.True(tr, one, "it is there when the commit returned")
			}
			if one {
				tr.records[pair[0].Thread.ID], tr.records[pair[1].Thread.ID] = pair[0].Thread, pair[1].Thread
			}
		}
	}
}

// commitAndLeave commits at the same time what belongs together, and ends their context when so many have begun.
func (tr *trial) commitAndLeave(begun int, together [][]*runtime.Change) []error {
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

// stored reports whether the store has the thread as a change makes it, and wants it as it was before otherwise.
func (tr *trial) stored(c *runtime.Change) bool {
	tr.Helper()
	t, err := tr.Store.Load(tr.ctx, c.Thread.ID)
	if c.Before == 0 && err != nil {
		tr.refused(runtime.CodeNotFound, err)
		return false
	}
	require.NoError(tr, err)
	if t.Version == c.Before {
		tr.same(record(tr.records[c.Thread.ID]), record(t))
		return false
	}
	tr.same(record(c.Thread), record(t))
	return true
}

func closed(tr *trial) {
	tr.commit(tr.asks("a", "q"))
	require.NoError(tr, tr.Close())
	for method, err := range tr.attempts(tr.ctx, tr.Store, tr.answers("a", "q", `1`)) {
		assert.Equal(tr, runtime.CodeUnavailable, runtime.CodeOf(err), "%s: %v", method, err)
	}
	_, err := tr.Store.Load(tr.ctx, "unknown")
	tr.refused(runtime.CodeUnavailable, err)
}

// reopened closes and opens a store between the commits of a life: everything is there, and cursors and versions go on.
func reopened(tr *trial) {
	tr.commit(tr.asks("a", "q1", "q2"), tr.requests("b", "r"))
	reopen := func() {
		tr.Helper()
		before := tr.everything(tr.Store)
		tr.Store = tr.Reopen()
		require.Equal(tr, before, tr.everything(tr.Store))
	}
	reopen()
	tr.commit(tr.answers("a", "q2", `null`))
	stale := tr.answers("a", "q1", `"late"`)
	tr.commit(tr.answers("a", "q1", `"in time"`))
	reopen()
	tr.loses(stale)
	tr.loses(tr.requests("b", "r"))
	log := tr.log(runtime.LogQuery{})
	last := log[len(log)-1].Cursor
	c := tr.next("a")
	c.Drive("engine-1", tr.now.Add(time.Minute))
	c.Add(runtime.Entry{Type: runtime.EntryMessage})
	tr.commit(c)
	found := tr.log(runtime.LogQuery{After: last})
	require.Len(tr, found, 1, "a cursor of before is good after")
	reopen()
	c = tr.says("a", "stale fence")
	c.Fence = 9
	tr.loses(c)
	assert.Equal(tr, []string{"a"}, rowIDs(tr.threads(runtime.ThreadQuery{Owner: "engine-1"})))
	tr.holdsAsCommitted("a", "b")
}

// damaged flips a bit of one thread's record.
func damaged(tr *trial) {
	tr.commit(tr.asks("a", "q1"), tr.asks("b", "q2"))
	tr.Damage("a")
	_, err := tr.Store.Load(tr.ctx, "a")
	tr.refused(runtime.CodeInternal, err)
	_, err = tr.Store.Load(tr.ctx, "a")
	tr.refused(runtime.CodeInternal, err)
	require.Error(tr, tr.Store.Commit(tr.ctx, runtime.Start("a", "eve", "", tr.rules, tr.now)), "damage is never a fresh start")
	tr.holdsAsCommitted("b")
	tr.commit(tr.answers("b", "q2", `1`))
	tr.commit(tr.asks("c", "q3"))
	tr.holdsAsCommitted("b", "c")
}

// unreachable makes the store unreachable while a question is open.
func unreachable(tr *trial) {
	tr.commit(tr.asks("a", "q"))
	before := tr.everything(tr.Store)
	c := tr.answers("a", "q", `1`)
	mend := tr.Break()
	for n := range 3 {
		err := tr.Store.Commit(tr.ctx, c, tr.asks(fmt.Sprintf("new-%d", n), "q"))
		assert.Equal(tr, runtime.CodeUnavailable, runtime.CodeOf(err), "%v", err)
	}
	mend()
	require.Equal(tr, before, tr.everything(tr.Store))
	tr.commit(c)
	tr.holdsAsCommitted("a")
}

// secondStore writes through two stores in turn: each sees what the other did, and loses where the other was faster.
func secondStore(tr *trial) {
	first, second := tr.Store, tr.Second()
	tr.commit(tr.asks("a", "q1", "q2"))
	tr.Store = second
	tr.holdsAsCommitted("a")
	late := tr.answers("a", "q1", `"late"`)
	tr.commit(tr.answers("a", "q1", `"of the second"`))
	tr.Store = first
	tr.holdsAsCommitted("a")
	tr.loses(late)
	tr.commit(tr.requests("a", "r"))
	tr.Store = second
	tr.loses(tr.requests("a", "r"))
	for n := range rounds {
		tr.Store = []runtime.Store{first, second}[n%2]
		tr.commit(tr.says("a", strconv.Itoa(n)))
	}
	assert.Equal(tr, tr.everything(first), tr.everything(second))
	for round := range rounds {
		stores := []runtime.Store{first, second}
		errs := make(chan error, len(stores))
		for _, s := range stores {
			c := tr.says("race", strconv.Itoa(round))
			go func() { errs <- s.Commit(tr.ctx, c) }()
		}
		one, two := <-errs, <-errs
		require.NotEqual(tr, one == nil, two == nil, "exactly one wins: %v, %v", one, two)
		tr.records["race"] = tr.load("race")
	}
}
