package thread_test

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
)

func TestClaims(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	i := d.ask("f1", "agent_question", guarded())
	claim := func(id, by string, release bool) runtime.Code {
		return runtime.CodeOf(d.try(func(c *thread.Change) error {
			return c.Claim(id, by, release)
		}))
	}
	for _, step := range []struct {
		why, id, by string
		release     bool
		want        runtime.Code
		has         string
	}{
		{"somebody must claim it", i.ID, "", false, runtime.CodeInvalid, ""},
		{"what is not there cannot be claimed", "i9", "bob", false, runtime.CodeNotFound, ""},
		{"a stranger cannot claim it", i.ID, "eve", false, runtime.CodeForbidden, ""},
		{"who may not answer his own request cannot keep it from the others", i.ID, "ann", false,
			runtime.CodeForbidden, ""},
		{"bob has it", i.ID, "bob", false, "", "bob"},
		{"bob still has it", i.ID, "bob", false, "", "bob"},
		{"cid cannot take it", i.ID, "cid", false, runtime.CodeConflict, "bob"},
		{"cid cannot lay it down", i.ID, "cid", true, runtime.CodeConflict, "bob"},
		{"bob lays it down", i.ID, "bob", true, "", ""},
		{"twice", i.ID, "bob", true, "", ""},
		{"cid has it", i.ID, "cid", false, "", "cid"},
	} {
		assert.Equal(t, step.want, claim(step.id, step.by, step.release), step.why)
		assert.Equal(t, step.has, d.interrupts[i.ID].ClaimedBy, step.why)
	}
	d.now = d.now.Add(time.Hour)
	assert.Equal(t, runtime.CodeExpired, claim(i.ID, "cid", true))
}

// A claim ends by itself, and may be taken over before: the log says from whom.
func TestAClaimEndsAndIsTakenOver(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	question := guarded()
	question.Deadline = nil
	i := d.ask("f1", "agent_question", question)
	last := func() *thread.Entry { return &d.log[len(d.log)-1] }
	claim := func(by string) error {
		return d.try(func(c *thread.Change) error { return c.Claim(i.ID, by, false) })
	}
	require.NoError(t, claim("bob"))
	ends := d.now.Add(thread.ClaimFor)
	assert.Equal(t, ends, d.interrupts[i.ID].ClaimedUntil)
	before := len(d.log)
	require.NoError(t, claim("bob"))
	assert.Len(t, d.log, before, "it is as good as new")
	d.now = d.now.Add(thread.ClaimFor/2 + time.Minute)
	require.NoError(t, claim("bob"))
	assert.Greater(t, d.interrupts[i.ID].ClaimedUntil, ends, "it lasts as long anew")

	err := claim("cid")
	assert.Equal(t, runtime.CodeConflict, runtime.CodeOf(err))
	assert.ErrorContains(t, err, "claimed by bob until 20")
	take := func(by string) runtime.Code {
		return runtime.CodeOf(d.try(func(c *thread.Change) error { return c.TakeOver(i.ID, by) }))
	}
	assert.Equal(t, runtime.CodeInvalid, take(""))
	assert.Equal(t, runtime.CodeForbidden, take("eve"), "who may not answer it takes nothing over")
	assert.Equal(t, runtime.Code(""), take("cid"))
	assert.Equal(t, []string{"cid", "bob"}, []string{last().Name, last().Other})
	assert.Equal(t, "cid", d.interrupts[i.ID].ClaimedAt(d.now))

	d.now = d.now.Add(thread.ClaimFor)
	assert.Empty(t, d.interrupts[i.ID].ClaimedAt(d.now), "it has ended")
	require.NoError(t, claim("bob"))
	assert.Equal(t, []string{"bob", "cid"}, []string{last().Name, last().Other})
	d.now = d.now.Add(thread.ClaimFor)
	_, err = d.answer(thread.Answer{By: "cid", Value: raw("1")})
	require.NoError(t, err, "a claim that has ended keeps nobody from answering")

	i = &thread.Interrupt{ClaimedBy: "ann"} // of an older program
	assert.Equal(t, "ann", i.ClaimedAt(d.now.Add(1000*time.Hour)), "it has no end")
}

// Who may give no orders answers what handlers ask, and nothing that the engine asks.
func TestWhoMayGiveNoOrders(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.do(func(c *thread.Change) { c.StepFailed("f1", thread.Permanent(errors.New("x")), nil) })
	for _, a := range []thread.Answer{
		{Value: raw(`{"choice":"skip","value":"forged"}`)}, {Text: "abort"},
		{Question: "system_error", Text: "abort"}, {Text: "what?"},
	} {
		a.By, a.NoOrders = "bob", true
		before := len(d.log)
		_, err := d.answer(a)
		assert.Equal(t, runtime.CodeForbidden, runtime.CodeOf(err), "%+v: %v", a, err)
		assert.Len(t, d.log, before)
	}
	_, err := d.answer(thread.Answer{Text: "abort", By: "bob"})
	require.NoError(t, err, "the control")

	d = newDesk(t)
	d.ask("f1", "agent_question", q("x"))
	_, err = d.answer(thread.Answer{Value: raw("1"), By: "bob", NoOrders: true})
	require.NoError(t, err, "a handler asks this")
}

func TestExtend(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	question := guarded()
	question.Deadline.Reminder = 10 * time.Minute
	i := d.ask("f1", "agent_question", question)
	extend := func(id string, until time.Time, by string) runtime.Code {
		return runtime.CodeOf(d.try(func(c *thread.Change) error {
			return c.Extend(id, until, by)
		}))
	}
	assert.Equal(t, runtime.CodeNotFound, extend("i9", noon.Add(time.Hour), "bob"))
	assert.Equal(t, runtime.CodeForbidden, extend(i.ID, noon.Add(time.Hour), "eve"))
	assert.Equal(t, runtime.CodeInvalid, extend(i.ID, noon, "bob"))
	assert.Equal(t, runtime.Code(""),
		extend(i.ID, noon.Add(3*time.Hour).In(time.FixedZone("x", 60)), "bob"))
	assert.Equal(t, noon.Add(3*time.Hour), d.interrupts[i.ID].Due)
	assert.Equal(t, noon.Add(170*time.Minute), d.interrupts[i.ID].RemindAt,
		"the reminder moves along")
	d.now = noon.Add(2 * time.Hour)
	_, err := d.answer(thread.Answer{By: "bob", Value: raw("1")})
	require.NoError(t, err)

	d = newDesk(t)
	i = d.ask("f1", "agent_question", question)
	d.now = noon.Add(time.Hour)
	assert.Equal(t, runtime.CodeExpired, extend(i.ID, noon.Add(3*time.Hour), "bob"),
		"whether the deadline was seen to yet or not")
}

// A deadline that a person chose is still there when the question comes out of the queue, and a
// reminder of it does not go out again.
func TestAChosenDeadlineOutlivesTheQueue(t *testing.T) {
	t.Parallel()
	hour := func(n int) time.Time { return noon.Add(time.Duration(n) * time.Hour) }
	for _, tc := range []struct {
		name   string
		policy *runtime.Deadline
		until  time.Time
		back   time.Time // from the queue
		want   time.Time
		remind time.Time
	}{
		{"extended beyond what the policy gives",
			&runtime.Deadline{After: time.Hour, Then: "expire", Reminder: time.Minute}, hour(9),
			hour(2), hour(9), hour(9).Add(-time.Minute)},
		{"the policy gives more by now", &runtime.Deadline{After: time.Hour, Then: "expire",
			Reminder: time.Minute}, hour(2), hour(5), hour(6), hour(6).Add(-time.Minute)},
		{"extended, and reminded of already", &runtime.Deadline{After: time.Hour, Then: "expire",
			Reminder: 9 * time.Hour}, hour(9), hour(2), hour(9), time.Time{}},
		{"set by hand", &runtime.Deadline{Then: "none"}, hour(3), hour(1), hour(3), time.Time{}},
		{"nobody set one", &runtime.Deadline{Then: "none"}, time.Time{}, hour(1), time.Time{},
			time.Time{}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, kinds("queue", "queue", "queue")...)
			question := q("x")
			question.Deadline = tc.policy
			i := d.ask("f1", "agent_question", question)
			if !tc.until.IsZero() {
				require.NoError(t, d.try(func(c *thread.Change) error {
					return c.Extend(i.ID, tc.until, "ann")
				}))
			}
			d.do((*thread.Change).ApplyDue) // a reminder that is due goes out
			pause := d.pause()
			require.Equal(t, thread.InterruptQueued, d.state(i.ID))
			d.now = tc.back
			_, err := d.answer(thread.Answer{Interrupt: pause.ID, Value: raw(`"continue"`)})
			require.NoError(t, err)
			assert.Equal(t, thread.InterruptOpen, d.state(i.ID))
			assert.Equal(t, tc.want, d.interrupts[i.ID].Due)
			assert.Equal(t, tc.remind, d.interrupts[i.ID].RemindAt)
		})
	}
}

func FuzzAnswer(f *testing.F) {
	for _, seed := range []string{"1", "null", `""`, `{"a":[]}`, `{"a":1,"a":2}`, `"retry"`,
		`{"choice":"edit","input":null}`, "{", "\xff", "[[[[", "1 2"} {
		for kind := range byte(6) {
			f.Add([]byte(seed), "yes", kind)
		}
	}
	f.Fuzz(func(t *testing.T, value []byte, text string, kind byte) {
		d := newDesk(t)
		switch kind % 6 {
		case 0:
			d.ask("f1", "agent_question", q("x"))
		case 1:
			d.ask("f1", "agent_question", thread.Question{Name: "x", Quorum: 2})
		case 2:
			d.ask("f1", "agent_question",
				thread.Question{Name: "x",
					Plain: []string{"text", "yes_no", "choice"}[len(text)%3]})
		case 3:
			d.do(func(c *thread.Change) {
				c.StepFailed("f1", thread.Permanent(errors.New(text)), []string{text})
			})
		case 4:
			intend(d, text)
			d.do(func(c *thread.Change) { c.MarkInDoubt("f1") })
		default:
			d.do(func(c *thread.Change) {
				_, _ = c.Escape(thread.EscapeNow, text, text)
				c.Pause()
			})
		}
		got, err := d.answer(thread.Answer{Interrupt: "i1", Value: value, By: "bob"})
		if err == nil {
			require.True(t, json.Valid(value))
			require.NotNil(t, got)
		}
		d.rules.HoldEarly = true
		_, _ = d.answer(thread.Answer{Question: text, Value: value})
		for range 4 {
			_, _ = d.answer(thread.Answer{Text: text, By: "bob"}) // the desk looks
		}
		_, _ = thread.Closed(d.interrupts["i1"],
			&thread.Answer{Value: value, Text: text, By: "bob"})
	})
}
