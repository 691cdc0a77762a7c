package tui

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime/thread"
)

// result waits for the end of a thread and returns its result.
func (r *rig) result(id string) string {
	r.Helper()
	t, err := r.engine.Wait(r.Context(), id)
	require.NoError(r, err)
	require.Equal(r, thread.StatusDone, t.Status(), "%v", t.Failure)
	return string(t.Result)
}

func TestYesNo(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	id := r.begin("sure", "x")
	s := r.watch(id, 80, 24, true)
	t.Log("\n" + s.sees("Waits for an answer", "  Question", "Delete all of it?", "Enter answer"))
	s.keys(enterKey)
	t.Log("\n" + s.sees("── Question", "Files: 3", "> 1 Yes", "  2 No"))
	s.keys("\x1b[B") // down
	s.sees("> 2 No")
	s.keys(enterKey)
	s.sees("Your answer is taken.", "the thread is done: no")
	assert.Equal(t, "false", r.result(id))
	s.leave()
}

func TestChoice(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	id := r.begin("colour", "x")
	s := r.watch(id, 80, 24, true)
	s.sees("  Question", "Which colour?")
	s.keys(enterKey)
	t.Log("\n" + s.sees("> 1 Blue: like the sea", "  2 Green"))
	s.keys("2")
	s.sees("> 2 Green")
	s.keys(enterKey)
	s.sees("the thread is done: G")
	assert.Equal(t, `"G"`, r.result(id))
	s.leave()
}

// A text that the schema refuses stays where it was typed.
func TestTextThatIsRefused(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	id := r.begin("name", "x")
	s := r.watch(id, 80, 24, true)
	s.sees("  Question", "What is it called?")
	s.keys(enterKey)
	s.sees("Your answer:")
	s.keys("al" + enterKey)
	t.Log("\n" + s.sees("> al", "! Needs 3 characters or more"))
	assert.Empty(t, r.history(id, thread.EntryAnswered))
	s.keys("bert\x1b\r é") // Alt+Enter makes a new line
	s.sees("> albert", "   é")
	s.keys(enterKey)
	s.sees("Your answer is taken.")
	assert.Equal(t, `"albert\n é"`, r.result(id))
	s.leave()
}

// What is pasted is text, the ends of its lines included: they send nothing.
func TestPaste(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	id := r.begin("name", "x")
	s := r.watch(id, 80, 24, true)
	s.sees("  Question")
	s.keys("\x1b[200~q\rq\x1b[201~") // no form is open: these are no keys
	s.keys(enterKey)
	s.sees("Your answer:")
	s.keys("\x1b[200~one\rtwo\x07\x1b[201~")
	s.sees("> one", "  two")
	assert.Empty(t, r.history(id, thread.EntryAnswered))
	s.keys(enterKey)
	s.sees("Your answer is taken.")
	assert.Equal(t, `"one\ntwo"`, r.result(id))
	s.leave()
}

// An empty text is an answer, but not by accident.
func TestEmptyText(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	id := r.begin("evil", "x")
	s := r.watch(id, 80, 24, true)
	t.Log("\n" + s.sees("  Question", `red \u001b[31m\u202egnol\u0007 second line`))
	s.keys(enterKey)
	t.Log("\n" + s.sees("Your answer:", `red \u001b[31m\u202egnol\u0007`, "\nsecond line"))
	s.keys(enterKey)
	s.sees("Enter again answers with an empty text")
	assert.Empty(t, r.history(id, thread.EntryAnswered))
	s.keys(enterKey)
	s.sees("Your answer is taken.")
	assert.Equal(t, `""`, r.result(id))
	assert.NotContains(t, s.bytes(), "\u202e")
	s.leave()
}

// Somebody else answers what is being answered here: the draft stays, and nothing of it is sent.
func TestSomebodyElseAnswers(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	id := r.begin("name", "x")
	s := r.watch(id, 80, 24, true)
	s.sees("  Question", "What is it called?")
	s.keys(enterKey)
	s.sees("Your answer:")
	s.keys("my long draft")
	s.sees("> my long draft")
	_, err := r.client.Answer(t.Context(),
		thread.Answer{Interrupt: r.question(id).ID, Value: []byte(`"quick"`), By: "bob"})
	require.NoError(t, err)
	t.Log("\n" + s.sees("Closed meanwhile: bob answered “What is it called?”: quick.",
		"Your draft is kept", "> my long draft", "Esc close"))
	s.keys(enterKey)
	s.sees("! It can no longer be sent")
	s.keys(escKey)
	s.loses("my long draft")
	assert.Len(t, r.history(id, thread.EntryAnswered), 1)
	assert.Equal(t, `"quick"`, r.result(id))
	s.leave()
}

// Two answer at once: who comes second hears who was first.
func TestSecondAnswer(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	id := r.begin("sure", "x")
	s := r.watch(id, 80, 24, true)
	s.sees("  Question", "Delete all of it?")
	s.keys(enterKey)
	s.sees("> 1 Yes")
	_, err := r.client.Answer(t.Context(),
		thread.Answer{Interrupt: r.question(id).ID, Value: []byte(`false`), By: "bob"})
	require.NoError(t, err)
	s.keys(enterKey) // whichever of the two is heard of first, yes is not taken
	s.until("a refusal", func(screen string) bool {
		return strings.Contains(screen, "bob answered “Delete all of it?”: no")
	})
	assert.Equal(t, "false", r.result(id))
	s.leave()
}

// A failed step: the engine's own question, with its choices.
func TestSystemError(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	id := r.begin("broken", "x")
	s := r.watch(id, 80, 24, true)
	s.sees("  Failed step")
	s.keys(enterKey)
	t.Log("\n" + s.sees("Run it with another input",
		"Go on without it: with a result that you give", "End the thread"))
	for n := range 9 {
		if strings.Contains(s.text(), "> "+string(rune('1'+n))+" Go on without it") {
			break
		}
		s.keys("\x1b[B")
		s.sees("> " + string(rune('2'+n)))
	}
	s.keys(enterKey)
	s.sees("The result to take, as JSON; empty for none:")
	s.keys("blue" + enterKey)
	s.sees("! This is not JSON")
	s.keys("\x15" + `"blue"` + enterKey)
	s.sees("ann went on without the work: blue")
	s.leave()
}
