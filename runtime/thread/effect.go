package thread

import (
	"context"
	"encoding/json"

	"github.com/routegen/routegen/runtime"
)

// Do runs fn and stores its result as JSON, under the key of thread, frame, step, visit and name. When the
// step runs again, Do returns the stored result and does not call fn. The key goes to fn, to be the
// idempotency key of what fn calls.
//
// The result is stored when the step ends, and at most 100 ms after fn returned while the store takes
// commits; completed effects of that time share a commit. If the process dies before that, fn runs again
// with the same key: at least once, therefore. fn also runs a second time under its key where the step
// began on a start, an answer or a message that the store then refused, because another caller was faster
// or the store failed; what the refused step did is not recorded, and the step that counts calls fn anew.
// [Config.Eager] below zero lets no step begin before its request is stored. For what must not happen
// twice even when the process dies, use [Once].
//
// An error of fn is returned and not stored: the effect may run again, with the same key. Also returned are [ErrWaiting], and CodeInvalid
// for a name that this step has used before, for a result that JSON cannot hold, and for a context that is not that of a step: the one fn
// gets holds no step, so effects do not nest. Do may be called by several goroutines of a step under different names.
func Do[T any](ctx context.Context, name string, fn func(ctx context.Context, key string) (T, error)) (T, error) {
	return effect(ctx, "do "+name, name, false, fn)
}

// Once is Do for an effect that must not happen twice: that it begins is committed before fn is called, and
// only in a step whose request is stored. An effect that has begun is never begun again without an order.
// If its end is unknown, because the process died, fn's context ended, or fn returned CodeInDoubt, the
// thread asks a person with a system_error interrupt whether it happened (done, with its value), did not
// (run), or all is to end (abort). It costs one commit more than Do.
//
// One case is left. A process that stands still for longer than its lease, stopped or swapped out between that
// commit and what fn does, is overtaken: another one asks the person, who looks, finds nothing, and says run. When
// the first goes on, its effect happens too. The record stays right, since nothing more of the first is stored, but
// the world outside saw two. So give key to what fn calls, as its idempotency key, and look for that key there when
// asked; where no key can be given, answer only when the first process is surely gone.
func Once[T any](ctx context.Context, name string, fn func(ctx context.Context, key string) (T, error)) (T, error) {
	return effect(ctx, "once "+name, name, true, fn)
}

func effect[T any](ctx context.Context, op, name string, once bool, fn func(context.Context, string) (T, error)) (T, error) {
	var zero T
	r, err := runOf(ctx, op)
	if err != nil {
		return zero, err
	}
	stored, key, err := r.begin(op, name)
	switch {
	case err != nil:
		return zero, err
	case stored != nil:
		return decoded[T](op, stored)
	}
	if once {
		if err := r.driver.intend(ctx, r, name); err != nil {
			return zero, err
		}
	}
	inner, cancel := context.WithCancel(context.WithValue(ctx, contextKey{}, r.driver.engine))
	v, err := fn(inner, key)
	cut := ctx.Err() != nil
	cancel()
	if err != nil {
		if once && !cut && runtime.CodeOf(err) != runtime.CodeInDoubt {
			r.keep(name, runtime.EffectFailed, nil) // its end is known: it may run again
		}
		if !cut { // a caller may handle it, and then nothing else tells of it
			r.driver.engine.log.Warn("effect failed", "thread", r.driver.id, "frame", r.frame.ID, "step", r.frame.PC, "effect", name, "code", runtime.CodeOf(err))
		}
		return zero, err
	}
	value, err := runtime.Encode(v)
	if err != nil {
		return zero, runtime.Permanent(err)
	}
	if !r.keep(name, runtime.EffectDone, value) {
		return zero, ErrWaiting
	}
	if once { // soon, however long the step still runs: until then it is in doubt
		r.driver.push(&deed{decide: func(*runtime.Change) error { return nil }})
	}
	return decoded[T](op, value)
}

// begin is the safe point before an effect. It returns the stored result, if there is one, or the key to run under.
func (r *run) begin(op, name string) (stored json.RawMessage, key string, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	had := r.frame.Effect(name)
	if had != nil && had.State == runtime.EffectDone && !r.over && len(r.asked) == 0 && !r.paused && !r.used[name] {
		if r.used == nil {
			r.used = map[string]bool{}
		}
		r.used[name] = true
		return had.Value, "", nil
	}
	if err := r.enter(op, name); err != nil {
		return nil, "", err
	}
	return nil, runtime.EffectKey(r.driver.id, &r.frame, name), nil
}

// keep notes the end of an effect. It reports false when the run was given up: nothing it does counts any more.
func (r *run) keep(name, state string, value json.RawMessage) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over {
		return false
	}
	r.note(name, state, value)
	return true
}

// decoded reads a stored value. The first run gets the same as all later ones: what JSON has kept.
func decoded[T any](op string, data json.RawMessage) (T, error) {
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
		return v, runtime.Permanent(refuse(runtime.CodeInvalid, op, err))
	}
	return v, nil
}

// Say puts a message into the thread's outbox, once per name, step and visit, with the commit of the step. It refuses as [Do] does.
func Say(ctx context.Context, name string, message any) error {
	op := "say " + name
	r, err := runOf(ctx, op)
	if err != nil {
		return err
	}
	value, err := encode(message)
	if err != nil {
		return runtime.Permanent(err)
	}
	name = "say/" + name
	stored, _, err := r.begin(op, name)
	if err != nil || stored != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.note(name, runtime.EffectDone, json.RawMessage("true"))
	r.fresh = append(r.fresh, runtime.Entry{Type: runtime.EntryMessage, Frame: r.frame.ID, Name: name[len("say/"):], Value: value})
	return nil
}

// Show sets what goes out with every interrupt of the thread, as its context: a plan, say, and how far it has come. It counts for the root
// frame and stays until it is set again. It refuses a context that is not that of a step, and what JSON cannot hold.
func Show(ctx context.Context, v any) error {
	r, err := runOf(ctx, "show")
	if err != nil {
		return err
	}
	value, err := encode(v)
	if err != nil {
		return runtime.Permanent(err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.over { // or else its end is being decided
		r.shows = value
	}
	return nil
}

// Modification returns the change of the work that a person asked for while it was paused, and whether there is one. It is there until a step of
// the root frame that saw it ends, in every run of that step. Only a [Changeable] machine is offered one.
func Modification(ctx context.Context) (string, bool) {
	r, err := runOf(ctx, "modification")
	if err != nil || r.modify == nil {
		return "", false
	}
	return *r.modify, true
}

// PendingReroute returns the stored reroute event that the next interrupt of the step's frame
// takes, as it is now and not as it was when the step began; nil when there is none. changed is
// closed when that is another event. Both are nil for a context that is not that of a step. An
// event that was stored through another engine is seen after [Config.Poll].
func PendingReroute(ctx context.Context) (now *runtime.Reroute, changed <-chan struct{}) {
	r, err := runOf(ctx, "pending reroute")
	if err != nil {
		return nil, nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ordered == nil {
		r.ordered = make(chan struct{})
	}
	return r.order, r.ordered
}

// hear notes the reroute event of the frame.
func (r *run) hear(now *runtime.Reroute) {
	r.mu.Lock()
	defer r.mu.Unlock()
	same := r.order == nil && now == nil || r.order != nil && now != nil && r.order.ID == now.ID
	if r.order = now; !same && r.ordered != nil {
		close(r.ordered)
		r.ordered = nil
	}
}

// EngineOf returns the engine that runs the step, or the effect, of a context: for machines and effects that start other threads, under a
// Request made of the effect's key. It refuses a context that is neither.
func EngineOf(ctx context.Context) (*Engine, error) {
	if e, inEffect := ctx.Value(contextKey{}).(*Engine); inEffect {
		return e, nil
	}
	r, err := runOf(ctx, "engine")
	if err != nil {
		return nil, err
	}
	return r.driver.engine, nil
}
