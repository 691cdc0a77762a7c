package storetest

import (
	"context"
	"fmt"
	"strconv"
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
			assert.Error(tr, err, method)
		}
	})
	tr.commit(c)
	tr.holdsAsCommitted("a")
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
