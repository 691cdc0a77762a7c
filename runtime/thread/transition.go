package thread

import (
	"errors"
	"fmt"
	"slices"

	"github.com/routegen/routegen/runtime"
)

// apply adds to a change what the transition says of its frame. An error means that nothing was added: the step has failed.
func (t Transition) apply(e *Engine, c *runtime.Change, f *runtime.Frame) error {
	if t.err != nil {
		return t.err
	}
	id, parent := f.ID, f.Parent
	switch t.verb {
	case advance:
		c.Add(runtime.Entry{Type: runtime.EntryStepped, Frame: id, PC: t.pc, Value: t.value})
	case ask:
		if err := t.askable(e, c.Thread.User); err != nil {
			return err
		}
		c.Add(runtime.Entry{Type: runtime.EntryStepped, Frame: id, PC: t.pc, Value: t.value})
		for _, q := range t.questions {
			kind := q.Kind
			if kind == "" {
				kind = runtime.KindAgentQuestion
			}
			c.Ask(id, kind, q)
		}
	case call:
		return t.spawn(e, c, id)
	case jump:
		to := t.children[0]
		if err := e.knows(&to); err != nil {
			return err
		}
		input, err := encode(to.Input)
		if err != nil {
			return err
		}
		c.Replace(id, runtime.Frame{Parent: parent, Machine: to.Machine, Name: to.Name, PC: to.PC, Input: input})
	case giveBack:
		c.Return(id, t.value)
	case done:
		c.Over(runtime.StatusDone, t.value, nil, "")
	case handOff:
		c.Over(runtime.StatusHandedOff, t.value, nil, "")
	case cancel:
		c.Over(runtime.StatusCancelled, nil, failureOf(t.failure), "")
	case fail:
		c.Fail(id, failureOf(t.failure))
	default:
		return runtime.Permanent(refuse(runtime.CodeInternal, "run step", errors.New("the machine returned no transition")))
	}
	return nil
}

// askable refuses questions that a handler could not ask either: see [AskAll].
func (t Transition) askable(e *Engine, user string) error {
	for n, q := range t.questions {
		if err := q.Check(&e.rules, user); err != nil {
			return err
		}
		if slices.ContainsFunc(t.questions[:n], func(other runtime.Question) bool { return other.Name == q.Name }) {
			return runtime.Permanent(refuse(runtime.CodeInvalid, "ask "+q.Name, errors.New("two questions of a step have this name: give each its own")))
		}
	}
	return nil
}

func (t Transition) spawn(e *Engine, c *runtime.Change, id string) error {
	frames := make([]runtime.Frame, len(t.children))
	for i, child := range t.children {
		if err := e.knows(&child); err != nil {
			return err
		}
		input, err := encode(child.Input)
		if err != nil {
			return err
		}
		frames[i] = runtime.Frame{Parent: id, Machine: child.Machine, Name: child.Name, PC: child.PC, Input: input}
	}
	c.Add(runtime.Entry{Type: runtime.EntryCalling, Frame: id, PC: t.pc, Value: t.value})
	for _, f := range frames {
		c.Enter(f, "", "")
	}
	return nil
}

func failureOf(err error) *runtime.Failure {
	if err == nil {
		err = errors.New("no reason was given")
	}
	return &runtime.Failure{Code: runtime.CodeOf(err), Text: err.Error()}
}

// knows refuses a frame that nobody here could run.
func (e *Engine) knows(s *Spawned) error {
	if e.machines[s.Machine] == nil {
		return refuse(runtime.CodeInvalid, "run step", fmt.Errorf("there is no machine %q for %q: give it to Open", s.Machine, s.Name))
	}
	return nil
}
