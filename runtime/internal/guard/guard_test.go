package guard_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/internal/guard"
)

func TestRunLimitedReturnsWhatTheFunctionReturns(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	n, err := guard.RunLimited(t.Context(), "test", time.Minute,
		func(context.Context) (int, error) {
			return 7, nil
		})
	require.NoError(t, err)
	assert.Equal(t, 7, n)
	_, err = guard.RunLimited(t.Context(), "test", time.Minute, func(context.Context) (int, error) {
		return 0, broken
	})
	assert.Equal(t, broken, err)
}

func TestRunLimitedReturnsAtItsLimit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		stop := make(chan struct{})
		began := time.Now()
		_, err := guard.RunLimited(t.Context(), "ask", time.Minute,
			func(context.Context) (int, error) {
				<-stop
				return 0, nil
			})
		require.ErrorIs(t, err, guard.ErrLate)
		assert.Equal(t, runtime.CodeUnavailable, runtime.CodeOf(err))
		assert.Equal(t, time.Minute, time.Since(began))
		close(stop)
	})
}

func TestRunLimitedIsLateAlsoIfTheFunctionStopsInTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		_, err := guard.RunLimited(t.Context(), "ask", time.Minute,
			func(ctx context.Context) (int, error) { <-ctx.Done(); return 0, ctx.Err() })
		require.ErrorIs(t, err, guard.ErrLate)
	})
}

func TestRunLimitedEndsWithTheContextOfItsCaller(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := guard.RunLimited(ctx, "ask", time.Minute, func(ctx context.Context) (int, error) {
			<-ctx.Done()
			return 0, ctx.Err()
		})
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.NotErrorIs(t, err, guard.ErrLate, "the code had time left")
	})
}

func TestRunLimitedTurnsAPanicIntoAnError(t *testing.T) {
	t.Parallel()
	_, err := guard.RunLimited(t.Context(), "act", time.Minute, func(context.Context) (int, error) {
		panic("boom")
	})
	require.ErrorIs(t, err, guard.ErrPanic)
	assert.Equal(t, runtime.CodeInternal, runtime.CodeOf(err))
	assert.ErrorContains(t, err, "panic: boom")
}
