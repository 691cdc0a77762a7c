package thread

import (
	"slices"

	"github.com/routegen/routegen/runtime"
)

// Kinds returns the kinds of interrupts that the engine has rules for, the most urgent first. A stored interrupt may be of another one.
func (e *Engine) Kinds() []runtime.Kind { return slices.Clone(e.rules.Kinds) }

// turns reports whether the root frames of a machine are turns of a conversation.
func (e *Engine) turns(machine string) bool {
	m, ok := e.machines[machine].(conversational)
	return ok && m.Turns()
}

// node returns what the questions of a frame are filed under.
func (e *Engine) node(f *runtime.Frame) string {
	if m, ok := e.machines[f.Machine].(filer); ok {
		return m.Node(f)
	}
	return f.Name
}
