package thread_test

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
)

func TestStatus(t *testing.T) {
	t.Parallel()
	escape := func(c *thread.Change) { _, _ = c.Escape(thread.EscapeSafe, "ann", "") }
	over := func(s thread.Status) func(*thread.Change) {
		return func(c *thread.Change) { c.Over(s, nil, nil, "") }
	}
	for _, tc := range []struct {
		name string
		do   []func(c *thread.Change)
		want thread.Status
	}{
		{"a frame whose step can run is running", nil, thread.StatusRunning},
		{"without a turn it is idle", []func(*thread.Change){func(c *thread.Change) {
			c.Return("f1", nil)
		}}, thread.StatusIdle},
		{"a frame that asks is waiting", []func(*thread.Change){func(c *thread.Change) {
			c.Ask("f1", "agent_question", q("x"))
		}}, thread.StatusWaiting},
		{"a frame that waits for its next try is waiting",
			[]func(*thread.Change){func(c *thread.Change) {
				c.StepFailed("f1", assert.AnError, nil)
			}}, thread.StatusWaiting},
		{"one of two children asks, the other runs",
			[]func(*thread.Change){func(c *thread.Change) {
				c.Add(thread.Entry{Type: thread.EntryCalling, Frame: "f1"})
				c.Ask(c.Enter(thread.Frame{Parent: "f1"}, "", ""), "agent_question", q("x"))
				c.Enter(thread.Frame{Parent: "f1"}, "", "")
			}}, thread.StatusRunning},
		{"all children ask", []func(*thread.Change){func(c *thread.Change) {
			c.Add(thread.Entry{Type: thread.EntryCalling, Frame: "f1"})
			c.Ask(c.Enter(thread.Frame{Parent: "f1"}, "", ""), "agent_question", q("x"))
			c.Ask(c.Enter(thread.Frame{Parent: "f1"}, "", ""), "agent_question", q("x"))
		}}, thread.StatusWaiting},
		{"a requested pause is still running, whatever the frames do", []func(*thread.Change){
			func(c *thread.Change) { c.Ask("f1", "agent_question", q("x")) }, escape,
		}, thread.StatusRunning},
		{"a pause is waiting, though a step could run",
			[]func(*thread.Change){escape, pauseThread}, thread.StatusWaiting},
		{"it is done", []func(*thread.Change){over(thread.StatusDone)}, thread.StatusDone},
		{"it is handed off", []func(*thread.Change){over(thread.StatusHandedOff)},
			thread.StatusHandedOff},
		{"a person cancelled it", []func(*thread.Change){func(c *thread.Change) {
			_ = c.Cancel("ann", "")
		}}, thread.StatusCancelled},
		{"its root failed", []func(*thread.Change){func(c *thread.Change) {
			c.Fail("f1", &thread.Failure{Code: runtime.CodeLoop})
		}}, thread.StatusFailed},
		{"it is over, though a pause was requested",
			[]func(*thread.Change){escape, over(thread.StatusDone)}, thread.StatusDone},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			for _, do := range tc.do {
				d.do(do)
			}
			assert.Equal(t, tc.want, d.thread.Status())
		})
	}
}

func TestEveryRoundOfALoopHasItsOwnKeys(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.do(func(c *thread.Change) {
		c.Add(thread.Entry{Type: thread.EntryStepped, Frame: "f1", PC: "a", Value: raw("0")})
	})
	var keys []string
	for round := 1; round <= 3; round++ {
		f := d.thread.Frame("f1")
		assert.Equal(t, round, f.Visit)
		assert.Nil(t, f.Effect("charge"), "what a former round did is not this one's")
		assert.Nil(t, f.Reply("x"), "what a former round was told is not this one's")
		assert.Empty(t, f.Attempts)
		keys = append(keys, thread.EffectKey("t", f, "charge"))
		d.do(func(c *thread.Change) {
			c.Add(thread.Entry{Type: thread.EntryEffect, Frame: "f1", Name: "charge",
				State: thread.EffectDone, Value: raw("1")})
			c.StepFailed("f1", assert.AnError, nil)
		})
		d.now = d.now.Add(time.Hour)
		d.do((*thread.Change).ApplyDue)
		i := d.ask("f1", "agent_question", q("x"))
		assert.Equal(t, round, i.Visit)
		_, err := d.answer(thread.Answer{Value: raw("true")})
		require.NoError(t, err)
		assert.NotNil(t, d.thread.Frame("f1").Effect("charge"),
			"an answer does not undo what was done")
		d.do(func(c *thread.Change) {
			c.Add(thread.Entry{Type: thread.EntryStepped, Frame: "f1", PC: "b", Value: raw("1")})
			c.Add(thread.Entry{Type: thread.EntryStepped, Frame: "f1", PC: "a", Value: raw("2")})
		})
	}
	assert.Equal(t, []string{"t/f1/a/1/charge", "t/f1/a/2/charge", "t/f1/a/3/charge"}, keys)
	d.do(func(c *thread.Change) {
		c.Add(thread.Entry{Type: thread.EntryStepped, Frame: "f1", PC: "a"})
	})
	assert.Equal(t, 5, d.thread.Frame("f1").Visit, "a step that goes to itself is entered anew")
	assert.Equal(t, map[string]int{"": 1, "b": 3}, d.thread.Frame("f1").Visits)
}

func TestEffectKeysAreUnambiguous(t *testing.T) {
	t.Parallel()
	f := &thread.Frame{ID: "f1", PC: "a/b", Visit: 2}
	assert.Equal(t, "t%2F1/f1/a%2Fb/2/50%25", thread.EffectKey("t/1", f, "50%"))
	assert.NotEqual(t, thread.EffectKey("t", &thread.Frame{ID: "f1", PC: "a", Visit: 1}, "b/c"),
		thread.EffectKey("t", &thread.Frame{ID: "f1", PC: "a", Visit: 1}, "b%2Fc"))
}

// permutations calls f with every order of 0 to n-1.
func permutations(n int, f func(order []int)) {
	var build func(order []int)
	build = func(order []int) {
		if len(order) == n {
			f(order)
			return
		}
		for k := range n {
			if !slices.Contains(order, k) {
				build(append(slices.Clip(order), k))
			}
		}
	}
	build(nil)
}

func TestTheOrderInWhichChildrenEndChangesNothing(t *testing.T) {
	t.Parallel()
	const children = 4
	var want []thread.Child
	runs := 0
	permutations(children, func(order []int) {
		runs++
		d := newDesk(t)
		ids := d.spawn("f1", "a", "b", "c", "d")
		for n, k := range order {
			assert.Equal(t, thread.FrameCalling, d.thread.Frame("f1").State)
			d.do(func(c *thread.Change) {
				if k == 2 {
					c.Fail(ids[k], &thread.Failure{Code: runtime.CodeLoop})
				} else {
					value, err := json.Marshal(k)
					require.NoError(t, err)
					c.Return(ids[k], value)
				}
			})
			assert.Len(t, d.thread.Frames, children-n)
		}
		root := d.thread.Frame("f1")
		assert.Equal(t, thread.FrameReady, root.State, "the last child lets the parent go on")
		if want == nil {
			want = root.Children
		}
		assert.Equal(t, want, root.Children)
	})
	assert.Equal(t, 24, runs)
	assert.Equal(t, []thread.Child{
		{Frame: "f2", Name: "a", Done: true, Value: raw("0")},
		{Frame: "f3", Name: "b", Done: true, Value: raw("1")},
		{Frame: "f4", Name: "c", Done: true, Failure: &thread.Failure{Code: runtime.CodeLoop}},
		{Frame: "f5", Name: "d", Done: true, Value: raw("3")},
	}, want)
}

func TestAFrameTakesAllBelowItAlong(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	ids := d.spawn("f1", "a", "b")
	below := d.spawn(ids[0], "c")
	deep := d.spawn(below[0], "d")
	i := d.ask(deep[0], "agent_question", q("x"))
	d.do(func(c *thread.Change) { c.Return(ids[0], nil) })
	assert.Equal(t, thread.InterruptCancelled, d.state(i.ID))
	assert.Len(t, d.thread.Frames, 2)
	d.do(func(c *thread.Change) { c.Return(ids[0], nil) })
	assert.Len(t, d.thread.Frames, 2, "what has ended cannot end again")
}

func TestWake(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	assert.Zero(t, d.thread.Wake(), "nobody drives it and nothing is due")
	lease := func(until time.Time) {
		c := thread.NewChange(d.thread, &d.rules, d.now)
		c.TakeLease("a", until)
		d.thread = c.Thread
	}
	lease(noon.Add(time.Minute))
	assert.Equal(t, noon.Add(time.Minute), d.thread.Wake(), "the lease of a running thread ends")

	ids := d.spawn("f1", "a", "b")
	question := q("x")
	question.Deadline = &runtime.Deadline{After: time.Hour, Then: "expire",
		Reminder: 20 * time.Minute}
	d.ask(ids[0], "agent_question", question)
	lease(noon.Add(2 * time.Hour))
	assert.Equal(t, noon.Add(40*time.Minute), d.thread.Wake(), "the reminder comes first")
	d.now = noon.Add(40 * time.Minute)
	d.do((*thread.Change).ApplyDue)
	assert.Equal(t, []thread.EntryType{thread.EntryReminded}, d.said())
	assert.Equal(t, noon.Add(time.Hour), d.thread.Wake(), "then the deadline")

	d.do(func(c *thread.Change) { c.StepFailed(ids[1], assert.AnError, nil) })
	assert.Equal(t, d.now.Add(time.Second), d.thread.Wake(), "the next try comes earlier")
	lease(d.now)
	assert.Equal(t, d.now.Add(time.Second), d.thread.Wake(),
		"the lease of a waiting thread wakes nobody")

	require.NoError(t, d.try(func(c *thread.Change) error {
		_, err := c.Escape(thread.EscapeNow, "ann", "")
		return err
	}))
	d.do(pauseThread)
	assert.Zero(t, d.thread.Wake(), "a pause has no end, and a try waits for it")
}

func pauseThread(c *thread.Change) { c.Pause() }
