package thread_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/store/mem"
	"github.com/routegen/routegen/runtime/thread"
)

func TestSmoke(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	charged := 0
	m := thread.Func("greet", func(ctx context.Context, in string) (string, error) {
		id, err := thread.Do(ctx, "charge", func(_ context.Context, key string) (string, error) { charged++; return key, nil })
		if err != nil {
			return "", err
		}
		name, err := thread.Ask[string](ctx, "name", runtime.Question{Text: "Name?", Plain: runtime.PlainText})
		if err != nil {
			return "", err
		}
		return in + " " + name + " " + id, nil
	})
	e, err := thread.Open(ctx, mem.Open(), thread.Config{}, m)
	require.NoError(t, err)
	th, err := e.Start(ctx, thread.Begin{Machine: "greet", Input: "hi", User: "ann"})
	require.NoError(t, err)
	require.Equal(t, runtime.StatusWaiting, th.Status())
	require.Len(t, th.Open, 1)
	th, err = e.Deliver(ctx, thread.Message{Thread: th.ID, Text: "Bob"})
	require.NoError(t, err)
	require.Equal(t, runtime.StatusDone, th.Status())
	t.Log(string(th.Result))
	require.Equal(t, 1, charged)
	h, err := e.History(ctx, th.ID, 0, 0)
	require.NoError(t, err)
	for _, x := range h {
		t.Logf("%+v", x)
	}
	require.NoError(t, e.Close(ctx))
}
