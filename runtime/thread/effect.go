package thread

import (
	"bytes"
	"context"
	"encoding/json"
	"unicode/utf8"

	"github.com/routegen/routegen/runtime"
)

// Do runs fn and stores its result as JSON, under the key of thread, frame, step, visit and name.
// When the step runs again, Do returns the stored result and does not call fn. fn gets the key as
// the idempotency key for what it calls.
//
// The result is committed when the step ends, and at most 100 ms after fn returned while the store
// takes commits; effects that complete within that time share a commit. If the process dies before,
// fn runs again with the same key: Do is at-least-once. If the process is stopped, or is so slow
// that its lease ends, another engine runs fn, and the first one may still begin it too. fn also
// runs again if its step began on a start, an answer or a message that the store then rejected;
// effects of that run are not recorded.
// With a negative [Config.CommitDelay] no step begins before its request is stored. For an effect
// that must not happen twice, use [Once].
//
// An error of fn is returned and not stored, so the effect may run again with the same key. Do
// returns [ErrWaiting] if the step is to end, and CodeInvalid if name is empty or was used before
// in this step, if JSON cannot hold the result, or if ctx is not that of a step. The context that
// fn gets is not that of a step: effects do not nest. Do may be called by several goroutines of a
// step, with different names.
func Do[T any](ctx context.Context, name string,
	fn func(ctx context.Context, key string) (T, error)) (T, error) {
	return runEffect(ctx, "do "+name, name, false, fn)
}

// Once is Do for an effect that must not happen twice. It commits that the effect begins before it
// calls fn, and calls fn only in a step whose request is stored. An effect that has begun is not
// begun again without an order. If its outcome is unknown, because the process died, fn's context
// ended, or fn returned CodeInDoubt, the thread asks a person with a system_error interrupt whether
// the effect happened (done, with its value), did not (run), or everything is to end (abort). Once
// costs one commit more than Do. It returns CodeInvalid in an [Inline] step.
//
// One case remains. A process may stand still for longer than its lease, between that commit and
// what fn does: another engine asks the person, who finds no effect and answers run. When the first
// process continues, its effect happens as well. The record stays right, since nothing more of the
// first process is stored, but the effect has happened twice. So pass the key on as an idempotency
// key, and look for that key when asked; if no key can be passed on, answer only once the first
// process is certainly gone.
func Once[T any](ctx context.Context, name string,
	fn func(ctx context.Context, key string) (T, error)) (T, error) {
	return runEffect(ctx, "once "+name, name, true, fn)
}

func runEffect[T any](ctx context.Context, op, name string, once bool,
	fn func(context.Context, string) (T, error)) (T, error) {
	var zero T
	r, err := runOf(ctx, op)
	if err != nil {
		return zero, err
	}
	stored, key, err := r.beginEffect(op, name)
	switch {
	case err != nil:
		return zero, err
	case stored != nil:
		return decodeResult[T](op, stored)
	}
	if once {
		if err := r.driver.storeIntent(ctx, r, name); err != nil {
			return zero, err
		}
	}
	inner := &effectContext{Context: ctx, engine: r.driver.engine.engineOf(r.driver.id)}
	//nolint:contextcheck // inner is a context of ctx
	v, err := fn(inner, key)
	cut := ctx.Err() != nil
	inner.endEffect()
	if err != nil {
		if once && !cut && runtime.CodeOf(err) != runtime.CodeInDoubt {
			r.keepResult(name, EffectFailed, nil) // its outcome is known: it may run again
		}
		if !cut { // a caller may handle it, and then it is logged nowhere else
			r.driver.engine.log.Warn("effect failed", "thread", r.driver.id, "frame", r.frame.ID,
				"step", r.frame.PC, "effect", name, "code", runtime.CodeOf(err))
		}
		return zero, err
	}
	value, err := runtime.Encode(v)
	if err != nil {
		return zero, Permanent(err)
	}
	if !r.keepResult(name, EffectDone, value) {
		return zero, ErrWaiting
	}
	if once { // soon, even if the step runs on: until then its outcome counts as unknown
		r.driver.push(new(command))
	}
	return decodeResult[T](op, value)
}

// beginEffect is the safe point before an effect. It returns the stored result, if there is one, or
// the key to run under.
func (r *stepRun) beginEffect(op, name string) (stored json.RawMessage, key string, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	had := r.frame.Effect(name)
	if had != nil && had.State == EffectDone && r.state < suspended && len(r.asked) == 0 &&
		!r.used.holds(name) {
		r.used.hold(name)
		return had.Value, "", nil
	}
	if err := r.enterSafePoint(op, name); err != nil {
		return nil, "", err
	}
	return nil, EffectKey(r.driver.id, &r.frame, name), nil
}

// keepResult records the end of an effect. It reports false if the run has ended and the effect is
// not recorded.
func (r *stepRun) keepResult(name, state string, value json.RawMessage) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.state.hasEnded() {
		return false
	}
	r.appendEffect(name, state, value)
	return true
}

// decodeResult decodes a stored value. The first run gets the decoded value too, so that every run
// sees the same.
func decodeResult[T any](op string, data json.RawMessage) (T, error) {
	var v T
	if text, ok := any(&v).(*string); ok && isPlainString(data) {
		*text = string(data[1 : len(data)-1])
		return v, nil
	}
	return unmarshalResult[T](op, data)
}

// isPlainString reports whether JSON is a string without escapes.
func isPlainString(data []byte) bool {
	end := len(data) - 1
	return end > 0 && data[0] == '"' && data[end] == '"' && !bytes.ContainsAny(data[1:end], `"\`) &&
		utf8.Valid(data)
}

func unmarshalResult[T any](op string, data json.RawMessage) (T, error) {
	var v T
	var err error
	switch into := any(&v).(type) {
	case *json.RawMessage:
		*into = data
	case runtime.Record:
		err = runtime.Unmarshal(data, into)
	default:
		err = json.Unmarshal(data, &v)
	}
	if err != nil {
		return v, Permanent(runtime.Errorf(runtime.CodeInvalid, op, "%w", err))
	}
	return v, nil
}

// Say puts a message into the thread's outbox, once for each name, step and visit, with the commit
// of the step. It returns the errors of [Do].
func Say(ctx context.Context, name string, message any) error {
	op := "say " + name
	r, err := runOf(ctx, op)
	if err != nil {
		return err
	}
	value, err := encodeValue(message)
	if err != nil {
		return Permanent(err)
	}
	name = "say/" + name
	stored, _, err := r.beginEffect(op, name)
	if err != nil || stored != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.appendEffect(name, EffectDone, json.RawMessage("true"))
	r.fresh = append(r.fresh, Entry{Type: EntryMessage, Frame: r.frame.ID,
		Name: name[len("say/"):], Value: value})
	return nil
}

// SetContext sets the context that goes out with every interrupt of the thread, for example a plan
// and its progress. The context of the root frame counts, and stays until it is set again.
// SetContext returns CodeInvalid if ctx is not that of a step or if JSON cannot hold v.
func SetContext(ctx context.Context, v any) error {
	r, err := runOf(ctx, "show")
	if err != nil {
		return err
	}
	value, err := encodeValue(v)
	if err != nil {
		return Permanent(err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.state.hasEnded() { // otherwise its end is being decided
		r.interruptContext = value
	}
	return nil
}

// Modification returns the change of the work that a person asked for while the thread was paused,
// and whether there is one. Every run of the step sees it until a step of the root frame that saw
// it ends. Only a [Changeable] machine is offered one.
func Modification(ctx context.Context) (string, bool) {
	r, err := runOf(ctx, "modification")
	if err != nil || r.modify == nil {
		return "", false
	}
	return *r.modify, true
}

// PendingReroute returns the stored reroute event that the next interrupt of the step's frame
// takes, or nil. It is the current one, not the one at the start of the step. changed is closed
// when another event takes its place. Both are nil if ctx is not that of a step. An event that was
// stored through another engine is seen within [Config.Poll].
func PendingReroute(ctx context.Context) (now *Reroute, changed <-chan struct{}) {
	r, err := runOf(ctx, "pending reroute")
	if err != nil {
		return nil, nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.rerouteChanged == nil {
		r.rerouteChanged = make(chan struct{})
	}
	return r.reroute, r.rerouteChanged
}

// setReroute notes the reroute event of the frame.
func (r *stepRun) setReroute(now *Reroute) {
	r.mu.Lock()
	defer r.mu.Unlock()
	same := r.reroute == nil && now == nil || r.reroute != nil && now != nil &&
		r.reroute.ID == now.ID
	if r.reroute = now; !same && r.rerouteChanged != nil {
		close(r.rerouteChanged)
		r.rerouteChanged = nil
	}
}

// EngineOf returns the engine that runs the step or the effect of ctx, as the tenant of the thread
// sees it. Machines and effects use it to start other threads, with a Request made of the effect's
// key. It returns CodeInvalid for any other context.
func EngineOf(ctx context.Context) (*Engine, error) {
	if e, inEffect := ctx.Value(contextKey{}).(*Engine); inEffect {
		return e, nil
	}
	r, err := runOf(ctx, "engine")
	if err != nil {
		return nil, err
	}
	return r.driver.engine.engineOf(r.driver.id), nil
}
