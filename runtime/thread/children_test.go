package thread_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
)

// report reads the parts of a report in children, two groups one after the other.
func (r *rig) report() []thread.Machine {
	reader := thread.Func("reader", func(ctx context.Context, part string) (string, error) {
		read, err := thread.Do(ctx, "read", r.did.effect("read "+part))
		if err != nil {
			return "", err
		}
		if part != "b" {
			return part + " " + read, nil
		}
		answer, err := thread.Ask[string](ctx, "which", thread.Question{Text: "Which b?"})
		return answer + " " + read, err
	})
	return []thread.Machine{reader,
		thread.Func("report", func(ctx context.Context, _ any) (string, error) {
			before, err := thread.Do(ctx, "before", r.did.effect("before"))
			if err != nil {
				return "", err
			}
			if err := thread.Say(ctx, "begun", "I begin."); err != nil {
				return "", err
			}
			first, err := thread.Children[string](ctx, "first",
				thread.Spawned{Machine: "reader", Name: "a", Input: "a"},
				thread.Spawned{Machine: "reader", Name: "b", Input: "b"})
			if err != nil {
				return "", err
			}
			second, err := thread.Children[string](ctx, "second",
				thread.Spawned{Machine: "reader", Name: "c", Input: "c"})
			return fmt.Sprint(before, first, second), err
		})}
}

// A function calls children twice, one of them asks, and the process dies while it does: each
// effect happens once, and the results come in the order of the call.
func TestAFunctionCallsChildren(t *testing.T) {
	onBoth(t, func(r *rig) {
		r.with(r.report()...)
		th := r.start("report", nil)
		r.asked(th, "which")
		r.restart()
		th = r.reply(th.ID, "which", `"the b"`)
		key := func(frame, name string) string { return th.ID + "/" + frame + "//1/" + name }
		r.done(th, fmt.Sprintf("%q", fmt.Sprint(key("f1", "before"), []string{
			"a " + key("f2", "read"), "the b " + key("f3", "read"),
		}, []string{"c " + key("f4", "read")})))
		said := r.log(th.ID, thread.EntryMessage)
		require.Len(r, said, 1)
		for _, name := range []string{"before", "read a", "read b", "read c"} {
			assert.Equal(r, 1, r.did.of(name), name)
		}
	})
}

func TestAFunctionLearnsWhyAChildFailed(t *testing.T) {
	onBoth(t, func(r *rig) {
		child := thread.Steps("child", map[string]thread.StepFunc{
			"": func(_ context.Context, a thread.Activation) (thread.Transition, error) {
				if string(a.Frame.Input) == "true" {
					return thread.Fail(errors.New("the line is down")), nil
				}
				return thread.Return("fine"), nil
			},
		})
		r.with(child, thread.Func("parent", func(ctx context.Context, _ any) ([]string, error) {
			out, err := thread.Children[string](ctx, "both",
				thread.Spawned{Machine: "child", Input: true},
				thread.Spawned{Machine: "child", Input: false})
			if errors.Is(err, thread.ErrWaiting) {
				return nil, err
			}
			return append(out, fmt.Sprint(err)), nil
		}))
		th := r.start("parent", nil)
		r.done(th, `["","fine","internal: the line is down"]`)
	})
}

func TestNamesOfChildrenAreUsedOnce(t *testing.T) {
	onBoth(t, func(r *rig) {
		var err error
		r.with(thread.Func("parent", func(ctx context.Context, _ any) (string, error) {
			_, _ = thread.Children[string](ctx, "none")
			_, err = thread.Children[string](ctx, "none")
			_, inside := thread.Do(ctx, "effect", func(ctx context.Context, _ string) (string,
				error) {
				_, err := thread.Children[string](ctx, "inside", thread.Spawned{Machine: "parent"})
				return "", err
			})
			return fmt.Sprint(runtime.CodeOf(inside)), nil
		}))
		th := r.start("parent", nil)
		r.done(th, `"invalid"`)
		assert.Equal(r, runtime.CodeInvalid, runtime.CodeOf(err))
	})
}

func TestNamedSteps(t *testing.T) {
	onBoth(t, func(r *rig) {
		steps := map[string]thread.StepFunc{
			"": func(context.Context, thread.Activation) (thread.Transition, error) {
				return thread.Advance("count", 1), nil
			},
			"count": func(_ context.Context, a thread.Activation) (thread.Transition, error) {
				if string(a.Frame.Locals) == "3" {
					return thread.Advance("gone", nil), nil
				}
				return thread.Advance("count", len(a.Frame.Locals)+2), nil
			},
		}
		r.with(thread.Steps("counter", steps))
		th := r.start("counter", nil)
		failed := th.OpenInterrupts()
		require.Len(r, failed, 1)
		assert.Contains(r, failed[0].Text, `the program has no step "gone"`)
		steps["gone"] = func(context.Context, thread.Activation) (thread.Transition, error) {
			return thread.Done("counted"), nil
		}
		r.pass(time.Minute)
		r.done(r.say(failed[0], `"retry"`), `"counted"`)
	})
}
