package thread_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
)

type stepFunc = func(context.Context, thread.Activation) (thread.Transition, error)

// family is a parent that calls children and returns what each of them came to, in the order they
// were called in.
func family(machine string, inputs ...any) *staged {
	return &staged{name: "family", steps: map[string]stepFunc{
		"": func(context.Context, thread.Activation) (thread.Transition, error) {
			children := make([]thread.Spawned, len(inputs))
			for n, in := range inputs {
				children[n] = thread.Spawned{Machine: machine, Name: fmt.Sprint("child ", n),
					Input: in}
			}
			return thread.Call("collect", nil, children...), nil
		},
		"collect": func(_ context.Context, a thread.Activation) (thread.Transition, error) {
			var out []string
			for _, c := range a.Frame.Children {
				text := c.Name + ": " + string(c.Value)
				switch {
				case c.Skipped:
					text += " (skipped, " + c.Failure.Error() + ")"
				case c.Failure != nil:
					text = c.Name + " failed: " + c.Failure.Error()
				}
				out = append(out, text)
			}
			return thread.Done(out), nil
		},
	}}
}

func TestChildrenRunAtTheSameTimeAndTheirOrderNeverCounts(t *testing.T) {
	t.Parallel()
	for _, order := range []string{"012", "021", "102", "120", "201", "210"} {
		t.Run(order, func(t *testing.T) {
			onBoth(t, func(r *rig) {
				free := []chan struct{}{make(chan struct{}), make(chan struct{}),
					make(chan struct{})}
				var all sync.WaitGroup
				all.Add(len(free))
				r.with(family("child", 0, 1, 2),
					thread.Turns("child", func(_ context.Context, n int) (int, error) {
						all.Done()
						<-free[n]
						return n * n, nil
					}))
				th, err := r.e.Start(r.ctx, thread.Begin{Machine: "family"})
				require.NoError(r, err)
				all.Wait() // all three are in their step
				for _, n := range order {
					close(free[n-'0'])
					synctest.Wait()
				}
				r.done(r.rest(th.ID), `["child 0: 0","child 1: 1","child 2: 4"]`)
			})
		})
	}
}

func TestChildrenAskAndSiblingsGoOn(t *testing.T) {
	scene(t, func(r *rig) {
		r.with(family("child", "a", "b"),
			thread.Turns("child", func(ctx context.Context, in string) (string, error) {
				if _, err := thread.Do(ctx, "work", r.did.effect("work "+in)); err != nil {
					return "", err
				}
				return thread.Ask[string](ctx, in, thread.Question{})
			}))
		th := r.start("family", nil)
		require.Len(r, th.Open, 2, "siblings ask at the same time")
		th = r.reply(th.ID, "b", `"two"`)
		assert.Equal(r, thread.StatusWaiting, th.Status())
		r.next()
		r.done(r.reply(th.ID, "a", `"one"`), `["child 0: \"one\"","child 1: \"two\""]`)
		assert.Equal(r, 1, r.did.of("work a"))
		assert.Equal(r, 1, r.did.of("work b"))
	})
}

func TestFailureOfAChildGoesToItsParent(t *testing.T) {
	scene(t, func(r *rig) {
		r.with(family("child", "good", "bad"), &staged{name: "child", steps: map[string]stepFunc{
			"": func(_ context.Context, a thread.Activation) (thread.Transition, error) {
				if strings.Contains(string(a.Frame.Input), "bad") {
					return thread.Fail(&runtime.Error{Code: runtime.CodeNotFound, Op: "look"}), nil
				}
				return thread.Return("fine"), nil
			},
		}})
		r.done(r.start("family", nil), `["child 0: \"fine\"","child 1 failed: look: not_found"]`)
	})
}

func TestSkippedChildHasTheValueOfAPerson(t *testing.T) {
	scene(t, func(r *rig) {
		r.with(family("child", 1), thread.Turns("child", func(context.Context, int) (int, error) {
			return 0, thread.Permanent(errors.New("broken"))
		}))
		th := r.start("family", nil)
		i := r.asked(th, thread.KindSystemError)
		r.next()
		r.done(r.say(i, `{"choice":"skip","value":7}`),
			`["child 0: 7 (skipped, internal: broken)"]`)
	})
}

func TestJumpPutsAnotherFrameInItsPlace(t *testing.T) {
	scene(t, func(r *rig) {
		r.with(family("first"), family2("first"), &staged{name: "first", steps: map[string]stepFunc{
			"": func(context.Context, thread.Activation) (thread.Transition, error) {
				return thread.Jump(thread.Spawned{Machine: "second", Name: "other",
					PC: "in the middle", Input: 3}), nil
			},
		}}, &staged{name: "second", steps: map[string]stepFunc{
			"in the middle": func(_ context.Context, a thread.Activation) (thread.Transition,
				error) {
				return thread.Return(a.Frame.Input), nil
			},
		}})
		th := r.start("family2", nil)
		r.done(th, `["other: 3"]`)
		th = r.start("first", nil)
		assert.Equal(r, thread.StatusIdle, th.Status(), "a root that jumped is a root")
		assert.JSONEq(r, `3`, string(th.Result))
		th = r.start("family", nil)
		r.done(th, `null`)
	})
}

// family2 is a family of one child.
func family2(machine string) thread.Machine {
	one := family(machine, nil)
	one.name = "family2"
	return one
}

func TestEachRoundOfALoopHasItsOwnEffectsAndQuestions(t *testing.T) {
	scene(t, func(r *rig) {
		round := func(ctx context.Context, a thread.Activation) (thread.Transition, error) {
			if _, err := thread.Do(ctx, "body", r.did.effect("body")); err != nil {
				return thread.Transition{}, err
			}
			more, err := thread.Ask[bool](ctx, "more", thread.Question{})
			switch {
			case err != nil:
				return thread.Transition{}, err
			case more:
				return thread.Advance("", nil), nil
			default:
				return thread.Done(a.Frame.Visit), nil
			}
		}
		r.with(&staged{name: "loop", steps: map[string]stepFunc{"": round}})
		th := r.start("loop", nil)
		for _, answer := range []string{"true", "true", "false"} {
			r.next()
			th = r.reply(th.ID, "more", answer)
		}
		r.done(th, `3`)
		assert.Equal(r, 3, r.did.of("body"))
		keys := map[string]bool{}
		for _, key := range r.did.keys["body"] {
			keys[key] = true
		}
		assert.Len(r, keys, 3, "each round has its own key")
	})
}

func TestWaysToEndAThread(t *testing.T) {
	t.Parallel()
	ends := map[string]struct {
		end    thread.Transition
		err    error
		status thread.Status
		result string
	}{
		"return":            {thread.Return(1), nil, thread.StatusIdle, `1`},
		"return of nothing": {thread.Return(nil), nil, thread.StatusIdle, ``},
		"done": {thread.Done(map[string]int{"a": 1}), nil, thread.StatusDone,
			`{"a":1}`},
		"hand off":      {thread.HandOff("to ann"), nil, thread.StatusHandedOff, `"to ann"`},
		"fail":          {thread.Fail(errors.New("no")), nil, thread.StatusFailed, ``},
		"no transition": {thread.Transition{}, nil, thread.StatusWaiting, ``},
		"no JSON":       {thread.Return(func() {}), nil, thread.StatusWaiting, ``},
		"no JSON in locals": {thread.Advance("next", make(chan int)), nil, thread.StatusWaiting,
			``},
		"no JSON in input": {thread.Call("next", nil,
			thread.Spawned{Machine: "end", Input: func() {}}), nil, thread.StatusWaiting, ``},
		"jump to nowhere": {thread.Jump(thread.Spawned{Machine: "nowhere"}), nil,
			thread.StatusWaiting, ``},
	}
	for name, c := range ends {
		t.Run(name, func(t *testing.T) {
			scene(t, func(r *rig) {
				r.with(&staged{name: "end", steps: map[string]stepFunc{
					"": func(context.Context, thread.Activation) (thread.Transition, error) {
						return c.end, c.err
					},
				}})
				th := r.start("end", nil)
				r.next()
				th = r.load(th.ID)
				assert.Equal(r, c.status, th.Status())
				assert.Equal(r, c.result, string(th.Result))
				if c.status == thread.StatusWaiting {
					r.asked(th, thread.KindSystemError)
				}
			})
		})
	}
}

// A child's failure that its parent gives back keeps its code, and its text is fit to be stored.
func TestAFailureIsHandedUp(t *testing.T) {
	scene(t, func(r *rig) {
		long := strings.Repeat("é", 2000) + "\xff"
		r.with(&staged{name: "parent", steps: map[string]stepFunc{
			"": func(context.Context, thread.Activation) (thread.Transition, error) {
				return thread.Call("judge", nil, thread.Spawned{Machine: "child"}), nil
			},
			"judge": func(_ context.Context, a thread.Activation) (thread.Transition, error) {
				return thread.Fail(a.Frame.Children[0].Failure), nil
			},
		}}, &staged{name: "child", steps: map[string]stepFunc{
			"": func(context.Context, thread.Activation) (thread.Transition, error) {
				return thread.Fail(&runtime.Error{Code: runtime.CodeLoop, Op: "look",
					Err: errors.New(long)}), nil
			},
		}})
		th := r.start("parent", nil)
		r.next()
		th = r.load(th.ID)
		require.Equal(r, thread.StatusFailed, th.Status())
		assert.Equal(r, runtime.CodeLoop, th.Failure.Code)
		assert.Less(r, len(th.Failure.Text), 2100)
		assert.True(r, utf8.ValidString(th.Failure.Text))
	})
}
