package agui

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime/thread"
)

// says is the input of a run that says something after the messages that a front end has.
func says(run string, had []json.RawMessage, id, text string) string {
	said := fmt.Appendf(nil, `{"id":%q,"role":"user","content":%q}`, id, text)
	list, err := json.Marshal(append(slices.Clip(had), said))
	if err != nil {
		panic(err)
	}
	props := `"forwardedProps":{"by":"ann"}`
	return fmt.Sprintf(`{"threadId":"room","runId":%q,"messages":%s,%s}`, run, list, props)
}

// history is what a front end has after a run that asks.
func (s *stream) history() []json.RawMessage {
	s.Helper()
	all := s.of("MESSAGES_SNAPSHOT")
	require.Len(s, all, 1)
	return all[0].Messages
}

// answered counts the answers that the thread room has taken.
func (d *desk) answered() (n int) {
	d.Helper()
	rows, err := d.engine.History(d.Context(), "room", 0, 1000)
	require.NoError(d, err)
	for _, row := range rows {
		if row.Type == thread.EntryAnswered {
			n++
		}
	}
	return n
}

// TestRetryUnderAnotherRunID sends a message again whose connection broke, as the client of the
// protocol does it: the same message in a new run. It gets the rows of its turn and answers
// nothing, also after a restart.
func TestRetryUnderAnotherRunID(t *testing.T) {
	atDesks(t, func(d *desk) {
		d.open()
		ctx, drop := context.WithCancel(d.Context())
		res := d.post(ctx, deskToken, says("r1", nil, "m1", "maak rapport"))
		seen := 0
		for range framesIn(res) {
			if seen++; seen == 2 { // the message is stored, and the front end has seen no question
				break
			}
		}
		drop()
		_ = res.Body.Close()
		require.Equal(d, thread.StatusWaiting, d.settled().Status())
		again := d.run(says("r2", nil, "m1", "maak rapport"))
		i := again.asks()
		assert.Equal(d, []string{bothQuestions}, again.texts(), "the rows of its turn")
		d.restart()
		assert.Equal(d, i.ID, d.run(says("r3", nil, "m1", "maak rapport")).asks().ID)
		assert.Zero(d, d.answered(), "the message is no answer to the question that it led to")
		d.run(says("r4", nil, "m1", "maak koffie")).refuses("conflict") // another text of that id

		s := d.run(says("r5", again.history(), "m2", "Acme")).succeeds("Klaar.")
		assert.Equal(d, "Acme", s.result("q1").Content)
		d.run(says("r6", again.history(), "m2", "Acme")).succeeds("Klaar.")
		assert.Equal(d, 1, d.answered())
		assert.Equal(d, 1, d.asked(), "one turn")
	}, toTheQuestion(deskTells("reporting", "Klaar."))...)
}

// TestAnswerNeedsItsQuestion has a question that no tool call asks: a text answers it when the
// messages of its run have it, and only then.
func TestAnswerNeedsItsQuestion(t *testing.T) {
	atDesks(t, func(d *desk) {
		var said []string
		d.before = func(ctx context.Context) error {
			for _, name := range []string{"colour", "size"} {
				q := thread.Question{Text: "Which " + name + "?", Plain: thread.PlainText}
				text, err := thread.Ask[string](ctx, name, q)
				if err != nil {
					return err
				}
				said = append(said, text)
			}
			return nil
		}
		d.open()
		first := d.run(says("r1", nil, "m1", "doe het"))
		unseen := d.run(says("r2", nil, "m2", "snel graag"))
		unseen.refuses("pending_interrupt")
		assert.Equal(d, first.asks().ID, unseen.state().Interrupts[0].ID, "it says what is asked")
		second := d.run(says("r3", first.history(), "m3", "red"))
		assert.Equal(d, "Which size?", second.asks().Message)
		d.run(says("r4", first.history(), "m4", "blue")).refuses("pending_interrupt")
		assert.Equal(d, 1, d.answered())
		d.run(says("r5", second.history(), "m5", "large")).succeeds("Dag.")
		assert.Equal(d, []string{"red", "large"}, said[len(said)-2:])
	}, deskTells("general", "Dag."))
}

// TestReloadedPageGetsTheOpenQuestions runs with a fresh agent on a thread that waits: no
// message, no resumption.
func TestReloadedPageGetsTheOpenQuestions(t *testing.T) {
	atDesks(t, func(d *desk) {
		d.open()
		i := d.run(says("r1", nil, "m1", "maak rapport")).asks()
		d.restart()
		fresh := d.run(inputOf("r2", ""))
		assert.Equal(d, i, fresh.asks(), "as in the run that asked")
		assert.Empty(d, fresh.texts())
		d.run(inputOf("r3", "", resumes(i.ID, `"Acme"`))).succeeds("Klaar.")
		after := d.run(inputOf("r4", "")).succeeds()
		assert.Equal(d, "completed", after.state().Status, "nothing is asked now")
	}, toTheQuestion(deskTells("reporting", "Klaar."))...)
}
