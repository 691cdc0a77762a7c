package thread

import (
	"context"

	"github.com/routegen/routegen/runtime"
)

// StepFunc is one step of a machine that [Steps] makes. It follows the rules of Machine.Step: it
// may run again, what it does to the world goes through [Do] and [Once], and it says what comes
// next.
type StepFunc func(ctx context.Context, a Activation) (Transition, error)

// Steps makes a machine of named steps: a frame begins at the step "" and goes where its steps send
// it, with [Advance], [Call], [Return] and the others. A frame that stands at a step which is not
// there, since another program stored it, fails with CodeIncompatible and can be retried.
//
// name is stored with every thread, and the names of steps with every frame: they must not change
// while threads of them are unfinished. The map must not change after the call.
func Steps(name string, steps map[string]StepFunc) Machine {
	return &namedSteps{name: name, steps: steps}
}

type namedSteps struct {
	name  string
	steps map[string]StepFunc
}

// Name returns the name given.
func (m *namedSteps) Name() string { return m.name }

// Step runs the step at which the frame stands.
func (m *namedSteps) Step(ctx context.Context, a Activation) (Transition, error) {
	step := m.steps[a.Frame.PC]
	if step == nil {
		return Transition{}, runtime.Errorf(runtime.CodeIncompatible, "run "+m.name,
			"the program has no step %q: deploy one that has it, then retry", a.Frame.PC)
	}
	return step(ctx, a)
}
