package thread

import (
	"context"
	"encoding/json"

	"github.com/routegen/routegen/runtime"
)

// Func makes a machine of an ordinary function: the whole function is one step, and its result ends the thread. It is called again from its
// top after every answer; what it has done with [Do] and [Once] returns its stored result, and [Ask] the answer.
//
// name is stored with every thread and must never change.
func Func[In, Out any](name string, fn func(ctx context.Context, in In) (Out, error)) Machine {
	return &function[In, Out]{name: name, fn: fn, end: Done}
}

// Turns is Func for a conversation: its end is the end of the turn, whether it has a result, failed, expired or was cancelled, and the thread
// waits idle for the next message.
func Turns[In, Out any](name string, fn func(ctx context.Context, in In) (Out, error)) Machine {
	return &function[In, Out]{name: name, fn: fn, end: Return, turns: true}
}

type function[In, Out any] struct {
	name  string
	fn    func(context.Context, In) (Out, error)
	end   func(any) Transition
	turns bool
}

// Name returns the name given.
func (f *function[In, Out]) Name() string { return f.name }

// Turns reports whether it is a conversation.
func (f *function[In, Out]) Turns() bool { return f.turns }

// Step calls the function.
func (f *function[In, Out]) Step(ctx context.Context, a Activation) (Transition, error) {
	input := a.Frame.Input
	if input == nil {
		input = json.RawMessage("null")
	}
	in, err := decoded[In]("read the input of "+f.name, input)
	if err != nil {
		return Transition{}, err
	}
	out, err := f.fn(ctx, in)
	if err != nil {
		return Transition{}, err
	}
	return f.end(out), nil
}

func refuse(code runtime.Code, op string, err error) error {
	return &runtime.Error{Code: code, Op: op, Err: err}
}
