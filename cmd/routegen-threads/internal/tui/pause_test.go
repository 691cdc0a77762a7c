package tui

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime/thread"
)

// P4: leaving the form, or sending nothing, changes nothing.
func TestPauseWithoutChange(t *testing.T) {
	t.Parallel()
	for name, keys := range map[string][]string{
		"Esc":           {escKey},
		"a draft, Esc":  {"something", escKey},
		"empty Enter":   {enterKey},
		"blanks, Enter": {"  ", enterKey},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, id, s := watchNew(t, "plan", "a,b")
			s.sees("[>] 1 a")
			s.press(escKey, "The pause is requested.")
			r.let("a")
			s.sees("How should it change?")
			for _, k := range keys {
				s.keys(k)
				if k == "something" {
					s.sees("> something")
				}
			}
			s.sees("Nothing is changed: the work goes on.", "[>] 2 b")
			r.let("b")
			s.sees("the thread is done: all done")
			assert.Empty(t, r.modifications())
			assert.Empty(t, r.history(id, thread.EntryModified))
			s.leave()
		})
	}
}

// Esc and Esc again, before the pause has come: it is taken back.
func TestPauseTakenBack(t *testing.T) {
	t.Parallel()
	r, id, s := watchNew(t, "plan", "a,b")
	s.sees("[>] 1 a")
	s.press(escKey, "The pause is requested.")
	t.Log("\n" + s.press(escKey, "The pause is taken back", "Esc pause after all"))
	r.let("a")
	s.sees("[>] 2 b", "Nothing is changed: the work goes on.")
	r.let("b")
	s.sees("the thread is done: all done")
	assert.Empty(t, r.modifications())
	assert.Len(t, r.history(id, thread.EntryPaused), 1)
	s.leave()
}

// Both keys in one packet are two keys.
func TestEscTwiceAtOnce(t *testing.T) {
	t.Parallel()
	r, _, s := watchNew(t, "plan", "a")
	s.sees("[>] 1 a")
	s.press(escKey+escKey, "The pause is taken back")
	r.let("a")
	s.sees("the thread is done: all done")
	s.leave()
}

// A pause need not wait for the step.
func TestPauseNow(t *testing.T) {
	t.Parallel()
	r, _, s := watchNew(t, "plan", "a,b")
	s.sees("[>] 1 a")
	s.press(escKey, "n pause now")
	s.press("n", "The work is paused", "The plan: 0 of 2 done")
	s.keys(escKey)
	r.let("a", "b")
	s.sees("the thread is done: all done")
	s.leave()
}

// P5: nothing runs.
func TestPauseOfNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	id := r.begin("plan", "a")
	r.let("a")
	s := r.watch(id, 80, 24, true)
	assert.NotContains(t, s.sees("the thread is done: all done", "done · thread "+id), "Esc pause")
	before := len(r.history(id, thread.EntryEscape))
	s.press(escKey, "Nothing runs, so there is nothing to pause.")
	assert.Len(t, r.history(id, thread.EntryEscape), before)
	s.leave()
}

// Somebody else lets the work go on while a change is being written. It is there again at the next
// pause.
func TestDraftOfAChange(t *testing.T) {
	t.Parallel()
	r, id, s := watchNew(t, "plan", "a,b,c")
	s.sees("[>] 1 a")
	s.press(escKey, "The pause is requested.")
	r.let("a")
	s.sees("How should it change?")
	s.press("x,y", "> x,y")
	_, err := r.client.Answer(t.Context(),
		thread.Answer{Interrupt: r.question(id).ID, Value: []byte(`"continue"`), By: "bob"})
	require.NoError(t, err)
	t.Log("\n" + s.sees("Closed meanwhile: bob answered", "Your draft is kept", "> x,y"))
	s.press(escKey, "[>] 2 b", "Esc pause")
	s.press(escKey, "The pause is requested.")
	r.let("b")
	s.sees("How should it change?", "> x,y")
	s.press(enterKey, "[>] 3 x", "[ ] 4 y")
	assert.Equal(t, []string{"x,y"}, r.modifications())
	s.leave()
}

// A question waits; a pause takes its place; the draft of the answer is kept for when it is asked
// again.
func TestPauseOverAQuestion(t *testing.T) {
	t.Parallel()
	r, id, s := watchNew(t, "name", "x")
	s.sees("  Question", "What is it called?")
	s.press(enterKey, "Your answer:")
	s.press("half a na", "> half a na")
	_, err := r.client.Escape(t.Context(), id, thread.EscapeSafe, "bob", "wait")
	require.NoError(t, err)
	t.Log("\n" + s.sees("Closed meanwhile", "makes way for", "> half a na"))
	t.Log("\n" + s.press(escKey, "  Paused", "Esc change the plan"))
	s.press(escKey, "No plan available.", "How should it change?")
	s.press(escKey, "  Question", "What is it called?")
	s.press(enterKey, "> half a na")
	s.press("me"+enterKey, "the thread is done: half a name")
	s.leave()
}

// The thread can be ended from a pause, on purpose only.
func TestEndFromAPause(t *testing.T) {
	t.Parallel()
	r, id, s := watchNew(t, "plan", "a,b")
	s.sees("[>] 1 a")
	s.press(escKey, "n pause now")
	s.press("n", "How should it change?")
	s.press("\x18", "! Ctrl+X again ends the thread for good")
	s.keys("z")
	s.press("\x18", "> z")
	assert.Empty(t, r.history(id, thread.EntryOver))
	s.press("\x18", "ann ended the thread")
	s.leave()
}

// Leaving answers nothing.
func TestLeaveWhilePaused(t *testing.T) {
	t.Parallel()
	r, id, s := watchNew(t, "plan", "a,b")
	s.sees("[>] 1 a")
	s.press(escKey, "The pause is requested.")
	r.let("a")
	s.sees("How should it change?")
	s.leave()
	assert.True(t, s.paused)
	assert.Equal(t, thread.KindUserEscape, r.question(id).Kind)
	again := r.watch(id, 80, 24, true)
	again.sees("  Paused", "paused · thread")
	again.keys(escKey)
	again.sees("How should it change?", "The plan: 1 of 2 done")
	again.leave()
}

// A pause that was asked for comes, whether somebody looks or not.
func TestLeaveBeforeThePause(t *testing.T) {
	t.Parallel()
	_, _, s := watchNew(t, "plan", "a,b")
	s.sees("[>] 1 a")
	s.press(escKey, "The pause is requested.")
	s.leave()
	assert.True(t, s.paused)
}
