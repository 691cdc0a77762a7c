package chat_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/chat"
	"github.com/routegen/routegen/runtime/store/mem"
	"github.com/routegen/routegen/runtime/thread"
)

// newOrders returns a conversation over a function that asks for what its input does not say. The
// tests of the packages workflow and dialogue deliver messages to nodes and to flows.
func newOrders(t *testing.T) *chat.Conversation {
	t.Helper()
	m := thread.Turns("orders", func(ctx context.Context, in string) (string, error) {
		if in == "fail" {
			return "", thread.Permanent(assert.AnError)
		}
		if err := thread.Say(ctx, "taken", map[string]string{"text": in + ", good."}); err != nil {
			return "", err
		}
		size, err := thread.Ask[*string](ctx, "size",
			thread.Question{Text: "Which size?", Plain: thread.PlainText})
		switch {
		case err != nil:
			return "", err
		case size == nil: // skipped
			return in, nil
		case in != "wait":
			return in + " " + *size, nil
		}
		_, err = thread.Ask[bool](ctx, "allowed", thread.Question{Text: "Allowed?",
			Assignees: []string{"boss"}})
		return "", err
	})
	engine, err := thread.Open(t.Context(), mem.Open(), thread.Config{}, m)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, engine.Close(context.Background())) })
	return &chat.Conversation{Engine: engine, Machine: m, Cancel: []string{"stop"},
		Skip: []string{"any"}}
}

func said(id, text string) chat.Message {
	return chat.Message{Thread: "t", ID: id, User: "ann", Text: text}
}

func TestTextBeginsATurnAndAnswersItsQuestion(t *testing.T) {
	t.Parallel()
	c := newOrders(t)
	asked, err := c.Deliver(t.Context(), said("1", "tea"))
	require.NoError(t, err)
	assert.Equal(t, []string{"tea, good."}, asked.Reply)
	assert.Equal(t, []string{"tea, good.", "Which size?"}, asked.Lines)
	require.Len(t, asked.Questions, 1)
	ended, err := c.Deliver(t.Context(), said("2", "big"))
	require.NoError(t, err)
	assert.Equal(t, thread.StatusIdle, ended.Thread.Status())
	assert.JSONEq(t, `"tea big"`, string(ended.Thread.Result))
	assert.Empty(t, ended.Questions)
	assert.Empty(t, ended.Lines)
}

func TestSameMessageAgainHasTheSameTurn(t *testing.T) {
	t.Parallel()
	c := newOrders(t)
	first, err := c.Deliver(t.Context(), said("1", "tea"))
	require.NoError(t, err)
	_, err = c.Deliver(t.Context(), said("2", "big"))
	require.NoError(t, err)
	again, err := c.Deliver(t.Context(), said("1", "tea"))
	require.NoError(t, err)
	assert.Equal(t, first.Lines, again.Lines, "also when its question is answered")
	assert.Equal(t, thread.StatusIdle, again.Thread.Status(), "the thread is as it is now")
}

func TestMessageWithoutIDIsANewOne(t *testing.T) {
	t.Parallel()
	c := newOrders(t)
	for _, text := range []string{"tea", "big", "tea", "big"} {
		_, err := c.Deliver(t.Context(), said("", text))
		require.NoError(t, err)
	}
	at, err := c.Engine.Thread(t.Context(), "t")
	require.NoError(t, err)
	assert.Equal(t, 2, at.Turn)
}

func TestWordsCancelAndSkip(t *testing.T) {
	t.Parallel()
	c := newOrders(t)
	_, err := c.Deliver(t.Context(), said("1", "tea"))
	require.NoError(t, err)
	turn, err := c.Deliver(t.Context(), said("2", "Stop!"))
	require.NoError(t, err)
	assert.Equal(t, []string{"Cancelled."}, turn.Reply)
	assert.Nil(t, turn.Thread.Result)
	_, err = c.Deliver(t.Context(), said("3", "tea"))
	require.NoError(t, err)
	turn, err = c.Deliver(t.Context(), said("4", "any"))
	require.NoError(t, err)
	assert.JSONEq(t, `"tea"`, string(turn.Thread.Result))
}

func TestTurnThatWaitsForAnotherPersonSaysSo(t *testing.T) {
	t.Parallel()
	c := newOrders(t)
	c.Pending = "The boss decides."
	_, err := c.Deliver(t.Context(), said("1", "wait"))
	require.NoError(t, err)
	turn, err := c.Deliver(t.Context(), said("2", "big"))
	require.NoError(t, err)
	assert.Equal(t, []string{"Allowed?"}, turn.Lines)
	_, err = c.Deliver(t.Context(), said("3", "yes"))
	assert.Equal(t, runtime.CodeConflict, runtime.CodeOf(err))
	pending := new(thread.PendingError)
	require.ErrorAs(t, err, &pending)
	assert.Equal(t, []string{turn.Questions[0].ID}, pending.Open)
}

func TestRefusedMessagesChangeNothing(t *testing.T) {
	t.Parallel()
	c := newOrders(t)
	_, err := c.Deliver(t.Context(), said("0", ""))
	assert.Equal(t, runtime.CodeInvalid, runtime.CodeOf(err), "no text, and no thread")
	before, err := c.Deliver(t.Context(), said("1", "tea"))
	require.NoError(t, err)
	open := before.Questions[0].ID
	for name, refused := range map[string]struct {
		m    chat.Message
		code runtime.Code
	}{
		"another user's thread": {chat.Message{Thread: "t", User: "eve", Text: "big"},
			runtime.CodeForbidden},
		"no text": {said("2", ""), runtime.CodeInvalid},
		"written away": {chat.Message{Thread: "t", User: "ann", Text: "big", Away: true},
			runtime.CodeConflict},
		"question not seen": {chat.Message{Thread: "t", User: "ann", Text: "big",
			Open: []string{}}, runtime.CodeConflict},
		"answer to no interrupt": {chat.Message{Thread: "t", User: "ann",
			Answers: []thread.Answer{{Text: "big"}}}, runtime.CodeInvalid},
	} {
		_, err := c.Deliver(t.Context(), refused.m)
		assert.Equal(t, refused.code, runtime.CodeOf(err), name)
	}
	after, err := c.Engine.Thread(t.Context(), "t")
	require.NoError(t, err)
	assert.Equal(t, before.Thread.Seq, after.Seq)
	_, err = c.Deliver(t.Context(), chat.Message{Thread: "t", User: "ann", Open: []string{open},
		Answers: []thread.Answer{{Interrupt: open, Text: "big"}}})
	require.NoError(t, err)
}

func TestFailedTurnLeavesTheConversation(t *testing.T) {
	t.Parallel()
	c := newOrders(t)
	turn, err := c.Deliver(t.Context(), said("1", "fail"))
	require.NoError(t, err)
	assert.Equal(t, thread.StatusWaiting, turn.Thread.Status(), "a person looks at the failure")
	turn, err = c.Deliver(t.Context(), chat.Message{Thread: "t", User: "ann", Cancel: true})
	require.NoError(t, err)
	assert.Equal(t, thread.StatusIdle, turn.Thread.Status())
	_, err = c.Deliver(t.Context(), said("2", "tea"))
	require.NoError(t, err)
}
