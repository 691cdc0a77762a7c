package thread_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime/thread"
)

// jumpy is a clock that can be set.
type jumpy struct{ ahead atomic.Int64 }

func (c *jumpy) Now() time.Time       { return time.Now().Add(time.Duration(c.ahead.Load())) }
func (c *jumpy) jump(d time.Duration) { c.ahead.Add(int64(d)) }

// TestClockThatJumpsTakesNoLiveStep sets the clock of two engines while one of them runs a step
// with an effect. The other one leaves it alone.
func TestClockThatJumpsTakesNoLiveStep(t *testing.T) {
	t.Parallel()
	for name, by := range map[string]time.Duration{"forward": time.Hour, "back": -time.Hour} {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(r *rig) {
				clock, running, free := new(jumpy), make(chan struct{}, 9), make(chan struct{})
				r.cfg.Clock = clock
				r.with(thread.Func("worker", func(ctx context.Context, _ any) (string, error) {
					return thread.Once(ctx, "work", func(context.Context, string) (string, error) {
						r.did.add("work", "")
						running <- struct{}{}
						<-free
						return "done", nil
					})
				}))
				other := r.another(r.machines...)
				th, err := r.e.Start(r.ctx, thread.Begin{Machine: "worker"})
				require.NoError(r, err)
				<-running
				fence := r.load(th.ID).Lease.Fence
				clock.jump(by)
				// before the one that runs the step has seen its clock
				require.NoError(r, other.RunDue(r.ctx))
				require.Equal(r, fence, r.load(th.ID).Lease.Fence, "nobody takes the thread")
				for range 4 * 60 {
					r.pass(time.Second)
					require.Equal(r, fence, r.load(th.ID).Lease.Fence, "nobody takes the thread")
				}
				close(free)
				r.done(r.rest(th.ID), `"done"`)
				require.Equal(r, 1, r.did.of("work"))
				require.Empty(r, r.log(th.ID, thread.EntryAsked), "nobody is asked about it")
			})
		})
	}
}

// TestDeadEngineIsFollowedWhateverTheClockSays lets an engine vanish, and sets the clock. The
// thread is taken over in a few lease times.
func TestDeadEngineIsFollowedWhateverTheClockSays(t *testing.T) {
	t.Parallel()
	for name, by := range map[string]time.Duration{"no jump": 0, "forward": time.Hour,
		"back": -time.Hour} {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(r *rig) {
				clock, running, free := new(jumpy), make(chan struct{}, 9), make(chan struct{})
				r.cfg.Clock, r.cfg.Lease = clock, 2*time.Second
				r.with(thread.Func("worker", func(context.Context, any) (string, error) {
					r.did.add("run", "")
					running <- struct{}{}
					<-free
					return "done", nil
				}))
				other := r.another(r.machines...)
				th, err := r.e.Start(r.ctx, thread.Begin{Machine: "worker"})
				require.NoError(r, err)
				<-running
				synctest.Wait()
				r.way.cut.Store(true)
				clock.jump(by)
				r.pass(10 * time.Second)
				require.Equal(r, 2, r.did.of("run"))
				close(free)
				end, err := other.Wait(r.ctx, th.ID)
				require.NoError(r, err)
				r.done(end, `"done"`)
			})
		})
	}
}
