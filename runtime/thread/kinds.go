package thread

import (
	"slices"

	"github.com/routegen/routegen/runtime"
)

// Kinds returns the kinds of interrupts that the engine has rules for, the most urgent first. A stored interrupt may be of another one.
func (e *Engine) Kinds() []runtime.Kind { return slices.Clone(e.rules.Kinds) }
