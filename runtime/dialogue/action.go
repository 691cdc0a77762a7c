package dialogue

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/internal/foreign"
	"github.com/routegen/routegen/runtime/thread"
)

// action has the program do something. After a failure no slot has changed.
func action(w *work, st *step) move {
	if w.came.kind != cameEffect {
		binds, failure := w.bind(st.Inputs, st.inputs)
		if failure != nil {
			return w.fail(st.OnError, failure, false)
		}
		input, err := runtime.Encode(binds)
		if err != nil {
			return w.fail(st.OnError, &runtime.Failure{Code: runtime.CodeInvalid, Text: innermost(err)}, false)
		}
		kept, refused := w.again(st, digest(input))
		switch {
		case kept:
			return w.next(st)
		case refused != nil:
			return w.fail(st.OnError, refused, false)
		}
		return move{verb: does, st: st, do: func(ctx context.Context) (came, error) { return w.m.act(ctx, st, input) }}
	}
	if failure := w.came.effect.failure; failure != nil {
		return w.fail(st.OnError, failure, false)
	}
	var out map[string]json.RawMessage
	if json.Unmarshal(w.came.effect.output, &out) != nil {
		out = nil // a person said of it only that it happened
	}
	once := w.m.tables.Actions[st.Action-1].Once
	w.s.Once = w.s.Once || once
	return w.outputs(st, out, done{In: w.came.effect.in, Once: once})
}

// failed is the stored form of an action that failed. Its key is no name of an output.
type failed struct {
	Failure *runtime.Failure `json:"!failure"`
}

// act runs an action, as often as it may be tried. How it ended is one result: after a crash it is not run again to find that out.
func (m *Machine) act(ctx context.Context, st *step, input json.RawMessage) (came, error) {
	row := &m.tables.Actions[st.Action-1]
	do := thread.Do[json.RawMessage]
	if row.Once {
		do = thread.Once[json.RawMessage]
	}
	stored, err := do(ctx, "act", func(ctx context.Context, key string) (json.RawMessage, error) {
		out, err := m.try(ctx, st, key, input)
		switch {
		case err == nil && len(out) == 0:
			return json.RawMessage("null"), nil
		case err == nil:
			return out, nil
		case ctx.Err() != nil || st.Raise || runtime.CodeOf(err) == runtime.CodeInDoubt:
			return nil, err
		}
		return runtime.Encode(failed{failure(err)})
	})
	if err != nil {
		return came{}, err
	}
	out := effect{output: stored, in: digest(input)}
	var f failed
	if json.Unmarshal(stored, &f) == nil && f.Failure != nil {
		out = effect{failure: f.Failure}
	}
	return came{kind: cameEffect, effect: out}, nil
}

// try runs an action until it succeeds or may not be tried again. One that must not happen twice and does not end in its time is in doubt.
func (m *Machine) try(ctx context.Context, st *step, key string, input json.RawMessage) (json.RawMessage, error) {
	retry, limit := m.trying(st)
	for n := 1; ; n++ {
		out, err := foreign.Call(ctx, "dialogue", limit, func(ctx context.Context) (json.RawMessage, error) {
			return m.dialogue.Act(ctx, st.Action, key, input)
		})
		switch {
		case err != nil && errors.Is(err, foreign.ErrLate) && m.tables.Actions[st.Action-1].Once:
			return nil, &runtime.Error{Code: runtime.CodeInDoubt, Op: "act", Err: err}
		case err == nil, ctx.Err() != nil, n >= retry.Attempts, !runtime.Recoverable(err):
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

// trying is how often, and how long, the action of a step may run.
func (m *Machine) trying(st *step) (retry runtime.Retry, limit time.Duration) {
	row := &m.tables.Actions[st.Action-1]
	if row.Retry != nil {
		retry = *row.Retry
	}
	if st.Retry != nil {
		retry = *st.Retry
	}
	for _, limit = range []time.Duration{st.Timeout, row.Timeout, time.Minute} {
		if limit > 0 {
			break
		}
	}
	return retry, limit
}

// failure is an error as flows know it.
func failure(err error) *runtime.Failure {
	return &runtime.Failure{Code: runtime.CodeOf(err), Text: innermost(err)}
}
