package thread

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/routegen/routegen/runtime"
)

// check refuses a transition that cannot be applied: the step that returned it has failed. user is who started the thread.
func (t Transition) check(e *Engine, user string) error {
	switch {
	case t.err != nil:
		return t.err
	case t.verb == none:
		return runtime.Permanent(refuse(runtime.CodeInternal, "run step", errors.New("the machine returned no transition")))
	}
	for n := range t.children { // nobody here could run such a frame
		if f := &t.children[n]; e.machines[f.Machine] == nil {
			return refuse(runtime.CodeInvalid, "run step", fmt.Errorf("there is no machine %q for %q: give it to Open", f.Machine, f.Name))
		}
	}
	for n := range t.questions {
		q := &t.questions[n]
		if err := q.Check(&e.rules, user); err != nil {
			return err
		}
		if slices.ContainsFunc(t.questions[:n], func(other runtime.Question) bool { return other.Name == q.Name }) {
			return runtime.Permanent(refuse(runtime.CodeInvalid, "ask "+q.Name, errors.New("two questions of a step have this name: give each its own")))
		}
	}
	return nil
}

// apply adds to a change what a transition that was checked says of its frame.
func (t Transition) apply(c *runtime.Change, f *runtime.Frame) {
	id, parent := f.ID, f.Parent
	switch t.verb {
	case advance, ask:
		c.Add(runtime.Entry{Type: runtime.EntryStepped, Frame: id, PC: t.pc, State: t.way, Name: t.drop, Value: t.value})
		open(c, id, t.questions)
	case call:
		c.Add(runtime.Entry{Type: runtime.EntryCalling, Frame: id, PC: t.pc, Value: t.value})
		for _, child := range t.children {
			child.Parent = id
			c.Enter(child, "", "")
		}
	case jump:
		to := t.children[0]
		to.Parent = parent
		c.Replace(id, to)
	case giveBack:
		c.Return(id, t.value)
	case done:
		c.Over(runtime.StatusDone, t.value, nil, "")
	case handOff:
		c.Over(runtime.StatusHandedOff, t.value, nil, "")
	case cancel:
		c.Over(runtime.StatusCancelled, nil, runtime.FailureOf(t.failure), "")
	case fail:
		c.Fail(id, runtime.FailureOf(t.failure))
	case none: // check has refused it
	}
}

// open asks the questions of a frame. Each has the kind it names.
func open(c *runtime.Change, frame string, questions []runtime.Question) {
	for n := range questions {
		c.Ask(frame, cmp.Or(questions[n].Kind, runtime.KindAgentQuestion), questions[n])
	}
}
