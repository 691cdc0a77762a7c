package thread_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime/thread"
)

// TestBackFindsWhatWasPutAside: a step that comes back from another one has its effects and
// answers, on the visit that it was on, but for what belonged to one round.
func TestBackFindsWhatWasPutAside(t *testing.T) {
	scene(t, func(r *rig) {
		var keys []string
		effect := func(ctx context.Context, name string) error {
			_, err := thread.Do(ctx, name, func(_ context.Context, key string) (bool, error) {
				keys = append(keys, key)
				r.did.add(name, "")
				return true, nil
			})
			return err
		}
		broken := true
		r.with(&staged{name: "line", steps: map[string]stepFunc{
			"": func(ctx context.Context, a thread.Activation) (thread.Transition, error) {
				r.did.add("ran", "")
				again := string(a.Frame.Locals) == "1"
				round := map[bool]string{false: "ask/", true: "ask/2~"}[again]
				err := errors.Join(effect(ctx, "charge"), effect(ctx, round+"1"),
					thread.Say(ctx, "hello", "hello"))
				if err != nil {
					return thread.Transition{}, err
				}
				if _, err := thread.Ask[bool](ctx, "sure", thread.Question{}); err != nil {
					return thread.Transition{}, err
				}
				if a.Frame.Visit != 1 || !again {
					return thread.Aside("between", 1, map[bool]string{true: "2~"}[again]), nil
				}
				return thread.Aside("last", 2, "2~"), nil
			},
			"between": func(ctx context.Context, a thread.Activation) (thread.Transition, error) {
				if err := effect(ctx, "charge"); err != nil {
					return thread.Transition{}, err
				}
				if broken {
					broken = false
					return thread.Transition{}, thread.Permanent(errors.New("broken"))
				}
				return thread.Back("", 1), nil
			},
			"last": func(_ context.Context, a thread.Activation) (thread.Transition, error) {
				var names []string
				for _, e := range a.Frame.Effects {
					names = append(names, e.Name)
				}
				return thread.Done(names), nil
			},
		}})
		th := r.start("line", nil)
		r.next()
		th = r.reply(th.ID, "sure", `true`)
		r.next()
		i := r.asked(th, thread.KindSystemError)
		r.next()
		th = r.say(i, `{"choice":"edit","input":5}`)
		r.done(th, `["aside//charge","aside//ask/1","aside//"]`)
		assert.Equal(r, 3, r.did.of("charge"),
			"once at the first step; twice between, where the input was edited")
		assert.Equal(r, 1, r.did.of("ask/1"))
		assert.Equal(r, 1, r.did.of("ask/2~1"))
		assert.Len(r, r.log(th.ID, thread.EntryMessage), 2, "messages are said anew")
		assert.Len(r, r.log(th.ID, thread.EntryAsked), 2, "sure, and about the failure")
		require.Contains(r, keys, th.ID+"/f1//1/charge")
	})
}

// TestBackWithoutAside enters the step as a new visit.
func TestBackWithoutAside(t *testing.T) {
	scene(t, func(r *rig) {
		r.with(&staged{name: "line", steps: map[string]stepFunc{
			"": func(ctx context.Context, a thread.Activation) (thread.Transition, error) {
				if _, err := thread.Do(ctx, "charge", r.did.effect("charge")); err != nil {
					return thread.Transition{}, err
				}
				if a.Frame.Visit == 2 {
					return thread.Done(2), nil
				}
				return thread.Aside("one", nil, ""), nil
			},
			"one": func(context.Context, thread.Activation) (thread.Transition, error) {
				return thread.Advance("two", nil), nil
			},
			"two": func(context.Context, thread.Activation) (thread.Transition, error) {
				return thread.Back("", nil), nil
			},
		}})
		r.done(r.start("line", nil), `2`)
		assert.Equal(r, 2, r.did.of("charge"))
	})
}
