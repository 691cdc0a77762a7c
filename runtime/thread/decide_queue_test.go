package thread_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
)

// queued is a desk with an alarm open in one child, and a question queued behind it in another
// since it was asked. held are answers that came before.
func queued(t *testing.T, table []runtime.Kind, x thread.Question, held ...thread.Answer) (
	d *desk, alarm, question *thread.Interrupt) {
	t.Helper()
	d = newDesk(t, append([]runtime.Kind{{Name: "alarm", Clash: "queue"}}, table...)...)
	d.rules.HoldEarly = true
	for _, a := range held {
		_, err := d.answer(a)
		require.NoError(t, err)
	}
	ids := d.spawn("f1", "a", "b", "c")
	alarm = d.ask(ids[0], "alarm", q("alarm"))
	question = d.ask(ids[1], "agent_question", x)
	require.Equal(t, thread.InterruptQueued, question.State)
	d.do(func(c *thread.Change) { c.StepFailed(ids[2], thread.Permanent(errDown), nil) })
	return d, alarm, question
}

// turn ends the alarm, so that the queued question has its turn.
func (d *desk) turn(alarm *thread.Interrupt) {
	d.t.Helper()
	_, err := d.answer(thread.Answer{Interrupt: alarm.ID, Value: raw("0")})
	require.NoError(d.t, err)
}

// A question that was queued from its start meets, when its turn comes, what one meets that opens
// at once: the answer of a policy, or one that came early.
func TestAQueuedQuestionMeetsItsAnswerWhenItsTurnComes(t *testing.T) {
	t.Parallel()
	early := func(by, value string) thread.Answer {
		return thread.Answer{Question: "x", By: by, Value: raw(value), Request: "early of " + by}
	}
	auto := kinds("queue", "queue", "queue")
	auto[1].AutoAnswer, auto[1].AutoWhen = "1", []string{"REVIEW"}
	typed, strict, circle := q("x"), q("x"), q("x")
	typed.Type = "REVIEW"
	strict.Schema = raw(`{"enum":[2]}`)
	circle.Quorum, circle.Assignees = 2, []string{"bob", "cid"}
	const opened, taken, answered, voted = thread.EntryOpened, thread.EntryTaken,
		thread.EntryAnswered, thread.EntryVoted
	for _, tc := range []struct {
		name  string
		table []runtime.Kind
		x     thread.Question
		held  []thread.Answer
		want  thread.InterruptState
		by    string
		said  []thread.EntryType // of the question, up to the one that is queued behind it
	}{
		{"a policy", auto, typed, nil, thread.InterruptAnswered, "policy",
			[]thread.EntryType{opened, answered}},
		{"a policy for others", auto, q("x"), nil, thread.InterruptOpen, "",
			[]thread.EntryType{opened}},
		{"an early answer", kinds("queue", "queue", "queue"), q("x"),
			[]thread.Answer{early("bob", "null")}, thread.InterruptAnswered, "bob",
			[]thread.EntryType{opened, taken, answered}},
		{"a policy before an early answer", auto, typed, []thread.Answer{early("bob", "2")},
			thread.InterruptAnswered, "policy", []thread.EntryType{opened, answered}},
		{"early answers of which one is legal", auto, strict,
			[]thread.Answer{early("bob", "1"), early("cid", "2")}, thread.InterruptAnswered,
			"cid", []thread.EntryType{opened, taken, taken, answered}},
		{"an early answer that is not legal", auto, strict, []thread.Answer{early("bob", "1")},
			thread.InterruptOpen, "", []thread.EntryType{opened, taken}},
		{"two votes", auto, circle, []thread.Answer{early("bob", "1"), early("cid", "1")},
			thread.InterruptAnswered, "cid", []thread.EntryType{opened, taken, voted, taken,
				voted, answered}},
		{"nothing", kinds("queue", "queue", "queue"), q("x"), nil, thread.InterruptOpen, "",
			[]thread.EntryType{opened}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			d, alarm, x := queued(t, tc.table, tc.x, tc.held...)
			assert.Len(t, d.thread.EarlyAnswers, len(tc.held), "they wait with their question")
			failure := d.thread.Open[2]
			require.Equal(t, thread.InterruptQueued, failure.State)
			d.turn(alarm)
			got := d.interrupts[x.ID]
			assert.Equal(t, tc.want, got.State)
			assert.Equal(t, tc.by, got.AnsweredBy)
			said := d.said()
			assert.Equal(t, append([]thread.EntryType{answered}, tc.said...),
				said[:min(len(tc.said)+1, len(said))])
			if tc.by != "policy" {
				assert.Empty(t, d.thread.EarlyAnswers)
			}
			behind := map[thread.InterruptState]thread.InterruptState{
				thread.InterruptAnswered: thread.InterruptOpen,
				thread.InterruptOpen:     thread.InterruptQueued,
			}
			assert.Equal(t, behind[tc.want], d.state(failure.ID),
				"what waits behind it has its turn when it is answered, and not before")
		})
	}
}

// A policy that ends the thread when the turn of a queued failure comes leaves nothing open behind
// it.
func TestAPolicyEndsTheThreadInTheQueue(t *testing.T) {
	t.Parallel()
	table := kinds("queue", "queue", "queue")
	table[2].AutoAnswer = `"abort"`
	d, alarm, x := queued(t, table, q("x"))
	d.turn(alarm)
	require.Equal(t, thread.InterruptOpen, d.state(x.ID))
	_, err := d.answer(thread.Answer{Interrupt: x.ID, Value: raw("1")})
	require.NoError(t, err)
	assert.Equal(t, thread.StatusCancelled, d.thread.Status())
	assert.Equal(t, thread.EntryOver, d.said()[len(d.said())-1], "nothing happens after the end")
}

// What was open before it was queued has met its policy and its early answers, and meets nothing
// that it has not.
func TestAQuestionThatComesBackIsTheSame(t *testing.T) {
	t.Parallel()
	d := newDesk(t, kinds("queue", "queue", "queue")...)
	d.rules.HoldEarly = true
	question := q("x")
	question.Schema = raw(`{"enum":[2]}`)
	_, err := d.answer(thread.Answer{Question: "x", Value: raw("1")})
	require.NoError(t, err)
	i := d.ask("f1", "agent_question", question)
	pause := d.pause()
	require.Equal(t, thread.InterruptQueued, d.state(i.ID))
	_, err = d.answer(thread.Answer{Interrupt: pause.ID, Value: raw(`"continue"`)})
	require.NoError(t, err)
	assert.Equal(t, thread.InterruptOpen, d.state(i.ID))
	assert.NotContains(t, d.said(), thread.EntryTaken)
}

// Early answers have a bound for each thread: one more is refused with what to do, and takes
// nothing from those that are kept.
func TestEarlyAnswersHaveABound(t *testing.T) {
	t.Parallel()
	early := func(n int, value string) thread.Answer {
		return thread.Answer{Question: "x" + strconv.Itoa(n), Value: raw(value)}
	}
	full := func(d *desk, a thread.Answer) {
		d.t.Helper()
		_, err := d.answer(a)
		require.Equal(d.t, runtime.CodeConflict, runtime.CodeOf(err))
		require.ErrorContains(d.t, err, "answer \""+a.Question+"\" when it is asked")
	}
	t.Run("of number", func(t *testing.T) {
		t.Parallel()
		d := newDesk(t)
		d.rules.HoldEarly = true
		for n := range 64 {
			_, err := d.answer(early(n, "1"))
			require.NoError(t, err)
		}
		full(d, early(64, "1"))
		full(d, thread.Answer{Question: "x0", Value: raw("1"), By: "bob"})
		_, err := d.answer(early(3, "2"))
		require.NoError(t, err, "another one of the same giver takes the place of the first")
		assert.Equal(t, thread.InterruptAnswered, d.ask("f1", "agent_question", q("x3")).State)
		_, err = d.answer(early(64, "1"))
		require.NoError(t, err, "there is room again")
	})
	t.Run("of size", func(t *testing.T) {
		t.Parallel()
		d := newDesk(t)
		d.rules.HoldEarly = true
		long := `"` + strings.Repeat("a", 32<<10) + `"`
		_, err := d.answer(early(0, long))
		require.NoError(t, err)
		full(d, early(1, long))
		full(d, thread.Answer{Question: "x1", Value: raw("1"), By: strings.Repeat("b", 32<<10)})
		_, err = d.answer(early(0, `"`+strings.Repeat("b", 60<<10)+`"`))
		require.NoError(t, err, "the one it replaces does not count")
		full(d, early(1, `"`+strings.Repeat("a", 6<<10)+`"`))
	})
}

// An early answer is for the turn it was given in, or for the next where none was going on. No
// later turn, which may ask the same again, takes it for its own.
func TestEarlyAnswersEndWithTheirTurn(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.rules.HoldEarly = true
	early := func(value string) {
		_, err := d.answer(thread.Answer{Question: "x", Value: raw(value)})
		require.NoError(t, err)
	}
	begin := func() string {
		require.NoError(t, d.try(func(c *thread.Change) error {
			return c.Begin("m", "root", nil, "ann", "")
		}))
		return d.thread.Root().ID
	}
	early("1")
	d.do(func(c *thread.Change) { c.Replace("f1", thread.Frame{Machine: "m", Name: "other"}) })
	require.Len(t, d.thread.EarlyAnswers, 1, "the turn goes on elsewhere")
	d.do(func(c *thread.Change) { c.Return("f2", nil) })
	assert.Empty(t, d.thread.EarlyAnswers)
	assert.Equal(t, thread.InterruptOpen, d.ask(begin(), "agent_question", q("x")).State)

	d.do(func(c *thread.Change) { c.Return(d.thread.Root().ID, nil) })
	early("2")
	i := d.ask(begin(), "agent_question", q("x"))
	assert.Equal(t, thread.InterruptAnswered, i.State, "between two turns it is for the next")
	assert.Equal(t, raw("2"), i.Answer)
}

// What could not be answered in time waits: a deadline set by hand that came in the queue is none
// any more.
func TestADeadlineThatCameInTheQueueDoesNotCount(t *testing.T) {
	t.Parallel()
	d := newDesk(t, kinds("queue", "queue", "queue")...)
	question := q("x")
	question.Deadline = &runtime.Deadline{Then: "none"}
	i := d.ask("f1", "agent_question", question)
	extend := func(until time.Time) {
		require.NoError(t, d.try(func(c *thread.Change) error {
			return c.Extend(i.ID, until, "ann")
		}))
	}
	extend(noon.Add(time.Hour))
	pause := d.pause()
	d.now = noon.Add(2 * time.Hour)
	d.do((*thread.Change).ApplyDue)
	require.Equal(t, thread.InterruptQueued, d.state(i.ID))
	_, err := d.answer(thread.Answer{Interrupt: pause.ID, Value: raw(`"continue"`)})
	require.NoError(t, err)
	d.do((*thread.Change).ApplyDue)
	assert.Equal(t, thread.InterruptOpen, d.state(i.ID), "nobody has seen it since")
	assert.Zero(t, d.interrupts[i.ID].Due)
	assert.Zero(t, d.thread.Wake())
	extend(noon.Add(3 * time.Hour))
	d.now = noon.Add(3 * time.Hour)
	d.do((*thread.Change).ApplyDue)
	assert.Equal(t, thread.InterruptExpired, d.state(i.ID), "one that is set now holds")
}
