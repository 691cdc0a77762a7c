package runtime_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
)

// fork makes a thread of the first entries of the desk's.
func (d *desk) fork(at int64) (*runtime.Change, []runtime.Entry, error) {
	d.t.Helper()
	return runtime.ForkAt("fork", d.thread, d.log, func(id string) *runtime.Interrupt { return d.interrupts[id] }, at, &d.rules, "eve", noon.Add(time.Hour))
}

func TestForks(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	ids := d.spawn("f1", "a", "b")
	d.ask(ids[0], "agent_question", q("x"))
	at := d.thread.Seq
	_, err := d.answer(runtime.Answer{Value: raw("1"), By: "bob", Request: "r1"})
	require.NoError(t, err)
	d.do(func(c *runtime.Change) {
		c.Add(runtime.Entry{Type: runtime.EntryEffect, Frame: ids[0], Name: "mail", State: runtime.EffectDone})
	})

	c, after, err := d.fork(at)
	require.NoError(t, err)
	require.Len(t, after, 1)
	assert.Equal(t, "mail", after[0].Name, "what the source did later is told")
	assert.Nil(t, c.Thread.Frame(ids[0]).Effect("mail"), "and not taken for done")
	require.Len(t, c.Thread.Open, 1)
	open := c.Thread.Open[0]
	assert.Equal(t, runtime.InterruptOpen, open.State, "the answer that came later is not the fork's")
	assert.Nil(t, open.Answer)
	assert.NotEqual(t, "i1", open.ID, "the question has an id of its own")
	assert.Equal(t, "fork", open.Thread)
	assert.Equal(t, &runtime.Fork{Thread: "t", Seq: at}, c.Thread.ForkedFrom)
	assert.Len(t, c.Thread.Frames, 3)

	c, _, err = d.fork(d.thread.Seq)
	require.NoError(t, err)
	reply := c.Thread.Frame(ids[0]).Reply("x")
	require.NotNil(t, reply)
	assert.Equal(t, raw("1"), reply.Value, "what was answered before is kept")
	assert.Equal(t, runtime.InterruptAnswered, c.Interrupts[0].State)
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
	d.do(func(c *runtime.Change) {
		next = c.Replace(ids[0], runtime.Frame{Parent: "f1", Machine: "m", Name: "c"})
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
	for _, e := range []runtime.Entry{
		{Name: "mail", State: runtime.EffectIntended}, {Name: "mail", State: runtime.EffectDone},
		{Name: "call", State: runtime.EffectIntended}, {Name: "fax", State: runtime.EffectIntended}, {Name: "fax", State: runtime.EffectFailed},
	} {
		e.Type, e.Frame = runtime.EntryEffect, "f1"
		d.do(func(c *runtime.Change) { c.Add(e) })
	}
	_, after, err := d.fork(at)
	require.NoError(t, err)
	require.Len(t, after, 2)
	assert.Equal(t, runtime.EffectDone, after[0].State)
	assert.Equal(t, "call", after[1].Name)
}
