package sqlite

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
)

func TestSmoke(t *testing.T) {
	ctx := context.Background()
	s, err := Open(ctx, filepath.Join(t.TempDir(), "a?b#c%41.db"), Config{})
	require.NoError(t, err)
	n := 0
	rules := &runtime.Rules{Kinds: runtime.DefaultKinds(), NewID: func() string { n++; return fmt.Sprintf("%026d", n) }}
	now := time.Now()
	c := runtime.Start("t1", "ann", "abc", rules, now)
	require.NoError(t, c.Begin("workflow", "node", []byte(`{"a": 1}`), "ann", "req1"))
	c.Ask("f1", "agent_question", runtime.Question{Name: "q", Text: "Sure?", Payload: []byte(`{"x": "<&>"}`)})
	require.NoError(t, s.Commit(ctx, c))
	require.Equal(t, runtime.CodeConflict, runtime.CodeOf(s.Commit(ctx, c)))
	got, err := s.Load(ctx, "t1")
	require.NoError(t, err)
	require.Equal(t, c.Thread, got)
	in, err := s.Interrupts(ctx, runtime.InterruptQuery{})
	require.NoError(t, err)
	require.Equal(t, c.Interrupts, in)
	log, err := s.Log(ctx, runtime.LogQuery{Thread: "t1"})
	require.NoError(t, err)
	t.Log(log)
	d := runtime.NewChange(got, rules, now)
	_, err = d.Answer(runtime.Answer{Value: []byte("true"), By: "bob", Request: "req2"})
	require.NoError(t, err)
	require.NoError(t, s.Commit(ctx, d))
	got, err = s.Load(ctx, "t1")
	require.NoError(t, err)
	require.Equal(t, d.Thread.Frames, got.Frames)
	rows, err := s.Threads(ctx, runtime.ThreadQuery{})
	require.NoError(t, err)
	t.Log(rows)
	log, err = s.Log(ctx, runtime.LogQuery{Thread: "t1", Request: "req2"})
	require.NoError(t, err)
	t.Log(log)
	require.NoError(t, s.Close())
}
