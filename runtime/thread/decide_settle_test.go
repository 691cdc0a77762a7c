package thread_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
)

// escape asks for a pause.
func (d *desk) escape(mode string) (string, error) {
	d.t.Helper()
	var ack string
	err := d.try(func(c *thread.Change) (err error) {
		ack, err = c.Escape(mode, "ann", "look")
		return err
	})
	return ack, err
}

// paused is a desk whose thread is paused by i1, or by the next interrupt.
func (d *desk) pause() *thread.Interrupt {
	d.t.Helper()
	_, err := d.escape(thread.EscapeSafe)
	require.NoError(d.t, err)
	d.do(pauseThread)
	require.True(d.t, d.thread.Paused())
	return d.interrupts[d.thread.Control.Interrupt]
}

func TestEscape(t *testing.T) {
	t.Parallel()
	t.Run("a thread that does nothing cannot be paused", func(t *testing.T) {
		t.Parallel()
		d := newDesk(t)
		d.do(func(c *thread.Change) { c.Return("f1", nil) })
		_, err := d.escape(thread.EscapeSafe)
		assert.Equal(t, runtime.CodeNotWaiting, runtime.CodeOf(err))
		require.ErrorContains(t, err, "not_running")
		d.do(func(c *thread.Change) { c.Over(thread.StatusDone, nil, nil, "") })
		_, err = d.escape(thread.EscapeSafe)
		require.ErrorContains(t, err, "not_running")
	})
	t.Run("there are two modes", func(t *testing.T) {
		t.Parallel()
		_, err := newDesk(t).escape("soon")
		assert.Equal(t, runtime.CodeInvalid, runtime.CodeOf(err))
	})
	t.Run("a later order goes up to now and never down", func(t *testing.T) {
		t.Parallel()
		d := newDesk(t)
		for _, step := range []struct{ mode, ack, want string }{
			{thread.EscapeSafe, thread.AckRequested, thread.EscapeSafe},
			{thread.EscapeSafe, thread.AckPending, thread.EscapeSafe},
			{thread.EscapeNow, thread.AckPending, thread.EscapeNow},
			{thread.EscapeSafe, thread.AckPending, thread.EscapeNow},
			{thread.EscapeNow, thread.AckPending, thread.EscapeNow},
		} {
			ack, err := d.escape(step.mode)
			require.NoError(t, err)
			assert.Equal(t, step.ack, ack)
			assert.Equal(t, step.want, d.thread.Control.Mode)
		}
		assert.Len(t, d.log, 4, "started, entered and two orders: the others left no trace")
		d.do(pauseThread)
		ack, err := d.escape(thread.EscapeNow)
		require.NoError(t, err)
		assert.Equal(t, thread.AckPending, ack, "a paused thread is paused")
		before := len(d.log)
		d.do(pauseThread)
		assert.Len(t, d.log, before, "a pause happens once")
	})
	t.Run("the pause says who wanted it, and offers what the kind offers", func(t *testing.T) {
		t.Parallel()
		d := newDesk(t)
		d.do(func(c *thread.Change) {
			c.Add(thread.Entry{Type: thread.EntryShows, Frame: "f1", Value: raw(`{"plan":1}`)})
		})
		i := d.pause()
		assert.JSONEq(t, `{"reason":"look","by":"ann","mode":"safe"}`, string(i.Payload))
		assert.JSONEq(t, `{"plan":1}`, string(i.Context))
		assert.Equal(t, thread.Choice{Label: "modify", Value: raw(`"modify"`)}, i.Choices[1])
		assert.Len(t, i.Choices, 4)
		assert.Equal(t, thread.StatusWaiting, d.thread.Status())
	})
	t.Run("without a request nothing is paused", func(t *testing.T) {
		t.Parallel()
		d := newDesk(t)
		d.do(pauseThread)
		assert.Empty(t, d.thread.Open)
	})
}

func TestTheEndOfAPause(t *testing.T) {
	t.Parallel()
	text := func(s string) *string { return &s }
	for _, tc := range []struct {
		name   string
		a      thread.Answer
		status thread.Status
		modify *string
	}{
		{"continue", thread.Answer{Value: raw(`"continue"`)}, thread.StatusRunning, nil},
		{"continue, with spaces around", thread.Answer{Value: raw(" \n\"continue\" ")},
			thread.StatusRunning, nil},
		{"continue, as an object", thread.Answer{Value: raw(`{"choice":"continue"}`)},
			thread.StatusRunning, nil},
		{"continue, as text", thread.Answer{Text: "Continue."}, thread.StatusRunning, nil},
		{"continue, by number", thread.Answer{Text: "1"}, thread.StatusRunning, nil},
		{"modify",
			thread.Answer{Value: raw(`{"choice":"modify","text":"skip step 3, notify Ann"}`)},
			thread.StatusRunning, text("skip step 3, notify Ann")},
		{"an empty change is none", thread.Answer{Value: raw(`{"choice":"modify","text":""}`)},
			thread.StatusRunning, nil},
		{"nor is one of spaces", thread.Answer{Value: raw(`{"choice":"modify","text":" \n"}`)},
			thread.StatusRunning, nil},
		{"nor is the bare word", thread.Answer{Value: raw(`"modify"`)}, thread.StatusRunning,
			nil},
		{"cancel", thread.Answer{Value: raw(`"cancel"`)}, thread.StatusCancelled, nil},
		{"status leaves it paused", thread.Answer{Value: raw(`"status"`)}, thread.StatusWaiting,
			nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			ids := d.spawn("f1", "a")
			asked := d.ask(ids[0], "agent_question", q("x"))
			d.pause()
			assert.Equal(t, thread.InterruptSuperseded, d.state(asked.ID), "the pause comes first")
			got, err := d.answer(tc.a)
			require.NoError(t, err)
			assert.Equal(t, tc.status, d.thread.Status())
			assert.Equal(t, tc.modify, d.thread.Modify)
			if tc.status == thread.StatusWaiting {
				assert.Equal(t, thread.InterruptOpen, got.State)
				assert.Equal(t, []thread.EntryType{thread.EntryMessage}, d.said())
				return
			}
			assert.Equal(t, thread.InterruptAnswered, got.State)
			assert.False(t, d.thread.Paused())
			if tc.status == thread.StatusRunning {
				assert.Equal(t, thread.FrameReady, d.thread.Frame(ids[0]).State, "it may ask anew")
			}
		})
	}
	for name, a := range map[string]thread.Answer{
		"what is not offered is refused": {Value: raw(`"retry"`)},
		"no word at all":                 {Value: raw("true")},
		"an unknown field":               {Value: raw(`{"choice":"modify","txt":"a"}`)},
		"a target":                       {RouteTo: "f1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			d.pause()
			_, err := d.answer(a)
			require.Error(t, err)
			assert.True(t, d.thread.Paused())
		})
	}
}

func TestAModificationIsDeliveredOnceAndNeverLost(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	for _, text := range []string{"first", "second"} {
		d.pause()
		_, err := d.answer(thread.Answer{Value: raw(`{"choice":"modify","text":"` + text + `"}`)})
		require.NoError(t, err)
	}
	require.NotNil(t, d.thread.Modify)
	assert.Equal(t, "first\nsecond", *d.thread.Modify,
		"nobody has taken the first one when the second came")
	d.do(func(c *thread.Change) { c.Add(thread.Entry{Type: thread.EntryModified, Frame: "f1"}) })
	assert.Nil(t, d.thread.Modify)
	d.pause()
	_, err := d.answer(thread.Answer{Value: raw(`"continue"`)})
	require.NoError(t, err)
	assert.Nil(t, d.thread.Modify)
}

func TestAQuestionAskedWhileAPauseIsWantedIsInTheLogWithTheClash(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	_, err := d.escape(thread.EscapeSafe)
	require.NoError(t, err)
	d.do(func(c *thread.Change) { c.Ask("f1", "agent_question", q("x")); c.Pause() })
	assert.Equal(t, []thread.EntryType{thread.EntryAsked, thread.EntryAsked,
		thread.EntrySuperseded, thread.EntryPaused}, d.said())
	require.Len(t, d.thread.Open, 1)
	assert.Equal(t, "user_escape", d.thread.Open[0].Kind)
}

func TestDeadlines(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name   string
		policy runtime.Deadline
		status thread.Status
		state  thread.InterruptState
		holds  func(t *testing.T, d *desk)
	}{
		{"expire fails the frame", runtime.Deadline{Then: "expire"}, thread.StatusFailed,
			thread.InterruptExpired, func(t *testing.T, d *desk) {
				t.Helper()
				assert.Equal(t, &thread.Failure{Code: runtime.CodeExpired,
					Text: "no answer to x in time"}, d.thread.Failure)
			}},
		{"default answers", runtime.Deadline{Then: "default", Answer: "1"}, thread.StatusRunning,
			thread.InterruptAnswered, func(t *testing.T, d *desk) {
				t.Helper()
				assert.Equal(t, raw("1"), d.thread.Frame("f1").Reply("x").Value)
				assert.Equal(t, "deadline", d.thread.Frame("f1").Reply("x").By)
			}},
		{"a default that the question does not allow is none",
			runtime.Deadline{Then: "default", Answer: "2"}, thread.StatusFailed,
			thread.InterruptExpired, nil},
		{"reroute sends the work elsewhere", runtime.Deadline{Then: "reroute", Target: "plan"},
			thread.StatusRunning, thread.InterruptAnswered, func(t *testing.T, d *desk) {
				t.Helper()
				assert.Equal(t, "plan", d.thread.Frame("f1").Reply("x").RouteTo)
				assert.Nil(t, d.thread.Frame("f1").Reply("x").Value)
			}},
		{"cancel ends the thread", runtime.Deadline{Then: "cancel"}, thread.StatusCancelled,
			thread.InterruptCancelled, func(t *testing.T, d *desk) {
				t.Helper()
				assert.Equal(t, "no answer to x in time", d.thread.Failure.Text)
			}},
		{"escalate asks somebody else", runtime.Deadline{Then: "escalate", Assignee: "dora"},
			thread.StatusWaiting, thread.InterruptOpen, func(t *testing.T, d *desk) {
				t.Helper()
				assert.Equal(t, []string{"dora"}, d.thread.Open[0].Answerers())
				assert.Equal(t, noon.Add(2*time.Hour), d.thread.Open[0].Due)
				assert.Equal(t, noon.Add(110*time.Minute), d.thread.Open[0].RemindAt)
				assert.Empty(t, d.thread.Open[0].ClaimedBy)
				_, err := d.answer(thread.Answer{Interrupt: "i1", By: "bob", Value: raw("1")})
				assert.Equal(t, runtime.CodeForbidden, runtime.CodeOf(err),
					"the former ones are not asked any more")
				d.now = noon.Add(2 * time.Hour)
				d.do((*thread.Change).ApplyDue)
				assert.Equal(t, thread.InterruptExpired, d.state("i1"), "once: then it expires")
			}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			question := thread.Question{Name: "x", Assignees: []string{"bob", "cid"},
				Schema: raw(`{"enum":[1]}`), Deadline: &tc.policy}
			question.Deadline.After, question.Deadline.Reminder = time.Hour, 10*time.Minute
			d.ask("f1", "agent_question", question)
			require.NoError(t, d.try(func(c *thread.Change) error {
				return c.Claim("i1", "bob", false)
			}))
			for at, said := range map[time.Duration][]thread.EntryType{49 * time.Minute: nil,
				50 * time.Minute: {thread.EntryReminded}} {
				now := d.now
				d.now = noon.Add(at)
				c := thread.NewChange(d.thread, &d.rules, d.now)
				c.ApplyDue()
				assert.Len(t, c.Entries, len(said))
				d.now = now
			}
			d.now = noon.Add(50 * time.Minute)
			d.do((*thread.Change).ApplyDue)
			d.do(func(c *thread.Change) {
				c.ApplyDue()
				assert.True(t, c.Empty(), "a reminder goes out once")
			})
			d.now = noon.Add(time.Hour)
			d.do((*thread.Change).ApplyDue)
			assert.Equal(t, tc.status, d.thread.Status())
			assert.Equal(t, tc.state, d.state("i1"))
			if tc.state != thread.InterruptOpen {
				_, err := d.answer(thread.Answer{Interrupt: "i1", By: "bob", Value: raw("1")})
				require.Error(t, err)
			}
			if tc.holds != nil {
				tc.holds(t, d)
			}
		})
	}
}

func TestOneWhoWasEscalatedToDecidesAlone(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.ask("f1", "agent_question", thread.Question{
		Name: "x", Quorum: 2, Assignees: []string{"bob", "cid"},
		Deadline: &runtime.Deadline{After: time.Hour, Then: "escalate", Assignee: "dora"},
	})
	_, err := d.answer(thread.Answer{By: "bob", Value: raw("1")})
	require.NoError(t, err)
	d.now = noon.Add(time.Hour)
	d.do((*thread.Change).ApplyDue)
	_, err = d.answer(thread.Answer{By: "dora", Value: raw("2")})
	require.NoError(t, err)
	assert.Equal(t, raw("2"), d.thread.Frame("f1").Reply("x").Value)
}

func TestDeadlinesOfOthersAreNotTouched(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	ids := d.spawn("f1", "a", "b", "c")
	short, long := q("x"), q("x")
	short.Deadline = &runtime.Deadline{After: time.Hour, Then: "expire"}
	long.Deadline = &runtime.Deadline{After: 2 * time.Hour, Then: "expire"}
	d.ask(ids[0], "agent_question", short)
	d.ask(ids[1], "agent_question", long)
	none := q("x")
	none.Deadline = &runtime.Deadline{Then: "none"}
	d.ask(ids[2], "agent_question", none)
	d.now = noon.Add(time.Hour)
	d.do((*thread.Change).ApplyDue)
	assert.Equal(t, thread.InterruptOpen, d.state("i2"))
	assert.Equal(t, thread.StatusWaiting, d.thread.Status(), "the parent waits for the other two")
	assert.Equal(t, runtime.CodeExpired, d.thread.Frame("f1").Children[0].Failure.Code,
		"the parent is told")
	d.now = noon.Add(1000 * time.Hour)
	d.do((*thread.Change).ApplyDue)
	assert.Equal(t, thread.InterruptOpen, d.state("i3"), "one without a deadline waits for ever")
}

func TestAPauseHasADeadlineWhereItsKindSaysSo(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		policy runtime.Deadline
		want   thread.Status
	}{
		{runtime.Deadline{Then: "expire"}, thread.StatusRunning},
		{runtime.Deadline{Then: "default", Answer: `"continue"`}, thread.StatusRunning},
		{runtime.Deadline{Then: "default", Answer: `"cancel"`}, thread.StatusCancelled},
		{runtime.Deadline{Then: "default", Answer: `"status"`}, thread.StatusRunning},
		{runtime.Deadline{Then: "default", Answer: `7`}, thread.StatusRunning},
		{runtime.Deadline{Then: "reroute", Target: "plan"}, thread.StatusRunning},
		{runtime.Deadline{Then: "cancel"}, thread.StatusCancelled},
		{runtime.Deadline{Then: "escalate", Assignee: "dora"}, thread.StatusWaiting},
	} {
		table := thread.DefaultKinds()
		tc.policy.After = time.Hour
		table[0].Deadline = &tc.policy
		d := newDesk(t, table...)
		d.pause()
		d.now = noon.Add(time.Hour)
		d.do((*thread.Change).ApplyDue)
		assert.Equal(t, tc.want, d.thread.Status(), "%s %s", tc.policy.Then, tc.policy.Answer)
	}
}

func TestADeadlineThatWasSetByHandExpires(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	i := d.pause()
	require.NoError(t, d.try(func(c *thread.Change) error {
		return c.Extend(i.ID, noon.Add(time.Hour), "ann")
	}))
	d.now = noon.Add(time.Hour)
	d.do((*thread.Change).ApplyDue)
	assert.Equal(t, thread.InterruptExpired, d.state(i.ID))
	assert.Equal(t, thread.StatusRunning, d.thread.Status(), "the work goes on")
}
