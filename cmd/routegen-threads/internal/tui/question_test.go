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
	r, id, s := watchNew(t, "sure", "x")
	t.Log("\n" + s.sees("Waits for an answer", "  Question", "Delete all of it?", "Enter answer"))
	t.Log("\n" + s.press(enterKey, "── Question", "Files: 3", "> 1 Yes", "  2 No"))
	s.keys("\x1b[B") // down
	s.sees("> 2 No")
	s.press(enterKey, "Your answer is taken.", "the thread is done: no")
	assert.Equal(t, "false", r.result(id))
	s.leave()
}

func TestChoice(t *testing.T) {
	t.Parallel()
	r, id, s := watchNew(t, "colour", "x")
	s.sees("  Question", "Which colour?")
	t.Log("\n" + s.press(enterKey, "> 1 Blue: like the sea", "  2 Green"))
	s.press("2", "> 2 Green")
	s.press(enterKey, "the thread is done: G")
	assert.Equal(t, `"G"`, r.result(id))
	s.leave()
}

// A text that the schema refuses stays where it was typed.
func TestTextThatIsRefused(t *testing.T) {
	t.Parallel()
	r, id, s := watchNew(t, "name", "x")
	s.sees("  Question", "What is it called?")
	s.press(enterKey, "Your answer:")
	t.Log("\n" + s.press("al"+enterKey, "> al", "! Needs 3 characters or more"))
	assert.Empty(t, r.history(id, thread.EntryAnswered))
	s.keys("bert\x1b\r é") // Alt+Enter makes a new line
	s.sees("> albert", "   é")
	s.press(enterKey, "Your answer is taken.")
	assert.Equal(t, `"albert\n é"`, r.result(id))
	s.leave()
}

// What is pasted is text, the ends of its lines included: they send nothing.
func TestPaste(t *testing.T) {
	t.Parallel()
	r, id, s := watchNew(t, "name", "x")
	s.sees("  Question")
	s.keys("\x1b[200~q\rq\x1b[201~") // no form is open: these are no keys
	s.press(enterKey, "Your answer:")
	s.press("\x1b[200~one\rtwo\x07\x1b[201~", "> one", "  two")
	assert.Empty(t, r.history(id, thread.EntryAnswered))
	s.press(enterKey, "Your answer is taken.")
	assert.Equal(t, `"one\ntwo"`, r.result(id))
	s.leave()
}

// An empty text is an answer, but not by accident.
func TestEmptyText(t *testing.T) {
	t.Parallel()
	r, id, s := watchNew(t, "evil", "x")
	t.Log("\n" + s.sees("  Question", `red \u001b[31m\u202egnol\u0007 second line`))
	s.keys(enterKey)
	t.Log("\n" + s.sees("Your answer:", `red \u001b[31m\u202egnol\u0007`, "\nsecond line"))
	s.press(enterKey, "Enter again answers with an empty text")
	assert.Empty(t, r.history(id, thread.EntryAnswered))
	s.press(enterKey, "Your answer is taken.")
	assert.Equal(t, `""`, r.result(id))
	assert.NotContains(t, s.bytes(), "\u202e")
	s.leave()
}

// Somebody else answers what is being answered here: the draft stays, and nothing of it is sent.
func TestSomebodyElseAnswers(t *testing.T) {
	t.Parallel()
	r, id, s := watchNew(t, "name", "x")
	s.sees("  Question", "What is it called?")
	s.press(enterKey, "Your answer:")
	s.press("my long draft", "> my long draft")
	_, err := r.client.Answer(t.Context(),
		thread.Answer{Interrupt: r.question(id).ID, Value: []byte(`"quick"`), By: "bob"})
	require.NoError(t, err)
	t.Log("\n" + s.sees("Closed meanwhile: bob answered “What is it called?”: quick.",
		"Your draft is kept", "> my long draft", "Esc close"))
	s.press(enterKey, "! It can no longer be sent")
	s.keys(escKey)
	s.loses("my long draft")
	assert.Len(t, r.history(id, thread.EntryAnswered), 1)
	assert.Equal(t, `"quick"`, r.result(id))
	s.leave()
}

// Two answer at once: who comes second hears who was first.
func TestSecondAnswer(t *testing.T) {
	t.Parallel()
	r, id, s := watchNew(t, "sure", "x")
	s.sees("  Question", "Delete all of it?")
	s.press(enterKey, "> 1 Yes")
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
	_, _, s := watchNew(t, "broken", "x")
	s.sees("  Failed step")
	t.Log("\n" + s.press(enterKey, "Run it with another input",
		"Go on without it: with a result that you give", "End the thread"))
	for n := range 9 {
		if strings.Contains(s.text(), "> "+string(rune('1'+n))+" Go on without it") {
			break
		}
		s.press("\x1b[B", "> "+string(rune('2'+n)))
	}
	s.press(enterKey, "The result to take, as JSON; empty for none:")
	s.press("blue"+enterKey, "! This is not JSON")
	s.press("\x15"+`"blue"`+enterKey, "ann went on without the work: blue")
	s.leave()
}
