//go:build unix

package postgres

import (
	"context"
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
)

// Two engines with a store each are what two processes have.
func TestEnginesOnTwoStoresShareThreads(t *testing.T) {
	t.Parallel()
	d := migrated(t)
	engines := make([]*thread.Engine, 2)
	stores := make([]*Store, 2)
	stuck := make(chan struct{})
	waits := thread.Func("waits", func(ctx context.Context, _ int) (string, error) {
		return thread.Do(ctx, "work", func(ctx context.Context, _ string) (string, error) {
			select {
			case <-stuck: // the second run goes on
				return "done", nil
			case <-ctx.Done():
				return "", ctx.Err()
			}
		})
	})
	for n := range engines {
		stores[n] = opened(t, d)
		e, err := thread.Open(t.Context(), stores[n], thread.Config{Clock: stores[n],
			Lease: 2 * time.Second, Poll: 100 * time.Millisecond}, mailer, waits)
		require.NoError(t, err)
		t.Cleanup(func() {
			ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
			defer cancel()
			_ = e.Close(ctx)
		})
		engines[n] = e
	}
	asked, err := engines[0].Start(t.Context(), thread.Begin{Machine: "mail", Input: 1})
	require.NoError(t, err)
	if asked.Status() == thread.StatusRunning {
		asked, err = engines[0].Wait(t.Context(), asked.ID)
		require.NoError(t, err)
	}
	inbox, err := engines[1].Inbox(t.Context(), thread.InterruptQuery{})
	require.NoError(t, err)
	require.Len(t, inbox, 1)
	_, err = engines[1].Answer(t.Context(), asked.ID, thread.Answer{Value: []byte(`true`), By: "bob"})
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		had, err := stores[0].Load(context.Background(), asked.ID)
		return err == nil && had.Over == thread.StatusDone && string(had.Result) == `"sent"`
	}, 20*time.Second, 10*time.Millisecond)

	// the first process loses the database in the middle of a step, as if it had died
	running, err := engines[0].Start(t.Context(), thread.Begin{Machine: "waits", Input: 1})
	require.NoError(t, err)
	require.Equal(t, thread.StatusRunning, running.Status())
	require.NoError(t, stores[0].Close())
	close(stuck)
	require.Eventually(t, func() bool {
		had, err := stores[1].Load(context.Background(), running.ID)
		return err == nil && had.Over == thread.StatusDone
	}, 30*time.Second, 20*time.Millisecond, "the other engine takes it up when the lease ends")
}

// Of several hosts the one that takes writes is used. A server that stops to take them, as one that
// was demoted, is unavailable.
func TestTheHostThatTakesWritesIsUsed(t *testing.T) {
	t.Parallel()
	one, first := faulty(t)
	_, second := faulty(t)
	s := at(t, first)
	begin(t, s, "on the first")
	demoted := connected(t, one)
	run(t, demoted, "ALTER SYSTEM SET default_transaction_read_only = on")
	run(t, demoted, "SELECT pg_reload_conf()")
	require.Eventually(t, func() bool {
		err := s.Commit(context.Background(), say(nil,
			strconv.FormatInt(time.Now().UnixNano(), 10), ""))
		assert.Contains(t, []runtime.Code{"", runtime.CodeUnavailable}, runtime.CodeOf(err))
		return err != nil
	}, 10*time.Second, 20*time.Millisecond)
	url := fmt.Sprintf("postgres://postgres@/postgres?host=%s,%s&port=5432,5432", first, second)
	both, err := Open(t.Context(), url, Config{})
	require.NoError(t, err)
	t.Cleanup(func() { _ = both.Close() })
	begin(t, both, "on the second")
	_, err = at(t, second).Load(t.Context(), "on the second")
	require.NoError(t, err)
}
