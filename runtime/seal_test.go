package runtime_test

import (
	"encoding/json"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
)

// full is a thread in which every field is set.
func full(t tester) *desk {
	t.Helper()
	d := newDesk(t)
	d.rules.HoldEarly = true
	ids := d.spawn("f1", "a", "b", "c")
	question := guarded()
	question.Payload, question.Choices = raw(`{"html":"<b>&\u2028</b>"}`), []runtime.Choice{{Label: "<", Value: raw("null")}}
	d.do(func(c *runtime.Change) {
		c.Add(runtime.Entry{Type: runtime.EntryShows, Frame: "f1", Value: raw(`{"plan":null}`)})
		c.Add(runtime.Entry{Type: runtime.EntryStepped, Frame: ids[0], PC: "s", Value: raw("null")})
		c.Add(runtime.Entry{Type: runtime.EntryEffect, Frame: ids[0], Name: "e", State: runtime.EffectDone, Value: raw("null")})
		c.Ask(ids[0], "agent_question", question)
		c.StepFailed(ids[1], errDown, nil)
		c.Return(ids[2], raw("null"))
		c.Drive("me", d.now.Add(time.Minute))
	})
	_, err := d.answer(runtime.Answer{Question: "later", Value: raw("null"), Request: "r"})
	require.NoError(t, err)
	require.NoError(t, d.try(func(c *runtime.Change) error { return c.Claim("i1", "bob", false) }))
	_, err = d.escape(runtime.EscapeNow)
	require.NoError(t, err)
	return d
}

func TestWhatIsSealedComesBack(t *testing.T) {
	t.Parallel()
	d := full(t)
	text, err := runtime.Seal(d.thread)
	require.NoError(t, err)
	var back runtime.Thread
	require.NoError(t, runtime.Unseal(text, &back))
	for _, i := range d.thread.Open {
		one, err := runtime.Seal(i)
		require.NoError(t, err)
		var again runtime.Interrupt
		require.NoError(t, runtime.Unseal(one, &again))
		assert.Equal(t, i.Digest, runtime.DigestOf(&again.Question), "the digest survives the store")
		back.Open = append(back.Open, &again)
	}
	assert.Equal(t, d.sealed(d.thread), d.sealed(&back))
	assert.Equal(t, d.thread.Lease, back.Lease)
	assert.Equal(t, raw("null"), back.Frame("f2").Effect("e").Value, "null is a value, and absent is none")
	assert.Nil(t, back.Frame("f3").Input)

	entries, err := runtime.Seal(d.log)
	require.NoError(t, err)
	var log []runtime.Entry
	require.NoError(t, runtime.Unseal(entries, &log))
	again, err := runtime.Replay("t", log, func(id string) *runtime.Interrupt { return d.interrupts[id] })
	require.NoError(t, err)
	assert.Equal(t, d.sealed(d.thread), d.sealed(again), "a log from a store adds up to the same record")
}

func TestSealRefuses(t *testing.T) {
	t.Parallel()
	_, err := runtime.Seal(math.NaN())
	assert.Equal(t, runtime.CodeInvalid, runtime.CodeOf(err))
	_, err = runtime.Seal(&runtime.Interrupt{Answer: raw("{")})
	assert.Equal(t, runtime.CodeInvalid, runtime.CodeOf(err))
}

func TestAFlippedBitIsFound(t *testing.T) {
	t.Parallel()
	text, err := runtime.Seal(runtime.Lease{Owner: "a", Fence: 7})
	require.NoError(t, err)
	for n := range len(text) * 8 {
		bad := append([]byte(nil), text...)
		bad[n/8] ^= 1 << (n % 8)
		var l runtime.Lease
		assert.Equal(t, runtime.CodeInternal, runtime.CodeOf(runtime.Unseal(bad, &l)), "bit %d", n)
	}
	for n := range text {
		assert.Equal(t, runtime.CodeInternal, runtime.CodeOf(runtime.Unseal(text[:n], new(runtime.Lease))), "cut at %d", n)
	}
	assert.Equal(t, runtime.CodeInternal, runtime.CodeOf(runtime.Unseal(append(text, ' '), new(runtime.Lease))))
	assert.Equal(t, runtime.CodeInternal, runtime.CodeOf(runtime.Unseal(text, new(string))), "it is something else")
	require.NoError(t, runtime.Unseal(text, new(runtime.Lease)))
}

func FuzzUnseal(f *testing.F) {
	for _, v := range []any{&runtime.Thread{ID: "t"}, full(fuzzing{f}).thread, "x", nil, []int{1}} {
		text, err := runtime.Seal(v)
		require.NoError(f, err)
		f.Add(text, 0)
		f.Add(text, 9)
	}
	f.Add([]byte("00000000"), 1)
	f.Fuzz(func(t *testing.T, data []byte, bit int) {
		var thread runtime.Thread
		if runtime.Unseal(data, &thread) == nil {
			again, err := runtime.Seal(&thread)
			require.NoError(t, err)
			var back runtime.Thread
			require.NoError(t, runtime.Unseal(again, &back))
			_, _ = thread.Status(), thread.Wake()
		}
		if !json.Valid(data) {
			return
		}
		text, err := runtime.Seal(json.RawMessage(data))
		require.NoError(t, err)
		var same json.RawMessage
		require.NoError(t, runtime.Unseal(text, &same))
		assert.Equal(t, text, fmt.Appendf(same, "%s", text[len(text)-8:]))
		at := uint(bit) % uint(len(text)*8)
		text[at/8] ^= 1 << (at % 8)
		require.Error(t, runtime.Unseal(text, &same))
	})
}

// fuzzing lets a desk stand in a fuzz test.
type fuzzing struct{ *testing.F }
