package thread_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
)

func TestZombieInTheSameStepAsItsSuccessor(t *testing.T) {
	t.Parallel()
	for name, awake := range map[string]time.Duration{"it commits at once": 0,
		"it looks around first": 5 * time.Second} {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(r *rig) {
				running, thaw, free := make(chan struct{}, 2), make(chan struct{}), make(
					chan struct{})
				r.with(thread.Func("worker", func(context.Context, any) (string, error) {
					r.did.add("run", "")
					first := r.did.of("run") == 1
					running <- struct{}{}
					if first {
						<-thaw
						return "of the zombie", nil
					}
					<-free
					return "of the living", nil
				}))
				th, err := r.e.Start(r.ctx, thread.Begin{Machine: "worker"})
				require.NoError(r, err)
				<-running
				synctest.Wait()
				zombie := r.way
				zombie.cut.Store(true)
				r.cfg.Owner = "other"
				r.open()
				<-running // the lease is over, and the other one is in the same step
				zombie.cut.Store(false)
				if awake > 0 {
					r.pass(awake)
				}
				close(thaw)
				r.pass(5 * time.Second)
				require.Equal(r, thread.StatusRunning, r.load(th.ID).Status(),
					"what the zombie came to is dropped")
				close(free)
				r.done(r.rest(th.ID), `"of the living"`)
				assert.Equal(r, 2, r.did.of("run"))
			})
		})
	}
}

func TestOneOfTwoSuccessorsTakesTheThread(t *testing.T) {
	onBoth(t, func(r *rig) {
		running, free := make(chan struct{}, 3), make(chan struct{})
		r.with(thread.Func("worker", func(context.Context, any) (string, error) {
			r.did.add("run", "")
			running <- struct{}{}
			<-free
			return "done", nil
		}))
		th, err := r.e.Start(r.ctx, thread.Begin{Machine: "worker"})
		require.NoError(r, err)
		<-running
		synctest.Wait()
		r.way.cut.Store(true)
		r.pass(time.Minute) // its lease is over
		one := r.another(r.machines...)
		r.cfg.Owner = "a third"
		r.open()
		<-running
		synctest.Wait()
		assert.Equal(r, 2, r.did.of("run"), "the lease comes first, and only then the step")
		close(free)
		end, err := one.Wait(r.ctx, th.ID)
		require.NoError(r, err)
		r.done(end, `"done"`)
	})
}

// tripped is a way on which a commit loses a race, and the record cannot be read then.
type tripped struct{ *way }

func (w tripped) Commit(ctx context.Context, changes ...*thread.Change) error {
	if w.fails.Add(-1) == 0 {
		w.cut.Store(true)
		return &runtime.Error{Code: runtime.CodeConflict, Op: "commit"}
	}
	return w.Store.Commit(ctx, changes...)
}

func TestStepResultIsKeptWhileTheRecordCannotBeRead(t *testing.T) {
	onBoth(t, func(r *rig) {
		running, free := make(chan struct{}), make(chan struct{})
		r.machines = []thread.Machine{thread.Func("worker",
			func(ctx context.Context, _ any) (string, error) {
				if r.did.add("run", ""); r.did.of("run") == 1 {
					close(running)
					<-free
				}
				return thread.Do(ctx, "work", r.did.effect("work"))
			})}
		r.way = &way{Store: r.store}
		r.e = r.engine(tripped{r.way}, r.cfg, r.machines...)
		th, err := r.e.Start(r.ctx, thread.Begin{Machine: "worker"})
		require.NoError(r, err)
		<-running
		r.way.fails.Store(1)
		close(free)
		synctest.Wait()
		r.way.cut.Store(false)
		// comes before the next try of the commit
		_, err = r.e.Escape(r.ctx, th.ID, thread.EscapeSafe, "ann", "")
		assert.Contains(r, []runtime.Code{"", runtime.CodeNotWaiting}, runtime.CodeOf(err))
		th = r.rest(th.ID)
		assert.Equal(r, thread.StatusDone, th.Status())
		assert.Equal(r, 1, r.did.of("run"))
		assert.Equal(r, 1, r.did.of("work"))
	})
}
