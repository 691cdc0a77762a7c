package thread

import (
	"cmp"
	"slices"

	"github.com/routegen/routegen/runtime"
)

// checkTransition returns an error if the transition cannot be applied; its step has failed then.
// user is who started the thread.
func (t Transition) checkTransition(e *Engine, user string) error {
	switch {
	case t.err != nil:
		return t.err
	case t.verb == noVerb:
		return Permanent(runtime.Errorf(runtime.CodeInternal, "run step",
			"the machine returned no transition"))
	}
	for n := range t.children { // no machine here could run such a frame
		if f := &t.children[n]; e.machines[f.Machine] == nil {
			return runtime.Errorf(runtime.CodeInvalid, "run step",
				"there is no machine %q for %q: give it to Open", f.Machine, f.Name)
		}
	}
	for n := range t.questions {
		q := &t.questions[n]
		if err := q.Check(&e.rules, user); err != nil {
			return err
		}
		if slices.ContainsFunc(t.questions[:n], func(other Question) bool {
			return other.Name == q.Name
		}) {
			return Permanent(runtime.Errorf(runtime.CodeInvalid, "ask "+q.Name,
				"two questions of a step have this name: give each its own"))
		}
	}
	return nil
}

// applyTo adds to a change what a transition that was checked says of its frame.
func (t Transition) applyTo(c *Change, f *Frame) {
	id, parent := f.ID, f.Parent
	switch t.verb {
	case advanceVerb, askVerb:
		c.Add(Entry{Type: EntryStepped, Frame: id, PC: t.pc, State: t.way,
			Name: t.drop, Value: t.value})
		askEach(c, id, t.questions)
	case callVerb:
		c.Add(Entry{Type: EntryCalling, Frame: id, PC: t.pc, Value: t.value})
		for _, child := range t.children {
			child.Parent = id
			c.Enter(child, "", "")
		}
	case jumpVerb:
		to := t.children[0]
		to.Parent = parent
		c.Replace(id, to)
	case returnVerb:
		c.Return(id, t.value)
	case doneVerb:
		c.Over(StatusDone, t.value, nil, "")
	case handOffVerb:
		c.Over(StatusHandedOff, t.value, nil, "")
	case cancelVerb:
		c.Over(StatusCancelled, nil, FailureOf(t.failure), "")
	case failVerb:
		c.Fail(id, FailureOf(t.failure))
	case noVerb: // check has refused it
	}
}

// askEach asks the questions of a frame. Each has the kind it names.
func askEach(c *Change, frame string, questions []Question) {
	for n := range questions {
		c.Ask(frame, cmp.Or(questions[n].Kind, KindAgentQuestion), questions[n])
	}
}
