package otel_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/internal/threadtest"
	"github.com/routegen/routegen/runtime/store/mem"
	"github.com/routegen/routegen/runtime/thread"
)

const canary = "CANARY-7f3a"

// secretive puts the canary wherever a handler can put text of a user, and fails with it in the
// end.
func secretive() thread.Machine {
	return thread.Func("secretive", func(ctx context.Context, in string) (string, error) {
		secret := json.RawMessage(`"` + canary + `"`)
		if _, err := thread.Do(ctx, "effect", func(context.Context, string) (string, error) {
			return canary, nil
		}); err != nil {
			return "", err
		}
		if err := errors.Join(thread.Say(ctx, "message", canary),
			thread.SetContext(ctx, canary)); err != nil {
			return "", err
		}
		answered, err := thread.Ask[string](ctx, "question", thread.Question{
			Text: canary, Payload: secret,
			Choices: []thread.Choice{{Label: canary, Value: secret, Description: canary}},
		})
		switch {
		case err != nil:
			return "", err
		case in == "panic":
			panic(answered)
		case in == "fail":
			return "", thread.Permanent(&runtime.Error{Code: runtime.CodeUnavailable, Op: canary,
				Err: errors.New(answered)})
		default:
			return answered, nil
		}
	})
}

func TestNothingSecretIsExported(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	r, store, logged := newRig(t), mem.Open(), &threadtest.Written{}
	e :=
		r.open(t, store,
			thread.Config{Log: slog.New(
				slog.NewJSONHandler(logged, &slog.HandlerOptions{Level: slog.LevelDebug}))},
			thread.TakesChanges(secretive()))
	ids := []string{"fail", "panic", "pass", "paused"}
	for _, id := range ids {
		_, err := e.Start(ctx, thread.Begin{ID: id, Machine: "secretive", Input: id})
		require.NoError(t, err)
		settled(t, e, id)
	}
	_, err := e.Escape(ctx, "paused", thread.EscapeNow, "ann", canary)
	require.NoError(t, err)
	for th := settled(t, e, "paused"); !th.Paused(); th = settled(t, e, "paused") {
	}
	answer(t, e, "paused", thread.Answer{Value: []byte(`{"choice":"modify","text":"` + canary +
		`"}`), By: "ann"})
	for _, id := range ids {
		answer(t, e, id, thread.Answer{Value: []byte(`"` + canary + `"`), By: "bob"})
	}
	_, err = e.Cancel(ctx, "panic", "ann", canary)
	require.NoError(t, err)
	_, err = e.Fork(ctx, "pass", settled(t, e, "pass").Seq, "fork", "ann")
	require.NoError(t, err)
	require.NoError(t, e.Close(ctx))

	spans, err := json.Marshal(r.spans.GetSpans())
	require.NoError(t, err)
	metrics, err := json.Marshal(r.metrics(t))
	require.NoError(t, err)
	rows, err := store.Log(ctx, thread.LogQuery{Limit: 1000})
	require.NoError(t, err)
	var history strings.Builder
	for _, row := range rows {
		fmt.Fprintf(&history, "%s %s\n", row.Value, row.Text)
	}
	require.Contains(t, history.String(), canary, "the control: the canary was there to be told")
	for name, told := range map[string]string{
		"spans": string(spans), "spans as they are": fmt.Sprintf("%+v", r.spans.GetSpans()),
		"metrics": string(metrics), "log": logged.String(),
	} {
		assert.Contains(t, told, "agent_question", name+": the control: something was told")
		assert.NotContains(t, told, canary, name)
	}
	codes := map[string]string{}
	for _, s := range r.named("step secretive") {
		if code := value(s, "error.type"); code != "" {
			codes[value(s, "routegen.thread")] = code
		}
	}
	assert.Equal(t, map[string]string{"fail": "unavailable", "panic": "internal"}, codes)
}
