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

// Machine executes one kind of frame. It keeps no state of its own between steps: what it needs is in the frame.
//
// Step runs the current step of a frame and returns what comes of it. The engine may call it for several frames, and for several threads,
// at the same time. It may be called again for the same step: after an answer, after a failure, after a crash. What the step has done with
// [Do] and [Once] is not done again then; code between them is run again and must have no effects of its own.
//
// A machine may have two methods beside. Turns() bool reports that its root frames are the turns of a conversation: one that fails, expires
// or is cancelled leaves its thread idle, with the failure in [runtime.Thread.Failure], and the next message begins another one. [Done] and
// [HandOff] end such a thread for good, and so does [Engine.Cancel] where no turn runs. Node(frame *runtime.Frame) string returns what the
// questions of a frame are filed under that name no asker, a failed step among them; without it that is the name of the frame. Both only
// compute, at any time, in any goroutine.
type Machine interface {
	// Name is stored with every frame of the machine and must never change.
	Name() string
	Step(ctx context.Context, a Activation) (Transition, error)
}

// Specified is a machine that comes from a spec. What [Config] leaves out, [Open] takes from the machines: so the spec holds, and nobody has to copy
// it into a Config.
type Specified interface {
	// Kinds returns the interrupt kinds, the most urgent first; nil says nothing of them.
	Kinds() []runtime.Kind
	// Shapes returns what stored threads of the machine rely on; nil compares nothing.
	Shapes() []runtime.StoredShape
}

// InputChecker is a machine that knows what its frames can begin with.
type InputChecker interface {
	// CheckInput refuses with CodeInvalid what no frame of that name can begin with: [Engine.Start]
	// and [Engine.Deliver] call it before they store a turn. It only computes, on several
	// goroutines. The pointers of a [runtime.InvalidError] begin at the input.
	CheckInput(name string, input json.RawMessage) error
}

// Timed is a machine whose steps have time limits of their own.
type Timed interface {
	// Timeout returns the limit of one run of a step; 0 means [Config.StepTimeout].
	Timeout(frame *runtime.Frame) time.Duration
}

// Quick is a machine some of whose steps only compute. The engine runs those in the goroutine that drives the thread, which saves two
// changes of goroutine for each.
type Quick interface {
	// Quick reports whether the next run of the frame's step only computes. Then it may ask, use [Do] for what only computes too, and what is
	// stored; it may not wait for anything, and has no time limit: nothing happens on its thread until it returns, not even a pause. [Once]
	// refuses there.
	Quick(frame *runtime.Frame) bool
}

// conversational is a machine with Turns, see [Machine].
type conversational interface{ Turns() bool }

// filer is a machine with Node, see [Machine].
type filer interface {
	Node(frame *runtime.Frame) string
}

// Rerouter is a machine whose failed steps a person can send elsewhere.
type Rerouter interface {
	// Targets returns the legal places; the chosen one arrives as [runtime.Frame.RouteTo].
	Targets(frame *runtime.Frame) []string
}

// Changeable is a machine that takes a person's change of the work, which arrives as
// [Activation.Modify] and [Modification]. A thread that is paused offers modify only where the
// machine of its root frame does.
type Changeable interface {
	// Changeable reports whether a change would reach what is left to do.
	Changeable(root *runtime.Frame) bool
}

// TakesChanges returns a machine that [Func] or [Turns] has made as a [Changeable] one: its function
// calls [Modification] and heeds it. A machine type of one's own has the method itself: of what is
// wrapped here only Name and Step are seen.
func TakesChanges(m Machine) Machine { return changing{m} }

type changing struct{ Machine }

// Changeable says yes.
func (changing) Changeable(*runtime.Frame) bool { return true }

// Activation is what a step runs on: a copy of the stored frame, to read.
type Activation struct {
	Thread   string
	User     string // who started the thread
	Turn     int
	Frame    *runtime.Frame
	Metadata json.RawMessage  // what the last message brought beside its text
	Previous json.RawMessage  // what the turn before has returned; nil in the first
	Reroute  *runtime.Reroute // the pending reroute event of the frame when the run began, or nil; see [PendingReroute]
	Modify   *string          // a person's change of the work; it is gone when the step of the root frame that saw it ends
}

// Transition is what a step returns: where its frame goes. It is data; the engine commits it as a whole or not at all. The zero value is
// refused like an error: a step must say what comes next.
type Transition struct {
	verb      verb
	pc        string
	way       string // of advance: runtime.StepAside, StepBack, or ""
	drop      string
	value     json.RawMessage // locals, result or input
	failure   error
	children  []runtime.Frame
	questions []runtime.Question
	first     []func(*runtime.Change)
	also      []func(*runtime.Change)
	err       error // of a value that cannot be encoded
}

// First adds what happens in the same commit, before the transition itself: what is said of it, say, when it ends the thread. The rules of
// Also hold.
func (t Transition) First(decide func(c *runtime.Change)) Transition {
	t.first = append(slices.Clip(t.first), decide)
	return t
}

// Also adds what happens in the same commit, after the transition itself. decide may run several times, and does nothing but change.
func (t Transition) Also(decide func(c *runtime.Change)) Transition {
	t.also = append(slices.Clip(t.also), decide)
	return t
}

type verb uint8

const (
	none verb = iota
	advance
	ask
	call
	jump
	giveBack
	done
	handOff
	fail
	cancel
)

// Spawned is a frame to be made.
type Spawned struct {
	Machine string
	Name    string // what the machine shall run: a node, a flow
	PC      string // its first step
	Input   any    // encoded as JSON
}

// Advance goes to a step of the same frame. locals replace the frame's; they are encoded as JSON.
func Advance(pc string, locals any) Transition {
	t := Transition{verb: advance, pc: pc}
	t.value, t.err = encode(locals)
	return t
}

// Aside is Advance to a step that comes between: what this one has done, its effects and its answers,
// is put aside, for [Back]. Messages are not, so a step that comes back says them anew; nor is what
// belongs to one round only, which has drop after a slash in its name ("" drops nothing).
func Aside(pc string, locals any, drop string) Transition {
	t := Advance(pc, locals)
	t.way, t.drop = runtime.StepAside, drop
	return t
}

// Back is Advance to the step that went [Aside], on the visit that it was on: what was put aside is
// done there. A step from which nothing was put aside is entered anew.
func Back(pc string, locals any) Transition {
	t := Advance(pc, locals)
	t.way = runtime.StepBack
	return t
}

// Asks goes to a step as Advance does, and asks there: the step runs when all the questions are answered and finds the answers in
// [runtime.Frame.Replies]. It is for machines that store their place before they ask; a handler calls [Ask].
func Asks(pc string, locals any, questions ...runtime.Question) Transition {
	t := Advance(pc, locals)
	t.verb, t.questions = ask, questions
	return t
}

// Call makes one child frame, or several that run at the same time, and goes to the step pc when the last of them has ended. That step
// finds what they returned in [runtime.Frame.Children], in the order given here. Without children it is Advance.
func Call(pc string, locals any, children ...Spawned) Transition {
	t := Advance(pc, locals)
	if len(children) > 0 {
		t.verb = call
		t = t.spawns(children...)
	}
	return t
}

// Jump ends the frame and puts another one in its place, with the same parent.
func Jump(to Spawned) Transition { return Transition{verb: jump}.spawns(to) }

func (t Transition) spawns(children ...Spawned) Transition {
	for _, s := range children {
		input, err := encode(s.Input)
		if err != nil {
			t.err = err
		}
		t.children = append(t.children, runtime.Frame{Machine: s.Machine, Name: s.Name, PC: s.PC, Input: input})
	}
	return t
}

// Return ends the frame with a result. When it was the root the turn is over, and the thread is idle until the next message.
func Return(result any) Transition {
	t := Transition{verb: giveBack}
	t.value, t.err = encode(result)
	return t
}

// Done ends the thread with a result.
func Done(result any) Transition {
	t := Return(result)
	t.verb = done
	return t
}

// HandOff ends the thread here: somebody else goes on with it.
func HandOff(note any) Transition {
	t := Return(note)
	t.verb = handOff
	return t
}

// Fail ends the frame with a failure: its parent finds it in [runtime.Child.Failure], beside no Skipped. Without a parent the thread has
// failed, or the turn of a conversation. An error that a step returns is another thing: that step is tried again.
func Fail(err error) Transition { return Transition{verb: fail, failure: cmp.Or(err, errNoReason)} }

// Cancel ends the thread without a result, or the turn of a conversation; why says for what reason.
func Cancel(why error) Transition { return Transition{verb: cancel, failure: cmp.Or(why, errNoReason)} }

var errNoReason = errors.New("no reason was given")

// encode returns v as JSON; nil stays nil.
func encode(v any) (json.RawMessage, error) {
	if raw, ok := v.(json.RawMessage); v == nil || ok && raw == nil {
		return nil, nil
	}
	return runtime.Encode(v)
}
