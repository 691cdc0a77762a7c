package storetest

import (
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
)

func commitNew(tr *trial) {
	tr.commit(tr.asks("a", "q1", "q2"))
	tr.holdsAsCommitted("a")
	assert.Equal(tr, int64(1), tr.load("a").Version)
	tr.commit(tr.answers("a", "q1", `true`))
	tr.holdsAsCommitted("a")
	assert.Equal(tr, int64(2), tr.load("a").Version)
	tr.commit(tr.answers("a", "q2", `false`))
	tr.holdsAsCommitted("a")
}

func commitZeroOnExisting(tr *trial) {
	tr.commit(tr.asks("a", "q"))
	again := runtime.Start("a", "eve", "fp-2", tr.rules, tr.now)
	tr.unchanged(func() { tr.loses(again) })
}

func commitStale(tr *trial) {
	tr.commit(tr.asks("a", "q1", "q2"))
	late := tr.answers("a", "q1", `"late"`)
	tr.commit(tr.answers("a", "q1", `"first"`))
	tr.unchanged(func() { tr.loses(late) })
	tr.commit(tr.answers("a", "q2", `2`))
	tr.unchanged(func() { tr.loses(late) })
}

func commitFuture(tr *trial) {
	tr.commit(tr.says("a", "one"))
	for _, before := range []int64{2, 7} {
		c := tr.says("a", "skips")
		c.Before, c.Thread.Version = before, before+1
		tr.unchanged(func() { tr.loses(c) })
	}
	c := runtime.NewChange(&runtime.Thread{ID: "nobody", Version: 1}, tr.rules, tr.now)
	c.Add(runtime.Entry{Type: runtime.EntryMessage})
	tr.unchanged(func() { tr.loses(c) })
}

func commitFence(tr *trial) {
	c, _ := tr.turn("a")
	c.Drive("engine-1", tr.now.Add(time.Minute))
	tr.commit(c)
	c = tr.says("a", "mine")
	c.Fence = 1
	tr.commit(c)
	taken := tr.says("a", "taken over")
	taken.Drive("engine-2", tr.now.Add(time.Minute))
	require.Equal(tr, int64(2), taken.Thread.Lease.Fence)
	tr.commit(taken)
	for _, stale := range []int64{1, 3} {
		c = tr.says("a", "of an engine that lost the thread")
		c.Fence = stale
		tr.unchanged(func() { tr.loses(c) })
	}
	tr.commit(tr.says("a", "whoever"))
	c = tr.says("a", "hers")
	c.Fence = 2
	tr.commit(c)
	c = tr.next("a")
	c.Rest()
	c.Fence = 2
	tr.commit(c) // the fence stays without an owner
	c = tr.says("a", "still refused")
	c.Fence = 1
	tr.unchanged(func() { tr.loses(c) })
}

func commitFenceOnNew(tr *trial) {
	tr.commit(tr.says("other", "here"))
	c := tr.asks("a", "q")
	c.Fence = 1
	tr.unchanged(func() { require.Error(tr, tr.Store.Commit(tr.ctx, c)) })
}

// commitAllOrNothing has the last change of a call lose in each of the ways there are: the ones before it must leave no trace.
func commitAllOrNothing(tr *trial) {
	tr.commit(tr.asks("a", "q1"), tr.asks("b", "q2"), tr.requests("c", "req-c"))
	stale := tr.says("c", "stale")
	tr.commit(tr.says("c", "moved"))
	fenced := tr.says("c", "fenced")
	fenced.Fence = 9
	repeated := tr.requests("c", "req-c")
	for _, bad := range []*runtime.Change{stale, fenced, repeated} {
		answer := tr.answers("a", "q1", `1`)
		answer.Add(runtime.Entry{Type: runtime.EntryMessage, Request: "req-a"})
		tr.unchanged(func() {
			tr.loses(answer, tr.asks("new", "q3"), bad)
			tr.loses(bad, tr.asks("new", "q3"), answer)
			tr.loses(answer, bad, tr.asks("new", "q3"))
		})
		assert.Empty(tr, tr.log(runtime.LogQuery{Thread: "a", Request: "req-a"}))
	}
	answer := tr.answers("a", "q1", `1`)
	answer.Add(runtime.Entry{Type: runtime.EntryMessage, Request: "req-a"})
	tr.commit(answer, tr.asks("new", "q3"), tr.says("c", "good")) // nothing of the refused calls is in the way
	tr.holdsAsCommitted("a", "b", "c", "new")
}

func commitSeveral(tr *trial) {
	tr.commit(tr.asks("a", "q1"), tr.asks("b", "q2"))
	tr.commit(tr.answers("b", "q2", `2`), tr.asks("c", "q3"), tr.answers("a", "q1", `1`))
	tr.holdsAsCommitted("a", "b", "c")
	assert.Len(tr, tr.interrupts(runtime.InterruptQuery{}), 1)
	assert.Len(tr, tr.log(runtime.LogQuery{}), 3+3+3+2)
}

func commitTwiceInOneCall(tr *trial) {
	tr.commit(tr.says("a", "one"))
	first := tr.says("a", "two")
	tr.unchanged(func() { require.Error(tr, tr.Store.Commit(tr.ctx, first, tr.says("a", "two again"))) })
	second := runtime.NewChange(first.Thread, tr.rules, tr.now)
	second.Add(runtime.Entry{Type: runtime.EntryMessage})
	tr.unchanged(func() { require.Error(tr, tr.Store.Commit(tr.ctx, first, second)) })
}

func commitRequestTwice(tr *trial) {
	tr.commit(tr.requests("a", "r1"), tr.requests("b", "r1")) // ids are a thread's own
	tr.unchanged(func() {
		tr.loses(tr.requests("a", "r1"))
		c := tr.says("a", "before it")
		c.Add(runtime.Entry{Type: runtime.EntryMessage, Request: "r1"})
		tr.loses(c)
		c = tr.requests("a", "r2")
		c.Add(runtime.Entry{Type: runtime.EntryMessage, Request: "r2"})
		tr.loses(c)
	})
	tr.commit(tr.says("a", "no request"))
	tr.commit(tr.requests("a", "r2"))
	tr.unchanged(func() { tr.loses(tr.requests("a", "r2")) })
	tr.commit(tr.requests("a", "R2"))
	tr.commit(tr.requests("a", "r2 "))
	tr.holdsAsCommitted("a", "b")
}

// commitInterruptOfAnother brings an interrupt under an id that another thread has, open or closed.
func commitInterruptOfAnother(tr *trial) {
	tr.commit(tr.holds("a", &runtime.Interrupt{ID: "1"}, &runtime.Interrupt{ID: "2", State: runtime.InterruptAnswered}))
	tr.commit(tr.says("b", "begins"))
	tr.unchanged(func() {
		for _, id := range []string{"1", "2"} {
			tr.loses(tr.holds("b", &runtime.Interrupt{ID: id}))
			tr.loses(tr.holds("c", &runtime.Interrupt{ID: "3"}, &runtime.Interrupt{ID: id}))
		}
	})
	tr.commit(tr.holds("c", &runtime.Interrupt{ID: "3"}))
	assert.Equal(tr, "a", tr.interrupts(runtime.InterruptQuery{ID: "1"})[0].Thread)
}

// commitKeepsNothingOfTheCaller changes, after the commit, every byte that the caller still holds.
func commitKeepsNothingOfTheCaller(tr *trial) {
	c := tr.asks("a", "q")
	c.Entries[1].Value = raw(`{"n":1}`)
	c.Interrupts[0].Assignees = []string{"bob"}
	c.Thread.Frames[0].Effects = []runtime.Effect{{Name: "pay", State: runtime.EffectDone, Value: raw(`"ok"`)}}
	tr.commit(c)
	before := tr.everything(tr.Store)
	i := c.Interrupts[0]
	i.State, i.Text, i.Assignees[0] = runtime.InterruptCancelled, "changed", "eve"
	copy(i.Payload, `{"AMOUNT"`)
	f := &c.Thread.Frames[0]
	f.Name, f.Effects[0].State = "changed", runtime.EffectFailed
	copy(f.Effects[0].Value, `"no"`)
	c.Entries[1].Name, c.Entries[1].Type = "changed", runtime.EntryOver
	copy(c.Entries[1].Value, `{"m":2}`)
	c.Thread.Over, c.Thread.Version, c.Thread.User = runtime.StatusDone, 9, "eve"
	assert.Equal(tr, before, tr.everything(tr.Store))
	assert.Len(tr, tr.interrupts(runtime.InterruptQuery{Assignee: "bob"}), 1)
}

// commitTakesInterrupts leaves a thread's Open as no honest change would: a store that reads it is caught.
func commitTakesInterrupts(tr *trial) {
	c := tr.asks("a", "q1", "q2")
	want := idsOf(c.Thread.Open)
	c.Thread.Open = nil
	tr.commit(c)
	assert.Equal(tr, want, idsOf(tr.load("a").Open))
	c = tr.says("a", "nothing of the interrupts")
	tr.commit(c)
	assert.Equal(tr, want, idsOf(tr.load("a").Open), "an interrupt that a commit does not name stays")
	assert.Equal(tr, want, idsOf(byID(tr.interrupts(runtime.InterruptQuery{}), want)))
}

// byID brings interrupts into the order of ids.
func byID(found []*runtime.Interrupt, ids []string) []*runtime.Interrupt {
	var out []*runtime.Interrupt
	for _, id := range ids {
		for _, i := range found {
			if i.ID == id {
				out = append(out, i)
			}
		}
	}
	return out
}
