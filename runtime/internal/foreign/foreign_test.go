package foreign_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/internal/foreign"
)

func TestCallReturnsWhatTheCodeReturns(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	n, err := foreign.Call(t.Context(), "test", time.Minute, func(context.Context) (int, error) { return 7, nil })
	require.NoError(t, err)
	assert.Equal(t, 7, n)
	_, err = foreign.Call(t.Context(), "test", time.Minute, func(context.Context) (int, error) { return 0, broken })
	assert.Equal(t, broken, err)
}

func TestCallDoesNotWaitForWhatNeverEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		stop := make(chan struct{})
		began := time.Now()
		_, err := foreign.Call(t.Context(), "ask", time.Minute, func(context.Context) (int, error) { <-stop; return 0, nil })
		require.ErrorIs(t, err, foreign.ErrLate)
		assert.Equal(t, runtime.CodeUnavailable, runtime.CodeOf(err))
		assert.Equal(t, time.Minute, time.Since(began))
		close(stop)
	})
}

func TestCallTakesWhatHeedsItsTimeForLateToo(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		_, err := foreign.Call(t.Context(), "ask", time.Minute, func(ctx context.Context) (int, error) { <-ctx.Done(); return 0, ctx.Err() })
		require.ErrorIs(t, err, foreign.ErrLate)
	})
}

func TestCallEndsWithItsCaller(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := foreign.Call(ctx, "ask", time.Minute, func(ctx context.Context) (int, error) { <-ctx.Done(); return 0, ctx.Err() })
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.NotErrorIs(t, err, foreign.ErrLate, "the code had time left")
	})
}

func TestCallMakesAPanicAnError(t *testing.T) {
	t.Parallel()
	_, err := foreign.Call(t.Context(), "act", time.Minute, func(context.Context) (int, error) { panic("boom") })
	require.ErrorIs(t, err, foreign.ErrPanic)
	assert.Equal(t, runtime.CodeInternal, runtime.CodeOf(err))
	assert.ErrorContains(t, err, "panic: boom")
}
