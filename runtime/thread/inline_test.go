package thread_test

import (
	"context"
	"errors"
	goruntime "runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime/thread"
)

// computes is a machine that says of its steps that they only compute.
type computes struct {
	name string
	step func(ctx context.Context, a thread.Activation) (thread.Transition, error)
}

func (c computes) Name() string { return c.name }

func (c computes) Inline(*thread.Frame) bool { return true }

func (c computes) Step(ctx context.Context, a thread.Activation) (thread.Transition, error) {
	return c.step(ctx, a)
}

// hidden is a machine without the method Inline.
type hidden struct{ thread.Machine }

// under reports whether the code that asks runs inside a call of that name.
func under(name string) bool {
	callers := make([]uintptr, 64)
	frames := goruntime.CallersFrames(callers[:goruntime.Callers(0, callers)])
	for more := true; more; {
		var f goruntime.Frame
		if f, more = frames.Next(); strings.HasSuffix(f.Function, name) {
			return true
		}
	}
	return false
}

// An inline step runs in the goroutine that drives its thread; otherwise it is like any other step.
func TestAnInlineStepRunsInTheDriversGoroutine(t *testing.T) {
	t.Parallel()
	for _, inline := range []bool{true, false} {
		t.Run(map[bool]string{true: "inline", false: "not"}[inline], func(t *testing.T) {
			scene(t, func(r *rig) {
				var inside []bool
				var m thread.Machine = computes{"sum",
					func(_ context.Context, a thread.Activation) (thread.Transition, error) {
						if len(a.Frame.Replies) == 0 {
							return thread.Asks("more", nil,
								thread.Question{Name: "n", Text: "How many?"}), nil
						}
						inside = append(inside, under("thread.(*driver).startReadySteps"))
						return thread.Done(string(a.Frame.Replies[0].Value)), nil
					}}
				if !inline {
					m = hidden{m}
				}
				r.with(m)
				th := r.start("sum", nil)
				r.next()
				th = r.say(r.asked(th, "n"), "7")
				assert.Equal(r, []bool{inline}, inside)
				require.Equal(r, thread.StatusDone, th.Status())
			})
		})
	}
}

// Once is refused in an inline step, and an error or a panic there is a failed step.
func TestAnInlineStepThatDoesMoreThanComputeFails(t *testing.T) {
	t.Parallel()
	for name, step := range map[string]func(ctx context.Context) error{
		"it only computes": func(ctx context.Context) error {
			_, err := thread.Once(ctx, "pay", func(context.Context, string) (bool, error) {
				return true, nil
			})
			return err
		},
		"panic: no":  func(context.Context) error { panic("no") },
		"weak today": func(context.Context) error { return errors.New("weak today") },
	} {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(r *rig) {
				r.cfg.Kinds = thread.DefaultKinds()
				r.cfg.Kinds[2].Retry = nil
				r.with(computes{"bad", func(ctx context.Context, _ thread.Activation) (
					thread.Transition, error) {
					return thread.Done(nil), step(ctx)
				}})
				i := r.asked(r.start("bad", nil), thread.KindSystemError)
				if name == "it only computes" {
					name = "the machine runs this step inline"
				}
				assert.Contains(r, string(i.Payload), name)
			})
		})
	}
}

// Inline steps that go on and on are committed in between, and a person can pause them.
func TestInlineStepsWithoutEndCanBePaused(t *testing.T) {
	t.Parallel()
	for _, store := range []string{"mem", "sqlite"} {
		t.Run(store, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, store, goesOn)
			var once sync.Once
			many := make(chan struct{})
			r.with(computes{"round",
				func(_ context.Context, a thread.Activation) (thread.Transition, error) {
					if a.Frame.Visit > 2 {
						once.Do(func() { close(many) })
					}
					return thread.Advance("round", nil), nil
				}})
			th, err := r.e.Start(r.ctx, thread.Begin{Machine: "round"})
			require.NoError(r, err, "the call returns when the first commit is there")
			<-many
			_, err = r.e.Escape(r.ctx, th.ID, thread.EscapeSafe, "ann", "")
			require.NoError(r, err)
			th = r.rest(th.ID)
			require.Len(r, th.Open, 1)
			assert.Equal(r, thread.KindUserEscape, th.Open[0].Kind)
			assert.Greater(r, th.Frames[0].Visit, 1)
			_, err = r.e.Cancel(r.ctx, th.ID, "ann", "")
			require.NoError(r, err)
		})
	}
}

// A call waits for the commit of what it did, however long the inline steps after it go on.
func TestACallDoesNotWaitForSlowInlineSteps(t *testing.T) {
	const eager = 5 * time.Millisecond // the default
	onBoth(t, func(r *rig) {
		rounds := 0
		r.with(computes{"chain", func(context.Context, thread.Activation) (thread.Transition,
			error) {
			<-time.After(2 * eager)
			if rounds++; rounds == 300 {
				return thread.Done(rounds), nil
			}
			return thread.Advance("chain", nil), nil
		}})
		began := time.Now()
		ctx, cancel := context.WithTimeout(r.ctx, 20*eager)
		defer cancel()
		th, err := r.e.Start(ctx, thread.Begin{Machine: "chain"})
		require.NoError(r, err)
		assert.Less(r, time.Since(began), 20*eager)
		r.done(r.rest(th.ID), "300")
	})
}
