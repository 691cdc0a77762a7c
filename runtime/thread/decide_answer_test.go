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

// guarded is a question with every lock there is.
func guarded() thread.Question {
	return thread.Question{
		Name: "x", Schema: raw(`{"enum":[1,"yes",false]}`),
		Assignees: []string{"ann", "bob", "cid"}, NotOwn: true, Targets: []string{"plan"},
		Deadline: &runtime.Deadline{After: time.Hour, Then: "expire"},
	}
}

func TestTheFirstThingWrongIsReported(t *testing.T) {
	t.Parallel()
	const late, queued, claimed = 1, 2, 4
	for _, tc := range []struct {
		name  string
		setup int
		a     thread.Answer
		code  runtime.Code
		text  string
	}{
		{"an unknown id, before all that is wrong with the rest", late | claimed,
			thread.Answer{Interrupt: "i9", By: "eve", Digest: "d", Value: raw("{")},
			runtime.CodeNotFound, "no interrupt i9"},
		{"an unknown name too", late, thread.Answer{Question: "z", By: "eve", Value: raw("{")},
			runtime.CodeNotFound, `does not ask "z"`},
		{"that it is queued, before its deadline and the rest", late | queued,
			thread.Answer{Interrupt: "i1", By: "eve", Digest: "d", Value: raw("{")},
			runtime.CodeConflict, "more urgent"},
		{"the deadline, before who answers", late | claimed,
			thread.Answer{Interrupt: "i1", By: "eve", Digest: "d", Value: raw("{")},
			runtime.CodeExpired, "2026-03-01T13:00:00Z"},
		{"that nobody is named, before what was shown", 0,
			thread.Answer{Interrupt: "i1", Digest: "d", Value: raw("{")}, runtime.CodeForbidden,
			"say who"},
		{"who answers, before what was shown", 0,
			thread.Answer{Interrupt: "i1", By: "eve", Digest: "d", Value: raw("{")},
			runtime.CodeForbidden, "eve"},
		{"one's own request, before a claim", claimed,
			thread.Answer{Interrupt: "i1", By: "ann", Digest: "d", Value: raw("{")},
			runtime.CodeForbidden, "own request"},
		{"a claim, before what was shown", claimed,
			thread.Answer{Interrupt: "i1", By: "cid", Digest: "d", Value: raw("{")},
			runtime.CodeForbidden, "it is claimed by bob"},
		{"what was shown, before the value", 0,
			thread.Answer{Interrupt: "i1", By: "bob", Digest: "d", Value: raw("{")},
			runtime.CodeConflict, "something else"},
		{"what was shown, before the target", 0,
			thread.Answer{Interrupt: "i1", By: "bob", Digest: "d", RouteTo: "moon"},
			runtime.CodeConflict, "something else"},
		{"two answers in one", 0, thread.Answer{Interrupt: "i1", By: "bob", RouteTo: "plan",
			Value: raw("1")}, runtime.CodeInvalid, "more than one"},
		{"two answers in one, text too", 0, thread.Answer{Interrupt: "i1", By: "bob", Text: "yes",
			Value: raw("1")}, runtime.CodeInvalid, "more than one"},
		{"an illegal target", 0, thread.Answer{Interrupt: "i1", By: "bob", RouteTo: "moon"},
			runtime.CodeNoRoute, "moon"},
		{"no answer at all", 0, thread.Answer{Interrupt: "i1", By: "bob"}, runtime.CodeInvalid,
			"answer is empty"},
		{"text where none is taken", 0, thread.Answer{Interrupt: "i1", By: "bob", Text: "yes"},
			runtime.CodeInvalid, "takes no plain text"},
		{"what is no JSON, before the schema", 0,
			thread.Answer{Interrupt: "i1", By: "bob", Value: raw("{")}, runtime.CodeInvalid,
			"expected"},
		{"a double key", 0, thread.Answer{Interrupt: "i1", By: "bob", Value: raw(`{"a":1,"a":2}`)},
			runtime.CodeInvalid, "/a"},
		{"two values", 0, thread.Answer{Interrupt: "i1", By: "bob", Value: raw("1 1")},
			runtime.CodeInvalid, "nothing more"},
		{"text that is no UTF-8", 0,
			thread.Answer{Interrupt: "i1", By: "bob", Value: raw("\"\xff\"")}, runtime.CodeInvalid,
			"UTF-8"},
		{"the schema", 0, thread.Answer{Interrupt: "i1", By: "bob", Value: raw("2")},
			runtime.CodeInvalid, "is not legal"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			d.rules.Kinds[0].Clash = "queue"
			i := d.ask("f1", "agent_question", guarded())
			if tc.setup&claimed != 0 {
				require.NoError(t, d.try(func(c *thread.Change) error {
					return c.Claim(i.ID, "bob", false)
				}))
			}
			if tc.setup&queued != 0 {
				d.do(func(c *thread.Change) {
					_, _ = c.Escape(thread.EscapeSafe, "ann", "")
					c.Pause()
				})
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
		got, err := d.answer(thread.Answer{Interrupt: i.ID, By: "bob", Digest: i.Digest,
			Value: raw("1"), Request: "r"})
		require.NoError(t, err)
		assert.Equal(t, thread.InterruptAnswered, got.State)
		assert.Equal(t, &thread.Reply{
			Name: "x", Interrupt: i.ID, Digest: thread.DigestOf(&i.Question), Value: raw("1"),
			By: "bob",
		}, d.thread.Frame("f1").Reply("x"))
		assert.Equal(t, [3]any{"bob", "r", d.now},
			[3]any{got.AnsweredBy, got.Request, got.ClosedAt})
	})
}

func TestAReplyBelongsToItsQuestionWhateverWasShownBeside(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.do(func(c *thread.Change) {
		c.Add(thread.Entry{Type: thread.EntryShows, Frame: "f1", Value: raw(`{"done":1}`)})
	})
	question := q("x")
	i := d.ask("f1", "agent_question", question)
	assert.Equal(t, thread.DigestOf(&question), i.Digest, "the context is not part of it")
	_, err := d.answer(thread.Answer{Value: raw("1"), Digest: i.Digest})
	require.NoError(t, err)
	assert.Equal(t, thread.DigestOf(&question), d.thread.Frame("f1").Reply("x").Digest,
		"the step asks again without it")
}

func TestNothingIsAsked(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	_, err := d.answer(thread.Answer{Value: raw("1")})
	assert.Equal(t, runtime.CodeNotWaiting, runtime.CodeOf(err))
	d.do(func(c *thread.Change) { c.Over(thread.StatusDone, nil, nil, "") })
	_, err = d.answer(thread.Answer{Value: raw("1")})
	assert.Equal(t, runtime.CodeNotWaiting, runtime.CodeOf(err))
}

func TestPresenceDecidesAndNotTruthiness(t *testing.T) {
	t.Parallel()
	for _, value := range []string{"false", "0", `""`, "{}", "[]", "null"} {
		d := newDesk(t)
		d.ask("f1", "agent_question", q("x"))
		_, err := d.answer(thread.Answer{Value: raw(value)})
		require.NoError(t, err, value)
		assert.Equal(t, raw(value), d.thread.Frame("f1").Reply("x").Value)
		data, err := runtime.Encode(d.thread)
		require.NoError(t, err)
		var back thread.Thread
		require.NoError(t, json.Unmarshal(data, &back))
		assert.Equal(t, raw(value), back.Frame("f1").Reply("x").Value, "nor does a store lose it")
	}
}

func TestAnswersToWhatIsClosed(t *testing.T) {
	t.Parallel()
	answered := &thread.Interrupt{
		ID: "i1", State: thread.InterruptAnswered, Answer: raw(`{"a":1,"b":"ü"}`),
		AnsweredBy: "bob", Request: "r1", ClosedAt: noon,
	}
	routed := &thread.Interrupt{ID: "i1", State: thread.InterruptAnswered, RouteTo: "plan",
		AnsweredBy: "bob", ClosedAt: noon}
	asked := &thread.Interrupt{
		ID: "i1", State: thread.InterruptAnswered, Answer: raw("true"), AnsweredBy: "bob",
		Question: thread.Question{Plain: thread.PlainYesNo},
	}
	voted := &thread.Interrupt{
		ID: "i1", State: thread.InterruptAnswered, Answer: raw("1"), AnsweredBy: "cid",
		Question: thread.Question{Quorum: 2},
		Votes: []thread.Vote{{By: "bob", Value: raw("1")}, {By: "dan", Value: raw("2")},
			{By: "cid", Value: raw("1")}},
	}
	state := func(s thread.InterruptState) *thread.Interrupt {
		return &thread.Interrupt{ID: "i1", State: s, SupersededBy: "i2"}
	}
	for _, tc := range []struct {
		name string
		i    *thread.Interrupt
		a    thread.Answer
		code runtime.Code
	}{
		{"the same answer again", answered,
			thread.Answer{By: "bob", Value: raw(`{"a":1,"b":"ü"}`)}, ""},
		{"the same answer, written in another way", answered,
			thread.Answer{By: "bob", Value: raw(` {"b":"\u00fc", "a":1}`)}, ""},
		{"the same request again", answered,
			thread.Answer{By: "bob", Request: "r1", Value: raw("2")}, ""},
		{"another answer", answered, thread.Answer{By: "bob", Value: raw("2")},
			runtime.CodeAlreadyAnswered},
		{"the same answer of somebody else", answered,
			thread.Answer{By: "eve", Value: raw(`{"a":1,"b":"ü"}`)}, runtime.CodeAlreadyAnswered},
		{"another request", answered, thread.Answer{By: "bob", Request: "r2", Value: raw("2")},
			runtime.CodeAlreadyAnswered},
		{"the same answer and more after it", answered,
			thread.Answer{By: "bob", Value: raw(`{"a":1,"b":"ü"} 1`)},
			runtime.CodeAlreadyAnswered},
		{"answer is empty", answered, thread.Answer{By: "bob"}, runtime.CodeAlreadyAnswered},
		{"a target instead", answered, thread.Answer{By: "bob", RouteTo: "plan"},
			runtime.CodeAlreadyAnswered},
		{"the same target again", routed, thread.Answer{By: "bob", RouteTo: "plan"}, ""},
		{"another target", routed, thread.Answer{By: "bob", RouteTo: "work"},
			runtime.CodeAlreadyAnswered},
		{"a value instead of a target", routed, thread.Answer{By: "bob", Value: raw("null")},
			runtime.CodeAlreadyAnswered},
		{"the same text again", asked, thread.Answer{By: "bob", Text: "Yes!"}, ""},
		{"other words for the same", asked, thread.Answer{By: "bob", Text: "sure"}, ""},
		{"another text", asked, thread.Answer{By: "bob", Text: "no"}, runtime.CodeAlreadyAnswered},
		{"an unclear text", asked, thread.Answer{By: "bob", Text: "well"},
			runtime.CodeAlreadyAnswered},
		{"the vote that settled it", voted, thread.Answer{By: "cid", Value: raw("1")}, ""},
		{"an earlier vote of the majority", voted, thread.Answer{By: "bob", Value: raw("1")}, ""},
		{"a vote that lost", voted, thread.Answer{By: "dan", Value: raw("2")},
			runtime.CodeAlreadyAnswered},
		{"a vote too late", voted, thread.Answer{By: "eve", Value: raw("1")},
			runtime.CodeAlreadyAnswered},
		{"a superseded one", state(thread.InterruptSuperseded), thread.Answer{Value: raw("1")},
			runtime.CodeSuperseded},
		{"an expired one", state(thread.InterruptExpired), thread.Answer{Value: raw("1")},
			runtime.CodeExpired},
		{"one that was taken back", state(thread.InterruptCancelled),
			thread.Answer{Value: raw("1")}, runtime.CodeNotWaiting},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			got, err := thread.Closed(tc.i, &tc.a)
			require.Equal(t, tc.code, runtime.CodeOf(err))
			if tc.code == "" {
				assert.Same(t, tc.i, got)
			}
			if who, ok := errors.AsType[*thread.AnsweredError](err); ok {
				assert.Equal(t, thread.AnsweredError{Interrupt: "i1", By: tc.i.AnsweredBy,
					At: tc.i.ClosedAt}, *who)
			}
		})
	}
	assert.EqualError(t, &thread.AnsweredError{Interrupt: "i1", At: noon},
		"interrupt i1 was answered by an unnamed caller at 2026-03-01T12:00:00Z")
}

func TestALateDoubleClickReachesNoOtherQuestion(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	first := d.ask("f1", "agent_question", q("x"))
	_, err := d.answer(thread.Answer{Interrupt: first.ID, Value: raw("1")})
	require.NoError(t, err)
	second := d.ask("f1", "agent_question", q("x"))
	_, err = d.answer(thread.Answer{Interrupt: first.ID, Value: raw("1")})
	assert.Equal(t, runtime.CodeNotFound, runtime.CodeOf(err))
	assert.Equal(t, thread.InterruptOpen, d.state(second.ID))
}

func TestDecideQuorum(t *testing.T) {
	t.Parallel()
	type vote struct{ by, value string }
	circle := func(quorum int, of ...string) thread.Question {
		return thread.Question{Name: "x", Quorum: quorum, Assignees: of}
	}
	own := circle(2, "ann", "bob", "cid")
	own.NotOwn = true
	for _, tc := range []struct {
		name  string
		q     thread.Question
		votes []vote
		want  thread.InterruptState
		by    string
	}{
		{"one of two is not enough", circle(2), []vote{{"bob", "1"}}, thread.InterruptOpen, ""},
		{"two agree", circle(2), []vote{{"bob", "1"}, {"cid", "1"}}, thread.InterruptAnswered,
			"cid"},
		{"two agree, in other words", circle(2),
			[]vote{{"bob", `{"a":1,"b":2}`}, {"cid", `{"b":2, "a":1}`}}, thread.InterruptAnswered,
			"cid"},
		{"the same person twice is one", circle(2), []vote{{"bob", "1"}, {"bob", "1"}},
			thread.InterruptOpen, ""},
		{"an open circle can always agree later", circle(2),
			[]vote{{"bob", "1"}, {"cid", "2"}, {"dan", "3"}}, thread.InterruptOpen, ""},
		{"and does", circle(2), []vote{{"bob", "1"}, {"cid", "2"}, {"dan", "2"}},
			thread.InterruptAnswered, "dan"},
		{"two of two who disagree never will", circle(2, "bob", "cid"),
			[]vote{{"bob", "1"}, {"cid", "2"}}, thread.InterruptExpired, ""},
		{"a third can decide", circle(2, "bob", "cid", "dan"), []vote{{"bob", "1"}, {"cid", "2"}},
			thread.InterruptOpen, ""},
		{"unless it is the one who may not", own, []vote{{"bob", "1"}, {"cid", "2"}},
			thread.InterruptExpired, ""},
		{"three of four, lost early", circle(3, "a", "b", "c", "d"),
			[]vote{{"a", "1"}, {"b", "2"}, {"c", "1"}, {"d", "2"}}, thread.InterruptExpired, ""},
		{"one named twice counts once", circle(2, "bob", "bob"), []vote{{"bob", "1"}},
			thread.InterruptExpired, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			d.ask("f1", "agent_question", tc.q)
			for _, v := range tc.votes {
				_, err := d.answer(thread.Answer{Interrupt: "i1", By: v.by, Value: raw(v.value)})
				require.NoError(t, err)
			}
			assert.Equal(t, tc.want, d.state("i1"))
			assert.Equal(t, tc.by, d.interrupts["i1"].AnsweredBy)
			if tc.want == thread.InterruptExpired {
				require.NotNil(t, d.thread.Failure)
				assert.Equal(t, runtime.CodeConflict, d.thread.Failure.Code,
					"those who were asked do not agree")
			}
		})
	}
	d := newDesk(t)
	question := circle(2)
	question.Targets = []string{"plan"}
	d.ask("f1", "agent_question", question)
	_, err := d.answer(thread.Answer{Value: raw("1")})
	assert.Equal(t, runtime.CodeForbidden, runtime.CodeOf(err), "a vote has a name")
	_, err = d.answer(thread.Answer{By: "bob", RouteTo: "plan"})
	assert.Equal(t, runtime.CodeNoRoute, runtime.CodeOf(err), "a target is no vote")
	_, err = d.answer(thread.Answer{By: "bob", Value: raw("1"), Request: "r1"})
	require.NoError(t, err)
	_, err = d.answer(thread.Answer{By: "bob", Value: raw("2")})
	assert.Equal(t, runtime.CodeAlreadyAnswered, runtime.CodeOf(err), "nobody votes twice")
}

func TestRouteTo(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	question := q("x")
	question.Targets = []string{"plan", "work"}
	d.ask("f1", "agent_question", question)
	_, err := d.answer(thread.Answer{RouteTo: "moon"})
	var wrong *runtime.SelectionError
	require.ErrorAs(t, err, &wrong)
	assert.Equal(t, []string{"plan", "work"}, wrong.Allowed)
	_, err = d.answer(thread.Answer{RouteTo: "work", By: "bob"})
	require.NoError(t, err)
	assert.Equal(t, "work", d.thread.Frame("f1").Reply("x").RouteTo)
	assert.Nil(t, d.thread.Frame("f1").Reply("x").Value)

	table := thread.DefaultKinds()
	table[1].RouteTo = false
	d = newDesk(t, table...)
	d.ask("f1", "agent_question", question)
	_, err = d.answer(thread.Answer{RouteTo: "work"})
	assert.Equal(t, runtime.CodeNoRoute, runtime.CodeOf(err), "the kind does not allow it")
}
