package thread

import (
	"slices"

	"github.com/routegen/routegen/runtime"
)

// Kinds returns the kinds of interrupts that the engine has rules for, the most urgent first. A
// stored interrupt may be of another one.
func (e *Engine) Kinds() []runtime.Kind { return slices.Clone(e.rules.Kinds) }

// hasTurns reports whether the root frames of a machine are turns of a conversation.
func (e *Engine) hasTurns(machine string) bool {
	m, ok := e.machines[machine].(turnsMachine)
	return ok && m.Turns()
}

// nodeOf returns what the questions of a frame are filed under.
func (e *Engine) nodeOf(f *Frame) string {
	if m, ok := e.machines[f.Machine].(nodeMachine); ok {
		return m.Node(f)
	}
	return f.Name
}
