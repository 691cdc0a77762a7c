package thread

import (
	"context"
	"encoding/json"
)

// Func makes a machine of an ordinary function: the whole function is one step, and its result ends
// the thread; that of a child goes to its parent. It is called again from its top after every
// answer; what it has done with [Do] and [Once] returns its stored result, and [Ask] the answer. It
// may run frames of other machines with [Children].
//
// name is stored with every thread and must never change.
func Func[In, Out any](name string, fn func(ctx context.Context, in In) (Out, error)) Machine {
	return &funcMachine[In, Out]{name: name, reads: readInput + name, fn: fn, end: Done}
}

// Turns is Func for a conversation: its end is the end of the turn, whether it has a result,
// failed, expired or was cancelled, and the thread waits idle for the next message.
func Turns[In, Out any](name string, fn func(ctx context.Context, in In) (Out, error)) Machine {
	return &funcMachine[In, Out]{name: name, reads: readInput + name, fn: fn, end: Return,
		turns: true}
}

const readInput = "read the input of "

type funcMachine[In, Out any] struct {
	name  string
	reads string // the operation of an error of its input
	fn    func(context.Context, In) (Out, error)
	end   func(any) Transition
	turns bool
}

// Name returns the name given.
func (f *funcMachine[In, Out]) Name() string { return f.name }

// Turns reports whether it is a conversation.
func (f *funcMachine[In, Out]) Turns() bool { return f.turns }

// Inline reports whether the frame only makes or collects its children.
func (f *funcMachine[In, Out]) Inline(frame *Frame) bool {
	return frame.PC == pcChildren
}

// Step calls the function, or makes and collects the children that it called.
func (f *funcMachine[In, Out]) Step(ctx context.Context, a Activation) (Transition, error) {
	if t, ours, err := stepOfChildren(a); ours {
		return t, err
	}
	input := a.Frame.Input
	if input == nil {
		input = json.RawMessage("null")
	}
	in, err := decodeResult[In](f.reads, input)
	if err != nil {
		return Transition{}, err
	}
	state, err := functionStateOf(a.Frame)
	if err != nil {
		return Transition{}, err
	}
	calls := &functionCalls{state: state}
	out, err := f.fn(context.WithValue(ctx, functionCallsKey{}, calls), in)
	if next := calls.pending(); next.Next != nil {
		t := Advance(pcChildren, next)
		t.way = StepHold
		return t, nil
	}
	switch {
	case err != nil:
		return Transition{}, err
	case a.Frame.Parent != "":
		return Return(out), nil
	}
	return f.end(out), nil
}
