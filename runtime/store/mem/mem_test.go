package mem_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/store/mem"
)

// start is a thread with one question, as a change.
func asks(id string, now time.Time) *runtime.Change {
	rules := &runtime.Rules{Kinds: runtime.DefaultKinds(), NewID: func() string { return "i-" + id }}
	c := runtime.Start(id, "ann", "", rules, now)
	frame := c.Enter(runtime.Frame{Machine: "workflow", Name: "approve"}, "ann", "")
	c.Ask(frame, runtime.KindAgentQuestion, runtime.Question{Name: "ok", Text: "May I?"})
	return c
}

// TestTheInboxIsFast holds the first page of a large inbox, and a commit beside it, to a time that a scan could not keep.
func TestTheInboxIsFast(t *testing.T) {
	t.Parallel()
	ctx, s := context.Background(), mem.Open()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	const many = 100_000
	for n := range many {
		require.NoError(t, s.Commit(ctx, asks(fmt.Sprintf("%06d", (n*7919)%many), now.Add(time.Duration(n%1000)*time.Second))))
	}
	best := time.Hour
	for range 5 {
		began := time.Now()
		page, err := s.Interrupts(ctx, runtime.InterruptQuery{Limit: 50})
		best = min(best, time.Since(began))
		require.NoError(t, err)
		require.Len(t, page, 50)
	}
	assert.Less(t, best, 5*time.Millisecond)
	t.Log(best)
}
