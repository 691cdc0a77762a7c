package dialogue

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/chat"
	"github.com/routegen/routegen/runtime/internal/threadtest"
	"github.com/routegen/routegen/runtime/thread"
)

const unavailable = "I cannot read messages right now. Please try again later."

// TestOutageDoesNotCountAsAnAttempt: messages that nobody could read count neither as attempts nor
// as no progress, whatever the flow does about those.
func TestOutageDoesNotCountAsAnAttempt(t *testing.T) {
	t.Parallel()
	for _, then := range []string{"cancel", "handoff", "fallback"} {
		t.Run(then, func(t *testing.T) {
			alive(t, func(w *world) {
				w.bank()
				w.means("hm", says(runtime.CommandClarify, ""))
				spec := banking()
				spec.NoProgress, spec.NoProgThen, spec.Fallback = 3, then, 2
				w.run(spec)
				w.hears("send", "IBAN?")
				w.say("hm")
				w.nlu.fails.Store(true)
				for range 5 {
					turn := w.hears("NL1", unavailable, "IBAN?")
					assert.Equal(w, []string{"transfer"}, w.stack(turn.Thread))
				}
				w.nlu.fails.Store(false)
				w.hears("bad iban", "That does not do: the check digits are wrong.", "IBAN?")
				w.hears("NL1", "Amount?")
			})
		})
	}
}

// TestAnOutageIsSeen by the user, the caller, and those who read the log.
func TestAnOutageIsSeen(t *testing.T) {
	alive(t, func(w *world) {
		w.bank()
		w.cfg.Understand = understanderFunc(func(context.Context, string, Query) ([]runtime.Command,
			error) {
			return nil, &runtime.Error{Code: runtime.CodeForbidden, Op: "ask the model",
				Err: errors.New("the key is wrong")}
		})
		w.run(banking())
		var out threadtest.Written
		e, err := thread.Open(w.Context(), w.store,
			thread.Config{Log: slog.New(slog.NewJSONHandler(&out, nil))}, w.m)
		require.NoError(w, err)
		w.Cleanup(func() { kill(w.T, e) })
		talk := chat.Conversation{Engine: e, Machine: w.m}
		m := chat.Message{Thread: "t", ID: "m", User: "ann", Text: "send"}
		for range 2 { // the same message again says the same
			turn, err := talk.Deliver(w.Context(), m)
			require.NoError(w, err)
			assert.Equal(w, []string{unavailable}, turn.Lines)
			require.NotNil(w, turn.Failure)
			assert.Equal(w, runtime.CodeForbidden, turn.Failure.Code)
			assert.Equal(w, thread.StatusIdle, turn.Thread.Status())
		}
		assert.Equal(w, 1, countRows(w.T, out.String(), "WARN", "failure told",
			runtime.CodeForbidden))
	})
}

// countRows counts the rows of a log in JSON.
func countRows(t *testing.T, log, level, msg string, code runtime.Code) int {
	t.Helper()
	n := 0
	for line := range strings.Lines(log) {
		var row struct {
			Level string       `json:"level"`
			Msg   string       `json:"msg"`
			Code  runtime.Code `json:"code"`
		}
		require.NoError(t, json.Unmarshal([]byte(line), &row))
		if row.Level == level && row.Msg == msg && row.Code == code {
			n++
		}
	}
	return n
}

// TestAHandoffIsAlwaysTold, whatever leads to it.
func TestAHandoffIsAlwaysTold(t *testing.T) {
	t.Parallel()
	const told = "I pass you on to a colleague."
	for name, c := range map[string]struct {
		commands []runtime.Command
		want     []string
	}{
		"no progress": {[]runtime.Command{says(runtime.CommandClarify, "")},
			[]string{"Sends money.", "We do not seem to get any further.", told}},
		"a command": {[]runtime.Command{says(runtime.CommandHandoff, "")}, []string{told}},
		"a step":    {[]runtime.Command{cancels}, []string{told}},
		"at rest":   {nil, []string{told}},
	} {
		t.Run(name, func(t *testing.T) {
			alive(t, func(w *world) {
				w.bank()
				w.means("it", c.commands...)
				spec := banking(func(transfer *f) {
					transfer.steps[1].onCancel = "over"
					transfer.steps = append(transfer.steps, p{id: "over", kind: "handoff"})
					transfer.steps[4].next = "end"
				})
				spec.NoProgress, spec.NoProgThen = 1, "handoff"
				w.run(spec)
				if c.commands == nil {
					w.means("it", says(runtime.CommandHandoff, ""))
				} else {
					w.say("send")
					w.say("NL1")
				}
				turn := w.hears("it", c.want...)
				assert.Equal(w, thread.StatusHandedOff, turn.Thread.Status())
			})
		})
	}
}
