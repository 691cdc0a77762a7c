package runtime_test

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
)

func TestStatus(t *testing.T) {
	t.Parallel()
	escape := func(c *runtime.Change) { _, _ = c.Escape(runtime.EscapeSafe, "ann", "") }
	over := func(s runtime.Status) func(*runtime.Change) {
		return func(c *runtime.Change) { c.Over(s, nil, nil, "") }
	}
	for _, tc := range []struct {
		name string
		do   []func(c *runtime.Change)
		want runtime.Status
	}{
		{"a frame whose step can run is running", nil, runtime.StatusRunning},
		{"without a turn it is idle", []func(*runtime.Change){func(c *runtime.Change) { c.Return("f1", nil) }}, runtime.StatusIdle},
		{"a frame that asks is waiting", []func(*runtime.Change){func(c *runtime.Change) { c.Ask("f1", "agent_question", q("x")) }}, runtime.StatusWaiting},
		{"a frame that waits for its next try is waiting", []func(*runtime.Change){func(c *runtime.Change) { c.StepFailed("f1", assert.AnError, nil) }}, runtime.StatusWaiting},
		{"one of two children asks, the other runs", []func(*runtime.Change){func(c *runtime.Change) {
			c.Add(runtime.Entry{Type: runtime.EntryCalling, Frame: "f1"})
			c.Ask(c.Enter(runtime.Frame{Parent: "f1"}, "", ""), "agent_question", q("x"))
			c.Enter(runtime.Frame{Parent: "f1"}, "", "")
		}}, runtime.StatusRunning},
		{"all children ask", []func(*runtime.Change){func(c *runtime.Change) {
			c.Add(runtime.Entry{Type: runtime.EntryCalling, Frame: "f1"})
			c.Ask(c.Enter(runtime.Frame{Parent: "f1"}, "", ""), "agent_question", q("x"))
			c.Ask(c.Enter(runtime.Frame{Parent: "f1"}, "", ""), "agent_question", q("x"))
		}}, runtime.StatusWaiting},
		{"a requested pause is still running, whatever the frames do", []func(*runtime.Change){
			func(c *runtime.Change) { c.Ask("f1", "agent_question", q("x")) }, escape,
		}, runtime.StatusRunning},
		{"a pause is waiting, though a step could run", []func(*runtime.Change){escape, (*runtime.Change).Pause}, runtime.StatusWaiting},
		{"it is done", []func(*runtime.Change){over(runtime.StatusDone)}, runtime.StatusDone},
		{"it is handed off", []func(*runtime.Change){over(runtime.StatusHandedOff)}, runtime.StatusHandedOff},
		{"a person cancelled it", []func(*runtime.Change){func(c *runtime.Change) { _ = c.Cancel("ann", "") }}, runtime.StatusCancelled},
		{"its root failed", []func(*runtime.Change){func(c *runtime.Change) { c.Fail("f1", &runtime.Failure{Code: runtime.CodeLoop}) }}, runtime.StatusFailed},
		{"it is over, though a pause was requested", []func(*runtime.Change){escape, over(runtime.StatusDone)}, runtime.StatusDone},
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
	d.do(func(c *runtime.Change) {
		c.Add(runtime.Entry{Type: runtime.EntryStepped, Frame: "f1", PC: "a", Value: raw("0")})
	})
	var keys []string
	for round := 1; round <= 3; round++ {
		f := d.thread.Frame("f1")
		assert.Equal(t, round, f.Visit)
		assert.Nil(t, f.Effect("charge"), "what a former round did is not this one's")
		assert.Nil(t, f.Reply("x"), "what a former round was told is not this one's")
		assert.Empty(t, f.Attempts)
		keys = append(keys, runtime.EffectKey("t", f, "charge"))
		d.do(func(c *runtime.Change) {
			c.Add(runtime.Entry{Type: runtime.EntryEffect, Frame: "f1", Name: "charge", State: runtime.EffectDone, Value: raw("1")})
			c.StepFailed("f1", assert.AnError, nil)
		})
		d.now = d.now.Add(time.Hour)
		d.do((*runtime.Change).Due)
		i := d.ask("f1", "agent_question", q("x"))
		assert.Equal(t, round, i.Visit)
		_, err := d.answer(runtime.Answer{Value: raw("true")})
		require.NoError(t, err)
		assert.NotNil(t, d.thread.Frame("f1").Effect("charge"), "an answer does not undo what was done")
		d.do(func(c *runtime.Change) {
			c.Add(runtime.Entry{Type: runtime.EntryStepped, Frame: "f1", PC: "b", Value: raw("1")})
			c.Add(runtime.Entry{Type: runtime.EntryStepped, Frame: "f1", PC: "a", Value: raw("2")})
		})
	}
	assert.Equal(t, []string{"t/f1/a/1/charge", "t/f1/a/2/charge", "t/f1/a/3/charge"}, keys)
	d.do(func(c *runtime.Change) { c.Add(runtime.Entry{Type: runtime.EntryStepped, Frame: "f1", PC: "a"}) })
	assert.Equal(t, 5, d.thread.Frame("f1").Visit, "a step that goes to itself is entered anew")
	assert.Equal(t, map[string]int{"": 1, "b": 3}, d.thread.Frame("f1").Visits)
}

func TestEffectKeysAreUnambiguous(t *testing.T) {
	t.Parallel()
	f := &runtime.Frame{ID: "f1", PC: "a/b", Visit: 2}
	assert.Equal(t, "t%2F1/f1/a%2Fb/2/50%25", runtime.EffectKey("t/1", f, "50%"))
	assert.NotEqual(t, runtime.EffectKey("t", &runtime.Frame{ID: "f1", PC: "a", Visit: 1}, "b/c"),
		runtime.EffectKey("t", &runtime.Frame{ID: "f1", PC: "a", Visit: 1}, "b%2Fc"))
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
	var want []runtime.Child
	runs := 0
	permutations(children, func(order []int) {
		runs++
		d := newDesk(t)
		ids := d.spawn("f1", "a", "b", "c", "d")
		for n, k := range order {
			assert.Equal(t, runtime.FrameCalling, d.thread.Frame("f1").State)
			d.do(func(c *runtime.Change) {
				if k == 2 {
					c.Fail(ids[k], &runtime.Failure{Code: runtime.CodeLoop})
				} else {
					value, err := json.Marshal(k)
					require.NoError(t, err)
					c.Return(ids[k], value)
				}
			})
			assert.Len(t, d.thread.Frames, children-n)
		}
		root := d.thread.Frame("f1")
		assert.Equal(t, runtime.FrameReady, root.State, "the last child lets the parent go on")
		if want == nil {
			want = root.Children
		}
		assert.Equal(t, want, root.Children)
	})
	assert.Equal(t, 24, runs)
	assert.Equal(t, []runtime.Child{
		{Frame: "f2", Name: "a", Done: true, Value: raw("0")},
		{Frame: "f3", Name: "b", Done: true, Value: raw("1")},
		{Frame: "f4", Name: "c", Done: true, Failure: &runtime.Failure{Code: runtime.CodeLoop}},
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
	d.do(func(c *runtime.Change) { c.Return(ids[0], nil) })
	assert.Equal(t, runtime.InterruptCancelled, d.state(i.ID))
	assert.Len(t, d.thread.Frames, 2)
	d.do(func(c *runtime.Change) { c.Return(ids[0], nil) })
	assert.Len(t, d.thread.Frames, 2, "what has ended cannot end again")
}

func TestWake(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	assert.Zero(t, d.thread.Wake(), "nobody drives it and nothing is due")
	lease := func(until time.Time) {
		c := runtime.NewChange(d.thread, &d.rules, d.now)
		c.Drive("a", until)
		d.thread = c.Thread
	}
	lease(noon.Add(time.Minute))
	assert.Equal(t, noon.Add(time.Minute), d.thread.Wake(), "the lease of a running thread ends")

	ids := d.spawn("f1", "a", "b")
	question := q("x")
	question.Deadline = &runtime.Deadline{After: time.Hour, Then: "expire", Reminder: 20 * time.Minute}
	d.ask(ids[0], "agent_question", question)
	lease(noon.Add(2 * time.Hour))
	assert.Equal(t, noon.Add(40*time.Minute), d.thread.Wake(), "the reminder comes first")
	d.now = noon.Add(40 * time.Minute)
	d.do((*runtime.Change).Due)
	assert.Equal(t, []runtime.EntryType{runtime.EntryReminded}, d.said())
	assert.Equal(t, noon.Add(time.Hour), d.thread.Wake(), "then the deadline")

	d.do(func(c *runtime.Change) { c.StepFailed(ids[1], assert.AnError, nil) })
	assert.Equal(t, d.now.Add(time.Second), d.thread.Wake(), "the next try comes earlier")
	lease(d.now)
	assert.Equal(t, d.now.Add(time.Second), d.thread.Wake(), "the lease of a waiting thread wakes nobody")

	require.NoError(t, d.try(func(c *runtime.Change) error { _, err := c.Escape(runtime.EscapeNow, "ann", ""); return err }))
	d.do((*runtime.Change).Pause)
	assert.Zero(t, d.thread.Wake(), "a pause has no end, and a try waits for it")
}
