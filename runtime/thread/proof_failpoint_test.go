package thread_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
)

// proofScenarios are what a person does with threads, told as if nothing could go wrong.
var proofScenarios = map[string]func(w *world) []string{
	"a question is answered": func(w *world) []string {
		w.start("a", "asker", "hello")
		w.answer("name", `"Bob"`)
		return []string{"a"}
	},
	"an effect that must not happen twice": func(w *world) []string {
		w.start("a", "payer", 7)
		w.answer("sure", `true`)
		return []string{"a"}
	},
	"two children ask": func(w *world) []string {
		w.start("a", "parent", nil)
		w.answer("right", `2`)
		w.answer("left", `1`)
		return []string{"a"}
	},
	"the work is paused and changed": func(w *world) []string {
		w.start("a", "planner", nil)
		w.until("a", asks("go"))
		w.try(func(e *thread.Engine) error {
			_, err := e.Escape(w.ctx, "a", thread.EscapeSafe, "ann", "wait")
			return err
		})
		w.answer("user_escape", `{"choice":"modify","text":"shorter"}`)
		w.answer("go", `true`)
		return []string{"a"}
	},
	"an effect is cut in the middle": func(w *world) []string {
		w.start("a", "endless", nil)
		w.meanwhile("a", func() bool { return w.happened("a/f1//1/once") })
		w.try(func(e *thread.Engine) error {
			_, err := e.Escape(w.ctx, "a", thread.EscapeNow, "ann", "stop")
			// a death was faster: the next process asks what became of the effect
			if runtime.CodeOf(err) == runtime.CodeNotWaiting && len(w.gone) > 0 {
				w.missed, err = []string{`a: user_escape answered "continue" by bob`}, nil
			}
			return err
		})
		if w.missed == nil {
			w.answer("user_escape", `"continue"`)
		}
		return []string{"a"}
	},
	"nobody answers": func(w *world) []string {
		w.start("a", "patient", nil)
		return []string{"a"}
	},
	"several answers at once": func(w *world) []string {
		w.start("a", "asker", "hello")
		w.start("b", "payer", 9)
		a := askedBy(w.until("a", asks("name")), "name")
		b := askedBy(w.until("b", asks("sure")), "sure")
		w.try(func(e *thread.Engine) error {
			_, err := e.AnswerAll(w.ctx,
				thread.Answer{Interrupt: a.ID, Value: json.RawMessage(`"Bob"`), By: "bob"},
				thread.Answer{Interrupt: b.ID, Value: json.RawMessage(`true`), By: "bob"})
			return err
		})
		return []string{"a", "b"}
	},
	"a thread is forked": func(w *world) []string {
		w.start("a", "asker", "hello")
		at := w.until("a", asks("name")).Seq
		w.answer("name", `"Bob"`)
		w.try(func(e *thread.Engine) error {
			_, err := e.Fork(w.ctx, "a", at, "b", "ann")
			return err
		})
		b := askedBy(w.until("b", asks("name")), "name")
		w.try(func(e *thread.Engine) error {
			_, err := e.Answer(w.ctx, "b",
				thread.Answer{Interrupt: b.ID, Value: json.RawMessage(`"Eve"`), By: "ann"})
			return err
		})
		return []string{"a", "b"}
	},
}

// proofMachines run the scenarios. Their effects happen in the outside of the process's world.
func proofMachines(p *process) []thread.Machine {
	return []thread.Machine{
		thread.Func("asker", func(ctx context.Context, in string) (string, error) {
			first, err := thread.Do(ctx, "first", p.effect)
			if err != nil {
				return "", err
			}
			if err := thread.Say(ctx, "hello", in); err != nil {
				return "", err
			}
			name, err := thread.Ask[string](ctx, "name", thread.Question{Text: "Name?"})
			if err != nil {
				return "", err
			}
			second, err := thread.Do(ctx, "second", p.effect)
			if err != nil {
				return "", err
			}
			return name + " " + first + " " + second, thread.Say(ctx, "bye", name)
		}),
		thread.Func("payer", func(ctx context.Context, sum int) (string, error) {
			if _, err := thread.Do(ctx, "quote", p.effect); err != nil {
				return "", err
			}
			sure, err := thread.Ask[bool](ctx, "sure", thread.Question{Text: "Sure?"})
			if err != nil {
				return "", err
			}
			paid, err := thread.Once(ctx, "once", p.effect)
			if err != nil {
				return "", err
			}
			mailed, err := thread.Do(ctx, "mail", p.effect)
			if err != nil {
				return "", err
			}
			return fmt.Sprintf("%d %t %s %s", sum, sure, paid, mailed), thread.Say(ctx, "receipt",
				paid)
		}),
		thread.TakesChanges(thread.Func("planner",
			func(ctx context.Context, _ any) (string, error) {
				if _, err := thread.Do(ctx, "plan", p.effect); err != nil {
					return "", err
				}
				change, _ := thread.Modification(ctx)
				ok, err := thread.Ask[bool](ctx, "go", thread.Question{Text: "Go? " + change})
				if err != nil {
					return "", err
				}
				return fmt.Sprintf("%t %s", ok, change), nil
			})),
		thread.Func("patient", func(ctx context.Context, _ any) (string, error) {
			said, err := thread.Ask[string](ctx, "well", thread.Question{
				Deadline: &runtime.Deadline{After: time.Hour, Then: "default",
					Answer: `"never mind"`, Reminder: time.Minute},
			})
			if err != nil {
				return "", err
			}
			_, err = thread.Once(ctx, "once", p.effect)
			return said, err
		}),
		thread.Func("endless", func(ctx context.Context, _ any) (string, error) {
			return thread.Once(ctx, "once", func(ctx context.Context, key string) (string, error) {
				if _, err := p.effect(ctx, key); err != nil {
					return "", err
				}
				<-ctx.Done()
				return "", context.Cause(ctx)
			})
		}),
		parentMachine{},
		thread.Turns("child", func(ctx context.Context, side string) (int, error) {
			if _, err := thread.Do(ctx, "prepare", p.effect); err != nil {
				return 0, err
			}
			n, err := thread.Ask[int](ctx, side, thread.Question{Text: side + "?"})
			if err != nil {
				return 0, err
			}
			_, err = thread.Once(ctx, "once", p.effect)
			return n, err
		}),
	}
}

// parentMachine calls two children and gives back what they returned.
type parentMachine struct{}

func (parentMachine) Name() string { return "parent" }

func (parentMachine) Step(_ context.Context, a thread.Activation) (thread.Transition, error) {
	if a.Frame.PC == "" {
		return thread.Call("joined", nil, thread.Spawned{Machine: "child", Input: "left"},
			thread.Spawned{Machine: "child", Input: "right"}), nil
	}
	var out []json.RawMessage
	for _, c := range a.Frame.Children {
		out = append(out, c.Value)
	}
	return thread.Done(out), nil
}

// TestProofAnyStoreCallMayFail makes the first store call fail, then the second, and so on to the
// last, in every way a call can fail, and demands the outcome of a run in which none does.
func TestProofAnyStoreCallMayFail(t *testing.T) {
	t.Parallel()
	for store, open := range proofStores {
		for name, scenario := range proofScenarios {
			for _, kind := range everyFault() {
				t.Run(fmt.Sprintf("%s/%s/%s", store, name, kind), func(t *testing.T) {
					t.Parallel()
					want, _, _ := proofRun(t, open, proofMachines, scenario, noFault, 0)
					require.NotEmpty(t, want.Threads)
					for n := 1; ; n++ {
						got, took, fired := proofRun(t, open, proofMachines, scenario, kind, n)
						if !fired {
							require.Greater(t, n, 5, "the scenario calls the store")
							break
						}
						if !assert.Equal(t, want, got, "call %d %s", n, kind) {
							return
						}
						if kind != fullFromNow && kind != unknownLong &&
							!strings.Contains(name, "nobody") {
							assert.Less(t, took, 20*time.Second,
								"call %d %s: nothing waits for the end of a lease", n, kind)
						}
					}
				})
			}
		}
	}
}

// TestProofFailpointsSeeWhatHappensTwice is the control: an effect named as if it were one of Once
// and made with Do must be found out.
func TestProofFailpointsSeeWhatHappensTwice(t *testing.T) {
	t.Parallel()
	machines := func(p *process) []thread.Machine {
		return []thread.Machine{thread.Func("payer",
			func(ctx context.Context, _ int) (string, error) {
				if _, err := thread.Ask[bool](ctx, "sure", thread.Question{}); err != nil {
					return "", err
				}
				return thread.Do(ctx, "once", p.effect)
			})}
	}
	scenario := proofScenarios["an effect that must not happen twice"]
	want, _, _ := proofRun(t, proofStores["mem"], machines, scenario, noFault, 0)
	seen := 0
	for n := 1; ; n++ {
		got, _, fired := proofRun(t, proofStores["mem"], machines, scenario, diesBefore, n)
		if !fired {
			break
		}
		if got.Once[0] != want.Once[0] {
			seen++
		}
	}
	require.Positive(t, seen)
}

// TestProofAStormOfFailures lets calls fail at random, one after the other, and processes die in
// the middle of taking up what the last one left. The outcome is that of a run in which nothing
// fails.
func TestProofAStormOfFailures(t *testing.T) {
	t.Parallel()
	for name, scenario := range proofScenarios {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want, _, _ := proofRun(t, proofStores["mem"], proofMachines, scenario, noFault, 0)
			deaths := 0
			for seed := range uint64(proofStorms) {
				synctest.Test(t, func(t *testing.T) {
					w := newWorld(t, proofStores["mem"](t), noFault, 0, proofMachines)
					w.storm = seed + 1
					require.Equal(t, want, w.look(scenario(w)), "storm %d", seed)
					deaths += len(w.gone)
				})
			}
			t.Logf("%d storms, in which %d processes died", proofStorms, deaths)
			require.Greater(t, deaths, proofStorms/10)
		})
	}
}

// proofRun plays a scenario in a bubble of its own.
func proofRun(t *testing.T, open func(t *testing.T) thread.Store,
	machines func(p *process) []thread.Machine, scenario func(w *world) []string,
	kind fault, at int,
) (out outcome, took time.Duration, fired bool) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, open(t), kind, at, machines)
		begun := time.Now()
		out = w.look(scenario(w))
		took = time.Since(begun)
		first := append(w.gone, w.now)[0]
		fired = first.fired()
	})
	return out, took, fired
}
