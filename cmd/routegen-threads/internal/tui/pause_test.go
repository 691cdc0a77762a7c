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
			r := newRig(t)
			id := r.begin("plan", "a,b")
			s := r.watch(id, 80, 24, true)
			s.sees("[>] 1 a")
			s.keys(escKey)
			s.sees("The pause is requested.")
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
	r := newRig(t)
	id := r.begin("plan", "a,b")
	s := r.watch(id, 80, 24, true)
	s.sees("[>] 1 a")
	s.keys(escKey)
	s.sees("The pause is requested.")
	s.keys(escKey)
	t.Log("\n" + s.sees("The pause is taken back", "Esc pause after all"))
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
	r := newRig(t)
	id := r.begin("plan", "a")
	s := r.watch(id, 80, 24, true)
	s.sees("[>] 1 a")
	s.keys(escKey + escKey)
	s.sees("The pause is taken back")
	r.let("a")
	s.sees("the thread is done: all done")
	s.leave()
}

// A pause need not wait for the step.
func TestPauseNow(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	id := r.begin("plan", "a,b")
	s := r.watch(id, 80, 24, true)
	s.sees("[>] 1 a")
	s.keys(escKey)
	s.sees("n pause now")
	s.keys("n")
	s.sees("The work is paused", "The plan: 0 of 2 done")
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
	s.keys(escKey)
	s.sees("Nothing runs, so there is nothing to pause.")
	assert.Len(t, r.history(id, thread.EntryEscape), before)
	s.leave()
}

// Somebody else lets the work go on while a change is being written. It is there again at the next
// pause.
func TestDraftOfAChange(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	id := r.begin("plan", "a,b,c")
	s := r.watch(id, 80, 24, true)
	s.sees("[>] 1 a")
	s.keys(escKey)
	s.sees("The pause is requested.")
	r.let("a")
	s.sees("How should it change?")
	s.keys("x,y")
	s.sees("> x,y")
	_, err := r.client.Answer(t.Context(),
		thread.Answer{Interrupt: r.question(id).ID, Value: []byte(`"continue"`), By: "bob"})
	require.NoError(t, err)
	t.Log("\n" + s.sees("Closed meanwhile: bob answered", "Your draft is kept", "> x,y"))
	s.keys(escKey)
	s.sees("[>] 2 b", "Esc pause")
	s.keys(escKey)
	s.sees("The pause is requested.")
	r.let("b")
	s.sees("How should it change?", "> x,y")
	s.keys(enterKey)
	s.sees("[>] 3 x", "[ ] 4 y")
	assert.Equal(t, []string{"x,y"}, r.modifications())
	s.leave()
}

// A question waits; a pause takes its place; the draft of the answer is kept for when it is asked
// again.
func TestPauseOverAQuestion(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	id := r.begin("name", "x")
	s := r.watch(id, 80, 24, true)
	s.sees("  Question", "What is it called?")
	s.keys(enterKey)
	s.sees("Your answer:")
	s.keys("half a na")
	s.sees("> half a na")
	_, err := r.client.Escape(t.Context(), id, thread.EscapeSafe, "bob", "wait")
	require.NoError(t, err)
	t.Log("\n" + s.sees("Closed meanwhile", "makes way for", "> half a na"))
	s.keys(escKey)
	t.Log("\n" + s.sees("  Paused", "Esc change the plan"))
	s.keys(escKey)
	s.sees("No plan available.", "How should it change?")
	s.keys(escKey)
	s.sees("  Question", "What is it called?")
	s.keys(enterKey)
	s.sees("> half a na")
	s.keys("me" + enterKey)
	s.sees("the thread is done: half a name")
	s.leave()
}

// The thread can be ended from a pause, on purpose only.
func TestEndFromAPause(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	id := r.begin("plan", "a,b")
	s := r.watch(id, 80, 24, true)
	s.sees("[>] 1 a")
	s.keys(escKey)
	s.sees("n pause now")
	s.keys("n")
	s.sees("How should it change?")
	s.keys("\x18")
	s.sees("! Ctrl+X again ends the thread for good")
	s.keys("z")
	s.keys("\x18")
	s.sees("> z")
	assert.Empty(t, r.history(id, thread.EntryOver))
	s.keys("\x18")
	s.sees("ann ended the thread")
	s.leave()
}

// Leaving answers nothing.
func TestLeaveWhilePaused(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	id := r.begin("plan", "a,b")
	s := r.watch(id, 80, 24, true)
	s.sees("[>] 1 a")
	s.keys(escKey)
	s.sees("The pause is requested.")
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
	r := newRig(t)
	id := r.begin("plan", "a,b")
	s := r.watch(id, 80, 24, true)
	s.sees("[>] 1 a")
	s.keys(escKey)
	s.sees("The pause is requested.")
	s.leave()
	assert.True(t, s.paused)
}
