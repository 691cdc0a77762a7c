package dialogue

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/internal/guard"
	"github.com/routegen/routegen/runtime/thread"
)

// runAction calls an action of the program. After a failure no slot has changed.
func runAction(w *work, st *step) move {
	if w.input.kind != inputEffect {
		input, failure := w.encodeBinds(st.Inputs)
		if failure != nil {
			return w.handleFailure(st.OnError, failure, false)
		}
		return w.startEffect(st, input, func(ctx context.Context) (effectResult, error) {
			return w.m.callAction(ctx, st, input)
		})
	}
	if failure := w.input.effect.failure; failure != nil {
		return w.handleFailure(st.OnError, failure, false)
	}
	var out map[string]json.RawMessage
	if json.Unmarshal(w.input.effect.output, &out) != nil {
		out = nil // a person said only that it happened
	}
	once := w.m.tables.Actions[st.Action-1].Once
	w.s.Once = w.s.Once || once
	return w.storeOutputs(st, out, done{in: w.input.effect.in, once: once})
}

// startEffect reuses the result that a step has for the same input, or lets the effect run.
func (w *work) startEffect(st *step, input []byte,
	run func(ctx context.Context) (effectResult, error)) move {
	digest := shortDigest(input)
	if mv, ok := w.reuseResult(st, digest); ok {
		return mv
	}
	return move{kind: moveEffect, st: st, do: func(ctx context.Context) (stepInput, error) {
		out, err := run(ctx)
		out.in = digest
		return stepInput{kind: inputEffect, effect: out}, err
	}}
}

// failedAction is the stored result of an action that failed. Its key cannot be the name of an
// output.
type failedAction struct {
	Failure *thread.Failure `json:"!failure"`
}

// callAction runs an action with its retries. The final result or failure is stored once, so it is
// not run again after a crash.
func (m *Machine) callAction(ctx context.Context, st *step, input json.RawMessage) (
	effectResult, error) {
	row := &m.tables.Actions[st.Action-1]
	do := thread.Do[json.RawMessage]
	if row.Once {
		do = thread.Once[json.RawMessage]
	}
	stored, err := do(ctx, "act", func(ctx context.Context, key string) (json.RawMessage, error) {
		out, err := m.tryAction(ctx, st, key, input)
		switch {
		case err == nil && len(out) == 0:
			return json.RawMessage("null"), nil
		case err == nil:
			return out, nil
		case ctx.Err() != nil || st.Raise || runtime.CodeOf(err) == runtime.CodeInDoubt:
			return nil, err
		}
		return runtime.Encode(failedAction{newFailure(err)})
	})
	out := effectResult{output: stored}
	var f failedAction
	if err == nil && json.Unmarshal(stored, &f) == nil && f.Failure != nil {
		out = effectResult{failure: f.Failure}
	}
	return out, err
}

// tryAction runs an action until it succeeds or has no attempts left. It returns CodeInDoubt for a
// once action that exceeds its time.
func (m *Machine) tryAction(ctx context.Context, st *step, key string, input json.RawMessage) (
	json.RawMessage, error) {
	retry, limit := m.retryPolicy(st)
	for n := 1; ; n++ {
		out, err := guard.RunLimited(ctx, "dialogue", limit,
			func(ctx context.Context) (json.RawMessage, error) {
				return m.dialogue.Act(ctx, st.Action, key, input)
			})
		switch {
		case err != nil && errors.Is(err, guard.ErrLate) && m.tables.Actions[st.Action-1].Once:
			return nil, runtime.Errorf(runtime.CodeInDoubt, "act", "%w", err)
		case err == nil, ctx.Err() != nil, n >= retry.Attempts, !thread.Recoverable(err):
			return out, err
		}
		timer := time.NewTimer(retry.Wait(n))
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil, context.Cause(ctx)
		}
	}
}

// retryPolicy returns the retries and the time limit for the action of a step.
func (m *Machine) retryPolicy(st *step) (retry runtime.Retry, limit time.Duration) {
	row := &m.tables.Actions[st.Action-1]
	if own := cmp.Or(st.Retry, row.Retry); own != nil {
		retry = *own
	}
	return retry, cmp.Or(st.Timeout, row.Timeout, time.Minute)
}

// newFailure converts an error to the failure of a flow.
func newFailure(err error) *thread.Failure {
	return &thread.Failure{Code: runtime.CodeOf(err), Text: innermostText(err)}
}
