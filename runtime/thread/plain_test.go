package thread_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
)

func TestYesAndNoAreWholeAnswersOnly(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		language string
		yes      []string
		no       []string
		unclear  []string
		neverYes []string // unclear or no, as the table likes
	}{
		{
			language: "en",
			yes: []string{"yes", "Yes", " YES! ", "y", "ok.", "go ahead", "Please do",
				"approve"},
			no: []string{"no", "No.", "n", "nope", "deny", "never", "stop"},
			unclear: []string{"", " ", ".", "yes but later", "yes?", "not yes", "yes no", "maybe",
				"1", "0", "ja", "yesyes", "I said yes", "no problem"},
			neverYes: []string{"no way", "not really", "deny", "denied", "don't", "don’t", "DONT",
				"do not", "reject", "hardly", "not ok", "not sure"},
		},
		{"de", []string{"ja", "Jawohl!", "gerne"}, []string{"nein", "auf keinen Fall", "NÖ"},
			[]string{"yes", "jein", "na ja"}, []string{"lieber nicht", "nicht"}},
		{"de-AT", []string{"ja"}, []string{"nein"}, []string{"oui"}, nil},
		{"nl", []string{"ja", "akkoord", "oké"}, []string{"nee", "annuleer"},
			[]string{"yes", "ja hoor misschien"}, []string{"liever niet", "absoluut niet"}},
		{"FR", []string{"oui", "d’accord", "bien sûr"}, []string{"non", "jamais"},
			[]string{"yes", "peut-être"}, []string{"pas vraiment", "surtout pas"}},
		{"es", []string{"sí", "SÍ", "si", "vale"}, []string{"no", "para nada"},
			[]string{"yes", "quizás"}, []string{"de ninguna manera"}},
		{"it", []string{"sì", "va bene"}, []string{"no", "mai"}, []string{"yes", "forse"},
			[]string{"assolutamente no"}},
		{"", []string{"yes"}, []string{"no"}, []string{"ja"}, nil},
		{"tlh", nil, nil, []string{"yes", "no", "HIja'"}, nil},
	} {
		for _, text := range tc.yes {
			yes, known := thread.YesNo(text, tc.language)
			assert.True(t, yes && known, "%s: %q is yes", tc.language, text)
		}
		for _, text := range tc.no {
			yes, known := thread.YesNo(text, tc.language)
			assert.True(t, !yes && known, "%s: %q is no", tc.language, text)
		}
		for _, text := range tc.unclear {
			yes, known := thread.YesNo(text, tc.language)
			assert.False(t, yes || known, "%s: %q is neither", tc.language, text)
		}
		for _, text := range tc.neverYes {
			yes, _ := thread.YesNo(text, tc.language)
			assert.False(t, yes, "%s: %q is never yes", tc.language, text)
		}
	}
}

func TestPlainText(t *testing.T) {
	t.Parallel()
	choice := thread.Question{Name: "x", Plain: thread.PlainChoice, Choices: []thread.Choice{
		{Label: "Approve", Value: raw(`"APPROVE"`)}, {Label: "Deny", Value: raw(`"DENY"`)},
		{Label: "2", Value: raw(`{"n":3}`)}, {Label: "Deny", Value: raw("4")},
	}}
	yesNo := thread.Question{Name: "x", Plain: thread.PlainYesNo}
	free := thread.Question{Name: "x", Plain: thread.PlainText}
	for _, tc := range []struct {
		name, text, want string
		q                thread.Question
	}{
		{"a free text is the answer", " as it is.\n", `" as it is.\n"`, free},
		{"a free text that looks like JSON is still text", `{"a":1}`, `"{\"a\":1}"`, free},
		{"yes", "Yes.", "true", yesNo},
		{"no", "nope", "false", yesNo},
		{"in the language of the question", "ja", "true",
			thread.Question{Name: "x", Plain: thread.PlainYesNo, Language: "nl-BE"}},
		{"a label, in any case", "approve!", `"APPROVE"`, choice},
		{"a value", "APPROVE", `"APPROVE"`, choice},
		{"a number", "1", `"APPROVE"`, choice},
		{"the number of a doubled label", "4", "4", choice},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			d.ask("f1", "agent_question", tc.q)
			got, err := d.answer(thread.Answer{Text: tc.text})
			require.NoError(t, err)
			assert.Equal(t, tc.want, string(got.Answer))
		})
	}
	for _, tc := range []struct {
		name, text, reason string
		q                  thread.Question
	}{
		{"no way is no yes in another question", "no thanks",
			`"no thanks" is neither a clear yes nor a clear no`, yesNo},
		{"two choices have the label", "deny", `"deny" names 2 choices: Approve, Deny, 2, Deny`,
			choice},
		{"a number that is also a label", "2", `"2" names 2 choices: Approve, Deny, 2, Deny`,
			choice},
		{"none", "perhaps", `"perhaps" is not one of Approve, Deny, 2, Deny`, choice},
		{"a part of a label", "app", `"app" is not one of Approve, Deny, 2, Deny`, choice},
		{"nothing but signs", " . ", `" . " is not one of Approve, Deny, 2, Deny`, choice},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			d.ask("f1", "agent_question", tc.q)
			_, err := d.answer(thread.Answer{Text: tc.text})
			unclear, ok := errors.AsType[*thread.UnclearError](err)
			require.True(t, ok)
			assert.Equal(t, thread.UnclearError{Reason: tc.reason, Left: 2}, *unclear)
			assert.Equal(t, runtime.CodeInvalid, runtime.CodeOf(err))
			assert.Equal(t, tc.reason, unclear.Error())
			assert.Equal(t, 1, d.interrupts["i1"].Asks)
		})
	}
}

func TestAfterThreeUnclearAnswersThePolicyActs(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name   string
		policy *runtime.Deadline
		want   thread.Status
		text   string
	}{
		{"there is a default", &runtime.Deadline{After: time.Hour, Then: "default",
			Answer: "false"}, thread.StatusRunning, ""},
		{"the default is not legal", &runtime.Deadline{After: time.Hour, Then: "default",
			Answer: "7"}, thread.StatusFailed,
			`no clear answer to x in three tries: "well" is neither a clear yes nor a clear no`},
		{"there is none", nil, thread.StatusFailed,
			`no clear answer to x in three tries: "well" is neither a clear yes nor a clear no`},
		{"the policy is about time", &runtime.Deadline{After: time.Hour, Then: "escalate",
			Assignee: "dora"}, thread.StatusFailed,
			`no clear answer to x in three tries: "well" is neither a clear yes nor a clear no`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			d.ask("f1", "agent_question", thread.Question{Name: "x", Plain: thread.PlainYesNo,
				Schema: raw(`{"enum":[true,false]}`), Deadline: tc.policy})
			for _, left := range []int{2, 1, 0} {
				assert.Equal(t, thread.InterruptOpen, d.state("i1"))
				_, err := d.answer(thread.Answer{Text: "well"})
				unclear, ok := errors.AsType[*thread.UnclearError](err)
				require.True(t, ok)
				assert.Equal(t, left, unclear.Left)
			}
			assert.Equal(t, tc.want, d.thread.Status())
			if tc.text != "" {
				assert.Equal(t, &thread.Failure{Code: runtime.CodeInvalid, Text: tc.text},
					d.thread.Failure)
			} else {
				assert.Equal(t, raw("false"), d.thread.Frame("f1").Reply("x").Value)
			}
		})
	}
	for name, ask := range map[string]func(d *desk) string{
		"a pause": func(d *desk) string { return d.pause().ID },
		"a failed step": func(d *desk) string {
			d.do(func(c *thread.Change) { c.StepFailed("f1", thread.Permanent(errDown), nil) })
			return "i1"
		},
		"an effect's fate": func(d *desk) string {
			intend(d, "mail")
			d.do(func(c *thread.Change) { c.MarkInDoubt("f1") })
			return "i1"
		},
	} {
		t.Run("none acts on what the engine asks: "+name, func(t *testing.T) {
			t.Parallel()
			table := thread.DefaultKinds()
			for n := range table { // nor does it bring a deadline's policy on before its time
				table[n].Deadline = &runtime.Deadline{After: time.Hour, Then: "default",
					Answer: `"abort"`}
			}
			d := newDesk(t, table...)
			id := ask(d)
			for n := range 5 {
				_, err := d.answer(thread.Answer{Interrupt: id, Text: "hm"})
				unclear, ok := errors.AsType[*thread.UnclearError](err)
				require.True(t, ok)
				assert.Equal(t, -1, unclear.Left)
				assert.Equal(t, n+1, d.interrupts[id].Asks)
				assert.Equal(t, thread.InterruptOpen, d.state(id))
				assert.Equal(t, thread.StatusWaiting, d.thread.Status())
			}
			_, err := d.answer(thread.Answer{Interrupt: id,
				Text: d.interrupts[id].Choices[0].Label})
			_, unclear := errors.AsType[*thread.UnclearError](err)
			assert.False(t, unclear, "a clear word is still heard")
		})
	}
	t.Run("a bad value and text where none is taken do not count", func(t *testing.T) {
		t.Parallel()
		d := newDesk(t)
		d.ask("f1", "agent_question", thread.Question{Name: "x", Schema: raw(`{"enum":[1]}`)})
		for range 5 {
			_, err := d.answer(thread.Answer{Value: raw("2")})
			require.Error(t, err)
			_, err = d.answer(thread.Answer{Text: "1"})
			require.Error(t, err)
		}
		assert.Zero(t, d.interrupts["i1"].Asks)
		_, err := d.answer(thread.Answer{Value: raw("1")})
		require.NoError(t, err)
	})
}
