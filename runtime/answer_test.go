package runtime_test

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
)

// guarded is a question with every lock there is.
func guarded() runtime.Question {
	return runtime.Question{
		Name: "x", Schema: raw(`{"enum":[1,"yes",false]}`), Assignees: []string{"ann", "bob", "cid"}, NotOwn: true, Targets: []string{"plan"},
		Deadline: &runtime.Deadline{After: time.Hour, Then: "expire"},
	}
}

func TestTheFirstThingWrongIsReported(t *testing.T) {
	t.Parallel()
	const late, queued, claimed = 1, 2, 4
	for _, tc := range []struct {
		name  string
		setup int
		a     runtime.Answer
		code  runtime.Code
		text  string
	}{
		{"an unknown id, before all that is wrong with the rest", late | claimed, runtime.Answer{Interrupt: "i9", By: "eve", Digest: "d", Value: raw("{")}, runtime.CodeNotFound, "no interrupt i9"},
		{"an unknown name too", late, runtime.Answer{Question: "z", By: "eve", Value: raw("{")}, runtime.CodeNotFound, `does not ask "z"`},
		{"that it is queued, before its deadline and the rest", late | queued, runtime.Answer{Interrupt: "i1", By: "eve", Digest: "d", Value: raw("{")}, runtime.CodeConflict, "more urgent"},
		{"the deadline, before who answers", late | claimed, runtime.Answer{Interrupt: "i1", By: "eve", Digest: "d", Value: raw("{")}, runtime.CodeExpired, "2026-03-01T13:00:00Z"},
		{"that nobody is named, before what was shown", 0, runtime.Answer{Interrupt: "i1", Digest: "d", Value: raw("{")}, runtime.CodeForbidden, "say who"},
		{"who answers, before what was shown", 0, runtime.Answer{Interrupt: "i1", By: "eve", Digest: "d", Value: raw("{")}, runtime.CodeForbidden, "eve"},
		{"one's own request, before a claim", claimed, runtime.Answer{Interrupt: "i1", By: "ann", Digest: "d", Value: raw("{")}, runtime.CodeForbidden, "own request"},
		{"a claim, before what was shown", claimed, runtime.Answer{Interrupt: "i1", By: "cid", Digest: "d", Value: raw("{")}, runtime.CodeForbidden, "bob has it"},
		{"what was shown, before the value", 0, runtime.Answer{Interrupt: "i1", By: "bob", Digest: "d", Value: raw("{")}, runtime.CodeConflict, "something else"},
		{"what was shown, before the target", 0, runtime.Answer{Interrupt: "i1", By: "bob", Digest: "d", RouteTo: "moon"}, runtime.CodeConflict, "something else"},
		{"two answers in one", 0, runtime.Answer{Interrupt: "i1", By: "bob", RouteTo: "plan", Value: raw("1")}, runtime.CodeInvalid, "more than one"},
		{"two answers in one, text too", 0, runtime.Answer{Interrupt: "i1", By: "bob", Text: "yes", Value: raw("1")}, runtime.CodeInvalid, "more than one"},
		{"an illegal target", 0, runtime.Answer{Interrupt: "i1", By: "bob", RouteTo: "moon"}, runtime.CodeNoRoute, "moon"},
		{"no answer at all", 0, runtime.Answer{Interrupt: "i1", By: "bob"}, runtime.CodeInvalid, "no answer"},
		{"text where none is taken", 0, runtime.Answer{Interrupt: "i1", By: "bob", Text: "yes"}, runtime.CodeInvalid, "takes no plain text"},
		{"what is no JSON, before the schema", 0, runtime.Answer{Interrupt: "i1", By: "bob", Value: raw("{")}, runtime.CodeInvalid, "expected"},
		{"a double key", 0, runtime.Answer{Interrupt: "i1", By: "bob", Value: raw(`{"a":1,"a":2}`)}, runtime.CodeInvalid, "/a"},
		{"two values", 0, runtime.Answer{Interrupt: "i1", By: "bob", Value: raw("1 1")}, runtime.CodeInvalid, "nothing more"},
		{"text that is no UTF-8", 0, runtime.Answer{Interrupt: "i1", By: "bob", Value: raw("\"\xff\"")}, runtime.CodeInvalid, "UTF-8"},
		{"the schema", 0, runtime.Answer{Interrupt: "i1", By: "bob", Value: raw("2")}, runtime.CodeInvalid, "is not legal"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			d.rules.Kinds[0].Clash = "queue"
			i := d.ask("f1", "agent_question", guarded())
			if tc.setup&claimed != 0 {
				require.NoError(t, d.try(func(c *runtime.Change) error { return c.Claim(i.ID, "bob", false) }))
			}
			if tc.setup&queued != 0 {
				d.do(func(c *runtime.Change) { _, _ = c.Escape(runtime.EscapeSafe, "ann", ""); c.Pause() })
			}
			if tc.setup&late != 0 {
				d.now = d.now.Add(time.Hour)
			}
			_, err := d.answer(tc.a)
			require.Error(t, err)
			assert.Equal(t, tc.code, runtime.CodeOf(err))
			assert.ErrorContains(t, err, tc.text)
		})
	}
	t.Run("and nothing, where nothing is wrong", func(t *testing.T) {
		t.Parallel()
		d := newDesk(t)
		i := d.ask("f1", "agent_question", guarded())
		d.now = d.now.Add(time.Hour - time.Millisecond)
		got, err := d.answer(runtime.Answer{Interrupt: i.ID, By: "bob", Digest: i.Digest, Value: raw("1"), Request: "r"})
		require.NoError(t, err)
		assert.Equal(t, runtime.InterruptAnswered, got.State)
		assert.Equal(t, &runtime.Reply{
			Name: "x", Interrupt: i.ID, Digest: runtime.DigestOf(&i.Question), Value: raw("1"), By: "bob",
		}, d.thread.Frame("f1").Reply("x"))
		assert.Equal(t, [3]any{"bob", "r", d.now}, [3]any{got.AnsweredBy, got.Request, got.ClosedAt})
	})
}

func TestAReplyBelongsToItsQuestionWhateverWasShownBeside(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.do(func(c *runtime.Change) {
		c.Add(runtime.Entry{Type: runtime.EntryShows, Frame: "f1", Value: raw(`{"done":1}`)})
	})
	question := q("x")
	i := d.ask("f1", "agent_question", question)
	assert.Equal(t, runtime.DigestOf(&question), i.Digest, "the context is not part of it")
	_, err := d.answer(runtime.Answer{Value: raw("1"), Digest: i.Digest})
	require.NoError(t, err)
	assert.Equal(t, runtime.DigestOf(&question), d.thread.Frame("f1").Reply("x").Digest, "the step asks again without it")
}

func TestNothingIsAsked(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	_, err := d.answer(runtime.Answer{Value: raw("1")})
	assert.Equal(t, runtime.CodeNotWaiting, runtime.CodeOf(err))
	d.do(func(c *runtime.Change) { c.Over(runtime.StatusDone, nil, nil, "") })
	_, err = d.answer(runtime.Answer{Value: raw("1")})
	assert.Equal(t, runtime.CodeNotWaiting, runtime.CodeOf(err))
}

func TestPresenceDecidesAndNotTruthiness(t *testing.T) {
	t.Parallel()
	for _, value := range []string{"false", "0", `""`, "{}", "[]", "null"} {
		d := newDesk(t)
		d.ask("f1", "agent_question", q("x"))
		_, err := d.answer(runtime.Answer{Value: raw(value)})
		require.NoError(t, err, value)
		assert.Equal(t, raw(value), d.thread.Frame("f1").Reply("x").Value)
		data, err := runtime.Seal(d.thread)
		require.NoError(t, err)
		var back runtime.Thread
		require.NoError(t, runtime.Unseal(data, &back))
		assert.Equal(t, raw(value), back.Frame("f1").Reply("x").Value, "nor does a store lose it")
	}
}

func TestAnswersToWhatIsClosed(t *testing.T) {
	t.Parallel()
	answered := &runtime.Interrupt{
		ID: "i1", State: runtime.InterruptAnswered, Answer: raw(`{"a":1,"b":"ü"}`), AnsweredBy: "bob", Request: "r1", ClosedAt: noon,
	}
	routed := &runtime.Interrupt{ID: "i1", State: runtime.InterruptAnswered, RouteTo: "plan", AnsweredBy: "bob", ClosedAt: noon}
	asked := &runtime.Interrupt{
		ID: "i1", State: runtime.InterruptAnswered, Answer: raw("true"), AnsweredBy: "bob", Question: runtime.Question{Plain: runtime.PlainYesNo},
	}
	voted := &runtime.Interrupt{
		ID: "i1", State: runtime.InterruptAnswered, Answer: raw("1"), AnsweredBy: "cid", Question: runtime.Question{Quorum: 2},
		Votes: []runtime.Vote{{By: "bob", Value: raw("1")}, {By: "dan", Value: raw("2")}, {By: "cid", Value: raw("1")}},
	}
	state := func(s runtime.InterruptState) *runtime.Interrupt {
		return &runtime.Interrupt{ID: "i1", State: s, SupersededBy: "i2"}
	}
	for _, tc := range []struct {
		name string
		i    *runtime.Interrupt
		a    runtime.Answer
		code runtime.Code
	}{
		{"the same answer again", answered, runtime.Answer{By: "bob", Value: raw(`{"a":1,"b":"ü"}`)}, ""},
		{"the same answer, written in another way", answered, runtime.Answer{By: "bob", Value: raw(` {"b":"\u00fc", "a":1}`)}, ""},
		{"the same request again", answered, runtime.Answer{By: "bob", Request: "r1", Value: raw("2")}, ""},
		{"another answer", answered, runtime.Answer{By: "bob", Value: raw("2")}, runtime.CodeAlreadyAnswered},
		{"the same answer of somebody else", answered, runtime.Answer{By: "eve", Value: raw(`{"a":1,"b":"ü"}`)}, runtime.CodeAlreadyAnswered},
		{"another request", answered, runtime.Answer{By: "bob", Request: "r2", Value: raw("2")}, runtime.CodeAlreadyAnswered},
		{"the same answer and more after it", answered, runtime.Answer{By: "bob", Value: raw(`{"a":1,"b":"ü"} 1`)}, runtime.CodeAlreadyAnswered},
		{"no answer", answered, runtime.Answer{By: "bob"}, runtime.CodeAlreadyAnswered},
		{"a target instead", answered, runtime.Answer{By: "bob", RouteTo: "plan"}, runtime.CodeAlreadyAnswered},
		{"the same target again", routed, runtime.Answer{By: "bob", RouteTo: "plan"}, ""},
		{"another target", routed, runtime.Answer{By: "bob", RouteTo: "work"}, runtime.CodeAlreadyAnswered},
		{"a value instead of a target", routed, runtime.Answer{By: "bob", Value: raw("null")}, runtime.CodeAlreadyAnswered},
		{"the same text again", asked, runtime.Answer{By: "bob", Text: "Yes!"}, ""},
		{"other words for the same", asked, runtime.Answer{By: "bob", Text: "sure"}, ""},
		{"another text", asked, runtime.Answer{By: "bob", Text: "no"}, runtime.CodeAlreadyAnswered},
		{"an unclear text", asked, runtime.Answer{By: "bob", Text: "well"}, runtime.CodeAlreadyAnswered},
		{"the vote that settled it", voted, runtime.Answer{By: "cid", Value: raw("1")}, ""},
		{"an earlier vote of the majority", voted, runtime.Answer{By: "bob", Value: raw("1")}, ""},
		{"a vote that lost", voted, runtime.Answer{By: "dan", Value: raw("2")}, runtime.CodeAlreadyAnswered},
		{"a vote too late", voted, runtime.Answer{By: "eve", Value: raw("1")}, runtime.CodeAlreadyAnswered},
		{"a superseded one", state(runtime.InterruptSuperseded), runtime.Answer{Value: raw("1")}, runtime.CodeSuperseded},
		{"an expired one", state(runtime.InterruptExpired), runtime.Answer{Value: raw("1")}, runtime.CodeExpired},
		{"one that was taken back", state(runtime.InterruptCancelled), runtime.Answer{Value: raw("1")}, runtime.CodeNotWaiting},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			got, err := runtime.Closed(tc.i, &tc.a)
			require.Equal(t, tc.code, runtime.CodeOf(err))
			if tc.code == "" {
				assert.Same(t, tc.i, got)
			}
			if who, ok := errors.AsType[*runtime.AnsweredError](err); ok {
				assert.Equal(t, runtime.AnsweredError{Interrupt: "i1", By: tc.i.AnsweredBy, At: tc.i.ClosedAt}, *who)
			}
		})
	}
	assert.EqualError(t, &runtime.AnsweredError{Interrupt: "i1", At: noon}, "interrupt i1 was answered by somebody at 2026-03-01T12:00:00Z")
}

func TestALateDoubleClickReachesNoOtherQuestion(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	first := d.ask("f1", "agent_question", q("x"))
	_, err := d.answer(runtime.Answer{Interrupt: first.ID, Value: raw("1")})
	require.NoError(t, err)
	second := d.ask("f1", "agent_question", q("x"))
	_, err = d.answer(runtime.Answer{Interrupt: first.ID, Value: raw("1")})
	assert.Equal(t, runtime.CodeNotFound, runtime.CodeOf(err))
	assert.Equal(t, runtime.InterruptOpen, d.state(second.ID))
}

func TestQuorum(t *testing.T) {
	t.Parallel()
	type vote struct{ by, value string }
	circle := func(quorum int, of ...string) runtime.Question {
		return runtime.Question{Name: "x", Quorum: quorum, Assignees: of}
	}
	own := circle(2, "ann", "bob", "cid")
	own.NotOwn = true
	for _, tc := range []struct {
		name  string
		q     runtime.Question
		votes []vote
		want  runtime.InterruptState
		by    string
	}{
		{"one of two is not enough", circle(2), []vote{{"bob", "1"}}, runtime.InterruptOpen, ""},
		{"two agree", circle(2), []vote{{"bob", "1"}, {"cid", "1"}}, runtime.InterruptAnswered, "cid"},
		{"two agree, in other words", circle(2), []vote{{"bob", `{"a":1,"b":2}`}, {"cid", `{"b":2, "a":1}`}}, runtime.InterruptAnswered, "cid"},
		{"the same person twice is one", circle(2), []vote{{"bob", "1"}, {"bob", "1"}}, runtime.InterruptOpen, ""},
		{"an open circle can always agree later", circle(2), []vote{{"bob", "1"}, {"cid", "2"}, {"dan", "3"}}, runtime.InterruptOpen, ""},
		{"and does", circle(2), []vote{{"bob", "1"}, {"cid", "2"}, {"dan", "2"}}, runtime.InterruptAnswered, "dan"},
		{"two of two who disagree never will", circle(2, "bob", "cid"), []vote{{"bob", "1"}, {"cid", "2"}}, runtime.InterruptExpired, ""},
		{"a third can decide", circle(2, "bob", "cid", "dan"), []vote{{"bob", "1"}, {"cid", "2"}}, runtime.InterruptOpen, ""},
		{"unless it is the one who may not", own, []vote{{"bob", "1"}, {"cid", "2"}}, runtime.InterruptExpired, ""},
		{"three of four, lost early", circle(3, "a", "b", "c", "d"), []vote{{"a", "1"}, {"b", "2"}, {"c", "1"}, {"d", "2"}}, runtime.InterruptExpired, ""},
		{"one named twice counts once", circle(2, "bob", "bob"), []vote{{"bob", "1"}}, runtime.InterruptExpired, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			d.ask("f1", "agent_question", tc.q)
			for _, v := range tc.votes {
				_, err := d.answer(runtime.Answer{Interrupt: "i1", By: v.by, Value: raw(v.value)})
				require.NoError(t, err)
			}
			assert.Equal(t, tc.want, d.state("i1"))
			assert.Equal(t, tc.by, d.interrupts["i1"].AnsweredBy)
			if tc.want == runtime.InterruptExpired {
				require.NotNil(t, d.thread.Failure)
				assert.Equal(t, runtime.CodeConflict, d.thread.Failure.Code, "those who were asked do not agree")
			}
		})
	}
	d := newDesk(t)
	question := circle(2)
	question.Targets = []string{"plan"}
	d.ask("f1", "agent_question", question)
	_, err := d.answer(runtime.Answer{Value: raw("1")})
	assert.Equal(t, runtime.CodeForbidden, runtime.CodeOf(err), "a vote has a name")
	_, err = d.answer(runtime.Answer{By: "bob", RouteTo: "plan"})
	assert.Equal(t, runtime.CodeNoRoute, runtime.CodeOf(err), "a target is no vote")
	_, err = d.answer(runtime.Answer{By: "bob", Value: raw("1"), Request: "r1"})
	require.NoError(t, err)
	_, err = d.answer(runtime.Answer{By: "bob", Value: raw("2")})
	assert.Equal(t, runtime.CodeAlreadyAnswered, runtime.CodeOf(err), "nobody votes twice")
}

func TestRouteTo(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	question := q("x")
	question.Targets = []string{"plan", "work"}
	d.ask("f1", "agent_question", question)
	_, err := d.answer(runtime.Answer{RouteTo: "moon"})
	var wrong *runtime.SelectionError
	require.ErrorAs(t, err, &wrong)
	assert.Equal(t, []string{"plan", "work"}, wrong.Allowed)
	_, err = d.answer(runtime.Answer{RouteTo: "work", By: "bob"})
	require.NoError(t, err)
	assert.Equal(t, "work", d.thread.Frame("f1").Reply("x").RouteTo)
	assert.Nil(t, d.thread.Frame("f1").Reply("x").Value)

	table := runtime.DefaultKinds()
	table[1].RouteTo = false
	d = newDesk(t, table...)
	d.ask("f1", "agent_question", question)
	_, err = d.answer(runtime.Answer{RouteTo: "work"})
	assert.Equal(t, runtime.CodeNoRoute, runtime.CodeOf(err), "the kind does not allow it")
}

func TestClaims(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	i := d.ask("f1", "agent_question", guarded())
	claim := func(id, by string, release bool) runtime.Code {
		return runtime.CodeOf(d.try(func(c *runtime.Change) error { return c.Claim(id, by, release) }))
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
		{"who may not answer his own request cannot keep it from the others", i.ID, "ann", false, runtime.CodeForbidden, ""},
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

func TestExtend(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	question := guarded()
	question.Deadline.Reminder = 10 * time.Minute
	i := d.ask("f1", "agent_question", question)
	extend := func(id string, until time.Time, by string) runtime.Code {
		return runtime.CodeOf(d.try(func(c *runtime.Change) error { return c.Extend(id, until, by) }))
	}
	assert.Equal(t, runtime.CodeNotFound, extend("i9", noon.Add(time.Hour), "bob"))
	assert.Equal(t, runtime.CodeForbidden, extend(i.ID, noon.Add(time.Hour), "eve"))
	assert.Equal(t, runtime.CodeInvalid, extend(i.ID, noon, "bob"))
	assert.Equal(t, runtime.Code(""), extend(i.ID, noon.Add(3*time.Hour).In(time.FixedZone("x", 60)), "bob"))
	assert.Equal(t, noon.Add(3*time.Hour), d.interrupts[i.ID].Due)
	assert.Equal(t, noon.Add(170*time.Minute), d.interrupts[i.ID].RemindAt, "the reminder moves along")
	d.now = noon.Add(2 * time.Hour)
	_, err := d.answer(runtime.Answer{By: "bob", Value: raw("1")})
	require.NoError(t, err)

	d = newDesk(t)
	i = d.ask("f1", "agent_question", question)
	d.now = noon.Add(time.Hour)
	assert.Equal(t, runtime.CodeExpired, extend(i.ID, noon.Add(3*time.Hour), "bob"), "whether the deadline was seen to yet or not")
}

// A deadline that a person chose is still there when the question comes out of the queue, and a reminder of it does not go out again.
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
		{"extended beyond what the policy gives", &runtime.Deadline{After: time.Hour, Then: "expire", Reminder: time.Minute}, hour(9), hour(2), hour(9), hour(9).Add(-time.Minute)},
		{"the policy gives more by now", &runtime.Deadline{After: time.Hour, Then: "expire", Reminder: time.Minute}, hour(2), hour(5), hour(6), hour(6).Add(-time.Minute)},
		{"extended, and reminded of already", &runtime.Deadline{After: time.Hour, Then: "expire", Reminder: 9 * time.Hour}, hour(9), hour(2), hour(9), time.Time{}},
		{"set by hand", &runtime.Deadline{Then: "none"}, hour(3), hour(1), hour(3), time.Time{}},
		{"nobody set one", &runtime.Deadline{Then: "none"}, time.Time{}, hour(1), time.Time{}, time.Time{}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, kinds("queue", "queue", "queue")...)
			question := q("x")
			question.Deadline = tc.policy
			i := d.ask("f1", "agent_question", question)
			if !tc.until.IsZero() {
				require.NoError(t, d.try(func(c *runtime.Change) error { return c.Extend(i.ID, tc.until, "ann") }))
			}
			d.do((*runtime.Change).Due) // a reminder that is due goes out
			pause := d.pause()
			require.Equal(t, runtime.InterruptQueued, d.state(i.ID))
			d.now = tc.back
			_, err := d.answer(runtime.Answer{Interrupt: pause.ID, Value: raw(`"continue"`)})
			require.NoError(t, err)
			assert.Equal(t, runtime.InterruptOpen, d.state(i.ID))
			assert.Equal(t, tc.want, d.interrupts[i.ID].Due)
			assert.Equal(t, tc.remind, d.interrupts[i.ID].RemindAt)
		})
	}
}

func FuzzAnswer(f *testing.F) {
	for _, seed := range []string{"1", "null", `""`, `{"a":[]}`, `{"a":1,"a":2}`, `"retry"`, `{"choice":"edit","input":null}`, "{", "\xff", "[[[[", "1 2"} {
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
			d.ask("f1", "agent_question", runtime.Question{Name: "x", Quorum: 2})
		case 2:
			d.ask("f1", "agent_question", runtime.Question{Name: "x", Plain: []string{"text", "yes_no", "choice"}[len(text)%3]})
		case 3:
			d.do(func(c *runtime.Change) { c.StepFailed("f1", runtime.Permanent(errors.New(text)), []string{text}) })
		case 4:
			intend(d, text)
			d.do(func(c *runtime.Change) { c.Doubt("f1") })
		default:
			d.do(func(c *runtime.Change) { _, _ = c.Escape(runtime.EscapeNow, text, text); c.Pause() })
		}
		got, err := d.answer(runtime.Answer{Interrupt: "i1", Value: value, By: "bob"})
		if err == nil {
			require.True(t, json.Valid(value))
			require.NotNil(t, got)
		}
		d.rules.HoldEarly = true
		_, _ = d.answer(runtime.Answer{Question: text, Value: value})
		for range 4 {
			_, _ = d.answer(runtime.Answer{Text: text, By: "bob"}) // the desk looks
		}
		_, _ = runtime.Closed(d.interrupts["i1"], &runtime.Answer{Value: value, Text: text, By: "bob"})
	})
}
