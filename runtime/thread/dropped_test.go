package thread_test

import (
	"context"
	"log/slog"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
)

// gated is a store on which the first commit of a completed effect waits.
type gated struct {
	*way
	reached, open chan struct{}
	passed        bool
}

func (g *gated) Commit(ctx context.Context, changes ...*thread.Change) error {
	completes := slices.ContainsFunc(changes[0].Entries, func(e thread.Entry) bool {
		return e.Type == thread.EntryEffect && e.State == thread.EffectDone
	})
	if completes && !g.passed {
		g.passed = true
		close(g.reached)
		<-g.open
	}
	return g.way.Commit(ctx, changes...)
}

// A step calls Once when no pause is requested, and its intent meets one that was requested before
// the intent could be stored. The effect does not begin, no person is asked about it, and it
// happens once the step runs again.
func TestOnceRunsAfterAPauseThatMetItsIntent(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{thread.EscapeSafe, thread.EscapeNow} {
		t.Run(mode, func(t *testing.T) {
			onBoth(t, func(r *rig) {
				store := &gated{way: &way{Store: r.store}, reached: make(chan struct{}),
					open: make(chan struct{})}
				goOn := make(chan struct{})
				r.e = r.engine(store, r.cfg, thread.Func("payer",
					func(ctx context.Context, _ any) (string, error) {
						r.did.add("run", "")
						if _, err := thread.Do(ctx, "look", r.did.effect("look")); err != nil {
							return "", err
						}
						<-goOn
						return thread.Once(ctx, "pay", r.did.effect("pay"))
					}))
				called := make(chan error, 2) // each caller may be the one that commits
				go func() {
					_, err := r.e.Start(r.ctx, thread.Begin{ID: "t", Machine: "payer"})
					called <- err
				}()
				<-store.reached
				go func() {
					_, err := r.e.Escape(r.ctx, "t", mode, "ann", "stop")
					called <- err
				}()
				synctest.Wait()
				close(goOn)
				synctest.Wait()
				close(store.open)
				require.NoError(r, <-called)
				require.NoError(r, <-called)
				th := r.rest("t")
				require.True(r, th.Paused())
				require.Zero(r, r.did.of("pay"), "it did not begin")
				r.done(r.say(r.asked(th, thread.KindUserEscape), `"continue"`),
					`"t/f1//1/pay"`)
				assert.Equal(r, 2, r.did.of("run"))
				assert.Equal(r, 1, r.did.of("look"))
				assert.Equal(r, 1, r.did.of("pay"))
				assert.Empty(r, r.log("t", thread.EntryFailed), "to be paused is no failure")
				assert.Len(r, r.log("t", thread.EntryAsked), 1, "there is no doubt")
			})
		})
	}
}

// What a run did on an answer that was not stored is not the thread's, also where the frame has
// ended meanwhile. The log names each effect, since it has happened.
func TestEffectsOfAStaleRunWhoseFrameEndedAreDropped(t *testing.T) {
	onBoth(t, func(r *rig) {
		sent := make(chan struct{})
		asker := thread.Func("asker", func(ctx context.Context, _ any) (string, error) {
			sure, err := thread.Ask[bool](ctx, "sure", thread.Question{})
			if err != nil || !sure {
				return "not sent", err
			}
			return thread.Do(ctx, "send", func(ctx context.Context, key string) (string, error) {
				defer close(sent)
				return r.did.effect("send")(ctx, key)
			})
		})
		var l logged
		cfg := r.cfg
		cfg.Log = l.to(slog.LevelWarn)
		store := &meddled{way: &way{Store: r.store}}
		r.e = r.engine(store, cfg, asker)
		cfg.Owner, cfg.Log = "other", nil
		other := r.engine(&way{Store: r.store}, cfg, asker)
		th := r.start("asker", nil)
		store.before = func() {
			<-sent // on the answer whose commit this is
			_, err := other.Answer(r.ctx, th.ID,
				thread.Answer{Question: "sure", Value: value(`false`), By: "bob"})
			assert.NoError(r, err)
			end, err := other.Wait(r.ctx, th.ID)
			assert.NoError(r, err)
			assert.Equal(r, thread.StatusDone, end.Status())
		}
		_, err := r.e.Answer(r.ctx, th.ID,
			thread.Answer{Question: "sure", Value: value(`true`), By: "ann"})
		require.Error(r, err)
		require.NotEqual(r, runtime.CodeUnknown, runtime.CodeOf(err))
		r.done(r.rest(th.ID), `"not sent"`)
		synctest.Wait()
		assert.Equal(r, 1, r.did.of("send"))
		assert.Empty(r, r.log(th.ID, thread.EntryEffect))
		text := l.String()
		assert.Contains(r, text, "effect not recorded")
		assert.Contains(r, text, `"effect":"send"`)
	})
}
