package thread

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/routegen/routegen/runtime"
)

// Machine executes one kind of frame. It keeps no state between steps: what it needs is in the
// frame.
//
// Step runs the current step of a frame and returns what comes next. The engine may call it for
// several frames and several threads at the same time, and again for the same step: after an
// answer, a failure, or a crash. What the step has done with [Do] and [Once] is not done again
// then; code between them runs again and must have no effects of its own.
//
// A machine may have two more methods. Turns() bool reports that its root frames are the turns of a
// conversation: one that fails, expires or is cancelled leaves its thread idle, with the failure in
// [Thread.Failure], and the next message begins another turn. [Done] and [HandOff] end such a
// thread, and so does [Engine.Cancel] if no turn runs. Node(frame *Frame) string returns the node
// under which the questions of a frame are listed unless they name an asker; without it that is the
// name of the frame. Both must only compute and may be called at any time, by any goroutine.
type Machine interface {
	// Name is stored with every frame of the machine and must never change.
	Name() string
	Step(ctx context.Context, a Activation) (Transition, error)
}

// FromSpec is a machine that comes from a spec. [Open] takes what [Config] leaves out from such
// machines, so that the program follows the spec.
type FromSpec interface {
	// Kinds returns the interrupt kinds, the most urgent first; nil says nothing of them.
	Kinds() []runtime.Kind
	// Shapes returns what stored threads of the machine rely on; nil compares nothing.
	Shapes() []runtime.StoredShape
}

// InputChecker is a machine that checks the input of its frames.
type InputChecker interface {
	// CheckInput returns CodeInvalid for an input that a frame of that name cannot begin with.
	// [Engine.Start] and [Engine.Deliver] call it before they store a turn. It must only compute,
	// and may be called by several goroutines. The pointers of a [runtime.InvalidError] are
	// relative to the input.
	CheckInput(name string, input json.RawMessage) error
}

// Timed is a machine whose steps have time limits of their own.
type Timed interface {
	// Timeout returns the limit of one run of a step; 0 means [Config.StepTimeout].
	Timeout(frame *Frame) time.Duration
}

// Inline is a machine with steps that only compute. The engine runs those in the goroutine that
// drives the thread, which saves two switches of goroutines for each.
type Inline interface {
	// Inline reports whether the next run of the frame's step only computes. It may ask, use [Do]
	// for computations, and read what is stored. It must not wait for anything and has no time
	// limit: nothing else happens on its thread until it returns, not even a pause. [Once] returns
	// CodeInvalid there.
	Inline(frame *Frame) bool
}

// turnsMachine is a machine with Turns, see [Machine].
type turnsMachine interface{ Turns() bool }

// nodeMachine is a machine with Node, see [Machine].
type nodeMachine interface {
	Node(frame *Frame) string
}

// Rerouter is a machine whose failed steps a person can send to another place.
type Rerouter interface {
	// Targets returns the valid targets; the chosen one arrives as [Frame.RouteTo].
	Targets(frame *Frame) []string
}

// Changeable is a machine that accepts a person's change of the work, which arrives as
// [Activation.Modify] and [Modification]. A paused thread offers modify only if the machine of its
// root frame does.
type Changeable interface {
	// Changeable reports whether a change would affect the work that is left.
	Changeable(root *Frame) bool
}

// TakesChanges returns a machine made by [Func] or [Turns] as a [Changeable] one: its function must
// call [Modification]. Only Name and Step of the wrapped machine are used; a machine type of your
// own implements Changeable itself.
func TakesChanges(m Machine) Machine { return changeableMachine{m} }

type changeableMachine struct{ Machine }

// Changeable returns true.
func (changeableMachine) Changeable(*Frame) bool { return true }

// Activation is the input of a step: a copy of the stored frame, to read only.
type Activation struct {
	Thread string
	// User started the thread.
	User  string
	Turn  int
	Frame *Frame
	// Metadata came with the last message.
	Metadata json.RawMessage
	// Previous is the result of the turn before; nil in the first.
	Previous json.RawMessage
	// Reroute is the pending reroute event of the frame when the run began, or nil; see
	// [PendingReroute].
	Reroute *Reroute
	// Modify is a person's change of the work, or nil. It is gone when the step of the root frame
	// that saw it ends.
	Modify *string
}

// Transition is what a step returns: where its frame goes next. It is data, which the engine
// commits as a whole or not at all. The zero value fails the step: a step must say what comes next.
type Transition struct {
	verb      verb
	pc        string
	way       string // StepAside, StepHold, StepBack, or ""
	drop      string
	value     json.RawMessage // locals, result or input
	failure   error
	children  []Frame
	questions []Question
	first     []func(*Change)
	also      []func(*Change)
	err       error // of a value that cannot be encoded
}

// First adds a change to the same commit, before the transition itself: for example a message
// before the thread ends. The rules of Also apply.
func (t Transition) First(decide func(c *Change)) Transition {
	t.first = append(slices.Clip(t.first), decide)
	return t
}

// Also adds a change to the same commit, after the transition itself. decide may run several times
// and must only change c.
func (t Transition) Also(decide func(c *Change)) Transition {
	t.also = append(slices.Clip(t.also), decide)
	return t
}

type verb uint8

const (
	noVerb verb = iota
	advanceVerb
	askVerb
	callVerb
	jumpVerb
	returnVerb
	doneVerb
	handOffVerb
	failVerb
	cancelVerb
)

// Spawned is a frame to make.
type Spawned struct {
	Machine string
	Name    string // what the machine runs: a node, a flow
	PC      string // its first step
	Input   any    // encoded as JSON
}

// Advance goes to a step of the same frame. locals, encoded as JSON, replace those of the frame.
func Advance(pc string, locals any) Transition {
	t := Transition{verb: advanceVerb, pc: pc}
	t.value, t.err = encodeValue(locals)
	return t
}

// Aside is Advance to a step that interrupts this one: the effects and answers of this one are kept
// until [Back] returns to it. Its messages are not, so a step that comes back says them again; nor
// are effects and answers whose name ends with a slash and drop, which belong to one round only (""
// drops nothing). It asks the questions as [Asks] does, if there are any.
func Aside(pc string, locals any, drop string, questions ...Question) Transition {
	t := Asks(pc, locals, questions...)
	t.way, t.drop = StepAside, drop
	return t
}

// Back is Advance to the step that was left by [Aside], on the same visit, with the effects and
// answers that it had. A step that was not left by Aside is entered as a new visit.
func Back(pc string, locals any) Transition {
	t := Advance(pc, locals)
	t.way = StepBack
	return t
}

// Asks goes to a step as Advance does, and asks there: the step runs when all the questions are
// answered and finds the answers in [Frame.Replies]. It is for machines that store their
// place before they ask; a handler calls [Ask].
func Asks(pc string, locals any, questions ...Question) Transition {
	t := Advance(pc, locals)
	t.verb, t.questions = askVerb, questions
	return t
}

// Call makes one child frame, or several that run at the same time, and goes to the step pc when
// the last of them has ended. That step finds what they returned in [Frame.Children], in
// the order given here. Without children it is Advance.
func Call(pc string, locals any, children ...Spawned) Transition {
	t := Advance(pc, locals)
	if len(children) > 0 {
		t.verb = callVerb
		t = t.withChildren(children...)
	}
	return t
}

// Jump ends the frame and puts another one in its place, with the same parent.
func Jump(to Spawned) Transition { return Transition{verb: jumpVerb}.withChildren(to) }

func (t Transition) withChildren(children ...Spawned) Transition {
	for _, s := range children {
		input, err := encodeValue(s.Input)
		if err != nil {
			t.err = err
		}
		t.children = append(t.children, Frame{Machine: s.Machine, Name: s.Name, PC: s.PC,
			Input: input})
	}
	return t
}

// Return ends the frame with a result. If it was the root the turn is over, and the thread is idle
// until the next message.
func Return(result any) Transition {
	t := Transition{verb: returnVerb}
	t.value, t.err = encodeValue(result)
	return t
}

// Done ends the thread with a result.
func Done(result any) Transition {
	t := Return(result)
	t.verb = doneVerb
	return t
}

// HandOff ends the thread here: another system goes on with it.
func HandOff(note any) Transition {
	t := Return(note)
	t.verb = handOffVerb
	return t
}

// Fail ends the frame with a failure: its parent finds it in [Child.Failure], and Skipped is false.
// Without a parent the thread has failed, or the turn of a conversation. If a step returns an error
// instead, the step is tried again.
func Fail(err error) Transition {
	return Transition{verb: failVerb, failure: cmp.Or(err, errNoReason)}
}

// Cancel ends the thread, or the turn of a conversation, without a result. why is the reason.
func Cancel(why error) Transition {
	return Transition{verb: cancelVerb, failure: cmp.Or(why, errNoReason)}
}

var errNoReason = errors.New("no reason was given")

// encodeValue returns v as JSON; nil stays nil.
func encodeValue(v any) (json.RawMessage, error) {
	if raw, ok := v.(json.RawMessage); v == nil || ok && raw == nil {
		return nil, nil
	}
	return runtime.Encode(v)
}
