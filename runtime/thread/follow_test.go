package thread_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
)

// talker says a line, waits for the gate, says so many more, and asks.
func talker(gate <-chan struct{}) thread.Machine {
	return thread.Func("talker", func(ctx context.Context, lines int) (string, error) {
		for n := range lines {
			if err := thread.Say(ctx, fmt.Sprint("line ", n), n); err != nil {
				return "", err
			}
			select {
			case <-gate:
			case <-ctx.Done():
				return "", ctx.Err()
			}
		}
		return thread.Ask[string](ctx, "last", thread.Question{Text: "And now?"})
	})
}

func TestFollowYieldsATurnOnce(t *testing.T) {
	onBoth(t, func(r *rig) {
		const lines = 150 // more than a page
		gate := make(chan struct{})
		r.with(talker(gate))
		begun, err := r.e.Start(r.ctx, thread.Begin{Machine: "talker", Input: lines})
		require.NoError(r, err)
		require.Equal(r, thread.StatusRunning, begun.Status())

		follow := func(f *thread.Follower) func() []int64 {
			var got []int64
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				for row, err := range r.e.Follow(r.ctx, f) {
					if !assert.NoError(r, err) {
						return
					}
					got = append(got, row.Seq)
				}
			}()
			return func() []int64 { <-ended; return got }
		}
		whole, rest := &thread.Follower{Thread: begun}, &thread.Follower{Thread: begun,
			After: begun.Seq}
		all, later := follow(whole), follow(rest)
		synctest.Wait()
		close(gate)

		want := make([]int64, 0, lines)
		th := r.rest(begun.ID)
		for seq := range th.Seq {
			want = append(want, seq+1)
		}
		assert.Equal(r, want, all(), "every entry, once, in order")
		assert.Equal(r, want[begun.Seq:], later(), "what comes after the entry that was read last")
		for _, f := range []*thread.Follower{whole, rest} {
			assert.Equal(r, th.Seq, f.After)
			assert.True(r, f.Thread.Rests())
			assert.NotNil(r, askedBy(f.Thread, "last"), "as it rests")
		}
		for range r.e.Follow(r.ctx, whole) {
			assert.Fail(r, "it has been read, and rests")
		}
	})
}

func TestFollowEndsWhereSomethingElseBegins(t *testing.T) {
	onBoth(t, func(r *rig) {
		gate := make(chan struct{})
		close(gate)
		r.with(talker(gate))
		th := r.start("talker", 3)
		begins := func(row *thread.Entry) bool {
			return row.Type == thread.EntryMessage &&
				row.Name == "line 1"
		}
		f := &thread.Follower{Thread: th, Ends: begins}
		for row, err := range r.e.Follow(r.ctx, f) {
			require.NoError(r, err)
			assert.False(r, begins(&row))
		}
		next, err := r.e.History(r.ctx, th.ID, f.After, 1)
		require.NoError(r, err)
		assert.True(r, begins(&next[0]), "it stands right before what begins")
	})
}

func TestFollowSaysWhyItEndedEarly(t *testing.T) {
	onBoth(t, func(r *rig) {
		r.with(talker(nil))
		begun, err := r.e.Start(r.ctx, thread.Begin{Machine: "talker", Input: 1})
		require.NoError(r, err)
		gone := errors.New("the reader has left")
		ctx, leave := context.WithCancelCause(r.ctx)
		defer leave(nil)
		var last error
		for row, err := range r.e.Follow(ctx, &thread.Follower{Thread: begun}) {
			if last = err; row.Type == thread.EntryEntered {
				leave(gone)
			}
		}
		require.ErrorIs(r, last, gone)
		assert.Equal(r, runtime.CodeUnavailable, runtime.CodeOf(last))
		assert.Equal(r, thread.StatusRunning, r.load(begun.ID).Status(),
			"the thread does not mind")
	})
}
