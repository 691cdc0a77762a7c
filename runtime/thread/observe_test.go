package thread_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/store/mem"
	"github.com/routegen/routegen/runtime/thread"
)

// logged is a log that a test reads.
type logged struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *logged) to(level slog.Level) *slog.Logger {
	return slog.New(slog.NewJSONHandler(l, &slog.HandlerOptions{Level: level}))
}

// lines returns the lines with that message.
func (l *logged) lines(t *testing.T, message string) []map[string]any {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []map[string]any
	for s := bufio.NewScanner(bytes.NewReader(l.buf.Bytes())); s.Scan(); {
		var line map[string]any
		require.NoError(t, json.Unmarshal(s.Bytes(), &line))
		if line["msg"] == message {
			out = append(out, line)
		}
	}
	return out
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

// observed is an observer that keeps what it is told.
type observed struct {
	mu        sync.Mutex
	ends      []thread.StepEnd
	committed []thread.EntryType
	ended     chan struct{} // one for each end, where there is a channel
}

type observedKey struct{}

func (o *observed) Step(ctx context.Context, a thread.Activation) (context.Context,
	func(thread.StepEnd)) {
	return context.WithValue(ctx, observedKey{}, a.Frame.ID), func(end thread.StepEnd) {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.ends = append(o.ends, end)
		if o.ended != nil {
			o.ended <- struct{}{}
		}
	}
}

func (o *observed) Committed(_ *thread.Thread, entries []thread.Entry, _ []*thread.Interrupt) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, e := range entries {
		o.committed = append(o.committed, e.Type)
	}
}

func observedWait(t *testing.T, e *thread.Engine) *thread.Thread {
	t.Helper()
	th, err := e.Wait(t.Context(), "t")
	require.NoError(t, err)
	return th
}

func TestLogSaysWhoWaitsAndWhoAnswered(t *testing.T) {
	t.Parallel()
	const secret = "CANARY-51d2"
	ctx := t.Context()
	l := &logged{}
	e, err := thread.Open(ctx, mem.Open(), thread.Config{Log: l.to(slog.LevelInfo)},
		thread.Func("asking", func(ctx context.Context, in string) (string, error) {
			return thread.Ask[string](ctx, "question", thread.Question{
				Text: in, Payload: json.RawMessage(`"` + in + `"`),
				Assignees: []string{"bob", "cat"},
			})
		}))
	require.NoError(t, err)
	_, err = e.Start(ctx, thread.Begin{ID: "t", Machine: "asking", Name: "node", Input: secret,
		User: "ann"})
	require.NoError(t, err)
	th := observedWait(t, e)
	i := th.Open[0]
	_, err = e.Claim(ctx, i.ID, "bob", false) // changes the interrupt, and is no news here
	require.NoError(t, err)
	_, err = e.Answer(ctx, "t", thread.Answer{Interrupt: i.ID, Value: []byte(`"` + secret + `"`),
		By: "bob"})
	require.NoError(t, err)
	observedWait(t, e)
	_, err = e.Fork(ctx, "t", th.Seq, "fork", "ann")
	require.NoError(t, err)
	done := observedWait(t, e)
	_, err = e.Fork(ctx, "t", done.Seq, "late", "ann")
	require.NoError(t, err)
	require.NoError(t, e.Close(ctx))

	waiting, resumed := l.lines(t, "thread waiting"), l.lines(t, "thread resumed")
	require.Len(t, waiting, 2, "the thread and its first fork")
	require.Len(t, resumed, 1, "what a fork copied is no news")
	for _, line := range []map[string]any{waiting[0], resumed[0]} {
		assert.Equal(t, "INFO", line["level"])
		for key, want := range map[string]string{"thread": "t", "frame": "f1", "step": "",
			"interrupt": i.ID, "kind": "agent_question"} {
			assert.Equal(t, want, line[key], key)
		}
	}
	assert.Equal(t, []any{"bob", "cat"}, waiting[0]["who"])
	assert.Equal(t, i.Digest, waiting[0]["digest"])
	assert.Equal(t, "bob", resumed[0]["who"])
	assert.True(t, strings.HasPrefix(resumed[0]["answer"].(string), "sha256:"))
	assert.Equal(t, "fork", waiting[1]["thread"])
	assert.NotEqual(t, i.ID, waiting[1]["interrupt"])
	assert.Len(t, l.lines(t, "thread over"), 2, "the thread, and the fork of its end")
	assert.NotContains(t, l.String(), secret)
}

// The log at Debug shows what a driver does: steps, commits and what it waits for.
func TestDebugLogShowsWhatADriverDoes(t *testing.T) {
	t.Parallel()
	l := &logged{}
	release := make(chan struct{})
	e, err := thread.Open(t.Context(), mem.Open(), thread.Config{Log: l.to(slog.LevelDebug)},
		thread.Func("slow", func(context.Context, string) (string, error) {
			<-release
			return "done", nil
		}))
	require.NoError(t, err)
	_, err = e.Start(t.Context(), thread.Begin{ID: "t", Machine: "slow"})
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		waits := l.lines(t, "driver waits")
		return len(waits) > 0 && assert.ObjectsAreEqual([]any{"f1"}, waits[0]["frames"])
	}, 5*time.Second, time.Millisecond)
	require.Len(t, l.lines(t, "step starts"), 1)
	close(release)
	observedWait(t, e)
	require.NoError(t, e.Close(t.Context()))
	commits := l.lines(t, "commit")
	require.NotEmpty(t, commits)
	last := commits[len(commits)-1]
	assert.Equal(t, "done", last["status"])
	assert.Contains(t, last, "version")
	assert.Contains(t, last, "entries")
	assert.Contains(t, last, "took")
}

// What fails is told with its code, and not with its text: an effect whose error is not passed on,
// and a step.
func TestLogTellsOfFailures(t *testing.T) {
	t.Parallel()
	const secret = "CANARY-77aa"
	l := &logged{}
	e, err := thread.Open(t.Context(), mem.Open(), thread.Config{Log: l.to(slog.LevelWarn)},
		thread.Func("f", func(ctx context.Context, _ string) (string, error) {
			_, err := thread.Do(ctx, "charge", func(context.Context, string) (int, error) {
				return 0, &runtime.Error{Code: runtime.CodeUnavailable, Op: secret,
					Err: errors.New(secret)}
			})
			assert.Error(t, err)
			return "", thread.Permanent(errors.New(secret))
		}))
	require.NoError(t, err)
	_, err = e.Start(t.Context(), thread.Begin{ID: "t", Machine: "f", Input: ""})
	require.NoError(t, err)
	observedWait(t, e)
	require.NoError(t, e.Close(t.Context()))
	effects, steps := l.lines(t, "effect failed"), l.lines(t, "step failed")
	require.Len(t, effects, 1)
	require.Len(t, steps, 1)
	for key, want := range map[string]string{"level": "WARN", "thread": "t", "frame": "f1",
		"step": "", "effect": "charge", "code": "unavailable"} {
		assert.Equal(t, want, effects[0][key], key)
	}
	for key, want := range map[string]string{"level": "WARN", "thread": "t", "frame": "f1",
		"step": "", "code": "internal"} {
		assert.Equal(t, want, steps[0][key], key)
	}
	assert.NotContains(t, l.String(), secret)
}

func TestLogBelowItsLevelIsSilent(t *testing.T) {
	t.Parallel()
	l := &logged{}
	e, err := thread.Open(t.Context(), mem.Open(), thread.Config{Log: l.to(slog.LevelWarn)},
		thread.Func("f", func(context.Context, string) (string, error) { return "", nil }))
	require.NoError(t, err)
	_, err = e.Start(t.Context(), thread.Begin{ID: "t", Machine: "f", Input: ""})
	require.NoError(t, err)
	observedWait(t, e)
	require.NoError(t, e.Close(t.Context()))
	assert.Empty(t, l.String())
}

// stepping is a machine whose step is a function.
type stepping func(context.Context, thread.Activation) (thread.Transition, error)

func (stepping) Name() string { return "stepping" }

func (s stepping) Step(ctx context.Context, a thread.Activation) (thread.Transition, error) {
	return s(ctx, a)
}

func TestObserverIsToldHowStepsEnd(t *testing.T) {
	t.Parallel()
	broken := thread.Permanent(errors.New("broken"))
	tests := map[string]struct {
		step stepping
		want thread.StepEnd
		code runtime.Code
	}{
		"done": {func(context.Context, thread.Activation) (thread.Transition, error) {
			return thread.Done(nil), nil
		}, thread.StepEnd{}, ""},
		"returns": {func(context.Context, thread.Activation) (thread.Transition, error) {
			return thread.Return(nil), nil
		}, thread.StepEnd{}, ""},
		"asks": {func(ctx context.Context, _ thread.Activation) (thread.Transition, error) {
			_, err := thread.Ask[string](ctx, "q", thread.Question{})
			return thread.Transition{}, err
		}, thread.StepEnd{Waiting: true}, ""},
		"asks and hides it": {func(ctx context.Context, _ thread.Activation) (thread.Transition,
			error) {
			_, _ = thread.Ask[string](ctx, "q", thread.Question{})
			return thread.Done(nil), nil
		}, thread.StepEnd{Waiting: true}, ""},
		"asks by transition": {func(context.Context, thread.Activation) (thread.Transition, error) {
			return thread.Asks("next", nil, thread.Question{Name: "q"}), nil
		}, thread.StepEnd{Waiting: true}, ""},
		"error": {func(context.Context, thread.Activation) (thread.Transition, error) {
			return thread.Transition{}, broken
		},
			thread.StepEnd{Err: broken}, runtime.CodeInternal},
		"failure": {func(context.Context, thread.Activation) (thread.Transition, error) {
			return thread.Fail(broken), nil
		},
			thread.StepEnd{Err: broken}, runtime.CodeInternal},
		"no transition": {func(context.Context, thread.Activation) (thread.Transition, error) {
			return thread.Transition{}, nil
		},
			thread.StepEnd{Err: assert.AnError}, runtime.CodeInternal},
		"no JSON": {func(context.Context, thread.Activation) (thread.Transition, error) {
			return thread.Done(func() {}), nil
		},
			thread.StepEnd{Err: assert.AnError}, runtime.CodeInvalid},
		"child without machine": {func(context.Context, thread.Activation) (thread.Transition,
			error) {
			return thread.Call("next", nil, thread.Spawned{Machine: "nowhere"}), nil
		}, thread.StepEnd{Err: assert.AnError}, runtime.CodeInvalid},
		"child without JSON": {func(context.Context, thread.Activation) (thread.Transition, error) {
			return thread.Jump(thread.Spawned{Machine: "stepping", Input: func() {}}), nil
		}, thread.StepEnd{Err: assert.AnError}, runtime.CodeInvalid},
		"panic": {func(context.Context, thread.Activation) (thread.Transition, error) {
			panic("broken")
		},
			thread.StepEnd{Err: assert.AnError}, runtime.CodeInternal},
		"time is up": {func(ctx context.Context, _ thread.Activation) (thread.Transition, error) {
			<-ctx.Done()
			return thread.Transition{}, ctx.Err()
		}, thread.StepEnd{Err: assert.AnError}, runtime.CodeUnavailable},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			// its time is up when nothing else can move, and not when this machine is busy
			synctest.Test(t, func(t *testing.T) {
				end, o := observedStep(t, tt.step)
				assert.Equal(t, tt.code, runtime.CodeOf(end.Err))
				if tt.want.Err != nil {
					tt.want.Err = end.Err
				}
				assert.Equal(t, tt.want, end)
				assert.Equal(t, []thread.EntryType{thread.EntryStarted, thread.EntryEntered},
					o.committed[:2])
				assert.Equal(t, tt.want.Err != nil && name != "failure",
					slices.Contains(o.committed, thread.EntryFailed), "the log says the same")
			})
		})
	}
}

// observedStep runs one step under two observers, and returns how it ended.
func observedStep(t *testing.T, step stepping) (thread.StepEnd, *observed) {
	t.Helper()
	o, outer := &observed{}, &observed{}
	var seen any
	m := stepping(func(ctx context.Context, a thread.Activation) (thread.Transition, error) {
		seen = ctx.Value(observedKey{})
		return step(ctx, a)
	})
	kinds := thread.DefaultKinds()
	kinds[2].Retry = nil // a person is asked at once
	e, err := thread.Open(t.Context(), mem.Open(), thread.Config{
		Observers: []thread.Observer{outer, o}, Kinds: kinds, StepTimeout: 50 * time.Millisecond,
	}, m)
	require.NoError(t, err)
	_, err = e.Start(t.Context(), thread.Begin{ID: "t", Machine: "stepping"})
	require.NoError(t, err)
	observedWait(t, e)
	require.NoError(t, e.Close(t.Context()))
	assert.Equal(t, "f1", seen, "the step has the observer's context")
	require.Len(t, o.ends, 1)
	require.Len(t, outer.ends, 1)
	return o.ends[0], o
}

// What stops a step from outside is neither its end nor its failure.
func TestObserverIsToldWhatStoppedAStep(t *testing.T) {
	t.Parallel()
	cancel := func(e *thread.Engine) error {
		_, err := e.Cancel(context.Background(), "t", "ann", "")
		return err
	}
	tests := map[string]struct {
		stop     func(e *thread.Engine) error
		heedless bool // the handler goes on and returns a result
		want     thread.StepEnd
	}{
		"a person pauses now": {func(e *thread.Engine) error {
			_, err := e.Escape(context.Background(), "t", thread.EscapeNow, "ann", "")
			return err
		}, false, thread.StepEnd{Waiting: true}},
		"a person cancels":                     {cancel, false, thread.StepEnd{Cut: true}},
		"a person cancels, and nobody listens": {cancel, true, thread.StepEnd{Cut: true}},
		"the engine closes": {func(e *thread.Engine) error {
			ctx, cancel := context.WithCancel(context.Background())
			cancel()
			return e.Close(ctx)
		}, false, thread.StepEnd{Cut: true}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o, running := &observed{ended: make(chan struct{}, 1)}, make(chan struct{}, 1)
			e, err := thread.Open(t.Context(), mem.Open(),
				thread.Config{Observers: []thread.Observer{o}},
				stepping(func(ctx context.Context, _ thread.Activation) (thread.Transition, error) {
					running <- struct{}{}
					<-ctx.Done()
					if tt.heedless {
						return thread.Return("too late"), nil
					}
					return thread.Transition{}, ctx.Err()
				}))
			require.NoError(t, err)
			_, err = e.Start(t.Context(), thread.Begin{ID: "t", Machine: "stepping"})
			require.NoError(t, err)
			<-running
			require.NoError(t, tt.stop(e))
			<-o.ended
			require.NoError(t, e.Close(t.Context()))
			assert.Equal(t, []thread.StepEnd{tt.want}, o.ends)
		})
	}
}
