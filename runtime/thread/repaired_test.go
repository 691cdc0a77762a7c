package thread_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
)

// A program with a defect is repaired while a thread waits at the failed step.
func TestRepairedProgramGoesOnAfterPermanentFailure(t *testing.T) {
	t.Parallel()
	type receipt struct{ Amount int }
	charge := func(r *rig, ctx context.Context) (string, error) {
		return thread.Do(ctx, "charge", r.did.effect("charge"))
	}
	repaired := func(r *rig) thread.Machine {
		return thread.Func("order", func(ctx context.Context, _ any) (string, error) {
			if _, err := charge(r, ctx); err != nil {
				return "", err
			}
			return thread.Do(ctx, "ship", r.did.effect("ship"))
		})
	}
	for name, tc := range map[string]struct {
		input  any
		broken func(r *rig) thread.Machine
		order  string
		charge int
	}{
		"a name used twice": {"x", func(r *rig) thread.Machine {
			return thread.Func("order", func(ctx context.Context, _ any) (any, error) {
				if _, err := charge(r, ctx); err != nil {
					return nil, err
				}
				return charge(r, ctx)
			})
		}, `"retry"`, 1},
		"a stored result of another type": {"x", func(r *rig) thread.Machine {
			return thread.Func("order", func(ctx context.Context, _ any) (receipt, error) {
				if r.did.of("charge") > 0 {
					return thread.Do(ctx, "charge", func(context.Context, string) (receipt, error) {
						return receipt{}, nil
					})
				}
				if _, err := charge(r, ctx); err != nil {
					return receipt{}, err
				}
				_, err := thread.Ask[bool](ctx, "go on", thread.Question{})
				return receipt{}, err
			})
		}, `"retry"`, 1},
		"an input that does not decode": {"x", func(*rig) thread.Machine {
			return thread.Func("order", func(context.Context, receipt) (string, error) {
				return "", nil
			})
		}, `"retry"`, 1},
		"edit without an input where there is none": {nil, func(r *rig) thread.Machine {
			return thread.Func("order", func(ctx context.Context, _ any) (any, error) {
				if _, err := charge(r, ctx); err != nil {
					return nil, err
				}
				return charge(r, ctx)
			})
		}, `"edit"`, 2},
	} {
		t.Run(name, func(t *testing.T) {
			scene(t, func(r *rig) {
				r.with(tc.broken(r))
				th := r.start("order", tc.input)
				if i := askedBy(th, "go on"); i != nil {
					th = r.say(i, "true")
				}
				i := r.asked(th, thread.KindSystemError)
				require.Equal(r, "retry", i.Choices[0].Label)
				r.next()
				require.NoError(r, r.e.Close(r.ctx))
				r.machines = []thread.Machine{repaired(r)}
				r.open()
				th = r.say(i, tc.order)
				require.Equal(r, thread.StatusDone, th.Status())
				assert.Equal(r, tc.charge, r.did.of("charge"),
					"retry keeps what was done, edit does not")
				assert.Equal(r, 1, r.did.of("ship"))
			})
		})
	}
}

func TestSkippedChildTellsItsParentWhy(t *testing.T) {
	t.Parallel()
	for name, policy := range map[string]string{"a person": "",
		"a policy": `{"choice":"skip","value":"none"}`} {
		t.Run(name, func(t *testing.T) {
			scene(t, func(r *rig) {
				r.cfg.Kinds = thread.DefaultKinds()
				r.cfg.Kinds[2].AutoAnswer = policy
				var child thread.Child
				r.with(&staged{name: "parent",
					steps: map[string]func(context.Context, thread.Activation) (thread.Transition,
						error){
						"": func(context.Context, thread.Activation) (thread.Transition, error) {
							return thread.Call("end", nil, thread.Spawned{Machine: "weak"}), nil
						},
						"end": func(_ context.Context, a thread.Activation) (thread.Transition,
							error) {
							child = a.Frame.Children[0]
							return thread.Done(string(child.Value)), nil
						},
					}}, thread.Turns("weak", func(context.Context, any) (string, error) {
					return "", &runtime.Error{Code: runtime.CodeUnavailable, Op: "call",
						Err: assert.AnError}
				}))
				th := r.start("parent", nil)
				r.next()
				if policy == "" {
					th = r.say(r.asked(th, thread.KindSystemError),
						`{"choice":"skip","value":"none"}`)
				}
				r.done(r.rest(th.ID), `"\"none\""`)
				require.True(r, child.Skipped)
				require.NotNil(r, child.Failure)
				assert.Equal(r, runtime.CodeUnavailable, child.Failure.Code)
				assert.Contains(r, child.Failure.Text, assert.AnError.Error())
			})
		})
	}
}
