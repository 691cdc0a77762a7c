package storetest

import (
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime/thread"
)

func commitNew(tr *trial) {
	tr.mustCommit(tr.askChange("a", "q1", "q2"))
	tr.holdsAsCommitted("a")
	assert.Equal(tr, int64(1), tr.mustLoad("a").Version)
	tr.mustCommit(tr.answerChange("a", "q1", `true`))
	tr.holdsAsCommitted("a")
	assert.Equal(tr, int64(2), tr.mustLoad("a").Version)
	tr.mustCommit(tr.answerChange("a", "q2", `false`))
	tr.holdsAsCommitted("a")
}

func commitZeroOnExisting(tr *trial) {
	tr.mustCommit(tr.askChange("a", "q"))
	again := thread.Start("a", "eve", "fp-2", tr.rules, tr.now)
	tr.requireUnchanged(func() { tr.mustConflict(again) })
}

func commitStale(tr *trial) {
	tr.mustCommit(tr.askChange("a", "q1", "q2"))
	late := tr.answerChange("a", "q1", `"late"`)
	tr.mustCommit(tr.answerChange("a", "q1", `"first"`))
	tr.requireUnchanged(func() { tr.mustConflict(late) })
	tr.mustCommit(tr.answerChange("a", "q2", `2`))
	tr.requireUnchanged(func() { tr.mustConflict(late) })
}

func commitFuture(tr *trial) {
	tr.mustCommit(tr.sayChange("a", "one"))
	for _, before := range []int64{2, 7} {
		c := tr.sayChange("a", "skips")
		c.Before, c.Thread.Version = before, before+1
		tr.requireUnchanged(func() { tr.mustConflict(c) })
	}
	c := thread.NewChange(&thread.Thread{ID: "nobody", Version: 1}, tr.rules, tr.now)
	c.Add(thread.Entry{Type: thread.EntryMessage})
	tr.requireUnchanged(func() { tr.mustConflict(c) })
}

func commitFence(tr *trial) {
	c, _ := tr.startTurn("a")
	c.TakeLease("engine-1", tr.now.Add(time.Minute))
	tr.mustCommit(c)
	c = tr.sayChange("a", "mine")
	c.Fence = 1
	tr.mustCommit(c)
	taken := tr.sayChange("a", "taken over")
	taken.TakeLease("engine-2", tr.now.Add(time.Minute))
	require.Equal(tr, int64(2), taken.Thread.Lease.Fence)
	tr.mustCommit(taken)
	for _, stale := range []int64{1, 3} {
		c = tr.sayChange("a", "of an engine that lost the thread")
		c.Fence = stale
		tr.requireUnchanged(func() { tr.mustConflict(c) })
	}
	tr.mustCommit(tr.sayChange("a", "whoever"))
	c = tr.sayChange("a", "hers")
	c.Fence = 2
	tr.mustCommit(c)
	c = tr.nextChange("a")
	c.ReleaseLease()
	c.Fence = 2
	tr.mustCommit(c) // the fence stays without an owner
	c = tr.sayChange("a", "still refused")
	c.Fence = 1
	tr.requireUnchanged(func() { tr.mustConflict(c) })
}

func commitFenceOnNew(tr *trial) {
	tr.mustCommit(tr.sayChange("other", "here"))
	c := tr.askChange("a", "q")
	c.Fence = 1
	tr.requireUnchanged(func() { require.Error(tr, tr.Store.Commit(tr.ctx, c)) })
}

// commitAllOrNothing has the last change of a call lose in each of the ways there are: the ones
// before it must leave no trace.
func commitAllOrNothing(tr *trial) {
	tr.mustCommit(tr.askChange("a", "q1"), tr.askChange("b", "q2"), tr.requestChange("c", "req-c"))
	stale := tr.sayChange("c", "stale")
	tr.mustCommit(tr.sayChange("c", "moved"))
	fenced := tr.sayChange("c", "fenced")
	fenced.Fence = 9
	repeated := tr.requestChange("c", "req-c")
	for _, bad := range []*thread.Change{stale, fenced, repeated} {
		answer := tr.answerChange("a", "q1", `1`)
		answer.Add(thread.Entry{Type: thread.EntryMessage, Request: "req-a"})
		tr.requireUnchanged(func() {
			tr.mustConflict(answer, tr.askChange("new", "q3"), bad)
			tr.mustConflict(bad, tr.askChange("new", "q3"), answer)
			tr.mustConflict(answer, bad, tr.askChange("new", "q3"))
		})
		assert.Empty(tr, tr.mustLog(thread.LogQuery{Thread: "a", Request: "req-a"}))
	}
	answer := tr.answerChange("a", "q1", `1`)
	answer.Add(thread.Entry{Type: thread.EntryMessage, Request: "req-a"})
	// nothing of the refused calls is in the way
	tr.mustCommit(answer, tr.askChange("new", "q3"), tr.sayChange("c", "good"))
	tr.holdsAsCommitted("a", "b", "c", "new")
}

func commitSeveral(tr *trial) {
	tr.mustCommit(tr.askChange("a", "q1"), tr.askChange("b", "q2"))
	tr.mustCommit(tr.answerChange("b", "q2", `2`), tr.askChange("c", "q3"),
		tr.answerChange("a", "q1", `1`))
	tr.holdsAsCommitted("a", "b", "c")
	assert.Len(tr, tr.mustInterrupts(thread.InterruptQuery{}), 1)
	assert.Len(tr, tr.mustLog(thread.LogQuery{}), 3+3+3+2)
}

func commitTwiceInOneCall(tr *trial) {
	tr.mustCommit(tr.sayChange("a", "one"))
	first := tr.sayChange("a", "two")
	tr.requireUnchanged(func() {
		require.Error(tr, tr.Store.Commit(tr.ctx, first, tr.sayChange("a", "two again")))
	})
	second := thread.NewChange(first.Thread, tr.rules, tr.now)
	second.Add(thread.Entry{Type: thread.EntryMessage})
	tr.requireUnchanged(func() { require.Error(tr, tr.Store.Commit(tr.ctx, first, second)) })
}

func commitRequestTwice(tr *trial) {
	// ids are a thread's own
	tr.mustCommit(tr.requestChange("a", "r1"), tr.requestChange("b", "r1"))
	tr.requireUnchanged(func() {
		tr.mustConflict(tr.requestChange("a", "r1"))
		c := tr.sayChange("a", "before it")
		c.Add(thread.Entry{Type: thread.EntryMessage, Request: "r1"})
		tr.mustConflict(c)
		c = tr.requestChange("a", "r2")
		c.Add(thread.Entry{Type: thread.EntryMessage, Request: "r2"})
		tr.mustConflict(c)
	})
	tr.mustCommit(tr.sayChange("a", "no request"))
	tr.mustCommit(tr.requestChange("a", "r2"))
	tr.requireUnchanged(func() { tr.mustConflict(tr.requestChange("a", "r2")) })
	tr.mustCommit(tr.requestChange("a", "R2"))
	tr.mustCommit(tr.requestChange("a", "r2 "))
	tr.holdsAsCommitted("a", "b")
}

// commitInterruptOfAnother brings an interrupt under an id that another thread has, open or closed.
func commitInterruptOfAnother(tr *trial) {
	tr.mustCommit(tr.interruptChange("a", &thread.Interrupt{ID: "1"},
		&thread.Interrupt{ID: "2", State: thread.InterruptAnswered}))
	tr.mustCommit(tr.sayChange("b", "begins"))
	tr.requireUnchanged(func() {
		for _, id := range []string{"1", "2"} {
			tr.mustConflict(tr.interruptChange("b", &thread.Interrupt{ID: id}))
			tr.mustConflict(tr.interruptChange("c", &thread.Interrupt{ID: "3"},
				&thread.Interrupt{ID: id}))
		}
	})
	tr.mustCommit(tr.interruptChange("c", &thread.Interrupt{ID: "3"}))
	assert.Equal(tr, "a", tr.mustInterrupts(thread.InterruptQuery{ID: "1"})[0].Thread)
}

// commitKeepsNothingOfTheCaller changes, after the commit, every byte that the caller still holds.
func commitKeepsNothingOfTheCaller(tr *trial) {
	c := tr.askChange("a", "q")
	c.Entries[1].Value = raw(`{"n":1}`)
	c.Interrupts[0].Assignees = []string{"bob"}
	c.Thread.Frames[0].Effects =
		[]thread.Effect{{Name: "pay", State: thread.EffectDone, Value: raw(`"ok"`)}}
	tr.mustCommit(c)
	before := tr.dumpStore(tr.Store)
	i := c.Interrupts[0]
	i.State, i.Text, i.Assignees[0] = thread.InterruptCancelled, "changed", "eve"
	copy(i.Payload, `{"AMOUNT"`)
	f := &c.Thread.Frames[0]
	f.Name, f.Effects[0].State = "changed", thread.EffectFailed
	copy(f.Effects[0].Value, `"no"`)
	c.Entries[1].Name, c.Entries[1].Type = "changed", thread.EntryOver
	copy(c.Entries[1].Value, `{"m":2}`)
	c.Thread.Over, c.Thread.Version, c.Thread.User = thread.StatusDone, 9, "eve"
	assert.Equal(tr, before, tr.dumpStore(tr.Store))
	assert.Len(tr, tr.mustInterrupts(thread.InterruptQuery{Assignees: []string{"bob"}}), 1)
}

// commitTakesInterrupts leaves a thread's Open as no honest change would: a store that reads it is
// caught.
func commitTakesInterrupts(tr *trial) {
	c := tr.askChange("a", "q1", "q2")
	want := idsOf(c.Thread.Open)
	c.Thread.Open = nil
	tr.mustCommit(c)
	assert.Equal(tr, want, idsOf(tr.mustLoad("a").Open))
	c = tr.sayChange("a", "nothing of the interrupts")
	tr.mustCommit(c)
	assert.Equal(tr, want, idsOf(tr.mustLoad("a").Open),
		"an interrupt that a commit does not name stays")
	assert.Equal(tr, want, idsOf(byID(tr.mustInterrupts(thread.InterruptQuery{}), want)))
}

// byID brings interrupts into the order of ids.
func byID(found []*thread.Interrupt, ids []string) []*thread.Interrupt {
	var out []*thread.Interrupt
	for _, id := range ids {
		for _, i := range found {
			if i.ID == id {
				out = append(out, i)
			}
		}
	}
	return out
}
