package thread

import (
	"context"
	"encoding/json"
	"errors"
	"sync"

	"github.com/routegen/routegen/runtime"
)

// Children runs frames of other machines at the same time and returns what each returned, in the
// order given. It is called by the function of [Func] or [Turns], with the context of its step. The
// function ends there with ErrWaiting, as for [Ask], and runs again from its top when the last
// child has ended; what it did with Do, Once and Ask before is not done again.
//
// name finds the results again: it must be used once in a function, and be the same each time. If
// children failed, the error joins their failures and is permanent; the results of the others are
// there. A child that a person skipped returns the value that the person gave.
//
// It returns CodeInvalid for a name that is empty or used already, for a context of another kind,
// and for a result that is not an Out.
func Children[Out any](ctx context.Context, name string, children ...Spawned) ([]Out, error) {
	ended, err := childrenOf(ctx, name, children)
	if err != nil {
		return nil, err
	}
	out := make([]Out, len(ended))
	var failed []error
	for n := range ended {
		c := &ended[n]
		if c.Failure != nil && !c.Skipped {
			failed = append(failed, c.Failure)
			continue
		}
		if out[n], err = decodeResult[Out]("read the result of "+c.Name, c.Value); err != nil {
			return nil, Permanent(err)
		}
	}
	if len(failed) > 0 {
		return out, Permanent(errors.Join(failed...))
	}
	return out, nil
}

// pcChildren is the step of a function's frame while its children run. The effects and replies of
// the function are kept until it continues.
const pcChildren = "children"

// functionState is what the frame of a function keeps: the results of its groups of children, and
// the group that runs.
type functionState struct {
	Ended map[string][]Child `json:"ended,omitempty"`
	Next  *childGroup        `json:"next,omitempty"`
}

// childGroup is one call of [Children].
type childGroup struct {
	Name   string  `json:"name"`
	Frames []Frame `json:"frames"`
}

// functionCalls is the state of a function while it runs. Its goroutines share it.
type functionCalls struct {
	mu    sync.Mutex
	state functionState
	used  nameSet
}

// pending returns the state as it is to be stored. Next is nil if no children were called.
func (c *functionCalls) pending() functionState {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.state
}

type functionCallsKey struct{}

// childrenOf returns the children of a group that has ended. A group that has not begun is recorded
// as the next one, and ErrWaiting is returned.
func childrenOf(ctx context.Context, name string, children []Spawned) ([]Child, error) {
	const op = "call children"
	calls, ok := ctx.Value(functionCallsKey{}).(*functionCalls)
	if _, err := runOf(ctx, op); err != nil || !ok {
		return nil, Permanent(runtime.Errorf(runtime.CodeInvalid, op,
			"it needs the context that the function of Func or Turns got"))
	}
	calls.mu.Lock()
	defer calls.mu.Unlock()
	if name == "" || calls.used.holds(name) {
		return nil, Permanent(runtime.Errorf(runtime.CodeInvalid, op,
			"the name %q is empty or used already in this function", name))
	}
	if calls.state.Next != nil {
		return nil, ErrWaiting
	}
	calls.used.hold(name)
	if ended, ok := calls.state.Ended[name]; ok || len(children) == 0 {
		return ended, nil
	}
	spawn := Transition{}.withChildren(children...)
	if spawn.err != nil {
		return nil, Permanent(spawn.err)
	}
	calls.state.Next = &childGroup{Name: name, Frames: spawn.children}
	return nil, ErrWaiting
}

// stepOfChildren makes the children of a function, and collects what they returned. It reports
// false at any other step.
func stepOfChildren(a Activation) (t Transition, ours bool, err error) {
	if a.Frame.PC != pcChildren {
		return Transition{}, false, nil
	}
	state, err := functionStateOf(a.Frame)
	if err != nil || state.Next == nil {
		return Transition{}, true, errors.Join(err, errors.New("the frame has no children to call"))
	}
	if len(a.Frame.Children) == 0 {
		t = Advance(pcChildren, state)
		t.verb, t.children = callVerb, state.Next.Frames
		return t, true, nil
	}
	if state.Ended == nil {
		state.Ended = map[string][]Child{}
	}
	state.Ended[state.Next.Name] = a.Frame.Children
	state.Next = nil
	return Back("", state), true, nil
}

func functionStateOf(f *Frame) (state functionState, err error) {
	if len(f.Locals) > 0 {
		err = json.Unmarshal(f.Locals, &state)
	}
	return state, err
}
