package thread_test

import (
	"iter"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
)

// fork makes a thread of the first entries of the desk's.
func (d *desk) fork(at int64) (*thread.Change, []thread.Entry, error) {
	d.t.Helper()
	find := func(id string) *thread.Interrupt { return d.interrupts[id] }
	c, after, err := thread.ForkAt("fork", d.thread, walked(d.log), find, at, &d.rules, "eve",
		noon.Add(time.Hour))
	if err == nil {
		whole(d.t, c)
	}
	return c, after, err
}

// whole puts the copied entries before the others, as a store does.
func whole(t tester, c *thread.Change) {
	t.Helper()
	var copied []thread.Entry
	for e, err := range c.Copied {
		require.NoError(t, err)
		copied = append(copied, e)
	}
	c.Entries, c.Copied = append(copied, c.Entries...), nil
}

// walked yields the entries of a log.
func walked(log []thread.Entry) iter.Seq2[thread.Entry, error] {
	return func(yield func(thread.Entry, error) bool) {
		for _, e := range log {
			if !yield(e, nil) {
				return
			}
		}
	}
}

func TestForks(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	ids := d.spawn("f1", "a", "b")
	d.ask(ids[0], "agent_question", q("x"))
	at := d.thread.Seq
	_, err := d.answer(thread.Answer{Value: raw("1"), By: "bob", Request: "r1"})
	require.NoError(t, err)
	d.do(func(c *thread.Change) {
		c.Add(thread.Entry{Type: thread.EntryEffect, Frame: ids[0], Name: "mail",
			State: thread.EffectDone})
	})

	c, after, err := d.fork(at)
	require.NoError(t, err)
	require.Len(t, after, 1)
	assert.Equal(t, "mail", after[0].Name, "what the source did later is told")
	assert.Nil(t, c.Thread.Frame(ids[0]).Effect("mail"), "and not taken for done")
	require.Len(t, c.Thread.Open, 1)
	open := c.Thread.Open[0]
	assert.Equal(t, thread.InterruptOpen, open.State,
		"the answer that came later is not the fork's")
	assert.Nil(t, open.Answer)
	assert.NotEqual(t, "i1", open.ID, "the question has an id of its own")
	assert.Equal(t, "fork", open.Thread)
	assert.Equal(t, &thread.Fork{Thread: "t", Seq: at}, c.Thread.ForkedFrom)
	assert.Len(t, c.Thread.Frames, 3)

	c, _, err = d.fork(d.thread.Seq)
	require.NoError(t, err)
	reply := c.Thread.Frame(ids[0]).Reply("x")
	require.NotNil(t, reply)
	assert.Equal(t, raw("1"), reply.Value, "what was answered before is kept")
	assert.Equal(t, thread.InterruptAnswered, c.Interrupts[0].State)
	for _, e := range c.Entries {
		assert.Empty(t, e.Request, "a request of the source is not one of the fork")
	}

	for _, bad := range []int64{0, -1, 3, 1000} {
		_, _, err = d.fork(bad)
		assert.Equal(t, runtime.CodeInvalid, runtime.CodeOf(err), "%d", bad)
	}
}

// A frame that took another's place keeps it in the fork: frames are not renamed, interrupts are.
func TestForksKeepReplacedFrames(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	ids := d.spawn("f1", "a", "b")
	var next string
	d.do(func(c *thread.Change) {
		next = c.Replace(ids[0], thread.Frame{Parent: "f1", Machine: "m", Name: "c"})
	})

	c, _, err := d.fork(d.thread.Seq)
	require.NoError(t, err)
	var frames []string
	for _, f := range c.Thread.Frames {
		frames = append(frames, f.ID)
	}
	assert.Equal(t, []string{"f1", ids[1], next}, frames)
	assert.Equal(t, next, c.Thread.Frame("f1").Children[0].Frame)
}

// What was begun and not settled after the point of the fork is told too: it may have happened.
func TestForksTellOfEffectsInDoubt(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	at := d.thread.Seq
	for _, e := range []thread.Entry{
		{Name: "mail", State: thread.EffectIntended}, {Name: "mail", State: thread.EffectDone},
		{Name: "call", State: thread.EffectIntended}, {Name: "fax", State: thread.EffectIntended},
		{Name: "fax", State: thread.EffectFailed},
	} {
		e.Type, e.Frame = thread.EntryEffect, "f1"
		d.do(func(c *thread.Change) { c.Add(e) })
	}
	_, after, err := d.fork(at)
	require.NoError(t, err)
	require.Len(t, after, 2)
	assert.Equal(t, thread.EffectDone, after[0].State)
	assert.Equal(t, "call", after[1].Name)
}

// What a fork has open begins to wait when the fork is made: the deadlines of the source may be
// long over.
func TestForksWaitFromTheirOwnBeginning(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	for _, tc := range []struct {
		name        string
		policy      *runtime.Deadline
		extended    time.Duration // from noon
		due, remind time.Duration // from the time of the fork; 0 means none
	}{
		{"the deadline of its kind", nil, 0, day, 0},
		{"one of its own, with a reminder", &runtime.Deadline{After: time.Hour, Then: "cancel",
			Reminder: time.Minute}, 0, time.Hour, time.Hour - time.Minute},
		{"one that was extended, but not far enough",
			&runtime.Deadline{After: time.Hour, Then: "expire"}, 2 * time.Hour, time.Hour, 0},
		{"one that was extended beyond it", &runtime.Deadline{After: time.Hour, Then: "expire"},
			10*day + 2*time.Hour, 2 * time.Hour, 0},
		{"none", &runtime.Deadline{Then: "none"}, 0, 0, 0},
		{"one that was set by hand and is to come", &runtime.Deadline{Then: "none"}, 11 * day, day,
			0},
		{"one that was set by hand and is over", &runtime.Deadline{Then: "none"}, day, 0, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, withDayDeadline(thread.DefaultKinds())...)
			question := q("x")
			question.Deadline = tc.policy
			i := d.ask("f1", "agent_question", question)
			if tc.extended != 0 {
				require.NoError(t, d.try(func(c *thread.Change) error {
					return c.Extend(i.ID, noon.Add(tc.extended), "ann")
				}))
			}
			at := d.thread.Seq
			d.now = noon.Add(10 * day)
			d.do((*thread.Change).ApplyDue) // the source is past it, where there is one

			find := func(id string) *thread.Interrupt { return d.interrupts[id] }
			c, _, err := thread.ForkAt("fork", d.thread, walked(d.log), find, at, &d.rules, "eve",
				d.now)
			require.NoError(t, err)
			whole(t, c)
			require.Len(t, c.Thread.Open, 1)
			in := func(after time.Duration) time.Time {
				if after == 0 {
					return time.Time{}
				}
				return d.now.Add(after)
			}
			open := c.Thread.Open[0]
			assert.Equal(t, in(tc.due), open.Due)
			assert.Equal(t, in(tc.remind), open.RemindAt)
			assert.Equal(t, open, c.Interrupts[0], "what is stored says so too")

			again, err := thread.Replay("fork", c.Entries, func(string) *thread.Interrupt {
				return open
			})
			require.NoError(t, err)
			assert.Equal(t, open, again.Open[0], "and so does its log")
			for n, e := range c.Entries {
				assert.Equal(t, int64(n+1), e.Seq)
				if e.Seq > at {
					assert.Equal(t, [2]any{"eve", d.now}, [2]any{e.By, e.At},
						"what is new is the fork's own")
				}
			}
			next := thread.NewChange(c.Thread, &d.rules, d.now)
			next.ApplyDue()
			assert.Equal(t, thread.StatusWaiting, next.Thread.Status(), "it does not end at once")
			assert.True(t, next.Empty())
		})
	}
}

// What is queued in a fork gets its deadline when its turn comes.
func TestForksLeaveTheQueueAlone(t *testing.T) {
	t.Parallel()
	d := newDesk(t, withDayDeadline(kinds("queue", "queue", "queue"))...)
	d.ask("f1", "agent_question", q("x"))
	d.pause()
	c, _, err := d.fork(d.thread.Seq)
	require.NoError(t, err)
	assert.Equal(t, d.thread.Seq, c.Thread.Seq, "a pause has no deadline either")
	c = thread.NewChange(c.Thread, &d.rules, noon.Add(100*time.Hour))
	_, err = c.Answer(thread.Answer{Value: raw(`"continue"`)})
	require.NoError(t, err)
	require.Len(t, c.Thread.Open, 1)
	assert.Equal(t, noon.Add(124*time.Hour), c.Thread.Open[0].Due)
}
