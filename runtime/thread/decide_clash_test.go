package thread_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
)

// An interrupt may be older than the table of kinds: what is urgent is what the table says now, and
// the number that it stores orders the inbox.
func TestAKindIsAsUrgentAsTheTableSaysNow(t *testing.T) {
	t.Parallel()
	t.Run("a kind that was put on top does not make a pause and an older question equal",
		func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			old := d.ask("f1", "agent_question", q("x"))
			d.rules.Kinds = append([]runtime.Kind{{Name: "alarm", Clash: "queue"}},
				thread.DefaultKinds()...)
			pause := d.pause()
			require.Equal(t, old.Priority, pause.Priority, "the stored numbers are equal")
			assert.Equal(t, thread.InterruptSuperseded, d.state(old.ID))
			assert.Equal(t, pause.ID, d.interrupts[old.ID].SupersededBy)
		})
	t.Run("a kind that was taken from the top lets what is asked anew stand beside what was "+
		"asked before", func(t *testing.T) {
		t.Parallel()
		d := newDesk(t, append([]runtime.Kind{{Name: "alarm", Clash: "queue"}},
			kinds("queue", "queue", "queue")...)...)
		ids := d.spawn("f1", "a", "b", "c")
		old := d.ask(ids[0], "agent_question", q("x"))
		d.rules.Kinds = kinds("queue", "queue", "queue")
		for n, kind := range []string{"agent_question", "system_error"} {
			d.ask(ids[n+1], kind, q(kind))
		}
		assert.Equal(t, thread.InterruptOpen, d.state(old.ID))
		assert.Equal(t, thread.InterruptOpen, d.state("i2"))
		assert.Equal(t, thread.InterruptQueued, d.state("i3"),
			"a failure waits, though its number is the older question's")
	})
	t.Run("kinds that changed places change them in the queue too", func(t *testing.T) {
		t.Parallel()
		d := newDesk(t, runtime.Kind{Name: "a", Clash: "queue"},
			runtime.Kind{Name: "b", Clash: "queue"}, runtime.Kind{Name: "c", Clash: "queue"})
		ids := d.spawn("f1", "a", "b", "c", "top")
		d.ask(ids[3], "a", q("top"))
		for n, kind := range []string{"b", "c", "c"} {
			d.ask(ids[n], kind, q(kind))
		}
		d.rules.Kinds[1], d.rules.Kinds[2] = d.rules.Kinds[2], d.rules.Kinds[1]
		d.do(func(c *thread.Change) { c.Return(ids[3], nil) })
		assert.Equal(t, thread.InterruptQueued, d.state("i2"))
		assert.Equal(t, thread.InterruptOpen, d.state("i3"))
		assert.Equal(t, thread.InterruptOpen, d.state("i4"))
	})
	t.Run("what is open makes way for what became more urgent while it was queued",
		func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, runtime.Kind{Name: "a", Clash: "queue"},
				runtime.Kind{Name: "b", Clash: "queue"})
			ids := d.spawn("f1", "a", "b", "other")
			d.ask(ids[0], "a", q("x"))
			d.ask(ids[1], "b", q("y"))
			d.ask(ids[2], "a", q("z"))
			d.rules.Kinds[0], d.rules.Kinds[1] = d.rules.Kinds[1], d.rules.Kinds[0]
			_, err := d.answer(thread.Answer{Interrupt: "i1", Value: raw("1")})
			require.NoError(t, err)
			assert.Equal(t, thread.InterruptOpen, d.state("i2"))
			assert.Equal(t, thread.InterruptQueued, d.state("i3"))
		})
}

func TestClashesAreCounted(t *testing.T) {
	t.Parallel()
	t.Run("of one that is queued again and again", func(t *testing.T) {
		t.Parallel()
		d := newDesk(t, kinds("queue", "queue", "queue")...)
		i := d.ask("f1", "agent_question", q("x"))
		for n := range 3 {
			assert.Equal(t, n, d.interrupts[i.ID].Clashes)
			pause := d.pause()
			assert.Equal(t, n+1, d.interrupts[i.ID].Clashes)
			assert.Zero(t, pause.Clashes, "the winner has lost nothing")
			_, err := d.answer(thread.Answer{Interrupt: pause.ID, Value: raw(`"continue"`)})
			require.NoError(t, err)
		}
	})
	t.Run("of one that is superseded", func(t *testing.T) {
		t.Parallel()
		d := newDesk(t)
		i := d.ask("f1", "agent_question", q("x"))
		d.pause()
		assert.Equal(t, thread.InterruptSuperseded, d.state(i.ID))
		assert.Equal(t, 1, d.interrupts[i.ID].Clashes)
	})
	for rule, want := range map[string]thread.InterruptState{"queue": thread.InterruptQueued,
		"supersede": thread.InterruptSuperseded} {
		t.Run("of one that was born into it: "+rule, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, kinds(rule, "queue", "queue")...)
			ids := d.spawn("f1", "a", "b")
			d.ask(ids[0], "user_escape", q("top"))
			i := d.ask(ids[1], "agent_question", q("x"))
			assert.Equal(t, want, i.State)
			assert.Equal(t, 1, i.Clashes)
		})
	}
	t.Run("a question whose step failed afterwards has lost none", func(t *testing.T) {
		t.Parallel()
		d := newDesk(t)
		d.do(func(c *thread.Change) {
			c.Ask("f1", "agent_question", q("x"))
			c.StepFailed("f1", errDown, nil)
		})
		assert.Equal(t, thread.InterruptSuperseded, d.state("i1"))
		assert.Zero(t, d.interrupts["i1"].Clashes)
	})
}
