package thread_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
)

var errDown = &runtime.Error{Code: runtime.CodeUnavailable, Err: errors.New("down")}

// fail lets the step of f1 fail.
func (d *desk) fail(err error, targets ...string) {
	d.t.Helper()
	d.do(func(c *thread.Change) { c.StepFailed("f1", err, targets) })
}

// broken lets it fail until a person is asked, and returns the question.
func (d *desk) broken(err error, targets ...string) *thread.Interrupt {
	d.t.Helper()
	for range 10 {
		d.fail(err, targets...)
		if len(d.thread.Open) > 0 {
			return d.thread.Open[0]
		}
		d.now = d.thread.Wake()
		d.do((*thread.Change).ApplyDue)
	}
	require.Fail(d.t, "nobody was asked")
	return nil
}

func TestRetryWaits(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name  string
		retry runtime.Retry
		want  []int // seconds
	}{
		{"constant", runtime.Retry{Backoff: "constant", First: time.Second}, []int{1, 1, 1, 1, 1}},
		{"exponential", runtime.Retry{Backoff: "exponential", First: time.Second},
			[]int{1, 2, 4, 8, 16}},
		{"exponential, with a bound", runtime.Retry{Backoff: "exponential", First: time.Second,
			Max: 5 * time.Second}, []int{1, 2, 4, 5, 5}},
		{"constant, over its bound", runtime.Retry{Backoff: "constant", First: time.Minute,
			Max: 2 * time.Second}, []int{2, 2, 2, 2, 2}},
		{"at once", runtime.Retry{Backoff: "exponential"}, []int{0, 0, 0, 0, 0}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			for n, want := range tc.want {
				assert.InDelta(t, want, tc.retry.Wait(n+1).Seconds(), 0)
			}
		})
	}
	long := runtime.Retry{Backoff: "exponential", First: time.Second}
	assert.Positive(t, long.Wait(1000), "it grows without an overflow")
	assert.Equal(t, long.Wait(1000), long.Wait(999))
}

func TestWhatAnotherTryMayMend(t *testing.T) {
	t.Parallel()
	of := func(code runtime.Code) error { return &runtime.Error{Code: code} }
	for _, tc := range []struct {
		name string
		err  error
		want bool
	}{
		{"a foreign error", errors.New("x"), true},
		{"a marked one", thread.Permanent(errors.New("x")), false},
		{"a marked one, wrapped", fmt.Errorf("a: %w", thread.Permanent(errDown)), false},
		{"unavailable", errDown, true},
		{"a conflict", of(runtime.CodeConflict), true},
		{"invalid", of(runtime.CodeInvalid), false},
		{"forbidden", of(runtime.CodeForbidden), false},
		{"incompatible", fmt.Errorf("a: %w", of(runtime.CodeIncompatible)), false},
		{"the failure of a child that was invalid", &thread.Failure{Code: runtime.CodeInvalid},
			false},
		{"the failure of a child that was cut off",
			fmt.Errorf("a: %w", &thread.Failure{Code: runtime.CodeUnavailable}), true},
	} {
		assert.Equal(t, tc.want, thread.Recoverable(tc.err), tc.name)
	}
	require.NoError(t, thread.Permanent(nil))
	assert.Equal(t, "down", errors.Unwrap(thread.Permanent(errors.New("down"))).Error())
	assert.Equal(t, runtime.CodeUnavailable, runtime.CodeOf(thread.Permanent(errDown)),
		"the mark hides no code")
}

func TestAFailedStepIsTriedAgainAndThenAPersonIsAsked(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	for _, wait := range []time.Duration{time.Second, 2 * time.Second} {
		d.fail(errDown)
		assert.Equal(t, thread.FrameRetrying, d.thread.Frame("f1").State)
		assert.Equal(t, d.now.Add(wait), d.thread.Frame("f1").Until)
		assert.Empty(t, d.thread.Open)
		d.now = d.now.Add(wait - time.Millisecond)
		d.do((*thread.Change).ApplyDue)
		assert.Equal(t, thread.FrameRetrying, d.thread.Frame("f1").State, "not before its time")
		d.now = d.now.Add(time.Millisecond)
		d.do((*thread.Change).ApplyDue)
		assert.Equal(t, thread.FrameReady, d.thread.Frame("f1").State)
	}
	d.fail(errDown, "plan")
	i := d.thread.Open[0]
	assert.Equal(t, "system_error", i.Kind)
	var payload struct {
		Code        runtime.Code     `json:"code"`
		Recoverable bool             `json:"recoverable"`
		Attempts    []thread.Attempt `json:"attempts"`
		InputDigest string           `json:"input_digest"`
	}
	require.NoError(t, json.Unmarshal(i.Payload, &payload))
	assert.Equal(t, runtime.CodeUnavailable, payload.Code)
	assert.True(t, payload.Recoverable)
	assert.Len(t, payload.Attempts, 3)
	assert.Len(t, payload.InputDigest, 32)
	var offered []string
	for _, c := range i.Choices {
		offered = append(offered, c.Label)
	}
	assert.Equal(t, []string{"retry", "edit", "skip", "reroute", "abort"}, offered)
}

func TestAPermanentFailureIsAskedAboutAtOnceAndOffersRetry(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.fail(thread.Permanent(errDown))
	var offered []string
	for _, c := range d.thread.Open[0].Choices {
		offered = append(offered, c.Label)
	}
	assert.Equal(t, []string{"retry", "edit", "skip", "abort"}, offered,
		"and no reroute where there is no place to go")
	assert.Contains(t, string(d.thread.Open[0].Payload), `"recoverable":false`)
	_, err := d.answer(thread.Answer{Value: raw(`"retry"`), By: "ann"})
	require.NoError(t, err)
	assert.Equal(t, thread.FrameReady, d.thread.Frame("f1").State)
}

func TestNoPolicyRetriesAPermanentFailure(t *testing.T) {
	t.Parallel()
	for _, order := range []string{`"retry"`, `{"choice":"retry"}`} {
		auto, late := thread.DefaultKinds(), thread.DefaultKinds()
		auto[2].AutoAnswer = order
		late[2].Deadline = &runtime.Deadline{After: time.Hour, Then: "default", Answer: order}
		d := newDesk(t, auto...)
		d.fail(thread.Permanent(errDown))
		require.Len(t, d.thread.Open, 1, "a person decides")
		d = newDesk(t, late...)
		d.fail(thread.Permanent(errDown))
		d.now = d.thread.Wake()
		d.do((*thread.Change).ApplyDue)
		assert.Equal(t, thread.StatusFailed, d.thread.Status(), "it expires")
		d = newDesk(t, late...)
		d.broken(errDown)
		d.now = d.thread.Wake()
		d.do((*thread.Change).ApplyDue)
		assert.Equal(t, thread.FrameReady, d.thread.Frame("f1").State,
			"what another try may mend is tried")
	}
}

func TestOrders(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name  string
		value string
		code  runtime.Code
		holds func(t *testing.T, d *desk)
	}{
		{"retry runs it again, and the policy counts anew", `"retry"`, "",
			func(t *testing.T, d *desk) {
				t.Helper()
				assert.Equal(t, thread.FrameReady, d.thread.Frame("f1").State)
				assert.Len(t, d.thread.Frame("f1").Attempts, 3, "the attempts are kept")
				d.fail(errDown)
				assert.Equal(t, thread.FrameRetrying, d.thread.Frame("f1").State)
				assert.Equal(t, d.now.Add(time.Second), d.thread.Frame("f1").Until)
			}},
		{"edit runs it with other input", `{"choice":"edit","input":{"a":2}}`, "",
			func(t *testing.T, d *desk) {
				t.Helper()
				f := d.thread.Frame("f1")
				assert.Equal(t, raw(`{"a":2}`), f.Input)
				assert.Equal(t, 2, f.Visit, "with keys of its own")
				assert.Nil(t, f.Effect("done"),
					"what was done with the former input does not count")
				assert.Equal(t, [2]int{3, 3}, [2]int{len(f.Attempts), f.Forgiven})
			}},
		{"skip ends it with a value", `{"choice":"skip","value":7}`, "",
			func(t *testing.T, d *desk) {
				t.Helper()
				assert.Equal(t, thread.StatusIdle, d.thread.Status())
				assert.Equal(t, raw("7"), d.thread.Result)
				assert.Equal(t, "skipped", d.log[len(d.log)-1].State)
			}},
		{"skip without one ends it with null", `"skip"`, "", func(t *testing.T, d *desk) {
			t.Helper()
			assert.Equal(t, raw("null"), d.thread.Result)
		}},
		{"reroute tells the step where to go, until it went",
			`{"choice":"reroute","target":"plan"}`, "", func(t *testing.T, d *desk) {
				t.Helper()
				assert.Equal(t, "plan", d.thread.Frame("f1").RouteTo)
				d.fail(errDown)
				d.now = d.thread.Wake()
				d.do((*thread.Change).ApplyDue)
				assert.Equal(t, "plan", d.thread.Frame("f1").RouteTo,
					"another try does not forget it")
				d.do(func(c *thread.Change) {
					c.Add(thread.Entry{Type: thread.EntryStepped, Frame: "f1", PC: "b"})
				})
				assert.Empty(t, d.thread.Frame("f1").RouteTo)
			}},
		{"abort ends the thread", `"abort"`, "", func(t *testing.T, d *desk) {
			t.Helper()
			assert.Equal(t, thread.StatusCancelled, d.thread.Status())
		}},
		{"edit needs input", `"edit"`, runtime.CodeInvalid, nil},
		{"an optional field that is null is absent, as everywhere",
			`{"choice":"edit","input":null}`, runtime.CodeInvalid, nil},
		{"reroute needs a legal target", `{"choice":"reroute","target":"moon"}`,
			runtime.CodeNoRoute, nil},
		{"reroute needs a target", `"reroute"`, runtime.CodeNoRoute, nil},
		{"what is not offered is refused", `"done"`, runtime.CodeInvalid, nil},
		{"in doubt is nothing here", `"run"`, runtime.CodeInvalid, nil},
		{"a misspelt field is refused", `{"choice":"edit","imput":1}`, runtime.CodeInvalid, nil},
		{"a list is no order", `[]`, runtime.CodeInvalid, nil},
	} {
		for _, by := range []string{"ann", ""} {
			t.Run(tc.name+", by "+by, func(t *testing.T) {
				t.Parallel()
				d := newDesk(t)
				d.do(func(c *thread.Change) {
					c.Add(thread.Entry{Type: thread.EntryEffect, Frame: "f1", Name: "done",
						State: thread.EffectDone})
				})
				i := d.broken(errDown, "plan")
				_, err := d.answer(thread.Answer{Interrupt: i.ID, Value: raw(tc.value), By: by})
				require.Equal(t, tc.code, runtime.CodeOf(err))
				if tc.holds == nil {
					assert.Equal(t, thread.InterruptOpen, d.state(i.ID))
					return
				}
				tc.holds(t, d)
			})
		}
	}
}

func TestASkippedChildIsMarked(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	ids := d.spawn("f1", "a")
	d.do(func(c *thread.Change) { c.StepFailed(ids[0], thread.Permanent(errDown), nil) })
	_, err := d.answer(thread.Answer{Value: raw(`{"choice":"skip","value":[1]}`), By: "ann"})
	require.NoError(t, err)
	assert.Equal(t, []thread.Child{{
		Frame: "f2", Name: "a", Done: true, Skipped: true, Value: raw("[1]"),
		Failure: thread.FailureOf(errDown),
	}}, d.thread.Frame("f1").Children)
	assert.Equal(t, thread.FrameReady, d.thread.Frame("f1").State)
}

func TestADeadlineReroutesAFailedStep(t *testing.T) {
	t.Parallel()
	table := thread.DefaultKinds()
	table[2].Deadline = &runtime.Deadline{After: time.Hour, Then: "reroute", Target: "plan"}
	for target, want := range map[string]thread.Status{"plan": thread.StatusRunning,
		"moon": thread.StatusFailed} {
		d := newDesk(t, table...)
		d.fail(thread.Permanent(errDown), target)
		d.now = d.thread.Wake()
		d.do((*thread.Change).ApplyDue)
		assert.Equal(t, want, d.thread.Status())
		if want == thread.StatusRunning {
			assert.Equal(t, "plan", d.thread.Frame("f1").RouteTo)
		}
	}
}

func TestAStepThatAskedAndThenFailedHasFailed(t *testing.T) {
	t.Parallel()
	for _, questions := range []int{1, 2, 3} {
		d := newDesk(t)
		for n := range questions {
			d.ask("f1", "agent_question", q(strconv.Itoa(n)))
		}
		d.fail(errDown)
		assert.Equal(t, thread.FrameRetrying, d.thread.Frame("f1").State)
		for n := range questions {
			assert.Equal(t, thread.InterruptSuperseded, d.state(fmt.Sprint("i", n+1)))
		}
	}
}

func TestWhatWaitedBehindAFailedStepHasItsTurn(t *testing.T) {
	t.Parallel()
	for _, err := range []error{errDown, thread.Permanent(errDown)} {
		d := newDesk(t, append([]runtime.Kind{{Name: "alarm", Clash: "queue"}},
			thread.DefaultKinds()...)...)
		ids := d.spawn("f1", "a", "b")
		d.ask(ids[0], "alarm", q("x"))
		waits := d.ask(ids[1], "agent_question", q("y"))
		assert.Equal(t, thread.InterruptQueued, d.state(waits.ID))
		d.do(func(c *thread.Change) { c.StepFailed(ids[0], err, nil) })
		assert.Equal(t, thread.InterruptOpen, d.state(waits.ID))
	}
}

func TestAFailureIsStoredWhole(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.fail(thread.Permanent(&thread.Failure{Code: runtime.CodeLoop, Text: "round and round"}))
	assert.Equal(t, runtime.CodeLoop, d.thread.Frame("f1").Attempts[0].Code,
		"a child's failure keeps its code")
	d = newDesk(t)
	d.fail(errors.New(strings.Repeat("é", 3000) + "\xff"))
	text := d.thread.Frame("f1").Attempts[0].Text
	assert.Equal(t, strings.Repeat("é", 1000)+"…", text, "and a text has an end")
	d = newDesk(t)
	d.fail(errors.New("a\xffb"))
	assert.Equal(t, "a\uFFFDb", d.thread.Frame("f1").Attempts[0].Text)
	d.do(func(c *thread.Change) { c.StepFailed("f9", errDown, nil); assert.True(t, c.Empty()) })
	assert.EqualError(t, &thread.Failure{Code: runtime.CodeLoop}, "loop")
	assert.EqualError(t, &thread.Failure{Code: runtime.CodeLoop, Text: "x"}, "loop: x")
}

func TestEffectsInDoubt(t *testing.T) {
	t.Parallel()
	doubt := func(d *desk) bool {
		var was bool
		d.do(func(c *thread.Change) { was = c.MarkInDoubt("f1") })
		return was
	}
	t.Run("what has an end is not doubted", func(t *testing.T) {
		t.Parallel()
		d := newDesk(t)
		d.do(func(c *thread.Change) {
			c.Add(thread.Entry{Type: thread.EntryEffect, Frame: "f1", Name: "a",
				State: thread.EffectDone})
			c.Add(thread.Entry{Type: thread.EntryEffect, Frame: "f1", Name: "b",
				State: thread.EffectFailed})
			assert.False(t, c.MarkInDoubt("f1"))
			assert.False(t, c.MarkInDoubt("f9"))
		})
		assert.Empty(t, d.thread.Open)
	})
	for name, tc := range map[string]struct {
		value  string
		effect *thread.Effect
		status thread.Status
	}{
		"it happened, with this value": {`{"choice":"done","value":{"id":7}}`,
			&thread.Effect{Name: "charge", State: thread.EffectDone, Value: raw(`{"id":7}`)},
			thread.StatusRunning},
		"it happened, and that is all": {`"done"`,
			&thread.Effect{Name: "charge", State: thread.EffectDone, Value: raw("null")},
			thread.StatusRunning},
		"it did not happen, and may": {`"run"`,
			&thread.Effect{Name: "charge", State: thread.EffectFailed}, thread.StatusRunning},
		"nobody knows, and that is enough": {`"abort"`, nil, thread.StatusCancelled},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			intend(d, "charge")
			require.True(t, doubt(d))
			i := d.thread.Open[0]
			assert.JSONEq(t,
				`{"code":"in_doubt","effect":"charge","key":"t/f1//1/charge","node":"root"}`,
				string(i.Payload))
			_, err := d.answer(thread.Answer{Value: raw(`"retry"`)})
			assert.Equal(t, runtime.CodeInvalid, runtime.CodeOf(err),
				"never again by an order that does not say so")
			_, err = d.answer(thread.Answer{Value: raw(tc.value), By: "ann"})
			require.NoError(t, err)
			assert.Equal(t, tc.status, d.thread.Status())
			if tc.effect != nil {
				assert.Equal(t, tc.effect, d.thread.Frame("f1").Effect("charge"))
				assert.False(t, doubt(d))
			}
		})
	}
	t.Run("each effect is asked about, once", func(t *testing.T) {
		t.Parallel()
		d := newDesk(t)
		intend(d, "charge", "mail")
		require.True(t, doubt(d))
		require.True(t, doubt(d), "it is still in doubt")
		require.Len(t, d.thread.Open, 2)
		_, err := d.answer(thread.Answer{Question: "in_doubt/mail", Value: raw(`"run"`)})
		require.NoError(t, err)
		assert.Equal(t, thread.StatusWaiting, d.thread.Status())
		_, err = d.answer(thread.Answer{Question: "in_doubt/charge", Value: raw(`"done"`)})
		require.NoError(t, err)
		assert.Equal(t, thread.StatusRunning, d.thread.Status())
	})
	t.Run("a pause that supersedes the question does not end the doubt", func(t *testing.T) {
		t.Parallel()
		d := newDesk(t)
		intend(d, "charge")
		require.True(t, doubt(d))
		d.pause()
		assert.Equal(t, thread.InterruptSuperseded, d.state("i1"))
		_, err := d.answer(thread.Answer{Value: raw(`"continue"`)})
		require.NoError(t, err)
		assert.Equal(t, thread.StatusRunning, d.thread.Status())
		require.True(t, doubt(d))
		assert.Equal(t, thread.StatusWaiting, d.thread.Status(),
			"it is asked anew before the step runs")
	})
	t.Run("no deadline settles it silently", func(t *testing.T) {
		t.Parallel()
		table := thread.DefaultKinds()
		table[2].Deadline = &runtime.Deadline{After: time.Hour, Then: "default", Answer: `"retry"`}
		d := newDesk(t, table...)
		intend(d, "charge")
		require.True(t, doubt(d))
		d.now = d.thread.Wake()
		d.do((*thread.Change).ApplyDue)
		assert.Equal(t, thread.StatusFailed, d.thread.Status())
	})
}
