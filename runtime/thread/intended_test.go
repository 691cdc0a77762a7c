package thread_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime/thread"
)

// TestAnIntendedEffectIsNotIntendedAgain stores that an effect begins, in one of three ways: its
// process dies then, it stands still until another engine takes the thread, or it is stored beside
// a step that has not come to the effect yet. However long engines drive the thread afterwards and
// however often they begin anew, the log has it once until a person orders it.
func TestAnIntendedEffectIsNotIntendedAgain(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"a restart", "a takeover", "beside a step"} {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(r *rig) {
				running, free := make(chan struct{}, 9), make(chan struct{})
				beside := name == "beside a step"
				r.with(thread.Func("payer", func(ctx context.Context, _ any) (string, error) {
					if beside && r.did.of("run") == 0 {
						r.did.add("run", "")
						running <- struct{}{}
						<-free
					}
					return thread.Once(ctx, "pay", func(_ context.Context, key string) (string,
						error) {
						if r.did.add("pay", key); !beside && r.did.of("pay") == 1 {
							running <- struct{}{}
							<-free
						}
						return "paid", nil
					})
				}))
				th, err := r.e.Start(r.ctx, thread.Begin{Machine: "payer"})
				require.NoError(r, err)
				<-running
				synctest.Wait()
				switch name {
				case "a restart":
					r.restart()
				case "a takeover":
					r.way.fails.Store(1_000_000) // it lives, and its lease runs out
					r.cfg.Owner = "other"
					r.open()
				default:
					c := thread.NewChange(r.load(th.ID), &thread.Rules{}, time.Now())
					c.Add(thread.Entry{Type: thread.EntryEffect, Frame: "f1", Name: "pay",
						State: thread.EffectIntended})
					c.Finish()
					require.NoError(r, r.store.Commit(r.ctx, c))
				}
				if beside {
					close(free)
				} else {
					defer close(free)
				}
				for range 3 {
					r.pass(5 * time.Minute)
					assert.Equal(r, 1, r.intentions(th.ID))
					r.restart()
				}
				th = r.rest(th.ID)
				before := r.did.of("pay")
				r.done(r.say(r.asked(th, "in_doubt/pay"), `"run"`), `"paid"`)
				assert.Equal(r, 2, r.intentions(th.ID), "the order")
				assert.Equal(r, before+1, r.did.of("pay"))
			})
		})
	}
}

// intentions counts how often the log says that an effect begins.
func (r *rig) intentions(id string) (n int) {
	entries, err := r.store.Log(r.ctx, thread.LogQuery{Thread: id, Limit: 10_000})
	require.NoError(r, err)
	for _, e := range entries {
		if e.State == thread.EffectIntended {
			n++
		}
	}
	return n
}
