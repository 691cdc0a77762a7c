package thread_test

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
)

// kinds are the three default ones, with a clash rule each.
func kinds(escape, question, failure string) []runtime.Kind {
	out := thread.DefaultKinds()
	out[0].Clash, out[1].Clash, out[2].Clash = escape, question, failure
	return out
}

// withDayDeadline returns the kinds with a deadline of a day for the questions of the work.
func withDayDeadline(kinds []runtime.Kind) []runtime.Kind {
	kinds[1].Deadline = &runtime.Deadline{After: 24 * time.Hour, Then: "expire"}
	return kinds
}

// names are of kinds in the order of their urgency.
var names = []string{"user_escape", "agent_question", "system_error"}

func TestEveryKindMeetsEveryKindUnderBothRules(t *testing.T) {
	t.Parallel()
	for first := range names {
		for second := range names {
			for _, rule := range []string{"queue", "supersede"} {
				t.Run(fmt.Sprintf("%s is open and %s comes: %s", names[first], names[second], rule),
					func(t *testing.T) {
						t.Parallel()
						rules := []string{"queue", "queue", "queue"}
						rules[min(first, second)] = rule // the rule of the more urgent one decides
						d := newDesk(t, kinds(rules[0], rules[1], rules[2])...)
						ids := d.spawn("f1", "a", "b")
						one := d.ask(ids[0], names[first], q("one"))
						two := d.ask(ids[1], names[second], q("two"))
						lost := map[string]thread.InterruptState{"queue": thread.InterruptQueued,
							"supersede": thread.InterruptSuperseded}[rule]
						switch {
						case first == second:
							assert.Equal(t, thread.InterruptOpen, d.state(one.ID),
								"siblings ask at the same time")
							assert.Equal(t, thread.InterruptOpen, d.state(two.ID))
						case first < second:
							assert.Equal(t, thread.InterruptOpen, d.state(one.ID))
							clashed(t, d, two.ID, one.ID, lost, ids[1])
						default:
							assert.Equal(t, thread.InterruptOpen, d.state(two.ID))
							clashed(t, d, one.ID, two.ID, lost, ids[0])
						}
					})
			}
		}
	}
}

// clashed holds the loser of a clash, and ends its winner.
func clashed(t *testing.T, d *desk, loser, winner string, lost thread.InterruptState,
	frame string) {
	t.Helper()
	require.Equal(t, lost, d.state(loser))
	entry := d.log[len(d.log)-1]
	if entry.Type != thread.EntryAsked || lost == thread.InterruptSuperseded {
		assert.Equal(t, winner, entry.Other, "the log names the winner")
	}
	_, err := d.answer(thread.Answer{Interrupt: loser, Value: raw("1")})
	if lost == thread.InterruptQueued {
		assert.Equal(t, runtime.CodeConflict, runtime.CodeOf(err), "it has to wait")
		assert.Equal(t, thread.FrameAsking, d.thread.Frame(frame).State)
	} else {
		assert.Equal(t, runtime.CodeNotFound, runtime.CodeOf(err))
		_, err = thread.Closed(d.interrupts[loser], &thread.Answer{Value: raw("1")})
		assert.Equal(t, runtime.CodeSuperseded, runtime.CodeOf(err))
		assert.Equal(t, thread.FrameHeld, d.thread.Frame(frame).State)
		assert.Equal(t, winner, d.interrupts[loser].SupersededBy)
		assert.Equal(t, d.now, d.interrupts[loser].ClosedAt)
	}
	d.do(func(c *thread.Change) { c.Return(d.interrupts[winner].Frame, nil) })
	if lost == thread.InterruptQueued {
		assert.Equal(t, thread.InterruptOpen, d.state(loser), "its turn has come")
		return
	}
	assert.Equal(t, thread.FrameReady, d.thread.Frame(frame).State, "the asker may ask anew")
	again := d.ask(frame, "agent_question", q("again"))
	assert.Equal(t, thread.InterruptOpen, again.State)
	assert.NotEqual(t, loser, again.ID)
}

func TestTheQueueKeepsItsOrder(t *testing.T) {
	t.Parallel()
	d := newDesk(t, withDayDeadline(kinds("queue", "queue", "queue"))...)
	ids := d.spawn("f1", "a", "b", "c", "d", "e")
	low := d.ask(ids[0], "system_error", q("low"))
	one := d.ask(ids[1], "agent_question", q("one"))
	two := d.ask(ids[2], "agent_question", q("two"))
	top := d.ask(ids[3], "user_escape", q("top"))
	three := d.ask(ids[4], "agent_question", q("three"))
	assert.Equal(t, []thread.EntryType{thread.EntryAsked}, d.said())
	d.now = d.now.Add(30 * time.Hour)
	d.do(func(c *thread.Change) { c.Return(ids[3], nil) })
	var opened []string
	for _, e := range d.last.Entries {
		if e.Type == thread.EntryOpened {
			opened = append(opened, e.Interrupt)
		}
	}
	assert.Equal(t, []string{one.ID, two.ID, three.ID}, opened,
		"the more urgent kind first, in the order asked")
	assert.Equal(t, thread.InterruptQueued, d.state(low.ID))
	assert.Equal(t, thread.InterruptCancelled, d.state(top.ID))
	assert.Equal(t, d.now.Add(24*time.Hour), d.interrupts[one.ID].Due,
		"the time in the queue does not count")
	for _, i := range []*thread.Interrupt{one, two, three} {
		assert.Equal(t, thread.InterruptQueued, d.state(low.ID))
		_, err := d.answer(thread.Answer{Interrupt: i.ID, Value: raw("1")})
		require.NoError(t, err)
	}
	assert.Equal(t, thread.InterruptOpen, d.state(low.ID))
}

func TestOneStepAsksQuestionsOfTwoKinds(t *testing.T) {
	t.Parallel()
	urgent := []runtime.Kind{{Name: "alarm", Clash: "supersede"},
		{Name: "agent_question", Clash: "queue"}}
	for _, order := range [][2]string{{"alarm", "agent_question"}, {"agent_question", "alarm"}} {
		d := newDesk(t, urgent...)
		d.do(func(c *thread.Change) {
			c.Ask("f1", order[0], q(order[0]))
			c.Ask("f1", order[1], q(order[1]))
		})
		require.Len(t, d.thread.Open, 1)
		assert.Equal(t, "alarm", d.thread.Open[0].Kind)
		_, err := d.answer(thread.Answer{Value: raw("1")})
		require.NoError(t, err)
		f := d.thread.Frame("f1")
		assert.Equal(t, thread.FrameReady, f.State)
		assert.NotNil(t, f.Reply("alarm"),
			"the answer is there, whatever the clash did to the other question")
		assert.Nil(t, f.Reply("agent_question"), "it is asked again")
	}
}

func TestAHoldEndsWithTheInterruptThatHolds(t *testing.T) {
	t.Parallel()
	urgent := []runtime.Kind{{Name: "alarm", Clash: "supersede"},
		{Name: "agent_question", Clash: "queue"},
		{Name: "system_error", Retry: &runtime.Retry{Attempts: 2, First: time.Hour}}}
	t.Run("though the frame asks something else meanwhile", func(t *testing.T) {
		t.Parallel()
		d := newDesk(t, urgent...)
		d.do(func(c *thread.Change) {
			c.Ask("f1", "alarm", q("x"))
			c.Ask("f1", "agent_question", q("y"))
			c.Ask("f1", "alarm", q("z"))
		})
		for _, name := range []string{"x", "z"} {
			assert.Equal(t, thread.FrameAsking, d.thread.Frame("f1").State)
			_, err := d.answer(thread.Answer{Question: name, Value: raw("1")})
			require.NoError(t, err)
		}
		assert.Equal(t, thread.FrameReady, d.thread.Frame("f1").State)
	})
	t.Run("and a step that failed beside waits for its own time", func(t *testing.T) {
		t.Parallel()
		d := newDesk(t, urgent...)
		ids := d.spawn("f1", "a", "b")
		d.ask(ids[0], "alarm", q("x"))
		d.do(func(c *thread.Change) {
			c.Ask(ids[1], "agent_question", q("y"))
			c.StepFailed(ids[1], errDown, nil)
		})
		_, err := d.answer(thread.Answer{Value: raw("1")})
		require.NoError(t, err)
		assert.Equal(t, thread.FrameRetrying, d.thread.Frame(ids[1]).State)
	})
}

func TestAStepWithSeveralQuestionsRunsWhenAllAreAnswered(t *testing.T) {
	t.Parallel()
	runs := 0
	permutations(3, func(order []int) {
		runs++
		d := newDesk(t)
		d.ask("f1", "agent_question", q("0"), q("1"), q("2"))
		_, err := d.answer(thread.Answer{Value: raw("9")})
		require.Equal(t, runtime.CodeAmbiguous, runtime.CodeOf(err))
		require.ErrorContains(t, err, "3 interrupts are open, name one: i1, i2, i3")
		for n, k := range order {
			assert.Equal(t, thread.StatusWaiting, d.thread.Status())
			a := thread.Answer{Question: strconv.Itoa(k), Value: raw(strconv.Itoa(k))}
			if n == 1 {
				a = thread.Answer{Interrupt: fmt.Sprint("i", k+1), Value: a.Value}
			}
			_, err := d.answer(a)
			require.NoError(t, err)
		}
		assert.Equal(t, thread.StatusRunning, d.thread.Status())
		for _, name := range []string{"0", "1", "2"} {
			assert.Equal(t, raw(name), d.thread.Frame("f1").Reply(name).Value, "each gets its own")
		}
	})
	assert.Equal(t, 6, runs)
}

func TestDecidePolicyAnswers(t *testing.T) {
	t.Parallel()
	auto := func(kind string, answer string, when ...string) []runtime.Kind {
		out := thread.DefaultKinds()
		for n := range out {
			if out[n].Name == kind {
				out[n].AutoAnswer, out[n].AutoWhen = answer, when
			}
		}
		return out
	}
	typed := q("x")
	typed.Type = "REVIEW"
	t.Run("it answers at once", func(t *testing.T) {
		t.Parallel()
		d := newDesk(t, auto("agent_question", "false")...)
		i := d.ask("f1", "agent_question", q("x"))
		assert.Equal(t, thread.InterruptAnswered, i.State)
		assert.Equal(t, "policy", i.AnsweredBy)
		assert.Equal(t, thread.StatusRunning, d.thread.Status())
		assert.Equal(t, raw("false"), d.thread.Frame("f1").Reply("x").Value)
	})
	t.Run("it answers the types it names only", func(t *testing.T) {
		t.Parallel()
		d := newDesk(t, auto("agent_question", "1", "REVIEW")...)
		assert.Equal(t, thread.InterruptAnswered, d.ask("f1", "agent_question", typed).State)
		assert.Equal(t, thread.InterruptOpen, d.ask("f1", "agent_question", q("y")).State)
	})
	t.Run("what it answers displaces nothing", func(t *testing.T) {
		t.Parallel()
		table := auto("agent_question", "1")
		table[1].Clash = "supersede"
		d := newDesk(t, table...)
		ids := d.spawn("f1", "a", "b")
		low := d.ask(ids[0], "system_error", q("low"))
		d.ask(ids[1], "agent_question", q("x"))
		assert.Equal(t, thread.InterruptOpen, d.state(low.ID))
	})
	t.Run("an answer that the question does not allow is none", func(t *testing.T) {
		t.Parallel()
		d := newDesk(t, auto("agent_question", "1")...)
		question := q("x")
		question.Schema = raw(`{"enum":[2]}`)
		assert.Equal(t, thread.InterruptOpen, d.ask("f1", "agent_question", question).State)
	})
	t.Run("an escape that a policy continues pauses nothing", func(t *testing.T) {
		t.Parallel()
		d := newDesk(t, auto("user_escape", `"continue"`)...)
		d.do(func(c *thread.Change) { _, _ = c.Escape(thread.EscapeSafe, "ann", ""); c.Pause() })
		assert.Equal(t, []thread.EntryType{thread.EntryEscape, thread.EntryAsked,
			thread.EntryAnswered, thread.EntryResumed}, d.said())
		assert.Equal(t, thread.StatusRunning, d.thread.Status())
	})
	t.Run("an escape that a policy cancels ends the thread", func(t *testing.T) {
		t.Parallel()
		d := newDesk(t, auto("user_escape", `"cancel"`)...)
		d.do(func(c *thread.Change) { _, _ = c.Escape(thread.EscapeSafe, "ann", ""); c.Pause() })
		assert.Equal(t, thread.EntryOver, d.said()[len(d.said())-1],
			"nothing happens after the end")
	})
	t.Run("no policy settles an effect in doubt with an order it does not offer",
		func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, auto("system_error", `"retry"`)...)
			intend(d, "charge")
			d.do(func(c *thread.Change) { assert.True(t, c.MarkInDoubt("f1")) })
			assert.Equal(t, thread.InterruptOpen, d.state("i1"))
		})
	t.Run("a policy that ends the frame leaves no question about its other effects",
		func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, auto("system_error", `"abort"`)...)
			intend(d, "charge", "mail")
			d.do(func(c *thread.Change) { assert.True(t, c.MarkInDoubt("f1")) })
			assert.Equal(t, thread.StatusCancelled, d.thread.Status())
		})
}

// intend lets the step of f1 begin effects.
func intend(d *desk, effects ...string) {
	d.do(func(c *thread.Change) {
		for _, name := range effects {
			c.Add(thread.Entry{Type: thread.EntryEffect, Frame: "f1", Name: name,
				State: thread.EffectIntended})
		}
	})
}

func TestEarlyAnswers(t *testing.T) {
	t.Parallel()
	early := thread.Answer{Question: "x", Value: raw("null"), By: "bob", Request: "r1"}
	t.Run("are refused where nobody wants them", func(t *testing.T) {
		t.Parallel()
		_, err := newDesk(t).answer(early)
		assert.Equal(t, runtime.CodeNotFound, runtime.CodeOf(err))
	})
	t.Run("meet their question", func(t *testing.T) {
		t.Parallel()
		d := newDesk(t)
		d.rules.HoldEarly = true
		got, err := d.answer(early)
		require.NoError(t, err)
		assert.Nil(t, got, "there is no interrupt yet")
		assert.Equal(t, []thread.EarlyAnswer{{Name: "x", Value: raw("null"), By: "bob",
			Request: "r1"}},
			d.thread.EarlyAnswers)
		assert.Equal(t, thread.InterruptOpen, d.ask("f1", "agent_question", q("y")).State,
			"another question does not take it")
		assert.Equal(t, thread.InterruptAnswered, d.ask("f1", "agent_question", q("x")).State)
		assert.Equal(t, "bob", d.thread.Frame("f1").Reply("x").By)
		assert.Empty(t, d.thread.EarlyAnswers, "it is used once")
		assert.Equal(t, thread.InterruptOpen, d.ask("f1", "agent_question", q("x")).State)
	})
	t.Run("the last one counts", func(t *testing.T) {
		t.Parallel()
		d := newDesk(t)
		d.rules.HoldEarly = true
		for n := range 3 {
			_, err := d.answer(thread.Answer{Question: "x", Value: raw(strconv.Itoa(n))})
			require.NoError(t, err)
		}
		assert.Equal(t, []thread.EarlyAnswer{{Name: "x", Value: raw("2")}}, d.thread.EarlyAnswers)
	})
	t.Run("nobody takes the place of somebody else's", func(t *testing.T) {
		t.Parallel()
		d := newDesk(t)
		d.rules.HoldEarly = true
		for _, a := range []thread.Answer{
			{By: "ann", Value: raw("1")}, {By: "bob", Value: raw("2")}, {By: "", Value: raw("3")},
			{By: "eve", Value: raw("4")}, {By: "bob", Value: raw("5")},
		} {
			a.Question = "x"
			_, err := d.answer(a)
			require.NoError(t, err)
		}
		assert.Equal(t, []thread.EarlyAnswer{
			{Name: "x", Value: raw("1"), By: "ann"}, {Name: "x", Value: raw("5"), By: "bob"},
			{Name: "x", Value: raw("3")},
			{Name: "x", Value: raw("4"), By: "eve"},
		}, d.thread.EarlyAnswers, "each has one, and of his own the last counts")
		question := q("x")
		question.Assignees, question.Schema = []string{"ann", "bob", "eve"}, raw(`{"enum":[3,4,5]}`)
		i := d.ask("f1", "agent_question", question)
		assert.Equal(t, thread.InterruptAnswered, i.State)
		assert.Equal(t, [2]string{"bob", "5"}, [2]string{i.AnsweredBy, string(i.Answer)},
			"the first that is legal: ann's value is not, eve came later")
		assert.Equal(t, []thread.EntryType{thread.EntryAsked, thread.EntryTaken,
			thread.EntryTaken, thread.EntryAnswered}, d.said())
		assert.Empty(t, d.thread.EarlyAnswers, "they were for this question")
	})
	t.Run("each is a vote where several are needed", func(t *testing.T) {
		t.Parallel()
		d := newDesk(t)
		d.rules.HoldEarly = true
		for by, value := range map[string]string{"bob": "1", "cid": "1", "eve": "1"} {
			_, err := d.answer(thread.Answer{Question: "x", By: by, Value: raw(value)})
			require.NoError(t, err)
		}
		question := q("x")
		question.Quorum, question.Assignees = 2, []string{"bob", "cid", "dan"}
		i := d.ask("f1", "agent_question", question)
		assert.Equal(t, thread.InterruptAnswered, i.State)
		assert.Len(t, i.Votes, 2)
	})
	t.Run("one that its question refuses is used up, and the question stays open",
		func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			d.rules.HoldEarly = true
			_, err := d.answer(early)
			require.NoError(t, err)
			question := q("x")
			question.Assignees = []string{"ann"}
			assert.Equal(t, thread.InterruptOpen, d.ask("f1", "agent_question", question).State)
			assert.Empty(t, d.thread.EarlyAnswers)
			assert.Equal(t, []thread.EntryType{thread.EntryAsked, thread.EntryTaken}, d.said())
		})
	t.Run("an answer to a queued question is not early", func(t *testing.T) {
		t.Parallel()
		d := newDesk(t, kinds("queue", "queue", "queue")...)
		d.rules.HoldEarly = true
		ids := d.spawn("f1", "a", "b")
		d.ask(ids[0], "user_escape", q("top"))
		d.ask(ids[1], "agent_question", q("x"))
		_, err := d.answer(early)
		assert.Equal(t, runtime.CodeConflict, runtime.CodeOf(err),
			"it would be taken for an answer to the next question of that name")
	})
	for why, a := range map[string]thread.Answer{
		"nobody can settle a failure before it happens": {Question: "system_error",
			Value: raw(`"retry"`)},
		"nobody can answer for an effect before it is doubted": {Question: "in_doubt/charge",
			Value: raw(`"run"`)},
		"nobody can end a pause before it begins": {Question: "user_escape",
			Value: raw(`"cancel"`)},
		"plain text cannot be read without its question":  {Question: "x", Text: "yes"},
		"a target cannot be checked without its question": {Question: "x", RouteTo: "a"},
		"two answers are none": {Question: "x", RouteTo: "a",
			Value: raw("1")},
		"it must name a question": {Value: raw("1")},
		"it must be JSON":         {Question: "x", Value: raw("{")},
	} {
		t.Run(why, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			d.rules.HoldEarly = true
			_, err := d.answer(a)
			require.Error(t, err)
			assert.Empty(t, d.thread.EarlyAnswers)
		})
	}
}

func TestTheDigestBindsToWhatWasShown(t *testing.T) {
	t.Parallel()
	base := func() thread.Question {
		return thread.Question{
			Name: "x", Text: "Pay?", Type: "A", Payload: raw(`{"sum":1,"to":"<ann>"}`),
			Schema:  raw(`{}`),
			Choices: []thread.Choice{{Label: "a", Value: raw("1"), Description: "d"}},
			Targets: []string{"t"},
		}
	}
	first := base()
	want := thread.DigestOf(&first)
	assert.Len(t, want, 32)
	for what, change := range map[string]func(*thread.Question){
		"name": func(q *thread.Question) { q.Name = "y" }, "text": func(q *thread.Question) {
			q.Text = "Pay!"
		},
		"type": func(q *thread.Question) { q.Type = "B" }, "payload": func(q *thread.Question) {
			q.Payload = raw(`{"sum":2,"to":"<ann>"}`)
		},
		"schema": func(q *thread.Question) { q.Schema = nil }, "label": func(q *thread.Question) {
			q.Choices[0].Label = "b"
		},
		"value":       func(q *thread.Question) { q.Choices[0].Value = raw(`"1"`) },
		"description": func(q *thread.Question) { q.Choices[0].Description = "" },
		"targets":     func(q *thread.Question) { q.Targets = nil },
		"no JSON":     func(q *thread.Question) { q.Payload = raw("{") },
		"a choice that looks like targets": func(q *thread.Question) {
			q.Choices, q.Targets = nil, []string{"a", "1", "d", "t"}
		},
	} {
		other := base()
		change(&other)
		assert.NotEqual(t, want, thread.DigestOf(&other), what)
	}
	same := base()
	same.Payload = raw(" {\"sum\": 1,\n\"to\":\"<ann>\"}")
	assert.Equal(t, want, thread.DigestOf(&same), "spaces do not count")
}
